/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "plan/sx_planner.h"
#include "plan/sx_stencil.h"
#include "support/sxt.h"
#include "t_fast.h"
#include "t_plan.h"
#include "util/sx_bytes.h"

Suite *suite_plan_probes(void);

static unsigned ones(uint64_t x)
{
	unsigned n = 0;

	for (; x; x &= x - 1)
		n++;
	return n;
}

/* ------------------------------------------------------------------------------------------
 * Counts
 */

/*
 * Single blocks: sum (threshold + 1) = k + 1, and a threshold t takes sum C(16, 0..t) probes;
 * 3x22 makes its errors in the block of 24 bits first. Pairs of five blocks: k = 2 needs a pair
 * in every three blocks, T(5, 3, 2) = 4; triples of six, a triple in every four, T(6, 4, 3) = 6.
 */
START_TEST(test_counts)
{
	static const struct {
		const char *name;
		unsigned n;
		unsigned probes[8];
	} want[] = {
		{ "4x16", 8, { 1, 2, 3, 4, 20, 36, 52, 68 } },
		{ "10x26", 5, { 1, 2, 4, 10, 80 } },
		{ "16x28", 4, { 1, 2, 6, 16 } },
		{ "20x31", 4, { 1, 2, 6, 20 } },
		{ "3x22", 5, { 1, 2, 3, 27, 47 } },
		{ "2x32", 4, { 1, 2, 34, 66 } },
	};
	/* So many rows that first leads are out of the question. */
	sx_sizes sizes = { 100000000, NULL, NULL, 0 };
	sx_strategy strategy;
	sx_probes probes = { 0 };
	sx_plan plan;
	unsigned i, k;

	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		ck_assert_sx(sx_plan_make(&plan, want[i].name, 64, &sxt_err), SIMIDX_OK);
		for (k = 0; k < want[i].n; k++) {
			sx_request request = { k, 0, 1 };

			sx_choose_strategy(&plan, &request, &costs, &sizes, &strategy);
			ck_assert_int_eq(strategy.scan, 0);
			ck_assert_int_eq(sx_strategy_is_exact(&plan, &strategy), 1);
			ck_assert_msg(strategy.probes == want[i].probes[k],
				      "%s, k = %u: %u probes", want[i].name, k,
				      (unsigned)strategy.probes);
			probes.n = 0;
			ck_assert_int_eq(sx_strategy_probes(&plan, &strategy, 5, 64, &probes), 0);
			ck_assert_uint_eq(probes.n, strategy.probes);
		}
	}
	sx_probes_free(&probes);
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * The condition, against all distributions of errors over the bits
 */

/* Bits that the same tables see, found anew. */
typedef struct groups {
	unsigned n;
	unsigned size[64];
	uint32_t seen_by[64];
} groups;

static void find_groups(const sx_plan *plan, const sx_strategy *s, groups *g)
{
	uint32_t seen_by;
	unsigned bit, t, i;

	memset(g, 0, sizeof(*g));
	for (bit = 0; bit < plan->bits; bit++) {
		if (s->ignore >> bit & 1)
			continue;
		seen_by = 0;
		for (t = 0; t < plan->n_tables; t++) {
			uint64_t value = sx_permute(&plan->table[t], UINT64_C(1) << bit);

			if (s->errors[t] >= 0 && value >> (plan->bits - s->bits[t]))
				seen_by |= UINT32_C(1) << t;
		}
		for (i = 0; i < g->n && g->seen_by[i] != seen_by; i++)
			;
		g->n += i == g->n;
		g->seen_by[i] = seen_by;
		g->size[i]++;
	}
}

static double ways(unsigned k, unsigned n)
{
	double w = 1;
	unsigned i;

	for (i = 1; i <= k; i++)
		w *= (double)(n - 1 + i) / i;
	return w;
}

/* Whether no distribution of exactly so many further errors is missed by all. */
static int all_caught(const groups *g, const sx_strategy *s, unsigned first, unsigned left,
		      int *seen)
{
	unsigned i, t, e;
	int ok = 1;

	if (!left || first == g->n) {
		for (t = 0; t < SX_MAX_TABLES; t++) {
			if (s->errors[t] >= 0 && seen[t] <= s->errors[t])
				return 1;
		}
		return 0;
	}
	for (e = 0; ok && e <= left && e <= g->size[first]; e++) {
		ok = all_caught(g, s, first + 1, left - e, seen);
		for (t = 0; t < SX_MAX_TABLES; t++)
			seen[t] += (int)(g->seen_by[first] >> t & 1);
	}
	for (i = 0; i < e; i++) {
		for (t = 0; t < SX_MAX_TABLES; t++)
			seen[t] -= (int)(g->seen_by[first] >> t & 1);
	}
	return ok;
}

