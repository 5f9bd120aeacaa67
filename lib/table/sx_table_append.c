/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "table/sx_table_append.h"

#include <string.h>

#include "util/sx_bytes.h"
#include "util/sx_err.h"

/* Rows that are collected before blocks are cut from them: more than any block holds. */
#define PENDING_ROWS (2 * SX_MAX_BLOCK_ROWS)

int sx_append_begin(sx_append *a, const sx_table *table, sx_txn *txn, simidx_error *err)
{
	memset(a, 0, sizeof(*a));
	a->table = table;
	a->txn = txn;
	sx_rows_init(&a->rows, table->n_cols);
	a->value = sx_calloc(1, table->block_size);
	if (a->value && !sx_rows_reserve(&a->rows, PENDING_ROWS))
		return SIMIDX_OK;
	sx_append_end(a);
	return sx_fail_nomem(err);
}

void sx_append_end(sx_append *a)
{
	sx_rows_free(&a->rows);
	free(a->value);
	memset(a, 0, sizeof(*a));
}

/* The key in the store of row i, written to `bytes`. */
static sx_slice key_of(const sx_append *a, size_t i, unsigned char *bytes)
{
	return (sx_slice){ bytes,
			   sx_table_key(a->table, sx_sort_key_of(a->table, &a->rows, i), bytes) };
}

static int put(sx_append *a, sx_slice key, size_t value_size, simidx_error *err)
{
	sx_slice value = { a->value, value_size };

	a->written++;
	return sx_dbi_append(a->txn, a->table->dbi, key, value, err);
}

static int write_rows(sx_append *a, simidx_error *err)
{
	unsigned char bytes[SX_TABLE_MAX_KEY];

	for (size_t i = 0; i < a->rows.n; i++) {
		sx_slice key = key_of(a, i, bytes);
		size_t size = sx_table_row_encode(a->table, &a->rows, i, key, a->value);
		int rc = put(a, key, size, err);

		if (rc)
			return rc;
	}
	a->rows.n = 0;
	return SIMIDX_OK;
}

static int out_of_order(const sx_append *a, simidx_error *err)
{
	return sx_fail(err, SIMIDX_E_CORRUPT, "table %s: entries out of order", a->table->name);
}

/* Cut blocks while more rows than one block takes are left, or to the last row. */
static int write_blocks(sx_append *a, int all, simidx_error *err)
{
	size_t budget = a->table->block_size * a->table->fill / 100;
	unsigned char bytes[SX_TABLE_MAX_KEY];
	size_t from = 0, left;

	while ((left = a->rows.n - from) > (all ? 0 : SX_MAX_BLOCK_ROWS)) {
		size_t n = sx_block_fit(&a->rows, from, budget);
		int rc;

		if (sx_block_encode(&a->rows, from, n, a->table->number, a->value,
				    a->table->block_size))
			return out_of_order(a, err);
		rc = put(a, key_of(a, from + n - 1, bytes), a->table->block_size, err);
		if (rc)
			return rc;
		from += n;
	}
	memmove(a->rows.key, a->rows.key + from, left * sizeof(uint64_t));
	for (unsigned c = 0; c < a->rows.n_cols; c++)
		memmove(a->rows.col[c], a->rows.col[c] + from, left * sizeof(uint64_t));
	a->rows.n = left;
	return SIMIDX_OK;
}

static int write_pending(sx_append *a, int all, simidx_error *err)
{
	if (a->table->layout == SIMIDX_LAYOUT_ROWS)
		return write_rows(a, err);
	return write_blocks(a, all, err);
}

/* Copy rows after those that wait. */
static void push(sx_append *a, const uint64_t *record, size_t n)
{
	unsigned words = 1 + a->rows.n_cols;

	for (size_t i = 0; i < n; i++)
		a->rows.key[a->rows.n + i] = record[i * words];
	for (unsigned c = 0; c < a->rows.n_cols; c++)
		for (size_t i = 0; i < n; i++)
			a->rows.col[c][a->rows.n + i] = record[i * words + 1 + c];
	a->rows.n += n;
}

/* Whether row i, 1 or above, is after the one before it. */
static inline int ascends(const sx_append *a, size_t i)
{
	const uint64_t *key = a->rows.key;

	return key[i] > key[i - 1] ||
	       (key[i] == key[i - 1] && a->table->kind == SX_TABLE_PAIRS &&
		a->rows.col[0][i] > a->rows.col[0][i - 1]);
}

/* Count what was pushed from row `from` on, and check that it ascends. */
static int take(sx_append *a, size_t from, simidx_error *err)
{
	int ok = !a->count ||
		 sx_sort_key_cmp(a->last, sx_sort_key_of(a->table, &a->rows, from)) < 0;

	for (size_t i = from + 1; i < a->rows.n; i++)
		ok &= ascends(a, i);
	if (!ok)
		return out_of_order(a, err);
	a->count += a->rows.n - from;
	a->last = sx_sort_key_of(a->table, &a->rows, a->rows.n - 1);
	if (a->table->kind == SX_TABLE_NUMBERS || (a->table->columns && a->table->columns->n))
		for (size_t i = from; i < a->rows.n; i++)
			a->digest += sx_table_row_hash(a->table, &a->rows, i);
	return a->rows.n >= PENDING_ROWS ? write_pending(a, 0, err) : SIMIDX_OK;
}

int sx_append_rows(sx_append *a, const uint64_t *record, size_t n, simidx_error *err)
{
	while (n) {
		size_t from = a->rows.n;
		size_t some = n < PENDING_ROWS - from ? n : PENDING_ROWS - from;
		int rc;

		push(a, record, some);
		rc = take(a, from, err);
		if (rc)
			return rc;
		record += some * (1 + a->rows.n_cols);
		n -= some;
	}
	return SIMIDX_OK;
}

int sx_append_finish(sx_append *a, simidx_error *err)
{
	return write_pending(a, 1, err);
}
