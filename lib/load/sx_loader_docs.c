/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * All documents in the order of their ids: those of the indexes that are taken over and what was
 * put. Of several with one id, one stays.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "load/sx_loader.h"
#include "table/sx_append.h"
#include "util/sx_bytes.h"
#include "util/sx_err.h"
#include "util/sx_hash.h"

#define PROGRESS_ROWS 65536
#define ROWS_AT_ONCE 256

/* The document whose turn it is in one stream. */
struct stream {
	int ended;
	uint64_t key; /* its id, or its row if it was put */
	sx_doc doc;
	sx_slice label; /* of a source: in its map */
	uint64_t where; /* of what was put: its label, 0 = none */
};

struct docs {
	simidx_loader *l;
	simidx_error *err;
	struct stream *stream; /* the sources, then what was put */
	const uint64_t *label_row; /* the next one, or NULL */
	const uint64_t *drop;      /* the next one, or NULL */
	sx_append append;
	/* the document that stays unless another one with its id takes its place */
	int has_kept;
	sx_doc kept;
	uint64_t kept_source, kept_key;
	sx_loader_bytes label; /* size 0: none */
	/* those that stay and are not written yet: id, fingerprint; and records of by_fp */
	uint64_t row[2 * ROWS_AT_ONCE], record[3 * ROWS_AT_ONCE];
	size_t n_rows;
	uint64_t label_bytes; /* written since the last commit for them, about */
	uint64_t done, total;
};

static int next_of_source(struct docs *d, size_t i)
{
	struct stream *s = &d->stream[i];
	simidx_match m;
	int rc = simidx_walk_next(d->l->source[i], &m, d->err);

	s->ended = rc == SIMIDX_E_END;
	if (s->ended)
		sx_err_clear(d->err); /* the end is no error here */
	if (rc)
		return s->ended ? SIMIDX_OK : rc;
	s->key = m.id;
	s->doc = (sx_doc){ .id = m.id, .fp = m.fp, .fp2 = m.fp2 };
	s->label = (sx_slice){ m.label, m.label_size };
	return SIMIDX_OK;
}

/* The next record of a sorter, NULL behind the last one. */
static int next_record(struct docs *d, sx_sorter *sorter, const uint64_t **record)
{
	int rc = sx_sorter_next(sorter, record, d->err);

	if (rc)
		*record = NULL;
	return rc == SIMIDX_E_END ? SIMIDX_OK : rc;
}

/* The label of a row: both sorters are in the order of (id, row). */
static int find_label(struct docs *d, struct stream *s)
{
	s->where = 0;
	if (!d->label_row || d->label_row[1] != s->key)
		return SIMIDX_OK;
	s->where = d->label_row[2];
	return next_record(d, d->l->label_rows, &d->label_row);
}

static int next_put(struct docs *d)
{
	simidx_loader *l = d->l;
	struct stream *s = &d->stream[l->n_sources];
	const uint64_t *record;
	int rc = sx_sorter_next(l->by_id, &record, d->err);

	s->ended = rc == SIMIDX_E_END;
	if (rc)
		return s->ended ? SIMIDX_OK : rc;
	s->key = record[1];
	s->doc.id = record[0];
	s->doc.fp = record[2];
	s->doc.fp2 = l->create.flags & SIMIDX_CREATE_FP2 ? record[3] : 0;
	return find_label(d, s);
}

static int next(struct docs *d, size_t i)
{
	return i < d->l->n_sources ? next_of_source(d, i) : next_put(d);
}

/* ---- writing ---- */

static int write_label(struct docs *d, uint64_t id)
{
	simidx_loader *l = d->l;
	unsigned char bytes[8];
	sx_slice key = { bytes, sizeof(bytes) }, value = { d->label.at, d->label.size };
	uint64_t record[2] = { sx_hash(value.data, value.size), id };
	int rc;

	sx_store_be64(bytes, id);
	rc = sx_dbi_append(l->txn, l->index->tables.labels, key, value, d->err);
	l->header.labels++;
	/* With its key and what stays free in a page. */
	d->label_bytes += value.size + value.size / 4 + 32;
	return rc ? rc : sx_sorter_add(l->by_label, record, d->err);
}

/* Pass on the documents that wait: appending them one by one would cost more. */
static int write_rows(struct docs *d)
{
	simidx_loader *l = d->l;
	size_t n = d->n_rows;
	int rc;

	if (!n)
		return SIMIDX_OK;
	d->n_rows = 0;
	rc = sx_loader_append(l, &d->append, d->row, n, d->err);
	return rc ? rc : sx_sorter_add_some(l->by_fp, d->record, n, d->err);
}

