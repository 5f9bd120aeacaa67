/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/* Engines that fail, break off, and leave rows behind; what is refused; registering. All with the
   engine in memory. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simidx_batch.h>
#include <simidx_check.h>
#include <simidx_info.h>
#include <simidx_join.h>
#include <simidx_load.h>
#include <simidx_repair.h>
#include <simidx_walk.h>

#include "engine/engines.h"
#include "support/sxt_query.h"

#define URI "memory://faults"

static simidx *t_index;
static sxt_model t_model;
static sxt_rng t_rng;

/* Clusters, so that most searches find something; every third with a label. */
static void set_up(void)
{
	uint64_t centre = 0;

	engines_add();
	memset(&memory_faults_now, 0, sizeof(memory_faults_now));
	sxt_rng_init(&t_rng, 4711);
	sxt_model_init(&t_model, 64, 0);
	for (unsigned i = 0; i < 300; i++) {
		centre = i % 20 ? centre : sxt_rng_u64(&t_rng);
		sxt_model_add(&t_model, sxt_rng_flip(&t_rng, centre, 64, i % 4), &t_rng);
	}
	t_index = engines_create(URI, "4x16", 64, 0);
	sxt_model_store(&t_model, 0, 200, t_index);
}

static void tear_down(void)
{
	simidx_close(t_index);
	sxt_model_free(&t_model);
	memory_clear();
}

static void check_all(size_t n)
{
	simidx_reader *reader = sxt_reader(t_index);

	for (unsigned i = 0; i < 20; i++)
		sxt_check_search(&t_model, n, reader, t_model.at[i * 7].fp, i % 5);
	simidx_reader_close(reader);
}

/* ---- calls that fail ---- */

static int ignore_answer(void *ctx, size_t i, const simidx_results *results)
{
	(void)ctx;
	(void)i;
	return results->n == 0;
}

/* What a program does with an index, until something fails. */
static int work(size_t *n)
{
	simidx_query q = SIMIDX_QUERY_INIT;
	simidx_query batch[3];
	simidx_batch_options options = { sizeof(options), 1, ignore_answer, NULL, NULL };
	simidx_results r = SIMIDX_RESULTS_INIT;
	simidx_reader *reader = NULL;
	simidx_writer *w = NULL;
	simidx_walk *walk = NULL;
	simidx_doc doc = SIMIDX_DOC_INIT;
	simidx_match m;
	uint64_t id;
	int rc;

	rc = simidx_writer_open(t_index, NULL, &w, &sxt_err);
	doc.fp = t_model.at[*n].fp;
	doc.label = "of work";
	doc.label_size = 7;
	if (!rc)
		rc = simidx_writer_put(w, &doc, &id, &sxt_err);
	if (!rc)
		rc = simidx_writer_delete_id(w, id, &sxt_err);
	doc.id = t_model.at[*n].id;
	doc.label = NULL;
	if (!rc)
		rc = simidx_writer_replace(w, &doc, &id, &sxt_err);
	if (!rc)
		rc = simidx_writer_delete_id(w, t_model.at[3].id, &sxt_err);
	simidx_writer_rollback(w);
	if (!rc)
		rc = simidx_reader_open(t_index, &reader, &sxt_err);
	q.fp = t_model.at[5].fp;
	q.radius = 7;
	if (!rc)
		rc = simidx_reader_search(reader, &q, &r, &sxt_err);
	q.radius = 40;
	if (!rc)
		rc = simidx_reader_search(reader, &q, &r, &sxt_err);
	for (size_t i = 0; i < 3; i++)
		batch[i] = q;
	if (!rc)
		rc = simidx_reader_search_batch(reader, batch, 3, &options, &sxt_err);
	if (!rc)
		rc = simidx_reader_find_id(reader, t_model.at[7].id, &m, &sxt_err);
	if (!rc)
		rc = simidx_reader_find_label(reader, t_model.at[1].label, t_model.at[1].label_size,
					      &m, &sxt_err);
	simidx_reader_close(reader);
	if (!rc)
		rc = simidx_walk_open(t_index, &walk, &sxt_err);
	while (!rc)
		rc = simidx_walk_next(walk, &m, &sxt_err);
	rc = rc == SIMIDX_E_END ? SIMIDX_OK : rc;
	simidx_walk_close(walk);
	if (!rc)
		rc = simidx_verify(t_index, NULL, NULL, NULL, &sxt_err);
	if (!rc)
		rc = simidx_writer_put(w, &doc, &id, &sxt_err);
	if (!rc) {
		rc = simidx_writer_commit(w, &sxt_err);
		*n += !rc;
	}
	simidx_writer_close(w);
	return rc;
}

