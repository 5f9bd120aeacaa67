/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Comparing with an array of fingerprints, for the rivals of the library. Nothing of the
 * library's own kernels is in here.
 */

#ifndef BN_NEAR_H
#define BN_NEAR_H

#include <stddef.h>
#include <stdint.h>

enum bn_simd { BN_SCALAR, BN_AVX2, BN_AVX512, BN_SIMD_LEVELS };

/**
 * Write the positions of those of `n` fingerprints that are within `k` bits of `q`.
 *
 * @param at  room for n positions
 * @return how many were written
 */
typedef size_t bn_near_fn(const uint64_t *v, size_t n, uint64_t q, unsigned k, uint32_t *at);

/** "scalar", "avx2", "avx512". */
const char *bn_simd_name(enum bn_simd level);

/** Whether this CPU has it. BN_SCALAR always is there. */
int bn_simd_usable(enum bn_simd level);

/** The highest level that this CPU has. */
enum bn_simd bn_simd_best(void);

/** The comparison written for a level; the level must be usable. */
bn_near_fn *bn_near(enum bn_simd level);

#endif /* BN_NEAR_H */
