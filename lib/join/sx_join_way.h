/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What a join is to do, and how that is done best.
 */

#ifndef SX_JOIN_WAY_H
#define SX_JOIN_WAY_H

#include "join/sx_join_source.h"

/** What a join is to do. */
typedef struct sx_join_task {
	sx_join_side side[2];
	unsigned n_sides;
	unsigned k;
	unsigned threads;
	sx_join_space space;
	/** As in simidx_join_options; both may be NULL. One thread at a time calls them. */
	void (*progress)(void *ctx, const char *phase, uint64_t done, uint64_t total);
	int (*stop)(void *ctx);
	void *ctx;
} sx_join_task;

/** How it is going to be done. */
typedef struct sx_join_way {
	int scans;      /* everything is compared with everything, or else */
	int by_leads;   /* parts are cut in this way: sx_join_cut() */
	double seconds; /* about, of one thread, without what the pairs take that are found */
} sx_join_way;

/** Choose what takes least time for as many fingerprints as there are. */
sx_join_way sx_join_choose(const sx_join_task *task);

/** Ask the caller whether to stop. SIMIDX_OK or SIMIDX_E_STOPPED. */
int sx_join_ask(const sx_join_task *task, simidx_error *err);

/** Fingerprints of one index, those of fresh rows included, about. */
uint64_t sx_join_rows(const sx_join_side *side);

/** The plan by which parts are cut: that of the larger index, whose tables have them in order. */
const sx_plan *sx_join_plan(const sx_join_task *task);

const sx_kernel *sx_join_kernel(const sx_join_task *task);

/** What tests have set. */
static inline const sx_join_tuning *sx_join_tuned(const sx_join_task *task)
{
	return &task->side[0].index->tuning.join;
}

#endif /* SX_JOIN_WAY_H */
