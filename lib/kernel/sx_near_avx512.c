/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "kernel/sx_near.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include "kernel/sx_near_emit.h"
#include "kernel/sx_near_plain.h"

#define AVX512                                                                                \
	__attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,"             \
			      "avx512vpopcntdq,popcnt,bmi,bmi2")))

/* Bit j: element j has at most k set bits. */
AVX512 SX_INLINE uint64_t few_bits(__m512i x, __m512i k)
{
	return _mm512_cmple_epu64_mask(_mm512_popcnt_epi64(x), k);
}

/* What a permutation needs to put bytes j * width.. into element j; the rest is masked. */
AVX512 SX_INLINE __m512i spread_of(unsigned width)
{
	__m512i element = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
	__m512i start = _mm512_mul_epu32(element, _mm512_set1_epi64(width));
	__m512i bytes = _mm512_shuffle_epi8(start, _mm512_set4_epi32(0x08080808, 0x08080808, 0, 0));

	return _mm512_add_epi8(bytes, _mm512_set1_epi64(0x0706050403020100));
}

/* 0..31 */
AVX512 SX_INLINE __m512i numbers(void)
{
	return _mm512_cvtepu8_epi16(_mm256_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13,
						     14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24,
						     25, 26, 27, 28, 29, 30, 31));
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
AVX512 static size_t near_last(const struct filter *f, const unsigned char *low, unsigned width,
			       size_t from, size_t n, uint16_t *hits, size_t found)
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
		spread_of(width),
		_mm512_set1_epi64((long long)(query & sx_low_bits(8 * width))),
		_mm512_set1_epi64(k),
		sx_low_bits(width) * UINT64_C(0x0101010101010101),
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
	size_t found = 0;

	for (size_t i = 0, j; i < n; i += j) {
		uint64_t near = 0;

		for (j = 0; j < 64 && i + j < n; j += 8) {
			size_t left = n - i - j;
			__mmask8 there = left >= 8 ? 0xff : (__mmask8)((1u << left) - 1);
			__m512i x = _mm512_maskz_loadu_epi64(there, fps + i + j);

			near |= (few_bits(_mm512_xor_si512(x, want), most) & there) << j;
		}
		found = sx_emit_u32(near, i, hits, found);
	}
	return found;
}

/* The sum of elements 0..j in element j. */
AVX512 SX_INLINE __m512i running_sums(__m512i x)
{
	const __m512i zero = _mm512_setzero_si512();

	x = _mm512_add_epi64(x, _mm512_alignr_epi64(x, zero, 7));
	x = _mm512_add_epi64(x, _mm512_alignr_epi64(x, zero, 6));
	return _mm512_add_epi64(x, _mm512_alignr_epi64(x, zero, 4));
}

/* Set bits before zero number `zero`, which is in word w if there is one, behind `before` zeros. */
AVX512 SX_INLINE uint64_t ones_before(const unsigned char *bitmap, size_t n_words, uint64_t zero,
				      size_t w, uint64_t before)
{
	uint64_t clear;

	if (w >= n_words)
		return 64 * w - before;
	clear = ~sx_load_le64(bitmap + 8 * w);
	clear = _pdep_u64(UINT64_C(1) << (zero - before - 1), clear);
	return 64 * w + (unsigned)_tzcnt_u64(clear) - (zero - 1);
}

/*
 * No branch depends on where the zeros are: all words are counted, and how many words end before
 * the zero says where it is.
 */
AVX512 sx_ranks sx_ranks_avx512(const unsigned char *bitmap, size_t n_words, sx_ranks zeros)
{
	__m512i want_from = _mm512_set1_epi64((long long)zeros.from);
	__m512i want_to = _mm512_set1_epi64((long long)zeros.to);
	__m512i before_from = _mm512_setzero_si512(), before_to = before_from, before = before_from;
	size_t w_from = 0, w_to = 0;

	for (size_t w = 0, step = ((n_words - 1) & 7) + 1; w < n_words; w += step, step = 8) {
		__mmask8 there = (__mmask8)((1u << step) - 1), m;
		__m512i x = _mm512_maskz_loadu_epi64(there, bitmap + 8 * w);

		x = _mm512_maskz_sub_epi64(there, _mm512_set1_epi64(64), _mm512_popcnt_epi64(x));
		x = _mm512_add_epi64(running_sums(x), before);
		m = _mm512_mask_cmplt_epu64_mask(there, x, want_from);
		before_from = _mm512_mask_mov_epi64(before_from, m, x);
		w_from += (unsigned)__builtin_popcount(m);
		m = _mm512_mask_cmplt_epu64_mask(there, x, want_to);
		before_to = _mm512_mask_mov_epi64(before_to, m, x);
		w_to += (unsigned)__builtin_popcount(m);
		before = _mm512_permutexvar_epi64(_mm512_set1_epi64(7), x);
	}
	zeros.from = !zeros.from ? 0 : ones_before(bitmap, n_words, zeros.from, w_from,
				 (uint64_t)_mm512_reduce_max_epu64(before_from));
	zeros.to = !zeros.to ? 0 : ones_before(bitmap, n_words, zeros.to, w_to,
			       (uint64_t)_mm512_reduce_max_epu64(before_to));
	return zeros;
}

#endif
