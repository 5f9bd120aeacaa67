/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include <stdint.h>
#include <string.h>

#include "plan/sx_planner.h"
#include "support/sxt.h"
#include "t_fast.h"
#include "t_plan.h"
#include "util/sx_bytes.h"

Suite *suite_plan_choices(void);

/* Two tables of 32 bits at one error each, of which those in m bits are flipped. */
static double merged_ns(unsigned m, double rows)
{
	double candidates = rows / (double)(UINT64_C(1) << m) + m * rows / 4294967296.;

	return 2 * ((m + 1) * 80 + candidates * 0.4);
}

/* Merging two wide prefixes: no other number of flipped bits would be cheaper. */
START_TEST(test_merged)
{
	sx_sizes sizes = { 100000000, NULL, NULL, 0 };
	sx_request request = { 3, 0, 0 };
	sx_strategy s;
	sx_plan plan;
	unsigned m;

	ck_assert_sx(sx_plan_make(&plan, "2x32", 64, &sxt_err), SIMIDX_OK);
	sx_choose_strategy(&plan, &request, &costs, &sizes, &s);
	ck_assert_uint_eq(s.n, 2);
	ck_assert_uint_gt(s.merged[0], 0);
	ck_assert_uint_eq(s.merged[0], s.merged[1]);
	ck_assert_uint_eq(s.probes, 2 * (s.merged[0] + 1u));
	/* Two tables are 60 ns each. */
	ck_assert_double_eq_tol(s.ns, 120 + merged_ns(s.merged[0], 1e8), 1);
	for (m = 1; m < 32; m++)
		ck_assert_double_ge(120 + merged_ns(m, 1e8), s.ns - 1);
}
END_TEST

/* Two errors in each of two wide prefixes: as many of their bits as is cheapest. */
START_TEST(test_shortened)
{
	sx_sizes sizes = { 10000000, NULL, NULL, 0 };
	sx_request request = { 5, 0, 0 };
	double least = 1e300, ns;
	sx_strategy s;
	sx_plan plan;
	unsigned bits, best = 0;

	for (bits = 1; bits <= 32; bits++) {
		ns = (1 + bits + bits * (bits - 1) / 2.) *
		     (80 + 1e7 / (double)(UINT64_C(1) << bits) * 0.4);
		if (ns < least) {
			least = ns;
			best = bits;
		}
	}
	ck_assert_uint_lt(best, 32);
	ck_assert_sx(sx_plan_make(&plan, "2x32", 64, &sxt_err), SIMIDX_OK);
	sx_choose_strategy(&plan, &request, &costs, &sizes, &s);
	ck_assert_uint_eq(s.bits[0], best);
	ck_assert_uint_eq(s.bits[1], best);
	ck_assert_double_eq_tol(s.ns, 2 * (60 + least), 1);
}
END_TEST

/* Ignored bits at the low end of a prefix: one range instead of 16. */
START_TEST(test_ignored_end)
{
	sx_sizes sizes = { 10000000, NULL, NULL, 0 };
	sx_request request = { 3, UINT64_C(15) << 48, 1 };
	sx_strategy s;
	sx_plan plan;

	ck_assert_sx(sx_plan_make(&plan, "4x16", 64, &sxt_err), SIMIDX_OK);
	sx_choose_strategy(&plan, &request, &costs, &sizes, &s);
	ck_assert_uint_eq(s.probes, 4);
	ck_assert_uint_eq(s.bits[0], 12);
	ck_assert_uint_eq(s.bits[1], 16);
}
END_TEST

/* What the probes of one table take for this query. */
static double table_ns(const sx_plan *plan, const sx_sizes *sizes, unsigned table,
		       unsigned errors)
{
	sx_probes probes = { 0 };
	double rows = 0, ns;
	sx_strategy one;
	size_t i;

	sx_strategy_init(&one, errors, 0);
	sx_strategy_add(plan, &one, table, errors, plan->table[table].prefix_bits, 0);
	t_must(!sx_strategy_probes(plan, &one, sizes->fp, 64, &probes));
	for (i = 0; i < probes.n; i++)
		rows += (double)sizes->size(sizes->ctx, table, probes.at[i].low,
					    probes.at[i].high);
	ns = 60 + (double)probes.n * 80 + rows * 0.4;
	sx_probes_free(&probes);
	return ns;
}

