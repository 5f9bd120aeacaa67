/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Strategies: how a radius is looked up in the tables of a plan.
 *
 * Each table has a threshold, the number of errors that are allowed in the leading bits of its
 * prefix that are probed; every way to make so many errors there is one probe. A strategy finds
 * all fingerprints within a radius if and only if, for every way to put that many errors into
 * the bits that count, some table sees no more of them than its threshold. Tables that lead
 * with disjoint blocks of bits: sum (threshold + 1) > radius.
 *
 * Bits of an ignore mask do not count; where one lies among the probed bits, both its values
 * are probed.
 */

#ifndef SX_STRATEGY_H
#define SX_STRATEGY_H

#include <stdint.h>

#include "plan/sx_plan.h"
#include "plan/sx_probes.h"

#define SX_MAX_QUERY_PROBES ((uint64_t)1 << 20) /* of one query; beyond that a table is scanned */

typedef struct sx_strategy {
	unsigned radius;
	uint64_t ignore;              /* bits that do not count */
	int single;                   /* each table probed has one probe: no errors, no mask */
	int scan;                     /* read the whole of table order[0] instead */
	int first_leads;              /* only first leads are probed, of tables that have
	                                 disjoint ones */
	unsigned n;                   /* tables probed */
	uint8_t order[SX_MAX_TABLES]; /* in probing order */
	int8_t errors[SX_MAX_TABLES]; /* by table: the threshold, -1 = not probed */
	uint8_t bits[SX_MAX_TABLES];  /* by table: leading bits of the prefix that are probed */
	uint8_t merged[SX_MAX_TABLES]; /* by table: flips are made in so many leading bits, and one
	                                  range covers those in the others; 0 = not merged. Only
	                                  where errors is 1 */
	uint64_t counts[SX_MAX_TABLES]; /* by table: bits of a fingerprint that are probed and
	                                   count; 0 where errors is -1 */
	uint64_t probes;     /* that it makes; UINT64_MAX = at least so many */
	uint64_t candidates; /* that were expected when it was chosen */
	double ns;           /* time that was expected */
} sx_strategy;

/** A strategy for this radius and mask that probes nothing yet. */
void sx_strategy_init(sx_strategy *strategy, unsigned radius, uint64_t ignore);

/**
 * Allow `errors` errors (0..126) in the first `bits` bits (1..prefix width) of a table that is not
 * probed yet. `merged` as in the struct, below `bits`. Tables are to be added in ascending
 * order.
 */
void sx_strategy_add(const sx_plan *plan, sx_strategy *strategy, unsigned table,
		     unsigned errors, unsigned bits, unsigned merged);

/** Read the whole of the first table instead. */
void sx_strategy_make_scan(sx_strategy *strategy);

/**
 * Whether it finds everything within its radius: the condition above, decided by looking for a
 * way to place the errors that every table misses. Does not depend on how it was found.
 */
int sx_strategy_is_exact(const sx_plan *plan, const sx_strategy *strategy);

/**
 * Append the probes for a fingerprint: table after table in probing order, fewer errors first.
 * Ranges of one table do not overlap.
 *
 * @param max_bits  a match differs from the query in no more bits than these, ignored ones
 *                  included; 64 = any
 * @return 0, or -1 when memory is short
 */
int sx_strategy_probes(const sx_plan *plan, const sx_strategy *strategy, uint64_t fp,
		       unsigned max_bits, sx_probes *out);

/**
 * Whether a match whose XOR with the query is `differ` is to be reported from `table`, where a
 * probe has found it: the table sees no more errors than its threshold, and no table with a
 * lower number does. Of an exact strategy exactly one table reports each match, in whatever
 * order the tables are probed. (A merged range also holds matches that are not its own.)
 */
int sx_strategy_is_first(const sx_strategy *strategy, unsigned table, uint64_t differ);

/**
 * Whether the buckets of one query are so much larger than expected that it is worth while to
 * choose a strategy for that query alone. `candidates`: the rows in the ranges of its probes.
 */
static inline int sx_strategy_is_poor(const sx_strategy *strategy, uint64_t candidates)
{
	/* Choosing takes some microseconds, as long as reading some ten thousand rows. */
	return candidates > 4 * strategy->candidates + 16384 && !strategy->scan;
}

#endif /* SX_STRATEGY_H */
