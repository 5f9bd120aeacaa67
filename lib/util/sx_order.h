/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Finding a place in an array in order, inlined for the type and order at hand. Of plain numbers:
 * sx_u64s_below().
 */

#ifndef SX_ORDER_H
#define SX_ORDER_H

#include <stddef.h>

#include "util/sx_bytes.h"

/** Below 0, 0 or above 0, as for qsort(). */
typedef int sx_compare_fn(const void *a, const void *b);

/** Of n items in ascending order, how many are below `key`, which is an item as well. */
SX_INLINE size_t sx_items_below(const void *items, size_t n, size_t size, const void *key,
				sx_compare_fn *compare)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare((const unsigned char *)items + middle * size, key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

#endif /* SX_ORDER_H */