/* 1, 0, or -1 where there are too many distributions to look at. */
static int is_exact(const sx_plan *plan, const sx_strategy *s)
{
	int seen[SX_MAX_TABLES] = { 0 };
	groups g;

	if (s->scan)
		return 1;
	find_groups(plan, s, &g);
	if (ways(s->radius, g.n) > (sxt_is_long() ? 3e6 : 3e4))
		return -1;
	return all_caught(&g, s, 0, s->radius, seen);
}

/* ------------------------------------------------------------------------------------------
 * The probes, against all or many fingerprints
 */

static int is_probed(const sx_plan *plan, const sx_probes *probes, unsigned table, uint64_t x)
{
	uint64_t value = sx_permute(&plan->table[table], x);
	int found = 0;
	size_t i;

	for (i = 0; i < probes->n; i++)
		found += probes->at[i].table == table && probes->at[i].low <= value &&
			 value <= probes->at[i].high;
	t_must(found <= 1);
	return found;
}

/* From how many tables x would be reported. */
static unsigned count_reports(const sx_plan *plan, const sx_strategy *s, const sx_probes *probes,
			      uint64_t q, uint64_t x)
{
	unsigned i, n = 0;

	for (i = 0; i < s->n; i++)
		n += sx_strategy_is_first(s, s->order[i], x ^ q) &&
		     is_probed(plan, probes, s->order[i], x);
	return n;
}

static void check_reports(const sx_plan *plan, const sx_strategy *s, sxt_rng *rng)
{
	uint64_t q = sxt_rng_u64(rng) & sx_low_bits(plan->bits), x, where;
	sx_probes probes = { 0 };
	unsigned i, e;

	t_must(!sx_strategy_probes(plan, s, q, 64, &probes));
	t_must_eq(probes.n, s->probes);
	for (i = 0; i < 200; i++) {
		/* Errors all over, or crowded together in some of the bits. */
		where = sxt_rng_u64(rng) & sx_low_bits(plan->bits);
		where = i % 3 ? where : UINT64_MAX;
		x = q ^ (s->ignore & sxt_rng_u64(rng));
		for (e = 0; e < 3 * s->radius; e++) {
			uint64_t bit = UINT64_C(1) << sxt_rng_below(rng, plan->bits);

			if ((where & bit) && ones((x ^ q ^ bit) & ~s->ignore) <= s->radius)
				x ^= bit;
		}
		t_must_eq(count_reports(plan, s, &probes, q, x), 1);
		x = sxt_rng_u64(rng) & sx_low_bits(plan->bits);
		t_must(count_reports(plan, s, &probes, q, x) <= 1);
	}
	sx_probes_free(&probes);
}

/*
 * What a probe says of the bits outside the probed ones, against all fingerprints of its range: as
 * many of them as that differ in some match, and with another bound at least as many.
 */
static void check_rest(const sx_plan *plan, const sx_strategy *s, uint64_t q,
		       const sx_probe *probe, unsigned max_bits)
{
	uint64_t inside = ~(probe->low ^ probe->high), value;
	int most = -1;

	for (value = probe->low; value <= probe->high; value++) {
		uint64_t differ = sx_permute(&plan->table[probe->table], q) ^ value;
		uint64_t counted = sx_unpermute(&plan->table[probe->table], differ) & ~s->ignore;

		if (ones(counted) <= s->radius && ones(differ) <= max_bits &&
		    (int)ones(differ & ~inside) > most)
			most = (int)ones(differ & ~inside);
	}
	if (max_bits == 64)
		t_must_eq(probe->rest, most);
	else
		t_must(probe->rest >= most);
}

static void check_all_rests(const sx_plan *plan, const sx_strategy *s, uint64_t q)
{
	static const unsigned max_bits[] = { 64, 7, 3, 0 };
	sx_probes probes = { 0 };

	for (unsigned i = 0; i < 4; i++) {
		probes.n = 0;
		t_must(!sx_strategy_probes(plan, s, q, max_bits[i], &probes));
		for (size_t p = 0; p < probes.n; p++)
			check_rest(plan, s, q, &probes.at[p], max_bits[i]);
	}
	sx_probes_free(&probes);
}

