/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Batches: what simidx_reader_search() answers, query by query, in threads or not, sorted or not.
 */

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "local/sx_local_batch.h"
#include "local/sx_local_reader.h"
#include "search/sx_batch.h"
#include "support/sxt_batch.h"
#include "support/sxt_fixture.h"
#include "support/sxt_index.h"

#define MAX_THREADS 4

static sxt_model model;
static sxt_rng rng;

static void set_up(void)
{
	sxt_set_up_path();
	sxt_rng_init(&rng, 70);
	memset(&model, 0, sizeof(model));
}

static void tear_down(void)
{
	sxt_model_free(&model);
	sxt_tear_down();
}

/* Scans are not sorted; in sets as small as these they would be cheap. */
static void probe_always(simidx *index)
{
	static const sx_costs fixed_costs = { 100, 20, 0.5, 1e6, 0, 0 };
	index->costs = &fixed_costs;
}

/* ------------------------------------------------------------------------------------------
 * Documents and queries
 */

static void add_random(size_t n, uint64_t ones)
{
	uint64_t mask = model.bits < 64 ? (UINT64_C(1) << model.bits) - 1 : UINT64_MAX;

	while (n--)
		sxt_model_add(&model, (sxt_rng_u64(&rng) | ones) & mask, &rng);
}

/* Returns the centre. */
static uint64_t add_cluster(size_t n, unsigned width)
{
	uint64_t centre = sxt_rng_u64(&rng) >> (64 - model.bits);

	for (size_t i = 0; i < n; i++)
		sxt_model_add(&model,
			      sxt_rng_flip(&rng, centre, model.bits,
					   (unsigned)i % (width + 1)),
			      &rng);
	return centre;
}

/* All sorts: even, clustered, equal, and with a prefix in common. */
static void add_all(void)
{
	add_random(1200, 0);
	for (int c = 0; c < 12; c++)
		add_cluster(40, 6);
	add_cluster(150, 0);
	add_random(400, UINT64_C(0xffff) << (model.bits - 16));
	sxt_model_shuffle(&model, &rng);
}

static simidx *make(const char *plan, unsigned layout)
{
	simidx_create_options o = SIMIDX_CREATE_OPTIONS_INIT;

	o.plan = plan;
	o.layout = layout;
	o.bits = model.bits;
	o.flags = model.flags;
	return sxt_create(t_path, &o);
}

/* Most of the documents in the tables, the others fresh. */
static simidx *make_mixed(const char *plan, unsigned layout, size_t merged)
{
	simidx *index = make(plan, layout);

	sxt_model_store(&model, 0, merged, index);
	sxt_merge(index);
	if (merged < model.n)
		sxt_model_store(&model, merged, model.n, index);
	return index;
}

static simidx_query *queries_near(size_t n, unsigned radius)
{
	simidx_query *q = calloc(n ? n : 1, sizeof(*q));

	for (size_t i = 0; i < n; i++) {
		uint64_t fp = model.at[sxt_rng_below(&rng, model.n)].fp;

		q[i] = (simidx_query)SIMIDX_QUERY_INIT;
		q[i].fp = i % 3 ? sxt_rng_flip(&rng, fp, model.bits, (unsigned)i % 5)
				: sxt_rng_u64(&rng) >> (64 - model.bits);
		q[i].radius = radius;
	}
	return q;
}

/* ------------------------------------------------------------------------------------------
 * Answers
 */

/*
 * What the library decides about a batch once there are block indexes, which are made here; or
 * tests do not test what they say.
 */
static int is_sorted(simidx *index, const simidx_query *q, size_t n)
{
	simidx_reader *reader = sxt_reader(index);
	int sorted;

	ck_assert_sx(sx_view_renew(&reader->view, &sxt_err), SIMIDX_OK);
	sx_view_expect(&reader->view, SX_BLOCK_INDEX_CACHE_LOOKUPS);
	sorted = sx_local_bulk.is_worthwhile(reader, q, n);
	sx_view_reset(&reader->view);
	simidx_reader_close(reader);
	return sorted;
}

