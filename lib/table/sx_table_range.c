/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "table/sx_table_range.h"

#include "block/sx_block_search.h"

#include "util/sx_err.h"

static int seek(const sx_table *table, sx_cursor *cursor, sx_sort_key from, sx_slice *key,
		sx_slice *value, simidx_error *err)
{
	unsigned char bytes[SX_TABLE_MAX_KEY];
	sx_slice at = { bytes, sx_table_key(table, from, bytes) };

	return sx_cursor_seek(cursor, at, key, value, err);
}

/* First entry of a block at or after a place, or after it with `after`. */
static size_t block_bound(const sx_table *table, const sx_block *block, sx_sort_key place,
			  int after)
{
	size_t i, end;

	if (table->kind != SX_TABLE_PAIRS)
		return after ? sx_block_upper_bound(block, place.key)
			     : sx_block_lower_bound(block, place.key);
	i = sx_block_lower_bound(block, place.key);
	end = sx_block_upper_bound(block, place.key);
	while (i < end) {
		size_t middle = i + (end - i) / 2;
		uint64_t col0 = sx_block_col(block, 0, middle);

		if (after ? col0 <= place.col0 : col0 < place.col0)
			i = middle + 1;
		else
			end = middle;
	}
	return i;
}

/* A range of a table: where its rows go, and how many of them there may be then. */
struct range {
	const sx_table *table;
	sx_sort_key low, high;
	sx_rows *rows;
	uint64_t end;
};

/* `before` and `place` are those of the key before and of its own. */
static int range_in_block(const struct range *r, sx_slice key, sx_slice value, sx_sort_key before,
			  sx_sort_key place, int *past, simidx_error *err)
{
	const sx_table *table = r->table;
	uint64_t most = r->end - r->rows->n;
	sx_block block;
	size_t from, to;
	const char *wrong = sx_block_open(&block, value.data, value.size, table->n_cols);

	if (!wrong)
		wrong = sx_table_block_wrong(table, &block, before, place);
	if (wrong)
		return sx_table_damaged(table, key, wrong, err);
	from = block_bound(table, &block, r->low, 0);
	to = block_bound(table, &block, r->high, 1);
	*past = to < block.n;
	if (to <= from)
		return SIMIDX_OK;
	if (to - from > most)
		to = from + (size_t)most;
	if (sx_rows_reserve(r->rows, to - from))
		return sx_fail_nomem(err);
	wrong = sx_block_decode(&block, from, to - from, r->rows);
	return wrong ? sx_table_damaged(table, key, wrong, err) : SIMIDX_OK;
}

int sx_table_range(const sx_table *table, sx_cursor *cursor, sx_sort_key low, sx_sort_key high,
		   uint64_t limit, sx_rows *rows, simidx_error *err)
{
	uint64_t end = limit && limit < UINT64_MAX - rows->n ? rows->n + limit : UINT64_MAX;
	const struct range r = { table, low, high, rows, end };
	sx_slice key, value;
	int is_blocks = table->layout == SIMIDX_LAYOUT_BLOCKS;
	sx_sort_key place, before;
	int past, has_before, rc = seek(table, cursor, low, &key, &value, err);

	if (!rc && is_blocks)
		rc = sx_table_place_before(table, cursor, &has_before, &before, err);
	for (; !rc && rows->n < end; rc = sx_cursor_next(cursor, &key, &value, err)) {
		if (sx_table_sort_key(table, key, &place))
			return sx_table_damaged(table, key, "its key is not one of this table's",
						err);
		if (is_blocks) {
			rc = range_in_block(&r, key, value, before, place, &past, err);
			if (rc || past || sx_sort_key_cmp(place, high) >= 0)
				return rc;
			before = place;
			continue;
		}
		if (sx_sort_key_cmp(place, high) > 0)
			return SIMIDX_OK;
		rc = sx_table_row_decode(table, key, value, rows, err);
		if (rc)
			return rc;
	}
	return rc == SIMIDX_E_END ? SIMIDX_OK : rc;
}
