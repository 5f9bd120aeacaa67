/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What an open index consists of; shared by the files of this folder.
 */

#ifndef SX_INDEX_H
#define SX_INDEX_H

#include "fresh/sx_fresh.h"
#include "index/sx_header.h"
#include "index/sx_shelf.h"
#include "plan/sx_planner.h"
#include "table/sx_table.h"

/** The sub-databases of an index. */
typedef struct sx_tables {
	sx_table permuted[SX_MAX_TABLES]; /* "t01".. */
	sx_table postings;
	sx_table docs;
	sx_table by_label; /* key = hash of the label, column 0 = id; always in the rows layout */
	sx_dbi labels; /* id -> bytes of the label */
	sx_dbi meta;
} sx_tables;

struct simidx {
	sx_store *store;
	int read_only;
	unsigned bits, layout, fill;
	uint32_t flags; /* SIMIDX_CREATE_NO_IDS, SIMIDX_CREATE_FP2 */
	unsigned format_major, format_minor;
	uint32_t ro_compat;
	sx_plan plan;
	sx_plan fresh_plan; /* of the memtable */
	int fresh_plan_is_same;
	const sx_costs *costs; /* of searching; NULL = typical ones. Tests and benchmarks set others */
	const sx_kernel *kernel; /* of its filters */
	sx_profile profile;
	sx_tables tables;
	/* What one transaction of a merge writes: about so many blocks, or rows. */
	uint64_t merge_blocks, merge_rows;

	sx_fresh fresh; /* the log and the memtable of fresh rows */
	sx_shelf shelf; /* block indexes of the tables */

	size_t batch_sorted_from; /* queries of a batch from which on they are sorted */
	size_t batch_slice;       /* most queries that are sorted together */

	void (*progress)(void *ctx, const char *phase, uint64_t done, uint64_t total);
	void *progress_ctx;
};

static inline int sx_has_ids(const simidx *index)
{
	return !(index->flags & SIMIDX_CREATE_NO_IDS);
}

/** One snapshot of an index, or the write transaction, with its header. */
typedef struct sx_snapshot {
	simidx *index;
	sx_txn *txn;
	uint64_t id;      /* transaction number the header was read at; 0 = not read */
	int has_made;     /* a block index, in the search at hand: that is enough for one */
	sx_header header;
} sx_snapshot;

/* ------------------------------------------------------------------------------------------
 * Open (sx_open.c, sx_create.c)
 */

/** Open the sub-databases in a transaction, making them if asked to. */
int sx_tables_open(simidx *index, sx_txn *txn, int create, simidx_error *err);

/**
 * SIMIDX_E_ARG if the options or the path are not what simidx_create() takes. Options are of our
 * size, or NULL if that of the caller's was bad.
 */
int sx_create_check(const char *path, const simidx_create_options *options, simidx_error *err);

/**
 * An empty index in a private blocks, open, its write lock held: that is `lock_fd`, which is
 * taken over also on failure. Then *out is NULL.
 */
int sx_create_build(const char *dir, int lock_fd, const simidx_create_options *options,
		    sx_store **out, simidx_error *err);

/** Put a private directory at the path, as simidx_create() does. */
int sx_create_publish(const char *dir, const char *path, const simidx_create_options *options,
		      simidx_error *err);

/**
 * Open the index at the path, with flags of simidx_open(), and take its write lock; again while
 * others put another one there. SIMIDX_E_BUSY if somebody else has the lock.
 */
int sx_create_lock_old(const char *path, unsigned flags, simidx **out, simidx_error *err);

/** Exchange a private directory for an index; the caller holds that one's write lock. */
int sx_create_exchange(simidx *old, const char *dir, const char *path, unsigned mode,
		       simidx_error *err);

/** A handle for an open store; takes the store over, also on failure. */
int sx_index_open_store(sx_store *store, unsigned flags, simidx **out, simidx_error *err);

/** Report progress, if anybody listens. */
void sx_progress(const simidx *index, const char *phase, uint64_t done, uint64_t total);

/* ------------------------------------------------------------------------------------------
 * Snapshots (sx_snapshot.c)
 */

/** Begin a read snapshot: transaction and header. SIMIDX_E_MOVED if the index was replaced. */
int sx_snapshot_begin(sx_snapshot *snapshot, simidx *index, simidx_error *err);

/** Take a new snapshot with one that was reset. */
int sx_snapshot_renew(sx_snapshot *snapshot, simidx_error *err);

/** Give the snapshot back, keep the handle. */
void sx_snapshot_reset(sx_snapshot *snapshot);

/** End it. One that was never begun is allowed. */
void sx_snapshot_end(sx_snapshot *snapshot);

/* ------------------------------------------------------------------------------------------
 * Directories (sx_shelf.c)
 */

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

/* ------------------------------------------------------------------------------------------
 * Documents (sx_docs.c)
 */

/** A document as it is stored, without its label. */
typedef struct sx_doc {
	uint64_t id, fp, fp2;
} sx_doc;

/** Find a document by id in docs (not among the fresh rows). SIMIDX_E_NOT_FOUND, err unset. */
int sx_doc_by_id(const sx_snapshot *snapshot, uint64_t id, sx_doc *doc, simidx_error *err);

/** The label of an id, in the map. SIMIDX_E_NOT_FOUND without setting err. */
int sx_label_of(sx_txn *txn, const sx_tables *tables, uint64_t id, sx_slice *label,
		simidx_error *err);

/** The ids in by_label (not fresh ones) whose label is exactly this: at most one. */
int sx_id_of_label(sx_txn *txn, const sx_tables *tables, const void *label, size_t size,
		   uint64_t *id, simidx_error *err);

/** Go back to the first document, in the same snapshot. */
int sx_walk_rewind(simidx_walk *walk, simidx_error *err);

/**
 * Have a walk give back, now and then, the memory of the pages that it has read: for walks of
 * whole indexes beside work that has a limit.
 */
void sx_walk_spare_memory(simidx_walk *walk);

/** The label of a document in the snapshot of a walk, in the map. */
int sx_walk_label(simidx_walk *walk, uint64_t id, sx_slice *label, simidx_error *err);

/**
 * What can be said of a document to store without looking anything up. It is of our size, or NULL
 * if that of the caller's was bad.
 */
int sx_check_doc(const simidx *index, const simidx_doc *doc, simidx_error *err);

/* ------------------------------------------------------------------------------------------
 * Merge (sx_merge.c)
 */

/**
 * Move all fresh rows into the tables, in transactions of its own. The caller holds the write
 * lock and no transaction.
 */
int sx_merge_fresh(simidx *index, int no_meta_sync, simidx_error *err);

#endif /* SX_INDEX_H */
