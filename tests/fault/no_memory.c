/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Every allocation of the library fails once, and from each one on for good: calls say that
 * memory is short and nothing else, and the same call gives the right answer afterwards. Linked
 * with --wrap for malloc(), calloc() and realloc().
 */

#include <dirent.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

#include <simidx_batch.h>
#include <simidx_check.h>
#include <simidx_info.h>
#include <simidx_join.h>
#include <simidx_sketch.h>
#include <simidx_walk.h>
#include <simidx_write.h>

#include "index/sx_index.h"
#include "shortage.h"
#include "support/sxt_fixture.h"
#include "support/sxt_model.h"

#define MERGED 500
#define ALL 560
#define QUERIES 60 /* of a batch */
#define ROWS 10     /* of a merge */

static sxt_model model;
static sxt_rng rng;

static void set_up(void)
{
	sxt_set_up_path();
	sxt_rng_init(&rng, 1);
}

static void tear_down(void)
{
	sxt_model_free(&model);
	sxt_tear_down();
}

static void make(unsigned layout, unsigned flags)
{
	simidx_create_options o = SIMIDX_CREATE_OPTIONS_INIT;
	uint64_t centre = 0;
	simidx *index;

	o.layout = layout;
	o.flags = flags;
	o.plan = "10x26"; /* so that fresh rows are looked up by other probes than the tables */
	sxt_model_init(&model, 64, flags);
	for (size_t i = 0; i < ALL; i++) {
		centre = i % 9 ? centre : sxt_rng_u64(&rng);
		sxt_model_add(&model, sxt_rng_flip(&rng, centre, 64, i % 5), &rng);
	}
	index = sxt_create(t_path, &o);
	sxt_model_store(&model, 0, MERGED, index);
	sxt_merge(index);
	sxt_model_store(&model, MERGED, ALL, index);
	simidx_close(index);
}

/* ---- what is asked ---- */

static uint8_t weights[64];

static simidx_query query_number(size_t i)
{
	simidx_query q = SIMIDX_QUERY_INIT;

	q.fp = model.at[i * 31 % ALL].fp;
	q.flags = SIMIDX_QUERY_LABELS;
	switch (i % 8) {
	case 1:
		q.radius = 6;
		break;
	case 2:
	case 3:
		q.weights = weights;
		q.radius = 12;
		q.probes = i % 8 == 2 ? 50 : 0;
		break;
	case 4:
		q.mode = SIMIDX_NEAREST;
		q.limit = 3;
		q.radius = 64;
		break;
	case 5:
		q.mode = SIMIDX_COUNT;
		q.radius = 20;
		break;
	case 6:
		q.mode = SIMIDX_FIRST;
		break;
	default:
		break;
	}
	return q;
}

static void add(uint64_t *sum, uint64_t x)
{
	*sum = (*sum ^ x) * UINT64_C(0x100000001b3);
}

/* What of an answer is the same whichever way it was found. */
static void add_results(uint64_t *sum, const simidx_results *results, unsigned mode)
{
	if (mode != SIMIDX_FIRST)
		add(sum, results->count);
	add(sum, results->n);
	for (size_t i = 0; mode != SIMIDX_FIRST && i < results->n; i++) {
		const simidx_match *m = &results->matches[i];

		add(sum, m->id ^ m->fp << 1 ^ m->fp2 << 2);
		for (size_t j = 0; j < m->label_size; j++)
			add(sum, (unsigned char)m->label[j]);
	}
}

static void search(simidx *index, uint64_t *sum)
{
	simidx_reader *reader;

	must_answer(simidx_reader_open(index, &reader, &sxt_err));
	for (size_t i = 0; i < 16; i++) {
		simidx_explanation explanation = SIMIDX_EXPLANATION_INIT;
		simidx_results results = SIMIDX_RESULTS_INIT;
		simidx_query q = query_number(i);

		must_answer(simidx_reader_search(reader, &q, &results, &sxt_err));
		add_results(sum, &results, q.mode);
		if (i < 8)
			must_answer(simidx_reader_explain(reader, &q, &explanation, &sxt_err));
	}
	simidx_reader_close(reader);
}

