/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * SimHash: what simidx_sketch_make() needs, and its tests.
 */

#ifndef SX_SKETCH_H
#define SX_SKETCH_H

#include <stdint.h>

#include <simidx.h>

/** Seed of the hash of a feature's hash that the second fingerprint is made from. */
#define SX_FP2_SEED UINT64_C(0x9e3779b97f4a7c15)

/** Max. features of one text: that many of the greatest weight still fit a sum. */
#define SX_MAX_FEATURES (UINT32_C(1) << 31)

/** The integer square root, rounded down, of high * 2^64 + low; high is below 2^32. */
uint64_t sx_isqrt(uint64_t high, uint64_t low);

#endif /* SX_SKETCH_H */
