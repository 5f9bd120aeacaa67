/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "plan/sx_arith.h"

#include "util/sx_bytes.h"

static uint64_t times(uint64_t a, uint64_t b)
{
	uint64_t product;

	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static uint64_t plus(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

uint64_t sx_count_choices(unsigned n, unsigned most)
{
	uint64_t ways = 1, sum = 1;
	unsigned i;

	for (i = 1; i <= most && i <= n; i++) {
		ways = times(ways, n - i + 1);
		if (ways == UINT64_MAX)
			return UINT64_MAX;
		ways /= i;
		sum = plus(sum, ways);
	}
	return sum;
}

uint64_t sx_shape_probes(const sx_shape *shape, unsigned errors)
{
	uint64_t patterns = (uint64_t)1 << shape->ignored;

	if (shape->flipped == shape->bits)
		return times(patterns, sx_count_choices(shape->bits - shape->ignored, errors));
	return plus((uint64_t)1 << shape->flipped_ignored,
		    patterns * (shape->flipped - shape->flipped_ignored));
}

int sx_has_several_leads(const sx_plan *plan)
{
	unsigned t;

	for (t = 0; t < plan->n_tables; t++) {
		if (plan->table[t].n_leads > 1)
			return 1;
	}
	return 0;
}

uint64_t sx_leading_mask(const sx_perm *perm, unsigned bits)
{
	/* A shift by all 64 bits is not defined. */
	return bits ? sx_unpermute(perm, sx_low_bits(bits) << (perm->bits - bits)) : 0;
}
