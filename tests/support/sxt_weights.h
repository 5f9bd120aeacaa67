/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What the tests of weights and of patterns share.
 */

#ifndef SXT_WEIGHTS_H
#define SXT_WEIGHTS_H

#include <stdint.h>

#include "support/sxt.h"

/* Weights of several kinds: any, small ones with many ties, a mask, mostly one number. */
static inline void make_weights(sxt_rng *rng, unsigned kind, uint8_t *weights)
{
	unsigned b;

	for (b = 0; b < 64; b++) {
		switch (kind % 4) {
		case 0:
			weights[b] = (uint8_t)sxt_rng_below(rng, 256);
			break;
		case 1:
			weights[b] = (uint8_t)sxt_rng_below(rng, 4);
			break;
		case 2:
			weights[b] = sxt_rng_below(rng, 3) != 0;
			break;
		default:
			weights[b] = sxt_rng_below(rng, 8) ? 20 : (uint8_t)sxt_rng_below(rng, 90);
		}
	}
}

static inline unsigned distance(const uint8_t *weights, uint64_t a, uint64_t b)
{
	unsigned bit, sum = 0;

	for (bit = 0; bit < 64; bit++) {
		if ((a ^ b) >> bit & 1)
			sum += weights[bit];
	}
	return sum;
}

/*
 * The sum of the bits that differ, which all weigh 1 without weights; where it is more than `most`,
 * some number above that.
 */
static inline unsigned distance_up_to(const uint8_t *weights, uint64_t differ, unsigned most)
{
	unsigned sum = 0;

	if (!weights)
		return (unsigned)__builtin_popcountll(differ);
	for (; differ && sum <= most; differ &= differ - 1)
		sum += weights[__builtin_ctzll(differ)];
	return sum;
}

/* The greatest number of bits with a sum within the distance, by taking them one by one. */
static inline unsigned count_lightest(const uint8_t *weights, uint64_t among, unsigned max)
{
	unsigned n = 0, sum = 0;

	while (among) {
		unsigned best = (unsigned)__builtin_ctzll(among);

		for (unsigned b = best + 1; b < 64; b++)
			if (among >> b & 1 && weights[b] < weights[best])
				best = b;
		sum += weights[best];
		if (sum > max)
			break;
		among &= ~(UINT64_C(1) << best);
		n++;
	}
	return n;
}

#endif /* SXT_WEIGHTS_H */
