/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * A stream of commits at a steady pace, by a thread of this process or by another process, and
 * queries one after the other meanwhile.
 */

#ifndef BN_STREAM_H
#define BN_STREAM_H

#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/types.h>

#include <simidx.h>

#include "bn_rival.h"

#define BN_ANY_CPU UINT_MAX /* wherever it was started */

/** What the writer is to do and what it has done; in memory that both processes see. */
struct bn_job {
	char dir[4200];
	simidx *index;           /**< that a thread writes to; a process opens dir */
	uint64_t threshold;      /**< fresh rows that a commit may leave */
	uint64_t commits, rows;  /**< how many, and documents in each */
	double per_second;
	unsigned cpu;            /**< that the writer runs on, or BN_ANY_CPU */
	uint64_t n_fp;           /**< room in fp */

	int ended;
	pid_t pid;               /**< of the other process, if there is one */
	uint64_t merges, late;   /**< late: commits that began more than a pace after their time */
	double commit_s, longest_s;
	uint64_t fp[];           /**< the documents, commits * rows of them */
};

struct bn_stream {
	struct bn_job *job;
	int in_process;          /**< the writer is a thread */
	int go;                  /**< pipe to the other process */
	pthread_t thread;
};

/**
 * Make room for so many documents, and the other process if one is wanted. To be called before
 * any index is open: handles do not survive a fork.
 */
void bn_stream_make(struct bn_stream *stream, uint64_t documents, int in_process);

/** Start the job. It ends by itself; job->ended then is 1, unless its process was killed. */
void bn_stream_start(struct bn_stream *stream);

/** Wait for the end of the job, if one was started, and free everything but the job. */
void bn_stream_end(struct bn_stream *stream);
void bn_stream_free(struct bn_stream *stream);

#define BN_SLOW 3

/** Queries one after the other: by the clock, but for cpu_us, the CPU time of the thread. */
struct bn_flow {
	uint64_t queries;
	double cpu_us, mean_us, p50_us, p99_us, p999_us, matches;
	uint64_t slow[BN_SLOW];  /**< of the others: 100 us or more, 1 ms or more, 10 ms or more */
	double slow_us, slow_max_us; /**< of these, together; the longest */
	uint64_t disturbed;      /**< that took 100 us or more because the thread had to wait */
};

/**
 * Query for some seconds, or until a job has ended. Ends the program if a query finds fewer
 * documents than `least` says: nothing is ever deleted here.
 *
 * @param seconds  for how long; 0 = until the job has ended
 * @param job      may be NULL
 */
void bn_flow_run(struct bn_rival *rival, const struct bn_class *class, const uint64_t *query,
		 const struct bn_sum *least, double seconds, const struct bn_job *job,
		 struct bn_flow *out);

#endif /* BN_STREAM_H */
