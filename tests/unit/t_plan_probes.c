/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "plan/sx_cover_table.h"
#include "plan/sx_planner.h"
#include "support/sxt.h"
#include "support/sxt_cover.h"
#include "support/sxt_plan.h"
#include "util/sx_bytes.h"

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
 * Single blocks: sum (threshold + 1) = k + 1, and a threshold t takes sum C(16, 0..t) probes.
 * 3x22 makes its errors in the block of 24 bits, whose buckets have a sixteenth of the rows: two
 * there take 2 * 16 + 301 times as many rows as one bucket of it has, one there and one in another
 * block 16 + 21 * 16 + 25.
 * Pairs of five blocks: k = 2 needs a pair in every three blocks, T(5, 3, 2) = 4; k = 4 one error
 * in three of these, of 25, 26 and 26 bits: 26 + 27 + 27 + 1. Triples of six: k = 2 needs a triple
 * in every four, T(6, 4, 3) = 6.
 */
START_TEST(test_numbers_of_probes)
{
	static const struct {
		const char *name;
		unsigned n;
		unsigned probes[8];
	} want[] = {
		{ "4x16", 8, { 1, 2, 3, 4, 20, 36, 52, 68 } },
		{ "10x26", 5, { 1, 2, 4, 10, 81 } },
		{ "16x28", 4, { 1, 2, 6, 16 } },
		{ "20x31", 4, { 1, 2, 6, 20 } },
		{ "3x22", 5, { 1, 2, 3, 27, 303 } },
		{ "2x32", 4, { 1, 2, 34, 66 } },
	};
	/* Only rows cost, so that nothing is merged, shortened or looked up by first leads. */
	static const sx_costs dear_rows = { .candidate = 1, .scanned = 1 };
	sx_cover cover;
	sx_probes probes = { 0 };
	sx_plan plan;
	unsigned i, k;

	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		ck_assert_sx(sx_plan_make(&plan, want[i].name, 64, &sxt_err), SIMIDX_OK);
		for (k = 0; k < want[i].n; k++) {
			sx_request request = { .radius = k, .rows = 100000000 };

			sx_planner_choose(&plan, &request, &dear_rows, &cover);
			ck_assert_int_eq(cover.scan, 0);
			ck_assert_int_eq(sxt_cover_is_exact(&cover), 1);
			ck_assert_msg(cover.probes == want[i].probes[k],
				      "%s, k = %u: %u probes", want[i].name, k,
				      (unsigned)cover.probes);
			probes.n = 0;
			ck_assert_int_eq(sx_cover_probes(&plan, &cover, 5, 64, &probes), 0);
			ck_assert_uint_eq(probes.n, cover.probes);
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

/* What is probed of a table; NULL = nothing. */
static const sx_probed *part_of(const sx_cover *s, unsigned table)
{
	for (unsigned i = 0; i < s->n; i++)
		if (s->probed[i].table == table)
			return &s->probed[i];
	return NULL;
}

static void find_groups(const sx_plan *plan, const sx_cover *s, groups *g)
{
	uint32_t seen_by;
	unsigned bit, t, i;

	memset(g, 0, sizeof(*g));
	for (bit = 0; bit < plan->bits; bit++) {
		if (s->ignore >> bit & 1)
			continue;
		seen_by = 0;
		for (t = 0; t < plan->n_tables; t++) {
			const sx_probed *part = part_of(s, t);
			uint64_t value = sx_permute(&plan->table[t], UINT64_C(1) << bit);

			if (part && value >> (plan->bits - part->bits))
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
static int all_caught(const groups *g, const sx_cover *s, unsigned first, unsigned left,
		      int *seen)
{
	unsigned i, t, e;
	int ok = 1;

	if (!left || first == g->n) {
		for (i = 0; i < s->n; i++) {
			if (seen[s->probed[i].table] <= s->probed[i].threshold)
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
static int is_exact(const sx_plan *plan, const sx_cover *s)
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
	sxt_must_le(found, 1);
	return found;
}

/* From how many tables x would be reported. */
static unsigned count_reports(const sx_plan *plan, const sx_cover *s, const sx_probes *probes,
			      uint64_t q, uint64_t x)
{
	unsigned i, n = s->scan && is_probed(plan, probes, 0, x);

	for (i = 0; i < s->n; i++)
		n += sx_cover_is_first(s, s->probed[i].table, x ^ q) &&
		     is_probed(plan, probes, s->probed[i].table, x);
	return n;
}

static void check_reports(const sx_plan *plan, const sx_cover *s, sxt_rng *rng)
{
	uint64_t q = sxt_rng_u64(rng) & sx_low_bits(plan->bits), x, where;
	sx_probes probes = { 0 };
	unsigned i, e;

	sxt_must(!sx_cover_probes(plan, s, q, 64, &probes));
	sxt_must_eq(probes.n, s->probes);
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
		sxt_must_eq(count_reports(plan, s, &probes, q, x), 1);
		x = sxt_rng_u64(rng) & sx_low_bits(plan->bits);
		sxt_must_le(count_reports(plan, s, &probes, q, x), 1);
	}
	sx_probes_free(&probes);
}

/*
 * What a probe says of the bits outside the probed ones, against all fingerprints of its range: as
 * many of them as that differ in some match, and with another bound at least as many.
 */
static void check_rest(const sx_plan *plan, const sx_cover *s, uint64_t q,
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
		sxt_must_eq(probe->rest, most);
	else
		sxt_must_ge(probe->rest, most);
}

static void check_all_rests(const sx_plan *plan, const sx_cover *s, uint64_t q)
{
	static const unsigned max_bits[] = { 64, 7, 3, 0 };
	sx_probes probes = { 0 };

	for (unsigned i = 0; i < 4; i++) {
		probes.n = 0;
		sxt_must(!sx_cover_probes(plan, s, q, max_bits[i], &probes));
		for (size_t p = 0; p < probes.n; p++)
			check_rest(plan, s, q, &probes.at[p], max_bits[i]);
	}
	sx_probes_free(&probes);
}

/* All 65,536 fingerprints of 16 bits, as each table has them. */
static uint16_t all_permuted[SX_MAX_TABLES][65536];

static void permute_all(const sx_plan *plan)
{
	for (unsigned t = 0; t < plan->n_tables; t++)
		for (uint64_t x = 0; x < 65536; x++)
			all_permuted[t][x] = (uint16_t)sx_permute(&plan->table[t], x);
}

static void check_all_reports(const sx_plan *plan, const sx_cover *s, uint64_t q)
{
	static uint8_t probed[SX_MAX_TABLES][65536];
	sx_probes probes = { 0 };
	uint64_t x, value;
	unsigned t, n;
	size_t i;

	check_all_rests(plan, s, q);
	memset(probed, 0, sizeof(probed));
	sxt_must(!sx_cover_probes(plan, s, q, 64, &probes));
	for (i = 0; i < probes.n; i++) {
		for (value = probes.at[i].low; value <= probes.at[i].high; value++)
			sxt_must(!probed[probes.at[i].table][value]++);
	}
	for (x = 0; x < 65536; x++) {
		n = 0;
		for (t = 0; t < plan->n_tables; t++)
			n += probed[t][all_permuted[t][x]] &&
			     sx_cover_is_first(s, t, x ^ q);
		sxt_must_le(n, 1);
		sxt_must(n == 1 || ones((x ^ q) & ~s->ignore) > s->radius);
	}
	sx_probes_free(&probes);
}

static void check_same_probe(const sx_probe *a, const sx_probe *b)
{
	sxt_must_eq(a->table, b->table);
	sxt_must_eq(a->low, b->low);
	sxt_must_eq(a->high, b->high);
	sxt_must_eq(a->rest, b->rest);
}

/* What a template makes of one fingerprint after the other is what is made for each alone. */
static void check_template(const sx_plan *plan, const sx_cover *s, sxt_rng *rng)
{
	sx_template template = { .cover = *s };
	uint64_t permuted[SX_MAX_TABLES];
	sx_probes alone = { 0 }, all = { 0 };
	size_t n = 0;

	for (unsigned i = 0; i < 3; i++) {
		uint64_t fp = sxt_rng_u64(rng) & sx_low_bits(plan->bits);

		unsigned max_bits = i ? 64 : (unsigned)sxt_rng_below(rng, 9);

		alone.n = 0;
		sxt_must(!sx_cover_probes(plan, s, fp, max_bits, &alone));
		sxt_must(!sx_template_probes(plan, &template, fp, max_bits, permuted, &all));
		sxt_must_eq(all.n, n + alone.n);
		for (size_t p = 0; p < alone.n; p++, n++) {
			unsigned t = alone.at[p].table;

			check_same_probe(&all.at[n], &alone.at[p]);
			sxt_must_eq(permuted[t], sx_permute(&plan->table[t], fp));
		}
	}
	sx_template_free(&template);
	sx_probes_free(&alone);
	sx_probes_free(&all);
}

static void check_cover(const sx_plan *plan, const sx_cover *s, sxt_rng *rng)
{
	sxt_must_le(s->probes, SX_MAX_QUERY_PROBES);
	sxt_must_eq(sxt_cover_is_exact(s), 1);
	sxt_must_ne(is_exact(plan, s), 0);
	if (s->probes < 3000)
		check_reports(plan, s, rng);
	if (s->probes < 30000)
		check_template(plan, s, rng);
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

START_TEST(test_covers_miss_nothing)
{
	sx_cover cover;
	sx_plan plan;
	sxt_rng rng;
	unsigned k;

	sxt_rng_init(&rng, (uint64_t)_i);
	make(&plan, _i);
	for (k = 0; k <= 12; k++) {
		uint64_t fp = sxt_rng_u64(&rng) & sx_low_bits(plan.bits);
		crowd c = { &plan, (unsigned)sxt_rng_below(&rng, plan.n_tables), 0, 5000000,
			    sxt_rng_u64(&rng), 1e7 };
		unsigned digits = (unsigned)sxt_rng_below(&rng, plan.bits < 34 ? plan.bits : 34);
		sx_request request = { k, 0, UINT64_C(1) << digits, NULL, &c, fp };
		sx_costs any = any_costs(&rng);

		sx_planner_choose(&plan, &request, &any, &cover);
		check_cover(&plan, &cover, &rng);
		c.hot = sx_permute(&plan.table[c.hot_table], fp);
		request.size = crowd_size;
		sx_planner_choose(&plan, &request, &any, &cover);
		check_cover(&plan, &cover, &rng);
	}
}
END_TEST

START_TEST(test_covers_with_ignored_bits)
{
	sx_cover cover;
	unsigned i, b;
	sx_plan plan;
	sxt_rng rng;

	sxt_rng_init(&rng, (uint64_t)_i);
	make(&plan, _i);
	for (i = 0; i < 40; i++) {
		sx_request request = { .radius = (unsigned)sxt_rng_below(&rng, 9),
				       .rows = 1000000 };
		unsigned n = (unsigned)sxt_rng_below(&rng, 17), run = 1 + i % 8;
		unsigned at = 0;

		/* Single bits, or runs of them. */
		for (b = 0; b < n; b++) {
			at = b % run ? at + 1 : (unsigned)sxt_rng_below(&rng, 64);
			request.ignore |= (UINT64_C(1) << at % plan.bits);
		}
		sx_planner_choose(&plan, &request, &costs, &cover);
		check_cover(&plan, &cover, &rng);
	}
}
END_TEST

/* Covers that are never chosen: the condition must tell them apart. */
START_TEST(test_condition_of_exactness)
{
	unsigned i, t, n_exact = 0, n_other = 0;
	sx_cover s;
	sx_plan plan;
	sxt_rng rng;

	sxt_rng_init(&rng, (uint64_t)_i);
	make(&plan, _i);
	for (i = 0; i < 300; i++) {
		unsigned most = 1 + i % 3;
		uint64_t ignore = 0;
		sx_probed part;
		int want;

		if (i % 4 == 3)
			ignore = sxt_rng_u64(&rng) & sxt_rng_u64(&rng) & sxt_rng_u64(&rng);
		sx_cover_init(&s, (unsigned)sxt_rng_below(&rng, 5), ignore);
		for (t = 0; t < plan.n_tables; t++) {
			unsigned bits = plan.table[t].prefix_bits;

			if (!sxt_rng_below(&rng, 4))
				continue;
			if (i % 2)
				bits = 1 + (unsigned)sxt_rng_below(&rng, bits);
			part = sx_probed_make(&plan, ignore, t,
					    (unsigned)sxt_rng_below(&rng, most), bits, bits);
			sx_cover_add(&plan, &s, &part);
		}
		want = is_exact(&plan, &s);
		if (want < 0)
			continue;
		sxt_must_eq(sxt_cover_is_exact(&s), want);
		n_exact += want > 0;
		n_other += !want;
	}
	ck_assert_uint_gt(n_exact, 5);
	ck_assert_uint_gt(n_other, 5);
}
END_TEST

/* Every fingerprint of 16 bits, every radius, some masks. */
START_TEST(test_all_of_16)
{
	/* So that scans are a last resort. */
	static const sx_costs dear = { 0, 2, 0.1, 100000, 0, 0 };
	sx_cover s;
	sx_plan plan;
	sxt_rng rng;
	unsigned k;

	sxt_rng_init(&rng, (uint64_t)_i);
	make(&plan, _i * N_WIDTHS);
	ck_assert_uint_eq(plan.bits, 16);
	permute_all(&plan);
	for (k = 0; k <= 18; k++) {
		sx_request request = { .radius = k, .rows = 60000 };

		sx_planner_choose(&plan, &request, &dear, &s);
		check_all_reports(&plan, &s, sxt_rng_u64(&rng) & 0xffff);
		request.ignore = sxt_rng_u64(&rng) & sxt_rng_u64(&rng) & 0xffff;
		sx_planner_choose(&plan, &request, &costs, &s);
		check_all_reports(&plan, &s, sxt_rng_u64(&rng) & 0xffff);
	}
}
END_TEST

/* A row of the table as a cover of the whole prefixes. */
static void cover_of_row(const sx_plan *plan, const sx_cover_row *row, uint64_t ignore,
			 sx_cover *out)
{
	sx_cover_init(out, row->radius, ignore);
	ck_assert_uint_eq(strlen(row->thresholds), plan->n_tables);
	for (unsigned t = 0; t < plan->n_tables; t++) {
		unsigned bits = plan->table[t].prefix_bits;
		sx_probed part;

		if (row->thresholds[t] == '-')
			continue;
		sxt_must(row->thresholds[t] >= '0' && row->thresholds[t] <= '9');
		part = sx_probed_make(plan, ignore, t, (unsigned)(row->thresholds[t] - '0'), bits,
				    bits);
		sx_cover_add(plan, out, &part);
	}
}

/* Every row of the table is exact for every width, also with ignored bits and fewer probed ones. */
START_TEST(test_rows_of_table_are_exact)
{
	unsigned n_plans = 0;
	const char *before = "";
	sxt_rng rng;

	sxt_rng_init(&rng, (uint64_t)_i);
	for (const sx_cover_row *row = sx_cover_table; row->plan; row++) {
		sx_cover cover;
		sx_plan plan;

		n_plans += strcmp(row->plan, before) != 0;
		before = row->plan;
		ck_assert_sx(sx_plan_make(&plan, row->plan, (unsigned)_i, &sxt_err), SIMIDX_OK);
		cover_of_row(&plan, row, 0, &cover);
		ck_assert_msg(sxt_cover_is_exact(&cover), "%s, %u bits, radius %u: %s",
			      row->plan, plan.bits, row->radius, row->thresholds);
		ck_assert_int_ne(is_exact(&plan, &cover), 0);
		for (unsigned i = 0; i < 10; i++) {
			uint64_t mask = sxt_rng_u64(&rng) & sxt_rng_u64(&rng);

			cover_of_row(&plan, row, mask & sx_low_bits(plan.bits), &cover);
			ck_assert_int_eq(sxt_cover_is_exact(&cover), 1);
			for (unsigned p = 0; p < cover.n; p++) {
				sx_probed *part = &cover.probed[p];
				unsigned bits = 1 + (unsigned)sxt_rng_below(&rng, part->bits);

				part->counted &= sx_perm_leading_mask(&plan.table[part->table],
								      bits);
			}
			ck_assert_int_eq(sxt_cover_is_exact(&cover), 1);
		}
	}
	ck_assert_uint_eq(n_plans, 3);
}
END_TEST

/* Any radius up to all bits, and beyond. */
START_TEST(test_large_radius_is_exact)
{
	sx_cover s;
	sx_plan plan;
	unsigned k;

	make(&plan, _i);
	for (k = 13; k < 70; k += 5) {
		sx_request request = { .radius = k, .rows = 10000000 };

		sx_planner_choose(&plan, &request, &costs, &s);
		ck_assert_int_eq(sxt_cover_is_exact(&s), 1);
		if (k >= plan.bits)
			ck_assert_int_eq(s.scan, 1);
	}
}
END_TEST

static const sxt_test tests[] = {
	{ &test_numbers_of_probes, 0, 1 },
	{ &test_covers_miss_nothing, 0, SXT_N_PLANS * N_WIDTHS },
	{ &test_covers_with_ignored_bits, 0, SXT_N_PLANS * N_WIDTHS },
	{ &test_condition_of_exactness, 0, SXT_N_PLANS * N_WIDTHS },
	{ &test_rows_of_table_are_exact, SIMIDX_MIN_BITS, SIMIDX_MAX_BITS + 1 },
	{ &test_all_of_16, 0, SXT_N_PLANS },
	{ &test_large_radius_is_exact, 0, SXT_N_PLANS * N_WIDTHS },
};

SXT_SUITE(plan_probes, NULL, NULL);
