/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * One snapshot of an index: a read transaction, or the write transaction, with its header.
 */

#ifndef SX_SNAPSHOT_H
#define SX_SNAPSHOT_H

#include "index/sx_index.h"

typedef struct sx_snapshot {
	simidx *index;
	sx_txn *txn;
	uint64_t id;      /* transaction number the header was read at; 0 = not read */
	sx_header header;
} sx_snapshot;

/** Begin a read snapshot: transaction and header. SIMIDX_E_MOVED if the index was replaced. */
int sx_snapshot_begin(sx_snapshot *snapshot, simidx *index, simidx_error *err);

/** Take a new snapshot with one that was reset. */
int sx_snapshot_renew(sx_snapshot *snapshot, simidx_error *err);

/** Give the snapshot back, keep the handle. */
void sx_snapshot_reset(sx_snapshot *snapshot);

/** End it. One that was never begun is allowed. */
void sx_snapshot_end(sx_snapshot *snapshot);

/**
 * Begin the write transaction; the caller has the write lock. The header says what the commit
 * will store: a mark of an exchange that never came is taken out, as the path was checked when the
 * lock was taken. After a failure sx_snapshot_end() is called all the same.
 */
int sx_snapshot_begin_write(sx_snapshot *snapshot, simidx *index, int no_meta_sync,
			    simidx_error *err);

/** Store the header and commit. After a failure sx_snapshot_end() is called all the same. */
int sx_snapshot_commit(sx_snapshot *snapshot, simidx_error *err);

#endif /* SX_SNAPSHOT_H */
