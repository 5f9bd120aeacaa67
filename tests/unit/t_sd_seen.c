/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What is told to be new: nothing that was added, hardly anything that has as much in common with
 * it as near texts have, and nearly all that has nothing in common. All numbers are those of fixed
 * seeds.
 */

#include <math.h>
#include <string.h>

#include "dedup/sd_seen.h"
#include "support/sxt.h"

#define MOST SIMIDX_SKETCH_MOST_LEAST

static sxt_rng rng;
static struct sd_seen *seen;

static void start(void)
{
	rng.state = 38;
	seen = NULL;
}

static void end(void)
{
	sd_seen_close(seen);
}

static void open_seen(double similarity)
{
	seen = sd_seen_open(similarity, UINT64_MAX);
	sxt_must(seen != NULL);
}

/* The least of some hundred random hashes: their first bits are 0. Any order is right. */
static simidx_sketch random_sketch(size_t n)
{
	simidx_sketch sketch = SIMIDX_SKETCH_INIT;

	sketch.flags = SIMIDX_SKETCH_LEAST;
	sketch.n_least = n;
	for (size_t i = 0; i < n; i++)
		sketch.least[i] = sxt_rng_u64(&rng) >> 5;
	return sketch;
}

static void add(const simidx_sketch *sketch)
{
	ck_assert_sx(sd_seen_add(seen, sketch, &sxt_err), SIMIDX_OK);
}

static int is_new(const simidx_sketch *sketch)
{
	uint64_t own;

	return sd_seen_is_new(seen, sketch, &own);
}

START_TEST(test_what_was_added_is_not_new)
{
	enum { N = 400000 }; /* so that there are two filters */
	static simidx_sketch all[1000];
	simidx_sketch other;
	size_t n_new = 0;

	open_seen(.8);
	for (size_t i = 0; i < N; i++) {
		other = random_sketch(i % 3 ? MOST : i % MOST);
		if (i < 1000)
			all[i] = other;
		add(&other);
		sxt_must(!is_new(&other));
		if (i % 100 == 0)
			sxt_must(!is_new(&all[i % 1000]));
	}
	for (size_t i = 0; i < 1000; i++)
		sxt_must(!is_new(&all[i]));
	for (size_t i = 0; i < 1000; i++) {
		other = random_sketch(MOST);
		n_new += (size_t)is_new(&other);
	}
	ck_assert_uint_ge(n_new, 999);
}
END_TEST

/* With too little memory all is taken for seen in the end, and nothing for new that is not. */
START_TEST(test_memory_that_is_not_enough)
{
	static const uint64_t most[] = { SD_SEEN_LEAST, 3 * SD_SEEN_LEAST + 1, (1 << 20) + 1000 };
	size_t n_new[2] = { 0, 0 };
	simidx_sketch other;

	seen = sd_seen_open(.8, most[_i]);
	sxt_must(seen != NULL);
	for (size_t i = 0; i < 300000; i++) {
		other = random_sketch(MOST);
		n_new[i >= 200000] += (size_t)is_new(&other);
		add(&other);
		sxt_must(!is_new(&other));
	}
	ck_assert_uint_ge(n_new[0], 1);
	ck_assert_uint_eq(n_new[1], 0);
}
END_TEST

/* The chance that of n hashes, each of which is there with chance `share`, fewer than k are. */
static double chance(unsigned n, unsigned k, double share)
{
	double sum = 0;

	for (unsigned i = 0; i < k; i++)
		sum += exp(lgamma(n + 1.) - lgamma(i + 1.) - lgamma(n - i + 1.) + i * log(share) +
			   (n - i) * log(1 - share));
	return sum;
}

/* How many hashes of a text with n of them must be seen, the last or the first ones, so that it is
   not new. */
static unsigned least_seen(unsigned n, int are_last)
{
	simidx_sketch earlier = random_sketch(MOST), text;

	add(&earlier);
	for (unsigned k = 0;; k++) {
		text = random_sketch(n);
		memcpy(text.least + (are_last ? n - k : 0), earlier.least,
		       k * sizeof(*text.least));
		if (!is_new(&text))
			return k;
		sxt_must(k < n);
	}
}

static const double similarities[] = { .01, .3, .5, .7, .8, .9 };

START_TEST(test_how_many_of_a_sample_must_be_seen)
{
	double share = similarities[_i];
	unsigned k;

	open_seen(share);
	k = least_seen(MOST, 0);
	ck_assert(k == 0 || chance(SD_SEEN_ASKED, k, share) <= SD_SEEN_CHANCE);
	ck_assert(k == SD_SEEN_ASKED || chance(SD_SEEN_ASKED, k + 1, share) > SD_SEEN_CHANCE);
}
END_TEST

/* The fewest of n shingles that are seen of a text that is near to one with any number of them, by
   trying all. Where that one has more than are added, those that are not may be shared ones. */
