/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Moving the fresh rows into the tables: t01.., docs, by_label and last postings, each in
 * transactions of a bounded number of blocks. Until postings have a row, its fresh copy answers:
 * a fingerprint that stands in a table but not in postings has no documents there. When
 * postings take several transactions, the header says up to which (fingerprint, id) they are
 * done. The transaction with the last of them removes the fresh rows. A merge that was killed
 * is done again from the start: what is there already is skipped.
 */

#include <stdlib.h>
#include <string.h>

#include "index/sx_index.h"
#include "util/sx_err.h"
#include "util/sx_sort.h"

struct run {
	simidx *index;
	int no_meta_sync;
	simidx_error *err;
	sx_txn *txn;
	sx_header header;
	sx_fresh_rows rows;
	uint32_t *order;  /* of the rows, by (fingerprint, id) */
	uint64_t *key;    /* scratch, one a row */
	unsigned step, n_steps;
};

static int begin(struct run *run)
{
	int rc = sx_txn_begin_write(run->index->store, run->no_meta_sync, &run->txn, run->err);

	if (!rc)
		rc = sx_header_read(run->txn, run->index->tables.meta, &run->header, run->err);
	/* The path was checked when the lock was taken: an announced exchange never came. */
	run->header.state &= ~SX_STATE_SUPERSEDED;
	return rc;
}

static int commit(struct run *run)
{
	sx_txn *txn = run->txn;
	int rc;

	run->header.state |= SX_STATE_MERGING;
	rc = sx_header_write(txn, run->index->tables.meta, &run->header, run->err);
	if (rc)
		return rc;
	run->txn = NULL;
	return sx_txn_commit(txn, run->err);
}

/* One transaction's worth of changes to a table; the caller commits. */
static int merge_piece(struct run *run, const sx_table *table, sx_table_count *count,
		       const sx_rows *rows, size_t *done)
{
	const simidx *index = run->index;
	sx_changes changes = { rows, NULL };
	sx_delta delta;
	int rc = sx_table_merge(run->txn, table, &changes, done,
				table->layout == SIMIDX_LAYOUT_BLOCKS ? index->merge_blocks
								      : index->merge_rows,
				&delta, run->err);

	if (!rc && count) {
		count->rows += (uint64_t)delta.rows;
		count->digest += delta.digest;
		count->generation++;
	}
	return rc;
}

/* A whole table but postings. `count` lies in run->header, which each transaction reads anew. */
static int merge_table(struct run *run, const sx_table *table, sx_table_count *count,
		       const sx_rows *rows)
{
	size_t done = 0;
	int rc = SIMIDX_OK;

	while (!rc && done < rows->n) {
		rc = begin(run);
		if (!rc)
			rc = merge_piece(run, table, count, rows, &done);
		if (!rc)
			rc = commit(run);
	}
	sx_progress(run->index, "merge", ++run->step, run->n_steps);
	return rc;
}

static int nomem(struct run *run)
{
	return sx_fail_nomem(run->err);
}

/* Each permuted table gets the distinct fingerprints in its own order. */
static int merge_permuted(struct run *run)
{
	simidx *index = run->index;
	size_t n = run->rows.n, distinct = 0;
	uint64_t *fps = sx_realloc(NULL, n, sizeof(*fps));
	int rc = fps ? SIMIDX_OK : nomem(run);

	for (size_t i = 0; !rc && i < n; i++) {
		uint64_t fp = run->rows.at[run->order[i]].fp;

		if (!distinct || fps[distinct - 1] != fp)
			fps[distinct++] = fp;
	}
	for (unsigned t = 0; !rc && t < index->plan.n_tables; t++) {
		uint64_t generation = run->header.table[t].generation;
		sx_rows changes;

		sx_rows_init(&changes, 0);
		changes.key = run->key;
		changes.n = distinct;
		for (size_t i = 0; i < distinct; i++)
			run->key[i] = sx_permute(&index->plan.table[t], fps[i]);
		rc = sx_sort_u64(run->key, distinct) ? nomem(run) : SIMIDX_OK;
		if (!rc)
			rc = merge_table(run, &index->tables.permuted[t], &run->header.table[t],
					 &changes);
		if (!rc)
			sx_shelf_renew(index, t, generation);
	}
	free(fps);
	return rc;
}

/* The rows in the order of their ids, freed by the caller; NULL when memory is short. */
static uint32_t *order_by_id(struct run *run)
{
	size_t n = run->rows.n;
	uint32_t *order = sx_realloc(NULL, n, sizeof(*order));

	for (size_t i = 0; i < n; i++)
		run->key[i] = run->rows.at[i].id;
	if (order && !sx_sort_order(run->key, order, n, 0))
		return order;
	free(order);
	return NULL;
}

static int merge_docs(struct run *run)
{
	size_t n = run->rows.n;
	uint32_t *order = order_by_id(run);
	int rc = order ? SIMIDX_OK : nomem(run);
	sx_rows changes;

	sx_rows_init(&changes, 1);
	for (size_t i = 0; !rc && i < n; i++) {
		const sx_fresh_row *row = &run->rows.at[order[i]];

		if (sx_rows_push(&changes, row->id, &row->fp))
			rc = nomem(run);
	}
	if (!rc)
		rc = merge_table(run, &run->index->tables.docs,
				 &run->header.other[SX_COUNT_DOCS], &changes);
	sx_rows_free(&changes);
	free(order);
	return rc;
}

