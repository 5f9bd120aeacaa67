/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Weighted queries against a linear scan: random weights and masks, both ways to look patterns
 * up, second fingerprints; all plans, layouts and widths, both tiers.
 */

#include <simidx_info.h>

#include "support/sxt_search.h"

enum weights { ALL_KINDS, MANY_ZEROS, EQUAL, EXTREME, SMALL, NO_WEIGHT, N_WEIGHTS };

static uint8_t any_weight(sxt_rng *rng, enum weights kind, uint8_t unit)
{
	switch (kind) {
	case ALL_KINDS:
		return (uint8_t)sxt_rng_below(rng, 256);
	case MANY_ZEROS:
		return (uint8_t)(sxt_rng_below(rng, 3) ? 0 : sxt_rng_below(rng, 20));
	case EQUAL:
		return (uint8_t)(sxt_rng_below(rng, 6) ? unit : 0);
	case EXTREME:
		return (uint8_t)(sxt_rng_below(rng, 2) ? 255 : 1);
	case SMALL:
		return (uint8_t)(1 + sxt_rng_below(rng, 4));
	default:
		return 0;
	}
}

/* Weights behind the last bit of a fingerprint must not matter. */
static void choose_weights(struct t_search *s, uint8_t weights[64])
{
	enum weights kind = (enum weights)sxt_rng_below(&s->rng, N_WEIGHTS);
	uint8_t unit = (uint8_t)(1 + sxt_rng_below(&s->rng, 255));

	for (unsigned b = 0; b < 64; b++)
		weights[b] = any_weight(&s->rng, b < s->bits ? kind : ALL_KINDS, unit);
}

/* A radius that catches a few bits' worth of weight. */
static unsigned choose_radius(struct t_search *s, const uint8_t weights[64])
{
	unsigned total = 0, n = (unsigned)sxt_rng_below(&s->rng, 7);

	for (unsigned i = 0; i < n; i++)
		total += weights[sxt_rng_below(&s->rng, s->bits)];
	return total;
}

static void add_fp2(struct t_search *s, simidx_query *q, const uint8_t weights2[64])
{
	if (!(s->flags & SIMIDX_CREATE_FP2) || sxt_rng_below(&s->rng, 2))
		return;
	q->flags = SIMIDX_QUERY_FP2;
	q->fp2 = sxt_rng_flip(&s->rng, s->common2, 64, 2);
	q->weights2 = sxt_rng_below(&s->rng, 3) ? weights2 : NULL;
	q->radius2 = q->radius + (unsigned)sxt_rng_below(&s->rng, q->weights2 ? 2000 : 16);
}

static void search_weighted(struct t_search *s)
{
	simidx_query q = SIMIDX_QUERY_INIT;
	uint8_t weights[64], weights2[64];

	choose_weights(s, weights);
	for (unsigned b = 0; b < 64; b++)
		weights2[b] = (uint8_t)sxt_rng_u64(&s->rng);
	q.fp = t_search_near(s);
	q.weights = weights;
	q.radius = choose_radius(s, weights);
	add_fp2(s, &q, weights2);
	if (!sxt_rng_below(&s->rng, 4))
		q.max_bits = 1 + (unsigned)sxt_rng_below(&s->rng, 8);
	sxt_check_query(&s->model, s->model.n, s->reader, &q, NULL);
	q.complete = 1 + (unsigned)sxt_rng_below(&s->rng, q.radius + 5);
	sxt_check_query(&s->model, s->model.n, s->reader, &q, NULL);
	q.complete = 0;
	q.probes = 1 + (unsigned)sxt_rng_below(&s->rng, 200);
	sxt_check_query(&s->model, s->model.n, s->reader, &q, NULL);
}