/* Whichever call fails, the error is told, nothing else happens, and the next time all is well. */
START_TEST(test_each_call_fails_once)
{
	/* Some would be an answer if they were handed on. */
	static const int codes[] = { SIMIDX_E_IO, SIMIDX_E_CORRUPT, -1000, 7, SIMIDX_E_NOT_FOUND,
				     SIMIDX_E_EXISTS, SIMIDX_E_END };
	unsigned failed = 0;
	size_t n = 200;

	for (unsigned i = 1; i < 60; i++) {
		int rc, code = codes[i % 7];
		int want = code == SIMIDX_E_CORRUPT ? SIMIDX_E_CORRUPT : SIMIDX_E_IO;

		memory_faults_now.fail_in = i;
		memory_faults_now.fail_code = code;
		rc = work(&n);
		if (memory_faults_now.fail_in) {
			ck_assert_int_eq(rc, SIMIDX_OK);
			memory_faults_now.fail_in = 0;
			break;
		}
		failed++;
		ck_assert_int_eq(rc, want);
		ck_assert_int_eq(sxt_err.code, want);
		ck_assert_ptr_nonnull(strstr(sxt_err.text, "told to fail")); /* its own words */
	}
	ck_assert_uint_ge(failed, 12);
	ck_assert_uint_eq(n, 201);
	check_all(n);
	sxt_check_sound(t_index);
}
END_TEST

/* ---- writes that are broken off ---- */

/* Documents 0..9 get other fingerprints, 10..19 are deleted, and ten come. */
static int change_thirty(simidx_writer *w)
{
	for (size_t i = 0; i < 10; i++) {
		simidx_doc doc = SIMIDX_DOC_INIT;

		doc.id = t_model.at[i].id;
		doc.fp = ~t_model.at[i].fp;
		sxt_must_ok(simidx_writer_replace(w, &doc, NULL, &sxt_err));
	}
	for (size_t i = 10; i < 20; i++)
		sxt_must_ok(simidx_writer_delete_id(w, t_model.at[i].id, &sxt_err));
	sxt_model_put(&t_model, 200, 210, w);
	return simidx_writer_commit(w, &sxt_err);
}

/* Whether a search with radius 0 finds the document of an id. */
static int finds(simidx_reader *reader, uint64_t fp, uint64_t id)
{
	simidx_query q = SIMIDX_QUERY_INIT;
	simidx_results r = SIMIDX_RESULTS_INIT;
	int found = 0;

	q.fp = fp;
	q.radius = 0;
	sxt_must_ok(simidx_reader_search(reader, &q, &r, &sxt_err));
	for (size_t i = 0; i < r.n; i++)
		found += r.matches[i].id == id;
	sxt_must_le(found, 1);
	return found;
}

/* Each document is as before or as after, wherever one looks. Returns how many are as after. */
static unsigned check_thirty(void)
{
	simidx_reader *reader = sxt_reader(t_index);
	unsigned after = 0;

	for (size_t i = 0; i < 20; i++) {
		uint64_t id = t_model.at[i].id;
		int old = finds(reader, t_model.at[i].fp, id);
		int new = i < 10 ? finds(reader, ~t_model.at[i].fp, id) : !old;
		simidx_match m;

		sxt_must_eq(old + new, 1);
		after += (unsigned)new;
		if (simidx_reader_find_id(reader, id, &m, NULL))
			sxt_must(i >= 10 && new);
		else
			sxt_must_eq(m.fp, old ? t_model.at[i].fp : ~t_model.at[i].fp);
	}
	for (size_t i = 200; i < 210; i++)
		after += (unsigned)finds(reader, t_model.at[i].fp, t_model.at[i].id);
	simidx_reader_close(reader);
	return after;
}