static int merge_labels(struct run *run)
{
	size_t n = run->rows.n;
	uint32_t *order = order_by_id(run);
	int rc = order ? SIMIDX_OK : nomem(run);
	sx_rows changes;

	sx_rows_init(&changes, 1);
	for (size_t i = 0; i < n; i++)
		run->key[i] = run->rows.at[i].label_hash;
	if (!rc && sx_sort_order(run->key, order, n, 1))
		rc = nomem(run);
	for (size_t i = 0; !rc && i < n; i++) {
		const sx_fresh_row *row = &run->rows.at[order[i]];

		if (row->op & SX_FRESH_LABEL && sx_rows_push(&changes, row->label_hash, &row->id))
			rc = nomem(run);
	}
	if (!rc)
		rc = merge_table(run, &run->index->tables.by_label, NULL, &changes);
	sx_rows_free(&changes);
	free(order);
	return rc;
}

/* The last transaction: nothing answers from the fresh rows any more. */
static int finish(struct run *run)
{
	sx_txn *txn = run->txn;
	sx_header *h = &run->header;
	int rc = sx_fresh_log_clear(txn, &run->index->fresh.log, run->err);

	h->first_seq = h->next_seq;
	h->state &= ~(SX_STATE_MERGING | SX_STATE_PARTIAL);
	h->merged_fp = h->merged_id = 0;
	if (!rc)
		rc = sx_header_write(txn, run->index->tables.meta, h, run->err);
	if (rc)
		return rc;
	run->txn = NULL;
	return sx_txn_commit(txn, run->err);
}

/* Postings are done up to this row; a repeated merge may be behind what was reached before. */
static void note_merged(sx_header *h, const sx_rows *rows, size_t done)
{
	uint64_t fp = rows->key[done - 1], id = rows->col[0][done - 1];

	if (h->state & SX_STATE_PARTIAL &&
	    (fp < h->merged_fp || (fp == h->merged_fp && id < h->merged_id)))
		return;
	h->state |= SX_STATE_PARTIAL;
	h->merged_fp = fp;
	h->merged_id = id;
}

static int merge_postings(struct run *run)
{
	const sx_table *postings = &run->index->tables.postings;
	uint64_t generation = run->header.other[SX_COUNT_POSTINGS].generation;
	size_t done = 0;
	sx_rows changes;
	int rc = SIMIDX_OK;

	sx_rows_init(&changes, postings->n_cols);
	for (size_t i = 0; !rc && i < run->rows.n; i++) {
		const sx_fresh_row *row = &run->rows.at[run->order[i]];
		uint64_t cols[2] = { row->id, row->fp2 };

		if (sx_rows_push(&changes, row->fp, cols))
			rc = nomem(run);
	}
	while (!rc && done < changes.n) {
		rc = begin(run);
		if (!rc)
			rc = merge_piece(run, postings, &run->header.other[SX_COUNT_POSTINGS],
					 &changes, &done);
		if (!rc && done < changes.n) {
			note_merged(&run->header, &changes, done);
			rc = commit(run);
		}
	}
	if (!rc)
		rc = finish(run);
	sx_rows_free(&changes);
	if (!rc)
		sx_shelf_renew(run->index, SX_SHELF_POSTINGS, generation);
	return rc;
}

/* Load the rows and order them by (fingerprint, id). */
static int prepare(struct run *run)
{
	size_t n;
	int rc = begin(run);

	if (rc)
		return rc;
	rc = sx_fresh_log_load(run->txn, &run->index->fresh.log, run->header.first_seq,
			       run->header.next_seq, &run->rows, run->err);
	sx_txn_abort(run->txn);
	run->txn = NULL;
	if (rc)
		return rc;
	n = run->rows.n;
	run->order = sx_realloc(NULL, n, sizeof(*run->order));
	run->key = sx_realloc(NULL, n, sizeof(*run->key));
	if (!run->order || !run->key || n >= UINT32_MAX)
		return nomem(run);
	for (size_t i = 0; i < n; i++)
		run->key[i] = run->rows.at[i].id;
	if (sx_sort_order(run->key, run->order, n, 0))
		return nomem(run);
	for (size_t i = 0; i < n; i++)
		run->key[i] = run->rows.at[i].fp;
	return sx_sort_order(run->key, run->order, n, 1) ? nomem(run) : SIMIDX_OK;
}

static int merge_all(struct run *run)
{
	int rc = merge_permuted(run);

	if (rc)
		return rc;
	if (!sx_has_ids(run->index)) {
		rc = begin(run);
		return rc ? rc : finish(run);
	}
	rc = merge_docs(run);
	if (!rc)
		rc = merge_labels(run);
	return rc ? rc : merge_postings(run);
}

int sx_merge_fresh(simidx *index, int no_meta_sync, simidx_error *err)
{
	struct run *run = sx_calloc(1, sizeof(*run));
	int rc;

	if (!run)
		return sx_fail_nomem(err);
	run->index = index;
	run->no_meta_sync = no_meta_sync;
	run->err = err;
	run->n_steps = index->plan.n_tables + (sx_has_ids(index) ? 3 : 1);
	rc = prepare(run);
	if (!rc && run->rows.n)
		rc = merge_all(run);
	if (!rc)
		sx_progress(index, "merge", run->n_steps, run->n_steps);
	sx_txn_abort(run->txn);
	free(run->rows.at);
	free(run->order);
	free(run->key);
	free(run);
	return rc;
}
