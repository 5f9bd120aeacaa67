/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "kernel/sx_kernel_plain.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define AVX512                                                                                \
	__attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,"             \
			      "avx512vpopcntdq,popcnt,bmi,bmi2")))

/* The permutation that puts `width` bytes from j * width on into element j; the rest is masked. */
AVX512 SX_INLINE __m512i spread_of(unsigned width)
{
	__m512i element = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
	__m512i start = _mm512_mul_epu32(element, _mm512_set1_epi64(width));
	__m512i low_byte = _mm512_set4_epi32(0x08080808, 0x08080808, 0, 0);

	return _mm512_add_epi8(_mm512_shuffle_epi8(start, low_byte),
			       _mm512_set1_epi64(0x0706050403020100));
}

/* The bytes that are not masked. */
AVX512 SX_INLINE __mmask64 used_of(unsigned width)
{
	return sx_low_bits(width) * UINT64_C(0x0101010101010101);
}

/* Bit j: element j has at most k set bits. */
AVX512 SX_INLINE uint64_t few_bits(__m512i x, __m512i k)
{
	return _mm512_cmple_epu64_mask(_mm512_popcnt_epi64(x), k);
}

/* How to find the entries that are near, eight at a time. */
struct filter {
	__m512i spread, want, k;
	__mmask64 used; /* bytes of the elements that a key's low bytes fill */
};

/* Bit j: entry j of the eight in these 64 bytes is near. */
AVX512 SX_INLINE uint64_t near_bytes(const struct filter *f, __m512i bytes)
{
	bytes = _mm512_maskz_permutexvar_epi8(f->used, f->spread, bytes);
	return few_bits(_mm512_xor_si512(bytes, f->want), f->k);
}

AVX512 SX_INLINE uint64_t near_eight(const void *filter, const unsigned char *p)
{
	return near_bytes(filter, _mm512_loadu_si512(p));
}

AVX512 static size_t near_low_avx512(const unsigned char *low, unsigned width, size_t n,
				     size_t readable, uint64_t query, unsigned k,
				     uint16_t *hits)
{
	struct filter f = {
		spread_of(width),
		_mm512_set1_epi64((long long)(query & sx_low_bits(8 * width))),
		_mm512_set1_epi64(k),
		used_of(width),
	};

	return sx_near_low_steps(near_eight, &f, 16 * width + 64, low, width, n, readable, query,
				 k, hits);
}

AVX512 static size_t near_u64_avx512(const uint64_t *fps, size_t n, uint64_t query,
				     unsigned k, uint32_t *hits)
{
	__m512i want = _mm512_set1_epi64((long long)query), max = _mm512_set1_epi64(k);
	size_t found = 0, i = 0;

	for (; n - i >= 32; i += 32) {
		uint64_t near = 0;

		for (unsigned j = 0; j < 32; j += 8) {
			__m512i x = _mm512_loadu_si512(fps + i + j);

			near |= few_bits(_mm512_xor_si512(x, want), max) << j;
		}
		found = sx_emit_u32(near, i, hits, found);
	}
	return sx_near_u64_plain(sx_count_builtin, fps, i, n, query, k, hits, found);
}

AVX512 static unsigned near_16_avx512(const uint32_t *words, uint32_t query, unsigned k)
{
	__m512i x = _mm512_xor_si512(_mm512_load_si512(words), _mm512_set1_epi32((int)query));

	return _mm512_cmple_epu32_mask(_mm512_popcnt_epi32(x), _mm512_set1_epi32((int)k));
}

void sx_kernel_use_avx512(sx_kernel *kernel)
{
	SX_USE_FILTERS(kernel, avx512);
}

#endif
