/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Threads of one call: its own and some more, which end with it. What is handed out among them is
 * theirs to arrange; the pool keeps the first failure.
 */

#ifndef SX_POOL_H
#define SX_POOL_H

#include <stdatomic.h>

#include <simidx.h>

/** Most threads of a call. */
#define SX_POOL_MAX_THREADS 256

/** All zero before. One may run several times, until it has failed. */
typedef struct sx_pool {
	atomic_int ended; /* early, for the reason that follows */
	int rc;
	simidx_error err;
} sx_pool;

/** How many threads to use: what is wanted, 0 = one for each core; 1..SX_POOL_MAX_THREADS. */
unsigned sx_pool_threads(unsigned wanted);

/**
 * Run work(ctx, 0) in this thread and work(ctx, number) in others, as many of `threads` - 1 as can
 * be started, and wait for all. They do not get signals.
 *
 * @return SIMIDX_OK, or what the first of them has failed with
 */
int sx_pool_run(sx_pool *pool, unsigned threads, void (*work)(void *ctx, unsigned number),
		void *ctx, simidx_error *err);

/**
 * Tell that a thread has failed. The first failure counts: those that follow may be its
 * consequences. Returns 1 for it, 0 for the others.
 */
int sx_pool_fail(sx_pool *pool, int rc, const simidx_error *err);

/** Whether one has failed, so that the others had better end. */
static inline int sx_pool_has_ended(sx_pool *pool)
{
	return atomic_load(&pool->ended);
}

#endif /* SX_POOL_H */
