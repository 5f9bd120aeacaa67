/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What searching an open index costs, for its planner: typical figures for its size, until
 * searches whose way depends on them have been expected to take as long as measuring takes some
 * ten times over. Then they are measured, once for as long as the index keeps about its size. They
 * belong to the handle and are never stored: the next one may be on another machine, and an index
 * that is only read can be measured, too. No answer depends on them.
 */

#ifndef SX_PRICES_H
#define SX_PRICES_H

#include <pthread.h>
#include <stdint.h>

#include "plan/sx_planner.h"

/** Time that searches are expected to take before costs are measured, which takes 1 to 3 ms. */
#define SX_PRICES_DEBT 20000000.

/** Time after which measuring is given up: it would be the disk that is measured. */
#define SX_PRICES_PATIENCE 500000000.

typedef struct sx_prices {
	pthread_mutex_t lock; /* guards all; `known` and the version may be read without it */
	sx_costs costs;
	uint64_t rows;    /* that they are for, about */
	double debt;      /* ns that searches were expected to take which depend on them */
	double patience;  /* ns that measuring may take */
	int known;        /* they are measured, or it was found out that they cannot be */
	int typical_only; /* are never to be measured */
	int fixed;        /* are to stay what they are */
	unsigned version; /* raised by each change */
} sx_prices;

struct simidx_reader;

/** 0 or -1. */
int sx_prices_init(sx_prices *prices);

void sx_prices_free(sx_prices *prices);

/** Changes of what things cost. */
static inline unsigned sx_prices_version(const sx_prices *prices)
{
	return __atomic_load_n(&prices->version, __ATOMIC_ACQUIRE);
}

/** Have reader->costs be what it costs to search so many rows a table. */
void sx_prices_take(struct simidx_reader *reader, uint64_t rows);

/**
 * A search that depends on costs is expected to take so long. Its directories have been taken:
 * when it is time to measure, and these are there, costs are measured.
 *
 * @return 1 if they have changed: choose again
 */
int sx_prices_owe(struct simidx_reader *reader, double ns);

/**
 * Measure what searching the tables costs that the reader has directories of, or without
 * directories where the index has none. Takes 1 to 3 ms; reads some 2,000 blocks, which are in
 * memory, or it fails.
 *
 * @return 0, or -1 when they are not in memory, too few, or there is no reader slot
 */
int sx_prices_measure(struct simidx_reader *reader, sx_costs *out);

#endif /* SX_PRICES_H */
