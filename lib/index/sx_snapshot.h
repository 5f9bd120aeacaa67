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
	int has_made;     /* a block index, in the search at hand: that is enough for one */
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

/**
 * The block index of a table for a snapshot, or NULL: look up without it. May make it, but no
 * second one in one search, so that none waits for all tables; unless its own look-ups pay it.
 *
 * @param t        table
 * @param lookups  that are going to be made
 * @param mine     what the reader holds for this table; replaced when it does not fit any more
 */
const sx_block_index *sx_shelf_get(sx_snapshot *snapshot, unsigned t, uint64_t lookups,
				 sx_held **mine);

/**
 * After the last commit of a merge into a table: make its next directory if readers of this handle
 * looked up through the last one. Takes about 20 ns a block; where it fails, readers make it
 * themselves when it pays.
 *
 * @param merged_from  generation of the table before the merge
 */
void sx_shelf_renew(simidx *index, unsigned t, uint64_t merged_from);

#endif /* SX_SNAPSHOT_H */
