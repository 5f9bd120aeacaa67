/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "kernel/sx_bitmap_plain.h"
#include "kernel/sx_near.h"

size_t sx_near_low_scalar(const unsigned char *low, unsigned width, size_t n, size_t readable,
			  uint64_t query, unsigned k, uint16_t *hits)
{
	return sx_near_low_plain(sx_count_plain, low, width, 0, n, readable, query, k, hits,
				 0);
}

size_t sx_near_u64_scalar(const uint64_t *fps, size_t n, uint64_t query, unsigned k,
			  uint32_t *hits)
{
	return sx_near_u64_plain(sx_count_plain, fps, 0, n, query, k, hits, 0);
}

unsigned sx_near_16_scalar(const uint32_t *words, uint32_t query, unsigned k)
{
	return sx_near_16_plain(sx_count_plain, words, query, k);
}

void sx_ranks_scalar(const unsigned char *bitmap, size_t n_words, const uint64_t *zeros,
		     unsigned n, uint64_t *ones)
{
	sx_ranks_plain(sx_count_plain, sx_select_halving, bitmap, n_words, zeros, n, ones);
}

size_t sx_complete_scalar(const sx_coded *coded, size_t from, const uint16_t *entry, size_t n,
			  uint64_t query, unsigned k, uint64_t *keys)
{
	return sx_complete_plain(sx_count_plain, sx_select_halving, coded, from, entry, n,
				 query, k, keys);
}

size_t sx_decode_scalar(const sx_coded *coded, size_t from, size_t n, uint64_t *keys)
{
	return sx_decode_plain(sx_count_plain, sx_select_halving, coded, from, n, keys);
}
