/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "kernel/sx_kernel_avx512.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include "kernel/sx_kernel_plain.h"

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

	return sx_near_low_steps(near_eight, &f, 16 * width + 64,
				 (sx_low_bytes){ low, width, n, readable }, query, k, hits);
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
	/* The rest by masks, as joins ask for few most often. */
	for (; i < n; i += 8) {
		__mmask8 there = (__mmask8)sx_low_bits(n - i < 8 ? (unsigned)(n - i) : 8);
		__m512i x = _mm512_maskz_loadu_epi64(there, fps + i);

		found = sx_emit_u32(few_bits(_mm512_xor_si512(x, want), max) & there, i, hits,
				    found);
	}
	return found;
}

/* clang does so anyway. */
#if defined(__clang__)
#define UNROLL
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif

AVX512 SX_INLINE size_t near_after_of(const uint64_t *v, size_t *from, size_t n, unsigned reach,
				      uint64_t same_bits, unsigned k, uint64_t *hits, size_t room)
{
	__m512i same = _mm512_set1_epi64((long long)same_bits);
	__m512i max = _mm512_set1_epi64(k);
	size_t found = 0, at = *from;

	for (; at < n && found + SX_NEAR_AFTER_ROOM(reach) <= room; at += 8) {
		const uint64_t *p = v + at;
		__m512i x = _mm512_loadu_si512(p), least = _mm512_set1_epi64(65);
		__m512i far = _mm512_xor_si512(x, _mm512_loadu_si512(p + reach + 1));
		unsigned more = _mm512_testn_epi64_mask(far, same), near;

		UNROLL
		for (unsigned d = 1; d <= reach; d++) {
			__m512i y = _mm512_xor_si512(x, _mm512_loadu_si512(p + d));

			least = _mm512_min_epu64(least, _mm512_popcnt_epi64(y));
		}
		near = _mm512_cmple_epu64_mask(least, max) | more;
		if (!near)
			continue;
		if (n - at < 8)
			near &= (unsigned)sx_low_bits((unsigned)(n - at));
		/* One, most often: that is quicker without vectors. */
		for (; near; near &= near - 1) {
			unsigned i = (unsigned)__builtin_ctz(near);

			hits[found] = (uint64_t)(at + i) << 8;
			found += more >> i & 1;
			UNROLL
			for (unsigned d = 1; d <= reach; d++) {
				hits[found] = (uint64_t)(at + i) << 8 | d;
				found += (unsigned)__builtin_popcountll(p[i] ^ p[i + d]) <= k;
			}
		}
	}
	*from = at < n ? at : n;
	return found;
}

AVX512 static size_t near_after_avx512(const uint64_t *v, size_t *from, size_t n, unsigned reach,
				       uint64_t same, unsigned k, uint64_t *hits, size_t room)
{
	/* Loops are unrolled for the lengths that groups have most often. */
	switch (reach) {
	case 4:
		return near_after_of(v, from, n, 4, same, k, hits, room);
	case 6:
		return near_after_of(v, from, n, 6, same, k, hits, room);
	case 8:
		return near_after_of(v, from, n, 8, same, k, hits, room);
	default:
		return near_after_of(v, from, n, reach, same, k, hits, room);
	}
}

/*
 * Eight keys from entry i on, whose bits are at `places` of the bitmap's word that begins at bit
 * `start`. No byte from `end` on is read.
 */
AVX512 SX_INLINE __m512i eight_keys(const sx_coded *c, __m512i spread, size_t i, uint64_t start,
				    const unsigned char *places, const unsigned char *end)
{
	const unsigned char *p = c->low + i * c->width;
	__mmask64 there = sx_low_bits(end - p < 64 ? (unsigned)(end - p) : 64);
	__m512i low = _mm512_maskz_permutexvar_epi8(used_of(c->width), spread,
						    _mm512_maskz_loadu_epi8(there, p));
	__m512i high = _mm512_cvtepu8_epi64(_mm_loadl_epi64((const __m128i *)places));

	high = _mm512_sub_epi64(high, _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7));
	high = _mm512_add_epi64(high, _mm512_set1_epi64((long long)(c->base + start - i)));
	/* A shift by 64 leaves nothing, as it should with a width of 8. */
	high = _mm512_sll_epi64(high, _mm_cvtsi32_si128((int)(8 * c->width)));
	return _mm512_or_si512(high, low);
}

/* The places of a word's bits are written as bytes, then read eight at a time. */
AVX512 static size_t decode_avx512(const sx_coded *coded, size_t from, size_t n, uint64_t *keys)
{
	const sx_coded c = *coded; /* a copy that no store to keys can change */
	const unsigned char *end = c.bitmap + 8 * c.n_words;
	__m512i spread = spread_of(c.width), numbers = spread_of(8); /* 0, 1, 2, ... */
	size_t i = from, to = from + n, before = 0, next;

	/* `before` bits are set in the words before w. */
	for (size_t w = 0; w < c.n_words && i < to; w++, before = next) {
		uint64_t word = sx_load_le64(c.bitmap + 8 * w);
		unsigned char places[64], *at = places;

		next = before + sx_count_builtin(word);
		if (i >= next)
			continue;
		word &= ~_pdep_u64(sx_low_bits((unsigned)(i - before)), word);
		_mm512_storeu_si512(places, _mm512_maskz_compress_epi8(word, numbers));
		for (; i < next && i < to; i += 8, at += 8)
			_mm512_mask_storeu_epi64(
				keys + (i - from),
				(__mmask8)sx_low_bits((unsigned)((next < to ? next : to) - i)),
				eight_keys(&c, spread, i, 64 * w, at, end));
		i = next < to ? next : to;
	}
	return i - from;
}

void sx_kernel_use_avx512(sx_kernel *kernel)
{
	SX_USE_FILTERS(kernel, avx512);
	kernel->decode = decode_avx512;
}

#endif