/* Without a number of probes nothing up to the radius is missed, or up to what was asked. */
static void search_complete(struct t_search *s)
{
	simidx_results results;
	simidx_query q = SIMIDX_QUERY_INIT;
	uint8_t weights[64];

	choose_weights(s, weights);
	q.fp = t_search_near(s);
	q.weights = weights;
	q.radius = choose_radius(s, weights);
	sxt_check_query(&s->model, s->model.n, s->reader, &q, &results);
	ck_assert_int_eq(results.complete_to, q.radius);
	q.complete = 1 + (unsigned)sxt_rng_below(&s->rng, q.radius + 1);
	sxt_check_query(&s->model, s->model.n, s->reader, &q, &results);
	ck_assert_int_ge(results.complete_to, q.complete < q.radius ? q.complete : q.radius);
}

/* A mask of up to 16 bits is weights of 0 and 1. */
static void search_masked(struct t_search *s)
{
	uint64_t mask = sxt_rng_flip(&s->rng, 0, s->bits, (unsigned)sxt_rng_below(&s->rng, 17));
	simidx_query q = SIMIDX_QUERY_INIT;
	simidx_results results;
	uint8_t weights[64];

	for (unsigned b = 0; b < 64; b++)
		weights[b] = !(mask >> b & 1);
	q.fp = t_search_near(s);
	q.weights = weights;
	for (q.radius = 0; q.radius <= 6; q.radius++) {
		sxt_check_query(&s->model, s->model.n, s->reader, &q, &results);
		ck_assert_int_eq(results.complete_to, q.radius);
	}
}

/* A radius that just reaches a document: nothing that is passed over may be in it. */
static void search_edge(struct t_search *s)
{
	const sxt_doc *doc = &s->model.at[sxt_rng_below(&s->rng, s->model.n)];
	simidx_query q = SIMIDX_QUERY_INIT;
	uint8_t weights[64];

	for (unsigned b = 0; b < 64; b++)
		weights[b] = (uint8_t)(5 + sxt_rng_below(&s->rng, 3));
	q.fp = sxt_rng_flip(&s->rng, doc->fp, s->bits, 1 + (unsigned)sxt_rng_below(&s->rng, 3));
	q.weights = weights;
	q.radius = 0;
	for (uint64_t differ = q.fp ^ doc->fp; differ; differ &= differ - 1)
		q.radius += weights[__builtin_ctzll(differ)];
	sxt_check_query(&s->model, s->model.n, s->reader, &q, NULL);
	q.probes = 64;
	sxt_check_query(&s->model, s->model.n, s->reader, &q, NULL);
}

static void search_plain_fp2(struct t_search *s)
{
	simidx_query q = SIMIDX_QUERY_INIT;

	q.flags = SIMIDX_QUERY_FP2;
	q.fp = t_search_near(s);
	q.fp2 = sxt_rng_flip(&s->rng, s->common2, 64, 1);
	q.radius2 = (unsigned)sxt_rng_below(&s->rng, 20);
	for (q.radius = 0; q.radius <= 7; q.radius++)
		sxt_check_query(&s->model, s->model.n, s->reader, &q, NULL);
}

static void search_all(struct t_search *s)
{
	unsigned n = sxt_is_long() ? 200 : 8;

	for (unsigned i = 0; i < n; i++) {
		search_weighted(s);
		search_complete(s);
		search_masked(s);
		search_edge(s);
		if (s->flags & SIMIDX_CREATE_FP2)
			search_plain_fp2(s);
	}
}

/* Through block indexes and without, with the fresh rows read from the log and looked up. */
START_TEST(test_weighted_queries_equal_the_model)
{
	static const unsigned flags[] = { SIMIDX_CREATE_FP2, 0, SIMIDX_CREATE_NO_IDS };
	struct t_search s;

	t_search_init(&s, _i, flags[(_i / SXT_N_PLANS) % 3]);
	t_search_fill(&s, 800);
	t_search_store(&s, _i % 5 == 4 ? 0 : 500);
	for (int on = 0; on < 2; on++) {
		t_search_block_indexes(&s, on);
		search_all(&s);
	}
	/* Or this does not test what it says. */
	ck_assert(s.layout || _i % 5 == 4 || s.index->block_index_cache->bytes);
	t_search_end(&s);
}
END_TEST

