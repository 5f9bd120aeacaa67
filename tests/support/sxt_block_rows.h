/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Rows of all shapes for the tests of the block codec.
 */

#ifndef SXT_BLOCK_ROWS_H
#define SXT_BLOCK_ROWS_H

#include "block/sx_block.h"
#include "support/sxt_block.h"

#define T_SHAPES 9

/** The size of a value on pages of 4096 bytes. */
#define T_BLOCK_SIZE 4080

static inline uint64_t t_min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/** Key of entry i < block->n; 0 if a damaged bitmap has no bit for it. */
static inline uint64_t t_block_key(const sx_block *block, size_t i)
{
	sx_coded coded = sx_block_coded(block);
	uint64_t key = 0;

	sx_kernel_best()->decode(&coded, i, 1, &key);
	return key;
}

/* Keys from number `from` on; freed by the caller. */
static inline uint64_t *t_block_keys(const sx_block *block, size_t from, size_t n)
{
	uint64_t *keys = calloc(n + 1, sizeof(*keys));
	sx_coded coded = sx_block_coded(block);

	sxt_must(keys != NULL);
	sx_kernel_best()->decode(&coded, from, n, keys);
	return keys;
}

/* How far key i lies behind the one before. */
static inline uint64_t t_gap(sxt_rng *rng, unsigned shape, unsigned bits, size_t i, size_t n)
{
	uint64_t most = bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;

	switch (shape) {
	case 0: /* uniform over all f-bit numbers */
		return sxt_rng_below(rng, t_min(most / n * 2 + 2, UINT64_MAX / 2));
	case 1: /* dense: every number, or nearly */
		return 1 + !sxt_rng_below(rng, 10);
	case 2: /* clusters with wide gaps between them */
		return sxt_rng_below(rng, 40) ? sxt_rng_below(rng, 4)
					      : sxt_rng_below(rng, most / n + 2);
	case 3: /* dense with one huge gap */
		return i == 100 ? most / 2 : 1;
	case 4: /* all equal */
		return 0;
	case 5: /* gaps of all sizes */
		return sxt_rng_u64(rng) >> sxt_rng_below(rng, 64) >> (64 - bits) >> 8;
	case 6: /* runs of repeats: one fingerprint, many documents */
		return sxt_rng_below(rng, 30) ? 0 : sxt_rng_below(rng, most / n * 30 + 2);
	case 7: /* the high parts differ by exactly one word of the bitmap, again and again */
		return i % 64 ? 0 : 64;
	default: /* two values at both ends */
		return i == n / 2 ? most : 0;
	}
}

/** Column widths: bytes that the offsets of column c need. */
static inline void t_cols(sxt_rng *rng, unsigned n_cols, const unsigned *width,
			  const uint64_t *base, uint64_t *cols)
{
	unsigned c;

	for (c = 0; c < n_cols; c++) {
		uint64_t most = width[c] ? UINT64_MAX >> (64 - 8 * width[c]) : 0;

		/* Often both ends, so that the width is really needed. */
		switch (sxt_rng_below(rng, 8)) {
		case 0:
			cols[c] = base[c] + most;
			break;
		case 1:
			cols[c] = base[c];
			break;
		default:
			cols[c] = base[c] + (most ? sxt_rng_u64(rng) & most : 0);
		}
	}
}

/** n rows with ascending keys of at most `bits` bits, 16..64. */
static inline void t_rows_fill(sxt_rng *rng, sx_rows *rows, unsigned shape, unsigned bits,
			       size_t n, unsigned n_cols)
{
	uint64_t most = bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
	uint64_t key = shape == 0 || shape == 8 ? 0 : sxt_rng_u64(rng) & most / 2;
	uint64_t base[SX_MAX_COLS] = { 0 }, cols[SX_MAX_COLS];
	unsigned width[SX_MAX_COLS] = { 0 }, c;
	size_t i;

	sx_rows_init(rows, n_cols);
	for (c = 0; c < n_cols; c++) {
		width[c] = (unsigned)sxt_rng_below(rng, 9);
		base[c] = width[c] == 8 ? 0 : sxt_rng_u64(rng);
		if (width[c] < 8 && base[c] > UINT64_MAX - (UINT64_C(1) << (8 * width[c])))
			base[c] >>= 1;
	}
	for (i = 0; i < n; i++) {
		uint64_t gap = t_gap(rng, shape, bits, i, n);

		key = gap > most - key ? most : key + gap;
		t_cols(rng, n_cols, width, base, cols);
		sxt_must(!sx_rows_push(rows, key, cols));
	}
}

/** Rows [from, from + n) in a value of exactly this size, freed by the caller. */
static inline unsigned char *t_encode(const sx_rows *rows, size_t from, size_t n, size_t size)
{
	unsigned char *value = malloc(size);

	memset(value, 0xee, size);
	sx_block_encode(rows, from, n, T_NUMBER, value, size);
	return value;
}

/** Encode rows from 0 on, as many as fit, and open the value. */
static inline unsigned char *t_encode_open(const sx_rows *rows, size_t size, sx_block *block)
{
	unsigned char *value = t_encode(rows, 0, sx_block_fit(rows, 0, size), size);

	ck_assert_ptr_null(sx_block_open(block, value, size, rows->n_cols));
	return value;
}

/** The keys among entries [from, to) that are near, as sx_lookup_near() finds them. */
static inline size_t t_block_near(const sx_kernel *kernel, const sx_block *b, size_t from,
				  size_t to, uint64_t query, unsigned k, uint64_t *hits,
				  uint16_t *entry)
{
	sx_coded keys = sx_block_coded(b);
	const unsigned char *low = b->low + from * b->width;
	size_t readable = (size_t)(b->data + b->size - low);
	size_t n = kernel->near_low(low, b->width, to - from, readable, query, k, entry);

	return n ? kernel->complete(&keys, from, entry, n, query, k, hits) : 0;
}

#endif /* SXT_BLOCK_ROWS_H */