/* Whether these thresholds, 1 too high, of the pairs of five blocks stop k errors. */
static int stops_all(const unsigned *threshold, unsigned k)
{
	unsigned in[5] = { 0 }, a, b, t;

	/* All ways to write k as a sum of five numbers. */
	for (;;) {
		unsigned sum = in[0] + in[1] + in[2] + in[3];

		if (sum <= k) {
			int stopped = 0;

			in[4] = k - sum;
			for (a = t = 0; a < 5; a++) {
				for (b = a + 1; b < 5; b++, t++)
					stopped |= in[a] + in[b] < threshold[t];
			}
			if (!stopped)
				return 0;
		}
		for (a = 0; a < 4 && in[a] == k; a++)
			in[a] = 0;
		if (a == 4)
			return 1;
		in[a]++;
	}
}

/* No thresholds up to 1 of all 10 pairs are cheaper than what is chosen. */
START_TEST(test_cheapest_pairs)
{
	sx_plan plan;
	crowd c = { &plan, 0, 0, 5000000, (uint64_t)_i, 1e10 };
	sx_sizes sizes = { 10000000000, crowd_size, &c, UINT64_C(0x123456789abcdef0) };
	sx_request request = { 1 + (unsigned)_i % 4, 0, 1 };
	double ns[10][2], sum, least = 1e300;
	unsigned threshold[10], i, t, left;
	sx_strategy s;

	ck_assert_sx(sx_plan_make(&plan, "10x26", 64, &sxt_err), SIMIDX_OK);
	c.hot = sx_permute(&plan.table[0], sizes.fp);
	for (t = 0; t < 10; t++) {
		ns[t][0] = table_ns(&plan, &sizes, t, 0);
		ns[t][1] = table_ns(&plan, &sizes, t, 1);
	}
	for (i = 0; i < 59049; i++) {
		for (t = 0, left = i, sum = 0; t < 10; t++, left /= 3) {
			threshold[t] = left % 3;
			sum += threshold[t] ? ns[t][threshold[t] - 1] : 0;
		}
		if (sum < least && stops_all(threshold, request.radius))
			least = sum;
	}
	sx_choose_strategy(&plan, &request, &costs, &sizes, &s);
	ck_assert_double_le(s.ns, least + 1);
	ck_assert_int_eq(s.first_leads, 0);
}
END_TEST

/* A crowded bucket is stepped round. */
START_TEST(test_hot_bucket)
{
	sx_plan plan;
	uint64_t fp = UINT64_C(0x123456789abcdef0);
	crowd c = { &plan, 2, 0, 5000000, 7, 1e7 };
	sx_sizes sizes = { 10000000, crowd_size, &c, fp };
	sx_request request = { 3, 0, 0 };
	sx_probes probes = { 0 };
	sx_strategy even, s;
	uint64_t rows = 0;
	size_t i;

	ck_assert_sx(sx_plan_make(&plan, "4x16", 64, &sxt_err), SIMIDX_OK);
	c.hot = sx_permute(&plan.table[2], fp);
	sizes.size = NULL;
	sx_choose_strategy(&plan, &request, &costs, &sizes, &even);
	ck_assert_int_eq(even.errors[2], 0);
	sizes.size = crowd_size;
	ck_assert_int_eq(sx_strategy_probes(&plan, &even, fp, 64, &probes), 0);
	for (i = 0; i < probes.n; i++)
		rows += crowd_size(&c, probes.at[i].table, probes.at[i].low,
				   probes.at[i].high);
	ck_assert_int_eq(sx_strategy_is_poor(&even, rows), 1);
	ck_assert_int_eq(sx_strategy_is_poor(&even, rows - 5000000), 0);
	sx_choose_strategy(&plan, &request, &costs, &sizes, &s);
	ck_assert_int_eq(sx_strategy_is_exact(&plan, &s), 1);
	ck_assert_int_eq(s.errors[2], -1);
	ck_assert_uint_lt(s.candidates, 50000);
	sx_probes_free(&probes);
}
END_TEST

