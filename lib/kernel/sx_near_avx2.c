/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "kernel/sx_near.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include "kernel/sx_near_emit.h"
#include "kernel/sx_near_plain.h"

#define AVX2 __attribute__((target("avx2,popcnt,bmi")))

/* Bit j: element j has at most k set bits. Counted in halves of bytes, by table. */
AVX2 SX_INLINE unsigned few_bits(__m256i x, __m256i k)
{
	const __m256i half = _mm256_set1_epi8(0xf);
	const __m256i bits = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,
					      0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
	__m256i low = _mm256_shuffle_epi8(bits, _mm256_and_si256(x, half));
	__m256i high = _mm256_and_si256(_mm256_srli_epi16(x, 4), half);
	__m256i sums = _mm256_add_epi8(low, _mm256_shuffle_epi8(bits, high));

	sums = _mm256_sad_epu8(sums, _mm256_setzero_si256());
	return 15u ^ (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(sums, k)));
}

/* Four entries, two in each half: what 16 bytes always hold. */
AVX2 SX_INLINE __m256i load_four(const unsigned char *p, unsigned width, __m256i spread)
{
	__m128i low = _mm_loadu_si128((const __m128i *)p);
	__m128i high = _mm_loadu_si128((const __m128i *)(p + 2 * width));

	return _mm256_shuffle_epi8(_mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1),
				   spread);
}

/* For the shuffle: bytes 0..width-1 to one 64-bit element, the next ones to the other. */
AVX2 SX_INLINE __m256i spread_of(unsigned width)
{
	uint64_t first = UINT64_C(0x0706050403020100) | ~sx_low_bits(8 * width);
	uint64_t second = first + (width * UINT64_C(0x0101010101010101) & sx_low_bits(8 * width));

	return _mm256_setr_epi64x((long long)first, (long long)second, (long long)first,
				  (long long)second);
}

AVX2 size_t sx_near_low_avx2(const unsigned char *low, unsigned width, size_t n, size_t readable,
			     uint64_t query, unsigned k, uint16_t *hits)
{
	__m256i spread = spread_of(width), most = _mm256_set1_epi64x(k);
	__m256i want = _mm256_set1_epi64x((long long)(query & sx_low_bits(8 * width)));
	size_t need = 2 * width + 16, found = 0, i = 0;

	while (i < n && readable - i * width >= need) {
		uint64_t near = 0;
		unsigned j = 0;

		for (; j < 64 && i < n && readable - i * width >= need; j += 4, i += 4) {
			__m256i x = load_four(low + i * width, width, spread);

			near |= (uint64_t)few_bits(_mm256_xor_si256(x, want), most) << j;
		}
		if (i > n)
			near &= UINT64_MAX >> (64 - j + (i - n));
		found = sx_emit_u16(near, i - j, hits, found);
	}
	return sx_near_low_plain(sx_count_builtin, low, width, i, n, readable, query, k, hits,
				 found);
}

AVX2 size_t sx_near_u64_avx2(const uint64_t *fps, size_t n, uint64_t query, unsigned k,
			     uint32_t *hits)
{
	__m256i want = _mm256_set1_epi64x((long long)query), most = _mm256_set1_epi64x(k);
	size_t found = 0, i = 0;

	while (n - i >= 4) {
		uint64_t near = 0;
		unsigned j = 0;

		for (; j < 64 && n - i >= 4; j += 4, i += 4) {
			__m256i x = _mm256_loadu_si256((const __m256i *)(fps + i));

			near |= (uint64_t)few_bits(_mm256_xor_si256(x, want), most) << j;
		}
		found = sx_emit_u32(near, i - j, hits, found);
	}
	return sx_near_u64_plain(sx_count_builtin, fps, i, n, query, k, hits, found);
}

#endif