/* After any number of steps; then what was left is found, and mended. */
START_TEST(test_a_broken_write_leaves_no_mixture)
{
	unsigned before = 0, n_problems = 0;

	for (unsigned steps = 0; steps <= 80; steps += 4) {
		simidx_verify_report r = SIMIDX_VERIFY_REPORT_INIT;
		unsigned after;
		simidx_writer *w;
		int rc;

		tear_down();
		set_up();
		memory_faults_now.break_writes = 1;
		memory_faults_now.steps_left = steps;
		w = sxt_writer(t_index, 0);
		rc = change_thirty(w);
		memory_faults_now.break_writes = 0;
		ck_assert_int_eq(rc, steps < 70 ? SIMIDX_E_UNKNOWN : SIMIDX_OK);
		ck_assert_uint_eq(simidx_writer_stored(w), rc ? 0 : 30);
		simidx_writer_close(w);
		after = check_thirty();
		ck_assert_uint_ge(after, before);
		before = after;
		rc = simidx_verify(t_index, NULL, NULL, &r, &sxt_err);
		ck_assert_int_eq(rc, r.problems ? SIMIDX_E_CORRUPT : SIMIDX_OK);
		n_problems += r.problems > 0;
		ck_assert_int_eq(simidx_mend(t_index, SIMIDX_MEND_DRY_RUN, NULL, NULL, NULL, NULL),
				 rc);
		ck_assert_sx(simidx_mend(t_index, 0, NULL, NULL, &r, &sxt_err), SIMIDX_OK);
		ck_assert_uint_eq(r.mended, r.problems);
		sxt_check_sound(t_index);
		ck_assert_uint_eq(check_thirty(), after);
	}
	ck_assert_uint_eq(before, 30);
	ck_assert_uint_ge(n_problems, 10);
}
END_TEST

/* What was broken off is to be stored before anything is looked up: the next transaction begins
   with that, once, whichever writer of the handle has it, and not at all if that fails. */
