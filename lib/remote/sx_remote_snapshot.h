/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Snapshots of an index that an engine holds: its counts, as a header has them (sx_backend.h).
 */

#ifndef SX_REMOTE_SNAPSHOT_H
#define SX_REMOTE_SNAPSHOT_H

#include "index/sx_snapshot.h"
#include "remote/sx_engine.h"

extern const sx_backend_snapshot sx_remote_snapshot;

#endif /* SX_REMOTE_SNAPSHOT_H */
