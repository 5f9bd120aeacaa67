/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "index/sx_documents.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "index/sx_documents_engine.h"
#include "table/sx_table_range.h"
#include "util/sx_bytes.h"
#include "util/sx_err.h"
#include "util/sx_hash.h"

/* The columns of one row of a table, two at most. SIMIDX_E_NOT_FOUND without setting err. */
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

/* A document that an engine holds, or that a transaction has changed, by id or label. */
static int ask_engine(const sx_snapshot *s, uint64_t id, const void *label, size_t size, sx_doc *doc,
		      simidx_error *err)
{
	sx_known own = { 0 }, *known = s->known ? s->known : &own;
	sx_labelled_doc found;
	int rc = id == SIMIDX_NO_ID
			 ? sx_documents_engine_by_label(s, known, label, size, &found, err)
			 : sx_documents_engine_by_id(s, known, id, &found, err);

	if (!rc)
		*doc = found.doc;
	sx_known_free(&own);
	return rc;
}

/* Find a document by id in docs, not among the fresh rows. */
static int by_id_in_tables(const sx_snapshot *s, uint64_t id, sx_doc *doc, simidx_error *err)
{
	uint64_t cols[2] = { 0, 0 };
	int rc = read_row(s, &s->index->tables.docs, (sx_sort_key){ id, 0 }, cols, err);

	*doc = (sx_doc){ id, cols[0], 0 };
	if (rc || !(s->index->flags & SIMIDX_CREATE_FP2))
		return rc;
	/* No fresh row is about it, so it is in postings, too. */
	rc = read_row(s, &s->index->tables.postings, (sx_sort_key){ doc->fp, id }, cols, err);
	doc->fp2 = cols[1];
	return rc == SIMIDX_E_NOT_FOUND ? sx_documents_missing(id, err) : rc;
}

int sx_documents_missing(uint64_t id, simidx_error *err)
{
	return sx_fail(err, SIMIDX_E_CORRUPT,
		       "table postings: document %" PRIu64 ", which is in docs, is missing", id);
}

int sx_documents_by_id(const sx_snapshot *s, uint64_t id, sx_doc *doc, simidx_error *err)
{
	sx_fresh_span span = sx_header_fresh(&s->header);
	sx_fresh_row row;
	int rc;

	if (s->index->engine)
		return id > SIMIDX_MAX_ID ? SIMIDX_E_NOT_FOUND
					  : ask_engine(s, id, NULL, 0, doc, err);
	rc = sx_fresh_by_id(&s->index->fresh, s->txn, &span, id, &row, err);
	if (rc == SIMIDX_E_NOT_FOUND)
		return by_id_in_tables(s, id, doc, err);
	if (!rc)
		*doc = (sx_doc){ id, row.fp, row.fp2 };
	return !rc && sx_fresh_is_delete(&row) ? SIMIDX_E_NOT_FOUND : rc;
}

int sx_documents_label(sx_txn *txn, const sx_tables *tables, uint64_t id, sx_slice *label,
		       simidx_error *err)
{
	unsigned char bytes[8];
	sx_slice key = { bytes, sizeof(bytes) };
	int rc;

	sx_store_be64(bytes, id);
	rc = sx_dbi_get(txn, tables->labels, key, label, err);
	/* An empty one is to be removed by the commit of the writer who asks. */
	return !rc && !label->size ? SIMIDX_E_NOT_FOUND : rc;
}

/*
 * SIMIDX_OK if the label of an id, whose hash is kept as that of `label`, is exactly this one;
 * SIMIDX_E_NOT_FOUND without setting err if it is another one with the same hash; SIMIDX_E_CORRUPT
 * if the id has none, or one with another hash.
 */
static int has_label(const sx_snapshot *s, uint64_t id, const void *label, size_t size,
		     simidx_error *err)
{
	sx_slice stored;
	int rc = sx_documents_label(s->txn, &s->index->tables, id, &stored, err);

	if (rc == SIMIDX_E_NOT_FOUND)
		return sx_fail(err, SIMIDX_E_CORRUPT,
			       "table labels: the label of document %" PRIu64 " is missing", id);
	if (rc || (stored.size == size && !memcmp(stored.data, label, size)))
		return rc;
	/* The hash that is kept of it is that of `label`. */
	if (sx_hash(stored.data, stored.size) != sx_hash(label, size))
		return sx_documents_label_damaged(id, err);
	return SIMIDX_E_NOT_FOUND;
}

int sx_documents_label_damaged(uint64_t id, simidx_error *err)
{
	return sx_fail(err, SIMIDX_E_CORRUPT,
		       "table labels: the label of document %" PRIu64 " is not the one that was "
		       "stored, by its hash",
		       id);
}

int sx_documents_label_check(const sx_snapshot *s, uint64_t id, sx_slice label, simidx_error *err)
{
	const sx_table *by_label = &s->index->tables.by_label;
	sx_fresh_span span = sx_header_fresh(&s->header);
	unsigned char bytes[SX_TABLE_MAX_KEY];
	sx_sort_key place = { sx_hash(label.data, label.size), id };
	sx_slice key = { bytes, sx_table_key(by_label, place, bytes) }, value;
	sx_fresh_row row;
	int rc = sx_dbi_get(s->txn, by_label->dbi, key, &value, err);

	if (rc != SIMIDX_E_NOT_FOUND)
		return rc;
	rc = sx_fresh_by_id(&s->index->fresh, s->txn, &span, id, &row, err);
	if (!rc && row.label_hash == place.key)
		return SIMIDX_OK;
	return rc && rc != SIMIDX_E_NOT_FOUND ? rc : sx_documents_label_damaged(id, err);
}

