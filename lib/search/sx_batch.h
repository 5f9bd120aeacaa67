/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Batches: many queries in one call. They are answered in tasks of consecutive queries: one after
 * another or, where there is much to share, sorted (sx_backend_bulk), so that neighbours share
 * what is read.
 */

#ifndef SX_BATCH_H
#define SX_BATCH_H

#include <stdatomic.h>

#include <simidx_batch.h>

#include "search/sx_reader.h"
#include "util/sx_pool.h"

typedef struct sx_batch {
	const simidx *index;
	const simidx_query *query;
	size_t n;
	const simidx_batch_options *options;
	int together; /* queries of a task are answered together: sx_backend_bulk */
	unsigned threads;
	size_t task;        /* queries of each task; the last one may have fewer */
	atomic_size_t next; /* the first query that no thread has taken */
	simidx_reader *reader; /* of the caller's thread */
	sx_pool pool;
} sx_batch;

/** Set how many queries a task has, and how many threads there are: no more than tasks. */
void sx_batch_divide(sx_batch *batch);

#endif /* SX_BATCH_H */
