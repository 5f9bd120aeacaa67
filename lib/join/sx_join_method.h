/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What a join is to do, and how that is done best. The bits are cut into more *parts* than a pair has
 * errors, so that a pair agrees in at least one of them; or all fingerprints are compared with all.
 */

#ifndef SX_JOIN_METHOD_H
#define SX_JOIN_METHOD_H

#include "join/sx_join_source.h"

/* ------------------------------------------------------------------------------------------
 * Parts
 */

typedef struct sx_join_part {
	uint64_t mask;  /* of the fingerprint */
	unsigned width; /* its bits */
	sx_perm perm;   /* an order in which it comes first: that of a table, if there is one */
	int is_stored;  /* there is one */
} sx_join_part;

/**
 * Cut the bits into k + 1 parts, k = 1..SX_JOIN_MAX_RADIUS.
 *
 * @param by_leads  as the leads of the plan's tables do, of which few have to be sorted but some may
 *                  be narrow; else as 4x16 does. Parts are cut in halves as they are needed
 * @return how many; 0 = there are not so many, with by_leads only
 */
unsigned sx_join_cut(const sx_plan *plan, unsigned k, int by_leads,
		     sx_join_part parts[SX_JOIN_MAX_PARTS]);

/** What the buckets of part p report: the pairs that agree in it and in no later part. */
sx_join_constraint sx_join_constraint_of(const sx_join_part *parts, unsigned n, unsigned p, unsigned k);

/* ------------------------------------------------------------------------------------------
 * The choice
 */

/** What a join is to do. */
typedef struct sx_join_task {
	sx_join_input input[2];
	unsigned n_inputs;
	unsigned k;
	unsigned threads;
	sx_join_space space;
	/** As in simidx_join_options; both may be NULL. One thread at a time calls them. */
	void (*progress)(void *ctx, const char *phase, uint64_t done, uint64_t total);
	int (*stop)(void *ctx);
	void *ctx;
} sx_join_task;

/** How it is going to be done. */
typedef struct sx_join_method {
	int scans;      /* everything is compared with everything, or else */
	int by_leads;   /* parts are cut in this way: sx_join_cut() */
	double seconds; /* about, of one thread, without what the pairs take that are found */
} sx_join_method;

/** Choose what takes least time for as many fingerprints as there are. */
sx_join_method sx_join_choose(const sx_join_task *task);

/** Ask the caller whether to stop. SIMIDX_OK or SIMIDX_E_STOPPED. */
int sx_join_ask(const sx_join_task *task, simidx_error *err);

/** Fingerprints of one index, those of fresh rows included, about. */
uint64_t sx_join_rows(const sx_join_input *input);

/** The plan by which parts are cut: that of the larger index, whose tables have them in order. */
const sx_plan *sx_join_plan(const sx_join_task *task);

const sx_kernel *sx_join_kernel(const sx_join_task *task);

/** What tests have set. */
static inline const sx_join_tuning *sx_join_tuned(const sx_join_task *task)
{
	return &task->input[0].index->tuning.join;
}

#endif /* SX_JOIN_METHOD_H */
