/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "plan/sx_patterns.h"
#include "support/sxt.h"
#include "support/sxt_weights.h"
#include "util/sx_bytes.h"

#define N_DISJOINT 3 /* of sxt_plans, the first */

static const sx_costs costs = { 0, 80, 0.4, 0.2, 0, 0 };
/* Scans are a last resort. */
static const sx_costs dear_scans = { 0, 2, 0.1, 100000, 0, 0 };

static void make(sx_plan *plan, int i, unsigned bits)
{
	ck_assert_sx(sx_plan_make(plan, sxt_plans[i], bits, &sxt_err), SIMIDX_OK);
}

/* The bits of a fingerprint that are alike in the whole range of a probe. */
static uint64_t probed_bits(const sx_plan *plan, const sx_probe *probe)
{
	return sx_unpermute(&plan->table[probe->table],
			    ~(probe->low ^ probe->high) & sx_low_bits(plan->bits));
}

/* The pattern of a probe. */
static uint64_t flips_of(const sx_plan *plan, uint64_t fp, const sx_probe *probe)
{
	return (sx_unpermute(&plan->table[probe->table], probe->low) ^ fp) &
	       probed_bits(plan, probe);
}

/*
 * What a probe says of the bits that are not probed: what its pattern leaves of the radius and of
 * the bits, spent on the lightest ones.
 */
static void check_rest(const sx_plan *plan, const sx_weighted *query, const sx_probe *probe)
{
	uint64_t flips = flips_of(plan, query->fp, probe);
	uint64_t others = sx_low_bits(plan->bits) & ~probed_bits(plan, probe);
	unsigned cost = distance(query->weights, flips, 0), n = 0, want;

	for (; flips; flips &= flips - 1)
		n++;
	if (cost > query->radius || n > query->max_bits) {
		sxt_must_eq(probe->rest, -1);
		return;
	}
	want = count_lightest(query->weights, others, query->radius - cost);
	sxt_must_eq((unsigned)probe->rest, want < query->max_bits - n ? want : query->max_bits - n);
}

/* The same against all fingerprints of the range. */
static void check_rest_of_all(const sx_plan *plan, const sx_weighted *query,
			      const sx_probe *probe)
{
	uint64_t others = ~probed_bits(plan, probe), value, differ;
	int most = -1;

	for (value = probe->low; value <= probe->high; value++) {
		differ = sx_unpermute(&plan->table[probe->table], value) ^ query->fp;
		if (distance(query->weights, differ, 0) <= query->radius &&
		    (unsigned)__builtin_popcountll(differ) <= query->max_bits &&
		    __builtin_popcountll(differ & others) > most)
			most = __builtin_popcountll(differ & others);
	}
	sxt_must_eq(probe->rest, most);
}

/* Probes for a radius, whatever is asked: the cheapest `most` patterns, or completely. */
static int probe(const sx_plan *plan, uint64_t fp, const uint8_t *weights, unsigned radius,
		 const uint64_t *most, const sx_costs *c, uint64_t rows, sx_probes *out,
		 sx_patterns_end *end)
{
	static const unsigned max_bits[] = { 64, 12, 5, 1, 64 };
	sx_by_weight by_weight;
	sx_weighted query = { fp, weights, &by_weight, radius, max_bits[fp % 5] };
	size_t before = out->n, n_all = 0;
	int rc;

	sx_weights_sort(&by_weight, weights, plan->bits, radius);
	rc = most ? sx_patterns_cheapest(plan, &query, *most, out, end)
		  : sx_patterns_complete(plan, &query, radius, c, rows, out, end);
	for (size_t i = before; !rc && i < out->n; i++) {
		check_rest(plan, &query, &out->at[i]);
		if (plan->bits == 16 && n_all++ < 200)
			check_rest_of_all(plan, &query, &out->at[i]);
	}
	return rc;
}

static int probe_cheapest(const sx_plan *plan, uint64_t fp, const uint8_t *weights, uint64_t most,
			  sx_probes *out, sx_patterns_end *end)
{
	/* Where matches may be tells nothing of what is probed. */
	return probe(plan, fp, weights, (unsigned)(fp / 5 % 400), &most, NULL, 0, out, end);
}

static int probe_completely(const sx_plan *plan, uint64_t fp, const uint8_t *weights,
			    unsigned radius, const sx_costs *c, uint64_t rows, sx_probes *out,
			    sx_patterns_end *end)
{
	return probe(plan, fp, weights, radius, NULL, c, rows, out, end);
}

/* ------------------------------------------------------------------------------------------
 * Order, against all patterns of all tables
 */