static int write_kept(struct docs *d)
{
	simidx_loader *l = d->l;
	unsigned words = sx_sorter_words(l->by_fp);
	uint64_t *row = d->row + 2 * d->n_rows, *record = d->record + words * d->n_rows;
	int rc = SIMIDX_OK;

	if (!d->has_kept)
		return SIMIDX_OK;
	d->has_kept = 0;
	if (d->kept.id >= l->next_id)
		l->next_id = d->kept.id + 1;
	row[0] = record[1] = d->kept.id;
	row[1] = record[0] = d->kept.fp;
	if (words > 2)
		record[2] = d->kept.fp2;
	if (++d->n_rows == ROWS_AT_ONCE)
		rc = write_rows(d);
	if (!rc && d->label.size)
		rc = write_label(d, d->kept.id);
	if (!rc && d->label_bytes)
		rc = sx_loader_pace(l, &d->label_bytes, sx_store_page_size(l->index->store),
				    d->err);
	d->append.txn = l->txn;
	return rc;
}

/* Take the document of a stream as the one that stays. */
static int keep(struct docs *d, size_t i)
{
	struct stream *s = &d->stream[i];

	d->has_kept = 1;
	d->kept = s->doc;
	d->kept_source = i;
	d->kept_key = s->key;
	d->label.size = 0;
	if (i == d->l->n_sources)
		return s->where ? sx_loader_label(d->l, s->where, &d->label, d->err) : SIMIDX_OK;
	if (!s->label.size)
		return SIMIDX_OK;
	if (sx_reserve(&d->label.at, &d->label.cap, s->label.size, 1))
		return sx_fail_nomem(d->err);
	memcpy(d->label.at, s->label.data, s->label.size);
	d->label.size = s->label.size;
	return SIMIDX_OK;
}

/* Another document has the id of the one that is kept. */
static int settle(struct docs *d, size_t i)
{
	simidx_loader *l = d->l;
	char reason[64];

	l->report.duplicates++;
	if (l->options.duplicates == SIMIDX_DUPLICATES_LAST) {
		l->report.left_out += d->kept_source == l->n_sources;
		return keep(d, i);
	}
	l->report.left_out += i == l->n_sources;
	if (l->options.duplicates == SIMIDX_DUPLICATES_REJECT && l->options.rejected &&
	    i == l->n_sources) {
		snprintf(reason, sizeof(reason), "id %" PRIu64 " is already in use", d->kept.id);
		l->options.rejected(l->options.ctx, d->stream[i].key, reason);
	}
	return SIMIDX_OK;
}

/* The stream whose document comes next; among equal ids the earlier one. -1: all have ended. */
static int first_stream(const struct docs *d)
{
	int first = -1;

	for (size_t i = 0; i <= d->l->n_sources; i++)
		if (!d->stream[i].ended &&
		    (first < 0 || d->stream[i].doc.id < d->stream[first].doc.id))
			first = (int)i;
	return first;
}

/* Whether the next document is left out because of a label: drops are in the same order. */
static int is_dropped(const struct docs *d, size_t i)
{
	return d->drop && d->drop[0] == d->stream[i].doc.id &&
	       d->drop[1] == sx_loader_order(d->l, i, d->stream[i].key);
}

static int take_document(struct docs *d, size_t i)
{
	int rc;

	if (is_dropped(d, i)) {
		rc = next_record(d, d->l->drops, &d->drop);
	} else if (d->has_kept && d->kept.id == d->stream[i].doc.id) {
		rc = settle(d, i);
	} else {
		rc = write_kept(d);
		if (!rc)
			rc = keep(d, i);
	}
	if (!rc && ++d->done % PROGRESS_ROWS == 0)
		rc = sx_loader_progress(d->l, "documents", d->done, d->total, d->err);
	return rc ? rc : next(d, i);
}

static int finish_by_id(struct docs *d)
{
	int sorted = d->l->by_id_is_sorted;

	d->l->by_id_is_sorted = 1;
	return sorted ? SIMIDX_OK : sx_sorter_finish(d->l->by_id, d->l->memory / 4, d->err);
}

