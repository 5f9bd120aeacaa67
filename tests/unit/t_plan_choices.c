/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include <stdint.h>
#include <string.h>

#include "plan/sx_cover_table.h"
#include "plan/sx_planner.h"
#include "support/sxt.h"
#include "support/sxt_cover.h"
#include "support/sxt_plan.h"
#include "util/sx_bytes.h"

/* Two tables of 32 bits at one error each, of which those in m bits are flipped. */
static double merged_ns(unsigned m, double rows)
{
	double candidates = rows / (double)(UINT64_C(1) << m) + m * rows / 4294967296.;

	return 2 * ((m + 1) * 80 + candidates * 0.4);
}

/* Merging two wide prefixes: no other number of flipped bits would be cheaper. */
START_TEST(test_no_other_merging_is_cheaper)
{
	sx_request request = { .radius = 3, .rows = 100000000 };
	sx_cover s;
	sx_plan plan;
	unsigned m;

	ck_assert_sx(sx_plan_make(&plan, "2x32", 64, &sxt_err), SIMIDX_OK);
	sx_planner_choose(&plan, &request, &costs, &s);
	ck_assert_uint_eq(s.n, 2);
	ck_assert_uint_lt(s.probed[0].flipped, 32);
	ck_assert_uint_eq(s.probed[0].flipped, s.probed[1].flipped);
	ck_assert_uint_eq(s.probes, 2 * (s.probed[0].flipped + 1u));
	/* Two tables are 60 ns each. */
	ck_assert_double_eq_tol(s.ns, 120 + merged_ns(s.probed[0].flipped, 1e8), 1);
	for (m = 1; m < 32; m++)
		ck_assert_double_ge(120 + merged_ns(m, 1e8), s.ns - 1);
}
END_TEST

/* Two errors in each of two wide prefixes: as many of their bits as is cheapest. */
START_TEST(test_no_other_prefix_is_cheaper)
{
	sx_request request = { .radius = 5, .rows = 10000000 };
	double least = 1e300, ns;
	sx_cover s;
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
	sx_planner_choose(&plan, &request, &costs, &s);
	ck_assert_uint_eq(s.n, 2);
	ck_assert_uint_eq(s.probed[0].bits, best);
	ck_assert_uint_eq(s.probed[1].bits, best);
	ck_assert_double_eq_tol(s.ns, 2 * (60 + least), 1);
}
END_TEST

/* Ignored bits at the low end of a prefix: one range instead of 16. */
START_TEST(test_ignored_end)
{
	sx_request request = { .radius = 3, .ignore = UINT64_C(15) << 48, .rows = 10000000 };
	sx_cover s;
	sx_plan plan;

	ck_assert_sx(sx_plan_make(&plan, "4x16", 64, &sxt_err), SIMIDX_OK);
	sx_planner_choose(&plan, &request, &costs, &s);
	ck_assert_uint_eq(s.probes, 4);
	ck_assert_uint_eq(s.probed[0].bits, 12);
	ck_assert_uint_eq(s.probed[1].bits, 16);
}
END_TEST

/* What the probes of one table take for this query, in its first `bits` bits, none merged. */
static double table_ns(const sx_plan *plan, const sx_request *request, unsigned table,
		       unsigned bits, unsigned errors)
{
	sx_probed part = sx_probed_make(plan, 0, table, errors, bits, bits);
	sx_probes probes = { 0 };
	double rows = 0, ns;
	sx_cover one;
	size_t i;

	sx_cover_init(&one, errors, 0);
	sx_cover_add(plan, &one, &part);
	sxt_must(!sx_cover_probes(plan, &one, request->fp, 64, &probes));
	for (i = 0; i < probes.n; i++)
		rows += (double)request->size(request->ctx, table, probes.at[i].low,
					      probes.at[i].high);
	ns = 60 + (double)probes.n * 80 + rows * 0.4;
	sx_probes_free(&probes);
	return ns;
}

