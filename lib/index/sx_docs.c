/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include <stdlib.h>
#include <string.h>

#include "index/sx_index.h"
#include "util/sx_bytes.h"
#include "util/sx_err.h"
#include "util/sx_hash.h"

#define FEW 32

int sx_docs_push(sx_docs *docs, const sx_doc *doc, simidx_error *err)
{
	if (sx_reserve(&docs->at, &docs->cap, docs->n + 1, sizeof(*docs->at)))
		return sx_fail_nomem(err);
	docs->at[docs->n++] = *doc;
	return SIMIDX_OK;
}

int sx_docs_append(sx_docs *docs, const sx_doc *like, const uint64_t *id, const uint64_t *fp2,
		   size_t n, simidx_error *err)
{
	sx_doc doc = *like, *to;

	if (sx_reserve(&docs->at, &docs->cap, docs->n + n, sizeof(*docs->at)))
		return sx_fail_nomem(err);
	to = docs->at + docs->n;
	docs->n += n;
	for (size_t i = 0; i < n; i++) {
		doc.id = id[i];
		if (fp2)
			doc.fp2 = fp2[i];
		to[i] = doc;
	}
	return SIMIDX_OK;
}

static int compare_docs(const void *a, const void *b)
{
	const sx_doc *x = a, *y = b;

	if (x->weighted != y->weighted)
		return x->weighted < y->weighted ? -1 : 1;
	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->fp < y->fp ? -1 : x->fp > y->fp;
}

/* For a handful qsort() takes longer than all else that is done with them. */
static void sort_few(sx_doc *at, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		sx_doc doc = at[i];
		size_t j = i;

		for (; j && compare_docs(&doc, &at[j - 1]) < 0; j--)
			at[j] = at[j - 1];
		at[j] = doc;
	}
}

void sx_docs_sort(sx_docs *docs, size_t from)
{
	size_t i = from + 1;

	/* One fingerprint's documents come in order already. */
	while (i < docs->n && compare_docs(&docs->at[i - 1], &docs->at[i]) < 0)
		i++;
	if (i == docs->n)
		return;
	if (docs->n - from > FEW)
		qsort(docs->at + from, docs->n - from, sizeof(*docs->at), compare_docs);
	else
		sort_few(docs->at + from, docs->n - from);
}

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
	return sx_get(txn, tables->labels, key, label, err);
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
