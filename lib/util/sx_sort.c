/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "util/sx_sort.h"

#include <stdlib.h>
#include <string.h>

#include "util/sx_alloc.h"

#define DIGITS 8
#define BUCKETS 256
#define SMALL 32 /* up to here an insertion sort needs less than the histograms */

static void insertion_sort(uint64_t *key, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		uint64_t x = key[i];
		size_t j = i;

		for (; j > 0 && key[j - 1] > x; j--)
			key[j] = key[j - 1];
		key[j] = x;
	}
}

/* The histograms of all digits in one pass over the keys. */
static void count_digits(const uint64_t *key, size_t n, size_t count[DIGITS][BUCKETS])
{
	memset(count, 0, sizeof(size_t) * DIGITS * BUCKETS);
	for (size_t i = 0; i < n; i++) {
		uint64_t x = key[i];

		for (unsigned d = 0; d < DIGITS; d++)
			count[d][x >> (8 * d) & 0xff]++;
	}
}

/* Counts become start positions. Returns 0 when one bucket holds everything: nothing to do. */
static int make_starts(size_t *count, size_t n)
{
	size_t at = 0;

	for (unsigned b = 0; b < BUCKETS; b++) {
		size_t here = count[b];

		if (here == n)
			return 0;
		count[b] = at;
		at += here;
	}
	return 1;
}

int sx_sort_u64(uint64_t *key, size_t n)
{
	size_t(*count)[BUCKETS];
	uint64_t *scratch, *from = key, *to;

	if (n <= SMALL) {
		insertion_sort(key, n);
		return 0;
	}
	count = sx_calloc(DIGITS, sizeof(*count));
	scratch = sx_realloc(NULL, n, sizeof(*scratch));
	if (!count || !scratch) {
		free(count);
		free(scratch);
		return -1;
	}
	to = scratch;
	count_digits(key, n, count);
	for (unsigned d = 0; d < DIGITS; d++) {
		uint64_t *swap;

		if (!make_starts(count[d], n))
			continue;
		for (size_t i = 0; i < n; i++)
			to[count[d][from[i] >> (8 * d) & 0xff]++] = from[i];
		swap = from;
		from = to;
		to = swap;
	}
	if (from != key)
		memcpy(key, from, n * sizeof(*key));
	free(count);
	free(scratch);
	return 0;
}

int sx_sort_order(const uint64_t *key, uint32_t *order, size_t n, int keep_order)
{
	size_t(*count)[BUCKETS] = sx_calloc(DIGITS, sizeof(*count));
	uint32_t *scratch = sx_realloc(NULL, n, sizeof(*scratch));
	uint32_t *from = order, *to = scratch;

	if (!count || !scratch) {
		free(count);
		free(scratch);
		return -1;
	}
	if (!keep_order)
		for (size_t i = 0; i < n; i++)
			order[i] = (uint32_t)i;
	count_digits(key, n, count);
	for (unsigned d = 0; d < DIGITS; d++) {
		uint32_t *swap;

		if (!make_starts(count[d], n))
			continue;
		for (size_t i = 0; i < n; i++)
			to[count[d][key[from[i]] >> (8 * d) & 0xff]++] = from[i];
		swap = from;
		from = to;
		to = swap;
	}
	if (n && from != order)
		memcpy(order, from, n * sizeof(*order));
	free(count);
	free(scratch);
	return 0;
}

size_t sx_unique_u64(uint64_t *key, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (!kept || key[kept - 1] != key[i])
			key[kept++] = key[i];
	return kept;
}
