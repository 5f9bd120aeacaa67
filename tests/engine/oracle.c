/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Searches in an index that an engine holds, compared with a linear scan. SIMIDX_TEST_URI names the
 * index, which is replaced by each test; without it the engine in memory has it.
 */

#include <stdlib.h>
#include <string.h>

#include <simidx_batch.h>
#include <simidx_check.h>
#include <simidx_info.h>

#include "engine/subject.h"
#include "support/sxt_batch.h"
#include "support/sxt_query.h"

/* ---- radius ---- */

static void search_radii(struct subject *s, size_t n, simidx_reader *reader, unsigned times)
{
	for (unsigned i = 0; i < times; i++)
		for (unsigned k = 0; k <= 7; k++)
			sxt_check_search(&s->model, n, reader, subject_near(s, i), k);
	sxt_check_search(&s->model, n, reader, subject_near(s, 1), s->bits);
	sxt_check_search(&s->model, n, reader, subject_near(s, 2), 17 < s->bits ? 17 : s->bits);
}

/* In two commits; then with what a writer has not committed; then after it has taken that back. */
START_TEST(test_searches_equal_the_model)
{
	static const unsigned widths[] = { 64, 48, 33, 16 };
	unsigned bits = widths[_i / N_PLANS];
	simidx_reader *own;
	simidx_writer *w;
	struct subject s;

	subject_begin(&s, plans[_i % N_PLANS], bits, _i % 2 ? SIMIDX_CREATE_FP2 : 0);
	search_radii(&s, 0, s.reader, 1);
	sxt_check_content(&s.model, 0, s.index);
	subject_fill(&s, 600);
	sxt_model_store(&s.model, 0, 300, s.index);
	sxt_model_store(&s.model, 300, 500, s.index);
	search_radii(&s, 500, s.reader, 12);
	sxt_check_content(&s.model, 500, s.index);
	w = sxt_writer(s.index, 0);
	sxt_must_ok(simidx_writer_reader(w, &own, &sxt_err));
	sxt_model_put(&s.model, 500, 600, w);
	search_radii(&s, 600, own, 6);
	search_radii(&s, 500, s.reader, 2);
	simidx_writer_rollback(w);
	ck_assert_sx(simidx_writer_begin(w, &sxt_err), SIMIDX_OK);
	search_radii(&s, 500, own, 2);
	simidx_writer_close(w);
	subject_end(&s);
}
END_TEST

/* ---- weights, second fingerprints, modes ---- */

/* All modes find what the linear scan finds. */
static void check_modes(struct subject *s, simidx_query q)
{
	size_t n;
	sxt_found *found = sxt_model_find(&s->model, s->model.n, &q, &n);
	simidx_results r;

	sxt_check_found(found, n, s->reader, &q, &r);
	ck_assert_uint_eq(r.count, n);
	ck_assert_int_eq(r.complete_to, q.radius);
	q.mode = SIMIDX_COUNT;
	sxt_check_found(found, n, s->reader, &q, &r);
	ck_assert_uint_eq(r.count, n);
	q.mode = SIMIDX_FIRST;
	sxt_check_found(found, n, s->reader, &q, &r);
	ck_assert_uint_eq(r.n, n > 0);
	for (q.limit = 1; q.limit < 20; q.limit += 6) {
		q.mode = SIMIDX_ALL;
		sxt_check_found(found, n, s->reader, &q, &r);
		ck_assert_uint_eq(r.n, n < q.limit ? n : q.limit);
		ck_assert_int_eq(r.truncated, n > q.limit ? SIMIDX_CUT_LIMIT : 0);
		q.mode = SIMIDX_NEAREST;
		sxt_check_found(found, n, s->reader, &q, &r);
		ck_assert_uint_eq(r.n, n < q.limit ? n : q.limit);
		ck_assert_int_eq(r.truncated, 0);
		for (size_t i = 0; i < r.n; i++)
			ck_assert_uint_eq(r.matches[i].id, found[i].doc->id);
	}
	free(found);
}