static void look_up(simidx *index, uint64_t *sum)
{
	simidx_reader *reader;
	simidx_match match;

	must_answer(simidx_reader_open(index, &reader, &sxt_err));
	/* Often enough for the memtable to be made. */
	for (size_t i = 0; i < ALL; i += 25) {
		const sxt_doc *doc = &model.at[i];

		must_answer(simidx_reader_find_id(reader, doc->id, &match, &sxt_err));
		add(sum, match.fp ^ match.fp2);
		if (!doc->label_size)
			continue;
		must_answer(simidx_reader_find_label(reader, doc->label, doc->label_size, &match,
					     &sxt_err));
		add(sum, match.id);
	}
	simidx_reader_close(reader);
}

static void walk(simidx *index, uint64_t *sum)
{
	simidx_walk *w;
	simidx_match match;
	int rc;

	must_answer(simidx_walk_open(index, &w, &sxt_err));
	do {
		rc = simidx_walk_next(w, &match, &sxt_err);
		if (!rc)
			add(sum, match.id ^ match.fp);
	} while (!rc);
	/* A walk cannot take a step back. */
	if (rc != SIMIDX_E_END) {
		shortage_end(rc, "simidx_walk_next");
		*sum = 0;
		simidx_walk_close(w);
		walk(index, sum);
		return;
	}
	simidx_walk_close(w);
}

struct answers {
	pthread_mutex_t lock;
	uint64_t sum;
	size_t n;
};

/* In any order. */
static int deliver(void *ctx, size_t i, const simidx_results *results)
{
	struct answers *answers = ctx;
	uint64_t sum = i;

	add_results(&sum, results, SIMIDX_ALL);
	pthread_mutex_lock(&answers->lock);
	answers->sum += sum;
	answers->n++;
	pthread_mutex_unlock(&answers->lock);
	return 0;
}

static void search_batch(simidx *index, uint64_t *sum, unsigned threads, int mixed)
{
	simidx_batch_options o = SIMIDX_BATCH_OPTIONS_INIT;
	struct answers answers = { PTHREAD_MUTEX_INITIALIZER, 0, 0 };
	simidx_query q[QUERIES];
	simidx_reader *reader;
	int rc;

	index->tuning.batch_sorted_from = QUERIES / 2;
	index->tuning.batch_slice = QUERIES / 3;
	for (size_t i = 0; i < QUERIES; i++) {
		q[i] = query_number(mixed ? i % 6 : 0);
		q[i].fp = model.at[i * 7].fp;
	}
	o.threads = threads;
	o.deliver = deliver;
	o.ctx = &answers;
	must_answer(simidx_reader_open(index, &reader, &sxt_err));
	rc = simidx_reader_search_batch(reader, q, QUERIES, &o, &sxt_err);
	if (rc) {
		shortage_end(rc, "simidx_reader_search_batch");
		answers.sum = answers.n = 0;
		ck_assert_sx(simidx_reader_search_batch(reader, q, QUERIES, &o, &sxt_err),
			     SIMIDX_OK);
	}
	simidx_reader_close(reader);
	add(sum, answers.sum);
	add(sum, answers.n);
}

static void search_sorted(simidx *index, uint64_t *sum)
{
	search_batch(index, sum, 1, 0);
}

static void search_in_threads(simidx *index, uint64_t *sum)
{
	search_batch(index, sum, 2, 0);
	search_batch(index, sum, 2, 1);
}

/* ---- joins ---- */

static int take_pairs(void *ctx, const simidx_pair *pairs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		add(ctx, pairs[i].id_a);
		add(ctx, pairs[i].id_b);
	}
	return 0;
}

