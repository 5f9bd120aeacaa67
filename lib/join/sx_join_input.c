/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "join/sx_join_input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "index/sx_documents.h"
#include "table/sx_table_walk.h"
#include "util/sx_alloc.h"
#include "util/sx_err.h"
#include "util/sx_u64s.h"

#define PIECES_IN_A_ROW 2 /* that are read before a seek is quicker */

/* ---- fresh rows ---- */

/* Compare where two rows are pointed to. */
static int compare_rows(const void *a, const void *b)
{
	const sx_fresh_row *x = *(const sx_fresh_row *const *)a;
	const sx_fresh_row *y = *(const sx_fresh_row *const *)b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x < y ? -1 : x > y; /* the newer one last */
}

static int compare_docs(const void *a, const void *b)
{
	const sx_join_doc *x = a, *y = b;

	if (x->fp != y->fp)
		return x->fp < y->fp ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* Of the rows with one id, the last one says what has become of the document. */
static void take_rows(sx_join_input *input, const sx_fresh_row *const *order, size_t n)
{
	int has_ids = input->index->schema->has_ids;

	for (size_t i = 0; i < n; i++) {
		const sx_fresh_row *row = order[i];

		if (has_ids && i + 1 < n && order[i + 1]->id == row->id)
			continue;
		if (has_ids)
			input->touched[input->n_touched++] = row->id;
		if (!sx_fresh_is_delete(row))
			input->fresh[input->n_fresh++] = (sx_join_doc){ row->fp, row->id,
								      row->values.of[SX_FP2] };
	}
	qsort(input->fresh, input->n_fresh, sizeof(*input->fresh), compare_docs);
	if (has_ids)
		return;
	n = input->n_fresh;
	input->n_fresh = 0;
	for (size_t i = 0; i < n; i++)
		if (!i || input->fresh[i].fp != input->fresh[i - 1].fp)
			input->fresh[input->n_fresh++] = input->fresh[i];
}

static int is_touched(const sx_join_input *input, uint64_t id)
{
	size_t at = sx_u64s_below(input->touched, input->n_touched, id);

	return at < input->n_touched && input->touched[at] == id;
}

static int load_fresh(sx_join_input *input, simidx_error *err)
{
	const sx_header *h = &sx_join_input_snapshot(input)->header;
	const sx_fresh_row **order;
	sx_fresh_rows rows = { 0 };
	int rc = sx_fresh_log_load(sx_join_input_snapshot(input)->txn, &input->index->fresh->log,
				   h->first_seq, h->next_seq, &rows, err);

	if (rc || !rows.n) {
		free(rows.at);
		return rc;
	}
	order = sx_realloc(NULL, rows.n, sizeof(*order));
	input->fresh = sx_realloc(NULL, rows.n, sizeof(*input->fresh));
	input->touched = sx_realloc(NULL, rows.n, sizeof(*input->touched));
	if (order && input->fresh && input->touched) {
		for (size_t i = 0; i < rows.n; i++)
			order[i] = &rows.at[i];
		qsort(order, rows.n, sizeof(*order), compare_rows);
		take_rows(input, order, rows.n);
	}
	if (!order || !input->fresh || !input->touched)
		rc = sx_fail_nomem(err);
	free(order);
	free(rows.at);
	return rc;
}

int sx_join_input_begin(sx_join_input *input, const simidx *index, simidx_error *err)
{
	int rc;

	input->index = index;
	rc = sx_snapshot_begin(&input->snapshot, index, err);
	if (!rc)
		rc = load_fresh(input, err);
	return sx_join_input_failed(input, rc, err);
}

void sx_join_input_end(sx_join_input *input)
{
	if (input->index && !sx_store_check_fork(input->index->store, NULL))
		sx_snapshot_end(&input->snapshot);
	free(input->fresh);
	free(input->touched);
	free(input->doc);
}

int sx_join_input_failed(const sx_join_input *input, int rc, simidx_error *err)
{
	const char *path = sx_store_path(input->index->store);
	char text[sizeof(err->text)];

	if (!rc || rc == SIMIDX_E_END || rc == SIMIDX_E_NOMEM || !input->is_of_two || !err)
		return rc;
	if (!strncmp(err->text, path, strlen(path)))
		return rc;
	memcpy(text, err->text, sizeof(text));
	err->text[0] = '\0';
	if (snprintf(err->text, sizeof(err->text), "%s: %s", path, text) < 0)
		memcpy(err->text, text, sizeof(text));
	return rc;
}

/* ---- labels ---- */

int sx_join_input_label(const sx_join_input *input, uint64_t id, sx_slice *label,
			simidx_error *err)
{
	const sx_snapshot *s = &input->snapshot;
	int rc = SIMIDX_E_NOT_FOUND;

	if (id != SIMIDX_NO_ID && s->header.labels)
		rc = sx_documents_label(s->txn, &input->index->tables, id, label, err);
	if (rc == SIMIDX_E_NOT_FOUND) {
		*label = (sx_slice){ NULL, 0 };
		return SIMIDX_OK;
	}
	if (!rc)
		rc = sx_documents_label_check(s, id, *label, err);
	return sx_join_input_failed(input, rc, err);
}

/* ---- documents ---- */

/* Goes through the documents that the tables have, by (fingerprint, id). */
struct reading {
	sx_join_input *input;
	sx_table_walk walk;
	size_t at; /* next row of the piece */
	int has_ended;
	size_t fresh; /* next of the fresh ones */
};

static const sx_table *documents_of(const simidx *index)
{
	/* In the first table of every plan, permuted values are the fingerprints themselves. */
	return index->schema->has_ids ? &index->tables.postings : &index->tables.permuted[0];
}

static int next_piece(struct reading *r, simidx_error *err)
{
	int rc = sx_table_walk_next(&r->walk, err);

	r->at = 0;
	r->has_ended = rc == SIMIDX_E_END;
	return r->has_ended ? SIMIDX_OK : sx_join_input_failed(r->input, rc, err);
}

static int seek(struct reading *r, uint64_t fp, simidx_error *err)
{
	sx_sort_key from = { fp, 0 };
	int rc;

	sx_table_walk_end(&r->walk);
	rc = sx_table_walk_begin(&r->walk, sx_join_input_snapshot(r->input)->txn,
				 documents_of(r->input->index), &from, err);
	return rc ? sx_join_input_failed(r->input, rc, err) : next_piece(r, err);
}

/* Go to the first row with this fingerprint or a greater one. */
static int go_to(struct reading *r, uint64_t fp, simidx_error *err)
{
	const sx_rows *rows = &r->walk.rows;
	unsigned tried = 0;
	int rc = SIMIDX_OK;

	while (!rc && !r->has_ended && (!rows->n || rows->key[rows->n - 1] < fp))
		rc = tried++ == PIECES_IN_A_ROW ? seek(r, fp, err) : next_piece(r, err);
	if (rc || r->has_ended)
		return rc;
	if (rows->key[r->at] < fp)
		r->at += sx_u64s_below(rows->key + r->at, rows->n - r->at, fp);
	return SIMIDX_OK;
}

static int push(sx_join_input *input, size_t *n, const sx_join_doc *doc, simidx_error *err)
{
	if (*n == input->docs_cap &&
	    sx_reserve(&input->doc, &input->docs_cap, *n + 1, sizeof(*input->doc)))
		return sx_fail_nomem(err);
	input->doc[(*n)++] = *doc;
	return SIMIDX_OK;
}

/* The documents with a fingerprint that are the next ones in table and fresh rows. */
static int take_documents(struct reading *r, uint64_t fp, size_t *n, simidx_error *err)
{
	sx_join_input *input = r->input;
	const sx_rows *rows = &r->walk.rows;
	int has_ids = input->index->schema->has_ids, rc = SIMIDX_OK;
	size_t tables, first_fresh = r->fresh;

	*n = 0;
	while (!rc && !r->has_ended) {
		sx_join_doc doc = { fp, SIMIDX_NO_ID, 0 };

		if (r->at == rows->n) {
			rc = next_piece(r, err);
			continue;
		}
		if (rows->key[r->at] != fp)
			break;
		if (has_ids) {
			doc.id = rows->col[SX_POSTINGS_ID][r->at];
			doc.fp2 = sx_table_values(&input->index->tables.postings, rows, r->at)
					  .of[SX_FP2];
		}
		r->at++;
		if (!has_ids || !is_touched(input, doc.id))
			rc = push(input, n, &doc, err);
	}
	tables = *n;
	for (; !rc && r->fresh < input->n_fresh && input->fresh[r->fresh].fp == fp; r->fresh++)
		if (has_ids || !tables)
			rc = push(input, n, &input->fresh[r->fresh], err);
	if (tables && r->fresh > first_fresh)
		qsort(input->doc, *n, sizeof(*input->doc), compare_docs);
	return rc;
}

static int begin(struct reading *r, sx_join_input *input, simidx_error *err)
{
	int rc;

	memset(r, 0, sizeof(*r));
	r->input = input;
	rc = sx_table_walk_begin(&r->walk, sx_join_input_snapshot(input)->txn,
				 documents_of(input->index), NULL, err);
	return sx_join_input_failed(input, rc, err);
}

int sx_join_input_documents(sx_join_input *input, const uint64_t *fps, size_t n,
			    sx_join_visit *visit, void *ctx, simidx_error *err)
{
	struct reading r;
	int rc = begin(&r, input, err);

	if (!rc && n)
		rc = seek(&r, fps[0], err);
	for (size_t i = 0; !rc && i < n; i++) {
		size_t found;

		rc = go_to(&r, fps[i], err);
		while (r.fresh < input->n_fresh && input->fresh[r.fresh].fp < fps[i])
			r.fresh++;
		if (!rc)
			rc = take_documents(&r, fps[i], &found, err);
		if (!rc)
			rc = visit(ctx, fps[i], input->doc, found);
	}
	sx_table_walk_end(&r.walk);
	return rc;
}

/* Pass the rows of the piece whose fingerprints no other row has, but for the last one. */
static void pass_single(struct reading *r)
{
	const uint64_t *key = r->walk.rows.key;
	const sx_join_input *input = r->input;
	size_t end = r->walk.rows.n;
	uint64_t fresh = UINT64_MAX;

	if (r->fresh < input->n_fresh)
		fresh = input->fresh[r->fresh].fp;
	while (r->at + 1 < end && key[r->at] != key[r->at + 1] && key[r->at] < fresh)
		r->at++;
}

int sx_join_input_repeated(sx_join_input *input, sx_join_visit *visit, void *ctx,
			   simidx_error *err)
{
	struct reading r;
	int rc = begin(&r, input, err);

	if (!rc)
		rc = next_piece(&r, err);
	while (!rc) {
		const sx_rows *rows = &r.walk.rows;
		int has_fresh = r.fresh < input->n_fresh;
		uint64_t fp;
		size_t found;

		if (!r.has_ended)
			pass_single(&r);
		if (!r.has_ended && r.at == rows->n) {
			rc = next_piece(&r, err);
			continue;
		}
		if (r.has_ended && !has_fresh)
			break;
		fp = has_fresh ? input->fresh[r.fresh].fp : UINT64_MAX;
		if (!r.has_ended && rows->key[r.at] < fp)
			fp = rows->key[r.at];
		rc = take_documents(&r, fp, &found, err);
		if (!rc)
			rc = visit(ctx, fp, input->doc, found);
	}
	sx_table_walk_end(&r.walk);
	return rc;
}
