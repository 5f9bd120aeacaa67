/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Sketches of sets: what is exact is, what is estimated keeps the errors that sd_set_sketch.h
 * promises, and no bytes lead out of bounds. All numbers are those of fixed seeds.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dedup/sd_set_sketch.h"
#include "support/sxt.h"
#include "util/sx_sort.h"

#define MOST 20000

static sxt_rng rng;

/* Two sets with hashes in common, and their sketches. */
static uint64_t a[MOST], b[MOST];
static unsigned char a_sketch[SD_SET_SKETCH_MAX], b_sketch[SD_SET_SKETCH_MAX];
static size_t a_size, b_size;

/* Before each test. */
static void start(void)
{
	rng.state = 36;
}

static double estimate(void)
{
	double ab, ba;

	sxt_must(sd_set_sketch_similarity(a_sketch, a_size, b_sketch, b_size, &ab) == 0);
	sxt_must(sd_set_sketch_similarity(b_sketch, b_size, a_sketch, a_size, &ba) == 0);
	sxt_must(ab == ba);
	return ab;
}

/* Sets of n and m hashes, of which `both` are in both. Returns the estimate. */
static double compare(size_t n, size_t m, size_t both)
{
	sxt_must(n <= MOST && m <= MOST && both <= n && both <= m);
	for (size_t i = 0; i < n; i++)
		a[i] = sxt_rng_u64(&rng);
	memcpy(b, a, both * sizeof(*b));
	for (size_t i = both; i < m; i++)
		b[i] = sxt_rng_u64(&rng);
	sxt_must(!sx_sort_u64(a, n) && !sx_sort_u64(b, m));
	a_size = sd_set_sketch_make(a, n, n, a_sketch);
	b_size = sd_set_sketch_make(b, m, m, b_sketch);
	return estimate();
}

static double jaccard(size_t n, size_t m, size_t both)
{
	return (double)both / (double)(n + m - both);
}

START_TEST(test_small_sets_are_exact)
{
	for (size_t n = 1; n <= SD_SET_SKETCH_LISTED; n++)
		for (size_t both = 0; both <= n; both++) {
			size_t m = n + both <= SD_SET_SKETCH_LISTED ? n + both / 3 : n;

			ck_assert(compare(n, m, both) == jaccard(n, m, both));
			ck_assert_uint_eq(a_size, 5 + 4 * n);
		}
}
END_TEST

START_TEST(test_empty_sets_are_like_nothing)
{
	static const size_t sizes[] = { 0, 1, 48, 49, 5000 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		ck_assert(compare(0, sizes[i], 0) == 0);
	ck_assert_uint_eq(a_size, 5);
}
END_TEST

START_TEST(test_equal_sets_are_equal)
{
	static const size_t sizes[] = { 1, 2, 48, 49, 100, 3071, 3072, 3073, 4000, 6143, 6144,
					6145, MOST };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		ck_assert(compare(sizes[i], sizes[i], sizes[i]) == 1);
	ck_assert_uint_eq(a_size, SD_SET_SKETCH_MAX);
}
END_TEST

/* One hash more is never 1; one other hash mostly is not, and never for lists. */
START_TEST(test_nearly_equal_sets)
{
	static const size_t sizes[] = { 1, 48, 49, 3072, 10000 };
	unsigned equal = 0;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		ck_assert(compare(sizes[i], sizes[i] + 1, sizes[i]) < 1);
		ck_assert(compare(sizes[i], sizes[i], sizes[i] - 1) < 1 || sizes[i] > 48);
	}
	for (int i = 0; i < 2000; i++)
		equal += compare(49, 49, 48) == 1;
	ck_assert_uint_le(equal, 5);
}
END_TEST

START_TEST(test_disjoint_sets)
{
	static const size_t sizes[] = { 1, 48, 49, 100, 1000, 3000, 5000, 10000, MOST };
	size_t n = sizeof(sizes) / sizeof(sizes[0]);

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n; k++)
			ck_assert_double_le(compare(sizes[i], sizes[k], 0), .5);
}
END_TEST

/* ---- errors ---- */

struct errors {
	double bias, deviation; /* mean of the errors, and of their squares, its root */
	unsigned from;          /* of 1,000, how many estimates are at least .8 */
};

static struct errors measure(size_t n, size_t m, double similarity, unsigned times)
{
	size_t both = (size_t)(similarity / (1 + similarity) * (double)(n + m) + .5);
	struct errors errors = { 0, 0, 0 };

	if (both > n)
		both = n;
	for (unsigned i = 0; i < times; i++) {
		double is = compare(n, m, both), error = is - jaccard(n, m, both);

		errors.bias += error / times;
		errors.deviation += error * error / times;
		errors.from += is >= .8;
	}
	errors.deviation = sqrt(errors.deviation);
	errors.from = errors.from * 1000 / times;
	return errors;
}

/*
 * The larger set has n, 1.1 n and 1.25 n; the sizes are at all places between two levels. Where one
 * set contains the other, estimates above what the sizes allow are cut, which is a bias.
 */
