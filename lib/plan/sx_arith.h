/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Counting and masks for the planner.
 */

#ifndef SX_ARITH_H
#define SX_ARITH_H

#include <stdint.h>

#include "plan/sx_plan.h"

/** What is probed of one table: leading bits of its permuted values. */
typedef struct sx_shape {
	unsigned bits;            /* so many of them, 1..32 */
	unsigned ignored;         /* of these do not count: both values are probed */
	unsigned flipped;         /* errors are made in so many leading ones: bits, or fewer where
	                             one range covers those in the others */
	unsigned flipped_ignored; /* of which so many do not count */
} sx_shape;

/** The probes for up to so many errors, at most UINT64_MAX. Merged shapes: 1 error. */
uint64_t sx_shape_probes(const sx_shape *shape, unsigned errors);

/** The ways to choose at most `most` of n <= 64 things, at most UINT64_MAX. */
uint64_t sx_count_choices(unsigned n, unsigned most);

/** The bits of a fingerprint that the first `bits` bits of a permuted value are. */
uint64_t sx_leading_mask(const sx_perm *perm, unsigned bits);

/** Whether first leads are less than prefixes: 1 or 0. */
int sx_has_several_leads(const sx_plan *plan);

/** The first `bits` bits (0..32) of a permuted value, right-aligned. */
static inline uint64_t sx_lead_of(const sx_perm *perm, uint64_t fp, unsigned bits)
{
	/* A shift by all 64 bits is not defined. */
	return bits ? sx_permute(perm, fp) >> (perm->bits - bits) : 0;
}

/** The next larger number (x > 0, below 2^63) with as many ones. */
static inline uint64_t sx_next_combination(uint64_t x)
{
	uint64_t lowest = x & -x, carried = x + lowest;

	return x ? carried | (x ^ carried) >> 2 >> __builtin_ctzll(lowest) : 0;
}

#endif /* SX_ARITH_H */
