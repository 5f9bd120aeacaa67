/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Pairs of documents, made of pairs of fingerprints: simidx_join.h.
 */

#ifndef SX_PAIRS_H
#define SX_PAIRS_H

#include "join/sx_join_pairs.h"

/** simidx_pairs() with a planner that is forced; NULL = it is free. */
int sx_pairs(const simidx *index, const simidx *other, const simidx_join_options *options,
	     const simidx_pairs_taker *taker, const sx_join_forced *forced, simidx_error *err);

#endif /* SX_PAIRS_H */