/* The cheapest thresholds below 3 of the tables with disjoint first leads, of all that do. */
static double cheapest_first_leads(const sx_plan *plan, const sx_request *request)
{
	double ns[SX_MAX_TABLES][4] = { { 0 } }, least = 1e300;
	unsigned n = 0, n_ways = 1, t, i, e;
	uint64_t seen = 0;

	for (t = 0; t < plan->n_tables; t++) {
		const sx_perm *perm = &plan->table[t];

		if (perm->lead[0] & seen)
			continue;
		seen |= perm->lead[0];
		for (e = 1; e < 4; e++)
			ns[n][e] = table_ns(plan, request, t, perm->lead_bits[0], e - 1);
		n++;
		n_ways *= 4;
	}
	for (i = 0; i < n_ways; i++) {
		unsigned left = i, stopped = 0;
		double sum = 0;

		for (t = 0; t < n; t++, left /= 4) {
			stopped += left % 4;
			sum += ns[t][left % 4];
		}
		if (stopped > request->radius && sum < least)
			least = sum;
	}
	return least;
}

/* What a row of the table of covers takes. */
static double row_ns(const sx_plan *plan, const sx_request *request, const sx_cover_row *row)
{
	double sum = 0;

	for (unsigned t = 0; t < plan->n_tables; t++)
		if (row->thresholds[t] != '-')
			sum += table_ns(plan, request, t, plan->table[t].prefix_bits,
					(unsigned)(row->thresholds[t] - '0'));
	return sum;
}

/*
 * Among buckets of all sizes, one of them crowded, nothing that was to be compared is cheaper:
 * covers of the table, first leads, a scan.
 */
START_TEST(test_cheapest_of_all_covers)
{
	sx_plan plan;
	unsigned radius = 1 + (unsigned)_i / SXT_N_PLANS % 4;
	crowd c = { &plan, (unsigned)_i % 2, 0, 5000000, (uint64_t)_i, 1e8 };
	sx_request request = { radius, 0, 100000000, crowd_size, &c,
			       UINT64_C(0x123456789abcdef0) };
	sx_cover s;

	ck_assert_sx(sx_plan_make(&plan, sxt_plans[_i % SXT_N_PLANS], 64, &sxt_err), SIMIDX_OK);
	c.hot = sx_permute(&plan.table[c.hot_table], request.fp);
	sx_planner_choose(&plan, &request, &costs, &s);
	ck_assert_double_le(s.ns, cheapest_first_leads(&plan, &request) + 1);
	ck_assert_double_le(s.ns, 1e8 * 0.2 + 1);
	for (const sx_cover_row *row = sx_cover_table; row->plan; row++)
		if (row->radius == radius && !strcmp(row->plan, plan.name))
			ck_assert_double_le(s.ns, row_ns(&plan, &request, row) + 1);
}
END_TEST

/* A crowded bucket is stepped round. */
START_TEST(test_cover_avoids_hot_bucket)
{
	sx_plan plan;
	uint64_t fp = UINT64_C(0x123456789abcdef0);
	crowd c = { &plan, 2, 0, 5000000, 7, 1e7 };
	sx_request request = { 3, 0, 10000000, NULL, &c, fp };
	sx_probes probes = { 0 };
	sx_cover even, s;
	uint64_t rows = 0;
	size_t i;

	ck_assert_sx(sx_plan_make(&plan, "4x16", 64, &sxt_err), SIMIDX_OK);
	c.hot = sx_permute(&plan.table[2], fp);
	sx_planner_choose(&plan, &request, &costs, &even);
	ck_assert_uint_eq(even.n, 4);
	ck_assert_uint_eq(even.probes, 4);
	request.size = crowd_size;
	ck_assert_int_eq(sx_cover_probes(&plan, &even, fp, 64, &probes), 0);
	for (i = 0; i < probes.n; i++)
		rows += crowd_size(&c, probes.at[i].table, probes.at[i].low,
				   probes.at[i].high);
	ck_assert_int_eq(sx_cover_needs_replan(&even, rows), 1);
	ck_assert_int_eq(sx_cover_needs_replan(&even, rows - 5000000), 0);
	sx_planner_choose(&plan, &request, &costs, &s);
	ck_assert_int_eq(sxt_cover_is_exact(&s), 1);
	for (i = 0; i < s.n; i++)
		ck_assert_uint_ne(s.probed[i].table, 2);
	ck_assert_uint_lt(s.candidates, 50000);
	sx_probes_free(&probes);
}
END_TEST

