/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Many writers at once who put near documents if they are new, with an engine that has
 * SIMIDX_ENGINE_CONDITIONS: the one in memory.
 */

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <simidx_admin.h>

#include "engine/engines.h"

#define URI "memory://crowd?conditions"
#define THREADS 4
#define GROUPS 240
#define TOGETHER 12 /* documents of a commit */
#define RADIUS 3

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

static const sxt_test tests[] = {
	{ &test_no_two_near_documents_of_many_writers_are_stored, 0, 1 },
};

SXT_SUITE(engine_crowd, engines_add, NULL);
