/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The planner: the cheapest strategy that finds everything within a radius.
 */

#ifndef SX_PLANNER_H
#define SX_PLANNER_H

#include <stdint.h>

#include "plan/sx_plan.h"
#include "plan/sx_strategy.h"

/** What things cost on this machine and with this index, in nanoseconds. */
typedef struct sx_costs {
	double query;     /* a query, whatever it asks */
	double probe;     /* a probe, whatever it finds, beside others of its table */
	double candidate; /* each row in the range of a probe */
	double scanned;   /* each row of a scan through a whole table */
	double table;     /* each table that is probed, whatever its probes */
} sx_costs;

/** How large the buckets are. */
typedef struct sx_sizes {
	uint64_t rows; /* of each table */
	/* Rows of a table from low to high; NULL = all prefixes are equally frequent. */
	uint64_t (*size)(void *ctx, unsigned table, uint64_t low, uint64_t high);
	void *ctx;
	uint64_t fp; /* the query, where size is not NULL */
} sx_sizes;

/** What is asked. */
typedef struct sx_request {
	unsigned radius; /* any; more than the bits that count is all */
	uint64_t ignore; /* bits that do not count */
	int plain;       /* neither merge probes nor probe less than whole prefixes or leads */
} sx_request;

/** One thing that the planner has thought of. */
typedef struct sx_alternative {
	const char *what; /* "prefixes", "first leads" or "scan" */
	sx_strategy strategy; /* with its probes, candidates and time */
} sx_alternative;

#define SX_MAX_ALTERNATIVES 5

typedef struct sx_choice {
	unsigned n;
	sx_alternative of[SX_MAX_ALTERNATIVES];
} sx_choice;

/**
 * Choose the cheapest exact strategy. There always is one: a scan. Without sizes->size the result
 * depends on nothing but its arguments, so that it can be kept for each radius; it is then good
 * for a query until sx_strategy_is_poor().
 *
 * Costs some microseconds for plans with one lead a table. For the others a search that takes
 * about as long as the answer is expected to take, at most some milliseconds: its result is
 * exact, and the cheapest where that was long enough.
 */
void sx_choose_strategy(const sx_plan *plan, const sx_request *request, const sx_costs *costs,
			const sx_sizes *sizes, sx_strategy *out);

/**
 * What else there would be: the best of each family and the scan, with and without merging, as far
 * as they are not the strategy that was chosen for these arguments. For telling people: it takes
 * longer than choosing. None is cheaper: one that is was not found in the time that choosing
 * has, and is left out.
 */
void sx_other_strategies(const sx_plan *plan, const sx_request *request, const sx_costs *costs,
			 const sx_sizes *sizes, const sx_strategy *chosen, sx_choice *out);

#endif /* SX_PLANNER_H */