/* All 65,536 fingerprints of 16 bits. */
static void check_all_reports(const sx_plan *plan, const sx_strategy *s, uint64_t q)
{
	static uint8_t probed[SX_MAX_TABLES][65536];
	sx_probes probes = { 0 };
	uint64_t x, value;
	unsigned t, n;
	size_t i;

	check_all_rests(plan, s, q);
	memset(probed, 0, sizeof(probed));
	t_must(!sx_strategy_probes(plan, s, q, 64, &probes));
	for (i = 0; i < probes.n; i++) {
		for (value = probes.at[i].low; value <= probes.at[i].high; value++)
			t_must(!probed[probes.at[i].table][value]++);
	}
	for (x = 0; x < 65536; x++) {
		n = 0;
		for (t = 0; t < plan->n_tables; t++)
			n += probed[t][sx_permute(&plan->table[t], x)] &&
			     sx_strategy_is_first(s, t, x ^ q);
		t_must(n <= 1);
		t_must(n == 1 || ones((x ^ q) & ~s->ignore) > s->radius);
	}
	sx_probes_free(&probes);
}

static void check_same_probe(const sx_probe *a, const sx_probe *b)
{
	t_must_eq(a->table, b->table);
	t_must_eq(a->low, b->low);
	t_must_eq(a->high, b->high);
	t_must_eq(a->rest, b->rest);
}

/* What a stencil makes of one fingerprint after the other is what is made for each alone. */
static void check_stencil(const sx_plan *plan, const sx_strategy *s, sxt_rng *rng)
{
	sx_stencil stencil = { .strategy = *s };
	uint64_t permuted[SX_MAX_TABLES];
	sx_probes alone = { 0 }, all = { 0 };
	size_t n = 0;

	for (unsigned i = 0; i < 3; i++) {
		uint64_t fp = sxt_rng_u64(rng) & sx_low_bits(plan->bits);

		unsigned max_bits = i ? 64 : (unsigned)sxt_rng_below(rng, 9);

		alone.n = 0;
		t_must(!sx_strategy_probes(plan, s, fp, max_bits, &alone));
		t_must(!sx_stencil_probes(plan, &stencil, fp, max_bits, permuted, &all));
		t_must_eq(all.n, n + alone.n);
		for (size_t p = 0; p < alone.n; p++, n++) {
			unsigned t = alone.at[p].table;

			check_same_probe(&all.at[n], &alone.at[p]);
			t_must_eq(permuted[t], sx_permute(&plan->table[t], fp));
		}
	}
	sx_stencil_free(&stencil);
	sx_probes_free(&alone);
	sx_probes_free(&all);
}

static void check_strategy(const sx_plan *plan, const sx_strategy *s, sxt_rng *rng)
{
	t_must(s->probes <= SX_MAX_QUERY_PROBES);
	t_must(sx_strategy_is_exact(plan, s) == 1);
	t_must(is_exact(plan, s) != 0);
	if (s->probes < 3000)
		check_reports(plan, s, rng);
	if (s->probes < 30000)
		check_stencil(plan, s, rng);
}

/* Costs under which probes are cheap or dear beside rows. */
static sx_costs any_costs(sxt_rng *rng)
{
	sx_costs c = costs;

	c.query = (double)sxt_rng_below(rng, 300);
	c.probe = 50 + (double)sxt_rng_below(rng, 300);
	c.candidate = (double)sxt_rng_below(rng, 100) / 100;
	c.scanned = 10 + (double)sxt_rng_below(rng, 100);
	c.table = (double)sxt_rng_below(rng, 300);
	return c;
}

START_TEST(test_exact)
{
	sx_strategy strategy;
	sx_plan plan;
	sxt_rng rng;
	unsigned k;

	sxt_rng_init(&rng, (uint64_t)_i);
	make(&plan, _i);
	for (k = 0; k <= 12; k++) {
		sx_request request = { k, 0, (int)sxt_rng_below(&rng, 2) };
		uint64_t fp = sxt_rng_u64(&rng) & sx_low_bits(plan.bits);
		crowd c = { &plan, (unsigned)sxt_rng_below(&rng, plan.n_tables), 0, 5000000,
			    sxt_rng_u64(&rng), 1e7 };
		sx_sizes sizes = { UINT64_C(1) << sxt_rng_below(&rng, plan.bits < 34 ?
								plan.bits : 34),
				   NULL, &c, fp };
		sx_costs any = any_costs(&rng);

		sx_choose_strategy(&plan, &request, &any, &sizes, &strategy);
		check_strategy(&plan, &strategy, &rng);
		c.hot = sx_permute(&plan.table[c.hot_table], fp);
		sizes.size = crowd_size;
		sx_choose_strategy(&plan, &request, &any, &sizes, &strategy);
		check_strategy(&plan, &strategy, &rng);
	}
}
END_TEST

