/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * XXH3-64. The only place that knows xxHash.
 */

#ifndef SX_HASH_H
#define SX_HASH_H

#include <stddef.h>
#include <stdint.h>

/** XXH3-64 with seed 0. */
uint64_t sx_hash(const void *data, size_t size);

/** XXH3-64 with a seed. */
uint64_t sx_hash_seed(const void *data, size_t size, uint64_t seed);

/** XXH3-64 of the 8 little-endian bytes of x. */
uint64_t sx_hash_u64(uint64_t x);

/**
 * XXH3-64 with a seed of the 8 little-endian bytes of each of n numbers; `out` and `in` may be
 * the same.
 */
void sx_hash_u64s_seed(uint64_t *out, const uint64_t *in, size_t n, uint64_t seed);

/** XXH3-64 of the 16 little-endian bytes of a, then b. */
uint64_t sx_hash_u64_pair(uint64_t a, uint64_t b);

/** XXH3-64 of the 8 little-endian bytes of each of n numbers, at most SX_HASH_MAX_U64S. */
uint64_t sx_hash_u64s(const uint64_t *numbers, size_t n);

#define SX_HASH_MAX_U64S 8

/** The version of xxHash that is compiled in, as major * 10000 + minor * 100 + release. */
unsigned sx_hash_version(void);

#endif /* SX_HASH_H */
