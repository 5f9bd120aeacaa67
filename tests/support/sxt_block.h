/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * A reader of block values that was written from doc/format.md and shares no code with the
 * codec: what the tests of blocks and tables hold the library against.
 */

#ifndef SXT_BLOCK_H
#define SXT_BLOCK_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "support/sxt.h"
#include "util/sx_hash.h"

#define T_NUMBER 7u /* of the table that blocks are for */

#define T_MOST_ENTRIES 16383

struct t_entry {
	uint64_t key, col[5];
};

/** n little-endian bytes. */
static inline uint64_t t_le(const unsigned char *p, unsigned n)
{
	uint64_t x = 0;

	while (n--)
		x = x << 8 | p[n];
	return x;
}

/** Bytes that n sorted keys take with w low bytes each and the smallest possible bitmap. */
static inline uint64_t t_key_bytes(uint64_t first, uint64_t last, uint64_t n, unsigned w)
{
	uint64_t high = w == 8 ? 0 : (last >> (8 * w)) - (first >> (8 * w));
	uint64_t words;

	if (high >> 40)
		return UINT64_MAX; /* no block could hold so many bits */
	words = (n + high) / 64 + ((n + high) % 64 != 0);
	return n * w + 8 * words;
}

/** The smallest of them, and in *w the least w that gives it; 8 if none is smaller. */
static inline uint64_t t_best_key_bytes(uint64_t first, uint64_t last, uint64_t n, unsigned *w)
{
	uint64_t best = t_key_bytes(first, last, n, 8), now;
	unsigned i;

	*w = 8;
	for (i = 0; i < 8; i++) {
		now = t_key_bytes(first, last, n, i);
		if (now < best) {
			best = now;
			*w = i;
		}
	}
	return best;
}

/**
 * Read a value and check all that the format promises about what our encoder writes: the
 * checksum, the smallest form, zeros behind the last column.
 *
 * @param out   room for T_MOST_ENTRIES
 * @param used  bytes without the padding; may be NULL
 * @return number of entries
 */
static inline size_t t_block_read(const unsigned char *v, size_t size, unsigned n_cols,
				  struct t_entry *out, size_t *used)
{
	uint64_t shape = t_le(v + 4, 4), base = t_le(v + 8, 8);
	unsigned w = shape & 15, best;
	size_t n = shape >> 4 & 16383, words = shape >> 18;
	size_t at = 16, bit, i = 0, c;
	const unsigned char *bitmap;

	sxt_must_eq(t_le(v, 4), (uint32_t)(T_NUMBER + sx_hash(v + 4, size - 4)));
	sxt_must_ge(n, 1);
	sxt_must_le(w, 8);
	bitmap = v + 16 + n * w;
	for (bit = 0; bit < 64 * words; bit++) {
		if (!(bitmap[bit / 8] >> bit % 8 & 1))
			continue;
		sxt_must_lt(i, n);
		out[i].key = t_le(v + at, w);
		if (w < 8)
			out[i].key |= (base + bit - i) << (8 * w);
		at += w;
		i++;
	}
	sxt_must_eq(i, n);
	at += 8 * words;
	sxt_must_eq(at - 16, t_best_key_bytes(out[0].key, out[n - 1].key, n, &best));
	sxt_must_eq(w, best);
	sxt_must_eq(base, w == 8 ? 0 : out[0].key >> (8 * w));
	for (c = 0; c < n_cols; c++) {
		uint64_t minimum = t_le(v + at, 8);
		unsigned width = v[at + 8];

		sxt_must_le(width, 8);
		at += 9;
		for (i = 0; i < n; i++, at += width)
			out[i].col[c] = minimum + t_le(v + at, width);
	}
	if (used)
		*used = at;
	sxt_must_le(at, size);
	for (; at < size; at++)
		sxt_must(!v[at]);
	return n;
}

#endif /* SXT_BLOCK_H */