static int prime(struct docs *d)
{
	simidx_loader *l = d->l;
	int rc = finish_by_id(d);

	if (!rc)
		rc = sx_sorter_finish(l->label_rows, l->memory / 16, d->err);
	if (!rc)
		rc = next_record(d, l->label_rows, &d->label_row);
	if (!rc && l->drops)
		rc = next_record(d, l->drops, &d->drop);
	for (size_t i = 0; !rc && i <= l->n_sources; i++)
		rc = next(d, i);
	return rc;
}

static int write_all(struct docs *d)
{
	simidx_loader *l = d->l;
	int i, rc = prime(d);

	while (!rc && (i = first_stream(d)) >= 0)
		rc = take_document(d, (size_t)i);
	if (!rc)
		rc = write_kept(d);
	if (!rc)
		rc = write_rows(d);
	if (!rc)
		rc = sx_append_finish(&d->append, d->err);
	if (rc)
		return rc;
	l->header.documents = d->append.count;
	l->header.other[SX_COUNT_DOCS].rows = d->append.count;
	l->header.other[SX_COUNT_DOCS].digest = d->append.digest;
	l->header.other[SX_COUNT_DOCS].generation++;
	return SIMIDX_OK;
}

/* Begin again, for the pass that writes. */
static int rewind_all(struct docs *d)
{
	int rc = sx_sorter_rewind(d->l->by_id, d->err);

	for (size_t i = 0; !rc && i < d->l->n_sources; i++)
		rc = sx_walk_rewind(d->l->source[i], d->err);
	return rc;
}

int sx_loader_each_id(simidx_loader *l,
		      int (*see)(void *ctx, uint64_t id, uint64_t source, uint64_t key), void *ctx,
		      simidx_error *err)
{
	struct docs d = { .l = l, .err = err }; /* without label_row: labels are not looked at */
	uint64_t done = 0;
	int i, rc;

	d.stream = sx_calloc(l->n_sources + 1, sizeof(*d.stream));
	rc = d.stream ? finish_by_id(&d) : sx_fail_nomem(err);
	for (size_t k = 0; !rc && k <= l->n_sources; k++)
		rc = next(&d, k);
	while (!rc && (i = first_stream(&d)) >= 0) {
		rc = see(ctx, d.stream[i].doc.id, (uint64_t)i, d.stream[i].key);
		if (!rc)
			rc = next(&d, (size_t)i);
		if (!rc && ++done % PROGRESS_ROWS == 0)
			rc = sx_loader_check_stop(l, err);
	}
	free(d.stream);
	return rc ? rc : rewind_all(&d);
}

/* Without ids there are fingerprints alone, and only those of the sources are still missing. */
static int add_fingerprints(simidx_loader *l, simidx_error *err)
{
	uint64_t done = 0;
	simidx_match m;
	int rc = SIMIDX_OK;

	for (size_t i = 0; !rc && i < l->n_sources; i++) {
		while (!rc && !(rc = simidx_walk_next(l->source[i], &m, err))) {
			rc = sx_sorter_add(l->by_fp, &m.fp, err);
			if (!rc && ++done % PROGRESS_ROWS == 0)
				rc = sx_loader_progress(l, "documents", done,
							l->n_source_documents, err);
		}
		if (rc == SIMIDX_E_END) {
			sx_err_clear(err);
			rc = SIMIDX_OK;
		}
	}
	return rc;
}

int sx_loader_write_docs(simidx_loader *l, simidx_error *err)
{
	struct docs d = { .l = l, .err = err };
	int rc;

	if (!l->by_id)
		return add_fingerprints(l, err);
	d.total = l->n_source_documents + sx_sorter_count(l->by_id);
	d.stream = sx_calloc(l->n_sources + 1, sizeof(*d.stream));
	rc = d.stream ? sx_append_begin(&d.append, &l->index->tables.docs, l->txn, err)
		      : sx_fail_nomem(err);
	if (!rc)
		rc = write_all(&d);
	if (!rc)
		rc = sx_loader_progress(l, "documents", d.total, d.total, err);
	sx_append_end(&d.append);
	free(d.stream);
	free(d.label.at);
	l->report.spill_bytes += l->label_bytes ? sx_spill_size(l->label_bytes) : 0;
	sx_spill_free(l->label_bytes);
	l->label_bytes = NULL;
	l->report.spill_bytes += sx_sorter_spilled(l->by_id) + sx_sorter_spilled(l->label_rows);
	l->distinct = sx_sorter_take_spill(l->by_id);
	sx_sorter_free(l->by_id);
	sx_sorter_free(l->label_rows);
	l->by_id = l->label_rows = NULL;
	return rc;
}
