/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include <string.h>

#include "table/sx_table_walk.h"
#include "util/sx_err.h"

#define ROWS_A_PIECE 256

int sx_table_walk_begin(sx_table_walk *walk, sx_txn *txn, const sx_table *table,
			const sx_sort_key *from, simidx_error *err)
{
	unsigned char bytes[SX_TABLE_MAX_KEY];
	sx_slice key, value;
	int rc;

	memset(walk, 0, sizeof(*walk));
	walk->table = table;
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
	if (!rc && sx_table_sort_key(table, key, &walk->last))
		return sx_table_damaged(table, key, "its key is not one of this table's", err);
	walk->started = rc == SIMIDX_OK;
	return rc == SIMIDX_E_END ? SIMIDX_OK : rc;
}

void sx_table_walk_end(sx_table_walk *walk)
{
	sx_cursor_close(walk->cursor);
	sx_rows_free(&walk->rows);
	memset(walk, 0, sizeof(*walk));
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

/* Ask the store for the next piece. One of rows is decoded already. */
static int fetch(sx_table_walk *walk, sx_slice *value, simidx_error *err)
{
	int rc = walk->started ? sx_cursor_next(walk->cursor, &walk->key, value, err)
			       : sx_cursor_first(walk->cursor, &walk->key, value, err);

	walk->stuck = rc && rc != SIMIDX_E_END;
	if (rc)
		return rc;
	walk->started = 1;
	return walk->table->layout == SIMIDX_LAYOUT_BLOCKS ? SIMIDX_OK
							   : load_rows(walk, *value, err);
}

int sx_table_walk_next(sx_table_walk *walk, simidx_error *err)
{
	int first = !walk->started, rc;
	sx_sort_key fence;
	sx_slice value;

	walk->rows.n = 0;
	if (walk->lock)
		pthread_mutex_lock(walk->lock);
	rc = fetch(walk, &value, err);
	if (walk->lock)
		pthread_mutex_unlock(walk->lock);
	if (rc && (rc == SIMIDX_E_END || walk->stuck))
		return rc;
	if (!rc && walk->table->layout == SIMIDX_LAYOUT_BLOCKS)
		rc = sx_table_block_decode(walk->table, walk->key, value, &walk->rows, &walk->used,
					   err);
	if (!rc)
		rc = sx_table_check_order(walk->table, walk->key, &walk->rows,
					  first ? NULL : &walk->last, &fence, err);
	/* No entry may hide from a search after the key, not even if this piece is damaged. */
	if (!rc || !sx_table_sort_key(walk->table, walk->key, &fence))
		walk->last = fence;
	return rc;
}
