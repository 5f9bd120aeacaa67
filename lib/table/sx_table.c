/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "table/sx_table.h"
#include "util/sx_bytes.h"
#include "util/sx_err.h"
#include "util/sx_hash.h"

/* The prefix, left-aligned in its 2 or 4 bytes. */
static uint64_t aligned_prefix(const sx_perm *perm, uint64_t value)
{
	return sx_prefix_of(perm, value) << (8 * perm->prefix_bytes - perm->prefix_bits);
}

static void put_prefix(const sx_perm *perm, uint64_t value, unsigned char *out)
{
	uint64_t prefix = aligned_prefix(perm, value);

	for (unsigned i = perm->prefix_bytes; i-- > 0; prefix >>= 8)
		out[i] = (unsigned char)prefix;
}

static uint64_t get_prefix(const sx_perm *perm, const unsigned char *in)
{
	uint64_t prefix = (uint64_t)in[0] << 8 | in[1];

	return perm->prefix_bytes == 2 ? prefix : prefix << 16 | (uint64_t)in[2] << 8 | in[3];
}

size_t sx_table_key(const sx_table *table, sx_sort_key place, unsigned char *out)
{
	switch (table->kind) {
	case SX_TABLE_PERMUTED:
		put_prefix(table->perm, place.key, out);
		sx_store_be64(out + table->perm->prefix_bytes,
			      sx_unpermute(table->perm, place.key));
		return table->perm->prefix_bytes + 8;
	case SX_TABLE_PAIRS:
		sx_store_be64(out, place.key);
		sx_store_be64(out + 8, place.col0);
		return 16;
	default:
		sx_store_be64(out, place.key);
		return 8;
	}
}

static int permuted_place(const sx_perm *perm, sx_slice key, sx_sort_key *out)
{
	uint64_t fp;

	if (key.size != perm->prefix_bytes + 8)
		return -1;
	fp = sx_load_be64((const unsigned char *)key.data + perm->prefix_bytes);
	if (fp & ~sx_low_bits(perm->bits))
		return -1;
	out->key = sx_permute(perm, fp);
	out->col0 = 0;
	return aligned_prefix(perm, out->key) == get_prefix(perm, key.data) ? 0 : -1;
}

int sx_table_sort_key(const sx_table *table, sx_slice key, sx_sort_key *out)
{
	if (table->kind == SX_TABLE_PERMUTED)
		return permuted_place(table->perm, key, out);
	if (key.size != (table->kind == SX_TABLE_PAIRS ? 16 : 8))
		return -1;
	out->key = sx_load_be64(key.data);
	out->col0 = key.size == 16 ? sx_load_be64((const unsigned char *)key.data + 8) : 0;
	return 0;
}

_Static_assert(2 + SX_MAX_COLUMNS <= SX_HASH_MAX_U64S, "the numbers of a row can be hashed");

/* Fingerprint and id of row i of pairs, and the optional columns that count. */
static uint64_t hash_with_values(const sx_table *table, const sx_rows *rows, size_t i)
{
	uint64_t word[2 + SX_MAX_COLUMNS] = { rows->key[i], rows->col[0][i] };
	size_t n = 2;

	for (unsigned c = 0; c < table->columns->n; c++)
		if (sx_column_kinds[table->columns->kind[c]].is_digested)
			word[n++] = rows->col[table->values_at + c][i];
	return sx_hash_u64s(word, n);
}

uint64_t sx_table_row_hash(const sx_table *table, const sx_rows *rows, size_t i)
{
	switch (table->kind) {
	case SX_TABLE_PERMUTED:
		return sx_hash_u64(sx_unpermute(table->perm, rows->key[i]));
	case SX_TABLE_PAIRS:
		if (table->columns && table->columns->n)
			return hash_with_values(table, rows, i);
		return sx_hash_u64_pair(rows->key[i], rows->col[0][i]);
	default: /* a number stands for an id, its first column for the fingerprint */
		return sx_hash_u64_pair(rows->col[0][i], rows->key[i]);
	}
}

