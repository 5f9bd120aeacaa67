/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Stable radix sorts of 64-bit keys. Bytes in which all keys agree cost nothing.
 */

#ifndef SX_SORT_H
#define SX_SORT_H

#include <stddef.h>
#include <stdint.h>

/** Sort n keys. Returns 0, or -1 when memory is short (n keys of scratch are needed). */
int sx_sort_u64(uint64_t *key, size_t n);

/**
 * Fill order[0..n) so that key[order[i]] is ascending; where `order` already holds an
 * arrangement (keep_order != 0), equal keys stay in it. n < 2^32. Returns 0 or -1.
 */
int sx_sort_order(const uint64_t *key, uint32_t *order, size_t n, int keep_order);

/** Drop repeats from n sorted keys; returns how many are left. */
size_t sx_unique_u64(uint64_t *key, size_t n);

#endif /* SX_SORT_H */
