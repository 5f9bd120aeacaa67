/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "kernel/sx_near.h"

#if defined(__x86_64__)

#include "kernel/sx_near_avx512.h"
#include "kernel/sx_near_emit.h"
#include "kernel/sx_near_plain.h"

/* Bit j: element j has at most k set bits. */
AVX512 SX_INLINE uint64_t few_bits(__m512i x, __m512i k)
{
	return _mm512_cmple_epu64_mask(_mm512_popcnt_epi64(x), k);
}

/* 0..31 */
AVX512 SX_INLINE __m512i numbers(void)
{
	return _mm512_cvtepu8_epi16(_mm256_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
						     13, 14, 15, 16, 17, 18, 19, 20, 21, 22,
						     23, 24, 25, 26, 27, 28, 29, 30, 31));
}

/* How to find the entries that are near, eight at a time. */
struct filter {
	__m512i spread, want, k;
	__mmask64 used; /* bytes of the elements that a key's low bytes fill */
};

/* Bit j: entry j of the eight in these 64 bytes is near. */
AVX512 SX_INLINE uint64_t near_eight(const struct filter *f, __m512i bytes)
{
	bytes = _mm512_maskz_permutexvar_epi8(f->used, f->spread, bytes);
	return few_bits(_mm512_xor_si512(bytes, f->want), f->k);
}

/* sx_emit_u16() for up to 32 entries, without a branch on how many are near. */
AVX512 SX_INLINE size_t emit(uint32_t near, size_t i, uint16_t *hits, size_t found)
{
	__m512i number = _mm512_add_epi16(_mm512_set1_epi16((short)i), numbers());
	unsigned n = (unsigned)_mm_popcnt_u32(near);

	_mm512_mask_storeu_epi16(hits + found, _bzhi_u32(UINT32_MAX, n),
				 _mm512_maskz_compress_epi16(near, number));
	return found + n;
}

/* The last entries, where 64 bytes would be too many. */
AVX512 static size_t near_last(const struct filter *f, const unsigned char *low,
			       unsigned width, size_t from, size_t n, uint16_t *hits,
			       size_t found)
{
	for (size_t i = from; i < n; i += 8) {
		unsigned here = n - i < 8 ? (unsigned)(n - i) : 8;
		__mmask64 bytes = sx_low_bits(here * width);
		__m512i x = _mm512_maskz_loadu_epi8(bytes, low + i * width);

		found = sx_emit_u16(near_eight(f, x) & sx_low_bits(here), i, hits, found);
	}
	return found;
}

/*
 * Eight entries, and if there are more, 16 that follow: for the few entries of most probes no
 * branch is hard to foresee, and no cache line is touched far behind the last of them.
 */
AVX512 size_t sx_near_low_avx512(const unsigned char *low, unsigned width, size_t n,
				 size_t readable, uint64_t query, unsigned k, uint16_t *hits)
{
	struct filter f = {
		sx_spread(width),
		_mm512_set1_epi64((long long)(query & sx_low_bits(8 * width))),
		_mm512_set1_epi64(k),
		sx_spread_used(width),
	};
	size_t need = 16 * width + 64, found = 0, i = 0;

	while (i < n && readable - i * width >= need) {
		const unsigned char *p = low + i * width;
		uint64_t near = near_eight(&f, _mm512_loadu_si512(p));
		size_t here = 8;

		if (n - i > 8) {
			near |= near_eight(&f, _mm512_loadu_si512(p + 8 * width)) << 8;
			near |= near_eight(&f, _mm512_loadu_si512(p + 16 * width)) << 16;
			here = 24;
		}
		if (n - i < here)
			near = _bzhi_u64(near, (unsigned)(n - i));
		if (near)
			found = emit((uint32_t)near, i, hits, found);
		i += here;
	}
	return i < n ? near_last(&f, low, width, i, n, hits, found) : found;
}

AVX512 size_t sx_near_u64_avx512(const uint64_t *fps, size_t n, uint64_t query, unsigned k,
				 uint32_t *hits)
{
	__m512i want = _mm512_set1_epi64((long long)query), most = _mm512_set1_epi64(k);
	size_t found = 0, i = 0;

	for (; n - i >= 32; i += 32) {
		uint64_t near = 0;

		for (unsigned j = 0; j < 32; j += 8) {
			__m512i x = _mm512_loadu_si512(fps + i + j);

			near |= few_bits(_mm512_xor_si512(x, want), most) << j;
		}
		found = sx_emit_u32(near, i, hits, found);
	}
	for (; i < n; i += 8) {
		__mmask8 there = (__mmask8)_bzhi_u32(0xff, n - i < 8 ? (unsigned)(n - i) : 8);
		__m512i x = _mm512_maskz_loadu_epi64(there, fps + i);

		found = sx_emit_u32(few_bits(_mm512_xor_si512(x, want), most) & there, i, hits,
				    found);
	}
	return found;
}

AVX512 unsigned sx_near_16_avx512(const uint32_t *words, uint32_t query, unsigned k)
{
	__m512i x = _mm512_xor_si512(_mm512_load_si512(words), _mm512_set1_epi32((int)query));

	return _mm512_cmple_epu32_mask(_mm512_popcnt_epi32(x), _mm512_set1_epi32((int)k));
}

#endif
