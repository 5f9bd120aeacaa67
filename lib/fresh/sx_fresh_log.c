/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "fresh/sx_fresh_log.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "table/sx_table_merge.h"
#include "table/sx_table_range.h"
#include "table/sx_table_walk.h"
#include "util/sx_err.h"
#include "util/sx_sort.h"

#define APPEND_ROWS 16384 /* encoded at once */

int sx_fresh_rows_push(sx_fresh_rows *rows, const sx_fresh_row *row, simidx_error *err)
{
	if (sx_reserve(&rows->at, &rows->cap, rows->n + 1, sizeof(*rows->at)))
		return sx_fail_nomem(err);
	rows->at[rows->n++] = *row;
	return SIMIDX_OK;
}

int sx_fresh_rows_keep_last(sx_fresh_rows *rows, simidx_error *err)
{
	uint64_t *id = sx_realloc(NULL, rows->n ? rows->n : 1, sizeof(*id));
	uint32_t *order = sx_realloc(NULL, rows->n ? rows->n : 1, sizeof(*order));
	sx_fresh_row *kept = sx_realloc(NULL, rows->n ? rows->n : 1, sizeof(*kept));
	size_t n = 0;
	int failed = !id || !order || !kept;

	for (size_t i = 0; !failed && i < rows->n; i++)
		id[i] = rows->at[i].id;
	failed = failed || sx_sort_order(id, order, rows->n, 0);
	for (size_t i = 0; !failed && i < rows->n; i++)
		if (i + 1 == rows->n || rows->at[order[i]].id != rows->at[order[i + 1]].id)
			kept[n++] = rows->at[order[i]];
	free(id);
	free(order);
	if (failed) {
		free(kept);
		return sx_fail_nomem(err);
	}
	free(rows->at);
	*rows = (sx_fresh_rows){ kept, n, rows->n };
	return SIMIDX_OK;
}

int sx_fresh_log_append(sx_txn *txn, const sx_table *log, const sx_fresh_row *rows, size_t n,
			uint64_t seq, simidx_error *err)
{
	sx_rows batch;
	sx_changes changes = { &batch, NULL };
	sx_delta delta;
	int rc = SIMIDX_OK;

	sx_rows_init(&batch, log->n_cols);
	for (size_t i = 0; !rc && i < n; i++) {
		const sx_fresh_row *r = &rows[i];
		uint64_t cols[SX_MAX_COLS] = { [SX_LOG_OP] = r->op,
					       [SX_LOG_ID] = r->id,
					       [SX_LOG_FP] = r->fp,
					       [SX_LOG_LABEL_HASH] = r->label_hash };
		size_t done = 0;

		if (log->columns)
			sx_values_put(log->columns, &r->values, cols + log->values_at);
		if (sx_rows_push(&batch, seq + i, cols)) {
			rc = sx_fail_nomem(err);
		} else if (batch.n == APPEND_ROWS || i + 1 == n) {
			rc = sx_table_merge(txn, log, &changes, &done, UINT64_MAX, &delta, err);
			batch.n = 0;
		}
	}
	sx_rows_free(&batch);
	return rc;
}

/* The rows of one block from number *expected on, which is raised, to `end`. */
static int visit_rows(const sx_table *log, const sx_rows *rows, uint64_t *expected, uint64_t end,
		      int (*visit)(void *ctx, const sx_fresh_row *row), void *ctx,
		      simidx_error *err)
{
	for (size_t i = 0; i < rows->n && *expected < end; i++) {
		sx_fresh_row r = sx_fresh_row_of(log, rows, i);
		int rc;

		if (rows->key[i] < *expected)
			continue; /* the block begins before the first row that was asked for */
		if (rows->key[i] > *expected)
			return sx_fail(err, SIMIDX_E_CORRUPT,
				       "table fresh: row %" PRIu64 " is missing", *expected);
		if (!sx_fresh_is_known(rows, i))
			return sx_fail(err, SIMIDX_E_CORRUPT,
				       "table fresh: row %" PRIu64 " has operation %" PRIu64
				       ", which this version of the library does not know",
				       *expected, rows->col[SX_LOG_OP][i]);
		rc = visit ? visit(ctx, &r) : SIMIDX_OK;
		if (rc)
			return rc;
		++*expected;
	}
	return SIMIDX_OK;
}

