/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * All documents of a directory, in order (sx_backend.h), and what a loader asks of such a walk.
 */

#ifndef SX_LOCAL_WALK_H
#define SX_LOCAL_WALK_H

#include "index/sx_snapshot.h"

extern const sx_backend_walk sx_local_walks;

typedef struct sx_local_walk sx_local_walk;

/** Go back to the first document, in the same snapshot. */
int sx_local_walk_rewind(sx_local_walk *walk, simidx_error *err);

/**
 * Have a walk give back, now and then, the memory of the pages that it has read: for walks of
 * whole indexes beside work that has a limit.
 */
void sx_local_walk_spare_memory(sx_local_walk *walk);

/** The label of a document in the snapshot of a walk, in the map. */
int sx_local_walk_label(sx_local_walk *walk, uint64_t id, sx_slice *label, simidx_error *err);

#endif /* SX_LOCAL_WALK_H */
