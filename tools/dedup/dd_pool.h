/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Threads that share the steps of one job, and then wait for the next job.
 */

#ifndef DD_POOL_H
#define DD_POOL_H

#include <stddef.h>

struct dd_pool;

/** A step: number `i`, done by thread number `thread`. */
typedef void dd_step(void *ctx, unsigned thread, size_t i);

/** Start `n` threads, at least 1. They get no signals. NULL with a message. */
struct dd_pool *dd_pool_new(unsigned n);

/** End the threads. NULL is allowed. */
void dd_pool_free(struct dd_pool *pool);

/** Do steps 0 to n - 1, in any order and at once, and return when all are done. */
void dd_pool_run(struct dd_pool *pool, dd_step *step, void *ctx, size_t n);

#endif /* DD_POOL_H */
