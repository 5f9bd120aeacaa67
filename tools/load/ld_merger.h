/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * --merge beside: a thread that merges while the load goes on. There is one for each merge.
 */

#ifndef LD_MERGER_H
#define LD_MERGER_H

#include <pthread.h>
#include <stdatomic.h>

#include "load/ld_options.h"

/** All zero at first. */
typedef struct ld_merger {
	const struct ld_options *options;
	pthread_t thread;
	int has_thread;
	atomic_int has_ended;
	int code; /* of the first merge that failed, or 0, and its error */
	simidx_error err;
} ld_merger;

/** A commit says that a merge is due: begin one, unless one is going on or has failed. */
void ld_merger_begin(ld_merger *merger, const struct ld_options *options);

/** Wait for the merge that goes on. Returns `code`. */
int ld_merger_end(ld_merger *merger);

#endif /* LD_MERGER_H */