#define N_FORMS 4 /* second fingerprints; without ids; rows; without block indexes */

static void set_like(simidx_query *q, size_t n, unsigned variant)
{
	static const uint64_t limits[] = { 0, 1, 3 };

	for (size_t i = 0; i < n; i++) {
		q[i].limit = limits[variant % 3];
		q[i].flags = variant / 3 % 2 ? SIMIDX_QUERY_LABELS : 0;
		q[i].mode = variant % 7 == 3 ? SIMIDX_COUNT : SIMIDX_ALL;
		q[i].max_bits = variant % 11 == 5 ? 2 : 0;
	}
}

static void check_form(const char *plan, int form, size_t fresh)
{
	static const unsigned flags[N_FORMS] = { SIMIDX_CREATE_FP2, SIMIDX_CREATE_NO_IDS };
	size_t n = sxt_is_long() ? 300 : 100;
	simidx *index;

	sxt_model_init(&model, form == 2 ? 48 : 64, flags[form]);
	add_all();
	index = make_mixed(plan, form == 2 ? SIMIDX_LAYOUT_ROWS : SIMIDX_LAYOUT_BLOCKS,
			   model.n - fresh);
	if (form == 3)
		index->block_index_cache->max_bytes = SIMIDX_BLOCK_INDEX_NEVER;
	probe_always(index);
	index->tuning.batch_sorted_from = 1;
	index->tuning.batch_slice = n * 3 / 10;
	for (unsigned k = 0; k <= 7; k++)
		for (unsigned v = 0; v < 6; v++) {
			simidx_query *q = queries_near(n, k);

			set_like(q, n, v + 5 * k);
			if (k < 4)
				ck_assert_int_eq(is_sorted(index, q, n), form < 2);
			t_batch_check(index, q, n, 1 + (k + v) % MAX_THREADS);
			free(q);
		}
	simidx_close(index);
	sxt_model_free(&model);
	sxt_remove(t_path);
}

START_TEST(test_batch_equals_single_queries)
{
	for (int form = 0; form < N_FORMS; form++) {
		check_form(sxt_plans[_i], form, 0);
		check_form(sxt_plans[_i], form, 500);
	}
}
END_TEST

/*
 * Documents of one fingerprint, some of them in one block of postings and a few in the next; and
 * of one in many.
 */
START_TEST(test_runs_of_one_fingerprint)
{
	struct t_batch c = { 0 };
	simidx_query *q;
	simidx *index;

	sxt_model_init(&model, 64, 0);
	add_random(2000, 0);
	for (int i = 0; i < 60; i++)
		add_cluster(100, 0);
	add_cluster(8000, 0);
	index = make_mixed("4x16", SIMIDX_LAYOUT_BLOCKS, model.n);
	probe_always(index);
	index->tuning.batch_sorted_from = 1;
	q = queries_near(200, 3);
	for (size_t i = 0; i < 200; i++)
		q[i].limit = 150;
	ck_assert_int_eq(is_sorted(index, q, 200), 1);
	ck_assert_sx(t_batch_run(index, q, 200, 1, &c), SIMIDX_OK);
	free(q);
	simidx_close(index);
}
END_TEST

