/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "plan/sx_weights.h"

unsigned sx_weights_unit(const uint8_t weights[64], unsigned bits, uint64_t *ignore)
{
	unsigned unit = 0;

	*ignore = 0;
	for (unsigned b = 0; b < bits; b++) {
		if (!weights[b])
			*ignore |= (uint64_t)1 << b;
		else if (unit && weights[b] != unit)
			return 0;
		else
			unit = weights[b];
	}
	return unit ? unit : 1;
}

void sx_weights_sort(sx_by_weight *b, const uint8_t weights[64], unsigned bits,
		     unsigned distance)
{
	unsigned max = distance < UINT8_MAX ? distance + 1 : UINT8_MAX, before = 0;
	uint8_t weight[64], place[UINT8_MAX + 1] = { 0 };

	/* What is heavier need not be in order. */
	for (unsigned i = 0; i < bits; i++) {
		weight[i] = (uint8_t)(weights[i] < max ? weights[i] : max);
		place[weight[i]]++;
	}
	for (unsigned w = 0; w <= max; w++) {
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

void sx_weights_lightest(sx_lightest *l, const sx_by_weight *b, uint64_t among,
			 unsigned distance)
{
	uint32_t sum = 0;
	unsigned n = 0;

	l->sum[0] = 0;
	/* Which bits are among them cannot be predicted: no branch on that. */
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

unsigned sx_weights_ignored_end(const sx_perm *perm, const uint8_t weights[64], unsigned width)
{
	unsigned low = perm->prefix_bits - width, i = 0;

	while (i + 1 < width && !weights[perm->source[low + i]])
		i++;
	return i;
}

unsigned sx_weights_max_seen(const uint64_t *probed, unsigned n, const uint8_t weights[64])
{
	/* Bit b of digit[i]: binary digit i of the number of tables that probe b. */
	uint64_t digit[6] = { 0 }, counted = 0;
	unsigned max = 0;

	for (unsigned b = 0; b < 64; b++)
		counted |= (uint64_t)(weights[b] != 0) << b;
	for (unsigned t = 0; t < n; t++) {
		uint64_t carry = probed[t] & counted;

		for (unsigned i = 0; carry && i < 6; i++) {
			uint64_t old = digit[i];

			digit[i] ^= carry;
			carry &= old;
		}
	}
	/* The largest of the numbers, from its highest digit on. */
	for (unsigned i = 6; i-- > 0;) {
		if (counted & digit[i]) {
			counted &= digit[i];
			max |= 1u << i;
		}
	}
	return max ? max : 1;
}

int64_t sx_weights_complete_to(const int64_t *missed, unsigned n, unsigned max_seen)
{
	int64_t sum = 0;

	for (unsigned i = 0; i < n; i++) {
		if (missed[i] == SX_COMPLETE)
			return SX_COMPLETE;
		sum += missed[i];
	}
	return (sum + max_seen - 1) / max_seen - 1;
}
