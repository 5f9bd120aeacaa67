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
AVX512 SX_INLINE uint64_t near_bytes(const struct filter *f, __m512i bytes)
{
	bytes = _mm512_maskz_permutexvar_epi8(f->used, f->spread, bytes);
	return few_bits(_mm512_xor_si512(bytes, f->want), f->k);
}

AVX512 SX_INLINE uint64_t near_eight(const void *filter, const unsigned char *p)
{
	return near_bytes(filter, _mm512_loadu_si512(p));
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

		found = sx_emit_u16(near_bytes(f, x) & sx_low_bits(here), i, hits, found);
	}
	return found;
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
	size_t need = 16 * width + 64, found = 0, step, i = 0;

	for (; i < n && readable - i * width >= need; i += step) {
		uint64_t near = sx_near_step(near_eight, &f, low + i * width, width, n - i, &step);

		if (n - i < step)
			near = _bzhi_u64(near, (unsigned)(n - i));
		if (near)
			found = emit((uint32_t)near, i, hits, found);
	}
	return i < n ? near_last(&f, low, width, i, n, hits, found) : found;
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
	for (; i < n; i += 8) {
		__mmask8 there = (__mmask8)_bzhi_u32(0xff, n - i < 8 ? (unsigned)(n - i) : 8);
		__m512i x = _mm512_maskz_loadu_epi64(there, fps + i);

		found = sx_emit_u32(few_bits(_mm512_xor_si512(x, want), max) & there, i, hits,
				    found);
	}
	return found;
}

AVX512 static unsigned near_16_avx512(const uint32_t *words, uint32_t query, unsigned k)
{
	__m512i x = _mm512_xor_si512(_mm512_load_si512(words), _mm512_set1_epi32((int)query));

	return _mm512_cmple_epu32_mask(_mm512_popcnt_epi32(x), _mm512_set1_epi32((int)k));
}

static const unsigned char byte_numbers[64] = {
	0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
	22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
	44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63,
};

/*
 * Eight keys from number i on, whose bits are at `places` of the word that begins at bit
 * `start`. Nothing from `end` on is read.
 */
AVX512 SX_INLINE __m512i eight_keys(const sx_coded *c, __m512i spread, size_t i,
				    uint64_t start, const unsigned char *places,
				    const unsigned char *end)
{
	const unsigned char *p = c->low + i * c->width;
	uint64_t bytes = (uint64_t)(end - p) < 64 ? _bzhi_u64(UINT64_MAX, (unsigned)(end - p))
						  : UINT64_MAX;
	__m512i low = _mm512_maskz_permutexvar_epi8(used_of(c->width), spread,
						    _mm512_maskz_loadu_epi8(bytes, p));
	__m512i high = _mm512_cvtepu8_epi64(_mm_loadl_epi64((const __m128i *)places));

	high = _mm512_sub_epi64(high, _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7));
	high = _mm512_add_epi64(high, _mm512_set1_epi64((long long)(c->base + start - i)));
	/* A shift by 64 leaves nothing, as it should with a width of 8. */
	high = _mm512_sll_epi64(high, _mm_cvtsi32_si128((int)(8 * c->width)));
	return _mm512_or_si512(high, low);
}

/* Returns the word that set bit number i is in; *before bits are set in the words before it. */
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
AVX512 static size_t decode_avx512(const sx_coded *coded, size_t from, size_t n, uint64_t *keys)
{
	const sx_coded c = *coded; /* a copy that no store to keys can change */
	const unsigned char *end = c.bitmap + 8 * c.n_words;
	const __m512i all = _mm512_loadu_si512(byte_numbers);
	__m512i spread = spread_of(c.width);
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

void sx_kernel_use_avx512(sx_kernel *kernel)
{
	SX_USE_FILTERS(kernel, avx512);
	kernel->decode = decode_avx512;
}

#endif
