/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include <string.h>

#include "block/sx_block_search.h"
#include "table/sx_table.h"
#include "util/sx_bytes.h"
#include "util/sx_err.h"

#define LINE 64 /* of the CPU's caches */

int sx_found_init(sx_found *found, const sx_kernel *kernel)
{
	memset(found, 0, sizeof(*found));
	found->kernel = kernel;
	found->most = found->pause = UINT64_MAX;
	found->entry = sx_calloc(SX_MAX_BLOCK_ROWS, sizeof(*found->entry));
	return found->entry ? 0 : -1;
}

void sx_found_free(sx_found *found)
{
	free(found->entry);
	sx_u64s_free(&found->keys);
	memset(found, 0, sizeof(*found));
}

static int seek(const sx_table *table, sx_cursor *cursor, sx_place place, sx_slice *key,
		sx_slice *value, simidx_error *err)
{
	unsigned char bytes[SX_TABLE_MAX_KEY];
	sx_slice from = { bytes, sx_table_key(table, place, bytes) };

	return sx_cursor_seek(cursor, from, key, value, err);
}

int sx_table_row_decode(const sx_table *table, sx_slice key, sx_slice value, sx_rows *rows,
			simidx_error *err)
{
	unsigned in_key = table->kind == SX_TABLE_PAIRS;
	const unsigned char *bytes = value.data;
	uint64_t cols[SX_MAX_COLS];
	sx_place place;

	if (sx_table_place(table, key, &place))
		return sx_table_damaged(table, key, "its key is not one of this table's", err);
	if (value.size != 8 * (size_t)(table->n_cols - in_key))
		return sx_table_damaged(table, key, "its value has the wrong size", err);
	cols[0] = place.col0;
	for (unsigned c = in_key; c < table->n_cols; c++)
		cols[c] = sx_load_le64(bytes + 8 * (c - in_key));
	return sx_rows_push(rows, place.key, cols) ? sx_fail_nomem(err) : SIMIDX_OK;
}

size_t sx_table_row_encode(const sx_table *table, const sx_rows *rows, size_t i,
			   unsigned char *out)
{
	size_t size = 0;

	for (unsigned c = table->kind == SX_TABLE_PAIRS; c < table->n_cols; c++, size += 8)
		sx_store_le64(out + size, rows->col[c][i]);
	return size;
}

/* How many of n more keys may be compared; fewer than n, and that is the end. */
static size_t allow(sx_found *found, size_t n)
{
	if (n > found->most - found->candidates) {
		n = (size_t)(found->most - found->candidates);
		found->is_cut = 1;
	}
	found->candidates += n;
	return n;
}

/* Compare the entries of a block that lie in [low, high]; *past: there are no more behind it. */
static int near_in_block(const sx_table *table, sx_slice key, sx_slice value, uint64_t low,
			 uint64_t high, uint64_t query, unsigned k, sx_found *found, int *past,
			 simidx_error *err)
{
	sx_u64s *keys = &found->keys;
	sx_block block;
	size_t from, to, n;
	const char *wrong = sx_block_open_keys(&block, value.data, value.size);

	if (wrong)
		return sx_table_damaged(table, key, wrong, err);
	found->blocks++;
	sx_block_range(found->kernel, &block, low, high, &from, &to);
	*past = to < block.n;
	if (to <= from)
		return SIMIDX_OK;
	n = allow(found, to - from);
	*past |= found->is_cut;
	if (sx_reserve(&keys->at, &keys->cap, keys->n + n, sizeof(*keys->at)))
		return sx_fail_nomem(err);
	keys->n += sx_block_near(found->kernel, &block, from, from + n, query, k,
				 keys->at + keys->n, found->entry);
	return SIMIDX_OK;
}

int sx_table_find(sx_spot *spot, size_t n, simidx_error *err)
{
	for (size_t i = 0; i < n; i++) {
		sx_place place = { spot[i].low, 0 };
		int rc = seek(spot[i].table, spot[i].cursor, place, &spot[i].key, &spot[i].value,
			      err);

		spot[i].is_end = rc == SIMIDX_E_END;
		if (rc && !spot[i].is_end)
			return rc;
		__builtin_prefetch(spot[i].value.data, 0, 3);
	}
	return SIMIDX_OK;
}

static void fetch_lines(const unsigned char *p, size_t size)
{
	const unsigned char *end = p + size;

	for (p -= (uintptr_t)p % LINE; p < end; p += LINE)
		__builtin_prefetch(p, 0, 3);
}

/* The entry of a block at which a key would be if its keys were spread evenly. */
static size_t guess_entry(const sx_block *block, uint64_t last, uint64_t key)
{
	uint64_t first = block->width < 8 ? block->base << (8 * block->width) : 0;

	if (key <= first || last <= first)
		return 0;
	return key >= last ? block->n
			   : (size_t)((double)(key - first) / (double)(last - first) *
				      (double)block->n);
}

/*
 * Have the CPU fetch what a range will read of a block, all at once, as far as it can be guessed.
 * Waits for the block's header.
 */
