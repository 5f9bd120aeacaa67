/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * All pairs of distinct fingerprints within k bits, of one index or of two, by several threads. They
 * are gathered in a sorter, so that the work of the threads leaves no trace in their order.
 */

#ifndef SX_JOIN_FIND_H
#define SX_JOIN_FIND_H

#include "join/sx_join_source.h"

#define SX_JOIN_MAX_THREADS 256

/** What a join is to do. */
typedef struct sx_join_task {
	sx_join_side side[2];
	unsigned n_sides;
	unsigned k;
	unsigned threads; /* 1..SX_JOIN_MAX_THREADS */
	sx_join_space space;
	const sx_join_forced *forced; /* may be NULL */
	/** As in simidx_join_options; both may be NULL. One thread at a time calls them. */
	void (*progress)(void *ctx, const char *phase, uint64_t done, uint64_t total);
	int (*stop)(void *ctx);
	void *ctx;
} sx_join_task;

/** How it is going to be done. */
typedef struct sx_join_way {
	int scans;      /* everything is compared with everything */
	double seconds; /* about, of one thread */
} sx_join_way;

sx_join_way sx_join_choose(const sx_join_task *task);

/**
 * Add each pair once to a sorter of two words, the smaller one first.
 *
 * @return SIMIDX_OK; SIMIDX_E_STOPPED; SIMIDX_E_NOMEM, the text says where memory is too small for a
 *         bucket; the codes of a walk and of a sorter
 */
int sx_join_find(sx_join_task *task, const sx_join_way *way, sx_sorter *pairs, simidx_error *err);

/** Ask the caller whether to stop. SIMIDX_OK or SIMIDX_E_STOPPED. */
int sx_join_ask(const sx_join_task *task, simidx_error *err);

#endif /* SX_JOIN_FIND_H */
