/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * simidx_batch.h - searching many queries in one call, by several threads.
 *
 * The conventions of simidx.h hold here too.
 */

#ifndef SIMIDX_BATCH_H
#define SIMIDX_BATCH_H

#include <simidx.h>

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif
#ifdef __cplusplus
extern "C" {
#endif

/** How simidx_reader_search_batch() works. */
typedef struct simidx_batch_options {
	size_t size;      /**< sizeof; SIMIDX_BATCH_OPTIONS_INIT sets it */
	unsigned threads; /**< 0 = one for each core; more than 256 are taken as 256 */
	/** Takes the answer to query number i, 0..n - 1; `results` stay valid during the call.
	    Anything but 0 ends the batch with SIMIDX_E_STOPPED. */
	int (*deliver)(void *ctx, size_t i, const simidx_results *results);
	void *ctx;        /**< passed to deliver() and stopped() */
	/** NULL, or called once, from any thread of the batch, when a query has failed or deliver()
	    has returned something but 0. Calls of deliver() that wait for the answer to another
	    query have to return then: it may never come. */
	void (*stopped)(void *ctx);
} simidx_batch_options;

#define SIMIDX_BATCH_OPTIONS_INIT { sizeof(simidx_batch_options), 0, NULL, NULL, NULL }

/**
 * Search many queries. Large batches whose queries differ in nothing but the fingerprint, or go
 * by weights as those of texts, share what they read, and are faster for it than as many single
 * searches. All queries see one snapshot, or those of each thread do; it is pinned until the end,
 * as by a walk.
 *
 * With one thread, answers come in the order of the queries, from the caller's thread. Otherwise
 * deliver() is called from several threads, the caller's among them, at the same time and in no
 * order: order is the caller's business. Each thread takes tasks of consecutive queries and
 * answers those of a task in order; tasks are begun in order. The matches of a query come in
 * pieces of at most 65,536. Every piece but the last has simidx_results.more set; the pieces of a
 * query come one after another, in the order of their matches and from the same thread; the
 * counts in each are those of the whole query.
 *
 * @param reader   must not be used until the call returns, neither by deliver(). The other
 *                 threads open readers of their own; one that cannot, as all reader slots of the
 *                 index are taken, leaves the work to the others
 * @param queries  `n` of them; each may have another radius, mode and so on. They lie as far
 *                 apart as the first one's size says, and all have that size
 * @param options  with deliver() set
 * @return as simidx_reader_search(), of a query that failed: with one thread of the first one
 *         that fails, after the answers to those before it; with several of any, and others may
 *         be unanswered too. SIMIDX_E_STOPPED
 *
 * Cost: at most that of the searches. Memory: O(1) for each thread, the matches of the query that
 * it is at, and the labels of one piece.
 */
int simidx_reader_search_batch(simidx_reader *reader, const simidx_query *queries, size_t n,
			       const simidx_batch_options *options, simidx_error *err)
	SIMIDX_CHECK_RESULT;

#ifdef __cplusplus
}
#endif
#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif /* SIMIDX_BATCH_H */
