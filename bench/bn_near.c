/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "bn_near.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define TARGET(what) __attribute__((target(what)))
#else
#define TARGET(what)
#endif

TARGET("popcnt")
static size_t near_scalar(const uint64_t *v, size_t n, uint64_t q, unsigned k, uint32_t *at)
{
	size_t found = 0;

	/* Without a branch on the distance: it would be the slowest part. */
	for (size_t i = 0; i < n; i++) {
		at[found] = (uint32_t)i;
		found += (unsigned)__builtin_popcountll(v[i] ^ q) <= k;
	}
	return found;
}

#if defined(__x86_64__)

/* Bits set in each 64-bit lane: look-ups of half bytes (Mula, Kurz, Lemire, "Faster population
 * counts using AVX2 instructions", 2018). */
TARGET("avx2")
static inline __m256i popcount_avx2(__m256i x)
{
	const __m256i bits = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,
					      0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
	const __m256i low = _mm256_set1_epi8(15);
	__m256i a = _mm256_shuffle_epi8(bits, _mm256_and_si256(x, low));
	__m256i b = _mm256_shuffle_epi8(bits, _mm256_and_si256(_mm256_srli_epi16(x, 4), low));

	return _mm256_sad_epu8(_mm256_add_epi8(a, b), _mm256_setzero_si256());
}

TARGET("avx2")
static inline __m256i far_avx2(const uint64_t *v, __m256i query, __m256i radius)
{
	__m256i x =
		_mm256_xor_si256(_mm256_loadu_si256((const __m256i *)(const void *)v), query);

	return _mm256_cmpgt_epi64(popcount_avx2(x), radius);
}

TARGET("avx2,popcnt")
static size_t near_avx2(const uint64_t *v, size_t n, uint64_t q, unsigned k, uint32_t *at)
{
	__m256i query = _mm256_set1_epi64x((long long)q), radius = _mm256_set1_epi64x(k);
	size_t found = 0, i;

	for (i = 0; i + 8 <= n; i += 8) {
		__m256i a = far_avx2(v + i, query, radius),
			b = far_avx2(v + i + 4, query, radius);
		unsigned hits;

		if (_mm256_movemask_epi8(_mm256_and_si256(a, b)) == -1)
			continue;
		hits = (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(a)) |
		       (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(b)) << 4;
		for (hits ^= 0xff; hits; hits &= hits - 1)
			at[found++] = (uint32_t)(i + (unsigned)__builtin_ctz(hits));
	}
	for (; i < n; i++) {
		at[found] = (uint32_t)i;
		found += (unsigned)__builtin_popcountll(v[i] ^ q) <= k;
	}
	return found;
}

TARGET("avx512f,avx512vpopcntdq")
static inline unsigned near8(__m512i x, __m512i query, __m512i radius)
{
	return _mm512_cmple_epu64_mask(_mm512_popcnt_epi64(_mm512_xor_si512(x, query)),
				       radius);
}

TARGET("avx512f,avx512vpopcntdq")
static size_t near_avx512(const uint64_t *v, size_t n, uint64_t q, unsigned k, uint32_t *at)
{
	__m512i query = _mm512_set1_epi64((long long)q), radius = _mm512_set1_epi64(k);
	size_t found = 0, i;
	unsigned hits;

	for (i = 0; i + 32 <= n; i += 32) {
		hits = near8(_mm512_loadu_si512(v + i), query, radius) |
		       near8(_mm512_loadu_si512(v + i + 8), query, radius) << 8 |
		       near8(_mm512_loadu_si512(v + i + 16), query, radius) << 16 |
		       near8(_mm512_loadu_si512(v + i + 24), query, radius) << 24;
		for (; hits; hits &= hits - 1)
			at[found++] = (uint32_t)(i + (unsigned)__builtin_ctz(hits));
	}
	for (; i < n; i += 8) {
		__mmask8 there = n - i < 8 ? (__mmask8)((1u << (n - i)) - 1) : 0xff;

		hits = near8(_mm512_maskz_loadu_epi64(there, v + i), query, radius) & there;
		for (; hits; hits &= hits - 1)
			at[found++] = (uint32_t)(i + (unsigned)__builtin_ctz(hits));
	}
	return found;
}

#endif

const char *bn_simd_name(enum bn_simd level)
{
	static const char *const names[BN_SIMD_LEVELS] = { "scalar", "avx2", "avx512" };

	return names[level];
}

int bn_simd_usable(enum bn_simd level)
{
#if defined(__x86_64__)
	if (level == BN_AVX512)
		return __builtin_cpu_supports("avx512f") &&
		       __builtin_cpu_supports("avx512vpopcntdq");
	if (level == BN_AVX2)
		return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt");
#endif
	return level == BN_SCALAR;
}

enum bn_simd bn_simd_best(void)
{
	return bn_simd_usable(BN_AVX512) ? BN_AVX512
	       : bn_simd_usable(BN_AVX2) ? BN_AVX2
					 : BN_SCALAR;
}

bn_near_fn *bn_near(enum bn_simd level)
{
#if defined(__x86_64__)
	if (level == BN_AVX512)
		return near_avx512;
	if (level == BN_AVX2)
		return near_avx2;
#endif
	(void)level;
	return near_scalar;
}
