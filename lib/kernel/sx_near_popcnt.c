/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "kernel/sx_near.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include "kernel/sx_bitmap_plain.h"

#define POPCNT __attribute__((target("popcnt")))
#define BMI2 __attribute__((target("popcnt,bmi,bmi2")))

POPCNT size_t sx_near_low_popcnt(const unsigned char *low, unsigned width, size_t n,
				 size_t readable, uint64_t query, unsigned k, uint16_t *hits)
{
	return sx_near_low_plain(sx_count_builtin, low, width, 0, n, readable, query, k, hits,
				 0);
}

POPCNT size_t sx_near_u64_popcnt(const uint64_t *fps, size_t n, uint64_t query, unsigned k,
				 uint32_t *hits)
{
	return sx_near_u64_plain(sx_count_builtin, fps, 0, n, query, k, hits, 0);
}

POPCNT unsigned sx_near_16_popcnt(const uint32_t *words, uint32_t query, unsigned k)
{
	return sx_near_16_plain(sx_count_builtin, words, query, k);
}

POPCNT void sx_ranks_popcnt(const unsigned char *bitmap, size_t n_words, const uint64_t *zeros,
			    unsigned n, uint64_t *ones)
{
	sx_ranks_plain(sx_count_builtin, sx_select_halving, bitmap, n_words, zeros, n, ones);
}

POPCNT size_t sx_complete_popcnt(const sx_coded *coded, size_t from, const uint16_t *entry,
				 size_t n, uint64_t query, unsigned k, uint64_t *keys)
{
	return sx_complete_plain(sx_count_builtin, sx_select_halving, coded, from, entry, n,
				 query, k, keys);
}

POPCNT size_t sx_decode_popcnt(const sx_coded *coded, size_t from, size_t n, uint64_t *keys)
{
	return sx_decode_plain(sx_count_builtin, sx_select_halving, coded, from, n, keys);
}

BMI2 SX_INLINE unsigned select_pdep(uint64_t word, unsigned i)
{
	return (unsigned)_tzcnt_u64(_pdep_u64(UINT64_C(1) << i, word));
}

BMI2 void sx_ranks_bmi2(const unsigned char *bitmap, size_t n_words, const uint64_t *zeros,
			unsigned n, uint64_t *ones)
{
	sx_ranks_plain(sx_count_builtin, select_pdep, bitmap, n_words, zeros, n, ones);
}

BMI2 size_t sx_complete_bmi2(const sx_coded *coded, size_t from, const uint16_t *entry,
			     size_t n, uint64_t query, unsigned k, uint64_t *keys)
{
	return sx_complete_plain(sx_count_builtin, select_pdep, coded, from, entry, n, query,
				 k, keys);
}

BMI2 size_t sx_decode_bmi2(const sx_coded *coded, size_t from, size_t n, uint64_t *keys)
{
	return sx_decode_plain(sx_count_builtin, select_pdep, coded, from, n, keys);
}

#endif
