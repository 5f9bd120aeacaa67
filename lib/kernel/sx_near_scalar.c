/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "kernel/sx_bitmap_plain.h"
#include "kernel/sx_near.h"

/* For CPUs without an instruction, where the compiler would call a function. */
SX_INLINE unsigned count(uint64_t x)
{
	x -= x >> 1 & UINT64_C(0x5555555555555555);
	x = (x & UINT64_C(0x3333333333333333)) + (x >> 2 & UINT64_C(0x3333333333333333));
	x = (x + (x >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	return (unsigned)(x * UINT64_C(0x0101010101010101) >> 56);
}

size_t sx_near_low_scalar(const unsigned char *low, unsigned width, size_t n, size_t readable,
			  uint64_t query, unsigned k, uint16_t *hits)
{
	return sx_near_low_plain(count, low, width, 0, n, readable, query, k, hits, 0);
}

size_t sx_near_u64_scalar(const uint64_t *fps, size_t n, uint64_t query, unsigned k,
			  uint32_t *hits)
{
	return sx_near_u64_plain(count, fps, 0, n, query, k, hits, 0);
}

unsigned sx_near_16_scalar(const uint32_t *words, uint32_t query, unsigned k)
{
	return sx_near_16_plain(count, words, query, k);
}

sx_ranks sx_ranks_scalar(const unsigned char *bitmap, size_t n_words, sx_ranks zeros)
{
	return sx_ranks_plain(count, sx_select_halving, bitmap, n_words, zeros);
}

size_t sx_complete_scalar(const sx_coded *coded, size_t from, const uint16_t *entry, size_t n,
			  uint64_t query, unsigned k, uint64_t *keys)
{
	return sx_complete_plain(count, sx_select_halving, coded, from, entry, n, query, k,
				 keys);
}

size_t sx_decode_scalar(const sx_coded *coded, size_t from, size_t n, uint64_t *keys)
{
	return sx_decode_plain(count, sx_select_halving, coded, from, n, keys);
}
