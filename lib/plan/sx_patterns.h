/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Probes for queries with weights: the distance of two fingerprints is the sum of the weights of
 * the bits in which they differ, one byte per bit of a fingerprint.
 *
 * A pattern is a set of bits of a table's prefix that are flipped; it costs the sum of their
 * weights, and each one is a probe. Ignored bits (weight 0) at the low end of a prefix are not
 * flipped, as both their values are one range; the rest is what is *probed* of the prefix.
 *
 * What is found. Let u be the cost of the cheapest pattern of a table that was not probed.
 * Whatever a search misses differs from the query, within the probed bits of each table, by a
 * pattern that was not probed, thus by u or more. Where no bit is probed in two tables these
 * parts do not overlap, and the distance is at least the sum of u over the tables: the answer is
 * complete up to that sum - 1, and no further, as the cheapest missed patterns of all tables
 * together are such a fingerprint. Where no bit (of a weight above 0) is probed in more than d
 * tables, the sum counts no bit more than d times, and the distance is at least sum(u) / d. For
 * tables that lead with r of m blocks, all with patterns up to c, that is more than m * c / r.
 */

#ifndef SX_PATTERNS_H
#define SX_PATTERNS_H

#include <stdint.h>

#include "plan/sx_costs.h"
#include "plan/sx_probes.h"
#include "plan/sx_weights.h"

/** A query with weights. */
typedef struct sx_weighted {
	uint64_t fp;
	const uint8_t *weights;        /* 64 of them */
	const sx_by_weight *by_weight; /* the same, sorted within `radius` */
	unsigned radius;               /* the distance of a match is no larger */
	unsigned max_bits;             /* a match differs in no more bits than these, 0..64 */
} sx_weighted;

/** What was probed. */
typedef struct sx_patterns_end {
	int scan;            /* one whole table instead of patterns */
	int64_t complete_to; /* the answer has everything up to this distance: SX_COMPLETE, or
	                        -1 = not even all at distance 0 (ignored bits) */
	uint64_t probed[SX_MAX_TABLES]; /* by table: bits of a fingerprint; 0 = not at all */
	int32_t upto[SX_MAX_TABLES];    /* by table: all patterns that cost this or less, -1 =
	                                   none */
	/* Of the patterns of one table that cost one more, the first ones were probed too. */
	int tied;            /* that table; -1 = there is none */
	uint32_t last;       /* number of the last such pattern, which has bit i when it flips */
	unsigned n_ranks;    /* the i-th cheapest bit, and these are: */
	uint8_t rank[SX_MAX_PREFIX_BITS];
	size_t n_limits; /* that sx_patterns_complete() has compared: what choosing took */
} sx_patterns_end;

/**
 * Append the `max` cheapest patterns of all tables, or all that there are, in the order of what
 * they cost, also those that cost more than the radius and have no matches. Ties by table, then by
 * the pattern's number, which has bit i when it flips the i-th cheapest of the probed bits (equal
 * weights: the one lowest in the prefix first). What they catch depends on plan, query and weights
 * alone. Costs about 20 ns a pattern and 50 to 100 a table.
 *
 * @param max  no more than SX_MAX_QUERY_PROBES are made
 * @return 0, or -1 when memory is short
 */
int sx_patterns_cheapest(const sx_plan *plan, const sx_weighted *query, uint64_t max,
			 sx_probes *out, sx_patterns_end *end);

/**
 * Append probes, in no particular order, that find everything up to a distance, which is not
 * above the radius; they may find more. They are few, by costs and the number of rows in
 * each table, or a scan where that is cheaper. Takes time in proportion to the distance, as far as
 * patterns are cheaper than a scan, and to the number of probes.
 *
 * @return 0, or -1 when memory is short
 */
int sx_patterns_complete(const sx_plan *plan, const sx_weighted *query, uint32_t distance,
			 const sx_costs *costs, uint64_t rows, sx_probes *out,
			 sx_patterns_end *end);

/**
 * Append one probe, of the whole first table, which finds everything.
 *
 * @return 0, or -1 when memory is short
 */
int sx_patterns_scan(const sx_plan *plan, const sx_weighted *query, sx_probes *out,
		     sx_patterns_end *end);

/**
 * Whether a match whose XOR with the query is `differ`, found by a probe of `table`, is to be
 * reported from there: no table with a lower number has probed its pattern. With the number of
 * tables for `table`: whether none has, so that it was not looked for.
 */
int sx_patterns_is_first(const sx_patterns_end *end, const uint8_t weights[64], unsigned table,
			 uint64_t differ);

#endif /* SX_PATTERNS_H */
