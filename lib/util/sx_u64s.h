/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * A growable array of 64-bit numbers, of which all zero is an empty one; and numbers in order.
 */

#ifndef SX_U64S_H
#define SX_U64S_H

#include <stdint.h>
#include <stdlib.h>

#include "util/sx_alloc.h"

typedef struct sx_u64s {
	uint64_t *at;
	size_t n, cap;
} sx_u64s;

/** Returns 0, or -1 when memory is short. */
static inline int sx_u64s_push(sx_u64s *a, uint64_t x)
{
	if (a->n == a->cap && sx_reserve(&a->at, &a->cap, a->n + 1, sizeof(*a->at)))
		return -1;
	a->at[a->n++] = x;
	return 0;
}

static inline void sx_u64s_free(sx_u64s *a)
{
	free(a->at);
	a->at = NULL;
	a->n = a->cap = 0;
}

/** Of n ascending numbers, how many are below x. No branch depends on them. */
static inline size_t sx_u64s_below(const uint64_t *v, size_t n, uint64_t x)
{
	const uint64_t *from = v; /* the numbers before it are below x */

	while (n > 1) {
		size_t half = n / 2;

		from = from[half - 1] < x ? from + half : from;
		n -= half;
	}
	return (size_t)(from - v) + (n && *from < x);
}

#endif /* SX_U64S_H */
