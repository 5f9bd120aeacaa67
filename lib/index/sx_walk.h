/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What a loader asks of a walk, beside the public functions.
 */

#ifndef SX_WALK_H
#define SX_WALK_H

#include <simidx_admin.h>

#include "index/sx_index.h"

/** Go back to the first document, in the same snapshot. */
int sx_walk_rewind(simidx_walk *walk, simidx_error *err);

/**
 * Have a walk give back, now and then, the memory of the pages that it has read: for walks of
 * whole indexes beside work that has a limit.
 */
void sx_walk_spare_memory(simidx_walk *walk);

/** The label of a document in the snapshot of a walk, in the map. */
int sx_walk_label(simidx_walk *walk, uint64_t id, sx_slice *label, simidx_error *err);

#endif /* SX_WALK_H */
