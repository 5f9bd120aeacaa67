/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Array allocation that cannot overflow. All return NULL when memory is short or n * size is
 * beyond what a size_t holds; freed with free().
 */

#ifndef SX_ALLOC_H
#define SX_ALLOC_H

#include <stddef.h>

/** n zeroed elements. */
void *sx_calloc(size_t n, size_t size);

/** Resize to n elements; p may be NULL. On failure p stays as it was. */
void *sx_realloc(void *p, size_t n, size_t size);

/**
 * n elements, not zeroed, from the beginning of a cache line of 64 bytes on. From 2 MiB on they
 * lie in huge pages if the system has any: random reads wait longest for the address of a page.
 */
void *sx_alloc_lines(size_t n, size_t size);

/** As sx_reserve(), for more elements than there is room for. */
int sx_grow(void *array, size_t *cap, size_t need, size_t size);

/**
 * Make room for at least `need` elements in *array, growing by half. *cap is the room in
 * elements. Returns 0, or -1 when memory is short: then nothing has changed.
 */
static inline int sx_reserve(void *array, size_t *cap, size_t need, size_t size)
{
	return need <= *cap ? 0 : sx_grow(array, cap, need, size);
}

#endif /* SX_ALLOC_H */
