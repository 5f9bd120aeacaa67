/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Batches whose answers are compared with those of single queries, from as many threads as there
 * are.
 */

#ifndef SXT_BATCH_H
#define SXT_BATCH_H

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <simidx_batch.h>

#include "index/sx_index.h"
#include "search/sx_reader.h"
#include "support/sxt_index.h"

/** Matches that are delivered together, as simidx.h says. */
#define T_BATCH_PIECE 65536

struct t_batch {
	const simidx_query *query;
	simidx_reader *reader; /* to compare with, under the lock */
	pthread_mutex_t lock;
	int in_order;          /* there is one thread */
	unsigned char *seen;   /* by query: its last piece has come */
	size_t answers;        /* so many have */
	size_t stop_at;        /* after so many answers */
	int costs;             /* compare these too */
	int stops;             /* calls of stopped() */
};

/* What has come of the answer that a thread is at. */
static _Thread_local struct {
	size_t query, n;
	int more;
} t_batch_at_hand;

static inline void t_batch_compare_matches(const simidx_match *a, const simidx_match *b)
{
	sxt_must_eq(a->id, b->id);
	sxt_must_eq(a->fp, b->fp);
	sxt_must_eq(a->fp2, b->fp2);
	sxt_must_eq(a->distance, b->distance);
	sxt_must_eq(a->distance2, b->distance2);
	sxt_must_eq(a->weighted_distance, b->weighted_distance);
	sxt_must_eq(a->flags, b->flags);
	sxt_must_eq(a->label_size, b->label_size);
	sxt_must(!a->label == !b->label);
	if (a->label)
		sxt_must(!memcmp(a->label, b->label, a->label_size));
}

/* A piece with the answer to the same query alone. */
static inline void t_batch_compare_results(const simidx_results *a, const simidx_results *b,
					   size_t at, int costs)
{
	sxt_must_eq(a->size, sizeof(*a));
	sxt_must_eq(a->n, b->n - at < T_BATCH_PIECE ? b->n - at : T_BATCH_PIECE);
	sxt_must_eq(a->more != 0, at + a->n < b->n);
	sxt_must_eq(b->more, 0);
	sxt_must_eq((unsigned)a->truncated, (unsigned)b->truncated);
	sxt_must_eq(a->complete_to, b->complete_to);
	sxt_must_eq(a->count, b->count);
	sxt_must_eq(a->fingerprints, b->fingerprints);
	for (size_t i = 0; i < a->n; i++)
		t_batch_compare_matches(&a->matches[i], &b->matches[at + i]);
	if (!costs)
		return;
	sxt_must_eq(a->probes, b->probes);
	sxt_must_eq(a->blocks, b->blocks);
	sxt_must_eq(a->candidates, b->candidates);
}

static inline int t_batch_compare(void *ctx, size_t i, const simidx_results *results)
{
	struct t_batch *c = ctx;
	simidx_results single = SIMIDX_RESULTS_INIT;
	int rc;

	if (t_batch_at_hand.more)
		sxt_must_eq(i, t_batch_at_hand.query);
	else
		t_batch_at_hand.n = 0;
	pthread_mutex_lock(&c->lock);
	sxt_must(!c->in_order || i == c->answers);
	sxt_must(!c->seen[i]);
	sxt_must_ok(simidx_reader_search(c->reader, &c->query[i], &single, &sxt_err));
	t_batch_compare_results(results, &single, t_batch_at_hand.n, c->costs);
	if (!results->more) {
		c->seen[i] = 1;
		c->answers++;
	}
	rc = c->stop_at && c->answers >= c->stop_at;
	pthread_mutex_unlock(&c->lock);
	t_batch_at_hand.query = i;
	t_batch_at_hand.n += results->n;
	t_batch_at_hand.more = !rc && results->more;
	return rc;
}

static inline void t_batch_note_stop(void *ctx)
{
	struct t_batch *c = ctx;

	pthread_mutex_lock(&c->lock);
	c->stops++;
	pthread_mutex_unlock(&c->lock);
}

/* Every answer is compared. Returns what the batch returns. */
static inline int t_batch_run_by(simidx_reader *reader, const simidx_query *q, size_t n,
				 unsigned threads, struct t_batch *c)
{
	simidx_batch_options o = { sizeof(o), threads, t_batch_compare, c, t_batch_note_stop };
	int rc;

	c->query = q;
	sxt_must_ok(sx_reader_open(sx_reader_index(reader), &c->reader, &sxt_err));
	pthread_mutex_init(&c->lock, NULL);
	c->in_order = threads == 1;
	c->seen = calloc(n + 1, 1);
	c->answers = 0;
	c->stops = 0;
	t_batch_at_hand.more = 0;
	rc = simidx_reader_search_batch(reader, q, n, &o, &sxt_err);
	ck_assert_int_eq(rc, sxt_err.code);
	ck_assert_int_eq(c->stops, rc != SIMIDX_OK);
	simidx_reader_close(c->reader);
	pthread_mutex_destroy(&c->lock);
	free(c->seen);
	return rc;
}

static inline int t_batch_run(simidx *index, const simidx_query *q, size_t n, unsigned threads,
			      struct t_batch *c)
{
	simidx_reader *reader = sxt_reader(index);
	int rc = t_batch_run_by(reader, q, n, threads, c);

	simidx_reader_close(reader);
	return rc;
}

static inline void t_batch_check(simidx *index, const simidx_query *q, size_t n, unsigned threads)
{
	struct t_batch c = { 0 };

	ck_assert_sx(t_batch_run(index, q, n, threads, &c), SIMIDX_OK);
	ck_assert_uint_eq(c.answers, n);
}

#endif /* SXT_BATCH_H */