START_TEST(test_masks)
{
	sx_strategy strategy;
	unsigned i, b;
	sx_plan plan;
	sxt_rng rng;

	sxt_rng_init(&rng, (uint64_t)_i);
	make(&plan, _i);
	for (i = 0; i < 40; i++) {
		sx_request request = { (unsigned)sxt_rng_below(&rng, 9), 0, i % 5 == 4 };
		sx_sizes sizes = { 1000000, NULL, NULL, 0 };
		unsigned n = (unsigned)sxt_rng_below(&rng, 17), run = 1 + i % 8;
		unsigned at = 0;

		/* Single bits, or runs of them. */
		for (b = 0; b < n; b++) {
			at = b % run ? at + 1 : (unsigned)sxt_rng_below(&rng, 64);
			request.ignore |= (UINT64_C(1) << at % plan.bits);
		}
		sx_choose_strategy(&plan, &request, &costs, &sizes, &strategy);
		check_strategy(&plan, &strategy, &rng);
	}
}
END_TEST

/* Strategies that nobody would choose: the condition must tell them apart. */
START_TEST(test_condition)
{
	unsigned i, t, n_exact = 0, n_other = 0;
	sx_strategy s;
	sx_plan plan;
	sxt_rng rng;

	sxt_rng_init(&rng, (uint64_t)_i);
	make(&plan, _i);
	for (i = 0; i < 300; i++) {
		unsigned most = 1 + i % 3;
		uint64_t ignore = 0;
		int want;

		if (i % 4 == 3)
			ignore = sxt_rng_u64(&rng) & sxt_rng_u64(&rng) & sxt_rng_u64(&rng);
		sx_strategy_init(&s, (unsigned)sxt_rng_below(&rng, 5), ignore);
		for (t = 0; t < plan.n_tables; t++) {
			unsigned bits = plan.table[t].prefix_bits;

			if (!sxt_rng_below(&rng, 4))
				continue;
			if (i % 2)
				bits = 1 + (unsigned)sxt_rng_below(&rng, bits);
			sx_strategy_add(&plan, &s, t, (unsigned)sxt_rng_below(&rng, most),
					bits, 0);
		}
		want = is_exact(&plan, &s);
		if (want < 0)
			continue;
		t_must(sx_strategy_is_exact(&plan, &s) == want);
		n_exact += want > 0;
		n_other += !want;
	}
	ck_assert_uint_gt(n_exact, 5);
	ck_assert_uint_gt(n_other, 5);
}
END_TEST

/* Every fingerprint of 16 bits, every radius, some masks, with and without merging. */
START_TEST(test_all_of_16)
{
	/* So that scans are a last resort. */
	static const sx_costs dear = { 0, 2, 0.1, 100000, 0 };
	sx_sizes sizes = { 60000, NULL, NULL, 0 };
	sx_strategy s;
	sx_plan plan;
	sxt_rng rng;
	unsigned k;

	sxt_rng_init(&rng, (uint64_t)_i);
	make(&plan, _i * N_WIDTHS);
	ck_assert_uint_eq(plan.bits, 16);
	for (k = 0; k <= 18; k++) {
		sx_request request = { k, 0, k % 3 == 2 };

		sx_choose_strategy(&plan, &request, &dear, &sizes, &s);
		check_all_reports(&plan, &s, sxt_rng_u64(&rng) & 0xffff);
		request.ignore = sxt_rng_u64(&rng) & sxt_rng_u64(&rng) & 0xffff;
		sx_choose_strategy(&plan, &request, &costs, &sizes, &s);
		check_all_reports(&plan, &s, sxt_rng_u64(&rng) & 0xffff);
	}
}
END_TEST

/* Any radius up to all bits, and beyond. */
START_TEST(test_large_radius)
{
	sx_sizes sizes = { 10000000, NULL, NULL, 0 };
	sx_strategy s;
	sx_plan plan;
	unsigned k;

	make(&plan, _i);
	for (k = 13; k < 70; k += 5) {
		sx_request request = { k, 0, 0 };

		sx_choose_strategy(&plan, &request, &costs, &sizes, &s);
		ck_assert_int_eq(sx_strategy_is_exact(&plan, &s), 1);
		if (k >= plan.bits)
			ck_assert_int_eq(s.scan, 1);
	}
}
END_TEST

Suite *suite_plan_probes(void)
{
	Suite *suite = suite_create("plan_probes");
	TCase *tc = tcase_create("strategies");

	tcase_add_test(tc, test_counts);
	tcase_add_loop_test(tc, test_exact, 0, N_PLANS * N_WIDTHS);
	tcase_add_loop_test(tc, test_masks, 0, N_PLANS * N_WIDTHS);
	tcase_add_loop_test(tc, test_condition, 0, N_PLANS * N_WIDTHS);
	tcase_add_loop_test(tc, test_all_of_16, 0, N_PLANS);
	tcase_add_loop_test(tc, test_large_radius, 0, N_PLANS * N_WIDTHS);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(suite, tc);
	return suite;
}
