/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include <stdint.h>
#include <string.h>

#include <simidx_sketch.h>

#include "sketch/sx_sketch.h"
#include "support/sxt.h"
#include "util/sx_hash.h"

#define ALL_FLAGS (SIMIDX_SKETCH_FP2 | SIMIDX_SKETCH_WEIGHTS)
#define MAX_N 2000

static simidx_feature features[MAX_N];

static void random_features(sxt_rng *rng, size_t n, uint64_t max_weight)
{
	size_t i;

	memset(features, 0, sizeof(features));
	for (i = 0; i < n; i++) {
		features[i].hash = sxt_rng_u64(rng);
		features[i].weight = (uint32_t)(1 + sxt_rng_below(rng, max_weight));
	}
}

static void sketch(size_t n, unsigned bits, unsigned flags, simidx_sketch *out)
{
	unsigned empty = SIMIDX_SKETCH_EMPTY;

	/* What was there before must not show. */
	memset(out, 0x5a, sizeof(*out));
	out->size = sizeof(*out);
	ck_assert_sx(simidx_sketch_make(features, n, bits, flags, out, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(out->size, sizeof(*out));
	ck_assert_uint_eq(out->bits, bits);
	for (size_t i = 0; i < n; i++)
		empty = features[i].weight ? 0 : empty;
	ck_assert_uint_eq(out->flags, flags | empty);
	ck_assert_uint_eq(out->n_features, n);
	ck_assert_uint_eq(out->n_tokens, 0);
}

/* ------------------------------------------------------------------------------------------
 * The definition again, one bit at a time and in 128 bits, where those exist
 */

#if defined(__SIZEOF_INT128__)

__extension__ typedef __int128 wide;

/* The hash behind fp2, from its description: 8 little-endian bytes under the second seed. */
static uint64_t second_hash(uint64_t hash)
{
	unsigned char bytes[8];
	unsigned i;

	for (i = 0; i < 8; i++)
		bytes[i] = (unsigned char)(hash >> 8 * i);
	return sx_hash_seed(bytes, 8, UINT64_C(0x9e3779b97f4a7c15));
}

static wide naive_sum(size_t n, unsigned bit, int second)
{
	wide sum = 0;
	uint64_t hash;
	size_t i;

	for (i = 0; i < n; i++) {
		hash = second ? second_hash(features[i].hash) : features[i].hash;
		if (hash >> bit & 1)
			sum += features[i].weight;
		else
			sum -= features[i].weight;
	}
	return sum;
}

/* Largest r with r * r <= the sum of the squares, by halving. */
static wide naive_norm(size_t n)
{
	wide squares = 0, low = 0, high = (wide)1 << 50, middle;
	size_t i;

	for (i = 0; i < n; i++)
		squares += (wide)features[i].weight * features[i].weight;
	while (high - low > 1) {
		middle = (low + high) / 2;
		if (middle * middle <= squares)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* The smallest w with w + 1/2 > 32 |sum| / norm, at most 255: rounding without a division. */
static unsigned naive_weight(wide sum, wide norm)
{
	wide size = sum < 0 ? -sum : sum;
	unsigned w = 0;

	while (norm && w < 255 && (2 * (wide)w + 1) * norm <= 64 * size)
		w++;
	return w;
}

static void check_one(size_t n, unsigned bits, int second, uint64_t fp, const int64_t *sums,
		      const uint8_t *weights)
{
	wide norm = naive_norm(n), sum;
	unsigned b;

	for (b = 0; b < 64; b++) {
		sum = b < bits ? naive_sum(n, b, second) : 0;
		ck_assert_msg(sums[b] == sum, "sum of bit %u of %u", b, bits);
		ck_assert_uint_eq(fp >> b & 1, sum > 0);
		ck_assert_uint_eq(weights[b], naive_weight(sum, norm));
	}
}

static void check_sketch(size_t n, unsigned bits)
{
	simidx_sketch s;

	sketch(n, bits, ALL_FLAGS, &s);
	check_one(n, bits, 0, s.fp, s.sums, s.weights);
	check_one(n, 64, 1, s.fp2, s.sums2, s.weights2);
}

START_TEST(test_against_definition)
{
	static const unsigned bits[] = { 16, 31, 32, 48, 64 };
	static const size_t sizes[] = { 1, 2, 3, 17, 100, 1000 };
	static const uint64_t max_weights[] = { 1, 3, 1000, UINT32_MAX };
	unsigned i, j;
	sxt_rng rng;

	sxt_rng_init(&rng, 1);
	for (i = 0; i < 6; i++) {
		for (j = 0; j < 4; j++) {
			random_features(&rng, sizes[i], max_weights[j]);
			check_sketch(sizes[i], bits[(i + j) % 5]);
		}
	}
}
END_TEST

/* Many features of one weight among others of any: first a few of these, then one in `every`. */
START_TEST(test_common_weight)
{
	static const size_t sizes[] = { 7, 8, 9, 63, 64, 65, 127, 128, 1025, MAX_N };
	static const unsigned every[] = { 1, 2, 10, MAX_N };
	unsigned i, j;
	sxt_rng rng;
	size_t at;

	sxt_rng_init(&rng, 9);
	for (i = 0; i < 10; i++) {
		for (j = 0; j < 4; j++) {
			random_features(&rng, sizes[i], UINT32_MAX);
			for (at = 20 * (j % 2); at < sizes[i]; at++) {
				if (at % every[j])
					features[at].weight = 65536;
			}
			check_sketch(sizes[i], 64);
		}
	}
	/* Counts of 1025, 1024, 1 and 0 in different bits: most of their digits are 0. */
	for (at = 0; at < 1025; at++) {
		features[at].hash = at ? 0xff00 : 0x0ff0;
		features[at].weight = UINT32_MAX;
	}
	check_sketch(1025, 64);
}
END_TEST

/* Sums near their ends: weights that go beyond 32 and their squares beyond 64 bits. */
START_TEST(test_extreme_weights)
{
	sxt_rng rng;
	size_t i;

	sxt_rng_init(&rng, 2);
	random_features(&rng, MAX_N, 1);
	for (i = 0; i < MAX_N; i++)
		features[i].weight = UINT32_MAX;
	check_sketch(MAX_N, 64);
	for (i = 0; i < MAX_N; i++)
		features[i].hash = i % 2 ? UINT64_MAX : 1;
	check_sketch(MAX_N, 64);
	for (i = 0; i < MAX_N; i++)
		features[i].weight = i ? 0 : UINT32_MAX;
	check_sketch(MAX_N, 64);
}
END_TEST

/*
 * Rounding: with m features of weight 1 the norm is isqrt(m), and the sum of a bit that p of
 * them have is 2 p - m, so that all quotients of small numbers come up, halves included.
 */
START_TEST(test_weight_rounding)
{
	size_t m, i;
	unsigned b;

	for (m = 1; m <= 300; m++) {
		memset(features, 0, sizeof(features));
		for (i = 0; i < m; i++) {
			features[i].weight = 1;
			for (b = 0; b < 64; b++)
				features[i].hash |= (uint64_t)(i < m * b / 63) << b;
		}
		check_sketch(m, 64);
	}
}
END_TEST

#endif

/* Two features whose norms are easy: 5 for the weights 4 and 3. */
START_TEST(test_weights_by_hand)
{
	simidx_sketch s;

	memset(features, 0, sizeof(features));
	features[0].hash = 3;
	features[0].weight = 4;
	features[1].hash = 1;
	features[1].weight = 3;
	sketch(2, 16, SIMIDX_SKETCH_WEIGHTS, &s);
	ck_assert_int_eq(s.sums[0], 7);
	ck_assert_int_eq(s.sums[1], 1);
	ck_assert_int_eq(s.sums[15], -7);
	ck_assert_int_eq(s.sums[16], 0);
	ck_assert_uint_eq(s.fp, 3);
	ck_assert_uint_eq(s.weights[0], 45); /* 32 * 7 / 5 = 44.8 */
	ck_assert_uint_eq(s.weights[1], 6);  /* 32 * 1 / 5 = 6.4 */
	ck_assert_uint_eq(s.weights[15], 45);
	ck_assert_uint_eq(s.weights[16], 0);
	/* 46^2 + 45^2 = 4141, so the norm is 64, and 32 / 64 and 32 * 91 / 64 end in a half. */
	features[0].weight = 46;
	features[1].weight = 45;
	sketch(2, 16, SIMIDX_SKETCH_WEIGHTS, &s);
	ck_assert_int_eq(s.sums[0], 91);
	ck_assert_int_eq(s.sums[1], 1);
	ck_assert_uint_eq(s.weights[0], 46);
	ck_assert_uint_eq(s.weights[1], 1);
}
END_TEST

/* 63 features of weight 1000 and one of 700 that agree: 32 * 63700 / 7968 = 255.8. */
START_TEST(test_weight_cap)
{
	simidx_sketch s;
	size_t i;

	memset(features, 0, sizeof(features));
	for (i = 0; i < 64; i++) {
		features[i].hash = 1;
		features[i].weight = i ? 1000 : 700;
	}
	sketch(64, 64, SIMIDX_SKETCH_WEIGHTS, &s);
	ck_assert_int_eq(s.sums[0], 63700);
	ck_assert_uint_eq(s.weights[0], 255);
	ck_assert_uint_eq(s.weights[1], 255);
}
END_TEST

START_TEST(test_ties)
{
	simidx_sketch s;

	memset(features, 0, sizeof(features));
	features[0].hash = UINT64_C(0xff00ff00ff00ff00);
	features[1].hash = UINT64_C(0xf0f0f0f0f0f0f0f0);
	features[0].weight = features[1].weight = 10;
	sketch(2, 64, 0, &s);
	ck_assert_uint_eq(s.fp, UINT64_C(0xf000f000f000f000));
	ck_assert_int_eq(s.sums[4], 0);
	ck_assert_int_eq(s.sums[0], -20);
	/* One unit more breaks every tie towards the heavier feature. */
	features[1].weight = 11;
	sketch(2, 64, 0, &s);
	ck_assert_uint_eq(s.fp, UINT64_C(0xf0f0f0f0f0f0f0f0));
	features[1].weight = 9;
	sketch(2, 64, 0, &s);
	ck_assert_uint_eq(s.fp, UINT64_C(0xff00ff00ff00ff00));
}
END_TEST

static void check_nothing(const simidx_sketch *s)
{
	static const simidx_sketch zero = SIMIDX_SKETCH_INIT;

	ck_assert_uint_eq(s->fp, 0);
	ck_assert_uint_eq(s->fp2, 0);
	ck_assert_mem_eq(s->sums, zero.sums, sizeof(s->sums));
	ck_assert_mem_eq(s->sums2, zero.sums2, sizeof(s->sums2));
	ck_assert_mem_eq(s->weights, zero.weights, sizeof(s->weights));
	ck_assert_mem_eq(s->weights2, zero.weights2, sizeof(s->weights2));
}

START_TEST(test_no_features)
{
	simidx_sketch s = SIMIDX_SKETCH_INIT;
	sxt_rng rng;
	size_t i;

	ck_assert_sx(simidx_sketch_make(NULL, 0, 64, ALL_FLAGS, &s, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(s.flags, ALL_FLAGS | SIMIDX_SKETCH_EMPTY);
	check_nothing(&s);
	sxt_rng_init(&rng, 3);
	random_features(&rng, 100, 1);
	for (i = 0; i < 100; i++)
		features[i].weight = 0;
	sketch(100, 64, ALL_FLAGS, &s);
	check_nothing(&s);
	/* One feature is something, also if two make all bits undecided. */
	features[7].weight = 1;
	sketch(100, 64, ALL_FLAGS, &s);
	ck_assert_uint_eq(s.flags, ALL_FLAGS);
	ck_assert_uint_eq(s.fp, features[7].hash);
	features[8].weight = 1;
	features[8].hash = ~features[7].hash;
	sketch(100, 64, SIMIDX_SKETCH_WEIGHTS, &s);
	ck_assert_uint_eq(s.flags, SIMIDX_SKETCH_WEIGHTS);
	ck_assert_uint_eq(s.fp, 0);
}
END_TEST

START_TEST(test_order_of_features_does_not_count)
{
	simidx_sketch a, b;
	simidx_feature swap;
	sxt_rng rng;
	size_t i, j;

	sxt_rng_init(&rng, 4);
	random_features(&rng, 500, 70000);
	sketch(500, 64, ALL_FLAGS, &a);
	for (i = 500; i-- > 1;) {
		j = (size_t)sxt_rng_below(&rng, i + 1);
		swap = features[i];
		features[i] = features[j];
		features[j] = swap;
	}
	sketch(500, 64, ALL_FLAGS, &b);
	ck_assert_mem_eq(&a, &b, sizeof(a));
}
END_TEST

/* A feature given twice counts twice, and so does one of twice the weight, but in the norm. */
START_TEST(test_repeated_features)
{
	simidx_sketch once, twice;
	sxt_rng rng;
	size_t i;

	sxt_rng_init(&rng, 5);
	random_features(&rng, 200, 1000);
	memcpy(features + 200, features, 200 * sizeof(features[0]));
	sketch(400, 64, SIMIDX_SKETCH_FP2, &twice);
	for (i = 0; i < 200; i++)
		features[i].weight *= 2;
	sketch(200, 64, SIMIDX_SKETCH_FP2, &once);
	ck_assert_mem_eq(once.sums, twice.sums, sizeof(once.sums));
	ck_assert_mem_eq(once.sums2, twice.sums2, sizeof(once.sums2));
	ck_assert_uint_eq(once.fp, twice.fp);
	ck_assert_uint_eq(once.fp2, twice.fp2);
}
END_TEST

/* What was not asked for is 0, and what was does not depend on the rest. */
/* The sketches of two parts of the features, joined, are that of all. */
START_TEST(test_join)
{
	static const unsigned some_flags[] = { 0, SIMIDX_SKETCH_FP2, ALL_FLAGS };
	simidx_sketch all, first, second;
	sxt_rng rng;

	sxt_rng_init(&rng, 36);
	for (unsigned i = 0; i < 300; i++) {
		size_t n = 1 + sxt_rng_below(&rng, 200), cut = sxt_rng_below(&rng, n + 1);
		unsigned bits = i % 3 ? 64 : 40, flags = some_flags[i % 3];
		uint64_t most = i % 2 ? 3 : UINT32_MAX;

		random_features(&rng, n, most);
		sketch(n, bits, flags, &all);
		sketch(cut, bits, flags, &first);
		memmove(features, features + cut, (n - cut) * sizeof(features[0]));
		sketch(n - cut, bits, flags, &second);
		ck_assert_sx(simidx_sketch_join(&first, &second, &sxt_err), SIMIDX_OK);
		sxt_must(!memcmp(&first, &all, sizeof(all)));
	}
	ck_assert_sx(simidx_sketch_join(&first, NULL, &sxt_err), SIMIDX_E_ARG);
	second.bits ^= 1;
	ck_assert_sx(simidx_sketch_join(&first, &second, &sxt_err), SIMIDX_E_ARG);
	second = first;
	second.flags ^= SIMIDX_SKETCH_FP2;
	ck_assert_sx(simidx_sketch_join(&first, &second, &sxt_err), SIMIDX_E_ARG);
	second = first;
	second.flags |= SIMIDX_SKETCH_TRIPLES;
	ck_assert_sx(simidx_sketch_join(&first, &second, &sxt_err), SIMIDX_E_ARG);
	second = first;
	second.size--;
	ck_assert_sx(simidx_sketch_join(&first, &second, &sxt_err), SIMIDX_E_ARG);
	ck_assert_sx(simidx_sketch_join(&first, &first, &sxt_err), SIMIDX_OK);
	second = first;
	second.n_features = ((uint64_t)1 << 31) - first.n_features + 1;
	all = first;
	ck_assert_sx(simidx_sketch_join(&first, &second, &sxt_err), SIMIDX_E_RANGE);
	sxt_must(!memcmp(&first, &all, sizeof(all)));
}
END_TEST

START_TEST(test_unknown_flags_are_refused)
{
	static const simidx_sketch zero = SIMIDX_SKETCH_INIT;
	simidx_sketch all, s;
	unsigned flags;
	sxt_rng rng;

	sxt_rng_init(&rng, 6);
	random_features(&rng, 300, 500);
	sketch(300, 64, ALL_FLAGS, &all);
	for (flags = 0; flags < ALL_FLAGS; flags++) {
		sketch(300, 64, flags, &s);
		ck_assert_uint_eq(s.fp, all.fp);
		ck_assert_mem_eq(s.sums, all.sums, sizeof(s.sums));
		ck_assert_uint_eq(s.fp2, flags & SIMIDX_SKETCH_FP2 ? all.fp2 : 0);
		ck_assert_mem_eq(s.sums2, flags & SIMIDX_SKETCH_FP2 ? all.sums2 : zero.sums2,
				 sizeof(s.sums2));
		ck_assert_mem_eq(s.weights,
				 flags & SIMIDX_SKETCH_WEIGHTS ? all.weights : zero.weights,
				 sizeof(s.weights));
		ck_assert_mem_eq(s.weights2, zero.weights2, sizeof(s.weights2));
	}
}
END_TEST

/* Bit b comes from bit b of the hashes, so fewer bits are the low bits of more. */
START_TEST(test_fewer_bits)
{
	simidx_sketch all, s;
	unsigned bits;
	sxt_rng rng;

	sxt_rng_init(&rng, 7);
	random_features(&rng, 300, 500);
	sketch(300, 64, ALL_FLAGS, &all);
	for (bits = 16; bits < 64; bits++) {
		sketch(300, bits, ALL_FLAGS, &s);
		ck_assert_uint_eq(s.fp, all.fp & ((UINT64_C(1) << bits) - 1));
		ck_assert_mem_eq(s.sums, all.sums, bits * sizeof(s.sums[0]));
		ck_assert_mem_eq(s.weights, all.weights, bits);
		ck_assert_uint_eq(s.fp2, all.fp2);
		ck_assert_mem_eq(s.weights2, all.weights2, sizeof(s.weights2));
	}
}
END_TEST

static void check_refused(const simidx_feature *f, size_t n, unsigned bits, unsigned flags)
{
	simidx_sketch s;

	memset(&s, 0x5a, sizeof(s));
	s.size = sizeof(s);
	ck_assert_sx(simidx_sketch_make(f, n, bits, flags, &s, &sxt_err), SIMIDX_E_ARG);
	ck_assert_int_eq(sxt_err.code, SIMIDX_E_ARG);
	ck_assert_int_ne(sxt_err.text[0], '\0');
	ck_assert_uint_eq(s.size, sizeof(s));
	check_nothing(&s);
	ck_assert_int_eq(simidx_sketch_make(f, n, bits, flags, &s, NULL), SIMIDX_E_ARG);
}

START_TEST(test_bad_arguments_are_refused)
{
	simidx_sketch s, before;

	check_refused(features, 1, 15, 0);
	check_refused(features, 1, 65, 0);
	check_refused(features, 1, 0, 0);
	check_refused(features, 1, 64, SIMIDX_SKETCH_SHORT);
	check_refused(features, 1, 64, 1u << 31);
	check_refused(features, ((size_t)1 << 31) + 1, 64, 0);
	check_refused(features, SIZE_MAX, 64, 0);
	check_refused(NULL, 1, 64, 0);
	ck_assert_sx(simidx_sketch_make(features, 1, 64, 0, NULL, &sxt_err), SIMIDX_E_ARG);
	/* Nothing is written where there is no room for a fingerprint. */
	memset(&s, 0x5a, sizeof(s));
	s.size = 8;
	before = s;
	ck_assert_sx(simidx_sketch_make(features, 1, 64, 0, &s, &sxt_err), SIMIDX_E_ARG);
	ck_assert_mem_eq(&s, &before, sizeof(s));
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * Hashing, distance, square root
 */

START_TEST(test_hash_bytes)
{
	static const char text[] = "a feature";

	/* The published value of XXH3-64 for no bytes and seed 0. */
	ck_assert_uint_eq(simidx_feature_hash("", 0), UINT64_C(0x2d06800538d394c2));
	ck_assert_uint_eq(simidx_feature_hash(NULL, 0), UINT64_C(0x2d06800538d394c2));
	ck_assert_uint_eq(simidx_feature_hash(text, 9), sx_hash_seed(text, 9, 0));
	ck_assert_uint_ne(simidx_feature_hash(text, 9), simidx_feature_hash(text, 8));
}
END_TEST

START_TEST(test_distance)
{
	sxt_rng rng;
	unsigned n, k;
	uint64_t a, b;

	sxt_rng_init(&rng, 8);
	ck_assert_uint_eq(simidx_distance(0, 0), 0);
	ck_assert_uint_eq(simidx_distance(0, UINT64_MAX), 64);
	ck_assert_uint_eq(simidx_distance(UINT64_C(1) << 63, 1), 2);
	for (n = 0; n <= 64; n++) {
		a = sxt_rng_u64(&rng);
		b = sxt_rng_flip(&rng, a, 64, n);
		ck_assert_uint_eq(simidx_distance(a, b), n);
		ck_assert_uint_eq(simidx_distance(b, a), n);
		for (k = 0; k <= 65; k++)
			ck_assert_int_eq(simidx_is_near(a, b, k), n <= k);
		ck_assert_int_eq(simidx_is_near(a, b, UINT32_MAX), 1);
	}
}
END_TEST

START_TEST(test_integer_square_root)
{
	uint64_t r;

	for (r = 0; r <= 1000; r++) {
		ck_assert_uint_eq(sx_isqrt(0, r * r), r);
		ck_assert_uint_eq(sx_isqrt(0, r * r + r), r);
		ck_assert_uint_eq(sx_isqrt(0, r * r + 2 * r), r);
	}
	ck_assert_uint_eq(sx_isqrt(0, UINT64_MAX), UINT32_MAX);
	ck_assert_uint_eq(sx_isqrt(1, 0), UINT64_C(1) << 32);
	/* (2^47 + 1)^2 = 2^94 + 2^48 + 1, and one less */
	ck_assert_uint_eq(sx_isqrt(UINT64_C(1) << 30, (UINT64_C(1) << 48) + 1),
			  (UINT64_C(1) << 47) + 1);
	ck_assert_uint_eq(sx_isqrt(UINT64_C(1) << 30, UINT64_C(1) << 48), UINT64_C(1) << 47);
	/* 2^96 - 1, the largest that is allowed */
	ck_assert_uint_eq(sx_isqrt(UINT32_MAX, UINT64_MAX), (UINT64_C(1) << 48) - 1);
}
END_TEST

static const sxt_test tests[] = {
#if defined(__SIZEOF_INT128__)
	{ &test_against_definition, 0, 1 },
	{ &test_common_weight, 0, 1 },
	{ &test_extreme_weights, 0, 1 },
	{ &test_weight_rounding, 0, 1 },
#endif
	{ &test_weights_by_hand, 0, 1 },
	{ &test_weight_cap, 0, 1 },
	{ &test_ties, 0, 1 },
	{ &test_no_features, 0, 1 },
	{ &test_order_of_features_does_not_count, 0, 1 },
	{ &test_repeated_features, 0, 1 },
	{ &test_join, 0, 1 },
	{ &test_unknown_flags_are_refused, 0, 1 },
	{ &test_fewer_bits, 0, 1 },
	{ &test_bad_arguments_are_refused, 0, 1 },
	{ &test_hash_bytes, 0, 1 },
	{ &test_distance, 0, 1 },
	{ &test_integer_square_root, 0, 1 },
};

SXT_SUITE(sketch, NULL, NULL);
