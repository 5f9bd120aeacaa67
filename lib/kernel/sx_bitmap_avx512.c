/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "kernel/sx_near.h"

#if defined(__x86_64__)

#include "kernel/sx_near_avx512.h"

static const unsigned char byte_numbers[64] = {
	0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
	22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
	44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63,
};

/* The sum of elements 0..j in element j. */
AVX512 SX_INLINE __m512i running_sums(__m512i x)
{
	const __m512i zero = _mm512_setzero_si512();

	x = _mm512_add_epi64(x, _mm512_alignr_epi64(x, zero, 7));
	x = _mm512_add_epi64(x, _mm512_alignr_epi64(x, zero, 6));
	return _mm512_add_epi64(x, _mm512_alignr_epi64(x, zero, 4));
}

/* Set bits before zero number `zero`, which is in word w if there is one, behind `before` zeros. */
AVX512 SX_INLINE uint64_t ones_before(const unsigned char *bitmap, size_t n_words,
				      uint64_t zero, size_t w, uint64_t before)
{
	uint64_t clear;

	if (!zero)
		return 0;
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
	__m512i before = _mm512_setzero_si512(), before_from = before, before_to = before;
	size_t w_from = 0, w_to = 0;

	for (size_t w = 0, step = ((n_words - 1) & 7) + 1; w < n_words; w += step, step = 8) {
		__mmask8 there = (__mmask8)((1u << step) - 1), m;
		__m512i x = _mm512_maskz_loadu_epi64(there, bitmap + 8 * w);

		x = _mm512_maskz_sub_epi64(there, _mm512_set1_epi64(64),
					   _mm512_popcnt_epi64(x));
		x = _mm512_add_epi64(running_sums(x), before);
		m = _mm512_mask_cmplt_epu64_mask(there, x, want_from);
		before_from = _mm512_mask_mov_epi64(before_from, m, x);
		w_from += (unsigned)__builtin_popcount(m);
		m = _mm512_mask_cmplt_epu64_mask(there, x, want_to);
		before_to = _mm512_mask_mov_epi64(before_to, m, x);
		w_to += (unsigned)__builtin_popcount(m);
		before = _mm512_permutexvar_epi64(_mm512_set1_epi64(7), x);
	}
	zeros.from = ones_before(bitmap, n_words, zeros.from, w_from,
				 _mm512_reduce_max_epu64(before_from));
	zeros.to = ones_before(bitmap, n_words, zeros.to, w_to,
			       _mm512_reduce_max_epu64(before_to));
	return zeros;
}

/*
 * Eight keys from number i on, whose bits are at `places` of the word that begins at bit
 * `start`. What lies behind `end` is not read.
 */
AVX512 SX_INLINE __m512i eight_keys(const sx_coded *c, __m512i spread, size_t i,
				    uint64_t start, const unsigned char *places,
				    const unsigned char *end)
{
	const unsigned char *p = c->low + i * c->width;
	uint64_t bytes = (uint64_t)(end - p) < 64 ? _bzhi_u64(UINT64_MAX, (unsigned)(end - p))
						  : UINT64_MAX;
	__m512i low = _mm512_maskz_permutexvar_epi8(sx_spread_used(c->width), spread,
						    _mm512_maskz_loadu_epi8(bytes, p));
	__m512i high = _mm512_cvtepu8_epi64(_mm_loadl_epi64((const __m128i *)places));

	high = _mm512_sub_epi64(high, _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7));
	high = _mm512_add_epi64(high, _mm512_set1_epi64((long long)(c->base + start - i)));
	/* A shift by 64 leaves nothing, as it should with a width of 8. */
	high = _mm512_sll_epi64(high, _mm_cvtsi32_si128((int)(8 * c->width)));
	return _mm512_or_si512(high, low);
}

/* Where word w begins, behind which bit number i is: *before bits are set in front of it. */
AVX512 SX_INLINE size_t word_of(const sx_coded *c, size_t i, size_t *before)
{
	size_t w = 0;

	for (*before = 0; w < c->n_words; w++) {
		size_t here = (size_t)_mm_popcnt_u64(sx_load_le64(c->bitmap + 8 * w));

		if (i - *before < here)
			break;
		*before += here;
	}
	return w;
}

/* The places of a word's bits are compressed to bytes, then taken eight at a time. */
AVX512 size_t sx_decode_avx512(const sx_coded *coded, size_t from, size_t n, uint64_t *keys)
{
	const sx_coded c = *coded; /* a copy that no store to keys can change */
	const unsigned char *end = c.bitmap + 8 * c.n_words;
	const __m512i all = _mm512_loadu_si512(byte_numbers);
	__m512i spread = sx_spread(c.width);
	unsigned char places[64];
	size_t before, i = from;

	for (size_t w = word_of(&c, from, &before); w < c.n_words && i < from + n; w++) {
		uint64_t word = sx_load_le64(c.bitmap + 8 * w);
		size_t here;

		/* Bits of entries before the first one that is wanted. */
		word &= ~_pdep_u64(_bzhi_u64(UINT64_MAX, (unsigned)(i - before)), word);
		before = i;
		here = (size_t)_mm_popcnt_u64(word);
		here = here < from + n - i ? here : from + n - i;
		_mm512_storeu_si512(places, _mm512_maskz_compress_epi8(word, all));
		for (size_t j = 0; j < here; j += 8)
			_mm512_mask_storeu_epi64(
				keys + (i + j - from),
				(__mmask8)_bzhi_u32(0xff, (unsigned)(here - j)),
				eight_keys(&c, spread, i + j, 64 * w, places + j, end));
		i += here;
		before = i;
	}
	return i - from;
}

#endif
