/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The block codec: sorted 64-bit keys and fixed-width columns in one value of a fixed size.
 *
 * Keys are Elias-Fano coded with literal low bytes: the low `width` bytes of each key as they
 * are, the high parts (less the first key's) unary in a bitmap: entry i with high part h sets
 * bit h + i. A filter runs on the low bytes where they lie; the bitmap only tells which entries
 * a range covers and completes the rare hit. A column is a base and, for each entry, the
 * difference from it in as few whole bytes as the block needs. doc/format.md, "Blocks". A value is
 *
 *   0  checksum, 4 bytes: low half of XXH3-64 over the rest of the value, plus the number of the
 *      table that the block is for
 *   4  shape, 4 bytes: low bytes a key (4 bits), entries (14), bitmap words (14)
 *   8  high part of the first key, 8 bytes
 *  16  low bytes, then the bitmap, then the columns
 *
 * Pure functions. Nothing read from a value is trusted: sx_block_open() bounds every size, and
 * no function here reads outside the value, whatever its bytes are.
 */

#ifndef SX_BLOCK_H
#define SX_BLOCK_H

#include <stddef.h>
#include <stdint.h>

#include "block/sx_rows.h"
#include "kernel/sx_kernel.h"
#include "util/sx_bytes.h"

/** Smallest and largest value that blocks can have: what pages of 512 bytes to 64 KiB leave. */
#define SX_MIN_BLOCK_SIZE 496
#define SX_MAX_BLOCK_SIZE 65520

/** Max. entries of a block. */
#define SX_MAX_BLOCK_ROWS 16383

/* Where things are in a value. */
#define SX_BLOCK_SHAPE_AT 4
#define SX_BLOCK_BASE_AT 8
#define SX_BLOCK_HEADER 16
#define SX_BLOCK_COL_HEADER 9 /* base, 8 bytes; bytes an entry, 1 */

#define SX_BLOCK_WIDTH_MASK 0xfu
#define SX_BLOCK_N_SHIFT 4
#define SX_BLOCK_N_MASK 0x3fffu
#define SX_BLOCK_WORDS_SHIFT 18

/** The shape, unpacked: entries are [0, n), of `width` low bytes each. */
typedef struct sx_block_shape {
	unsigned width;
	size_t n, n_words;
} sx_block_shape;

static inline sx_block_shape sx_block_shape_of(uint32_t shape)
{
	return (sx_block_shape){ shape & SX_BLOCK_WIDTH_MASK,
				 shape >> SX_BLOCK_N_SHIFT & SX_BLOCK_N_MASK,
				 shape >> SX_BLOCK_WORDS_SHIFT };
}

/** The part of a key that is coded in the bitmap, when `width` low bytes are stored. */
static inline uint64_t sx_block_high(uint64_t key, unsigned width)
{
	return width >= 8 ? 0 : key >> (8 * width);
}

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
 *
 * @param number  of its table
 * @return 0, or -1 if the keys do not ascend: nothing is written
 */
int sx_block_encode(const sx_rows *rows, size_t from, size_t n, unsigned number, void *value,
		    size_t size);

/**
 * Look at a value as a block with `n_cols` columns.
 *
 * @return NULL, or what is wrong with it: a static string
 */
const char *sx_block_open(sx_block *block, const void *value, size_t size, unsigned n_cols);

/**
 * sx_block_open() for the keys alone: columns and `used` are not set.
 *
 * @return NULL, or what is wrong: a static string
 */
static inline const char *sx_block_open_keys(sx_block *b, const void *value, size_t size)
{
	sx_block_shape shape;

	if (size < SX_MIN_BLOCK_SIZE || size > SX_MAX_BLOCK_SIZE)
		return "its size is not a block's";
	b->data = (const unsigned char *)value;
	b->size = size;
	b->n_cols = 0;
	shape = sx_block_shape_of(sx_load_le32(b->data + SX_BLOCK_SHAPE_AT));
	b->width = shape.width;
	b->n = shape.n;
	b->n_words = shape.n_words;
	b->base = sx_load_le64(b->data + SX_BLOCK_BASE_AT);
	if (!b->n || b->width > 8 || b->n_words * 64 < b->n ||
	    (b->width && b->base >> (64 - 8 * b->width)) ||
	    b->n * b->width + b->n_words * 8 > size - SX_BLOCK_HEADER)
		return "its header is impossible";
	b->low = b->data + SX_BLOCK_HEADER;
	b->bitmap = b->low + b->n * b->width;
	return NULL;
}

/** The keys as the kernels take them. */
static inline sx_coded sx_block_coded(const sx_block *b)
{
	return (sx_coded){ b->low, b->bitmap, b->n_words, b->width, b->base };
}

/** True if the checksum is right for the table with this number. */
int sx_block_is_intact(const sx_block *block, unsigned number);

/** The key of entry i. Returns 0, or -1 if the bitmap is damaged. */
int sx_block_key(const sx_block *block, size_t i, uint64_t *key);

/**
 * Append entries [from, from + n) to rows, which have room for them (sx_rows_reserve()).
 *
 * @return NULL, or what is wrong: a damaged bitmap
 */
const char *sx_block_decode(const sx_block *block, size_t from, size_t n, sx_rows *rows);

/** Value of column c at entry i. */
uint64_t sx_block_col(const sx_block *block, unsigned c, size_t i);

/** The values of column c at entries [from, from + n). */
static inline void sx_block_decode_col(const sx_block *block, unsigned c, size_t from, size_t n,
				       uint64_t *out)
{
	unsigned width = block->col_width[c];
	const unsigned char *p = block->col[c] + from * width;
	/* Whole words are read where these do not reach beyond the block. */
	size_t room = (size_t)(block->data + block->size - p), whole = 0, i = 0;
	uint64_t base = block->col_base[c], mask = sx_low_bits(8 * width);

	if (room >= 8)
		whole = width ? (room - 8) / width + 1 : n;
	for (; i < n && i < whole; i++)
		out[i] = base + (sx_load_le64(p + i * width) & mask);
	for (; i < n; i++)
		out[i] = sx_block_col(block, c, from + i);
}

#endif /* SX_BLOCK_H */
