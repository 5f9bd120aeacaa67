/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Weights: one byte per bit of a fingerprint; the distance of two fingerprints is the sum of the
 * weights of the bits in which they differ. How many bits can differ within a distance: as many
 * as the lightest ones allow.
 */

#ifndef SX_WEIGHTS_H
#define SX_WEIGHTS_H

#include <stdint.h>

#include "plan/sx_perm.h"

#define SX_COMPLETE INT64_MAX /* nothing is missed at any distance */

/** The bits of a fingerprint, the lightest first. */
typedef struct sx_by_weight {
	unsigned n;
	uint8_t bit[64];
	uint8_t weight[64]; /* of these, but no more than one above the distance */
} sx_by_weight;

/** The lightest of some bits. */
typedef struct sx_lightest {
	unsigned n;       /* how many of them can differ */
	uint32_t sum[65]; /* what the i lightest weigh together, for i up to n */
} sx_lightest;

/**
 * Whether all weights up to bit `bits` - 1 are 0 or one other number: then the distance is a
 * Hamming distance, and a cover (sx_cover.h) with that number of errors finds it cheapest.
 *
 * @param ignore  the bits of weight 0
 * @return the other number (1 when all are 0), or 0 when there are several
 */
unsigned sx_weights_unit(const uint8_t weights[64], unsigned bits, uint64_t *ignore);

/**
 * Sort the bits, as far as they can differ within a distance.
 *
 * @param bits  of a fingerprint, 0..64
 */
void sx_weights_sort(sx_by_weight *by_weight, const uint8_t weights[64], unsigned bits,
		     unsigned distance);

/** Of the bits `among`: how many can differ within that distance, or a smaller one. */
void sx_weights_lightest(sx_lightest *lightest, const sx_by_weight *by_weight, uint64_t among,
			 unsigned distance);

/** The same within a smaller distance. */
static inline unsigned sx_weights_within(const sx_lightest *lightest, unsigned distance)
{
	unsigned n = lightest->n;

	while (lightest->sum[n] > distance)
		n--;
	return n;
}

/** How many of the first `width` bits of a prefix, at their low end, have no weight: < width. */
unsigned sx_weights_ignored_end(const sx_perm *perm, const uint8_t weights[64], unsigned width);

/** The largest number of tables that probe one bit of a weight above 0; at least 1. */
unsigned sx_weights_max_seen(const uint64_t *probed, unsigned n, const uint8_t weights[64]);

/**
 * The distance up to which an answer is complete: the bound at the head of sx_patterns.h.
 *
 * @param missed    by table: the cost of its cheapest pattern that was not probed, SX_COMPLETE
 *                  where all were
 * @param max_seen  sx_weights_max_seen()
 */
int64_t sx_weights_complete_to(const int64_t *missed, unsigned n, unsigned max_seen);

#endif /* SX_WEIGHTS_H */
