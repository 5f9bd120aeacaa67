/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "local/sx_local_find.h"

#include "index/sx_notes.h"
#include "table/sx_table_range.h"
#include "util/sx_hash.h"

/* The columns of one row of a table. SIMIDX_E_NOT_FOUND without setting err. */
static int read_row(const sx_snapshot *s, const sx_table *table, sx_sort_key place, uint64_t *cols,
		    simidx_error *err)
{
	sx_cursor *cursor;
	sx_rows row;
	int rc = sx_cursor_open(s->txn, table->dbi, &cursor, err);

	if (rc)
		return rc;
	sx_rows_init(&row, table->n_cols);
	rc = sx_table_range(table, cursor, place, place, 1, &row, err);
	if (!rc && !row.n)
		rc = SIMIDX_E_NOT_FOUND;
	for (unsigned c = 0; !rc && c < table->n_cols; c++)
		cols[c] = row.col[c][0];
	sx_rows_free(&row);
	sx_cursor_close(cursor);
	return rc;
}

static int by_id(void *search, const sx_snapshot *s, uint64_t id, sx_labelled_doc *out,
		     simidx_error *err)
{
	const sx_table *postings = &s->index->tables.postings;
	const sx_columns *columns = &s->index->schema->columns;
	sx_doc *doc = &out->doc;
	uint64_t cols[SX_MAX_COLS] = { 0 };
	int rc = read_row(s, &s->index->tables.docs, (sx_sort_key){ id, 0 }, cols, err);

	(void)search; /* labels are asked for */
	*doc = (sx_doc){ .id = id, .fp = cols[SX_DOCS_FP] };
	if (rc || !columns->n)
		return rc;
	/* No fresh row is about it, so it is in postings, too. */
	rc = read_row(s, postings, (sx_sort_key){ doc->fp, id }, cols, err);
	doc->values = sx_values_get(columns, cols + postings->values_at);
	return rc == SIMIDX_E_NOT_FOUND ? sx_documents_missing(id, err) : rc;
}

/* In by_label; what a fresh row is about does not count there, and may have another label now. */
static int by_label(void *search, const sx_snapshot *s, const void *label, size_t size,
			sx_labelled_doc *out, simidx_error *err)
{
	uint64_t hash = sx_hash(label, size);
	const sx_table *table = &s->index->tables.by_label;
	sx_sort_key low = { hash, 0 }, high = { hash, UINT64_MAX };
	sx_fresh_span span = sx_header_fresh(&s->header);
	sx_fresh_row row;
	sx_cursor *cursor;
	sx_rows ids;
	int rc = sx_cursor_open(s->txn, table->dbi, &cursor, err);

	if (rc)
		return rc;
	sx_rows_init(&ids, table->n_cols);
	rc = sx_table_range(table, cursor, low, high, 0, &ids, err);
	sx_cursor_close(cursor);
	/* Labels with equal hashes are told apart by their bytes. */
	if (!rc)
		rc = SIMIDX_E_NOT_FOUND;
	for (size_t i = 0; rc == SIMIDX_E_NOT_FOUND && i < ids.n; i++) {
		uint64_t id = ids.col[SX_BY_LABEL_ID][i];

		rc = sx_fresh_by_id(s->index->fresh, s->txn, &span, id, &row, err);
		if (rc == SIMIDX_E_NOT_FOUND) {
			rc = sx_documents_has_label(s, id, label, size, err);
			if (!rc)
				rc = by_id(search, s, id, out, err);
		} else if (!rc) {
			rc = SIMIDX_E_NOT_FOUND;
		}
	}
	sx_rows_free(&ids);
	return rc;
}

static int label_of(const sx_snapshot *s, uint64_t id, sx_slice *label, simidx_error *err)
{
	return sx_documents_label(s->txn, &s->index->tables, id, label, err);
}

static int note_of(const sx_snapshot *s, uint64_t id, sx_slice *note, simidx_error *err)
{
	return sx_notes_get(s->txn, &s->index->tables, id, note, err);
}

const sx_backend_documents sx_local_find = { by_id, by_label, label_of, note_of };