typedef struct pattern {
	unsigned cost, table, number;
	uint64_t low, high;
} pattern;

static int by_order(const void *a, const void *b)
{
	const pattern *x = a, *y = b;

	if (x->cost != y->cost)
		return x->cost < y->cost ? -1 : 1;
	if (x->table != y->table)
		return x->table < y->table ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

/* A bit of the permuted values of a table: its weight, its place. */
typedef struct place {
	unsigned weight, at;
} place;

static int by_weight(const void *a, const void *b)
{
	const place *x = a, *y = b;

	return x->weight != y->weight ? (int)x->weight - (int)y->weight
				      : (int)x->at - (int)y->at;
}

/* The bits of one table that are probed; returns how many, and the lowest in *low. */
static unsigned find_places(const sx_plan *plan, unsigned t, const uint8_t *weights,
			    place *places, unsigned *low)
{
	const sx_perm *perm = &plan->table[t];
	unsigned i, n = 0, from = plan->bits - perm->prefix_bits;

	for (*low = from; *low + 1 < plan->bits; ++*low) {
		if (weights[__builtin_ctzll(sx_unpermute(perm, UINT64_C(1) << *low))])
			break;
	}
	for (i = *low; i < plan->bits; i++) {
		places[n].at = i;
		places[n++].weight =
			weights[__builtin_ctzll(sx_unpermute(perm, UINT64_C(1) << i))];
	}
	qsort(places, n, sizeof(*places), by_weight);
	return n;
}

static pattern *all_patterns(const sx_plan *plan, uint64_t fp, const uint8_t *weights, size_t *n)
{
	pattern *all = malloc(sizeof(*all) * 20 * 1024), *p;
	unsigned t, i, bits, low, number;
	place places[64];

	*n = 0;
	for (t = 0; t < plan->n_tables; t++) {
		bits = find_places(plan, t, weights, places, &low);
		sxt_must_le(bits, 10);
		for (number = 0; number < 1u << bits; number++) {
			p = &all[(*n)++];
			p->table = t;
			p->number = number;
			p->cost = 0;
			p->low = sx_permute(&plan->table[t], fp) >> low << low;
			for (i = 0; i < bits; i++) {
				if (number >> i & 1) {
					p->low ^= UINT64_C(1) << places[i].at;
					p->cost += places[i].weight;
				}
			}
			p->high = p->low + (UINT64_C(1) << low) - 1;
		}
	}
	qsort(all, *n, sizeof(*all), by_order);
	return all;
}

static void check_order(const sx_plan *plan, uint64_t fp, const uint8_t *weights, uint64_t most)
{
	sx_probes probes = { 0 };
	sx_patterns_end end;
	pattern *all;
	size_t n, i;

	all = all_patterns(plan, fp, weights, &n);
	sxt_must(!probe_cheapest(plan, fp, weights, most, &probes, &end));
	sxt_must_eq(probes.n, most < n ? most : n);
	sxt_must(!end.scan);
	for (i = 0; i < probes.n; i++) {
		sxt_must_eq(probes.at[i].table, all[i].table);
		sxt_must_eq(probes.at[i].low, all[i].low);
		sxt_must_eq(probes.at[i].high, all[i].high);
	}
	sx_probes_free(&probes);
	free(all);
}

START_TEST(test_patterns_in_order_of_weight)
{
	uint8_t weights[64];
	unsigned kind;
	sx_plan plan;
	sxt_rng rng;

	sxt_rng_init(&rng, (uint64_t)_i);
	for (kind = 0; kind < 12; kind++) {
		make(&plan, _i, kind < 8 ? 16 : 20);
		if (plan.table[0].prefix_bits > 10)
			make(&plan, _i, 16);
		make_weights(&rng, kind, weights);
		check_order(&plan, sxt_rng_u64(&rng) & sx_low_bits(plan.bits), weights,
			    sxt_rng_below(&rng, kind % 2 ? 40 : 2000));
	}
	make_weights(&rng, 0, weights);
	check_order(&plan, 77, weights, UINT64_MAX);
	check_order(&plan, 77, weights, 0);
	memset(weights, 0, sizeof(weights));
	check_order(&plan, 77, weights, 5);
	check_order(&plan, 77, weights, 500);
}
END_TEST

/* Bits 3 (weight 2), 17 (3) and 40 (4) are the cheapest, and 40 and 3 in tables 2 and 4. */
START_TEST(test_patterns_by_hand)
{
	static const struct {
		unsigned table, cost;
		uint64_t value; /* of the first 16 bits */
	} want[] = {
		{ 0, 0, 0x1111 }, { 1, 0, 0x2222 }, { 2, 0, 0x3333 }, { 3, 0, 0x4444 },
		{ 3, 2, 0x444c }, { 2, 3, 0x3331 }, { 1, 4, 0x2322 }, { 0, 100, 0x1110 },
	};
	const uint64_t query = UINT64_C(0x1111222233334444);
	sx_probes probes = { 0 };
	uint8_t weights[64];
	sx_patterns_end end;
	sx_plan plan;
	unsigned i;

	make(&plan, 0, 64);
	memset(weights, 100, sizeof(weights));
	weights[3] = 2;
	weights[17] = 3;
	weights[40] = 4;
	ck_assert_int_eq(probe_cheapest(&plan, query, weights, 8, &probes, &end), 0);
	ck_assert_uint_eq(probes.n, 8);
	for (i = 0; i < 8; i++) {
		ck_assert_uint_eq(probes.at[i].table, want[i].table);
		ck_assert_uint_eq(distance(weights, 0, flips_of(&plan, query, &probes.at[i])),
				  want[i].cost);
		ck_assert_uint_eq(probes.at[i].low, want[i].value << 48);
		ck_assert_uint_eq(probes.at[i].high, want[i].value << 48 | sx_low_bits(48));
	}
	/* Each table misses a pattern that costs 100, and nothing cheaper. */
	ck_assert_int_eq(end.complete_to, 399);
	/* Of table 1, 0x1110 was probed and 0x1113 was not. */
	ck_assert_int_eq(sx_patterns_is_first(&end, weights, 1, UINT64_C(1) << 48), 0);
	ck_assert_int_eq(sx_patterns_is_first(&end, weights, 1, UINT64_C(2) << 48), 1);
	ck_assert_int_eq(sx_patterns_is_first(&end, weights, 3, UINT64_C(0x80202) << 30), 1);
	sx_probes_free(&probes);
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * What is found, against all 65,536 fingerprints
 */

typedef struct found {
	uint8_t probed[SX_MAX_TABLES][65536]; /* by permuted value */
} found;

/* All 65,536 fingerprints as each table of the plan has them. */
static uint16_t permuted[SX_MAX_TABLES][65536];

static void permute_all(const sx_plan *plan)
{
	for (unsigned t = 0; t < plan->n_tables; t++)
		for (uint64_t x = 0; x < 65536; x++)
			permuted[t][x] = (uint16_t)sx_permute(&plan->table[t], x);
}

static void mark(const sx_probes *probes, found *f)
{
	uint64_t value;
	size_t i;

	memset(f, 0, sizeof(*f));
	for (i = 0; i < probes->n; i++) {
		for (value = probes->at[i].low; value <= probes->at[i].high; value++)
			sxt_must(!f->probed[probes->at[i].table][value]++);
	}
}

/* Nothing up to complete_to is missed, and what is found is reported once. */
static void check_found(const sx_plan *plan, uint64_t fp, const uint8_t *weights,
			const sx_probes *probes, const sx_patterns_end *end)
{
	unsigned t, n_found, n_first, nearest = UINT32_MAX;
	static found f;
	uint64_t x;

	mark(probes, &f);
	for (x = 0; x < 65536; x++) {
		n_found = n_first = 0;
		for (t = 0; t < plan->n_tables; t++) {
			if (!f.probed[t][permuted[t][x]])
				continue;
			n_found++;
			n_first += sx_patterns_is_first(end, weights, t, x ^ fp) != 0;
		}
		sxt_must_eq(n_first, n_found > 0);
		if (!n_found && distance(weights, x, fp) < nearest)
			nearest = distance(weights, x, fp);
	}
	if (end->complete_to == SX_COMPLETE)
		sxt_must_eq(nearest, UINT32_MAX);
	else
		sxt_must_lt(end->complete_to, (int64_t)nearest);
}

/* The nearest that is missed by tables without common bits is known exactly. */
static void check_nearest(const sx_plan *plan, uint64_t fp, const uint8_t *weights,
			  const sx_probes *probes, const sx_patterns_end *end)
{
	static found f;
	unsigned t, n;
	uint64_t x;

	if (end->complete_to == SX_COMPLETE)
		return;
	mark(probes, &f);
	for (x = 0; x < 65536; x++) {
		for (n = t = 0; t < plan->n_tables; t++)
			n += f.probed[t][permuted[t][x]];
		if (!n && distance(weights, x, fp) == (unsigned)(end->complete_to + 1))
			return;
	}
	ck_abort_msg("nothing is missed at distance %u", (unsigned)end->complete_to + 1);
}

START_TEST(test_complete_to)
{
	sx_probes probes = { 0 };
	uint8_t weights[64];
	sx_patterns_end end;
	unsigned kind;
	sx_plan plan;
	sxt_rng rng;

	sxt_rng_init(&rng, (uint64_t)_i);
	make(&plan, _i, 16);
	permute_all(&plan);
	for (kind = 0; kind < 16; kind++) {
		uint64_t fp = sxt_rng_u64(&rng) & 0xffff;

		make_weights(&rng, kind, weights);
		probes.n = 0;
		sxt_must(!probe_cheapest(&plan, fp, weights, sxt_rng_below(&rng,
									   kind < 8 ? 40 : 300),
					 &probes, &end));
		check_found(&plan, fp, weights, &probes, &end);
		if (_i < N_DISJOINT)
			check_nearest(&plan, fp, weights, &probes, &end);
	}
	sx_probes_free(&probes);
}
END_TEST

START_TEST(test_all_patterns_are_found)
{
	sx_probes probes = { 0 };
	uint8_t weights[64];
	sx_patterns_end end;
	unsigned kind, scans = 0;
	sx_plan plan;
	sxt_rng rng;

	sxt_rng_init(&rng, (uint64_t)_i);
	make(&plan, _i, 16);
	permute_all(&plan);
	for (kind = 0; kind < 24; kind++) {
		uint64_t fp = sxt_rng_u64(&rng) & 0xffff;
		unsigned sum, most;

		make_weights(&rng, kind, weights);
		sum = distance(weights, 0, 0xffff);
		most = (unsigned)sxt_rng_below(&rng, sum / (1 + kind % 3) + 1);
		probes.n = 0;
		sxt_must(!probe_completely(&plan, fp, weights, most,
					   kind % 4 ? &dear_scans : &costs, 60000, &probes,
					   &end));
		sxt_must_ge(end.complete_to, most);
		check_found(&plan, fp, weights, &probes, &end);
		scans += end.scan != 0;
	}
	ck_assert_uint_lt(scans, 20);
	sx_probes_free(&probes);
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * 64 bits
 */

/* Whether a probe has x; each table has it once at most. */
static int is_probed(const sx_plan *plan, const sx_probes *probes, unsigned table, uint64_t x)
{
	uint64_t value = sx_permute(&plan->table[table], x);
	int n = 0;
	size_t i;

	for (i = 0; i < probes->n; i++)
		n += probes->at[i].table == table && probes->at[i].low <= value &&
		     value <= probes->at[i].high;
	sxt_must_le(n, 1);
	return n;
}

/* Fingerprints near the query, as cheap differences go. */
static void check_near(const sx_plan *plan, uint64_t fp, const uint8_t *weights,
		       const sx_probes *probes, const sx_patterns_end *end, sxt_rng *rng)
{
	unsigned i, e, t, n_found, n_first;
	uint64_t x, bit;

	for (i = 0; i < 150; i++) {
		x = fp;
		for (e = 0; e < 1 + i % 16; e++) {
			bit = UINT64_C(1) << sxt_rng_below(rng, plan->bits);
			/* complete_to may be as large as can be. */
			if ((int64_t)distance(weights, fp, x ^ bit) - 30 <= end->complete_to)
				x ^= bit;
		}
		n_found = n_first = 0;
		for (t = 0; t < plan->n_tables; t++) {
			if (!is_probed(plan, probes, t, x))
				continue;
			n_found++;
			n_first += sx_patterns_is_first(end, weights, t, x ^ fp) != 0;
		}
		sxt_must_eq(n_first, n_found > 0);
		sxt_must(n_found || distance(weights, fp, x) > end->complete_to);
	}
}

/* Weights as a text has them: most about 25, some near 0. */
static void text_weights(sxt_rng *rng, uint8_t *weights)
{
	unsigned b, i;

	for (b = 0; b < 64; b++) {
		int sum = 0;

		for (i = 0; i < 12; i++)
			sum += (int)sxt_rng_below(rng, 33) - 16;
		weights[b] = (uint8_t)(sum < 0 ? -sum : sum);
	}
}

START_TEST(test_patterns_of_64_bits)
{
	static const unsigned bits[] = { 64, 48, 33 };
	sx_probes probes = { 0 };
	uint8_t weights[64];
	sx_patterns_end end;
	unsigned i;
	sx_plan plan;
	sxt_rng rng;
	size_t p;

	sxt_rng_init(&rng, (uint64_t)_i);
	for (i = 0; i < 6; i++) {
		uint64_t fp, most = i % 2 ? 128 : 32;

		make(&plan, _i, bits[i % 3]);
		fp = sxt_rng_u64(&rng) & sx_low_bits(plan.bits);
		text_weights(&rng, weights);
		probes.n = 0;
		sxt_must(!probe_cheapest(&plan, fp, weights, most, &probes, &end));
		sxt_must_eq(probes.n, most);
		for (p = 1; p < probes.n; p++)
			sxt_must_le(distance(weights, 0, flips_of(&plan, fp,
								  &probes.at[p - 1])),
				    distance(weights, 0, flips_of(&plan, fp, &probes.at[p])));
		check_near(&plan, fp, weights, &probes, &end, &rng);
		probes.n = 0;
		sxt_must(!probe_completely(&plan, fp, weights, 30 + 10 * i, &costs, 100000000,
					   &probes, &end));
		ck_assert_int_eq(end.scan, 0);
		ck_assert_int_ge(end.complete_to, 30 + 10 * i);
		check_near(&plan, fp, weights, &probes, &end, &rng);
	}
	sx_probes_free(&probes);
}
END_TEST

/* A whole block without weight is stepped round: the other three do. */
START_TEST(test_ignored_block)
{
	sx_probes probes = { 0 };
	sx_patterns_end end;
	uint8_t weights[64];
	sx_plan plan;
	sxt_rng rng;
	size_t i;

	sxt_rng_init(&rng, 1);
	make(&plan, 0, 64);
	text_weights(&rng, weights);
	memset(weights + 16, 0, 15);
	weights[31] = 1;
	ck_assert_int_eq(probe_completely(&plan, 99, weights, 20, &costs, 10000000, &probes,
					     &end),
			 0);
	ck_assert_int_eq(end.scan, 0);
	ck_assert_uint_lt(probes.n, 100);
	for (i = 0; i < probes.n; i++)
		ck_assert_uint_ne(probes.at[i].table, 2);
	/* Everything is asked for. */
	probes.n = 0;
	ck_assert_int_eq(probe_completely(&plan, 99, weights, 64 * 255, &costs, 10000000,
					     &probes, &end),
			 0);
	ck_assert_int_eq(end.scan, 1);
	ck_assert_uint_eq(probes.n, 1);
	ck_assert_uint_eq(probes.at[0].low, 0);
	ck_assert_uint_eq(probes.at[0].high, UINT64_MAX);
	sx_probes_free(&probes);
}
END_TEST

/*
 * What choosing takes is bounded by what a scan takes, however large the distance is. A table of
 * 3,000 rows is scanned in the time of 150 probes; of 16 bits, all patterns of one or two bits are
 * 137, and those of up to three 697: with weights of 40 at most, three bits cost no more than 120,
 * so that no limit from there on is of use.
 */
START_TEST(test_dear_patterns_end_in_a_scan)
{
	static const unsigned distances[] = { 60, 400, 800, 6400, 64 * 255 - 1 };
	/* Rows so dear that whole prefixes are probed: 10 + 3000 / 2^16 * 40 ns each. */
	sx_costs few = { .query = 100, .probe = 10, .candidate = 40, .scanned = 0.6 };
	sx_probes probes = { 0 };
	sx_patterns_end end;
	uint8_t weights[64];
	sx_plan plan;
	sxt_rng rng;
	unsigned i, b;

	sxt_rng_init(&rng, 3);
	make(&plan, 0, 64);
	for (b = 0; b < 64; b++)
		weights[b] = (uint8_t)(10 + sxt_rng_below(&rng, 31));
	for (i = 0; i < 5; i++) {
		probes.n = 0;
		ck_assert_int_eq(probe_completely(&plan, 99, weights, distances[i], &few, 3000,
						     &probes, &end),
				 0);
		ck_assert_uint_le(end.n_limits, 4 * 120);
		ck_assert_int_ge(end.complete_to, distances[i]);
		ck_assert_int_eq(end.scan, i > 0);
		ck_assert_uint_le(probes.n, 150);
		check_near(&plan, 99, weights, &probes, &end, &rng);
	}
	sx_probes_free(&probes);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_patterns_in_order_of_weight, 0, SXT_N_PLANS },
	{ &test_patterns_by_hand, 0, 1 },
	{ &test_complete_to, 0, SXT_N_PLANS },
	{ &test_all_patterns_are_found, 0, SXT_N_PLANS },
	{ &test_patterns_of_64_bits, 0, SXT_N_PLANS },
	{ &test_ignored_block, 0, 1 },
	{ &test_dear_patterns_end_in_a_scan, 0, 1 },
};

SXT_SUITE(plan_patterns, NULL, NULL);
