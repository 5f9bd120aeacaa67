/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "plan/sx_costs.h"

#define PAGE_OVERHEAD 1.065 /* of a row: headers, pages above the blocks, whole low bytes */

/* Base 2; x >= 1. Twenty bits after the point, one for each squaring. */
static double log_of(double x)
{
	double log = 0, bit = 1;

	for (; x >= 2; x /= 2)
		log++;
	while (bit > 1e-6) {
		x *= x;
		bit /= 2;
		if (x >= 2) {
			x /= 2;
			log += bit;
		}
	}
	return log;
}

/*
 * A set of N out of 2^f numbers takes log2(2^f! / N! (2^f - N)!) bits at least, for N far below
 * 2^f that is N (f - log2 N + log2 e).
 */
double sx_costs_row_bytes(unsigned bits, uint64_t rows, unsigned fill)
{
	double least = bits - log_of(rows ? (double)rows : 1) + 1.4427;

	if (least < 1.4427)
		least = 1.4427;
	return least / 8 * PAGE_OVERHEAD * 100 / fill;
}

static double at_most(double x, double max)
{
	return x < max ? x : max;
}

/*
 * Fitted to the covers that bench/bn_planner times for k = 0..6 at 10^6 and 10^7, and to
 * bench/bn_search for k = 3 at 10^8. A query takes longer in a larger index since its documents
 * lie on pages that no probe has read. Probes wait for memory together, so one of twenty costs
 * little more than its instructions; a first one in a table has more of them, and what is near
 * is met again there. What rows cost is bounded by the bandwidth of memory, and those of a scan
 * by what they would cost in ranges; a table of 10^6 stays in the cache, one of 10^7 does not.
 */
void sx_costs_typical(const sx_plan *plan, uint64_t documents, sx_costs *costs)
{
	double all = log_of(1 + (double)documents * plan->n_tables / 1e6);
	double table = log_of(1 + (double)documents / 1e6);

	costs->query = 220 + 55 * all;
	costs->table = 70 + 8 * all;
	costs->probe = 34 + 9 * all;
	costs->candidate = at_most(0.16 + 0.07 * all, 0.65);
	costs->scanned = at_most(0.15 + 0.05 * table * table, costs->candidate);
	costs->whole_prefixes = 0;
}

double sx_costs_probes(const sx_costs *costs, unsigned tables, double probes, double candidates)
{
	return tables * costs->table + probes * costs->probe + candidates * costs->candidate;
}

double sx_costs_scan(const sx_costs *costs, uint64_t rows)
{
	return costs->query + (double)rows * costs->scanned;
}
