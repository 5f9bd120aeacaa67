/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * All documents of an index that an engine holds, by ascending id, read a page at a time
 * (sx_backend.h).
 */

#ifndef SX_REMOTE_WALK_H
#define SX_REMOTE_WALK_H

#include "index/sx_index.h"
#include "remote/sx_engine.h"

extern const sx_backend_walk sx_remote_walks;

#endif /* SX_REMOTE_WALK_H */