static int take_members(void *ctx, const simidx_member *members, size_t n)
{
	for (size_t i = 0; i < n; i++)
		add(ctx, members[i].id ^ members[i].cluster);
	return 0;
}

static int note_found(void *ctx, const simidx_join_info *info)
{
	add(ctx, info->fingerprint_pairs);
	return 0;
}

/* By parts, some of which are sorted first, and all with all: in one thread and in two. */
static void find_pairs(simidx *index, uint64_t *sum)
{
	static const unsigned radius[] = { 4, 12 };
	simidx_pairs_taker taker = SIMIDX_PAIRS_TAKER_INIT;

	taker.pairs = take_pairs;
	for (unsigned i = 0; i < 4; i++) {
		simidx_join_options o = SIMIDX_JOIN_OPTIONS_INIT;
		uint64_t own = 0;
		int rc;

		o.radius = radius[i / 2];
		o.threads = 1 + i % 2;
		o.memory = (uint64_t)16 << 20;
		o.tmpdir = t_dir;
		o.found = note_found;
		o.ctx = &own;
		rc = simidx_pairs(index, NULL, &o, &taker, &sxt_err);
		if (rc) {
			shortage_end(rc, "simidx_pairs");
			own = 0;
			ck_assert_sx(simidx_pairs(index, NULL, &o, &taker, &sxt_err), SIMIDX_OK);
		}
		add(sum, own);
	}
}

static void find_clusters(simidx *index, uint64_t *sum)
{
	simidx_clusters_options c = SIMIDX_CLUSTERS_OPTIONS_INIT;

	for (unsigned i = 0; i < 2; i++) {
		simidx_join_options o = SIMIDX_JOIN_OPTIONS_INIT;
		uint64_t own = 0;
		int rc;

		o.threads = 1;
		o.tmpdir = t_dir;
		o.ctx = &own;
		c.link = i;
		c.keep = i ? SIMIDX_KEEP_LARGEST_ID : SIMIDX_KEEP_SMALLEST_LABEL;
		rc = simidx_clusters(index, &o, &c, take_members, &sxt_err);
		if (rc) {
			shortage_end(rc, "simidx_clusters");
			own = 0;
			ck_assert_sx(simidx_clusters(index, &o, &c, take_members, &sxt_err),
				     SIMIDX_OK);
		}
		add(sum, own);
	}
}

/* ---- decisions ---- */

static int note_decision(void *ctx, size_t i, const simidx_decision *decision)
{
	struct answers *answers = ctx;

	sxt_must_eq(i, answers->n++);
	sxt_must_ne(decision->code, SIMIDX_E_NOMEM);
	add(&answers->sum, (uint64_t)decision->code);
	add(&answers->sum, decision->code ? decision->blocker.id : decision->id);
	return 0;
}

static int decide(simidx_writer *writer, struct answers *answers)
{
	static simidx_doc doc[QUERIES];
	static simidx_query query[QUERIES];

	*answers = (struct answers){ .n = 0 };
	for (size_t i = 0; i < QUERIES; i++) {
		query[i] = query_number(0);
		query[i].fp = model.at[i * 7].fp ^ (i % 3 ? UINT64_C(0xff) << i % 56 : 0);
		doc[i] = (simidx_doc)SIMIDX_DOC_INIT;
		doc[i].fp = query[i].fp;
		if (model.flags & SIMIDX_CREATE_FP2)
			doc[i].flags = SIMIDX_DOC_FP2;
	}
	return simidx_writer_put_if_new_many(writer, doc, query, QUERIES, note_decision, answers,
					     &sxt_err);
}

