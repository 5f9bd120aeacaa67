/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include <string.h>

#include "table/sx_table_walk.h"
#include "util/sx_bytes.h"
#include "util/sx_err.h"

#define ROWS_A_PIECE 256

int sx_table_walk_begin(sx_table_walk *walk, sx_txn *txn, const sx_table *table, int check,
			const sx_sort_key *from, simidx_error *err)
{
	unsigned char bytes[SX_TABLE_MAX_KEY];
	sx_slice key, value;
	int rc;

	memset(walk, 0, sizeof(*walk));
	walk->table = table;
	walk->check = check;
	sx_rows_init(&walk->rows, table->n_cols);
	rc = sx_cursor_open(txn, table->dbi, &walk->cursor, err);
	if (rc || !from)
		return rc;
	/* Stand one before the first piece, so that the first `next` loads it. */
	key.data = bytes;
	key.size = sx_table_key(table, *from, bytes);
	rc = sx_cursor_seek(walk->cursor, key, &key, &value, err);
	if (rc == SIMIDX_E_END)
		rc = sx_cursor_last(walk->cursor, &key, &value, err);
	else if (!rc)
		rc = sx_cursor_prev(walk->cursor, &key, &value, err);
	walk->started = rc == SIMIDX_OK;
	return rc == SIMIDX_E_END ? SIMIDX_OK : rc;
}

void sx_table_walk_end(sx_table_walk *walk)
{
	sx_cursor_close(walk->cursor);
	sx_rows_free(&walk->rows);
	memset(walk, 0, sizeof(*walk));
}

static int load_block(sx_table_walk *walk, sx_slice value, simidx_error *err)
{
	sx_block block;
	const char *wrong = sx_block_open(&block, value.data, value.size, walk->table->n_cols);

	if (!wrong && walk->check && !sx_block_is_intact(&block))
		wrong = "checksum mismatch";
	if (!wrong && sx_rows_reserve(&walk->rows, block.n))
		return sx_fail_nomem(err);
	if (!wrong)
		wrong = sx_block_decode(&block, 0, block.n, &walk->rows);
	if (wrong)
		return sx_table_damaged(walk->table, walk->key, wrong, err);
	walk->used = block.used;
	return SIMIDX_OK;
}

static int load_rows(sx_table_walk *walk, sx_slice value, simidx_error *err)
{
	sx_slice key = walk->key;
	int rc;

	walk->used = 0;
	for (;;) {
		rc = sx_table_row_decode(walk->table, key, value, &walk->rows, err);
		if (rc)
			return rc;
		walk->key = key;
		walk->used += key.size + value.size;
		if (walk->rows.n == ROWS_A_PIECE)
			return SIMIDX_OK;
		rc = sx_cursor_next(walk->cursor, &key, &value, err);
		walk->stuck = rc && rc != SIMIDX_E_END;
		if (rc)
			return walk->stuck ? rc : SIMIDX_OK;
	}
}

/* Rows ascend, within the piece and from the one before, and do not pass the store key. */
static int check_order(sx_table_walk *walk, int first, simidx_error *err)
{
	const sx_table *table = walk->table;
	sx_sort_key last = walk->last, fence;

	if (sx_table_sort_key(table, walk->key, &fence))
		return sx_table_damaged(table, walk->key, "its key is not one of this table's", err);
	for (size_t i = 0; i < walk->rows.n; i++) {
		sx_sort_key here = sx_sort_key_of(table, &walk->rows, i);

		if (!(first && i == 0) && sx_sort_key_cmp(here, last) <= 0)
			return sx_table_damaged(table, walk->key, "its entries are out of order",
						err);
		last = here;
	}
	if (sx_sort_key_cmp(last, fence) > 0)
		return sx_table_damaged(table, walk->key, "an entry lies behind its key", err);
	if (table->kind == SX_TABLE_PERMUTED && last.key & ~sx_low_bits(table->perm->bits))
		return sx_table_damaged(table, walk->key, "an entry is too wide", err);
	walk->last = fence; /* no entry may hide from a search after it */
	return SIMIDX_OK;
}

int sx_table_walk_next(sx_table_walk *walk, simidx_error *err)
{
	int first = !walk->started;
	sx_slice value;
	int rc;

	walk->rows.n = 0;
	if (first)
		rc = sx_cursor_first(walk->cursor, &walk->key, &value, err);
	else
		rc = sx_cursor_next(walk->cursor, &walk->key, &value, err);
	walk->stuck = rc && rc != SIMIDX_E_END;
	if (rc)
		return rc;
	walk->started = 1;
	if (walk->table->layout == SIMIDX_LAYOUT_BLOCKS)
		rc = load_block(walk, value, err);
	else
		rc = load_rows(walk, value, err);
	return rc ? rc : check_order(walk, first, err);
}