/* Each batch sees what was committed before it, though its reader is that of the one before. */
START_TEST(test_batch_sees_earlier_commits)
{
	struct t_batch c = { 0 };
	simidx_reader *reader;
	simidx_query *q;
	simidx *index;

	sxt_model_init(&model, 64, 0);
	add_all();
	q = queries_near(100, 3);
	index = make_mixed("4x16", SIMIDX_LAYOUT_BLOCKS, 500);
	reader = sxt_reader(index);
	ck_assert_sx(t_batch_run_by(reader, q, 100, 1, &c), SIMIDX_OK);
	add_random(300, 0);
	for (int i = 0; i < 50; i++) /* found by the same queries as before */
		sxt_model_add(&model, q[i].fp, &rng);
	sxt_model_store(&model, model.n - 350, model.n, index);
	ck_assert_sx(t_batch_run_by(reader, q, 100, 1, &c), SIMIDX_OK);
	sxt_merge(index);
	ck_assert_sx(t_batch_run_by(reader, q, 100, MAX_THREADS, &c), SIMIDX_OK);
	ck_assert_uint_eq(c.answers, 100);
	simidx_reader_close(reader);
	free(q);
	simidx_close(index);
}
END_TEST

/* A sorted batch reads what single queries read. */
START_TEST(test_batch_reads_what_single_queries_read)
{
	struct t_batch c = { .costs = 1 };
	simidx *index;

	sxt_model_init(&model, 64, 0);
	add_random(4000, 0);
	index = make_mixed("4x16", SIMIDX_LAYOUT_BLOCKS, model.n);
	probe_always(index);
	index->tuning.batch_sorted_from = 1;
	for (unsigned k = 0; k <= 7; k++) {
		simidx_query *q = queries_near(500, k);

		ck_assert_int_eq(is_sorted(index, q, 500), 1);
		/* The blocks have their rank samples once they have been read some times. */
		t_batch_check(index, q, 500, 1);
		ck_assert_sx(t_batch_run(index, q, 500, 1, &c), SIMIDX_OK);
		free(q);
	}
	simidx_close(index);
}
END_TEST

START_TEST(test_batches_of_all_sizes)
{
	static const size_t number[] = { 0, 1, 255, 256, 257, 9999, 10000, 10001 };
	simidx_query *q;
	simidx *index;

	sxt_model_init(&model, 64, 0);
	add_random(3000, 0);
	index = make_mixed("4x16", SIMIDX_LAYOUT_BLOCKS, 2900);
	q = queries_near(10001, 3);
	for (size_t i = 0; i < sizeof(number) / sizeof(*number); i++)
		for (unsigned threads = 0; threads <= MAX_THREADS; threads++)
			t_batch_check(index, q, number[i], threads);
	ck_assert_int_eq(is_sorted(index, q, 9999), 0);
	ck_assert_int_eq(is_sorted(index, q, 10000), 1);
	free(q);
	simidx_close(index);
}
END_TEST

/* Second fingerprints of queries differ, and do not matter but to tell texts without features. */
START_TEST(test_empty_texts_in_batches)
{
	static const unsigned flags[] = { 0, SIMIDX_CREATE_FP2, SIMIDX_CREATE_NO_IDS };
	simidx_query *q;
	simidx *index;

	sxt_model_init(&model, 64, flags[_i % 3]);
	add_all();
	for (unsigned i = 0; i < 200; i++)
		sxt_model_add(&model, sxt_rng_flip(&rng, 0, 64, i % 3), &rng);
	sxt_model_shuffle(&model, &rng);
	for (size_t i = 0; i < model.n; i += 2)
		model.at[i].fp2 = 0;
	index = make_mixed("4x16", SIMIDX_LAYOUT_BLOCKS, model.n - 400);
	probe_always(index);
	index->tuning.batch_sorted_from = 1;
	q = queries_near(600, 3);
	for (size_t i = 0; i < 600; i++) {
		q[i].flags = SIMIDX_QUERY_TEXT;
		q[i].mode = _i < 3 ? SIMIDX_ALL : SIMIDX_COUNT;
		if (i % 2)
			q[i].fp = sxt_rng_flip(&rng, 0, 64, (unsigned)i % 4);
		q[i].fp2 = i % 3 ? sxt_rng_u64(&rng) : 0;
	}
	ck_assert_int_eq(is_sorted(index, q, 600), 1);
	for (unsigned threads = 1; threads <= MAX_THREADS; threads++)
		t_batch_check(index, q, 600, threads);
	free(q);
	simidx_close(index);
}
END_TEST

