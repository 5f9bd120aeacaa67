/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "plan/sx_lightest.h"

void sx_by_weight_init(sx_by_weight *b, const uint8_t weights[64], unsigned bits,
		       unsigned distance)
{
	unsigned most = distance < UINT8_MAX ? distance + 1 : UINT8_MAX, before = 0;
	uint8_t weight[64], place[UINT8_MAX + 1] = { 0 };

	/* What is heavier need not be in order. */
	for (unsigned i = 0; i < bits; i++) {
		weight[i] = (uint8_t)(weights[i] < most ? weights[i] : most);
		place[weight[i]]++;
	}
	for (unsigned w = 0; w <= most; w++) {
		unsigned n = place[w];

		place[w] = (uint8_t)before;
		before += n;
	}
	for (unsigned i = 0; i < bits; i++) {
		unsigned at = place[weight[i]]++;

		b->bit[at] = (uint8_t)i;
		b->weight[at] = weight[i];
	}
	b->n = bits;
}

void sx_lightest_init(sx_lightest *l, const sx_by_weight *b, uint64_t among, unsigned distance)
{
	uint32_t sum = 0;
	unsigned n = 0;

	l->sum[0] = 0;
	/* Nobody foresees which bits are among them: no branch on that. */
	for (unsigned i = 0; i < b->n; i++) {
		uint32_t is_one = (uint32_t)(among >> b->bit[i] & 1);

		sum += b->weight[i] & (0 - is_one);
		if (sum > distance)
			break;
		n += is_one;
		l->sum[n] = sum;
	}
	l->n = n;
}
