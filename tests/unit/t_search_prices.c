/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Costs that are measured: when, on what, within which bounds; and that no answer depends on them.
 * What comes out of a measurement is not asserted, beyond the bounds.
 */

#include <pthread.h>

#include "index/sx_prices.h"
#include "plan/sx_predict.h"
#include "t_search.h"

Suite *suite_search_prices(void);

#define DOCUMENTS 25000

/* What comes out must not depend on how busy the machine is. */
static void be_patient(struct t_search *s)
{
	s->index->prices.patience = 1e18;
}

static void make_subject(struct t_search *s, int i, unsigned n)
{
	t_search_init(s, i, SIMIDX_CREATE_NO_IDS);
	t_search_fill(s, n);
	t_search_store(s, n - n / 100);
	be_patient(s);
}

static void reopen(struct t_search *s, unsigned flags)
{
	simidx_reader_close(s->reader);
	simidx_close(s->index);
	s->index = sxt_open(s->path, flags);
	s->reader = sxt_reader(s->index);
	be_patient(s);
}

/* Search once, so that there is what a reader has: a way, costs, directories. */
static void search_with(struct t_search *s, unsigned k)
{
	simidx_query q = SIMIDX_QUERY_INIT;
	simidx_results r = SIMIDX_RESULTS_INIT;

	q.fp = t_search_near(s);
	q.radius = k;
	ck_assert_sx(simidx_search(s->reader, &q, &r, &sxt_err), SIMIDX_OK);
}

static void check_within(double x, double typical)
{
	t_must(x >= typical / SX_PRICES_BOUND && x <= typical * SX_PRICES_BOUND);
}

static void check_costs(const struct t_search *s, const sx_costs *costs)
{
	sx_costs typical;

	sx_costs_typical(&s->index->plan, s->reader->snapshot.header.table[0].rows, &typical);
	check_within(costs->query, typical.query);
	check_within(costs->probe, typical.probe);
	check_within(costs->candidate, typical.candidate);
	check_within(costs->scanned, typical.scanned);
	check_within(costs->table, typical.table);
}

/* Each plan, blocks and rows, with directories and without: there is a result, within bounds. */
START_TEST(bounds)
{
	struct t_search s;
	sx_costs costs;

	make_subject(&s, _i, DOCUMENTS);
	for (int on = 0; on < 2; on++) {
		t_search_directories(&s, on);
		for (unsigned i = 0; i < 100; i++)
			search_with(&s, 3);
		ck_assert_int_eq(s.reader->directory[s.reader->probes.at[0].table] != NULL,
				 on && s.layout == SIMIDX_LAYOUT_BLOCKS);
		ck_assert_int_eq(sx_prices_measure(s.reader, &costs), 0);
		check_costs(&s, &costs);
	}
	t_search_end(&s);
}
END_TEST

/* With ids, searches have found some: documents are looked up, too. A new reader is as good. */
START_TEST(with_documents)
{
	struct t_search s;
	sx_costs costs;

	t_search_init(&s, 0, 0);
	t_search_fill(&s, DOCUMENTS);
	t_search_store(&s, DOCUMENTS - 100);
	be_patient(&s);
	t_search_directories(&s, 1);
	for (unsigned i = 0; i < 200; i++)
		search_with(&s, 3);
	t_must(s.reader->held[SX_SHELF_POSTINGS] != NULL);
	ck_assert_int_eq(sx_prices_measure(s.reader, &costs), 0);
	check_costs(&s, &costs);
	t_search_end(&s);
}
END_TEST

static double wrong_by(const double a[][SX_PRICES_FITTED], unsigned n, const double *usual,
		       const double *cost)
{
	double sum = 0;

	for (unsigned j = 0; j < SX_PRICES_FITTED; j++)
		sum += (cost[j] / usual[j] - 1) * (cost[j] / usual[j] - 1) / 100;

	for (unsigned i = 0; i < n; i++) {
		double off = -1;

		for (unsigned j = 0; j < SX_PRICES_FITTED; j++)
			off += a[i][j] * cost[j];
		sum += off * off;
	}
	return sum;
}