int sx_table_damaged(const sx_table *table, sx_slice key, const char *what, simidx_error *err)
{
	char hex[2 * SX_TABLE_MAX_KEY + 1];
	const unsigned char *bytes = key.data;
	size_t n = key.size < SX_TABLE_MAX_KEY ? key.size : SX_TABLE_MAX_KEY;

	for (size_t i = 0; i < n; i++)
		snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
	hex[2 * n] = '\0';
	return sx_fail(err, SIMIDX_E_CORRUPT, "table %s, %s with key %s: %s", table->name,
		       table->layout == SIMIDX_LAYOUT_BLOCKS ? "block" : "row", hex, what);
}

int sx_table_block_decode(const sx_table *table, sx_slice key, sx_slice value, sx_rows *rows,
			  size_t *used, simidx_error *err)
{
	sx_block block;
	const char *wrong = sx_block_open(&block, value.data, value.size, table->n_cols);

	if (!wrong && !sx_block_is_intact(&block, table->number))
		wrong = "checksum mismatch";
	if (!wrong && sx_rows_reserve(rows, block.n))
		return sx_fail_nomem(err);
	if (!wrong)
		wrong = sx_block_decode(&block, 0, block.n, rows);
	if (wrong)
		return sx_table_damaged(table, key, wrong, err);
	if (used)
		*used = block.used;
	return SIMIDX_OK;
}

int sx_table_place_before(const sx_table *table, sx_cursor *cursor, int *has, sx_sort_key *before,
			  simidx_error *err)
{
	sx_slice key, value;
	int rc = sx_cursor_prev(cursor, &key, &value, err);

	*has = rc == SIMIDX_OK;
	*before = (sx_sort_key){ 0, 0 };
	if (rc == SIMIDX_E_END)
		return sx_cursor_first(cursor, &key, &value, err);
	if (!rc && sx_table_sort_key(table, key, before))
		return sx_table_damaged(table, key, "its key is not one of this table's", err);
	return rc ? rc : sx_cursor_next(cursor, &key, &value, err);
}

static const char elsewhere[] = "its entries belong elsewhere";

/* Where an entry belongs. Returns 0, or -1 if the block is damaged. */
static int place_of(const sx_table *table, const sx_block *block, size_t i, sx_sort_key *place)
{
	place->col0 = table->kind == SX_TABLE_PAIRS ? sx_block_col(block, 0, i) : 0;
	return sx_block_key(block, i, &place->key);
}

static int comes_before(sx_sort_key a, sx_sort_key b)
{
	return a.key < b.key || (a.key == b.key && a.col0 < b.col0);
}

const char *sx_table_block_wrong(const sx_table *table, const sx_block *block, sx_sort_key before,
				 sx_sort_key last)
{
	sx_sort_key place[2];

	if (!sx_block_is_intact(block, table->number))
		return "checksum mismatch";
	if (place_of(table, block, 0, &place[0]) || place_of(table, block, block->n - 1, &place[1]))
		return elsewhere;
	return comes_before(place[0], before) || comes_before(last, place[1]) ? elsewhere : NULL;
}

int sx_table_pairs_wrong(const sx_table *table, sx_txn *txn, const sx_block *block,
			 const char **wrong, simidx_error *err)
{
	unsigned char bytes[SX_TABLE_MAX_KEY];
	sx_cursor *cursor;
	int rc = sx_cursor_open(txn, table->dbi, &cursor, err);

	*wrong = NULL;
	if (rc)
		return rc;
	for (size_t i = 0; !rc && !*wrong && i < 2; i++) {
		sx_slice from = { bytes, 0 }, key, value;
		sx_sort_key place;

		if (place_of(table, block, i ? block->n - 1 : 0, &place))
			break;
		from.size = sx_table_key(table, place, bytes);
		rc = sx_cursor_seek(cursor, from, &key, &value, err);
		if (rc == SIMIDX_E_END || (!rc && value.data != block->data))
			*wrong = elsewhere;
		rc = rc == SIMIDX_E_END ? SIMIDX_OK : rc;
	}
	sx_cursor_close(cursor);
	return rc;
}

/*
 * Whether each row comes after the one before it. Without a branch for each: all are right mostly.
 */