static void fetch_range(const sx_table *table, sx_slice key, sx_slice value, uint64_t low,
			uint64_t high)
{
	size_t from, to, slack;
	sx_block block;
	sx_place last;

	if (sx_table_place(table, key, &last) ||
	    sx_block_open_keys(&block, value.data, value.size))
		return;
	slack = block.n / 32;
	from = guess_entry(&block, last.key, low);
	to = guess_entry(&block, last.key, high) + slack;
	from = from > slack ? from - slack : 0;
	to = to < block.n ? to : block.n;
	fetch_lines(block.bitmap, block.n_words * 8);
	fetch_lines(block.low + from * block.width, (to - from) * block.width);
	/* Where columns begin is told behind the bitmap. */
	if (!table->n_cols || sx_block_open(&block, value.data, value.size, table->n_cols))
		return;
	for (unsigned c = 0; c < table->n_cols; c++)
		fetch_lines(block.col[c] + from * block.col_width[c],
			    (to - from) * block.col_width[c]);
}

void sx_table_fetch(const sx_spot *spot, uint64_t high)
{
	if (!spot->is_end && spot->table->layout == SIMIDX_LAYOUT_BLOCKS)
		fetch_range(spot->table, spot->key, spot->value, spot->low, high);
}

int sx_table_near(const sx_spot *spot, uint64_t high, uint64_t query, unsigned k,
		  sx_found *found, simidx_error *err)
{
	const sx_table *table = spot->table;
	sx_slice key = spot->key, value = spot->value;
	int past, rc = spot->is_end ? SIMIDX_E_END : SIMIDX_OK;
	sx_place place;

	found->is_paused = 0;
	for (; !rc; rc = sx_cursor_next(spot->cursor, &key, &value, err)) {
		if (sx_table_place(table, key, &place))
			return sx_table_damaged(table, key, "its key is not one of this table's",
						err);
		if (table->layout == SIMIDX_LAYOUT_BLOCKS) {
			rc = near_in_block(table, key, value, spot->low, high, query, k, found,
					   &past, err);
			if (rc || past || place.key >= high)
				return rc;
		} else {
			if (place.key > high || !allow(found, 1))
				return SIMIDX_OK;
			if ((unsigned)__builtin_popcountll(place.key ^ query) <= k &&
			    sx_u64s_push(&found->keys, place.key))
				return sx_fail_nomem(err);
		}
		/* Block keys lie before the next block's first one, so nothing is left out. */
		if (found->candidates >= found->pause && place.key < high) {
			found->is_paused = 1;
			found->next = place.key + 1;
			return SIMIDX_OK;
		}
	}
	return rc == SIMIDX_E_END ? SIMIDX_OK : rc;
}

/* First entry of a block at or behind a place (behind it, if `behind`). */
static size_t block_bound(const sx_table *table, const sx_block *block, sx_place place, int behind)
{
	size_t i, end;

	if (table->kind != SX_TABLE_PAIRS)
		return behind ? sx_block_upper_bound(block, place.key)
			      : sx_block_lower_bound(block, place.key);
	i = sx_block_lower_bound(block, place.key);
	end = sx_block_upper_bound(block, place.key);
	while (i < end) {
		size_t middle = i + (end - i) / 2;
		uint64_t col0 = sx_block_col(block, 0, middle);

		if (behind ? col0 <= place.col0 : col0 < place.col0)
			i = middle + 1;
		else
			end = middle;
	}
	return i;
}

static int range_in_block(const sx_table *table, sx_slice key, sx_slice value, sx_place low,
			  sx_place high, uint64_t most, sx_rows *rows, int *past,
			  simidx_error *err)
{
	sx_block block;
	size_t from, to;
	const char *wrong = sx_block_open(&block, value.data, value.size, table->n_cols);

	if (wrong)
		return sx_table_damaged(table, key, wrong, err);
	from = block_bound(table, &block, low, 0);
	to = block_bound(table, &block, high, 1);
	*past = to < block.n;
	if (to <= from)
		return SIMIDX_OK;
	if (to - from > most)
		to = from + (size_t)most;
	if (sx_rows_reserve(rows, to - from))
		return sx_fail_nomem(err);
	wrong = sx_block_decode(&block, from, to - from, rows);
	return wrong ? sx_table_damaged(table, key, wrong, err) : SIMIDX_OK;
}

int sx_table_range(const sx_table *table, sx_cursor *cursor, sx_place low, sx_place high,
		   uint64_t limit, sx_rows *rows, simidx_error *err)
{
	uint64_t end = limit && limit < UINT64_MAX - rows->n ? rows->n + limit : UINT64_MAX;
	sx_slice key, value;
	sx_place place;
	int past, rc = seek(table, cursor, low, &key, &value, err);

	if (!rc && table->layout == SIMIDX_LAYOUT_BLOCKS)
		fetch_range(table, key, value, low.key, high.key);
	for (; !rc && rows->n < end; rc = sx_cursor_next(cursor, &key, &value, err)) {
		if (sx_table_place(table, key, &place))
			return sx_table_damaged(table, key, "its key is not one of this table's",
						err);
		if (table->layout == SIMIDX_LAYOUT_BLOCKS) {
			rc = range_in_block(table, key, value, low, high, end - rows->n, rows, &past,
					    err);
			if (rc || past || sx_place_cmp(place, high) >= 0)
				return rc;
			continue;
		}
		if (sx_place_cmp(place, high) > 0)
			return SIMIDX_OK;
		rc = sx_table_row_decode(table, key, value, rows, err);
		if (rc)
			return rc;
	}
	return rc == SIMIDX_E_END ? SIMIDX_OK : rc;
}
