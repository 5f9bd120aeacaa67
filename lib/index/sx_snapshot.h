/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * One snapshot of an index: a read transaction, or the write transaction, with its header. Where
 * there are no transactions (simidx_engine.h), every look-up sees what is there by then, and the
 * header has the counts, as they were a second ago or later.
 */

#ifndef SX_SNAPSHOT_H
#define SX_SNAPSHOT_H

#include "index/sx_index.h"
#include "table/sx_lookup.h"

typedef struct sx_snapshot {
	const simidx *index;
	sx_txn *txn;
	uint64_t id;      /* transaction number the header was read at; 0 = not read */
	sx_header header;
	unsigned map_changes; /* of the store until then */
	int is_begun;         /* of a writer: its transaction has begun */
	struct sx_doc_cache *doc_cache; /* of a writer: documents of an engine (lib/remote) */
} sx_snapshot;

/** Whether a writer's snapshot has begun. */
static inline int sx_snapshot_is_begun(const sx_snapshot *snapshot)
{
	return snapshot->is_begun;
}

/** Begin a read snapshot: transaction and header. SIMIDX_E_MOVED if the index was replaced. */
int sx_snapshot_begin(sx_snapshot *snapshot, const simidx *index, simidx_error *err);

/** Read the header of one whose transaction was begun otherwise, with all else zero but index. */
int sx_snapshot_load(sx_snapshot *snapshot, simidx_error *err);

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
int sx_snapshot_begin_write(sx_snapshot *snapshot, const simidx *index, int no_meta_sync,
			    simidx_error *err);

/** Store the header and commit. After a failure sx_snapshot_end() is called all the same. */
int sx_snapshot_commit(sx_snapshot *snapshot, simidx_error *err);

/* ------------------------------------------------------------------------------------------
 * Views: a snapshot, with its tables as the executor reads them (sx_lookup.h)
 */

/** Tables of a view: the permuted ones by number, then postings. */
#define SX_VIEW_POSTINGS SX_MAX_TABLES
#define SX_VIEW_TABLES (SX_MAX_TABLES + 1)

typedef struct sx_view {
	sx_snapshot snapshot;
	sx_table_view table[SX_VIEW_TABLES];
	/* what table[].blocks is of, or of an older snapshot */
	sx_cached_index *held[SX_VIEW_TABLES];
	uint64_t seen;     /* the snapshot that the tables are of */
	unsigned seen_map; /* changes of the map until then */
	int is_whole;      /* all tables have the block indexes that they can have */
	uint64_t queries;  /* snapshots taken */
	uint64_t since[SX_VIEW_TABLES]; /* queries before the reader held this one */
} sx_view;

/** Begin a view without a snapshot: sx_view_renew() takes one. The codes of sx_snapshot_begin(). */
int sx_view_begin(sx_view *view, const simidx *index, simidx_error *err);

/**
 * Take a new snapshot. Most often nothing has changed since the last one, and this costs nothing
 * more; otherwise block indexes are taken from the cache, or made where it is time.
 */
int sx_view_renew(sx_view *view, simidx_error *err);

/** Say that `n` queries are about to be asked in this snapshot: block indexes are made for them. */
void sx_view_expect(sx_view *view, uint64_t n);

/** Give the snapshot back. */
void sx_view_reset(sx_view *view);

/** End it. One that is all zero but for snapshot.index is allowed. */
void sx_view_end(sx_view *view);

/** Rows of each permuted table. */
uint64_t sx_view_rows(const sx_view *view);

/** Rows of the log that are not merged. */
uint64_t sx_view_fresh_rows(const sx_view *view);

#endif /* SX_SNAPSHOT_H */
