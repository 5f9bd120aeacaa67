/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * An open index: its store, its tables, and what its readers share. Opening and closing it.
 */

#ifndef SX_INDEX_H
#define SX_INDEX_H

#include "fresh/sx_fresh.h"
#include "index/sx_backend.h"
#include "index/sx_tables.h"
#include "plan/sx_planner.h"
#include "table/sx_block_index_cache.h"

/**
 * What a join does instead of what is cheapest, or usual, which 0 is. Tests need it for small sets.
 */
typedef struct sx_join_tuning {
	unsigned method;       /* 1: bucket by bucket; 2: everything is compared with everything */
	unsigned cut;          /* into parts: 1, by the leads of tables; 2, as 4x16 */
	unsigned width;        /* bits of each sub-block, at most */
	size_t compare_below;  /* sets of fewer are not split */
	size_t split_above;    /* groups of more are sets of their own */
	size_t bucket_entries; /* that there is room for */
	size_t scanned;        /* fingerprints that are compared with all others at once */
	uint64_t many_texts;   /* more have a smaller default radius */
} sx_join_tuning;

/** Numbers that tests and benchmarks set to others. */
typedef struct sx_tuning {
	/* What one transaction of a merge writes: about this many blocks, or rows. */
	uint64_t merge_blocks, merge_rows;
	size_t batch_sorted_from; /* queries of a batch from which on they are sorted */
	size_t batch_slice;       /* most queries that are sorted together */
	/* What one transaction deletes of old documents, and how many it looks at. */
	size_t older_deleted;
	uint64_t older_seen;
	sx_join_tuning join;
} sx_tuning;

/**
 * An open index. The handle does not change from opening to closing, but for the callback of
 * progress; what changes is behind its pointers, each of which has functions and locks of its own.
 */
struct simidx {
	const sx_schema *schema;   /* what it is */
	const sx_backend *backend; /* what holds the tables */
	sx_store *store;           /* of a directory (lib/local); NULL with an engine */
	struct sx_engine *engine;  /* (lib/remote) without a store and tables; NULL with a store */
	sx_tables tables;
	int read_only;
	int checks;              /* searches check the blocks that they read */
	const sx_kernel *kernel; /* of its filters */
	const sx_costs *costs;   /* of searching; NULL = typical ones */
	sx_tuning tuning;

	sx_fresh *fresh; /* the log and the memtable of fresh rows */
	sx_block_index_cache *block_index_cache; /* block indexes of the tables */

	void (*progress)(void *ctx, const char *phase, uint64_t done, uint64_t total);
	void *progress_ctx;
};

/** Whether a second fingerprint stands for one that is not known (doc/format.md, "Header"). */
static inline int sx_is_unknown_fp2(const simidx *index, uint64_t fp2)
{
	return index->schema->has_unknown_fp2 && fp2 == index->schema->unknown_fp2;
}

/** SIMIDX_E_FORK in a child of the process that has opened it. */
static inline int sx_index_check_fork(const simidx *index, simidx_error *err)
{
	return index->backend->place->check_fork(index, err);
}

/** SIMIDX_E_UNSUPPORTED, as what holds an index, `holder` for people, lacks a capability. */
int sx_index_refuse(enum sx_capability capability, const char *holder, simidx_error *err);

/** The same, if an index lacks it. */
int sx_index_need(const simidx *index, enum sx_capability capability, simidx_error *err);

/** Open its sub-databases: sx_tables_open(). */
int sx_index_open_tables(simidx *index, sx_txn *txn, int create, simidx_error *err);

/** A handle for an open store; takes the store over, also on failure. */
int sx_index_open_store(sx_store *store, const sx_backend *backend, unsigned flags, simidx **out,
			simidx_error *err);

/** A handle that knows nothing of what is in it. NULL when memory is short. */
simidx *sx_index_new(const sx_backend *backend, unsigned flags);

/** Say what it is, once. Takes the schema over. */
void sx_index_set_schema(simidx *index, sx_schema *schema);

/**
 * A handle to read the pages of the store without LMDB: nothing else can be done with it. Takes
 * the store and the schema over, also on failure.
 */
int sx_index_describe(sx_store *store, const sx_backend *backend, sx_schema *schema, simidx **out,
		      simidx_error *err);

/** Open the index in a directory, which is there. Options are checked and of our size. */
int sx_index_open(const char *path, const sx_backend *backend, const simidx_open_options *options,
		  simidx **out, simidx_error *err);

/** Report progress, if the caller of simidx_set_progress() listens. */
void sx_index_progress(const simidx *index, const char *phase, uint64_t done, uint64_t total);

#endif /* SX_INDEX_H */
