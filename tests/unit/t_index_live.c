/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Readers while somebody writes: another process, other threads, a walk, a backup.
 */

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <simidx_check.h>
#include <simidx_walk.h>

#include "index/sx_index.h"
#include "support/sxt_fixture.h"
#include "support/sxt_model.h"

#define BATCH 7 /* documents of a commit, all on one fingerprint */
#define TARGET 0x0123456789abcdefu

static void commit_batch(simidx_writer *writer)
{
	for (int i = 0; i < BATCH; i++) {
		simidx_doc doc = SIMIDX_DOC_INIT;

		doc.fp = TARGET ^ (unsigned)i % 4; /* up to two bits away */
		sxt_must_ok(simidx_writer_put(writer, &doc, NULL, &sxt_err));
	}
	sxt_commit(writer);
}

static size_t count_near(simidx_reader *reader)
{
	simidx_results results = SIMIDX_RESULTS_INIT;
	simidx_query query = SIMIDX_QUERY_INIT;

	query.fp = TARGET;
	sxt_must_ok(simidx_reader_search(reader, &query, &results, &sxt_err));
	for (size_t i = 1; i < results.n; i++)
		sxt_must(results.matches[i - 1].distance < results.matches[i].distance ||
			 results.matches[i - 1].id < results.matches[i].id);
	return results.n;
}

/* ------------------------------------------------------------------------------------------
 * Another process
 */

struct plan {
	unsigned commits;
	unsigned threshold; /* 0 = no merges */
	int in_turns;
};

static int commit_all(sxt_proc *me, void *ctx)
{
	const struct plan *plan = ctx;
	simidx *index = sxt_open(t_path, 0);
	simidx_writer *writer = sxt_writer(index, plan->threshold);

	for (unsigned i = 0; i < plan->commits; i++) {
		commit_batch(writer);
		sxt_proc_tell(me);
		if (plan->in_turns)
			sxt_proc_wait(me);
	}
	simidx_writer_close(writer);
	simidx_close(index);
	return 0;
}

/* In turns: each commit is seen by the next search, by log, memtable and tables. */
START_TEST(test_next_search_sees_each_commit)
{
	struct plan plan = { 40, _i ? 50 : 0, 1 };
	simidx_reader *reader, *second;
	simidx *index;
	sxt_proc child;

	simidx_close(sxt_create(t_path, NULL));
	sxt_proc_start(&child, commit_all, &plan);
	index = sxt_open(t_path, SIMIDX_OPEN_READ_ONLY);
	reader = sxt_reader(index);
	second = sxt_reader(index);
	for (unsigned i = 1; i <= plan.commits; i++) {
		ck_assert_int_eq(sxt_proc_wait(&child), 0);
		ck_assert_uint_eq(count_near(reader), i * BATCH);
		if (i % 5 == 0)
			ck_assert_uint_eq(count_near(second), i * BATCH);
		sxt_proc_tell(&child);
	}
	ck_assert_int_eq(sxt_proc_finish(&child), 0);
	simidx_reader_close(reader);
	simidx_reader_close(second);
	sxt_check_sound(index);
	simidx_close(index);
}
END_TEST

/* Unhurried by each other: no search ever sees part of a commit, or less than the one before. */
START_TEST(test_search_never_sees_half_a_commit)
{
	struct plan plan = { sxt_is_long() ? 2000 : 150, _i ? 100 : 0, 0 };
	size_t seen = 0, n;
	simidx_reader *reader;
	simidx *index;
	sxt_proc child;

	simidx_close(sxt_create(t_path, NULL));
	sxt_proc_start(&child, commit_all, &plan);
	index = sxt_open(t_path, 0);
	reader = sxt_reader(index);
	while (seen < plan.commits * BATCH) {
		n = count_near(reader);
		ck_assert_uint_eq(n % BATCH, 0);
		ck_assert_uint_ge(n, seen);
		seen = n;
	}
	ck_assert_int_eq(sxt_proc_finish(&child), 0);
	ck_assert_uint_eq(count_near(reader), plan.commits * BATCH);
	simidx_reader_close(reader);
	sxt_check_sound(index);
	simidx_close(index);
}
END_TEST