/* A radius that no sum of weights reaches finds everything. */
START_TEST(test_huge_radius_finds_everything)
{
	static const unsigned radii[] = { 64 * 255, 1000000, INT32_MAX, 0x80000000u, UINT32_MAX };
	simidx_query q = SIMIDX_QUERY_INIT;
	uint8_t weights[64];
	simidx_results r;
	struct t_search s;

	t_search_init(&s, _i, 0);
	t_search_fill(&s, 300);
	t_search_store(&s, 200);
	q.weights = weights;
	for (unsigned kind = 0; kind < N_WEIGHTS; kind++) {
		for (unsigned b = 0; b < 64; b++)
			weights[b] = any_weight(&s.rng, (enum weights)kind, 1);
		for (unsigned i = 0; i < sizeof(radii) / sizeof(radii[0]); i++) {
			q.radius = radii[i];
			q.probes = 0;
			sxt_check_query(&s.model, s.model.n, s.reader, &q, &r);
			ck_assert_uint_eq(r.n, s.model.n);
			q.probes = 5;
			sxt_check_query(&s.model, s.model.n, s.reader, &q, NULL);
		}
	}
	t_search_end(&s);
}
END_TEST

/* By weights as texts have them, near to a document. */
static simidx_query text_like(struct t_search *s, uint8_t weights[64])
{
	simidx_query q = SIMIDX_QUERY_INIT;

	for (unsigned b = 0; b < 64; b++)
		weights[b] = (uint8_t)(sxt_rng_below(&s->rng, 60));
	q.fp = t_search_near(s);
	q.weights = weights;
	q.radius = 100;
	return q;
}