START_TEST(test_a_broken_write_is_finished_first)
{
	simidx_writer *a = sxt_writer(t_index, 0), *b = sxt_writer(t_index, 0);

	memory_faults_now.n_begun = 0;
	memory_faults_now.break_writes = 1;
	memory_faults_now.steps_left = 5;
	ck_assert_int_eq(change_thirty(a), SIMIDX_E_UNKNOWN);
	ck_assert_uint_eq(memory_faults_now.n_begun, 0);
	memory_faults_now.break_writes = 0;
	memory_faults_now.fail_in = 1;
	ck_assert_sx(simidx_writer_begin(b, &sxt_err), SIMIDX_E_IO);
	ck_assert_uint_eq(memory_faults_now.n_begun, 0);
	ck_assert_sx(simidx_writer_begin(a, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(memory_faults_now.n_begun, 1);
	simidx_writer_rollback(a);
	ck_assert_sx(simidx_writer_begin(b, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(memory_faults_now.n_begun, 1);
	simidx_writer_close(a);
	simidx_writer_close(b);
}
END_TEST

/* A commit of nothing does not say that all is well before what was broken off is finished, by
   whichever writer. */
START_TEST(test_a_commit_of_nothing_finishes_a_broken_write)
{
	simidx_writer *w = sxt_writer(t_index, 0), *other = sxt_writer(t_index, 0);

	memory_faults_now.n_begun = 0;
	ck_assert_sx(simidx_writer_commit(w, &sxt_err), SIMIDX_OK);
	memory_faults_now.break_writes = 1;
	ck_assert_int_eq(change_thirty(w), SIMIDX_E_UNKNOWN);
	memory_faults_now.break_writes = 0;
	memory_faults_now.fail_in = 1;
	ck_assert_sx(simidx_writer_commit(other, &sxt_err), SIMIDX_E_IO);
	ck_assert_uint_eq(memory_faults_now.n_begun, 0);
	ck_assert_sx(simidx_writer_commit(w, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(memory_faults_now.n_begun, 1);
	ck_assert_sx(simidx_writer_commit(w, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(memory_faults_now.n_begun, 1);
	simidx_writer_close(other);
	simidx_writer_close(w);
}
END_TEST

/* The first transaction of a handle, and the first one of a writer that goes on where another one
   has stopped. */
START_TEST(test_what_others_have_begun_is_finished_first)
{
	simidx_writer_options o = SIMIDX_WRITER_OPTIONS_INIT;
	simidx *other = sxt_open(URI, 0);
	simidx_writer *a = sxt_writer(other, 0), *b;

	memory_faults_now.n_begun = 0;
	for (int i = 0; i < 2; i++) {
		ck_assert_sx(simidx_writer_begin(a, &sxt_err), SIMIDX_OK);
		ck_assert_uint_eq(memory_faults_now.n_begun, 1);
		simidx_writer_rollback(a);
	}
	ck_assert_uint_eq(memory_faults_now.n_resumed, 0);
	o.flags = SIMIDX_WRITER_RESUME;
	ck_assert_sx(simidx_writer_open(other, &o, &b, &sxt_err), SIMIDX_OK);
	memory_faults_now.fail_in = 1;
	ck_assert_sx(simidx_writer_begin(b, &sxt_err), SIMIDX_E_IO);
	for (int i = 0; i < 2; i++) {
		ck_assert_sx(simidx_writer_begin(b, &sxt_err), SIMIDX_OK);
		ck_assert_uint_eq(memory_faults_now.n_resumed, 1);
		simidx_writer_rollback(b);
	}
	ck_assert_uint_eq(memory_faults_now.n_begun, 2);
	simidx_writer_close(a);
	simidx_writer_close(b);
	simidx_close(other);
}
END_TEST

/* Rows of documents that have changed stay, and each row comes twice. */
START_TEST(test_rows_that_are_left_over_are_no_matches)
{
	simidx_writer *w = sxt_writer(t_index, 0);
	simidx_query q = SIMIDX_QUERY_INIT;
	simidx_results r = SIMIDX_RESULTS_INIT;
	simidx_reader *reader;

	memory_faults_now.keeps_old_rows = memory_faults_now.sends_twice = 1;
	ck_assert_int_eq(change_thirty(w), SIMIDX_OK);
	simidx_writer_close(w);
	ck_assert_uint_eq(check_thirty(), 30);
	ck_assert_uint_eq(memory_rows(URI), 4 * (200 + 10 + 10));
	reader = sxt_reader(t_index);
	q.fp = t_model.at[0].fp;
	q.mode = SIMIDX_COUNT;
	ck_assert_sx(simidx_reader_search(reader, &q, &r, &sxt_err), SIMIDX_OK);
	ck_assert_uint_lt(r.count, r.candidates);
	simidx_reader_close(reader);
	ck_assert_sx(simidx_mend(t_index, 0, NULL, NULL, NULL, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(memory_rows(URI), 4 * 200);
	ck_assert_uint_eq(check_thirty(), 30);
}
END_TEST

/* ---- writers ---- */

START_TEST(test_writers_of_a_handle_take_turns)
{
	simidx_writer *a = sxt_writer(t_index, 0), *b;
	simidx_writer_options o = SIMIDX_WRITER_OPTIONS_INIT;

	o.wait_ms = 20;
	ck_assert_sx(simidx_writer_open(t_index, &o, &b, &sxt_err), SIMIDX_OK);
	ck_assert_sx(simidx_writer_begin(a, &sxt_err), SIMIDX_OK);
	ck_assert_sx(simidx_writer_begin(b, &sxt_err), SIMIDX_E_BUSY);
	/* A check uses what a writer changes. */
	ck_assert_sx(simidx_verify(t_index, NULL, NULL, NULL, &sxt_err), SIMIDX_E_BUSY);
	ck_assert_sx(simidx_mend(t_index, 0, NULL, NULL, NULL, &sxt_err), SIMIDX_E_BUSY);
	simidx_writer_rollback(a);
	sxt_check_sound(t_index);
	ck_assert_sx(simidx_writer_begin(b, &sxt_err), SIMIDX_OK);
	ck_assert_sx(simidx_writer_merge(b, &sxt_err), SIMIDX_OK);
	simidx_writer_close(a);
	simidx_writer_close(b);
}
END_TEST

/* A lease for each table, until the transaction ends; one that has expired stores nothing. */
START_TEST(test_leases_last_as_long_as_a_transaction)
{
	simidx_query q = SIMIDX_QUERY_INIT;
	simidx_doc doc = SIMIDX_DOC_INIT;
	simidx_writer *w;
	uint64_t id;

	memory_faults_now.leases = 1;
	simidx_close(t_index);
	t_index = sxt_open(URI, 0);
	w = sxt_writer(t_index, 0);
	q.fp = doc.fp = UINT64_C(0x5555aaaa5555aaaa);
	ck_assert_sx(simidx_writer_put_if_new(w, &doc, &q, &id, NULL, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(memory_faults_now.n_leased, 4);
	ck_assert_sx(simidx_writer_put_if_new(w, &doc, &q, &id, NULL, &sxt_err), SIMIDX_E_EXISTS);
	memory_faults_now.expired = 1;
	ck_assert_sx(simidx_writer_commit(w, &sxt_err), SIMIDX_E_STATE);
	ck_assert_uint_eq(memory_faults_now.n_leased, 0);
	memory_faults_now.expired = 0;
	ck_assert_sx(simidx_writer_put_if_new(w, &doc, &q, &id, NULL, &sxt_err), SIMIDX_OK);
	ck_assert_sx(simidx_writer_commit(w, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(memory_faults_now.n_leased, 0);
	ck_assert_uint_eq(simidx_writer_stored(w), 1);
	simidx_writer_close(w);
}
END_TEST

/* What is announced is looked up at once, whatever its number. */
START_TEST(test_prefetching_saves_look_ups)
{
	simidx_doc docs[50];
	char label[50][16];
	simidx_writer *w = sxt_writer(t_index, 0);
	unsigned before;

	for (unsigned i = 0; i < 50; i++) {
		docs[i] = (simidx_doc)SIMIDX_DOC_INIT;
		docs[i].fp = i;
		docs[i].id = i % 2 ? t_model.at[i].id : SIMIDX_NO_ID;
		docs[i].label = label[i];
		docs[i].label_size = (size_t)sprintf(label[i], "new %u", i);
	}
	before = memory_faults_now.calls;
	ck_assert_sx(simidx_writer_prefetch(w, docs, 50, &sxt_err), SIMIDX_OK);
	for (unsigned i = 0; i < 50; i++)
		ck_assert_sx(simidx_writer_replace(w, &docs[i], NULL, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(memory_faults_now.calls, before + 2);
	ck_assert_sx(simidx_writer_commit(w, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(simidx_writer_stored(w), 50);
	simidx_writer_close(w);
}
END_TEST

/* ---- forks, descriptions, refusals, registering ---- */

static int use_in_child(sxt_proc *me, void *ctx)
{
	simidx_reader *reader = ctx;
	simidx_query q = SIMIDX_QUERY_INIT;
	simidx_results r = SIMIDX_RESULTS_INIT;

	(void)me;
	sxt_must_eq(simidx_reader_search(reader, &q, &r, NULL), SIMIDX_E_FORK);
	sxt_must_eq(simidx_verify(t_index, NULL, NULL, NULL, NULL), SIMIDX_E_FORK);
	simidx_reader_close(reader);
	simidx_close(t_index);
	return 0;
}

START_TEST(test_a_child_cannot_use_a_handle)
{
	simidx_reader *reader = sxt_reader(t_index);

	ck_assert_int_eq(sxt_proc_run(use_in_child, reader), 0);
	check_all(200);
	simidx_reader_close(reader);
}
END_TEST

START_TEST(test_damaged_descriptions_are_refused)
{
	static const char whole[] = "simidx 1\nbits 64\nplan 4x16\nflags none\ncheck_fps 1 "
				    "0123456789abcdef\nprofile 5\nwords";
	static const struct {
		const char *text;
		int code;
	} other[] = {
		{ "simidx 2\nbits 64\n", SIMIDX_E_VERSION },
		{ "simidx 1\nbits 65\nplan 4x16\nflags none\ncheck_fps 0\nprofile 0\n",
		  SIMIDX_E_CORRUPT },
		{ "simidx 1\nbits 64\nplan 3x22\nflags none\ncheck_fps 0\nprofile 0\n",
		  SIMIDX_E_UNSUPPORTED },
		{ "simidx 1\nbits 64\nplan 9x99\nflags none\ncheck_fps 0\nprofile 0\n",
		  SIMIDX_E_ARG },
		{ "simidx 1\nbits 64\nplan 4x16\nflags nonetimes\ncheck_fps 0\nprofile 0\n",
		  SIMIDX_E_CORRUPT },
		{ "simidx 1\nbits 64\nplan 4x16\nflags fp2+time\ncheck_fps 0\nprofile 0\n",
		  SIMIDX_E_CORRUPT },
		{ "simidx 1\nbits 64\nplan 4x16\nflags none\ncheck_fps 65\nprofile 0\n",
		  SIMIDX_E_CORRUPT },
		{ "simidx 1\nbits 64\nplan 4x16\nflags none\ncheck_fps 0\nprofile 1\n",
		  SIMIDX_E_CORRUPT },
		{ "simidx 1\nbits 64\nplan 4x16\nflags none\ncheck_fps 0\nprofile 0\nx",
		  SIMIDX_E_CORRUPT },
	};
	simidx *index;

	for (size_t n = 0; n < sizeof(whole) - 1; n++) {
		memory_describe(URI, whole, n);
		ck_assert_sx(simidx_open(URI, NULL, &index, &sxt_err), SIMIDX_E_CORRUPT);
		ck_assert_ptr_null(index);
	}
	for (size_t i = 0; i < sizeof(other) / sizeof(*other); i++) {
		memory_describe(URI, other[i].text, strlen(other[i].text));
		ck_assert_sx(simidx_open(URI, NULL, &index, &sxt_err), other[i].code);
	}
	memory_describe(URI, whole, sizeof(whole) - 1);
	ck_assert_sx(simidx_open(URI, NULL, &index, &sxt_err), SIMIDX_OK);
	simidx_close(index);
}
END_TEST

static int take_pairs(void *ctx, const simidx_pair *pairs, size_t n)
{
	(void)ctx;
	(void)pairs;
	(void)n;
	return 1;
}

START_TEST(test_what_an_engine_cannot_do_is_refused)
{
	simidx_create_options o = SIMIDX_CREATE_OPTIONS_INIT;
	simidx_pairs_taker taker = SIMIDX_PAIRS_TAKER_INIT;
	simidx_table_info info = SIMIDX_TABLE_INFO_INIT;
	simidx_loader *loader;
	simidx *index;

	taker.pairs = take_pairs;
	ck_assert_sx(simidx_backup(t_index, "copy", &sxt_err), SIMIDX_E_UNSUPPORTED);
	ck_assert_sx(simidx_get_table_info(t_index, 0, &info, &sxt_err), SIMIDX_E_UNSUPPORTED);
	ck_assert_sx(simidx_pairs(t_index, NULL, NULL, &taker, &sxt_err), SIMIDX_E_UNSUPPORTED);
	ck_assert_sx(simidx_loader_open(URI, &o, NULL, &loader, &sxt_err), SIMIDX_E_UNSUPPORTED);
	ck_assert_sx(simidx_compact(URI, NULL, NULL, NULL, &sxt_err), SIMIDX_E_UNSUPPORTED);
	ck_assert_sx(simidx_repair(URI, "new", NULL, NULL, NULL, NULL, &sxt_err),
		     SIMIDX_E_UNSUPPORTED);
	ck_assert_sx(simidx_check_pages(URI, 0, NULL, NULL, &sxt_err), SIMIDX_E_UNSUPPORTED);
	ck_assert_ptr_nonnull(strstr(sxt_err.text, "not for an index of Memory"));
	o.flags = SIMIDX_CREATE_NO_IDS | SIMIDX_CREATE_TRUNCATE;
	ck_assert_sx(simidx_create(URI, &o, &index, &sxt_err), SIMIDX_E_UNSUPPORTED);
	o.flags = SIMIDX_CREATE_TRUNCATE;
	o.plan = "3x22";
	ck_assert_sx(simidx_create(URI, &o, &index, &sxt_err), SIMIDX_E_UNSUPPORTED);
	o.plan = "none";
	ck_assert_sx(simidx_create(URI, &o, &index, &sxt_err), SIMIDX_E_ARG);
	ck_assert_sx(simidx_open("other://x", NULL, &index, &sxt_err), SIMIDX_E_UNSUPPORTED);
	ck_assert_ptr_nonnull(strstr(sxt_err.text, "no engine for other://"));
	/* None of it has touched what is there. */
	check_all(200);
}
END_TEST

START_TEST(test_engines_are_registered_once)
{
	static simidx_engine other;
	char *dir = sxt_dir_make(), *path = sxt_path(dir, "x");
	simidx *index;

	engines_add();
	other = (simidx_engine){ .size = sizeof(other), .version = SIMIDX_ENGINE_VERSION };
	ck_assert_sx(simidx_engine_add(&other, &sxt_err), SIMIDX_E_ARG);
	other.version++;
	ck_assert_sx(simidx_engine_add(&other, &sxt_err), SIMIDX_E_VERSION);
	other.version--;
	other.size -= 8;
	ck_assert_sx(simidx_engine_add(&other, &sxt_err), SIMIDX_E_VERSION);
	ck_assert_sx(simidx_engine_add(NULL, &sxt_err), SIMIDX_E_ARG);
	/* A path is a path, whatever is in it. */
	ck_assert_sx(simidx_create(path, NULL, &index, &sxt_err), SIMIDX_OK);
	simidx_close(index);
	ck_assert_sx(simidx_open("./memory://x", NULL, &index, &sxt_err), SIMIDX_E_NOT_FOUND);
	ck_assert_sx(simidx_open("Memory://x", NULL, &index, &sxt_err), SIMIDX_E_NOT_FOUND);
	ck_assert_sx(simidx_open("://x", NULL, &index, &sxt_err), SIMIDX_E_NOT_FOUND);
	free(path);
	free(dir);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_each_call_fails_once, 0, 1 },
	{ &test_a_broken_write_leaves_no_mixture, 0, 1 },
	{ &test_a_broken_write_is_finished_first, 0, 1 },
	{ &test_a_commit_of_nothing_finishes_a_broken_write, 0, 1 },
	{ &test_what_others_have_begun_is_finished_first, 0, 1 },
	{ &test_rows_that_are_left_over_are_no_matches, 0, 1 },
	{ &test_writers_of_a_handle_take_turns, 0, 1 },
	{ &test_leases_last_as_long_as_a_transaction, 0, 1 },
	{ &test_prefetching_saves_look_ups, 0, 1 },
	{ &test_a_child_cannot_use_a_handle, 0, 1 },
	{ &test_damaged_descriptions_are_refused, 0, 1 },
	{ &test_what_an_engine_cannot_do_is_refused, 0, 1 },
	{ &test_engines_are_registered_once, 0, 1 },
};

SXT_SUITE(engine_faults, set_up, tear_down);