/* Also where a number of probes, or of candidates, or a distance limits what is found. */
START_TEST(test_queries_of_all_kinds)
{
	unsigned n = sxt_is_long() ? 200 : 40;
	uint8_t weights[64], weights2[64];
	struct subject s;

	subject_begin(&s, plans[_i % N_PLANS], _i / N_PLANS ? 64 : 40,
		      _i % 2 ? 0 : SIMIDX_CREATE_FP2);
	subject_fill(&s, 700);
	for (size_t i = 0; i < s.model.n && s.flags; i += 9) {
		s.model.at[i].lacks_fp2 = 1;
		s.model.at[i].fp2 = 0;
	}
	sxt_model_store(&s.model, 0, s.model.n, s.index);
	for (unsigned i = 0; i < n; i++) {
		simidx_query q = subject_any_query(&s, i, weights, weights2);

		check_modes(&s, q);
		q.max_candidates = 1 + sxt_rng_below(&s.rng, 40);
		sxt_check_query(&s.model, s.model.n, s.reader, &q, NULL);
		q.max_candidates = 0;
		if (!q.weights)
			continue;
		q.complete = 1 + (unsigned)sxt_rng_below(&s.rng, q.radius + 5);
		sxt_check_query(&s.model, s.model.n, s.reader, &q, NULL);
		q.complete = 0;
		q.probes = 1 + (unsigned)sxt_rng_below(&s.rng, 60);
		sxt_check_query(&s.model, s.model.n, s.reader, &q, NULL);
		q.flags |= SIMIDX_QUERY_SCAN_SMALL;
		sxt_check_query(&s.model, s.model.n, s.reader, &q, NULL);
	}
	sxt_check_content(&s.model, s.model.n, s.index);
	subject_end(&s);
}
END_TEST

/* One wait for the probes, one for the documents if rows do not suffice; or for a walk. */
START_TEST(test_explain_counts_round_trips)
{
	simidx_explanation e = SIMIDX_EXPLANATION_INIT;
	simidx_query q = SIMIDX_QUERY_INIT;
	struct subject s;

	subject_begin(&s, plans[_i], 64, 0);
	subject_fill(&s, 400);
	sxt_model_store(&s.model, 0, s.model.n, s.index);
	q.fp = s.model.at[7].fp;
	q.radius = 2;
	ck_assert_sx(simidx_reader_explain(s.reader, &q, &e, &sxt_err), SIMIDX_OK);
	ck_assert_uint_ge(e.n_choices, 1);
	ck_assert_uint_ge(e.results->count, 1);
	ck_assert_uint_ge(e.results->round_trips, engines_in_memory() ? 2 : 1);
	ck_assert_uint_le(e.results->round_trips, 3);
	subject_end(&s);
}
END_TEST

/* ---- batches ---- */

START_TEST(test_batches_equal_single_queries)
{
	enum { N = 330 };
	static uint8_t weights[N][64], weights2[N][64];
	static simidx_query q[N];
	struct subject s;

	subject_begin(&s, plans[_i], 64, SIMIDX_CREATE_FP2);
	subject_fill(&s, 700);
	sxt_model_store(&s.model, 0, s.model.n, s.index);
	for (unsigned i = 0; i < N; i++) {
		q[i] = subject_any_query(&s, i, weights[i], weights2[i]);
		q[i].limit = i % 4 ? 0 : 1 + i % 7;
		q[i].mode = i % 11 == 5 ? SIMIDX_COUNT
			    : i % 11 == 8 && q[i].limit ? SIMIDX_NEAREST : SIMIDX_ALL;
	}
	t_batch_check(s.index, q, N, 1);
	t_batch_check(s.index, q, N, 3);
	t_batch_check(s.index, q, 1, 1);
	subject_end(&s);
}
END_TEST

static int add_round_trips(void *ctx, size_t i, const simidx_results *results)
{
	(void)i;
	*(uint64_t *)ctx += results->round_trips;
	return 0;
}

/* A hundred queries wait as often as one, and not a hundred times. */
START_TEST(test_batches_share_round_trips)
{
	simidx_query q[100];
	uint64_t round_trips = 0;
	simidx_batch_options o = { sizeof(o), 1, add_round_trips, &round_trips, NULL };
	struct subject s;

	subject_begin(&s, "4x16", 64, 0);
	for (unsigned i = 0; i < 3000; i++)
		subject_add(&s, subject_any(&s));
	sxt_model_store(&s.model, 0, s.model.n, s.index);
	for (unsigned i = 0; i < 100; i++) {
		q[i] = (simidx_query)SIMIDX_QUERY_INIT;
		q[i].fp = s.model.at[i * 3].fp;
	}
	ck_assert_sx(simidx_reader_search_batch(s.reader, q, 100, &o, &sxt_err), SIMIDX_OK);
	ck_assert_uint_ge(round_trips, engines_in_memory() ? 2 : 1);
	ck_assert_uint_le(round_trips, 8);
	subject_end(&s);
}
END_TEST

static simidx_results ask(struct subject *s, simidx_query q)
{
	simidx_results r = SIMIDX_RESULTS_INIT;

	sxt_must_ok(simidx_reader_search(s->reader, &q, &r, &sxt_err));
	return r;
}

/* ---- the nearest ---- */

static simidx_query nearest(uint64_t fp, uint64_t limit)
{
	simidx_query q = SIMIDX_QUERY_INIT;

	q.fp = fp;
	q.radius = 64;
	q.mode = SIMIDX_NEAREST;
	q.limit = limit;
	return q;
}