/* A writer that is killed leaves what it had committed. */
START_TEST(test_killed_writer_leaves_its_commits)
{
	struct plan plan = { UINT32_MAX, 60, 0 };
	simidx_reader *reader;
	simidx_writer *writer;
	simidx *index;
	sxt_proc child;
	size_t n;

	simidx_close(sxt_create(t_path, NULL));
	for (int round = 0; round < 5; round++) {
		unsigned acknowledged = 0;

		index = sxt_open(t_path, 0);
		reader = sxt_reader(index);
		n = count_near(reader);
		simidx_reader_close(reader);
		simidx_close(index);
		sxt_proc_start(&child, commit_all, &plan);
		while (acknowledged < 10 + 7 * (unsigned)round) {
			ck_assert_int_eq(sxt_proc_wait(&child), 0);
			acknowledged++;
		}
		sxt_proc_kill(&child);
		index = sxt_open(t_path, 0);
		sxt_check_sound(index);
		reader = sxt_reader(index);
		ck_assert_uint_ge(count_near(reader), n + acknowledged * BATCH);
		ck_assert_uint_eq(count_near(reader) % BATCH, 0);
		n = count_near(reader);
		writer = sxt_writer(index, 60);
		commit_batch(writer);
		ck_assert_uint_eq(count_near(reader), n + BATCH);
		sxt_check_sound(index);
		simidx_writer_close(writer);
		simidx_reader_close(reader);
		simidx_close(index);
	}
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * Threads
 */

#define READERS 4

struct shared {
	simidx *index;
	atomic_uint committed; /* batches that are certainly there */
	atomic_int stop;
	atomic_int failures;
	atomic_uint searches;
};

/* So many that readers have their turns between commits. */
#define MIN_SEARCHES 200

static void *search_on(void *ctx)
{
	struct shared *shared = ctx;
	simidx_reader *reader = sxt_reader(shared->index);

	while (!atomic_load(&shared->stop)) {
		unsigned before = atomic_load(&shared->committed);
		size_t n = count_near(reader);
		simidx_match match;
		simidx_error err;

		atomic_fetch_add(&shared->searches, 1);
		if (n < (size_t)before * BATCH || n % BATCH)
			atomic_fetch_add(&shared->failures, 1);
		if (before &&
		    simidx_reader_find_id(reader, (uint64_t)before * BATCH - 1, &match, &err))
			atomic_fetch_add(&shared->failures, 1);
	}
	simidx_reader_close(reader);
	return NULL;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Four readers and a writer on one handle; ids are given, so the memtable is used by all. */
START_TEST(test_readers_beside_a_writer)
{
	double end = seconds() + (sxt_is_long() ? 10 : 1.5);
	struct shared shared = { .index = sxt_create(t_path, NULL) };
	simidx_writer *writer = sxt_writer(shared.index, 600);
	pthread_t thread[READERS];
	simidx_error err;

	for (int i = 0; i < READERS; i++)
		ck_assert_int_eq(pthread_create(&thread[i], NULL, search_on, &shared), 0);
	/* On a machine with other work the time may be over before much was done. */
	for (unsigned batch = 0; batch < 100 || seconds() < end ||
				 atomic_load(&shared.searches) < MIN_SEARCHES;
	     batch++) {
		ck_assert_msg(seconds() < end + 300, "no reader searches");
		for (unsigned i = BATCH; i--;) {
			simidx_doc doc = SIMIDX_DOC_INIT;

			doc.id = batch * BATCH + i;
			doc.fp = TARGET ^ i % 4;
			ck_assert_sx_err(simidx_writer_put(writer, &doc, NULL, &err), SIMIDX_OK,
					 &err);
		}
		if (batch % 5 == 4) {
			simidx_writer_rollback(writer); /* rows that some readers' memtable had */
			batch--;
			for (unsigned i = BATCH; i--;) {
				simidx_doc doc = SIMIDX_DOC_INIT;

				doc.id = (batch + 1) * BATCH + i;
				doc.fp = TARGET ^ i % 3;
				ck_assert_sx_err(simidx_writer_put(writer, &doc, NULL, &err),
						 SIMIDX_OK, &err);
			}
			batch++;
		}
		ck_assert_sx_err(simidx_writer_commit(writer, &err), SIMIDX_OK, &err);
		atomic_store(&shared.committed, batch + 1);
	}
	atomic_store(&shared.stop, 1);
	for (int i = 0; i < READERS; i++)
		pthread_join(thread[i], NULL);
	ck_assert_int_eq(atomic_load(&shared.failures), 0);
	simidx_writer_close(writer);
	sxt_check_sound(shared.index);
	simidx_close(shared.index);
}
END_TEST

/* A row that the memtable has to have, as its id may be in use. */
static void *put_first_id(void *writer)
{
	simidx_doc doc = SIMIDX_DOC_INIT;

	doc.id = 0;
	sxt_must_ok(simidx_writer_put(writer, &doc, NULL, &sxt_err));
	return NULL;
}

/*
 * Searches come all the time, and one has always begun before the last has ended. Here the lock
 * is held by one that does not end, so that no other may begin once a writer waits.
 */
START_TEST(test_readers_let_writers_in)
{
	simidx *index = sxt_create(t_path, NULL);
	simidx_writer *writer = sxt_writer(index, 0);
	struct timespec pause = { 0, 1000000 };
	simidx_doc doc = SIMIDX_DOC_INIT;
	pthread_t thread;
	int rc = 0;

	doc.id = 1;
	ck_assert_sx(simidx_writer_put(writer, &doc, NULL, &sxt_err), SIMIDX_OK);
	ck_assert_int_eq(pthread_rwlock_rdlock(&index->fresh->lock), 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, put_first_id, writer), 0);
	for (int i = 0; !rc && i < 20000; i++) {
		rc = pthread_rwlock_tryrdlock(&index->fresh->lock);
		if (!rc)
			pthread_rwlock_unlock(&index->fresh->lock);
		nanosleep(&pause, NULL);
	}
	ck_assert_int_eq(rc, EBUSY);
	pthread_rwlock_unlock(&index->fresh->lock);
	pthread_join(thread, NULL);
	sxt_commit(writer);
	simidx_writer_close(writer);
	simidx_close(index);
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * Walks
 */

/* A walk stays in its snapshot, whatever is added and merged meanwhile. */
START_TEST(test_walk_is_a_snapshot)
{
	simidx_writer *writer;
	simidx_match match;
	simidx_walk *walk;
	sxt_model model;
	simidx *index;
	sxt_rng rng;

	sxt_rng_init(&rng, 1);
	sxt_model_init(&model, 64, 0);
	for (unsigned i = 0; i < 3000; i++)
		sxt_model_add(&model, sxt_rng_u64(&rng), &rng);
	index = sxt_create(t_path, NULL);
	sxt_model_store(&model, 0, 1000, index);
	sxt_merge(index);
	sxt_model_store(&model, 1000, 2000, index);
	ck_assert_sx(simidx_walk_open(index, &walk, &sxt_err), SIMIDX_OK);
	writer = sxt_writer(index, 1);
	for (uint64_t i = 0, last = 0; i < 2000; i++) {
		ck_assert_sx(simidx_walk_next(walk, &match, &sxt_err), SIMIDX_OK);
		ck_assert(!i || match.id > last);
		last = match.id;
		if (i == 10 || i == 500) {
			sxt_model_put(&model, i == 10 ? 2000 : 2500, i == 10 ? 2500 : 3000, writer);
			sxt_commit(writer);
		}
	}
	ck_assert_sx(simidx_walk_next(walk, &match, &sxt_err), SIMIDX_E_END);
	simidx_walk_close(walk);
	simidx_writer_close(writer);
	sxt_check_content(&model, 3000, index);
	simidx_close(index);
	sxt_model_free(&model);
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * Backups
 */

static void count_progress(void *ctx, const char *phase, uint64_t done, uint64_t total)
{
	unsigned *calls = ctx;
	int is_verify = strcmp(phase, "backup") != 0;

	if (is_verify)
		ck_assert_str_eq(phase, "verify");
	ck_assert_uint_le(done, total);
	++calls[is_verify];
}

/* While another process commits: each copy is a state that was committed. */
START_TEST(test_backup_beside_commits)
{
	struct plan plan = { sxt_is_long() ? 1500 : 120, 90, 0 };
	simidx *index, *copy;
	sxt_proc child;
	size_t last = 0;

	simidx_close(sxt_create(t_path, NULL));
	sxt_proc_start(&child, commit_all, &plan);
	index = sxt_open(t_path, 0);
	for (int i = 0; i < 12 || last < plan.commits * BATCH; i++) {
		char *target = sxt_path(t_dir, "copy");
		simidx_reader *reader;
		size_t n;

		ck_assert_sx(simidx_backup(index, target, &sxt_err), SIMIDX_OK);
		copy = sxt_open(target, 0);
		sxt_check_sound(copy);
		reader = sxt_reader(copy);
		n = count_near(reader);
		ck_assert_uint_eq(n % BATCH, 0);
		ck_assert_uint_ge(n, last);
		last = n;
		simidx_reader_close(reader);
		simidx_close(copy);
		sxt_remove(target);
		free(target);
	}
	ck_assert_int_eq(sxt_proc_finish(&child), 0);
	simidx_close(index);
}
END_TEST

START_TEST(test_backup_equals_index)
{
	simidx_create_options o = SIMIDX_CREATE_OPTIONS_INIT;
	char *target = sxt_path(t_dir, "copy"), *missing = sxt_path(t_dir, "missing/copy");
	char *note = sxt_path(t_dir, "copy/note");
	simidx *index, *copy;
	unsigned calls[2] = { 0, 0 };
	sxt_model model;
	sxt_rng rng;

	sxt_rng_init(&rng, 1);
	sxt_model_init(&model, 64, SIMIDX_CREATE_FP2);
	for (int i = 0; i < 2000; i++)
		sxt_model_add(&model, sxt_rng_u64(&rng), &rng);
	o.flags = SIMIDX_CREATE_FP2;
	o.profile = "words12 v1";
	index = sxt_create(t_path, &o);
	sxt_model_store(&model, 0, 1000, index);
	sxt_merge(index);
	sxt_model_store(&model, 1000, 1500, index);
	simidx_set_progress(index, count_progress, calls);
	ck_assert_int_eq(mkdir(target, 0755), 0); /* empty: it is taken */
	ck_assert_sx(simidx_backup(index, target, &sxt_err), SIMIDX_OK);
	ck_assert_uint_gt(calls[0], 0);
	ck_assert_uint_gt(calls[1], 0); /* of the copy */
	simidx_set_progress(index, NULL, NULL);
	/* The copy is an index of its own. */
	copy = sxt_open(target, 0);
	sxt_check_content(&model, 1500, copy);
	sxt_model_store(&model, 1500, 2000, copy);
	sxt_merge(copy);
	sxt_check_content(&model, 2000, copy);
	sxt_check_content(&model, 1500, index);
	simidx_close(copy);
	ck_assert_sx(simidx_backup(index, target, &sxt_err), SIMIDX_E_EXISTS);
	ck_assert_sx(simidx_backup(index, t_path, &sxt_err), SIMIDX_E_EXISTS);
	ck_assert_sx(simidx_backup(index, missing, &sxt_err), SIMIDX_E_NOT_FOUND);
	sxt_remove(target);
	ck_assert_int_eq(mkdir(target, 0755), 0);
	sxt_file_write(note, "text", 4);
	ck_assert_sx(simidx_backup(index, target, &sxt_err), SIMIDX_E_EXISTS);
	simidx_close(index);
	sxt_model_free(&model);
	free(target);
	free(missing);
	free(note);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_next_search_sees_each_commit, 0, 2 },
	{ &test_search_never_sees_half_a_commit, 0, 2 },
	{ &test_killed_writer_leaves_its_commits, 0, 1 },
	{ &test_readers_beside_a_writer, 0, 1 },
	{ &test_readers_let_writers_in, 0, 1 },
	{ &test_walk_is_a_snapshot, 0, 1 },
	{ &test_backup_beside_commits, 0, 1 },
	{ &test_backup_equals_index, 0, 1 },
};

SXT_SUITE(index_live, sxt_set_up_path, sxt_tear_down);