int sx_fresh_log_read(sx_txn *txn, const sx_table *log, uint64_t first, uint64_t end,
		      int (*visit)(void *ctx, const sx_fresh_row *row), void *ctx,
		      simidx_error *err)
{
	sx_sort_key from = { first, 0 };
	sx_table_walk walk;
	int rc;

	if (first >= end)
		return SIMIDX_OK;
	rc = sx_table_walk_begin(&walk, txn, log, &from, err);
	while (!rc && first < end) {
		rc = sx_table_walk_next(&walk, err);
		if (!rc)
			rc = visit_rows(log, &walk.rows, &first, end, visit, ctx, err);
	}
	sx_table_walk_end(&walk);
	if (rc == SIMIDX_E_END)
		rc = sx_fail(err, SIMIDX_E_CORRUPT, "table fresh: row %" PRIu64 " is missing",
			     first);
	return rc;
}

static int load_row(void *rows, const sx_fresh_row *row)
{
	return sx_fresh_rows_push(rows, row, NULL);
}

int sx_fresh_log_load(sx_txn *txn, const sx_table *log, uint64_t first, uint64_t end,
		      sx_fresh_rows *rows, simidx_error *err)
{
	int rc = sx_fresh_log_read(txn, log, first, end, load_row, rows, err);

	return rc == SIMIDX_E_NOMEM ? sx_fail_nomem(err) : rc;
}

/* Remove the records, blocks or rows, that have nothing from `end` on. */
static int remove_records(sx_txn *txn, const sx_table *log, uint64_t end, simidx_error *err)
{
	unsigned char bytes[SX_TABLE_MAX_KEY];
	sx_slice key, value;
	sx_sort_key last;
	sx_cursor *cursor;
	int rc = sx_cursor_open(txn, log->dbi, &cursor, err);

	if (rc)
		return rc;
	while (!(rc = sx_cursor_first(cursor, &key, &value, err))) {
		if (sx_table_sort_key(log, key, &last)) {
			rc = sx_table_damaged(log, key, "its key is not one of this table's", err);
			break;
		}
		if (last.key >= end)
			break;
		/* The key lies in a page that the removal may move. */
		memcpy(bytes, key.data, key.size);
		key.data = bytes;
		rc = sx_dbi_del(txn, log->dbi, key, err);
		if (rc)
			break;
	}
	sx_cursor_close(cursor);
	return rc == SIMIDX_E_END ? SIMIDX_OK : rc;
}

int sx_fresh_log_remove(sx_txn *txn, const sx_table *log, uint64_t end, simidx_error *err)
{
	unsigned char *remove = NULL;
	sx_cursor *cursor = NULL;
	size_t done = 0;
	sx_delta delta;
	sx_rows rows;
	int rc;

	if (!end)
		return SIMIDX_OK;
	rc = remove_records(txn, log, end, err);
	sx_rows_init(&rows, log->n_cols);
	/* The block that is first now may begin with rows to remove. */
	if (!rc)
		rc = sx_cursor_open(txn, log->dbi, &cursor, err);
	if (!rc)
		rc = sx_table_range(log, cursor, (sx_sort_key){ 0, 0 }, (sx_sort_key){ end - 1, 0 },
				    0, &rows, err);
	sx_cursor_close(cursor);
	if (!rc && rows.n) {
		sx_changes changes = { &rows, NULL };

		remove = sx_calloc(rows.n, 1);
		if (remove) {
			memset(remove, 1, rows.n);
			changes.remove = remove;
			rc = sx_table_merge(txn, log, &changes, &done, UINT64_MAX, &delta, err);
		} else {
			rc = sx_fail_nomem(err);
		}
	}
	free(remove);
	sx_rows_free(&rows);
	return rc;
}
