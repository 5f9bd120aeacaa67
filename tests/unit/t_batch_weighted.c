/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Batches of queries by weights, each with its own: what each finds alone, costs included.
 */

#include <stdlib.h>
#include <string.h>

#include "local/sx_local_batch.h"
#include "support/sxt_batch.h"
#include "support/sxt_fixture.h"
#include "support/sxt_index.h"
#include "support/sxt_weights.h"

#define N 200
#define PROBES 32

static sxt_model model;
static sxt_rng rng;
static simidx_query query[10000];
static uint8_t weights[10000][64], weights2[64];

static void set_up(void)
{
	sxt_set_up_path();
	sxt_rng_init(&rng, 71);
	memset(&model, 0, sizeof(model));
}

static void tear_down(void)
{
	sxt_model_free(&model);
	sxt_tear_down();
}

/* Even ones, clusters, many copies of one, some with a prefix in common, all zero and all one. */
static void add_documents(size_t n)
{
	uint64_t mask = model.bits < 64 ? (UINT64_C(1) << model.bits) - 1 : UINT64_MAX;
	uint64_t centre = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t fp = sxt_rng_u64(&rng) & mask;

		if (i % 40 == 0)
			centre = fp;
		if (i % 4 == 1)
			fp = sxt_rng_flip(&rng, centre, model.bits, (unsigned)i % 9);
		if (i % 16 == 2)
			fp |= UINT64_C(0xffff) << (model.bits - 16);
		if (i % 16 == 3)
			fp = i % 32 == 3 ? 0 : mask;
		sxt_model_add(&model, fp, &rng);
	}
	sxt_model_shuffle(&model, &rng);
}

/* Most of them in the tables, the last `fresh` in the log. */
static simidx *make(const char *plan, unsigned layout, size_t fresh)
{
	/* In sets as small as these, scans would be cheap. */
	static const sx_costs fixed_costs = { 100, 20, 0.5, 1e6, 0, 0 };
	simidx_create_options o = SIMIDX_CREATE_OPTIONS_INIT;
	simidx *index;

	o.plan = plan;
	o.layout = layout;
	o.bits = model.bits;
	o.flags = model.flags;
	index = sxt_create(t_path, &o);
	sxt_model_store(&model, 0, model.n - fresh, index);
	sxt_merge(index);
	if (fresh)
		sxt_model_store(&model, model.n - fresh, model.n, index);
	index->costs = &fixed_costs;
	index->tuning.batch_sorted_from = 1;
	return index;
}

/* As texts ask, near to a document or to none. */
static void ask(size_t i)
{
	simidx_query *q = &query[i];

	*q = (simidx_query)SIMIDX_QUERY_INIT;
	make_weights(&rng, (unsigned)i, weights[i]);
	q->fp = sxt_rng_flip(&rng, model.at[sxt_rng_below(&rng, model.n)].fp, model.bits,
			     (unsigned)i % 7);
	q->weights = weights[i];
	q->radius = (unsigned)sxt_rng_below(&rng, i % 4 == 0 ? 800 : 60);
	q->probes = 1 + (unsigned)sxt_rng_below(&rng, PROBES);
	q->max_bits = (unsigned)sxt_rng_below(&rng, 14);
	if (model.flags & SIMIDX_CREATE_FP2 && i % 3) {
		q->flags |= SIMIDX_QUERY_FP2;
		q->fp2 = sxt_rng_flip(&rng, 0, 64, (unsigned)i % 30);
		q->weights2 = i % 2 ? weights2 : NULL;
		q->radius2 = q->radius + 300;
	}
	q->limit = i % 5 == 1;
	q->mode = i % 11 == 3 ? SIMIDX_COUNT : SIMIDX_ALL;
}

/* Some that do not go with the others: by the number of bits, or to be ended, or empty. */
static void ask_otherwise(size_t i)
{
	simidx_query *q = &query[i];

	switch (i % 7) {
	case 0:
		q->weights = NULL;
		q->probes = 0;
		q->radius %= 6;
		break;
	case 1:
		q->max_candidates = 1 + i % 9;
		break;
	case 2:
		q->mode = SIMIDX_FIRST;
		break;
	case 3:
		q->mode = SIMIDX_NEAREST;
		q->limit = 3;
		break;
	case 4: /* it is of a text without features */
		q->flags |= SIMIDX_QUERY_TEXT;
		q->fp = q->fp2 = 0;
		break;
	case 5: /* a scan, and more probes than queries have that are looked up with others */
		q->flags |= i % 2 ? SIMIDX_QUERY_SCAN_SMALL : 0;
		q->probes = 300;
		break;
	default: /* all up to a distance, by patterns or, with equal weights, by a cover */
		q->probes = 0;
		q->complete = i % 2 ? 20 : 0;
	}
}

