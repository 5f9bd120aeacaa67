/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "kernel/sx_kernel_avx2.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include "kernel/sx_kernel_plain.h"

#define AVX2 __attribute__((target("avx2,popcnt,bmi")))

/* The set bits of each byte. Counted in halves, by table. */
AVX2 SX_INLINE __m256i count_bytes(__m256i x)
{
	const __m256i half = _mm256_set1_epi8(0xf);
	const __m256i bits = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,
					      0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
	__m256i low = _mm256_shuffle_epi8(bits, _mm256_and_si256(x, half));
	__m256i high = _mm256_and_si256(_mm256_srli_epi16(x, 4), half);

	return _mm256_add_epi8(low, _mm256_shuffle_epi8(bits, high));
}

/* Bit j: element j has at most k set bits. */
AVX2 SX_INLINE unsigned few_bits(__m256i x, __m256i k)
{
	__m256i sums = _mm256_sad_epu8(count_bytes(x), _mm256_setzero_si256());

	return 15u ^
	       (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(sums, k)));
}

/* How to find the entries that are near, four at a time. */
struct filter {
	__m256i spread, want, k;
	unsigned width;
};

/*
 * Bit j: entry j of the four from p on is near. Two entries lie in 16 bytes whatever their width,
 * which is what a shuffle can reach.
 */
AVX2 SX_INLINE uint64_t near_four(const struct filter *f, const unsigned char *p)
{
	__m128i low = _mm_loadu_si128((const __m128i *)p);
	__m128i high = _mm_loadu_si128((const __m128i *)(p + 2 * f->width));
	__m256i x = _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);

	return few_bits(_mm256_xor_si256(_mm256_shuffle_epi8(x, f->spread), f->want), f->k);
}

AVX2 SX_INLINE uint64_t near_eight(const void *filter, const unsigned char *p)
{
	const struct filter *f = filter;

	return near_four(f, p) | near_four(f, p + 4 * f->width) << 4;
}

/* For the shuffle: bytes 0..width-1 to one 64-bit element, the next ones to the other. */
AVX2 SX_INLINE __m256i spread_of(unsigned width)
{
	uint64_t used = sx_low_bits(8 * width);
	uint64_t first = UINT64_C(0x0706050403020100) | ~used; /* ff: zero */
	uint64_t second = first + (width * UINT64_C(0x0101010101010101) & used);

	return _mm256_setr_epi64x((long long)first, (long long)second, (long long)first,
				  (long long)second);
}

AVX2 static size_t near_low_avx2(const unsigned char *low, unsigned width, size_t n,
				 size_t readable, uint64_t query, unsigned k, uint16_t *hits)
{
	struct filter f = {
		spread_of(width),
		_mm256_set1_epi64x((long long)(query & sx_low_bits(8 * width))),
		_mm256_set1_epi64x(k),
		width,
	};

	return sx_near_low_steps(near_eight, &f, 22 * width + 16,
				 (sx_low_bytes){ low, width, n, readable }, query, k, hits);
}

AVX2 static size_t near_u64_avx2(const uint64_t *fps, size_t n, uint64_t query, unsigned k,
				 uint32_t *hits)
{
	__m256i want = _mm256_set1_epi64x((long long)query), max = _mm256_set1_epi64x(k);
	size_t found = 0, i = 0;

	while (n - i >= 4) {
		uint64_t near = 0;
		unsigned j = 0;

		for (; j < 64 && n - i >= 4; j += 4, i += 4) {
			__m256i x = _mm256_loadu_si256((const __m256i *)(fps + i));

			near |= (uint64_t)few_bits(_mm256_xor_si256(x, want), max) << j;
		}
		found = sx_emit_u32(near, i - j, hits, found);
	}
	return found + sx_near_u64_plain(sx_count_builtin, fps, i, n, query, k, hits + found);
}

/*
 * Zero in the elements of at most k bits, for the small k of a join: bits are cleared one by one.
 */
AVX2 SX_INLINE __m256i without_bits(__m256i x, unsigned k)
{
	for (; k; k--)
		x = _mm256_and_si256(x, _mm256_add_epi64(x, _mm256_set1_epi64x(-1)));
	return x;
}

/* Which of the four entries from p on are near the entry d places after them. */
AVX2 SX_INLINE __m256i near_after_four(const uint64_t *p, unsigned d, unsigned k)
{
	__m256i x = _mm256_loadu_si256((const __m256i *)p);

	x = _mm256_xor_si256(x, _mm256_loadu_si256((const __m256i *)(p + d)));
	return _mm256_cmpeq_epi64(without_bits(x, k), _mm256_setzero_si256());
}

AVX2 SX_INLINE unsigned lanes_of(__m256i x)
{
	return (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(x));
}

AVX2 SX_INLINE size_t near_after_of(const uint64_t *v, size_t *from, size_t n, unsigned reach,
				    uint64_t same_bits, unsigned k, uint64_t *hits, size_t room)
{
	__m256i same = _mm256_set1_epi64x((long long)same_bits);
	size_t found = 0, at = *from;

	for (; at < n && found + SX_NEAR_AFTER_ROOM(reach) <= room; at += 4) {
		const uint64_t *p = v + at;
		__m256i x = _mm256_loadu_si256((const __m256i *)p), more, any;
		unsigned near;

		more = _mm256_xor_si256(x, _mm256_loadu_si256((const __m256i *)(p + reach + 1)));
		more = _mm256_cmpeq_epi64(_mm256_and_si256(more, same), _mm256_setzero_si256());
		any = more;
		for (unsigned d = 1; d <= reach; d++)
			any = _mm256_or_si256(any, near_after_four(p, d, k));
		near = lanes_of(any);
		if (n - at < 4)
			near &= (unsigned)sx_low_bits((unsigned)(n - at));
		if (!near)
			continue;
		found = sx_emit_after(lanes_of(more) & near, at, 0, hits, found);
		for (unsigned d = 1; d <= reach; d++)
			found = sx_emit_after(lanes_of(near_after_four(p, d, k)) & near, at, d,
					      hits, found);
	}
	*from = at < n ? at : n;
	return found;
}

AVX2 static size_t near_after_avx2(const uint64_t *v, size_t *from, size_t n, unsigned reach,
				   uint64_t same, unsigned k, uint64_t *hits, size_t room)
{
	/* For the usual radius the compiler unrolls the loop over bits. */
	return k == 3 ? near_after_of(v, from, n, reach, same, 3, hits, room)
		      : near_after_of(v, from, n, reach, same, k < 64 ? k : 64, hits, room);
}

void sx_kernel_use_avx2(sx_kernel *kernel)
{
	SX_USE_FILTERS(kernel, avx2);
}

/* ---- BMI2, where it is fast ---- */

#define BMI2 __attribute__((target("popcnt,bmi,bmi2")))

BMI2 SX_INLINE unsigned select_pdep(uint64_t word, unsigned i)
{
	return (unsigned)_tzcnt_u64(_pdep_u64(UINT64_C(1) << i, word));
}

SX_DEFINE_PLAIN_BITMAPS(bmi2, BMI2, sx_count_builtin, select_pdep)

BMI2 static uint64_t pext_bmi2(uint64_t x, uint64_t mask)
{
	return _pext_u64(x, mask);
}

BMI2 static uint64_t pdep_bmi2(uint64_t x, uint64_t mask)
{
	return _pdep_u64(x, mask);
}

void sx_kernel_use_bmi2(sx_kernel *kernel)
{
	SX_USE_BITMAPS(kernel, bmi2);
	kernel->pext = pext_bmi2;
	kernel->pdep = pdep_bmi2;
}

#endif
