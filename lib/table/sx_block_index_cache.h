/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The block indexes of an open index, shared by its readers. One is made for a table, and again for
 * each generation of it, once SX_BLOCK_INDEX_CACHE_LOOKUPS probes were looked up without it, or
 * were looked up with that of the generation before: a command that asks a few queries makes none,
 * a server that is busy has the new one with its first query after a merge.
 */

#ifndef SX_BLOCK_INDEX_CACHE_H
#define SX_BLOCK_INDEX_CACHE_H

#include <pthread.h>

#include "table/sx_block_index.h"

#define SX_BLOCK_INDEX_CACHE_TABLES (SX_MAX_TABLES + 1)
#define SX_BLOCK_INDEX_CACHE_LOOKUPS 100

/** A table in one snapshot. */
typedef struct sx_table_version {
	const sx_table *table;
	uint64_t rows;
	uint64_t generation;  /* raised by every transaction that changes it */
	unsigned map_changes; /* of the store */
} sx_table_version;

/** A block index and what it is valid for. It lives as long as a reader or the cache holds it. */
typedef struct sx_cached_index {
	sx_block_index *blocks;
	uint64_t generation;
	unsigned map_changes;
	unsigned refs; /* guarded by the cache's lock */
} sx_cached_index;

typedef struct sx_block_index_cache {
	pthread_mutex_t lock; /* guards all but max_bytes */
	uint64_t max_bytes;   /* 0 = no limit; SIMIDX_BLOCK_INDEX_NEVER */
	uint64_t bytes;       /* of all that are in the cache */
	struct {
		sx_cached_index *cached; /* the newest, or NULL */
		uint64_t generation;     /* that the rest is about */
		uint64_t lookups;        /* since there is no valid one */
		int is_making;           /* a reader makes it, without the lock */
		int is_impossible;       /* this generation's table cannot have one */
	} table[SX_BLOCK_INDEX_CACHE_TABLES];
} sx_block_index_cache;

/** An empty one. NULL when memory is short. */
sx_block_index_cache *sx_block_index_cache_new(void);

/** When no reader is left. NULL is allowed. */
void sx_block_index_cache_free(sx_block_index_cache *cache);

/** True if what a reader holds, which may be nothing, is for this version of the table. */
static inline int sx_cached_index_fits(const sx_cached_index *cached,
				       const sx_table_version *version)
{
	return cached && cached->generation == version->generation &&
	       cached->map_changes == version->map_changes;
}

/**
 * The block index of table number t in a snapshot, or NULL: look up by a cursor. It is made here
 * if it is time, which takes about 20 ns a block; where making it fails, the table is read
 * without, and reading tells what is wrong with it.
 *
 * @param old      what the reader holds of the table and gives back; may be NULL
 * @param lookups  probes of the table that the reader has looked up since it last called, and is
 *                 about to look up
 */
sx_cached_index *sx_block_index_cache_take(sx_block_index_cache *cache, unsigned t,
				     const sx_table_version *version, sx_txn *txn,
				     sx_cached_index *old, uint64_t lookups);

/** Give back what a reader holds. NULL is allowed. */
void sx_block_index_cache_give_back(sx_block_index_cache *cache, sx_cached_index *cached);

#endif /* SX_BLOCK_INDEX_CACHE_H */