static int is_scan(struct t_search *s, const simidx_query *q)
{
	simidx_explanation e = SIMIDX_EXPLANATION_INIT;

	ck_assert_sx(simidx_reader_explain(s->reader, q, &e, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(e.choices[0].probes, e.results->probes);
	return !strcmp(e.choices[0].text, "scan of t01");
}

/* 128 documents for each probe and no more, wherever they are. */
static void check_small(struct t_search *s, unsigned probes, int is_small)
{
	uint8_t weights[64];
	simidx_results r;

	for (unsigned i = 0; i < 12; i++) {
		simidx_query q = text_like(s, weights);

		q.flags = SIMIDX_QUERY_SCAN_SMALL;
		q.probes = probes;
		q.max_bits = i % 2 ? 14 : 0;
		sxt_check_query(&s->model, s->model.n, s->reader, &q, &r);
		ck_assert_int_eq(is_scan(s, &q), is_small);
		ck_assert_uint_eq(r.probes, is_small ? 1 : probes);
		if (is_small)
			ck_assert_int_eq(r.complete_to, q.radius);
		/* Who asks for a number of probes alone gets these. */
		q.flags = 0;
		sxt_check_query(&s->model, s->model.n, s->reader, &q, &r);
		ck_assert_uint_eq(r.probes, probes);
		q.probes = 0;
		q.flags = SIMIDX_QUERY_SCAN_SMALL;
		sxt_check_query(&s->model, s->model.n, s->reader, &q, &r);
		ck_assert_int_eq(r.complete_to, q.radius);
	}
}

/* On both sides of the edge, with all documents in the tables, some of them, or none. */
START_TEST(test_small_indexes_are_searched_as_a_whole)
{
	static const unsigned n[] = { 1, 2, 128, 129, 384, 385 };
	struct t_search s;

	for (unsigned i = 0; i < sizeof(n) / sizeof(*n); i++) {
		t_search_init(&s, _i, 0);
		t_search_fill(&s, n[i]);
		t_search_store(&s, i % 3 == 2 ? n[i] : n[i] * (i % 3) / 2);
		for (int on = 0; on < 2; on++) {
			t_search_block_indexes(&s, on);
			check_small(&s, 1, n[i] <= 128);
			check_small(&s, 3, n[i] <= 384);
			s.index->fresh->rows_read = UINT64_MAX / 2;
		}
		t_search_end(&s);
	}
}
END_TEST

/* What is pending counts for who sees it, and what was deleted does not. */
START_TEST(test_size_is_that_of_the_snapshot)
{
	simidx_doc doc = SIMIDX_DOC_INIT;
	simidx_results r = SIMIDX_RESULTS_INIT;
	simidx_reader *own;
	simidx_writer *w;
	uint8_t weights[64];
	struct t_search s;
	simidx_query q;

	t_search_init(&s, _i, 0);
	t_search_fill(&s, 128);
	t_search_store(&s, 100);
	q = text_like(&s, weights);
	q.flags = SIMIDX_QUERY_SCAN_SMALL;
	q.probes = 1;
	w = sxt_writer(s.index, 0);
	ck_assert_sx(simidx_writer_put(w, &doc, NULL, &sxt_err), SIMIDX_OK);
	ck_assert_sx(simidx_writer_reader(w, &own, &sxt_err), SIMIDX_OK);
	ck_assert_sx(simidx_reader_search(own, &q, &r, &sxt_err), SIMIDX_OK);
	ck_assert_int_lt(r.complete_to, q.radius);
	ck_assert(is_scan(&s, &q));
	ck_assert_sx(simidx_writer_commit(w, &sxt_err), SIMIDX_OK);
	ck_assert(!is_scan(&s, &q));
	ck_assert_sx(simidx_writer_delete_id(w, s.model.at[0].id, &sxt_err), SIMIDX_OK);
	ck_assert_sx(simidx_writer_commit(w, &sxt_err), SIMIDX_OK);
	ck_assert(is_scan(&s, &q));
	sxt_merge(s.index);
	ck_assert(is_scan(&s, &q));
	simidx_writer_close(w);
	t_search_end(&s);
}
END_TEST

/* Fresh rows that are read from the log are found if the probes reach them, as in memory. */
START_TEST(test_log_and_memtable_have_the_same_answers)
{
	uint64_t ids[2][64];
	uint8_t weights[64];
	simidx_results r = SIMIDX_RESULTS_INIT;
	struct t_search s;
	size_t n[2], some_missed = 0;

	t_search_init(&s, _i, 0);
	t_search_fill(&s, 3000);
	t_search_store(&s, 0);
	for (unsigned i = 0; i < 60; i++) {
		simidx_query q = text_like(&s, weights);

		q.fp = sxt_rng_flip(&s.rng, q.fp, s.bits, 4);
		q.radius = 250;
		q.probes = 1 + i % 9;
		q.limit = 64;
		for (int looked_up = 0; looked_up < 2; looked_up++) {
			/* The same documents by another handle, which has read nothing. */
			if (!looked_up)
				t_search_open_with(&s, 0);
			s.index->fresh->rows_read = looked_up ? UINT64_MAX / 2 : 0;
			for (int again = 0; again <= 4 * looked_up; again++)
				ck_assert_sx(simidx_reader_search(s.reader, &q, &r, &sxt_err),
					     SIMIDX_OK);
			ck_assert_int_eq(s.index->fresh->memtable != NULL, looked_up);
			n[looked_up] = r.n;
			for (size_t j = 0; j < r.n; j++)
				ids[looked_up][j] = r.matches[j].id;
		}
		ck_assert_uint_eq(n[0], n[1]);
		ck_assert_mem_eq(ids[0], ids[1], n[0] * sizeof(ids[0][0]));
		q.probes = 0;
		ck_assert_sx(simidx_reader_search(s.reader, &q, &r, &sxt_err), SIMIDX_OK);
		some_missed += r.n > n[0];
	}
	ck_assert_uint_gt(some_missed, 0);
	t_search_end(&s);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_small_indexes_are_searched_as_a_whole, 0, SXT_N_PLANS * T_SEARCH_LAYOUTS },
	{ &test_size_is_that_of_the_snapshot, 0, SXT_N_PLANS * T_SEARCH_LAYOUTS },
	{ &test_log_and_memtable_have_the_same_answers, 0, SXT_N_PLANS },
	{ &test_weighted_queries_equal_the_model, 0, T_SEARCH_COMBINATIONS },
	{ &test_huge_radius_finds_everything, 0, SXT_N_PLANS * T_SEARCH_LAYOUTS },
};

SXT_SUITE(search_weighted, NULL, NULL);
