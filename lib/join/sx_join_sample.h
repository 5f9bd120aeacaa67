/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * How many pairs a join is going to find, by a sample: of fingerprints that begin with the same
 * bits, in buckets that lie all over the index.
 */

#ifndef SX_JOIN_SAMPLE_H
#define SX_JOIN_SAMPLE_H

#include "join/sx_join_way.h"

/**
 * Estimate the pairs of distinct fingerprints within k bits, as if the bits in which they differ were
 * anywhere with equal chances.
 *
 * Cost: about a millisecond, and as many accesses of the disk as buckets where nothing is in memory.
 *
 * @return SIMIDX_OK; SIMIDX_E_NOMEM; the codes of a walk
 */
int sx_join_sample(sx_join_task *task, double *pairs, simidx_error *err);

#endif /* SX_JOIN_SAMPLE_H */
