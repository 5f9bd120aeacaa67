/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Prefetching into the CPU's caches. gcc 12 takes a function that only prefetches for one without
 * effect and drops calls of it, so these and all functions like them must be SX_INLINE.
 */

#ifndef SX_PREFETCH_H
#define SX_PREFETCH_H

#include <stddef.h>

#include "util/sx_bytes.h"

/** Bytes of a cache line. */
#define SX_CACHE_LINE 64

/** Prefetch the cache line of an address, which need not be valid. */
SX_INLINE void sx_prefetch(const void *p)
{
	__builtin_prefetch(p, 0, 3);
}

/**
 * Prefetch bytes [p, p + size), but not more than max cache lines. The number of lines does not
 * depend on where the first one begins: ranges of similar sizes take as many rounds, and branch
 * prediction gets the end of the loop right.
 */
SX_INLINE void sx_prefetch_lines(const void *p, size_t size, size_t max)
{
	const unsigned char *at = p;
	size_t lines = size / SX_CACHE_LINE + 2;

	for (lines = lines < max ? lines : max; size && lines--; at += SX_CACHE_LINE)
		sx_prefetch(at);
}

#endif /* SX_PREFETCH_H */