/* A document within a distance of 3 has one of four prefixes, which are probed first. */
START_TEST(test_the_nearest_take_few_probes_when_they_are_near)
{
	struct subject s;
	simidx_results r;

	subject_begin(&s, "4x16", 64, 0);
	for (unsigned i = 0; i < 3000; i++)
		subject_add(&s, subject_any(&s));
	sxt_model_store(&s.model, 0, s.model.n, s.index);
	r = ask(&s, nearest(s.model.at[5].fp ^ 7, 1));
	ck_assert_uint_eq(r.n, 1);
	ck_assert_uint_eq(r.matches[0].fp, s.model.at[5].fp);
	ck_assert_uint_eq(r.probes, 4);
	ck_assert_uint_ge(r.round_trips, engines_in_memory() ? 2 : 1);
	ck_assert_uint_le(r.round_trips, 2);
	subject_end(&s);
}
END_TEST

/*
 * All documents differ in nearly all bits of each prefix, so that probes find none: each is
 * compared once by one walk. A hundred queries wait no more often than one, as they share the walk.
 */
START_TEST(test_the_nearest_take_one_walk_when_they_are_far)
{
	enum { N = 3000 };
	uint64_t fp = UINT64_C(0x0123456789abcdef), round_trips = 0;
	simidx_batch_options o = { sizeof(o), 1, add_round_trips, &round_trips, NULL };
	simidx_query q[100];
	struct subject s;
	simidx_results r;

	subject_begin(&s, "4x16", 64, 0);
	for (unsigned i = 0; i < N; i++)
		subject_add(&s, ~fp ^ (uint64_t)1 << i % 64);
	sxt_model_store(&s.model, 0, s.model.n, s.index);
	r = ask(&s, nearest(fp, 4));
	ck_assert_uint_eq(r.n, 4);
	ck_assert_uint_eq(r.matches[0].distance, 63);
	ck_assert_uint_eq(r.candidates, N);
	/*
	 * At most one wait for each 4 bits of the radius, one for the walk, and one for documents.
	 */
	ck_assert_uint_le(r.round_trips, 64 / 4 + 2);
	for (unsigned i = 0; i < 100; i++)
		q[i] = nearest(fp, 4);
	ck_assert_sx(simidx_reader_search_batch(s.reader, q, 100, &o, &sxt_err), SIMIDX_OK);
	ck_assert_uint_le(round_trips, r.round_trips);
	subject_end(&s);
}
END_TEST

/* Empty texts are near to nothing, so what is farther away makes up the number. */
START_TEST(test_the_nearest_of_a_batch_are_no_empty_texts)
{
	static const uint64_t fps[] = { 0, 0, 0, 3, 0xfff, 0x3fff, 0xffff };
	simidx_query q[2];
	struct subject s;
	simidx_results r;

	subject_begin(&s, plans[_i], 64, 0);
	for (size_t i = 0; i < sizeof(fps) / sizeof(fps[0]); i++)
		subject_add(&s, fps[i]);
	sxt_model_store(&s.model, 0, s.model.n, s.index);
	for (unsigned i = 0; i < 2; i++) {
		q[i] = nearest(1 + i, 3);
		q[i].flags = SIMIDX_QUERY_TEXT;
	}
	r = ask(&s, q[0]);
	ck_assert_uint_eq(r.n, 3);
	ck_assert_uint_eq(r.matches[0].fp, 3);
	ck_assert_uint_eq(r.matches[1].fp, 0xfff);
	ck_assert_uint_eq(r.matches[2].fp, 0x3fff);
	t_batch_check(s.index, q, 2, 1);
	subject_end(&s);
}
END_TEST

/* ---- very many documents of one fingerprint ---- */

#define MANY 100000

