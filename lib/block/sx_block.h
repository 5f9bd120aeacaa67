/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The block codec: sorted 64-bit keys and fixed-width columns in one value of a fixed size.
 *
 * Keys are Elias-Fano coded with literal low bytes: the low `width` bytes of each key as they
 * are, the high parts (less the first key's) unary in a bitmap: entry i with high part h sets
 * bit h + i. A filter runs on the low bytes where they lie; the bitmap only tells which entries
 * a range covers and completes the rare hit. A column is a base and, for each entry, the
 * difference from it in as few whole bytes as the block needs. doc/format.md, "Blocks".
 *
 * What a search calls with a kernel of its choice stands in sx_block_search.h.
 *
 * Pure functions. Nothing read from a value is trusted: sx_block_open() bounds every size, and
 * no function here reads outside the value whatever its bytes are.
 */

#ifndef SX_BLOCK_H
#define SX_BLOCK_H

#include <stddef.h>
#include <stdint.h>

#include "block/sx_rows.h"

/** Smallest and largest value that blocks can have: what pages of 512 bytes to 64 KiB leave. */
#define SX_MIN_BLOCK_SIZE 496
#define SX_MAX_BLOCK_SIZE 65520

/** Most entries in one block. */
#define SX_MAX_BLOCK_ROWS 16383

/** A block where it lies. */
typedef struct sx_block {
	const unsigned char *data;
	size_t size;            /* of the value */
	size_t used;            /* without the padding */
	size_t n;               /* entries, at least 1 */
	unsigned width;         /* low bytes of a key, 0..8 */
	unsigned n_cols;
	size_t n_words;         /* of the bitmap, 64 bits each */
	uint64_t base;          /* high part of the first key */
	const unsigned char *low;
	const unsigned char *bitmap;
	const unsigned char *col[SX_MAX_COLS];
	uint64_t col_base[SX_MAX_COLS];
	unsigned col_width[SX_MAX_COLS];
} sx_block;

/**
 * How many rows from number `from` on fit into `budget` bytes, at least 1 if there is one and
 * at most SX_MAX_BLOCK_ROWS. Keys must be ascending (repeats allowed).
 */
size_t sx_block_fit(const sx_rows *rows, size_t from, size_t budget);

/** Bytes that rows [from, from + n) take, without padding; SIZE_MAX if they fit no block. */
size_t sx_block_bytes(const sx_rows *rows, size_t from, size_t n);

/**
 * Encode rows [from, from + n), 1 <= n <= sx_block_fit(rows, from, size), into a value of
 * exactly `size` bytes: padded with zeros, checksum included.
 */
void sx_block_encode(const sx_rows *rows, size_t from, size_t n, void *value, size_t size);

/**
 * Look at a value as a block with `n_cols` columns.
 *
 * @return NULL, or what is wrong with it: a static string
 */
const char *sx_block_open(sx_block *block, const void *value, size_t size, unsigned n_cols);

/** Whether the checksum is right. */
int sx_block_is_intact(const sx_block *block);

/**
 * Append entries [from, from + n) to rows, which have room for them (sx_rows_reserve()).
 *
 * @return NULL, or what is wrong: a damaged bitmap
 */
const char *sx_block_decode(const sx_block *block, size_t from, size_t n, sx_rows *rows);

/** The first entry whose key is >= `key`; block->n if there is none. */
size_t sx_block_lower_bound(const sx_block *block, uint64_t key);

/** The first entry whose key is > `key`. */
size_t sx_block_upper_bound(const sx_block *block, uint64_t key);

/** Key of entry i < block->n; 0 if a damaged bitmap has no bit for it. */
uint64_t sx_block_key(const sx_block *block, size_t i);

/** Value of column c at entry i. */
uint64_t sx_block_col(const sx_block *block, unsigned c, size_t i);

/** The values of column c at entries [from, from + n). */
void sx_block_decode_col(const sx_block *block, unsigned c, size_t from, size_t n, uint64_t *out);

#endif /* SX_BLOCK_H */
