/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "search/sx_reader.h"

#include <stdlib.h>
#include <string.h>

#include "util/sx_err.h"
#include "util/sx_hash.h"

int simidx_reader_open(simidx *index, simidx_reader **out, simidx_error *err)
{
	simidx_reader *r;
	int rc;

	sx_err_clear(err);
	if (!out)
		return sx_fail(err, SIMIDX_E_ARG, "simidx_reader_open: out is NULL");
	*out = NULL;
	if (!index)
		return sx_fail(err, SIMIDX_E_ARG, "simidx_reader_open: index is NULL");
	r = sx_calloc(1, sizeof(*r));
	if (!r)
		return sx_fail_nomem(err);
	r->index = index;
	r->watch = SX_WATCH;
	sx_rows_init(&r->rows, index->tables.postings.n_cols);
	rc = sx_found_init(&r->found, index->kernel) ? sx_fail_nomem(err) : SIMIDX_OK;
	if (!rc)
		rc = sx_snapshot_begin(&r->snapshot, index, err);
	if (rc) {
		simidx_reader_close(r);
		return rc;
	}
	sx_snapshot_reset(&r->snapshot);
	*out = r;
	return SIMIDX_OK;
}

void simidx_reader_close(simidx_reader *r)
{
	if (!r)
		return;
	/* A child after fork() must not touch the parent's transaction. */
	if (!sx_store_check_fork(r->index->store, NULL)) {
		for (unsigned t = 0; t < SX_MAX_TABLES; t++)
			sx_cursor_close(r->cursor[t]);
		sx_cursor_close(r->postings);
		sx_snapshot_end(&r->snapshot);
	}
	for (unsigned t = 0; t < SX_SHELF_TABLES; t++)
		sx_shelf_drop(&r->index->shelf, r->held[t]);
	sx_found_free(&r->found);
	sx_probes_free(&r->probes);
	sx_probes_free(&r->fresh_probes);
	sx_way_free(r);
	free(r->range);
	free(r->range_probe);
	free(r->posting);
	free(r->hits.at);
	sx_rows_free(&r->rows);
	free(r->fresh.at);
	free(r->matches.at);
	free(r->nearer.at);
	free(r->labels);
	free(r->explained);
	free(r);
}

/* Copy a label behind the others; returns its offset through *at. */
static int keep_label(simidx_reader *r, sx_slice label, size_t *at, simidx_error *err)
{
	if (sx_reserve(&r->labels, &r->labels_cap, *at + label.size, 1))
		return sx_fail_nomem(err);
	memcpy(r->labels + *at, label.data, label.size);
	*at += label.size;
	return SIMIDX_OK;
}

int sx_reader_add_labels(simidx_reader *r, size_t from, size_t to, simidx_error *err)
{
	size_t used = 0, at = 0;

	for (size_t i = from; i < to; i++) {
		simidx_match *m = &r->matches.at[i];
		sx_slice label;
		int rc = sx_label_of(r->snapshot.txn, &r->index->tables, m->id, &label, err);

		if (rc == SIMIDX_E_NOT_FOUND)
			continue;
		if (!rc)
			rc = keep_label(r, label, &used, err);
		if (rc)
			return rc;
		m->label_size = label.size;
		m->flags |= SIMIDX_MATCH_LABEL;
	}
	/* Only now: the buffer may have moved while it grew. */
	for (size_t i = from; i < to; i++) {
		simidx_match *m = &r->matches.at[i];

		if (m->flags & SIMIDX_MATCH_LABEL) {
			m->label = (const char *)r->labels + at;
			at += m->label_size;
		}
	}
	return SIMIDX_OK;
}

static int deliver_one(simidx_reader *r, const sx_doc *doc, simidx_match *out, simidx_error *err)
{
	simidx_match match = sx_match_of(r->index, doc->id, doc->fp, doc->fp2);
	int rc;

	r->matches.n = 0;
	rc = sx_matches_push(&r->matches, &match, err);
	if (!rc)
		rc = sx_reader_add_labels(r, 0, 1, err);
	if (!rc)
		*out = r->matches.at[0];
	return rc;
}

/* Fresh rows first: while a merge is half done they are the ones that count. */
static int find_id(simidx_reader *r, uint64_t id, simidx_match *out, simidx_error *err)
{
	sx_fresh_span span = sx_header_fresh(&r->snapshot.header);
	sx_doc doc = { .id = id };
	int rc;

	r->fresh.n = 0;
	rc = sx_fresh_by_id(&r->index->fresh, r->snapshot.txn, &span, id, &r->fresh, err);
	if (rc)
		return rc;
	if (r->fresh.n) {
		doc.fp = r->fresh.at[0].fp;
		doc.fp2 = r->fresh.at[0].fp2;
	} else {
		rc = sx_doc_by_id(&r->snapshot, id, &doc, err);
		if (rc)
			return rc;
	}
	return deliver_one(r, &doc, out, err);
}

static int find_label(simidx_reader *r, const char *label, size_t size, simidx_match *out,
		      simidx_error *err)
{
	sx_fresh_span span = sx_header_fresh(&r->snapshot.header);
	uint64_t id;
	int rc;

	r->fresh.n = 0;
	rc = sx_fresh_by_label(&r->index->fresh, r->snapshot.txn, &span, sx_hash(label, size),
			       &r->fresh, err);
	for (size_t i = 0; !rc && i < r->fresh.n; i++) {
		const sx_fresh_row *row = &r->fresh.at[i];
		sx_doc doc = { row->id, row->fp, row->fp2 };

		rc = sx_doc_has_label(r->snapshot.txn, &r->index->tables, row->id, label, size, err);
		if (!rc)
			return deliver_one(r, &doc, out, err);
		if (rc == SIMIDX_E_NOT_FOUND)
			rc = SIMIDX_OK;
	}
	if (rc)
		return rc;
	rc = sx_id_of_label(r->snapshot.txn, &r->index->tables, label, size, &id, err);
	return rc ? rc : find_id(r, id, out, err);
}

/* What both look-ups begin with: a snapshot, or why there is none. */
static int begin_get(simidx_reader *r, simidx_match *out, const char *what, simidx_error *err)
{
	sx_err_clear(err);
	if (out)
		memset(out, 0, sizeof(*out));
	if (!r || !out)
		return sx_fail(err, SIMIDX_E_ARG, "%s: reader or out is NULL", what);
	if (!sx_has_ids(r->index))
		return sx_fail(err, SIMIDX_E_UNSUPPORTED, "the index holds no ids and no labels");
	return sx_snapshot_renew(&r->snapshot, err);
}

int simidx_reader_find_id(simidx_reader *r, uint64_t id, simidx_match *out, simidx_error *err)
{
	int rc = begin_get(r, out, "simidx_reader_find_id", err);

	if (rc)
		return rc;
	rc = find_id(r, id, out, err);
	sx_snapshot_reset(&r->snapshot);
	return rc == SIMIDX_E_NOT_FOUND ? sx_fail(err, rc, "no document has this id") : rc;
}

int simidx_reader_find_label(simidx_reader *r, const char *label, size_t size, simidx_match *out,
		     simidx_error *err)
{
	int rc = begin_get(r, out, "simidx_reader_find_label", err);

	if (rc)
		return rc;
	if (!label && size)
		rc = sx_fail(err, SIMIDX_E_ARG, "simidx_reader_find_label: label is NULL");
	else
		rc = find_label(r, label, size, out, err);
	sx_snapshot_reset(&r->snapshot);
	return rc == SIMIDX_E_NOT_FOUND ? sx_fail(err, rc, "no document has this label") : rc;
}
