/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The cost model: what a query takes, and how large an index is, before there is one.
 */

#ifndef SX_COSTS_H
#define SX_COSTS_H

#include <stdint.h>

#include "plan/sx_plan.h"

/** What things cost, in nanoseconds. */
typedef struct sx_costs {
	double query;     /* a query, whatever it asks */
	double probe;     /* a probe, whatever it finds, beside others of its table */
	double candidate; /* each row in the range of a probe */
	double scanned;   /* each row of a scan through a whole table */
	double table;     /* each table that is probed, whatever its probes */
	int whole_prefixes; /* a probe is of a whole prefix; of a shorter one there is none */
} sx_costs;

/**
 * Costs of a server (Zen 4, 32 MB of cache) with the index in memory and block indexes of its
 * tables. They grow with all entries of the index, as fewer of its pages are in the caches, until
 * nothing is. What they give is within about a factor of 1.3 of what was measured for k = 3 at
 * 10^6 to 10^8 documents (bench/bn_search), and mostly within 1.5 for other radii
 * (bench/bn_planner).
 */
void sx_costs_typical(const sx_plan *plan, uint64_t documents, sx_costs *costs);

/**
 * What probes take, with the number of tables that they are in and of rows in their ranges; a
 * query takes costs->query more.
 */
double sx_costs_probes(const sx_costs *costs, unsigned tables, double probes, double candidates);

/** What a query takes that reads a whole table. */
double sx_costs_scan(const sx_costs *costs, uint64_t rows);

/** Bytes that a row of a block table takes at a fill of `fill` percent (1..100). */
double sx_costs_row_bytes(unsigned bits, uint64_t rows, unsigned fill);

#endif /* SX_COSTS_H */