/* Where memory is short in the middle, the caller goes back, and all is decided as it would be. */
static void put_many(simidx *index, uint64_t *sum)
{
	simidx_writer *writer;
	struct answers answers;
	int rc;

	index->tuning.batch_sorted_from = QUERIES / 2;
	must_answer(simidx_writer_open(index, NULL, &writer, &sxt_err));
	rc = decide(writer, &answers);
	if (rc) {
		shortage_end(rc, "simidx_writer_put_if_new_many");
		ck_assert_uint_lt(answers.n, QUERIES);
		simidx_writer_rollback(writer);
		ck_assert_sx(decide(writer, &answers), SIMIDX_OK);
	}
	ck_assert_uint_eq(answers.n, QUERIES);
	add(sum, answers.sum);
	simidx_writer_close(writer);
}

static void (*const work[])(simidx *index, uint64_t *sum) = { search, look_up, walk, search_sorted,
							     search_in_threads, find_pairs,
							     find_clusters, put_many };

#define N_WORK (int)(sizeof(work) / sizeof(work[0]))

/* Everything from opening on, as what a handle has made is not made again. */
static uint64_t run(int number)
{
	uint64_t sum = 0;
	simidx *index;

	must_answer(simidx_open(t_path, NULL, &index, &sxt_err));
	work[number](index, &sum);
	simidx_close(index);
	return sum;
}

/* The next allocation to fail: each one in long runs, fewer of many in others. */
static long step(long at)
{
	return sxt_is_long() || at < 20 ? 1 : 1 + at / 8;
}

static void run_short(int number)
{
	uint64_t expected = run(number), found;
	long at = 1;

	do {
		shortage_has_failed = 0;
		shortage_left = at;
		found = run(number);
		shortage_left = LONG_MAX;
		ck_assert_uint_eq(found, expected);
		at += step(at);
	} while (shortage_has_failed);
	ck_assert_int_gt(at, 10);
}

START_TEST(test_reading_without_memory)
{
	make(_i & 1 ? SIMIDX_LAYOUT_ROWS : SIMIDX_LAYOUT_BLOCKS, _i & 2 ? SIMIDX_CREATE_FP2 : 0);
	for (unsigned b = 0; b < 64; b++)
		weights[b] = (uint8_t)(1 + b % 7);
	for (int number = 0; number < N_WORK; number++)
		for (shortage_for_good = 0; shortage_for_good < 2; shortage_for_good++)
			run_short(number);
}
END_TEST