static int ascend(const sx_table *table, const sx_rows *rows)
{
	size_t wrong = 0;

	for (size_t i = 1; i < rows->n; i++)
		wrong += rows->key[i] <= rows->key[i - 1];
	if (!wrong || table->kind != SX_TABLE_PAIRS)
		return !wrong;
	/* Keys may be equal. */
	for (size_t i = 1; i < rows->n; i++)
		if (sx_sort_key_cmp(sx_sort_key_of(table, rows, i - 1),
				    sx_sort_key_of(table, rows, i)) >= 0)
			return 0;
	return 1;
}

int sx_table_check_order(const sx_table *table, sx_slice key, const sx_rows *rows,
			 const sx_sort_key *before, sx_sort_key *fence, simidx_error *err)
{
	sx_sort_key last = before ? *before : (sx_sort_key){ 0, 0 };

	if (sx_table_sort_key(table, key, fence))
		return sx_table_damaged(table, key, "its key is not one of this table's", err);
	if (rows->n) {
		if (!ascend(table, rows) ||
		    (before && sx_sort_key_cmp(sx_sort_key_of(table, rows, 0), last) <= 0))
			return sx_table_damaged(table, key, "its entries are out of order", err);
		last = sx_sort_key_of(table, rows, rows->n - 1);
	}
	if (sx_sort_key_cmp(last, *fence) > 0)
		return sx_table_damaged(table, key, "an entry lies behind its key", err);
	if (table->kind == SX_TABLE_PERMUTED && last.key & ~sx_low_bits(table->perm->bits))
		return sx_table_damaged(table, key, "an entry is too wide", err);
	return SIMIDX_OK;
}

#define CHECKSUM_SIZE 4

/*
 * The checksum of a row: of its key, at most SX_TABLE_MAX_KEY bytes, and `size` bytes of columns,
 * plus the number of its table.
 */
static uint32_t row_checksum(const sx_table *table, sx_slice key, const unsigned char *columns,
			     size_t size)
{
	unsigned char bytes[SX_TABLE_MAX_KEY + 8 * SX_MAX_COLS];

	if (!size) /* postings without optional columns, of which a search may read thousands */
		return table->number + (uint32_t)sx_hash(key.data, key.size);
	memcpy(bytes, key.data, key.size);
	memcpy(bytes + key.size, columns, size);
	return table->number + (uint32_t)sx_hash(bytes, key.size + size);
}

int sx_table_row_decode(const sx_table *table, sx_slice key, sx_slice value, sx_rows *rows,
			simidx_error *err)
{
	unsigned in_key = table->kind == SX_TABLE_PAIRS;
	const unsigned char *bytes = value.data;
	size_t size = 8 * (size_t)(table->n_cols - in_key);
	uint64_t cols[SX_MAX_COLS];
	sx_sort_key place;

	if (sx_table_sort_key(table, key, &place))
		return sx_table_damaged(table, key, "its key is not one of this table's", err);
	if (value.size != size + (table->checks_rows ? CHECKSUM_SIZE : 0))
		return sx_table_damaged(table, key, "its value has the wrong size", err);
	if (table->checks_rows &&
	    sx_load_le32(bytes + size) != row_checksum(table, key, bytes, size))
		return sx_table_damaged(table, key, "checksum mismatch", err);
	cols[0] = place.col0;
	for (unsigned c = in_key; c < table->n_cols; c++)
		cols[c] = sx_load_le64(bytes + 8 * (c - in_key));
	return sx_rows_push(rows, place.key, cols) ? sx_fail_nomem(err) : SIMIDX_OK;
}

size_t sx_table_row_encode(const sx_table *table, const sx_rows *rows, size_t i, sx_slice key,
			   unsigned char *out)
{
	size_t size = 0;

	for (unsigned c = table->kind == SX_TABLE_PAIRS; c < table->n_cols; c++, size += 8)
		sx_store_le64(out + size, rows->col[c][i]);
	if (!table->checks_rows)
		return size;
	sx_store_le32(out + size, row_checksum(table, key, out, size));
	return size + CHECKSUM_SIZE;
}