static double anything_within(sxt_rng *rng, double typical)
{
	static const double bound = SX_PRICES_BOUND;

	return typical / bound + (typical * bound - typical / bound) *
					 (double)sxt_rng_below(rng, 10001) / 10000;
}

/* What each of six searches has of a query, tables, probes, rows. */
static const double has[6][SX_PRICES_FITTED] = {
	{ 1, 1, 1, 15 }, { 1, 4, 4, 60 }, { 1, 4, 20, 300 },
	{ 1, 4, 15, 6000 }, { 1, 1, 15, 700 }, { 1, 9, 9, 0 } };

/* What they take by these costs, but for noise. */
static void make_searches(const double *cost, double noise, sxt_rng *rng,
			  double a[6][SX_PRICES_FITTED])
{
	for (unsigned i = 0; i < 6; i++) {
		double ns = 0;

		for (unsigned j = 0; j < SX_PRICES_FITTED; j++)
			ns += has[i][j] * cost[j];
		ns *= 1 + noise * ((double)sxt_rng_below(rng, 1000) / 500 - 1);
		for (unsigned j = 0; j < SX_PRICES_FITTED; j++)
			a[i][j] = has[i][j] / ns;
	}
}

/* A machine that is three times as slow in everything. */
START_TEST(slow_machine)
{
	static const double typical[SX_PRICES_FITTED] = { 400, 100, 60, 0.4 };
	double a[6][SX_PRICES_FITTED], cost[SX_PRICES_FITTED];
	sxt_rng rng;

	sxt_rng_init(&rng, 0);
	for (unsigned j = 0; j < SX_PRICES_FITTED; j++)
		cost[j] = 3 * typical[j];
	make_searches(cost, 0, &rng, a);
	sx_prices_fit(a, 6, typical, cost);
	for (unsigned j = 0; j < SX_PRICES_FITTED; j++)
		ck_assert_double_eq_tol(cost[j], 3 * typical[j], 1e-6 * typical[j]);
}
END_TEST

/* Nothing within bounds is less wrong, be the costs of the machine within them or not. */
START_TEST(fits)
{
	static const double typical[SX_PRICES_FITTED] = { 400, 100, 60, 0.4 };
	sxt_rng rng;

	sxt_rng_init(&rng, (uint64_t)_i);
	for (unsigned kind = 0; kind < 12; kind++) {
		double a[6][SX_PRICES_FITTED], usual[SX_PRICES_FITTED], cost[SX_PRICES_FITTED];
		double other[SX_PRICES_FITTED], least, up = 0, down = 0;

		for (unsigned j = 0; j < SX_PRICES_FITTED; j++)
			other[j] = anything_within(&rng, typical[j]) * (kind % 3 == 1 ? 9 : 1);
		make_searches(other, kind % 3 == 2 ? 0.5 : 0, &rng, a);
		for (unsigned i = 0; i < 6; i++) {
			double by = a[i][0] * typical[0] + a[i][1] * typical[1] +
				    a[i][2] * typical[2] + a[i][3] * typical[3];

			up += by;
			down += by * by;
		}
		for (unsigned j = 0; j < SX_PRICES_FITTED; j++)
			usual[j] = up / down > 8 ? 8 * typical[j] : up / down * typical[j];
		sx_prices_fit(a, 6, typical, cost);
		least = wrong_by(a, 6, usual, cost);
		if (kind % 3 == 0)
			t_must(least <= wrong_by(a, 6, usual, other) + 1e-9);
		for (unsigned i = 0; i < 20000; i++) {
			double step = i % 2 ? 1e-3 : 1;

			for (unsigned j = 0; j < SX_PRICES_FITTED; j++)
				other[j] = cost[j] + step * (anything_within(&rng, typical[j]) -
							     cost[j]);
			t_must(least <= wrong_by(a, 6, usual, other) + 1e-9);
		}
		for (unsigned j = 0; j < SX_PRICES_FITTED; j++)
			check_within(cost[j], typical[j]);
	}
}
END_TEST

