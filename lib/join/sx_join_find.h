/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Stage 4: the pairs of fingerprints. First come the fingerprints that make a pair with themselves.
 * Then several threads read the buckets of each part in turn (sx_join_bucket.h) and find the pairs
 * in them (sx_join_set.h); or in a scan, they compare all with all. Each thread reads a piece of a
 * table, or all of them read one stream in turns. All pairs go into one sorter, so that the work of
 * the threads leaves no trace in their order.
 */

#ifndef SX_JOIN_FIND_H
#define SX_JOIN_FIND_H

#include "join/sx_join.h"

/**
 * Find the pairs within the radius, each once, and set info.fingerprint_pairs.
 *
 * @param pairs  a sorter that can be read: two words, the smaller fingerprint first; equal ones
 *               where several documents have one, with two indexes where both have one. Set first;
 *               the caller frees it in any case
 * @return SIMIDX_OK; SIMIDX_E_STOPPED; SIMIDX_E_NOMEM; the codes of a walk and of a sorter
 */
int sx_join_find(sx_join *join, sx_sorter **pairs, simidx_error *err);

#endif /* SX_JOIN_FIND_H */
