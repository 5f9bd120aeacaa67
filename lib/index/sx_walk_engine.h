/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * All documents of an index that an engine holds, by ascending id, read a page at a time.
 */

#ifndef SX_WALK_ENGINE_H
#define SX_WALK_ENGINE_H

#include "index/sx_index.h"

typedef struct sx_engine_walk sx_engine_walk;

/** NULL when memory is short. */
sx_engine_walk *sx_engine_walk_new(simidx *index);

/** NULL is allowed. */
void sx_engine_walk_free(sx_engine_walk *walk);

/** The next document. SIMIDX_E_END after the last one, without setting err. */
int sx_engine_walk_next(sx_engine_walk *walk, simidx_match *out, simidx_error *err);

#endif /* SX_WALK_ENGINE_H */
