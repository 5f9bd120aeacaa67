/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include <stdlib.h>
#include <string.h>

#include "dedup/sd_prefixes.h"
#include "support/sxt.h"

#define MOST 1000

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Hashes of `bits` different leading bits: with few, upper halves are often equal. */
static uint64_t any_hash(sxt_rng *rng, unsigned bits)
{
	uint64_t low = sxt_rng_u64(rng) & 3;

	return bits ? sxt_rng_u64(rng) >> (64 - bits) << 32 | low : sxt_rng_u64(rng);
}

static void set_of(struct sd_shingles *set, size_t n)
{
	qsort(set->hash, n, sizeof(*set->hash), compare);
	set->n = 0;
	for (size_t i = 0; i < n; i++)
		if (!i || set->hash[i] != set->hash[set->n - 1])
			set->hash[set->n++] = set->hash[i];
}

/* Never said of what is similar enough; and of what is far from it, nearly always. */
START_TEST(test_no_is_certain)
{
	struct sd_prefixes *prefixes = sd_prefixes_new(1 << 16);
	uint64_t one[MOST], two[MOST];
	size_t n_far = 0, n_excluded = 0, n_near = 0;
	sxt_rng rng;

	sxt_rng_init(&rng, 3);
	for (unsigned round = 0; round < 20000; round++) {
		struct sd_shingles a = { one, 0, MOST }, b = { two, 0, MOST };
		size_t n = 1 + sxt_rng_below(&rng, round % 2 ? MOST : 20);
		unsigned bits = round % 4 == 3 ? 4 + (unsigned)sxt_rng_below(&rng, 12) : 0;
		unsigned change = (unsigned)sxt_rng_below(&rng, 40);
		double similarity = (1 + (double)sxt_rng_below(&rng, 100)) / 100, is;
		int no;

		for (size_t i = 0; i < n; i++) {
			one[i] = any_hash(&rng, bits);
			two[i] = sxt_rng_below(&rng, 100) < change ? any_hash(&rng, bits) : one[i];
		}
		set_of(&a, n);
		set_of(&b, sxt_rng_below(&rng, 4) ? n : 1 + sxt_rng_below(&rng, n));
		sd_prefixes_put(prefixes, round, &b);
		is = sd_shingles_jaccard(&a, &b);
		no = sd_prefixes_exclude(prefixes, round, &a, similarity);
		sxt_must(!no || is < similarity);
		n_near += is >= similarity;
		if (bits || is > similarity - .25)
			continue;
		n_far++;
		n_excluded += (size_t)no;
	}
	ck_assert_uint_gt(n_near, 1000);
	ck_assert_uint_gt(n_far, 1000);
	ck_assert_uint_gt(n_excluded, n_far - n_far / 20);
	sd_prefixes_free(prefixes);
}
END_TEST

/* Exactly as similar as asked for is similar enough, for all small sets. */
START_TEST(test_the_limit)
{
	struct sd_prefixes *prefixes = sd_prefixes_new(0);
	uint64_t one[40], two[40];

	for (size_t n = 1; n <= 40; n++)
		for (size_t m = 1; m <= 40; m++)
			for (size_t both = 0; both <= n && both <= m; both++) {
				struct sd_shingles a = { one, n, 40 }, b = { two, m, 40 };
				double is;

				for (size_t i = 0; i < n; i++)
					one[i] = (uint64_t)(i + 1) << 40;
				for (size_t i = 0; i < m; i++)
					two[i] = (uint64_t)(n - both + i + 1) << 40;
				sd_prefixes_put(prefixes, 9, &b);
				is = sd_shingles_jaccard(&a, &b);
				sxt_must(is == (double)both / (double)(n + m - both));
				if (both)
					sxt_must(!sd_prefixes_exclude(prefixes, 9, &a, is));
				sxt_must(sd_prefixes_exclude(prefixes, 9, &a, is + 1e-9));
			}
	sd_prefixes_free(prefixes);
}
END_TEST

/* Nothing is said of texts that are not there, or whose place another one has taken. */
START_TEST(test_what_is_not_there)
{
	struct sd_prefixes *prefixes = sd_prefixes_new(0);
	uint64_t one[] = { 1 }, two[] = { UINT64_MAX };
	const struct sd_shingles a = { one, 1, 1 }, b = { two, 1, 1 }, none = { NULL, 0, 0 };

	ck_assert_int_eq(sd_prefixes_exclude(prefixes, 0, &a, .8), 0);
	sd_prefixes_put(prefixes, 5, &none);
	ck_assert_int_eq(sd_prefixes_exclude(prefixes, 5, &a, .8), 0);
	sd_prefixes_put(prefixes, 5, &b);
	ck_assert_int_eq(sd_prefixes_exclude(prefixes, 5, &a, .8), 1);
	ck_assert_int_eq(sd_prefixes_exclude(prefixes, 5, &none, .8), 0);
	ck_assert_int_eq(sd_prefixes_exclude(prefixes, 6, &a, .8), 0);
	sd_prefixes_put(prefixes, 6, &b);
	ck_assert_int_eq(sd_prefixes_exclude(prefixes, 5, &a, .8), 0);
	ck_assert_int_eq(sd_prefixes_exclude(prefixes, 6, &a, .8), 1);
	sd_prefixes_free(prefixes);
	sd_prefixes_free(NULL);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_no_is_certain, 0, 1 },
	{ &test_the_limit, 0, 1 },
	{ &test_what_is_not_there, 0, 1 },
};

SXT_SUITE(sd_prefixes, NULL, NULL);
