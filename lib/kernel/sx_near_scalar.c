/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "kernel/sx_near.h"

#include "util/sx_bytes.h"

size_t sx_near_low(const unsigned char *low, unsigned width, size_t n, uint64_t query, unsigned k,
		   uint16_t *hits)
{
	uint64_t mask = sx_low_bits(8 * width);
	size_t found = 0;

	/* Written without a branch on the outcome: the next hit overwrites a miss. */
	for (size_t i = 0; i < n; i++) {
		uint64_t differ = (sx_load_le64(low + i * width) ^ query) & mask;

		hits[found] = (uint16_t)i;
		found += (unsigned)__builtin_popcountll(differ) <= k;
	}
	return found;
}