/* Searches enough for the next one to begin the memtable, and that one. */
static void search_until_begun(simidx *index, uint64_t expected, long at)
{
	simidx_results results = SIMIDX_RESULTS_INIT;
	simidx_query q = query_number(0);
	simidx_reader *reader;
	int rc;

	q.fp = model.at[MERGED + 1].fp;
	ck_assert_sx(simidx_reader_open(index, &reader, &sxt_err), SIMIDX_OK);
	for (int i = 0; i < 7; i++) {
		shortage_left = LONG_MAX;
		ck_assert_sx(simidx_reader_search(reader, &q, &results, &sxt_err), SIMIDX_OK);
	}
	ck_assert_ptr_null(index->fresh->memtable);
	/* What reading the log takes is not what fails. */
	shortage_left = LONG_MAX - shortage_left + at;
	rc = simidx_reader_search(reader, &q, &results, &sxt_err);
	shortage_left = LONG_MAX; /* Check needs some, too */
	ck_assert_sx(rc, SIMIDX_OK);
	ck_assert_int_eq(sxt_err.code, SIMIDX_OK);
	ck_assert_uint_eq(results.count, expected);
	/* The next one begins it, or goes on with it. */
	ck_assert_sx(simidx_reader_search(reader, &q, &results, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(results.count, expected);
	ck_assert_ptr_nonnull(index->fresh->memtable);
	ck_assert_uint_eq(sx_memtable_end(index->fresh->memtable) -
				  sx_memtable_base(index->fresh->memtable),
			  ALL - MERGED);
	simidx_reader_close(reader);
}

/* The memtable is for later searches: one that has no memory for it still answers. */
START_TEST(test_search_without_memory_for_memtable)
{
	uint64_t expected = 0;
	simidx *index;
	long at = 1;

	make(SIMIDX_LAYOUT_BLOCKS, 0);
	for (size_t i = 0; i < ALL; i++)
		expected += simidx_is_near(model.at[i].fp, model.at[MERGED + 1].fp,
					   SIMIDX_DEFAULT_RADIUS);
	for (shortage_for_good = 0; shortage_for_good < 2; shortage_for_good++)
		for (at = 1, shortage_has_failed = 1; shortage_has_failed; at++) {
			index = sxt_open(t_path, 0);
			/* Block indexes are made in a search, and need memory to be used. */
			index->block_index_cache->max_bytes = SIMIDX_BLOCK_INDEX_NEVER;
			shortage_has_failed = 0;
			search_until_begun(index, expected, at);
			simidx_close(index);
		}
	ck_assert_int_gt(at, 10);
}
END_TEST

/* A merge that fails is done again, and has lost nothing. */
START_TEST(test_failed_merge_is_done_again)
{
	size_t n = ALL;
	simidx_writer *writer;
	simidx *index;

	make(_i & 1 ? SIMIDX_LAYOUT_ROWS : SIMIDX_LAYOUT_BLOCKS, 0);
	index = sxt_open(t_path, 0);
	writer = sxt_writer(index, 0);
	sxt_merge(index);
	shortage_for_good = _i >> 1;
	for (long at = 1;; at += step(at)) {
		for (size_t i = 0; i < ROWS; i++)
			sxt_model_add(&model, sxt_rng_u64(&rng), &rng);
		sxt_model_put(&model, n, n + ROWS, writer);
		n += ROWS;
		sxt_commit(writer);
		shortage_has_failed = 0;
		shortage_left = at;
		must_answer(simidx_writer_merge(writer, &sxt_err));
		shortage_left = LONG_MAX;
		if (!shortage_has_failed)
			break;
	}
	simidx_writer_close(writer);
	ck_assert_uint_gt(n, ALL + 10 * ROWS);
	sxt_check_content(&model, n, index);
	simidx_close(index);
}
END_TEST

static unsigned count_files(const char *path)
{
	DIR *dir = opendir(path);
	unsigned n = 0;

	ck_assert_ptr_nonnull(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n - 2; /* without "." and ".." */
}

static void check_index(const char *path)
{
	simidx *index = sxt_open(path, 0);

	sxt_check_content(&model, ALL, index);
	simidx_close(index);
}

/* A compaction that fails, in place or elsewhere, changes nothing and leaves nothing. */
START_TEST(test_failed_compaction)
{
	simidx_compact_options o = SIMIDX_COMPACT_OPTIONS_INIT;
	char *other = sxt_path(t_dir, "other"), *new = _i & 2 ? other : NULL;

	make(_i & 1 ? SIMIDX_LAYOUT_ROWS : SIMIDX_LAYOUT_BLOCKS, _i & 1 ? SIMIDX_CREATE_FP2 : 0);
	o.threads = 1;
	o.memory = (uint64_t)64 << 20;
	for (shortage_for_good = 0; shortage_for_good < 2; shortage_for_good++) {
		long at = 1;
		int rc;

		do {
			shortage_has_failed = 0;
			shortage_left = at;
			rc = simidx_compact(t_path, new, &o, NULL, &sxt_err);
			if (rc) {
				shortage_end(rc, "simidx_compact");
				ck_assert_uint_eq(count_files(t_dir), 1);
			}
			shortage_left = LONG_MAX;
			check_index(t_path);
			at += step(at);
			if (!rc && new) {
				check_index(new);
				sxt_remove(new);
			}
		} while (shortage_has_failed);
		ck_assert_int_gt(at, 10);
	}
	free(other);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_reading_without_memory, 0, 4 },
	{ &test_search_without_memory_for_memtable, 0, 1 },
	{ &test_failed_merge_is_done_again, 0, 4 },
	{ &test_failed_compaction, 0, 4 },
};

SXT_SUITE(no_memory, set_up, tear_down);
