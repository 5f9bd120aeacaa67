/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "plan/sx_coverage.h"

unsigned sx_ignored_end(const sx_perm *perm, const uint8_t weights[64], unsigned width)
{
	unsigned low = perm->prefix_bits - width, i = 0;

	while (i + 1 < width && !weights[perm->source[low + i]])
		i++;
	return i;
}

unsigned sx_most_seen(const uint64_t *probed, unsigned n, const uint8_t weights[64])
{
	/* Bit b of digit[i]: binary digit i of the number of tables that probe b. */
	uint64_t digit[6] = { 0 }, counted = 0, carry, old;
	unsigned t, i, b, most = 0;

	for (b = 0; b < 64; b++)
		counted |= (uint64_t)(weights[b] != 0) << b;
	for (t = 0; t < n; t++) {
		carry = probed[t] & counted;
		for (i = 0; carry && i < 6; i++) {
			old = digit[i];
			digit[i] ^= carry;
			carry &= old;
		}
	}
	/* The largest of the numbers, from its highest digit on. */
	for (i = 6; i-- > 0;) {
		if (counted & digit[i]) {
			counted &= digit[i];
			most |= 1u << i;
		}
	}
	return most ? most : 1;
}

int64_t sx_coverage(const int64_t *missed, unsigned n, unsigned most_seen)
{
	int64_t sum = 0;
	unsigned i;

	for (i = 0; i < n; i++) {
		if (missed[i] == SX_COMPLETE)
			return SX_COMPLETE;
		sum += missed[i];
	}
	return (sum + most_seen - 1) / most_seen - 1;
}
