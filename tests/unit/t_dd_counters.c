/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/* Counters of simidx-dedup for what many rows are left out for, against exact counts. */

#include <stdint.h>
#include <stdlib.h>

#include "dedup/dd_counters.h"
#include "support/sxt.h"

#define N_KEYS 20000

static struct dd_counters *counters;
static uint64_t exact[N_KEYS], n_met;

static void set_up(void)
{
	counters = calloc(1, sizeof(*counters));
	for (size_t i = 0; i < N_KEYS; i++)
		exact[i] = 0;
	n_met = 0;
}

static void tear_down(void)
{
	free(counters);
}

/* Half of the keys are documents of an earlier run, the others of another index. */
static void add(uint64_t key)
{
	const struct dd_name name = { .number = ++n_met, .line = key };

	dd_counters_add(counters, key / 2, (uint32_t)(key % 2), &name);
	exact[key]++;
}

/* No count is too large, none is too small by more than is promised; what is not counted has none.
   Returns how many are counted. */
static size_t check(void)
{
	uint64_t most_lost = n_met / (DD_COUNTERS + 1);
	uint64_t told[N_KEYS] = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < 2 * DD_COUNTERS; i++) {
		const struct dd_counted *slot = &counters->slot[i];
		uint64_t key = 2 * slot->id + slot->other;

		if (!slot->n)
			continue;
		sxt_must(key < N_KEYS && !told[key]);
		sxt_must_eq(slot->first.line, key);
		told[key] = slot->n;
		n++;
	}
	for (size_t i = 0; i < N_KEYS; i++)
		sxt_must(told[i] <= exact[i] && told[i] + most_lost >= exact[i]);
	ck_assert_uint_eq(n, counters->n);
	ck_assert_uint_le(n, DD_COUNTERS);
	return n;
}

START_TEST(test_exact_while_few)
{
	sxt_rng rng;

	sxt_rng_init(&rng, 1);
	for (int i = 0; i < 50000; i++)
		add(sxt_rng_below(&rng, DD_COUNTERS));
	check();
	for (size_t i = 0; i < 2 * DD_COUNTERS; i++)
		if (counters->slot[i].n)
			sxt_must_eq(counters->slot[i].n,
				    exact[2 * counters->slot[i].id + counters->slot[i].other]);
}
END_TEST

/* Many keys, of which some are met often: these are found. */
START_TEST(test_bounds)
{
	sxt_rng rng;

	sxt_rng_init(&rng, 2);
	for (int i = 0; i < 300000; i++)
		add(sxt_rng_below(&rng, 10) < 2 ? sxt_rng_below(&rng, 20) :
						  sxt_rng_below(&rng, N_KEYS));
	ck_assert_uint_gt(check(), 20);
	ck_assert_uint_gt(exact[7], n_met / 200);
}
END_TEST

/* The worst case of the bound: whenever the counters are full, one more key comes. */
START_TEST(test_worst)
{
	uint64_t key = 1;

	for (int round = 0; round < 50; round++) {
		add(0);
		add(0);
		for (int i = 0; i < DD_COUNTERS; i++, key = key + 1 < N_KEYS ? key + 1 : 1)
			add(key);
		check();
	}
	ck_assert_uint_eq(counters->n, 1);
}
END_TEST

/* What comes late is counted, too, when all counters are taken by what was met a few times. */
START_TEST(test_late)
{
	for (uint64_t i = 0; i < 3 * DD_COUNTERS; i++)
		add(i % DD_COUNTERS);
	for (int i = 0; i < 100; i++)
		add(N_KEYS - 1);
	check();
	for (int i = 0; i < 20000; i++)
		add(N_KEYS - 2);
	check();
}
END_TEST

static const sxt_test tests[] = {
	{ &test_exact_while_few, 0, 1 },
	{ &test_bounds, 0, 1 },
	{ &test_worst, 0, 1 },
	{ &test_late, 0, 1 },
};

SXT_SUITE(dd_counters, set_up, tear_down);
