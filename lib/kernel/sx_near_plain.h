/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The loops of sx_near.h without vector instructions. They are inlined into functions that are
 * compiled for some instruction set, and use its popcount if `count` is one.
 */

#ifndef SX_NEAR_PLAIN_H
#define SX_NEAR_PLAIN_H

#include "util/sx_bytes.h"

/** Set bits of a word. */
typedef unsigned sx_count_fn(uint64_t x);

/** One instruction where the function around it may use it. */
SX_INLINE unsigned sx_count_builtin(uint64_t x)
{
	return (unsigned)__builtin_popcountll(x);
}

/** Without an instruction for it, where the compiler would call a function. */
SX_INLINE unsigned sx_count_plain(uint64_t x)
{
	x -= x >> 1 & UINT64_C(0x5555555555555555);
	x = (x & UINT64_C(0x3333333333333333)) + (x >> 2 & UINT64_C(0x3333333333333333));
	x = (x + (x >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	return (unsigned)(x * UINT64_C(0x0101010101010101) >> 56);
}

/** The low bytes of an entry, in memory that may end behind them. */
SX_INLINE uint64_t sx_load_low(const unsigned char *p, unsigned width, size_t readable)
{
	uint64_t x = 0;

	if (readable >= 8)
		return sx_load_le64(p) & sx_low_bits(8 * width);
	for (unsigned b = 0; b < width; b++)
		x |= (uint64_t)p[b] << (8 * b);
	return x;
}

/** near_low() for entries [from, n), behind `found` hits. */
SX_INLINE size_t sx_near_low_plain(sx_count_fn *count, const unsigned char *low,
				   unsigned width, size_t from, size_t n, size_t readable,
				   uint64_t query, unsigned k, uint16_t *hits, size_t found)
{
	query &= sx_low_bits(8 * width);
	/* Written without a branch on the outcome: the next hit overwrites a miss. */
	for (size_t i = from; i < n; i++) {
		uint64_t x = sx_load_low(low + i * width, width, readable - i * width);

		hits[found] = (uint16_t)i;
		found += count(x ^ query) <= k;
	}
	return found;
}

/** near_u64() for fingerprints [from, n), behind `found` hits. */
SX_INLINE size_t sx_near_u64_plain(sx_count_fn *count, const uint64_t *fps, size_t from,
				   size_t n, uint64_t query, unsigned k, uint32_t *hits,
				   size_t found)
{
	for (size_t i = from; i < n; i++) {
		hits[found] = (uint32_t)i;
		found += count(fps[i] ^ query) <= k;
	}
	return found;
}

/** near_16() */
SX_INLINE unsigned sx_near_16_plain(sx_count_fn *count, const uint32_t *words, uint32_t query,
				    unsigned k)
{
	unsigned near = 0;

	for (unsigned i = 0; i < 16; i++)
		near |= (unsigned)(count(words[i] ^ query) <= k) << i;
	return near;
}

#endif /* SX_NEAR_PLAIN_H */