START_TEST(too_small)
{
	struct t_search s;
	sx_costs costs;

	make_subject(&s, 0, 1000);
	search_with(&s, 3);
	ck_assert_int_eq(sx_prices_measure(s.reader, &costs), -1);
	s.index->prices.debt = 1e12;
	search_with(&s, 6);
	/* That is tried again after a long time only. */
	ck_assert_double_lt(s.index->prices.debt, -SX_PRICES_DEBT);
	search_with(&s, 6);
	ck_assert_int_eq(s.index->prices.known, 0);
	ck_assert_uint_eq(s.index->prices.version, 1);
	t_search_end(&s);
}
END_TEST

/* A reader that remembers how it searched thinks again when costs have changed. */
START_TEST(new_costs)
{
	struct t_search s;

	make_subject(&s, 0, DOCUMENTS);
	search_with(&s, 3);
	ck_assert_int_eq(s.reader->way.strategy->scan, 0);
	s.index->prices.fixed = 1;
	s.index->prices.costs = (sx_costs){ 100, 1e6, 1, 1e-6, 0 };
	s.index->prices.version++;
	search_with(&s, 3);
	ck_assert_int_eq(s.reader->way.strategy->scan, 1);
	t_search_end(&s);
}
END_TEST

/* Whether the patterns up to a distance are worth it depends on costs; a number of probes does not. */
START_TEST(weighted_debt)
{
	simidx_results r = SIMIDX_RESULTS_INIT;
	simidx_query q = SIMIDX_QUERY_INIT;
	uint8_t weights[64];
	struct t_search s;

	for (unsigned b = 0; b < 64; b++)
		weights[b] = (uint8_t)(1 + b % 3);
	make_subject(&s, 0, DOCUMENTS);
	reopen(&s, 0);
	q.fp = t_search_near(&s);
	q.weights = weights;
	q.radius = 6;
	q.probes = 9;
	ck_assert_sx(simidx_search(s.reader, &q, &r, &sxt_err), SIMIDX_OK);
	ck_assert_double_eq(s.index->prices.debt, 0);
	q.probes = 0;
	ck_assert_sx(simidx_search(s.reader, &q, &r, &sxt_err), SIMIDX_OK);
	ck_assert_double_gt(s.index->prices.debt, 0);
	t_search_end(&s);
}
END_TEST

/* The debt is made by searches whose way may depend on costs, and by no others. */
START_TEST(when)
{
	struct t_search s;
	double debt;

	make_subject(&s, 0, DOCUMENTS);
	reopen(&s, 0);
	for (unsigned i = 0; i < 100; i++)
		search_with(&s, i % 4);
	ck_assert_double_eq(s.index->prices.debt, 0);
	search_with(&s, 5);
	debt = s.index->prices.debt;
	ck_assert_double_gt(debt, 0);
	search_with(&s, 5);
	ck_assert_double_eq(s.index->prices.debt, 2 * debt);
	ck_assert_double_eq(s.reader->way.strategy->ns, debt);
	ck_assert_int_eq(s.index->prices.known, 0);
	ck_assert_uint_eq(s.index->prices.version, 1);
	s.index->prices.debt = SX_PRICES_DEBT;
	search_with(&s, 5);
	ck_assert_int_eq(s.index->prices.known, 1);
	ck_assert_uint_eq(s.index->prices.version, 2);
	check_costs(&s, &s.index->prices.costs);
	/* This search has used them already. */
	ck_assert_mem_eq(&s.reader->costs, &s.index->prices.costs, sizeof(s.reader->costs));
	s.index->prices.debt = SX_PRICES_DEBT;
	search_with(&s, 5);
	ck_assert_uint_eq(s.index->prices.version, 2);
	t_search_end(&s);
}
END_TEST

