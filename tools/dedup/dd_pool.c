/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/dd_pool.h"

#include "common/tl_msg.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

/* Steps that a thread takes at once: few, as one long text may take as long as many others. */
#define STEPS_AT_ONCE 8

struct worker {
	struct dd_pool *pool;
	unsigned number;
	pthread_t thread;
};

struct dd_pool {
	pthread_mutex_t mutex; /* of all that follows */
	pthread_cond_t work, done;
	dd_step *step;
	void *ctx;
	size_t n, next;   /* steps of the job, and the first that nobody has taken */
	size_t n_busy;    /* threads that are at a step */
	int ending;
	unsigned n_started;
	struct worker worker[];
};

static void *run_worker(void *ctx)
{
	struct worker *worker = ctx;
	struct dd_pool *pool = worker->pool;

	pthread_mutex_lock(&pool->mutex);
	while (!pool->ending) {
		size_t from = pool->next, to = from + STEPS_AT_ONCE;

		if (from == pool->n) {
			pthread_cond_wait(&pool->work, &pool->mutex);
			continue;
		}
		to = to < pool->n ? to : pool->n;
		pool->next = to;
		pool->n_busy++;
		pthread_mutex_unlock(&pool->mutex);
		for (size_t i = from; i < to; i++)
			pool->step(pool->ctx, worker->number, i);
		pthread_mutex_lock(&pool->mutex);
		if (!--pool->n_busy && pool->next == pool->n)
			pthread_cond_signal(&pool->done);
	}
	pthread_mutex_unlock(&pool->mutex);
	return NULL;
}

struct dd_pool *dd_pool_new(unsigned n)
{
	struct dd_pool *pool = calloc(1, sizeof(*pool) + n * sizeof(pool->worker[0]));
	sigset_t all, before;

	if (!pool) {
		tl_error("out of memory");
		return NULL;
	}
	pthread_mutex_init(&pool->mutex, NULL);
	pthread_cond_init(&pool->work, NULL);
	pthread_cond_init(&pool->done, NULL);
	/* Signals are for the thread that reads: its read() is to return. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (unsigned i = 0; i < n; i++) {
		pool->worker[i].pool = pool;
		pool->worker[i].number = i;
		if (pthread_create(&pool->worker[i].thread, NULL, run_worker, &pool->worker[i]))
			break;
		pool->n_started++;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (pool->n_started)
		return pool;
	tl_error("cannot start a thread");
	dd_pool_free(pool);
	return NULL;
}

void dd_pool_free(struct dd_pool *pool)
{
	if (!pool)
		return;
	pthread_mutex_lock(&pool->mutex);
	pool->ending = 1;
	pthread_cond_broadcast(&pool->work);
	pthread_mutex_unlock(&pool->mutex);
	for (unsigned i = 0; i < pool->n_started; i++)
		pthread_join(pool->worker[i].thread, NULL);
	pthread_mutex_destroy(&pool->mutex);
	pthread_cond_destroy(&pool->work);
	pthread_cond_destroy(&pool->done);
	free(pool);
}

void dd_pool_run(struct dd_pool *pool, dd_step *step, void *ctx, size_t n)
{
	pthread_mutex_lock(&pool->mutex);
	pool->step = step;
	pool->ctx = ctx;
	pool->n = n;
	pool->next = 0;
	pthread_cond_broadcast(&pool->work);
	while (pool->next < pool->n || pool->n_busy)
		pthread_cond_wait(&pool->done, &pool->mutex);
	pool->n = pool->next = 0;
	pthread_mutex_unlock(&pool->mutex);
}
