/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "util/sx_pool.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

struct member {
	pthread_t thread;
	void (*work)(void *ctx, unsigned number);
	void *ctx;
	unsigned number;
};

unsigned sx_pool_threads(unsigned wanted)
{
	long cores = wanted ? 0 : sysconf(_SC_NPROCESSORS_ONLN);

	if (!wanted)
		wanted = cores > 0 ? (unsigned)cores : 1;
	return wanted < SX_POOL_MAX_THREADS ? wanted : SX_POOL_MAX_THREADS;
}

static void *run(void *opaque)
{
	const struct member *m = opaque;

	m->work(m->ctx, m->number);
	return NULL;
}

int sx_pool_run(sx_pool *pool, unsigned threads, void (*work)(void *ctx, unsigned number),
		void *ctx, simidx_error *err)
{
	struct member member[SX_POOL_MAX_THREADS];
	sigset_t all, before;
	unsigned n = 1;

	if (threads > 1) {
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &before);
		for (; n < threads; n++) {
			member[n] = (struct member){ .work = work, .ctx = ctx, .number = n };
			if (pthread_create(&member[n].thread, NULL, run, &member[n]))
				break;
		}
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	}
	work(ctx, 0);
	while (n > 1)
		pthread_join(member[--n].thread, NULL);
	if (pool->rc && err)
		*err = pool->err;
	return pool->rc;
}

int sx_pool_fail(sx_pool *pool, int rc, const simidx_error *err)
{
	if (atomic_exchange(&pool->ended, 1))
		return 0;
	pool->rc = rc;
	pool->err = *err;
	return 1;
}
