/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "local/sx_local_older.h"

#include <stdlib.h>

#include "index/sx_documents.h"
#include "table/sx_table_walk.h"
#include "util/sx_alloc.h"
#include "util/sx_err.h"

static int is_old(const sx_older *older, sx_values values)
{
	uint32_t time = sx_documents_time(&values);

	return time && time < older->time;
}

static int add(sx_older *older, const sx_doc *doc, simidx_error *err)
{
	if (sx_reserve(&older->doc, &older->cap, older->n + 1, sizeof(*older->doc)))
		return sx_fail_nomem(err);
	older->doc[older->n++] = *doc;
	return SIMIDX_OK;
}

/* ---- fresh rows ---- */

/* The last row about an id says what has become of it, and each one is taken once. */
static int take_fresh(simidx_writer *w, sx_older *older, simidx_error *err)
{
	sx_fresh_span span = sx_header_fresh(&w->snapshot.header);
	sx_fresh_rows rows = { 0 };
	sx_fresh *fresh = w->index->fresh;
	int rc = SIMIDX_OK;

	span.end -= w->pending.n;
	rc = sx_fresh_log_load(w->snapshot.txn, &fresh->log, span.first, span.end, &rows, err);
	for (size_t i = 0; !rc && i < w->pending.n; i++)
		rc = sx_fresh_rows_push(&rows, &w->pending.at[i], err);
	if (!rc)
		rc = sx_fresh_rows_keep_last(&rows, err);
	for (size_t i = 0; !rc && i < rows.n; i++) {
		const sx_fresh_row *row = &rows.at[i];

		if (!sx_fresh_is_delete(row) && is_old(older, row->values))
			rc = add(older, &(sx_doc){ row->id, row->fp, row->values }, err);
	}
	free(rows.at);
	return rc;
}

/* ---- postings ---- */

/* A document of postings, unless a fresh row is about it: those were looked at. */
static int take_row(simidx_writer *w, sx_older *older, const sx_rows *rows, size_t i,
		    simidx_error *err)
{
	const sx_table *postings = &w->index->tables.postings;
	sx_doc doc = { rows->col[SX_POSTINGS_ID][i], rows->key[i],
		       sx_table_values(postings, rows, i) };
	sx_fresh_span span = sx_header_fresh(&w->snapshot.header);
	sx_fresh_row row;
	int rc;

	if (!is_old(older, doc.values))
		return SIMIDX_OK;
	rc = sx_fresh_by_id(w->index->fresh, w->snapshot.txn, &span, doc.id, &row, err);
	return rc == SIMIDX_E_NOT_FOUND ? add(older, &doc, err) : rc;
}

static int is_after(const sx_older *older, const sx_rows *rows, size_t i)
{
	return rows->key[i] > older->fp ||
	       (rows->key[i] == older->fp && rows->col[SX_POSTINGS_ID][i] > older->id);
}

static int take_postings(simidx_writer *w, sx_older *older, simidx_error *err)
{
	sx_sort_key from = { older->fp, older->id };
	const sx_tuning *tuning = &w->index->tuning;
	uint64_t end = older->seen + tuning->older_seen;
	sx_table_walk walk;
	int rc = sx_table_walk_begin(&walk, w->snapshot.txn, &w->index->tables.postings,
				     older->seen ? &from : NULL, err);

	while (!rc && older->n < tuning->older_deleted && older->seen < end) {
		const sx_rows *rows = &walk.rows;

		rc = sx_table_walk_next(&walk, err);
		for (size_t i = 0; !rc && i < rows->n && older->n < tuning->older_deleted; i++) {
			if (older->seen && !is_after(older, rows, i))
				continue;
			rc = take_row(w, older, rows, i, err);
			older->fp = rows->key[i];
			older->id = rows->col[SX_POSTINGS_ID][i];
			older->seen++;
		}
	}
	sx_table_walk_end(&walk);
	older->has_ended = rc == SIMIDX_E_END;
	return older->has_ended ? SIMIDX_OK : rc;
}

int sx_local_older(simidx_writer *w, sx_older *older, simidx_error *err)
{
	int rc = sx_writer_use_memtable(w, err);

	older->n = 0;
	if (rc)
		return rc;
	if (!older->is_begun) {
		older->is_begun = 1;
		older->total = w->snapshot.header.other[SX_COUNT_POSTINGS].rows;
		return take_fresh(w, older, err);
	}
	return take_postings(w, older, err);
}
