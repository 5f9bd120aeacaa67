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
	t_must(x >= typical / 8 && x <= typical * 8);
}

static void check_costs(const struct t_search *s, const sx_costs *costs)
{
	sx_costs typical;

	sx_costs_typical(&s->index->plan, s->reader->snapshot.header.table[0].rows, &typical);
	check_within(costs->query, typical.query);
	check_within(costs->probe, typical.probe);
	check_within(costs->candidate, typical.candidate);
	check_within(costs->scanned, typical.scanned);
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

START_TEST(too_small)
{
	struct t_search s;
	sx_costs costs;

	make_subject(&s, 0, 1000);
	search_with(&s, 3);
	ck_assert_int_eq(sx_prices_measure(s.reader, &costs), -1);
	s.index->prices.debt = 1e12;
	search_with(&s, 6);
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
	s.index->prices.costs = (sx_costs){ 100, 1e6, 1, 1e-6 };
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
	search_with(&s, 4);
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
	tcase_add_test(tc, too_small);
	tcase_add_test(tc, new_costs);
	tcase_add_test(tc, weighted_debt);
	tcase_add_test(tc, when);
	tcase_add_loop_test(tc, ways_to_open, 0, 3);
	tcase_add_test(tc, growth);
	tcase_add_loop_test(tc, no_answer, 0, T_SEARCH_PLANS * T_SEARCH_LAYOUTS);
	tcase_add_test(tc, threads);
	suite_add_tcase(suite, tc);
	return suite;
}