START_TEST(test_many_documents_of_one_fingerprint)
{
	uint64_t fp = UINT64_C(0x123456789abcdef0);
	simidx_query q = SIMIDX_QUERY_INIT;
	/* An engine in a database may need some pages for all rows of the fingerprint. */
	unsigned round_trips = engines_in_memory() ? 3 : 3 + 3;
	struct subject s;
	simidx_writer *w;
	simidx_results r;

	subject_begin(&s, "4x16", 64, 0);
	for (unsigned i = 0; i < MANY; i++)
		subject_add(&s, fp ^ (i % 1000 == 1));
	for (size_t i = 0; i < s.model.n; i++)
		s.model.at[i] = (sxt_doc){ .id = i, .fp = s.model.at[i].fp };
	sxt_model_store(&s.model, 0, s.model.n, s.index);
	q.fp = fp;
	r = ask(&s, q);
	ck_assert_uint_eq(r.n, MANY);
	for (size_t i = 0; i < MANY; i++)
		sxt_must_eq(r.matches[i].distance, (unsigned)(i >= MANY - MANY / 1000));
	q.mode = SIMIDX_COUNT;
	r = ask(&s, q);
	ck_assert_uint_eq(r.count, MANY);
	ck_assert_uint_eq(r.fingerprints, 2);
	q.mode = SIMIDX_FIRST;
	r = ask(&s, q);
	ck_assert_uint_eq(r.n, 1);
	ck_assert_uint_le(r.round_trips, round_trips);
	q.mode = SIMIDX_ALL;
	q.limit = 3;
	r = ask(&s, q);
	ck_assert_uint_eq(r.n, 3);
	ck_assert_uint_eq(r.matches[2].id, 3);
	ck_assert_int_eq(r.truncated, SIMIDX_CUT_LIMIT);
	ck_assert_uint_le(r.round_trips, round_trips);
	/* Of those that are gone, no more are met than were deleted. */
	w = sxt_writer(s.index, 0);
	for (uint64_t id = 0; id < 50; id++)
		sxt_must_ok(simidx_writer_delete_id(w, id, &sxt_err));
	sxt_commit(w);
	simidx_writer_close(w);
	r = ask(&s, q);
	ck_assert_uint_eq(r.matches[0].id, 50);
	q.limit = 0;
	q.mode = SIMIDX_COUNT;
	r = ask(&s, q);
	ck_assert_uint_eq(r.count, MANY - 50);
	subject_end(&s);
}
END_TEST

/* ---- opening ---- */

START_TEST(test_an_index_is_opened_again)
{
	const uint64_t check_fps[2] = { 1, UINT64_C(0xfedcba9876543210) };
	simidx_create_options o = SIMIDX_CREATE_OPTIONS_INIT;
	simidx_info info = SIMIDX_INFO_INIT;
	simidx_open_options how = SIMIDX_OPEN_OPTIONS_INIT;
	simidx *index, *other;
	simidx_writer *w;

	o.plan = "10x26";
	o.bits = 48;
	o.profile = "words: some, in \xc3\xa9 line\nand another";
	o.check_fps = check_fps;
	o.n_check_fps = 2;
	o.flags = SIMIDX_CREATE_FP2 | SIMIDX_CREATE_TRUNCATE;
	sxt_must_ok(simidx_create(engines_uri(), &o, &index, &sxt_err));
	o.flags = SIMIDX_CREATE_FP2;
	ck_assert_sx(simidx_create(engines_uri(), &o, &other, &sxt_err), SIMIDX_E_EXISTS);
	ck_assert_ptr_null(other);
	how.flags = SIMIDX_OPEN_CREATE;
	how.create = &o;
	o.plan = "4x16"; /* what is there stays as it is */
	ck_assert_sx(simidx_open(engines_uri(), &how, &other, &sxt_err), SIMIDX_OK);
	ck_assert_sx(simidx_get_info(other, &info, &sxt_err), SIMIDX_OK);
	ck_assert_str_eq(info.plan, "10x26");
	ck_assert_uint_eq(info.bits, 48);
	ck_assert_uint_eq(info.flags, SIMIDX_CREATE_FP2);
	ck_assert_str_eq(info.profile, o.profile);
	ck_assert_uint_eq(info.n_check_fps, 2);
	ck_assert_uint_eq(info.check_fps[1], check_fps[1]);
	ck_assert_uint_eq(info.documents, 0);
	simidx_close(other);
	simidx_close(index);
	index = sxt_open(engines_uri(), SIMIDX_OPEN_READ_ONLY);
	ck_assert_sx(simidx_writer_open(index, NULL, &w, &sxt_err), SIMIDX_E_READ_ONLY);
	ck_assert_sx(simidx_mend(index, 0, NULL, NULL, NULL, &sxt_err), SIMIDX_E_READ_ONLY);
	ck_assert_sx(simidx_mend(index, SIMIDX_MEND_DRY_RUN, NULL, NULL, NULL, &sxt_err),
		     SIMIDX_OK);
	simidx_close(index);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_an_index_is_opened_again, 0, 1 },
	{ &test_searches_equal_the_model, 0, 4 * N_PLANS },
	{ &test_queries_of_all_kinds, 0, 2 * N_PLANS },
	{ &test_explain_counts_round_trips, 0, N_PLANS },
	{ &test_batches_equal_single_queries, 0, N_PLANS },
	{ &test_batches_share_round_trips, 0, 1 },
	{ &test_the_nearest_take_few_probes_when_they_are_near, 0, 1 },
	{ &test_the_nearest_take_one_walk_when_they_are_far, 0, 1 },
	{ &test_the_nearest_of_a_batch_are_no_empty_texts, 0, N_PLANS },
	{ &test_many_documents_of_one_fingerprint, 0, 1 },
};

SXT_SUITE(engine_oracle, engines_add, NULL);
