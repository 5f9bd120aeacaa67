/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What the tests of covers share: all plans, costs, bucket sizes.
 */

#ifndef SXT_PLAN_H
#define SXT_PLAN_H

#include <stdint.h>

#include "plan/sx_planner.h"
#include "support/sxt.h"
#include "util/sx_bytes.h"

#define N_WIDTHS 4

static const unsigned widths[N_WIDTHS] = { 16, 32, 48, 64 };
static const sx_costs costs = { 0, 80, 0.4, 0.2, 60, 0 };

/* Of loop i: every plan with every width. */
static inline void make(sx_plan *plan, int i)
{
	ck_assert_sx(sx_plan_make(plan, sxt_plans[i / N_WIDTHS], widths[i % N_WIDTHS], &sxt_err),
		     SIMIDX_OK);
}

/* Buckets of unequal sizes, and some that hold very many. */
typedef struct crowd {
	const sx_plan *plan;
	unsigned hot_table;
	uint64_t hot, hot_rows; /* a permuted value of that table, and how many are with it */
	uint64_t seed;
	double rows;
} crowd;

static inline uint64_t crowd_size(void *ctx, unsigned table, uint64_t low, uint64_t high)
{
	const crowd *c = ctx;
	uint64_t seed = c->seed ^ low * 3 ^ table;
	sxt_rng rng = { seed };
	double share = (double)(high - low) / (double)sx_low_bits(c->plan->bits);
	uint64_t n = (uint64_t)(share * c->rows * (double)sxt_rng_below(&rng, 5));

	if (table == c->hot_table && low <= c->hot && c->hot <= high)
		n += c->hot_rows;
	return n;
}

#endif /* SXT_PLAN_H */
