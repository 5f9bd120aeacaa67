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

/** Time that searches are expected to take before costs are measured, which takes 2 to 5 ms. */
#define SX_PRICES_DEBT 30000000.

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
 * directories where the index has none. Takes 2 to 5 ms; reads some 5,000 blocks, which are in
 * memory, or it fails.
 *
 * @return 0, or -1 when they are not in memory, too few, or there is no reader slot
 */
int sx_prices_measure(struct simidx_reader *reader, sx_costs *out);

/** Costs that are fitted: of a query, a table, a probe, a row. */
#define SX_PRICES_FITTED 4

/** A cost that is measured differs from the typical one by this factor at most. */
#define SX_PRICES_BOUND 8

/**
 * The costs within bounds for which what searches take is least wrong in proportion, and which
 * are no further from the typical ones than that takes: the sum of (a[i] cost - 1)^2 and of
 * (cost / usual - 1)^2 / 100 is least, where `usual` are the typical ones times the factor that
 * makes them least wrong.
 *
 * @param a  by search: how much it has of each, divided by the time that it took
 */
void sx_prices_fit(const double a[][SX_PRICES_FITTED], unsigned n,
		   const double typical[SX_PRICES_FITTED], double cost[SX_PRICES_FITTED]);

#endif /* SX_PRICES_H */
