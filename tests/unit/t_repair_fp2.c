/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Documents whose second fingerprint a repair has not found: how they are searched, and that they
 * stay what they are.
 */

#include <simidx_repair.h>
#include <stdlib.h>

#include <simidx_load.h>

#include "support/sxt_fixture.h"
#include "support/sxt_query.h"
#include "support/sxt_repair.h"

static simidx_query any_query(const sxt_doc *doc, uint8_t weights[2][64])
{
	simidx_query q = SIMIDX_QUERY_INIT;
	unsigned flips = (unsigned)sxt_rng_below(&t_rng, 5);

	q.fp = sxt_rng_flip(&t_rng, doc->fp, 64, flips);
	q.fp2 = sxt_rng_flip(&t_rng, doc->fp2, 64, flips);
	q.flags = SIMIDX_QUERY_FP2 | (sxt_rng_below(&t_rng, 2) ? SIMIDX_QUERY_TEXT : 0);
	q.radius2 = (unsigned)sxt_rng_below(&t_rng, 12);
	q.radius = (unsigned)sxt_rng_below(&t_rng, 5);
	if (sxt_rng_below(&t_rng, 2)) {
		for (unsigned b = 0; b < 128; b++)
			weights[b / 64][b % 64] = (uint8_t)sxt_rng_below(&t_rng, 32);
		q.weights = weights[0];
		q.weights2 = sxt_rng_below(&t_rng, 2) ? weights[1] : NULL;
		q.radius = q.radius2 = (unsigned)sxt_rng_below(&t_rng, 145);
	}
	q.mode = sxt_rng_below(&t_rng, 3) ? SIMIDX_ALL : SIMIDX_COUNT;
	return q;
}

/* Searches and counts, the documents that are found and those of which nothing is known. */
static void check_searches(simidx *index, const sxt_model *left)
{
	simidx_reader *reader = sxt_reader(index);
	uint8_t weights[2][64];
	size_t alone = 0;

	for (unsigned i = 0; i < 2000; i++) {
		simidx_query q = any_query(&left->at[sxt_rng_below(&t_rng, left->n)], weights);
		simidx_results results = SIMIDX_RESULTS_INIT;
		size_t n;
		sxt_found *found = sxt_model_find(left, left->n, &q, &n);

		for (size_t k = 0; k < n; k++)
			alone += found[k].doc->lacks_fp2 != 0;
		if (q.mode == SIMIDX_ALL) {
			sxt_check_found(found, n, reader, &q, &results);
		} else {
			sxt_must_ok(simidx_reader_search(reader, &q, &results, &sxt_err));
			sxt_must_eq(results.count, n);
		}
		free(found);
	}
	ck_assert_uint_gt(alone, 100);
	simidx_reader_close(reader);
}

/* The documents that are left, as the model of an index. */
static sxt_model model_of_left(void)
{
	sxt_model left;

	sxt_model_init(&left, 64, t_flags);
	for (size_t d = 0; d < t_model.n; d++) {
		sxt_doc *doc;

		if (!t_is_left(d))
			continue;
		sxt_model_add(&left, 0, &t_rng);
		doc = &left.at[left.n - 1];
		*doc = t_model.at[d];
		doc->lacks_fp2 = !t_has_fp2(d);
		doc->id_given = 1;
		if (doc->lacks_fp2)
			doc->fp2 = doc->time = 0;
	}
	return left;
}

static void check_all(const char *path, const sxt_model *left)
{
	simidx *index = sxt_open(path, 0);

	sxt_check_content(left, left->n, index);
	check_searches(index, left);
	simidx_close(index);
}

/*
 * They are searched by the first fingerprint, stay so in every copy and through merges, and can be
 * put where there are such documents already.
 */
START_TEST(test_second_fingerprints_that_are_lost)
{
	simidx_create_options create = SIMIDX_CREATE_OPTIONS_INIT;
	char *path = sxt_path(t_dir, "new"), *copy = sxt_path(t_dir, "copy");
	simidx_loader *loader;
	simidx *index, *other;
	simidx_doc doc = SIMIDX_DOC_INIT;
	sxt_model left;

	t_repair_begin(2 + _i);
	for (size_t i = 0; i < t_n_entries; i++)
		if (t_entries[i].where == IN_POSTINGS && sxt_rng_below(&t_rng, 3))
			t_damage_entry(&t_entries[i]);
	ck_assert_sx(simidx_repair(t_path, path, NULL, NULL, NULL, NULL, &sxt_err), SIMIDX_OK);
	t_find_left();
	left = model_of_left();
	ck_assert_uint_eq(left.n, T_DOCUMENTS);
	check_all(path, &left);

	/* Some more, first as fresh rows. */
	index = sxt_open(path, 0);
	left.next_id = left.at[left.n - 1].id + 1;
	for (unsigned i = 0; i < 50; i++) {
		sxt_model_add(&left, i % 3 ? sxt_rng_u64(&t_rng) : 0, &t_rng);
		left.at[left.n - 1].lacks_fp2 = i % 2;
		if (i % 2)
			left.at[left.n - 1].fp2 = 0;
	}
	sxt_model_store(&left, T_DOCUMENTS, left.n, index);
	check_searches(index, &left);
	sxt_merge(index);
	simidx_close(index);
	check_all(path, &left);

	/* A copy by a loader, to which one that has no such documents is added. */
	create.flags = t_flags | SIMIDX_CREATE_TRUNCATE;
	create.profile = "of tests";
	ck_assert_sx(simidx_loader_open(copy, &create, NULL, &loader, &sxt_err), SIMIDX_OK);
	index = sxt_open(path, SIMIDX_OPEN_READ_ONLY);
	ck_assert_sx(simidx_loader_add_index(loader, index, &sxt_err), SIMIDX_OK);
	ck_assert_sx(simidx_loader_finish(loader, NULL, &sxt_err), SIMIDX_OK);
	simidx_loader_close(loader);
	simidx_close(index);
	check_all(copy, &left);

	/* An index without any takes none later. */
	sxt_remove(copy);
	create.flags = SIMIDX_CREATE_FP2;
	other = sxt_create(copy, &create);
	doc.flags = SIMIDX_DOC_FP2_UNKNOWN;
	{
		simidx_writer *writer = sxt_writer(other, 0);

		ck_assert_sx(simidx_writer_put(writer, &doc, NULL, &sxt_err), SIMIDX_E_MISMATCH);
		doc.flags |= SIMIDX_DOC_FP2;
		ck_assert_sx(simidx_writer_put(writer, &doc, NULL, &sxt_err), SIMIDX_E_ARG);
		simidx_writer_close(writer);
	}
	simidx_close(other);
	sxt_model_free(&left);
	free(path);
	free(copy);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_second_fingerprints_that_are_lost, 0, 2 },
};

SXT_SUITE(repair_fp2, t_repair_set_up, t_repair_tear_down);
