/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "util/sx_alloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define CACHE_LINE 64
#define HUGE_PAGE ((size_t)2 << 20)

void *sx_calloc(size_t n, size_t size)
{
	return calloc(n ? n : 1, size);
}

void *sx_realloc(void *p, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n ? n : 1, size, &bytes))
		return NULL;
	return realloc(p, bytes);
}

void *sx_alloc_lines(size_t n, size_t size)
{
	size_t bytes;
	void *lines;

	if (__builtin_mul_overflow(n ? n : 1, size, &bytes) || bytes > SIZE_MAX - CACHE_LINE)
		return NULL;
	bytes = (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
	if (bytes < HUGE_PAGE)
		return aligned_alloc(CACHE_LINE, bytes);
	if (posix_memalign(&lines, HUGE_PAGE, bytes))
		return NULL;
#ifdef MADV_HUGEPAGE
	(void)madvise(lines, bytes, MADV_HUGEPAGE);
#endif
	return lines;
}

int sx_grow(void *array, size_t *cap, size_t need, size_t size)
{
	void *old, *grown;
	size_t room = *cap + *cap / 2;

	if (room < need)
		room = need;
	if (room < 16)
		room = 16;
	/* `array` is the address of a typed pointer: copied as bytes, never aliased. */
	memcpy(&old, array, sizeof(old));
	grown = sx_realloc(old, room, size);
	if (!grown)
		return -1;
	memcpy(array, &grown, sizeof(grown));
	*cap = room;
	return 0;
}