START_TEST(test_errors)
{
	static const struct {
		size_t n;
		unsigned times;
	} sizes[] = { { 50, 1000 }, { 100, 1000 }, { 300, 300 }, { 1000, 200 }, { 3000, 60 },
		      { 3400, 60 }, { 4500, 60 }, { 6000, 60 }, { 7000, 30 }, { 10000, 30 },
		      { 12200, 30 } };
	static const double ratios[] = { 1, 1.1, 1.25 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (size_t k = 0; k < 3; k++) {
			size_t n = sizes[i].n, m = (size_t)(ratios[k] * (double)n + .5);
			unsigned times = sizes[i].times;
			struct errors at = measure(n, m, .8, times);

			ck_assert_double_le(at.deviation, .016);
			ck_assert_double_le(fabs(at.bias), k == 2 ? .008 : .005);
			ck_assert_uint_le(measure(n, m, .745, times).from, 5);
			if (k == 2)
				continue;
			at = measure(n, m, .9, times);
			ck_assert_double_le(at.deviation, .011);
			ck_assert_double_le(fabs(at.bias), .004);
			ck_assert_uint_eq(measure(n, m, .855, times).from, 1000);
		}
}
END_TEST

/* Sets of sizes that are far apart are as similar as these allow at most. */
START_TEST(test_contained_sets)
{
	static const size_t sizes[] = { 10, 48, 49, 200, 2000, 3072, 5000, 9000, MOST };
	size_t n = sizeof(sizes) / sizeof(sizes[0]);

	for (size_t i = 0; i < n; i++)
		for (size_t k = i; k < n; k++) {
			double most = jaccard(sizes[i], sizes[k], sizes[i]);
			double is = compare(sizes[i], sizes[k], sizes[i]);

			ck_assert_double_le(is, most);
			ck_assert_double_ge(is, most > .5 ? most - .06 : 0);
		}
}
END_TEST

/* ---- bytes ---- */

/* As doc/format.md says, made by other means: every cell is looked for from its bounds. */
START_TEST(test_layout)
{
	static const size_t sizes[] = { 49, 3072, 4000, 6144, 7777, 13000 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		size_t n = sizes[i], level = 0, fine = 0;
		double width = 4294967296.0 / 1536;
		unsigned char bits[1536] = { 0 };

		for (; n >= (size_t)6144 << level; level++)
			width /= 2;
		if (n > 3072)
			fine = (1536 * n / ((size_t)3072 << level) - 1536) / 2 * 2;
		compare(n, n, n);
		ck_assert_uint_eq(a_sketch[0], 1);
		ck_assert_uint_eq(a_sketch[1] | a_sketch[2] << 8, n);
		ck_assert_uint_eq(a_sketch[3] | a_sketch[4], 0);
		for (size_t k = 0; k < n; k++) {
			double hash = (double)(a[k] >> 32), bound = (double)fine * width / 2;
			double cell = hash < bound ? hash / (width / 2)
						   : (double)fine + (hash - bound) / width;

			if (cell < 1536)
				bits[(size_t)cell] ^= 1;
		}
		for (size_t k = 0; k < 1536; k++)
			ck_assert_uint_eq(a_sketch[5 + k / 8] >> k % 8 & 1, bits[k]);
	}
}
END_TEST

START_TEST(test_what_is_no_sketch)
{
	static const size_t sizes[] = { 0, 1, 48, 49, 5000 };
	unsigned char bad[2 * SD_SET_SKETCH_MAX];
	double similarity;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		compare(sizes[i], 100, 0);
		for (size_t size = 0; size < sizeof(bad); size++) {
			/* Right behind the bytes nobody may look. */
			unsigned char *copy = malloc(size + !size);

			sxt_must(copy != NULL);
			memset(copy, 0, size);
			memcpy(copy, a_sketch, size < a_size ? size : a_size);
			similarity = 2;
			ck_assert_int_eq(sd_set_sketch_similarity(copy, size, b_sketch, b_size,
								  &similarity),
					 size == a_size ? 0 : -1);
			ck_assert(similarity >= 0 && similarity <= 1);
			ck_assert_int_eq(sd_set_sketch_similarity(b_sketch, b_size, copy, size,
								  &similarity),
					 size == a_size ? 0 : -1);
			free(copy);
		}
		memcpy(bad, a_sketch, a_size);
		bad[0] = 2;
		ck_assert_int_eq(sd_set_sketch_similarity(bad, a_size, b_sketch, b_size,
							  &similarity), -1);
	}
	/* A list out of order. */
	compare(3, 100, 0);
	memset(a_sketch + 5, 0xff, 4);
	ck_assert_int_eq(sd_set_sketch_similarity(a_sketch, a_size, b_sketch, b_size, &similarity),
			 -1);
}
END_TEST

/* Any bits and any number above those of lists: an estimate between 0 and 1. */
START_TEST(test_random_bytes)
{
	for (int i = 0; i < 3000; i++) {
		double similarity;

		for (size_t k = 0; k < SD_SET_SKETCH_MAX; k++) {
			a_sketch[k] = (unsigned char)sxt_rng_u64(&rng);
			b_sketch[k] = (unsigned char)sxt_rng_u64(&rng);
		}
		a_sketch[0] = b_sketch[0] = 1;
		a_sketch[3 + i % 2] |= 1;
		b_sketch[1 + i % 4] |= 64;
		ck_assert_int_eq(sd_set_sketch_similarity(a_sketch, SD_SET_SKETCH_MAX, b_sketch,
							  SD_SET_SKETCH_MAX, &similarity), 0);
		ck_assert(similarity >= 0 && similarity <= 1);
	}
}
END_TEST

static const sxt_test tests[] = {
	{ &test_small_sets_are_exact, 0, 1 },
	{ &test_empty_sets_are_like_nothing, 0, 1 },
	{ &test_equal_sets_are_equal, 0, 1 },
	{ &test_nearly_equal_sets, 0, 1 },
	{ &test_disjoint_sets, 0, 1 },
	{ &test_errors, 0, 1 },
	{ &test_contained_sets, 0, 1 },
	{ &test_layout, 0, 1 },
	{ &test_what_is_no_sketch, 0, 1 },
	{ &test_random_bytes, 0, 1 },
};

SXT_SUITE(set_sketch, start, NULL);
