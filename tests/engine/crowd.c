/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Many writers at once who get into each other's way, with an engine that has
 * SIMIDX_ENGINE_CONDITIONS: the one in memory, or that of SIMIDX_TEST_URI.
 */

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <simidx_walk.h>

#include "engine/engines.h"

#define URI engines_with_conditions("memory://crowd?conditions")
#define THREADS 4
#define GROUPS 240
#define TOGETHER 12 /* documents of a commit */
#define RADIUS 3

/* ---- if new ---- */

/* What came of a document of a group. */
struct put {
	uint64_t fp;
	int code;
};

struct thread {
	pthread_t thread;
	unsigned number;
	pthread_barrier_t *together;
	struct put put[GROUPS];
};

static void correct(void *ctx, const simidx_rejudged *outcome)
{
	struct thread *t = ctx;

	sxt_must_lt(outcome->change, GROUPS);
	t->put[outcome->change].code = outcome->code;
}

/*
 * Groups are far from each other, and two of one group differ in two bits. Each begins with
 * another group.
 */
static void *put_groups(void *ctx)
{
	struct thread *t = ctx;
	simidx_writer_options o = SIMIDX_WRITER_OPTIONS_INIT;
	simidx_query q = SIMIDX_QUERY_INIT;
	simidx *index = NULL;
	simidx_writer *w = NULL;

	o.rejudged = correct;
	o.rejudged_ctx = t;
	sxt_must_eq(simidx_open(URI, NULL, &index, NULL), SIMIDX_OK);
	sxt_must_eq(simidx_writer_open(index, &o, &w, NULL), SIMIDX_OK);
	q.radius = RADIUS;
	for (unsigned i = 0; i < GROUPS; i++) {
		unsigned group = i / TOGETHER * TOGETHER + (i + 5 * t->number) % TOGETHER;
		simidx_doc doc = SIMIDX_DOC_INIT;

		doc.fp = (group + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ UINT64_C(1) << 16 * t->number;
		q.fp = doc.fp;
		t->put[i].fp = doc.fp;
		t->put[i].code = simidx_writer_put_if_new(w, &doc, &q, NULL, NULL, NULL);
		if (i % TOGETHER == TOGETHER - 1) {
			int rc;

			pthread_barrier_wait(t->together);
			rc = simidx_writer_commit(w, NULL);
			sxt_must(!rc || rc == SIMIDX_E_BUSY);
			pthread_barrier_wait(t->together);
		}
	}
	simidx_writer_close(w);
	simidx_close(index);
	return NULL;
}

/* How many of n fingerprints are near to one. */
static size_t count_near(const uint64_t *fp, size_t n, uint64_t to)
{
	size_t near = 0;

	for (size_t i = 0; i < n; i++)
		near += __builtin_popcountll(fp[i] ^ to) <= RADIUS;
	return near;
}

static size_t read_all(simidx *index, uint64_t *fp, size_t room)
{
	simidx_walk *walk;
	simidx_match m;
	size_t n = 0;

	sxt_must_ok(simidx_walk_open(index, &walk, &sxt_err));
	while (!simidx_walk_next(walk, &m, &sxt_err)) {
		sxt_must_lt(n, room);
		fp[n++] = m.fp;
	}
	simidx_walk_close(walk);
	return n;
}

START_TEST(test_no_two_near_documents_of_many_writers_are_stored)
{
	static struct thread thread[THREADS];
	static uint64_t fp[THREADS * GROUPS];
	simidx *index = engines_create(URI, "4x16", 64, 0);
	pthread_barrier_t together;
	size_t n, stored = 0;

	memset(&memory_faults_now, 0, sizeof(memory_faults_now));
	sxt_must_eq(pthread_barrier_init(&together, NULL, THREADS), 0);
	for (unsigned t = 0; t < THREADS; t++) {
		thread[t].number = t;
		thread[t].together = &together;
		sxt_must_eq(pthread_create(&thread[t].thread, NULL, put_groups, &thread[t]), 0);
	}
	for (unsigned t = 0; t < THREADS; t++)
		pthread_join(thread[t].thread, NULL);
	pthread_barrier_destroy(&together);
	if (!strncmp(URI, "memory://", 9))
		ck_assert_uint_ge(memory_faults_now.n_refused, GROUPS);
	n = read_all(index, fp, THREADS * GROUPS);
	for (size_t i = 0; i < n; i++)
		sxt_must_eq(count_near(fp, n, fp[i]), 1);
	for (unsigned t = 0; t < THREADS; t++)
		for (unsigned i = 0; i < GROUPS; i++) {
			const struct put *put = &thread[t].put[i];

			stored += !put->code;
			if (put->code == SIMIDX_E_BUSY)
				continue;
			sxt_must(!put->code || put->code == SIMIDX_E_EXISTS);
			sxt_must_eq(count_near(fp, n, put->fp), 1);
		}
	ck_assert_uint_eq(n, stored);
	sxt_check_sound(index);
	simidx_close(index);
}
END_TEST

/* ---- all changes ---- */

#define ROUNDS 40
#define CHANGES 10 /* of a round */
#define IDS 24
#define LABELS 8

/* What a thread has asked for, and what came of it. */
struct any {
	pthread_t thread;
	unsigned number;
	pthread_barrier_t *together;
	int adds[ROUNDS * CHANGES]; /* 1: a document, -1: it deletes one */
	int code[ROUNDS * CHANGES];
	uint64_t n;
};

static void correct_any(void *ctx, const simidx_rejudged *outcome)
{
	struct any *t = ctx;

	sxt_must_lt(outcome->change, t->n);
	t->code[outcome->change] = outcome->code;
}

/* Put, put if it is new, or delete. All threads use the same few ids, labels and fingerprints. */
static int change(simidx_writer *w, sxt_rng *rng, int *adds)
{
	simidx_doc doc = SIMIDX_DOC_INIT;
	simidx_query q = SIMIDX_QUERY_INIT;
	unsigned what = (unsigned)sxt_rng_below(rng, 5);
	char label[2] = { 'a', (char)('0' + sxt_rng_below(rng, LABELS)) };

	doc.fp = sxt_rng_flip(rng, sxt_rng_below(rng, 5) * UINT64_C(0x9e3779b97f4a7c15), 64, what);
	q.fp = doc.fp;
	q.radius = sxt_rng_below(rng, 8) ? RADIUS : 40;
	doc.id = sxt_rng_below(rng, 2) ? sxt_rng_below(rng, IDS) : SIMIDX_NO_ID;
	if (sxt_rng_below(rng, 2)) {
		doc.label = label;
		doc.label_size = sizeof(label);
	}
	*adds = what < 3 ? 1 : -1;
	if (what < 1)
		return simidx_writer_put(w, &doc, NULL, NULL);
	if (what < 3)
		return simidx_writer_put_if_new(w, &doc, &q, NULL, NULL, NULL);
	if (what < 4)
		return simidx_writer_delete_id(w, sxt_rng_below(rng, 2 * IDS), NULL);
	return simidx_writer_delete_label(w, label, sizeof(label), NULL);
}

static void *change_any(void *ctx)
{
	struct any *t = ctx;
	simidx_writer_options o = SIMIDX_WRITER_OPTIONS_INIT;
	simidx *index = NULL;
	simidx_writer *w = NULL;
	uint64_t stored = 0;
	sxt_rng rng;

	sxt_rng_init(&rng, 77 + t->number);
	o.rejudged = correct_any;
	o.rejudged_ctx = t;
	sxt_must_eq(simidx_open(URI, NULL, &index, NULL), SIMIDX_OK);
	sxt_must_eq(simidx_writer_open(index, &o, &w, NULL), SIMIDX_OK);
	for (unsigned round = 0; round < ROUNDS; round++) {
		int rc;

		for (unsigned i = 0; i < CHANGES; i++) {
			t->code[t->n] = change(w, &rng, &t->adds[t->n]);
			t->n++;
		}
		pthread_barrier_wait(t->together);
		rc = simidx_writer_commit(w, NULL);
		sxt_must(!rc || rc == SIMIDX_E_BUSY);
		pthread_barrier_wait(t->together);
	}
	for (uint64_t i = 0; i < t->n; i++) {
		sxt_must(!t->code[i] || t->code[i] == SIMIDX_E_EXISTS ||
			 t->code[i] == SIMIDX_E_DUPLICATE || t->code[i] == SIMIDX_E_NOT_FOUND ||
			 t->code[i] == SIMIDX_E_BUSY);
		stored += !t->code[i];
	}
	sxt_must_eq(simidx_writer_stored(w), stored);
	simidx_writer_close(w);
	simidx_close(index);
	return NULL;
}

/* Each label that is there has one document. */
static void check_labels(simidx *index)
{
	unsigned n[LABELS] = { 0 };
	simidx_walk *walk;
	simidx_match m;

	sxt_must_ok(simidx_walk_open(index, &walk, &sxt_err));
	while (!simidx_walk_next(walk, &m, &sxt_err))
		if (m.label_size)
			sxt_must_eq(n[m.label[1] - '0']++, 0);
	simidx_walk_close(walk);
}

/* What was told to all of them, taken together, is what is there. */
START_TEST(test_outcomes_of_many_writers_add_up)
{
	static struct any any[THREADS];
	static uint64_t fp[THREADS * ROUNDS * CHANGES];
	simidx *index = engines_create(URI, "4x16", 64, 0);
	pthread_barrier_t together;
	int64_t documents = 0;

	memset(&memory_faults_now, 0, sizeof(memory_faults_now));
	sxt_must_eq(pthread_barrier_init(&together, NULL, THREADS), 0);
	for (unsigned t = 0; t < THREADS; t++) {
		any[t].number = t;
		any[t].together = &together;
		sxt_must_eq(pthread_create(&any[t].thread, NULL, change_any, &any[t]), 0);
	}
	for (unsigned t = 0; t < THREADS; t++)
		pthread_join(any[t].thread, NULL);
	pthread_barrier_destroy(&together);
	for (unsigned t = 0; t < THREADS; t++)
		for (uint64_t i = 0; i < any[t].n; i++)
			documents += any[t].code[i] ? 0 : any[t].adds[i];
	if (!strncmp(URI, "memory://", 9))
		ck_assert_uint_ge(memory_faults_now.n_refused, ROUNDS);
	ck_assert_int_eq((int64_t)read_all(index, fp, THREADS * ROUNDS * CHANGES), documents);
	check_labels(index);
	sxt_check_sound(index);
	simidx_close(index);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_no_two_near_documents_of_many_writers_are_stored, 0, 1 },
	{ &test_outcomes_of_many_writers_add_up, 0, 1 },
};

SXT_SUITE(engine_crowd, engines_add, NULL);