static int is_sorted(simidx *index, size_t n)
{
	simidx_reader *reader = sxt_reader(index);
	int sorted;

	ck_assert_sx(sx_view_renew(&reader->view, &sxt_err), SIMIDX_OK);
	sx_view_expect(&reader->view, SX_BLOCK_INDEX_CACHE_LOOKUPS);
	sorted = sx_local_bulk.is_worthwhile(reader, query, n);
	sx_view_reset(&reader->view);
	simidx_reader_close(reader);
	return sorted;
}

/* The costs, too, once the blocks have been read so often that they have rank samples. */
static void check(simidx *index, size_t n, unsigned threads)
{
	struct t_batch c = { 0 };

	for (unsigned round = 0; round < 4; round++) {
		c.costs = round == 3;
		ck_assert_sx(t_batch_run(index, query, n, threads, &c), SIMIDX_OK);
		ck_assert_uint_eq(c.answers, n);
	}
}

#define N_FORMS 4 /* second fingerprints; without ids; 48 bits; rows */

START_TEST(test_batch_equals_single_queries)
{
	static const unsigned flags[N_FORMS] = { SIMIDX_CREATE_FP2, SIMIDX_CREATE_NO_IDS };

	for (int form = 0; form < N_FORMS; form++)
		for (size_t fresh = 0; fresh <= 300; fresh += 300) {
			simidx *index;

			sxt_model_init(&model, form == 2 ? 48 : 64, flags[form]);
			add_documents(2000);
			index = make(sxt_plans[_i],
				     form == 3 ? SIMIDX_LAYOUT_ROWS : SIMIDX_LAYOUT_BLOCKS, fresh);
			for (size_t i = 0; i < N; i++)
				ask(i);
			query[0].probes = PROBES;
			query[0].mode = SIMIDX_ALL;
			ck_assert_int_eq(is_sorted(index, N), form < 3);
			check(index, N, 1);
			check(index, N, 3);
			for (size_t i = 1; i < N; i += 3)
				ask_otherwise(i);
			ck_assert_int_eq(is_sorted(index, N), form < 3);
			check(index, N, 1);
			simidx_close(index);
			sxt_model_free(&model);
			sxt_remove(t_path);
		}
}
END_TEST

/* Those with many probes are sorted from fewer queries on. */
START_TEST(test_from_how_many_they_are_sorted)
{
	simidx *index;

	sxt_model_init(&model, 64, 0);
	add_documents(2000);
	index = make("4x16", SIMIDX_LAYOUT_BLOCKS, 0);
	index->tuning.batch_sorted_from = 1000;
	ask(0);
	query[0].mode = SIMIDX_ALL;
	query[0].probes = 64;
	ck_assert_int_eq(is_sorted(index, 62), 0);
	ck_assert_int_eq(is_sorted(index, 63), 1);
	query[0].probes = 16;
	ck_assert_int_eq(is_sorted(index, 249), 0);
	ck_assert_int_eq(is_sorted(index, 250), 1);
	simidx_close(index);
}
END_TEST

/* More probes than are kept at once: the batch is searched in parts. */
START_TEST(test_more_probes_than_are_kept)
{
	struct t_batch c = { 0 };
	simidx *index;

	sxt_model_init(&model, 64, 0);
	add_documents(500);
	index = make("4x16", SIMIDX_LAYOUT_BLOCKS, 100);
	for (size_t i = 0; i < 10000; i++) {
		ask(i);
		query[i].mode = SIMIDX_ALL;
		query[i].probes = 100;
		query[i].radius = 40;
	}
	ck_assert_int_eq(is_sorted(index, 10000), 1);
	ck_assert_sx(t_batch_run(index, query, 10000, 1, &c), SIMIDX_OK);
	ck_assert_uint_eq(c.answers, 10000);
	simidx_close(index);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_batch_equals_single_queries, 0, SXT_N_PLANS },
	{ &test_from_how_many_they_are_sorted, 0, 1 },
	{ &test_more_probes_than_are_kept, 0, 1 },
};

SXT_SUITE(batch_weighted, set_up, tear_down);