/* What else there is costs as much or more, is exact, and is different. */
static void check_others(const sx_plan *plan, const sx_strategy *chosen, const sx_choice *others)
{
	unsigned scans = chosen->scan != 0;

	ck_assert_uint_le(others->n, SX_MAX_ALTERNATIVES);
	for (unsigned i = 0; i < others->n; i++) {
		const sx_strategy *s = &others->of[i].strategy;

		ck_assert_double_ge(s->ns, chosen->ns);
		ck_assert_int_eq(sx_strategy_is_exact(plan, s), 1);
		ck_assert_int_eq(!strcmp(others->of[i].what, "scan"), s->scan);
		ck_assert_int_ne(memcmp(s, chosen, sizeof(*s)), 0);
		scans += s->scan != 0;
	}
	ck_assert_uint_eq(scans, 1);
}

START_TEST(test_others)
{
	sx_sizes sizes = { 100000000, NULL, NULL, 0 };
	sx_request request = { 5, 0, 0 };
	sx_strategy s;
	sx_choice others;
	sx_plan plan;

	make(&plan, _i);
	sx_choose_strategy(&plan, &request, &costs, &sizes, &s);
	sx_other_strategies(&plan, &request, &costs, &sizes, &s, &others);
	ck_assert_uint_ge(others.n, 1);
	check_others(&plan, &s, &others);
	/* Few rows: reading them all is cheapest. */
	sizes.rows = 50;
	sx_choose_strategy(&plan, &request, &costs, &sizes, &s);
	ck_assert_int_eq(s.scan, 1);
	ck_assert_uint_eq(s.candidates, 50);
}
END_TEST

/*
 * Whatever is asked and whatever things cost: nothing cheaper is left lying, as far as the planner
 * sees, and time is what costs, probes and rows make it.
 */
START_TEST(test_nothing_cheaper)
{
	unsigned n = sxt_is_long() ? 200 : 20, left_out = 0;
	sx_plan plan;
	sxt_rng rng;

	sxt_rng_init(&rng, (uint64_t)_i);
	make(&plan, _i);
	for (unsigned i = 0; i < n; i++) {
		sx_request request = { (unsigned)sxt_rng_below(&rng, 13), 0, 0 };
		sx_sizes sizes = { UINT64_C(1) << sxt_rng_below(&rng, 32), NULL, NULL, 0 };
		sx_costs any = { (double)sxt_rng_below(&rng, 500),
				 (double)(10 + sxt_rng_below(&rng, 300)),
				 0.1 + (double)sxt_rng_below(&rng, 100) / 50,
				 0.1 + (double)sxt_rng_below(&rng, 100) / 100,
				 (double)sxt_rng_below(&rng, 300) };
		sx_strategy s;
		sx_choice others;

		if (i % 3 == 2)
			request.ignore = sxt_rng_u64(&rng) & sxt_rng_u64(&rng) &
					 sxt_rng_u64(&rng) & sx_low_bits(plan.bits);
		sx_choose_strategy(&plan, &request, &any, &sizes, &s);
		sx_other_strategies(&plan, &request, &any, &sizes, &s, &others);
		check_others(&plan, &s, &others);
		left_out += others.n == 0 && !s.scan;
		ck_assert_double_eq_tol(
			s.ns,
			any.query + (s.scan ? (double)s.candidates * any.scanned
					    : s.n * any.table + (double)s.probes * any.probe +
						      (double)s.candidates * any.candidate),
			any.candidate + 1e-9 * s.ns); /* rows are rounded up */
	}
	ck_assert_uint_eq(left_out, 0);
}
END_TEST

Suite *suite_plan_choices(void)
{
	Suite *suite = suite_create("plan_choices");
	TCase *choices = tcase_create("choices");

	tcase_add_test(choices, test_merged);
	tcase_add_test(choices, test_shortened);
	tcase_add_test(choices, test_ignored_end);
	tcase_add_loop_test(choices, test_cheapest_pairs, 0, 8);
	tcase_add_test(choices, test_hot_bucket);
	tcase_add_loop_test(choices, test_others, 0, N_PLANS * N_WIDTHS);
	tcase_add_loop_test(choices, test_nothing_cheaper, 0, N_PLANS * N_WIDTHS);
	suite_add_tcase(suite, choices);
	return suite;
}
