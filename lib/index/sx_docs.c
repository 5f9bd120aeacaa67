/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include <string.h>

#include "index/sx_index.h"
#include "util/sx_bytes.h"
#include "util/sx_err.h"
#include "util/sx_hash.h"

/* The second fingerprint of a document, from postings. */
static int get_fp2(const sx_snapshot *s, sx_doc *doc, simidx_error *err)
{
	const sx_table *postings = &s->index->tables.postings;
	sx_place place = { doc->fp, doc->id };
	sx_cursor *cursor;
	sx_rows row;
	int rc = sx_cursor_open(s->txn, postings->dbi, &cursor, err);

	if (rc)
		return rc;
	sx_rows_init(&row, postings->n_cols);
	rc = sx_table_range(postings, cursor, place, place, 1, &row, err);
	if (!rc && !row.n)
		rc = SIMIDX_E_NOT_FOUND; /* a merge is half done: the fresh row answers */
	if (!rc)
		doc->fp2 = row.col[1][0];
	sx_rows_free(&row);
	sx_cursor_close(cursor);
	return rc;
}

int sx_doc_by_id(const sx_snapshot *s, uint64_t id, sx_doc *doc, simidx_error *err)
{
	const sx_table *docs = &s->index->tables.docs;
	sx_place place = { id, 0 };
	sx_cursor *cursor;
	sx_rows row;
	int rc = sx_cursor_open(s->txn, docs->dbi, &cursor, err);

	if (rc)
		return rc;
	sx_rows_init(&row, docs->n_cols);
	rc = sx_table_range(docs, cursor, place, place, 1, &row, err);
	if (!rc && !row.n)
		rc = SIMIDX_E_NOT_FOUND;
	if (!rc) {
		doc->id = id;
		doc->fp = row.col[0][0];
		doc->fp2 = 0;
	}
	sx_rows_free(&row);
	sx_cursor_close(cursor);
	if (!rc && s->index->flags & SIMIDX_CREATE_FP2)
		rc = get_fp2(s, doc, err);
	return rc;
}

int sx_label_of(sx_txn *txn, const sx_tables *tables, uint64_t id, sx_slice *label,
		simidx_error *err)
{
	unsigned char bytes[8];
	sx_slice key = { bytes, sizeof(bytes) };

	sx_store_be64(bytes, id);
	return sx_dbi_get(txn, tables->labels, key, label, err);
}

int sx_id_of_label(sx_txn *txn, const sx_tables *tables, const void *label, size_t size,
		   uint64_t *id, simidx_error *err)
{
	uint64_t hash = sx_hash(label, size);
	sx_place low = { hash, 0 }, high = { hash, UINT64_MAX };
	sx_cursor *cursor;
	sx_rows ids;
	int rc = sx_cursor_open(txn, tables->by_label.dbi, &cursor, err);

	if (rc)
		return rc;
	sx_rows_init(&ids, tables->by_label.n_cols);
	rc = sx_table_range(&tables->by_label, cursor, low, high, 0, &ids, err);
	sx_cursor_close(cursor);
	/* Labels with equal hashes are told apart by their bytes. */
	for (size_t i = 0; !rc && i < ids.n; i++) {
		sx_slice stored;

		rc = sx_label_of(txn, tables, ids.col[0][i], &stored, err);
		if (rc == SIMIDX_E_NOT_FOUND)
			rc = sx_fail(err, SIMIDX_E_CORRUPT, "table labels: an entry is missing");
		if (!rc && stored.size == size && !memcmp(stored.data, label, size)) {
			*id = ids.col[0][i];
			sx_rows_free(&ids);
			return SIMIDX_OK;
		}
	}
	sx_rows_free(&ids);
	return rc ? rc : SIMIDX_E_NOT_FOUND;
}