/* What else there is costs as much or more, is exact, and is different. */
static void check_others(const sx_cover *chosen, const sx_cover *others, unsigned n)
{
	unsigned scans = chosen->scan != 0;

	ck_assert_uint_le(n, SX_MAX_OTHERS);
	for (unsigned i = 0; i < n; i++) {
		const sx_cover *s = &others[i];

		ck_assert_double_ge(s->ns, chosen->ns);
		ck_assert_int_eq(sxt_cover_is_exact(s), 1);
		ck_assert_int_ne(memcmp(s, chosen, sizeof(*s)), 0);
		scans += s->scan != 0;
	}
	ck_assert_uint_eq(scans, 1);
}

START_TEST(test_other_covers_are_exact)
{
	sx_request request = { .radius = 5, .rows = 100000000 };
	sx_cover s, others[SX_MAX_OTHERS];
	sx_plan plan;
	unsigned n;

	make(&plan, _i);
	sx_planner_choose(&plan, &request, &costs, &s);
	n = sx_planner_others(&plan, &request, &costs, &s, others);
	ck_assert_uint_ge(n, 1);
	check_others(&s, others, n);
	/* Few rows: reading them all is cheapest. */
	request.rows = 50;
	sx_planner_choose(&plan, &request, &costs, &s);
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
	unsigned n = sxt_is_long() ? 200 : 20;
	sx_plan plan;
	sxt_rng rng;

	sxt_rng_init(&rng, (uint64_t)_i);
	make(&plan, _i);
	for (unsigned i = 0; i < n; i++) {
		sx_request request = { .radius = (unsigned)sxt_rng_below(&rng, 13),
				       .rows = UINT64_C(1) << sxt_rng_below(&rng, 32) };
		sx_costs any = { (double)sxt_rng_below(&rng, 500),
				 (double)(10 + sxt_rng_below(&rng, 300)),
				 0.1 + (double)sxt_rng_below(&rng, 100) / 50,
				 0.1 + (double)sxt_rng_below(&rng, 100) / 100,
				 (double)sxt_rng_below(&rng, 300), 0 };
		sx_cover s, others[SX_MAX_OTHERS];
		unsigned n_others;

		if (i % 3 == 2)
			request.ignore = sxt_rng_u64(&rng) & sxt_rng_u64(&rng) &
					 sxt_rng_u64(&rng) & sx_low_bits(plan.bits);
		sx_planner_choose(&plan, &request, &any, &s);
		n_others = sx_planner_others(&plan, &request, &any, &s, others);
		check_others(&s, others, n_others);
		/* There is always the scan. */
		sxt_must(n_others || s.scan);
		ck_assert_double_eq_tol(
			s.ns,
			any.query + (s.scan ? (double)s.candidates * any.scanned
					    : s.n * any.table + (double)s.probes * any.probe +
						      (double)s.candidates * any.candidate),
			any.candidate + 1e-9 * s.ns); /* rows are rounded up */
	}
}
END_TEST

static const sxt_test tests[] = {
	{ &test_no_other_merging_is_cheaper, 0, 1 },
	{ &test_no_other_prefix_is_cheaper, 0, 1 },
	{ &test_ignored_end, 0, 1 },
	{ &test_cheapest_of_all_covers, 0, 4 * SXT_N_PLANS },
	{ &test_cover_avoids_hot_bucket, 0, 1 },
	{ &test_other_covers_are_exact, 0, SXT_N_PLANS * N_WIDTHS },
	{ &test_nothing_cheaper, 0, SXT_N_PLANS * N_WIDTHS },
};

SXT_SUITE(plan_choices, NULL, NULL);
