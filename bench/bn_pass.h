/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * One pass of a rival over some queries, in one of several ways.
 *
 *   mean       one query after the other, CPU time of the thread and of a server, if there is
 *              one; no clock in between
 *   times      the same with a clock reading around each query: quantiles of the wall clock
 *   swept      64 MiB of other memory are written before each query, so that caches are cold
 *   cold       the file leaves memory before each query, except what another query elsewhere
 *              needs, and what the handle keeps; wall clock
 *   weighted-N, text-N  the same as "mean" by weights, N probes a query, up to the distance of
 *              texts with one fingerprint or two; nobody else to compare answers with
 *   batch-N    N queries in one call, CPU time of the process (the library may use threads)
 *   threads-N  as many threads, each with a part of the queries; wall clock
 */

#ifndef BN_PASS_H
#define BN_PASS_H

#include "bn_rival.h"

/** What found the answers that others are compared with, by query of the set. */
struct bn_truth {
	struct bn_sum *answer;
	uint64_t *known; /**< by class: how many of its first queries are known */
};

void bn_truth_make(struct bn_truth *truth, const struct bn_set *set);
void bn_truth_free(struct bn_truth *truth);

/**
 * Answer all queries of a class, and end the program with status 1 if an answer is not the one
 * that another rival gave. Warms memory and caches up, too.
 */
void bn_pass_check(struct bn_rival *rival, const struct bn_set *set, unsigned class,
		   struct bn_truth *truth);

/**
 * Whether a rival does this work, here.
 *
 * @param work  one of those above
 */
int bn_pass_applies(struct bn_rival *rival, const char *work, uint64_t queries);

/**
 * Measure; the number of matches is checked.
 *
 * @param limit  most documents a query, 0 = all
 */
void bn_pass_run(struct bn_rival *rival, const char *work, const struct bn_set *set,
		 unsigned class, uint64_t limit, const struct bn_truth *truth,
		 struct bn_figures *out);

#endif /* BN_PASS_H */