/* Not before the directories are there, which searches will have, and never where costs are fixed. */
START_TEST(not_yet)
{
	struct t_search s;

	make_subject(&s, 0, DOCUMENTS);
	reopen(&s, 0);
	/* There is no room for them. */
	s.index->shelf.max_bytes = 1;
	search_with(&s, 5);
	s.index->prices.debt = SX_PRICES_DEBT;
	search_with(&s, 5);
	ck_assert_int_eq(s.index->prices.known, 0);
	ck_assert_uint_eq(s.index->prices.version, 1);
	s.index->shelf.max_bytes = 0;
	for (unsigned i = 0; i < 100 && !s.index->prices.known; i++)
		search_with(&s, 5);
	ck_assert_int_eq(s.index->prices.known, 1);
	reopen(&s, 0);
	for (unsigned i = 0; i < 100; i++)
		search_with(&s, 5);
	s.index->prices.fixed = 1;
	s.index->prices.debt = SX_PRICES_DEBT;
	search_with(&s, 5);
	ck_assert_int_eq(s.index->prices.known, 0);
	ck_assert_uint_eq(s.index->prices.version, 1);
	/* Where there are never going to be any, they are not waited for. */
	reopen(&s, 0);
	t_search_directories(&s, 0);
	search_with(&s, 5);
	s.index->prices.debt = SX_PRICES_DEBT;
	search_with(&s, 5);
	ck_assert_int_eq(s.index->prices.known, 1);
	t_search_end(&s);
}
END_TEST

/* An index that nobody may write to can be measured; one that was opened for typical costs is not. */
START_TEST(ways_to_open)
{
	static const unsigned flags[] = { SIMIDX_OPEN_READ_ONLY, SIMIDX_OPEN_STATIC,
					  SIMIDX_OPEN_TYPICAL_COSTS };
	struct t_search s;
	sx_costs typical;

	make_subject(&s, 0, DOCUMENTS);
	reopen(&s, flags[_i]);
	for (unsigned i = 0; i < 20; i++)
		search_with(&s, 4);
	s.index->prices.debt = SX_PRICES_DEBT;
	search_with(&s, 4);
	ck_assert_int_eq(s.index->prices.known, flags[_i] != SIMIDX_OPEN_TYPICAL_COSTS);
	sx_costs_typical(&s.index->plan, s.reader->snapshot.header.table[0].rows, &typical);
	if (flags[_i] == SIMIDX_OPEN_TYPICAL_COSTS)
		ck_assert_mem_eq(&s.reader->costs, &typical, sizeof(typical));
	t_search_end(&s);
}
END_TEST

/* An index that has become larger has other costs, and is measured again. */
START_TEST(growth)
{
	struct t_search s;
	sx_costs typical;

	t_search_init(&s, 0, SIMIDX_CREATE_NO_IDS);
	t_search_fill(&s, 3000);
	t_search_create(&s);
	search_with(&s, 4);
	ck_assert_uint_eq(s.index->prices.version, 1);
	s.index->prices.known = 1;
	sxt_model_store(&s.model, 0, 1000, s.index);
	search_with(&s, 4);
	ck_assert_uint_eq(s.index->prices.version, 1);
	sxt_merge(s.index);
	s.index->prices.debt = 1e12;
	search_with(&s, 4);
	ck_assert_double_lt(s.index->prices.debt, SX_PRICES_DEBT);
	ck_assert_double_ge(s.index->prices.debt, 0);
	ck_assert_uint_eq(s.index->prices.version, 2);
	ck_assert_int_eq(s.index->prices.known, 0);
	sx_costs_typical(&s.index->plan, s.reader->snapshot.header.table[0].rows, &typical);
	ck_assert_mem_eq(&s.reader->costs, &typical, sizeof(typical));
	t_search_end(&s);
}
END_TEST