/* Whether one of rows [from, n) has this id. */
static int is_among(const sx_fresh_rows *rows, size_t from, uint64_t id)
{
	while (from < rows->n && rows->at[from].id != id)
		from++;
	return from < rows->n;
}

/* Among the fresh rows with the hash of the label, the last one about each id counts. */
static int by_label_in_rows(const sx_snapshot *s, const sx_fresh_rows *rows, const void *label,
			    size_t size, sx_doc *doc, simidx_error *err)
{
	int rc = SIMIDX_E_NOT_FOUND;

	for (size_t i = rows->n; rc == SIMIDX_E_NOT_FOUND && i--;) {
		const sx_fresh_row *row = &rows->at[i];

		if (sx_fresh_is_delete(row) || is_among(rows, i + 1, row->id))
			continue;
		rc = has_label(s, row->id, label, size, err);
		if (!rc)
			*doc = (sx_doc){ row->id, row->fp, row->fp2 };
	}
	return rc;
}

/* In by_label; what a fresh row is about does not count there, and may have another label now. */
static int by_label_in_tables(const sx_snapshot *s, uint64_t hash, const void *label, size_t size,
			      sx_doc *doc, simidx_error *err)
{
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
		uint64_t id = ids.col[0][i];

		rc = sx_fresh_by_id(&s->index->fresh, s->txn, &span, id, &row, err);
		if (rc == SIMIDX_E_NOT_FOUND) {
			rc = has_label(s, id, label, size, err);
			if (!rc)
				rc = by_id_in_tables(s, id, doc, err);
		} else if (!rc) {
			rc = SIMIDX_E_NOT_FOUND;
		}
	}
	sx_rows_free(&ids);
	return rc;
}

int sx_documents_by_label(const sx_snapshot *s, const void *label, size_t size, sx_doc *doc,
			  simidx_error *err)
{
	sx_fresh_span span = sx_header_fresh(&s->header);
	uint64_t hash = sx_hash(label, size);
	sx_fresh_rows rows = { 0 };
	int rc;

	if (s->index->engine)
		return ask_engine(s, SIMIDX_NO_ID, label, size, doc, err);
	rc = sx_fresh_by_label(&s->index->fresh, s->txn, &span, hash, &rows, err);
	if (!rc)
		rc = by_label_in_rows(s, &rows, label, size, doc, err);
	if (rc == SIMIDX_E_NOT_FOUND)
		rc = by_label_in_tables(s, hash, label, size, doc, err);
	free(rows.at);
	return rc;
}

int sx_documents_check(const simidx *index, const simidx_doc *doc, simidx_error *err)
{
	const unsigned second = SIMIDX_DOC_FP2 | SIMIDX_DOC_FP2_UNKNOWN;

	if (!doc || doc->flags & ~second || (doc->flags & second) == second || doc->reserved)
		return sx_fail(err, SIMIDX_E_ARG, "document: bad struct size or flags");
	if (doc->fp & ~sx_low_bits(index->bits))
		return sx_fail(err, SIMIDX_E_RANGE, "the fingerprint has more than %u bits",
			       index->bits);
	if (doc->id != SIMIDX_NO_ID && doc->id > SIMIDX_MAX_ID)
		return sx_fail(err, SIMIDX_E_RANGE, "the id is above %llu",
			       (unsigned long long)SIMIDX_MAX_ID);
	if (doc->label && (!doc->label_size || doc->label_size > SIMIDX_MAX_LABEL))
		return sx_fail(err, SIMIDX_E_RANGE, "a label has 1 to %d bytes, this one %zu",
			       SIMIDX_MAX_LABEL, doc->label_size);
	if (!sx_has_ids(index) && (doc->id != SIMIDX_NO_ID || doc->label))
		return sx_fail(err, SIMIDX_E_MISMATCH, "the index holds no ids and no labels");
	if (!(doc->flags & second) != !(index->flags & SIMIDX_CREATE_FP2))
		return sx_fail(err, SIMIDX_E_MISMATCH,
			       doc->flags & second
				       ? "the index keeps no second fingerprints, and the document has one"
				       : "the index keeps a second fingerprint with each document, as indexes of "
					 "texts do, and this one has none");
	return SIMIDX_OK;
}

int sx_documents_check_next_id(const simidx *index, uint64_t next_id, simidx_error *err)
{
	if (!sx_has_ids(index))
		return sx_fail(err, SIMIDX_E_UNSUPPORTED, "the index holds no ids");
	if (next_id > SIMIDX_MAX_ID + 1)
		return sx_fail(err, SIMIDX_E_RANGE, "the next id is above %llu",
			       (unsigned long long)SIMIDX_MAX_ID + 1);
	return SIMIDX_OK;
}