static unsigned fewest_seen(unsigned n, double similarity)
{
	unsigned fewest = n;

	for (unsigned other = 1; other <= n / similarity + 1; other++)
		for (unsigned shared = 0; shared <= n && shared <= other; shared++) {
			unsigned lost = other > MOST ? other - MOST : 0;
			unsigned kept = shared > lost ? shared - lost : 0;

			if (shared / (double)(n + other - shared) >= similarity && kept < fewest)
				fewest = kept;
		}
	return fewest;
}

/* Of a text all of whose shingles are known: what is near is never new, and little else is not. */
START_TEST(test_how_many_of_all_must_be_seen)
{
	double similarity = _i < 6 ? similarities[_i] : 1;

	open_seen(similarity);
	for (unsigned n = 0; n < MOST; n++) {
		unsigned fewest = fewest_seen(n, similarity);

		for (int are_last = 0; are_last < 2; are_last++) {
			unsigned k = least_seen(n, are_last);

			ck_assert_uint_le(k, fewest);
			ck_assert_uint_ge(k + 1, fewest);
		}
	}
}
END_TEST

START_TEST(test_equal_texts_need_no_more_than_similar_ones)
{
	unsigned k;

	open_seen(.9);
	k = least_seen(MOST, 0);
	sd_seen_close(seen);
	open_seen(1);
	ck_assert_uint_eq(least_seen(MOST, 0), k);
}
END_TEST

/* Of more hashes only the first ones are looked up. */
START_TEST(test_the_last_ones_are_not_asked)
{
	simidx_sketch earlier = random_sketch(MOST), text = random_sketch(MOST);

	open_seen(.8);
	add(&earlier);
	for (size_t i = SD_SEEN_ASKED; i < MOST; i++)
		text.least[i] = earlier.least[i];
	ck_assert_int_eq(is_new(&text), 1);
}
END_TEST

START_TEST(test_without_hashes_nothing_is_new)
{
	simidx_sketch text = random_sketch(MOST);

	open_seen(.8);
	ck_assert_int_eq(is_new(&text), 1);
	text.flags = 0;
	ck_assert_int_eq(is_new(&text), 0);
	text = random_sketch(0);
	ck_assert_int_eq(is_new(&text), 0);
}
END_TEST

/* A text is near to one text: what it has from others counts only if it is in the same filter. */
START_TEST(test_filters_count_by_themselves)
{
	simidx_sketch text = random_sketch(MOST), part[2];

	open_seen(.8);
	for (unsigned i = 0; i < 2; i++) {
		part[i] = random_sketch(MOST);
		memcpy(part[i].least, text.least + i * (SD_SEEN_ASKED / 2),
		       SD_SEEN_ASKED / 2 * sizeof(*text.least));
	}
	add(&part[0]);
	ck_assert_int_eq(is_new(&text), 1);
	if (_i)
		for (size_t i = 0; i < 150000; i++) {
			simidx_sketch other = random_sketch(MOST);

			add(&other);
		}
	add(&part[1]);
	ck_assert_int_eq(is_new(&text), _i);
	add(&text);
	ck_assert_int_eq(is_new(&text), 0);
}
END_TEST

/* Of a text that has its first n hashes from an earlier one, whether that makes it new or not. */
START_TEST(test_first_hash_that_was_not_seen)
{
	simidx_sketch earlier = random_sketch(MOST), text;
	uint64_t own = 1;

	open_seen(.8);
	add(&earlier);
	for (size_t n = 0; n <= MOST; n++) {
		text = random_sketch(MOST);
		memcpy(text.least, earlier.least, n * sizeof(*text.least));
		sd_seen_is_new(seen, &text, &own);
		ck_assert_uint_eq(own, n < SD_SEEN_ASKED ? text.least[n] : 0);
	}
	text = random_sketch(0);
	sd_seen_is_new(seen, &text, &own);
	ck_assert_uint_eq(own, 0);
	text.flags = 0;
	own = 1;
	sd_seen_is_new(seen, &text, &own);
	ck_assert_uint_eq(own, 0);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_what_was_added_is_not_new, 0, 1 },
	{ &test_memory_that_is_not_enough, 0, 3 },
	{ &test_how_many_of_a_sample_must_be_seen, 0, 6 },
	{ &test_how_many_of_all_must_be_seen, 0, 7 },
	{ &test_equal_texts_need_no_more_than_similar_ones, 0, 1 },
	{ &test_the_last_ones_are_not_asked, 0, 1 },
	{ &test_without_hashes_nothing_is_new, 0, 1 },
	{ &test_filters_count_by_themselves, 0, 2 },
	{ &test_first_hash_that_was_not_seen, 0, 1 },
};

SXT_SUITE(seen, start, end);