/* Any costs, changed between searches: the same answers. */
START_TEST(no_answer)
{
	struct t_search s;

	t_search_init(&s, _i, 0);
	t_search_fill(&s, 600);
	t_search_store(&s, 500);
	s.index->prices.fixed = 1;
	for (unsigned i = 0; i < 60; i++) {
		simidx_query q = SIMIDX_QUERY_INIT;
		uint8_t weights[64];

		s.index->prices.costs = (sx_costs){ (double)sxt_rng_below(&s.rng, 1000),
						    1 + (double)sxt_rng_below(&s.rng, 1000),
						    (double)sxt_rng_below(&s.rng, 1000) / 10,
						    (double)sxt_rng_below(&s.rng, 1000),
						    (double)sxt_rng_below(&s.rng, 1000) };
		s.index->prices.version++;
		for (unsigned b = 0; b < 64; b++)
			weights[b] = (uint8_t)sxt_rng_below(&s.rng, i % 3 ? 8 : 2);
		q.fp = t_search_near(&s);
		q.radius = (unsigned)sxt_rng_below(&s.rng, 10);
		q.weights = i % 2 ? weights : NULL;
		sxt_check_query(&s.model, s.model.n, s.reader, &q, NULL);
	}
	t_search_end(&s);
}
END_TEST

struct searcher {
	pthread_t thread;
	struct t_search *s;
	uint64_t fp, found;
};

static void *run_searcher(void *opaque)
{
	struct searcher *me = opaque;
	simidx_query q = SIMIDX_QUERY_INIT;
	simidx_results r = SIMIDX_RESULTS_INIT;
	simidx_reader *reader = sxt_reader(me->s->index);

	q.fp = me->fp;
	q.radius = 6;
	for (unsigned i = 0; i < 300; i++) {
		if (simidx_search(reader, &q, &r, NULL))
			break;
		me->found += r.count;
	}
	simidx_reader_close(reader);
	return NULL;
}

/* One thread measures, the others go on. */
START_TEST(threads)
{
	struct searcher of[4];
	struct t_search s;
	simidx_query q = SIMIDX_QUERY_INIT;
	simidx_results r;

	make_subject(&s, 0, DOCUMENTS);
	for (unsigned i = 0; i < 20; i++)
		search_with(&s, 6);
	s.index->prices.debt = SX_PRICES_DEBT / 2;
	for (unsigned i = 0; i < 4; i++) {
		of[i] = (struct searcher){ .s = &s, .fp = t_search_near(&s) };
		ck_assert_int_eq(pthread_create(&of[i].thread, NULL, run_searcher, &of[i]), 0);
	}
	for (unsigned i = 0; i < 4; i++)
		ck_assert_int_eq(pthread_join(of[i].thread, NULL), 0);
	for (unsigned i = 0; i < 4; i++) {
		q.fp = of[i].fp;
		q.radius = 6;
		sxt_check_query(&s.model, s.model.n, s.reader, &q, &r);
		ck_assert_uint_eq(of[i].found, 300 * r.count);
	}
	t_search_end(&s);
}
END_TEST

Suite *suite_search_prices(void)
{
	Suite *suite = suite_create("search_prices");
	TCase *tc = tcase_create("prices");

	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, bounds, 0, T_SEARCH_PLANS * T_SEARCH_LAYOUTS);
	tcase_add_test(tc, with_documents);
	tcase_add_test(tc, slow_machine);
	tcase_add_loop_test(tc, fits, 0, 5);
	tcase_add_test(tc, too_small);
	tcase_add_test(tc, new_costs);
	tcase_add_test(tc, weighted_debt);
	tcase_add_test(tc, when);
	tcase_add_test(tc, not_yet);
	tcase_add_loop_test(tc, ways_to_open, 0, 3);
	tcase_add_test(tc, growth);
	tcase_add_loop_test(tc, no_answer, 0, T_SEARCH_PLANS * T_SEARCH_LAYOUTS);
	tcase_add_test(tc, threads);
	suite_add_tcase(suite, tc);
	return suite;
}
