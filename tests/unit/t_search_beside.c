/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What simidx_reader_search_beside() tells of fingerprints that are not in the index: the same that
 * a search finds once documents have them. All plans, by patterns of weights, by covers and by
 * scans; in tables, among fresh rows, and in an empty index.
 */

#include <stdlib.h>

#include "support/sxt_fixture.h"
#include "support/sxt_index.h"

#define N_BESIDE 400

static const char *const plans[] = { "4x16", "10x26", "16x28", "20x31", "3x22", "2x32" };

#define N_PLANS (sizeof(plans) / sizeof(plans[0]))

/* About half of what is near to a fingerprint differs in more bits than probes reach. */
static uint64_t near(sxt_rng *rng, uint64_t fp)
{
	return sxt_rng_flip(rng, fp, 64, (unsigned)sxt_rng_below(rng, 20));
}

static void make_query(sxt_rng *rng, simidx_query *query, uint8_t weights[64])
{
	unsigned kind = (unsigned)sxt_rng_below(rng, 4);

	query->radius = (unsigned)sxt_rng_below(rng, 12);
	if (!kind)
		return;
	for (unsigned b = 0; b < 64; b++)
		weights[b] = (uint8_t)sxt_rng_below(rng, 40);
	query->weights = weights;
	query->radius = 20 + (unsigned)sxt_rng_below(rng, 300);
	query->max_bits = sxt_rng_below(rng, 2) ? 10 + (unsigned)sxt_rng_below(rng, 12) : 0;
	if (kind > 1)
		query->probes = 1 + (unsigned)sxt_rng_below(rng, 100);
}

/* Add documents with all of the fingerprints, and see which of them a search finds. */
static void search_all(simidx *index, const simidx_query *query, const uint64_t *fps,
		       uint8_t is_found[N_BESIDE])
{
	simidx_results results = SIMIDX_RESULTS_INIT;
	simidx_writer *writer = sxt_writer(index, 0);
	simidx_reader *reader;

	sxt_must_ok(simidx_writer_begin(writer, &sxt_err));
	for (uint64_t i = 0; i < N_BESIDE; i++)
		sxt_must_eq(t_put(writer, 1000000 + i, fps[i], NULL), SIMIDX_OK);
	sxt_must_ok(simidx_writer_reader(writer, &reader, &sxt_err));
	sxt_must_ok(simidx_reader_search(reader, query, &results, &sxt_err));
	memset(is_found, 0, N_BESIDE);
	for (size_t i = 0; i < results.n; i++)
		if (results.matches[i].id >= 1000000)
			is_found[results.matches[i].id - 1000000] = 1;
	simidx_writer_rollback(writer);
	simidx_writer_close(writer);
}

/* `stored`: documents in the tables, and as many fresh ones. */
static void check(const char *dir, const char *plan, unsigned stored, uint64_t seed)
{
	simidx_create_options options = SIMIDX_CREATE_OPTIONS_INIT;
	uint64_t fps[N_BESIDE], center;
	uint8_t is_found[N_BESIDE], weights[64];
	simidx_writer *writer;
	simidx_reader *reader;
	size_t n_found = 0, n_missed = 0;
	char *path;
	simidx *index;
	sxt_rng rng;

	options.plan = plan;
	path = sxt_path(dir, plan);
	index = sxt_create(path, &options);
	writer = sxt_writer(index, 0);
	sxt_rng_init(&rng, seed);
	center = sxt_rng_u64(&rng);
	for (unsigned i = 0; i < 2 * stored; i++) {
		sxt_must_eq(t_put(writer, i, near(&rng, center), NULL), SIMIDX_OK);
		if (i + 1 == stored) {
			sxt_commit(writer);
			sxt_must_ok(simidx_writer_merge(writer, &sxt_err));
		}
	}
	if (stored)
		sxt_commit(writer);
	simidx_writer_close(writer);
	reader = sxt_reader(index);
	for (unsigned i = 0; i < 60; i++) {
		simidx_query query = SIMIDX_QUERY_INIT;
		simidx_results results = SIMIDX_RESULTS_INIT;
		const uint32_t *beside;
		size_t n, at = 0;

		query.fp = near(&rng, center);
		make_query(&rng, &query, weights);
		for (unsigned k = 0; k < N_BESIDE; k++)
			fps[k] = near(&rng, query.fp);
		sxt_must_ok(simidx_reader_search_beside(reader, &query, fps, N_BESIDE, &results,
							&beside, &n, &sxt_err));
		search_all(index, &query, fps, is_found);
		for (uint32_t k = 0; k < N_BESIDE; k++) {
			int is_told = at < n && beside[at] == k;

			at += (size_t)is_told;
			sxt_must_eq(is_told, is_found[k]);
			n_found += is_found[k];
			n_missed += !is_found[k];
		}
		sxt_must_eq(at, n);
	}
	sxt_must(n_found > 100 && n_missed > 100);
	simidx_reader_close(reader);
	simidx_close(index);
	free(path);
}

START_TEST(test_beside)
{
	check(t_dir, plans[_i % N_PLANS], _i < (int)N_PLANS ? 0 : 500, 77 + (uint64_t)_i);
}
END_TEST

START_TEST(test_bad_arguments)
{
	simidx *index = t_numbered(t_path, 10, 0);
	simidx_reader *reader = sxt_reader(index);
	simidx_query query = SIMIDX_QUERY_INIT;
	simidx_results results = SIMIDX_RESULTS_INIT;
	const uint64_t fp = 1;
	const uint32_t *beside;
	size_t n;

	ck_assert_int_eq(simidx_reader_search_beside(reader, &query, NULL, 1, &results, &beside, &n,
						     &sxt_err), SIMIDX_E_ARG);
	ck_assert_int_eq(simidx_reader_search_beside(reader, &query, &fp, 1, &results, NULL, &n,
						     &sxt_err), SIMIDX_E_ARG);
	ck_assert_int_eq(simidx_reader_search_beside(reader, &query, &fp, 1, &results, &beside,
						     NULL, &sxt_err), SIMIDX_E_ARG);
	query.max_candidates = 5;
	ck_assert_int_eq(simidx_reader_search_beside(reader, &query, &fp, 1, &results, &beside, &n,
						     &sxt_err), SIMIDX_E_ARG);
	query.max_candidates = 0;
	query.weights = (const uint8_t[64]){ 1 };
	query.complete = 1;
	ck_assert_int_eq(simidx_reader_search_beside(reader, &query, &fp, 1, &results, &beside, &n,
						     &sxt_err), SIMIDX_E_ARG);
	query.complete = 0;
	query.mode = SIMIDX_COUNT;
	ck_assert_int_eq(simidx_reader_search_beside(reader, &query, &fp, 1, &results, &beside, &n,
						     &sxt_err), SIMIDX_E_ARG);
	query.mode = SIMIDX_ALL;
	sxt_must_ok(simidx_reader_search_beside(reader, &query, NULL, 0, &results, &beside, &n,
						&sxt_err));
	ck_assert_uint_eq(n, 0);
	simidx_reader_close(reader);
	simidx_close(index);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_beside, 0, 2 * N_PLANS },
	{ &test_bad_arguments, 0, 1 },
};

SXT_SUITE(search_beside, sxt_set_up_path, sxt_tear_down);
