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
