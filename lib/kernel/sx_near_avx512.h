/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What the AVX-512 files share.
 */

#ifndef SX_NEAR_AVX512_H
#define SX_NEAR_AVX512_H

#include <immintrin.h>

#include "kernel/sx_near_plain.h"

#define AVX512                                                                                \
	__attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,"             \
			      "avx512vpopcntdq,popcnt,bmi,bmi2")))

/** The permutation that puts `width` bytes from j * width on into element j; the rest is masked. */
AVX512 SX_INLINE __m512i sx_spread(unsigned width)
{
	__m512i element = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
	__m512i start = _mm512_mul_epu32(element, _mm512_set1_epi64(width));
	__m512i low_byte = _mm512_set4_epi32(0x08080808, 0x08080808, 0, 0);

	return _mm512_add_epi8(_mm512_shuffle_epi8(start, low_byte),
			       _mm512_set1_epi64(0x0706050403020100));
}

/** The bytes that are not masked. */
AVX512 SX_INLINE __mmask64 sx_spread_used(unsigned width)
{
	return sx_low_bits(width) * UINT64_C(0x0101010101010101);
}

#endif /* SX_NEAR_AVX512_H */