/* Queries that have nothing in common are answered one after another. */
START_TEST(test_queries_with_nothing_in_common)
{
	uint8_t weights[64];
	simidx_query *q;
	simidx *index;

	for (unsigned b = 0; b < 64; b++)
		weights[b] = (uint8_t)(1 + b % 3);
	sxt_model_init(&model, 64, SIMIDX_CREATE_FP2);
	add_all();
	index = make_mixed("4x16", SIMIDX_LAYOUT_BLOCKS, model.n - 300);
	index->tuning.batch_sorted_from = 1;
	q = queries_near(1500, 3);
	for (size_t i = 0; i < 1500; i++) {
		set_like(&q[i], 1, (unsigned)i);
		q[i].radius = (unsigned)i % 6;
		q[i].mode = (unsigned)i % 4;
		q[i].limit += q[i].mode == SIMIDX_NEAREST;
		q[i].weights = i % 5 == 4 ? weights : NULL;
		q[i].max_candidates = i % 9 == 8 ? 5 : 0;
		if (i % 7 == 6) {
			q[i].flags |= SIMIDX_QUERY_FP2;
			q[i].radius2 = 40;
		}
	}
	ck_assert_int_eq(is_sorted(index, q, 1500), 0);
	for (unsigned threads = 1; threads <= MAX_THREADS; threads++)
		t_batch_check(index, q, 1500, threads);
	free(q);
	simidx_close(index);
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * Much
 */

/* One query for which fewer bits may differ than for the others. */
START_TEST(test_query_of_fewer_bits_than_others)
{
	simidx_query *q;
	simidx *index;

	sxt_model_init(&model, 64, 0);
	add_random(4000, 0);
	index = make_mixed("4x16", SIMIDX_LAYOUT_BLOCKS, 3000);
	index->tuning.batch_sorted_from = 1;
	q = queries_near(100, 3);
	ck_assert_int_eq(is_sorted(index, q, 100), 1);
	for (size_t i = 1; i < 100; i++) {
		q[i].max_bits = 1;
		t_batch_check(index, q, 100, 1);
		q[i].max_bits = 0;
	}
	free(q);
	simidx_close(index);
}
END_TEST

/* Queries into a range much larger than others are answered by themselves. */
START_TEST(test_query_into_hot_range_goes_alone)
{
	size_t hot = 0;
	const sx_local_search *search;
	void *sorted;
	size_t together = 0;
	simidx_reader *reader;
	simidx_query *q;
	simidx *index;

	sxt_model_init(&model, 64, SIMIDX_CREATE_NO_IDS);
	add_random(80000, UINT64_C(0xffff) << 48);
	add_random(20000, 0);
	index = make_mixed("4x16", SIMIDX_LAYOUT_BLOCKS, model.n);
	index->tuning.batch_sorted_from = 1;
	sxt_model_shuffle(&model, &rng);
	q = queries_near(400, 3);
	reader = sxt_reader(index);
	ck_assert_sx(sx_view_renew(&reader->view, &sxt_err), SIMIDX_OK);
	sx_view_expect(&reader->view, 400);
	search = reader->search;
	sorted = sx_local_bulk.create();
	ck_assert_int_eq(sx_local_bulk.is_worthwhile(reader, q, 400), 1);
	ck_assert_sx(sx_local_bulk.search(sorted, reader, q, 400, &together, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(together, 400);
	for (size_t i = 0; i < 400; i++) {
		simidx_results results = SIMIDX_RESULTS_INIT;
		unsigned before = search->near.runs;
		int is_hot = q[i].fp >> 48 == 0xffff;

		ck_assert_sx(sx_local_bulk.answer(sorted, reader, i, &results, &sxt_err),
			     SIMIDX_OK);
		/* Only a query that is searched for by itself looks anything up again. */
		ck_assert_int_eq(search->near.runs != before, is_hot);
		hot += is_hot;
	}
	ck_assert_uint_gt(hot, 100);
	sx_local_bulk.destroy(sorted);
	sx_view_reset(&reader->view);
	simidx_reader_close(reader);
	t_batch_check(index, q, 400, 1);
	t_batch_check(index, q, 400, 2);
	free(q);
	simidx_close(index);
}
END_TEST

/* Answers in pieces, with labels or without: none, one, and what just fits or just does not. */
START_TEST(test_long_answers_come_in_pieces)
{
	const size_t piece = T_BATCH_PIECE;
	const uint64_t limits[] = { 1, piece - 1, piece, piece + 1, 2 * piece, 0 };
	simidx_query q[12];
	simidx *index;
	uint64_t fp;

	sxt_model_init(&model, 64, 0);
	fp = add_cluster(2 * piece + 7, 0);
	index = make_mixed("4x16", SIMIDX_LAYOUT_BLOCKS, model.n - 3);
	probe_always(index);
	for (size_t i = 0; i < 12; i++) {
		q[i] = (simidx_query)SIMIDX_QUERY_INIT;
		q[i].fp = i == 7 ? ~fp : fp;
		q[i].limit = limits[i / 2];
		q[i].flags = i % 2 ? SIMIDX_QUERY_LABELS : 0;
	}
	t_batch_check(index, q, 12, 1);
	for (size_t i = 0; i < 12; i++)
		q[i] = (simidx_query){ .size = sizeof(*q), .fp = i == 7 ? ~fp : fp, .radius = 1 };
	index->tuning.batch_sorted_from = 1;
	index->tuning.batch_slice = 4;
	ck_assert_int_eq(is_sorted(index, q, 12), 1);
	t_batch_check(index, q, 12, 1);
	t_batch_check(index, q, 12, 3);
	simidx_close(index);
}
END_TEST

/* More hits than are worth gathering, and fingerprints with more documents than that. */
START_TEST(test_more_matches_than_are_gathered)
{
	uint64_t centre[2];
	simidx_query *q;
	simidx *index;

	sxt_model_init(&model, 64, 0);
	centre[0] = add_cluster(600, 2);
	centre[1] = add_cluster(150, 0);
	add_random(8000, 0);
	sxt_model_shuffle(&model, &rng);
	index = make_mixed("4x16", SIMIDX_LAYOUT_BLOCKS, model.n);
	index->tuning.batch_sorted_from = 1;
	for (unsigned limit = 0; limit <= 100; limit += 100) {
		q = queries_near(1000, 3);
		for (size_t i = 0; i < 1000; i++) {
			q[i].fp = sxt_rng_flip(&rng, centre[i % 8 == 7], 64, (unsigned)i % 2);
			q[i].limit = limit;
			q[i].flags = SIMIDX_QUERY_LABELS;
		}
		ck_assert_int_eq(is_sorted(index, q, 1000), 1);
		t_batch_check(index, q, 1000, 1); /* too many */
		t_batch_check(index, q, 100, 1);  /* not so */
		t_batch_check(index, q, 1000, 3);
		free(q);
	}
	simidx_close(index);
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * Before the end
 */

static simidx *make_even(unsigned bits, size_t n)
{
	sxt_model_init(&model, bits, 0);
	add_random(n, 0);
	return make_mixed("4x16", SIMIDX_LAYOUT_BLOCKS, n);
}

START_TEST(test_callback_stops_batch)
{
	static const size_t stops[] = { 1, 2, 256, 257, 1000, 2000 };
	simidx *index = make_even(64, 2000);
	simidx_query *q = queries_near(2000, 3);

	probe_always(index);
	index->tuning.batch_slice = 500;
	for (int sorted = 0; sorted < 2; sorted++) {
		index->tuning.batch_sorted_from = sorted ? 1 : SIZE_MAX;
		ck_assert_int_eq(is_sorted(index, q, 2000), sorted);
		for (size_t s = 0; s < sizeof(stops) / sizeof(*stops); s++)
			for (unsigned threads = 1; threads <= MAX_THREADS; threads++) {
				struct t_batch c = { .stop_at = stops[s] };

				ck_assert_sx(t_batch_run(index, q, 2000, threads, &c),
					     SIMIDX_E_STOPPED);
				ck_assert_uint_ge(c.answers, stops[s]);
				/* Each of the others may be at one, too. */
				ck_assert_uint_lt(c.answers, stops[s] + threads);
			}
	}
	free(q);
	simidx_close(index);
}
END_TEST

/* A query that fails ends it; in one thread after the answers to those before it. */
START_TEST(test_bad_query_ends_batch)
{
	static const size_t places[] = { 0, 1, 255, 256, 700, 1999 };
	simidx *index = make_even(48, 2000);
	simidx_query *q = queries_near(2000, 3);

	index->tuning.batch_sorted_from = 1;
	for (size_t p = 0; p < sizeof(places) / sizeof(*places); p++)
		for (unsigned threads = 1; threads <= MAX_THREADS; threads++) {
			simidx_query *bad = &q[places[p]], good = *bad;
			struct t_batch c = { 0 };

			bad->fp |= UINT64_C(1) << 48;
			ck_assert_sx(t_batch_run(index, q, 2000, threads, &c), SIMIDX_E_RANGE);
			ck_assert(threads > 1 || c.answers == places[p]);
			*bad = good;
			bad->newer_than = 1;
			ck_assert_sx(t_batch_run(index, q, 2000, threads, &c), SIMIDX_E_MISMATCH);
			ck_assert(threads > 1 || c.answers == places[p]);
			*bad = good;
		}
	free(q);
	simidx_close(index);
}
END_TEST

/* A number of threads that nobody can mean is not taken literally. */
START_TEST(test_absurd_number_of_threads)
{
	simidx_batch_options o = SIMIDX_BATCH_OPTIONS_INIT;
	simidx *index = make_even(64, 2000);
	simidx_query *q = queries_near(2000, 3);

	probe_always(index);
	index->tuning.batch_sorted_from = 1;
	ck_assert_int_eq(is_sorted(index, q, 2000), 1);
	for (o.threads = 255; o.threads; o.threads = o.threads < 258 ? o.threads + 1 : 0) {
		sx_batch batch = { index, q, 1000000, &o, .together = 1 };

		sx_batch_divide(&batch);
		ck_assert_uint_eq(batch.threads, o.threads < 256 ? o.threads : 256);
		ck_assert_uint_ge(batch.task * batch.threads, batch.n);
	}
	t_batch_check(index, q, 2000, UINT_MAX);
	free(q);
	simidx_close(index);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_batch_equals_single_queries, 0, SXT_N_PLANS },
	{ &test_runs_of_one_fingerprint, 0, 1 },
	{ &test_batch_sees_earlier_commits, 0, 1 },
	{ &test_batch_reads_what_single_queries_read, 0, 1 },
	{ &test_batches_of_all_sizes, 0, 1 },
	{ &test_empty_texts_in_batches, 0, 6 },
	{ &test_queries_with_nothing_in_common, 0, 1 },
	{ &test_query_of_fewer_bits_than_others, 0, 1 },
	{ &test_query_into_hot_range_goes_alone, 0, 1 },
	{ &test_more_matches_than_are_gathered, 0, 1 },
	{ &test_long_answers_come_in_pieces, 0, 1 },
	{ &test_callback_stops_batch, 0, 1 },
	{ &test_bad_query_ends_batch, 0, 1 },
	{ &test_absurd_number_of_threads, 0, 1 },
};

SXT_SUITE(index_batch, set_up, tear_down);
