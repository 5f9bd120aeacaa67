/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Snapshots of a directory: transactions of its store (sx_backend.h).
 */

#ifndef SX_LOCAL_SNAPSHOT_H
#define SX_LOCAL_SNAPSHOT_H

#include "index/sx_snapshot.h"

extern const sx_backend_snapshot sx_local_snapshot;

#endif /* SX_LOCAL_SNAPSHOT_H */
