/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * How many bits can differ where distances are sums of weights: so many as the lightest ones
 * allow.
 */

#ifndef SX_LIGHTEST_H
#define SX_LIGHTEST_H

#include <stdint.h>

/** The bits of a fingerprint, the lightest first. */
typedef struct sx_by_weight {
	unsigned n;
	uint8_t bit[64];
	uint8_t weight[64]; /* of these, but no more than one above the distance */
} sx_by_weight;

/** The lightest of some bits. */
typedef struct sx_lightest {
	unsigned n;       /* so many of them can differ at most */
	uint32_t sum[65]; /* what the i lightest weigh together, for i up to n */
} sx_lightest;

/**
 * Sort the bits, as far as they can differ within a distance.
 *
 * @param bits  of a fingerprint, 0..64
 */
void sx_by_weight_init(sx_by_weight *by_weight, const uint8_t weights[64], unsigned bits,
		       unsigned distance);

/** Of the bits `among`: how many can differ within that distance, or a smaller one. */
void sx_lightest_init(sx_lightest *lightest, const sx_by_weight *by_weight, uint64_t among,
		      unsigned distance);

/** The same within a smaller distance. */
static inline unsigned sx_lightest_within(const sx_lightest *lightest, unsigned distance)
{
	unsigned n = lightest->n;

	while (lightest->sum[n] > distance)
		n--;
	return n;
}

#endif /* SX_LIGHTEST_H */
