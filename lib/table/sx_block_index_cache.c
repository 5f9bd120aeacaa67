/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "table/sx_block_index_cache.h"

#include <stdlib.h>
#include <string.h>

#include "util/sx_alloc.h"

#define TYPICAL_ROWS 600 /* of a block */

sx_block_index_cache *sx_block_index_cache_new(void)
{
	sx_block_index_cache *cache = sx_calloc(1, sizeof(*cache));

	if (cache && pthread_mutex_init(&cache->lock, NULL)) {
		free(cache);
		return NULL;
	}
	return cache;
}

/* The lock is held. NULL is allowed. */
static void unref(sx_cached_index *cached)
{
	if (!cached || --cached->refs)
		return;
	sx_block_index_free(cached->blocks);
	free(cached);
}

void sx_block_index_cache_free(sx_block_index_cache *cache)
{
	if (!cache)
		return;
	for (unsigned t = 0; t < SX_BLOCK_INDEX_CACHE_TABLES; t++)
		unref(cache->table[t].cached);
	pthread_mutex_destroy(&cache->lock);
	free(cache);
}

void sx_block_index_cache_give_back(sx_block_index_cache *cache, sx_cached_index *cached)
{
	if (!cached)
		return;
	pthread_mutex_lock(&cache->lock);
	unref(cached);
	pthread_mutex_unlock(&cache->lock);
}

/* True if a new block index of a table may take that many bytes. The lock is held. */
static int has_room(const sx_block_index_cache *cache, unsigned t, uint64_t bytes)
{
	const sx_cached_index *old = cache->table[t].cached;

	return !cache->max_bytes ||
	       cache->bytes - (old ? old->blocks->bytes : 0) + bytes <= cache->max_bytes;
}

/* True if it is time to make one. The lock is held. */
static int is_due(sx_block_index_cache *cache, unsigned t, const sx_table_version *v,
		  uint64_t lookups)
{
	if (cache->table[t].generation < v->generation) {
		cache->table[t].generation = v->generation;
		cache->table[t].lookups = 0;
		cache->table[t].is_impossible = 0;
	}
	cache->table[t].lookups += lookups;
	return cache->table[t].generation == v->generation && !cache->table[t].is_making &&
	       !cache->table[t].is_impossible &&
	       cache->table[t].lookups >= SX_BLOCK_INDEX_CACHE_LOOKUPS &&
	       has_room(cache, t, sx_block_index_size(v->rows / TYPICAL_ROWS + 1));
}

/* Put a new one in the place of the old one, unless a newer one is there. The lock is held. */
static void put(sx_block_index_cache *cache, unsigned t, sx_cached_index *cached)
{
	sx_cached_index *old = cache->table[t].cached;

	if (old && old->generation > cached->generation)
		return;
	cache->bytes += cached->blocks->bytes - (old ? old->blocks->bytes : 0);
	cache->table[t].cached = cached;
	cache->table[t].lookups = 0;
	cached->refs++;
	unref(old);
}

/* Make one. The lock is held, but not while the table is walked. NULL if that failed. */
static sx_cached_index *make(sx_block_index_cache *cache, unsigned t, const sx_table_version *v,
			     sx_txn *txn)
{
	sx_cached_index *cached = sx_calloc(1, sizeof(*cached));
	int rc;

	if (!cached)
		return NULL;
	cache->table[t].is_making = 1;
	pthread_mutex_unlock(&cache->lock);
	rc = sx_block_index_make(v->table, txn, v->rows, &cached->blocks, NULL);
	pthread_mutex_lock(&cache->lock);
	cache->table[t].is_making = 0;
	/* How many blocks there are was a guess until now. */
	if (!rc && !has_room(cache, t, cached->blocks->bytes)) {
		sx_block_index_free(cached->blocks);
		rc = SIMIDX_E_RANGE;
	}
	if (rc) {
		cache->table[t].is_impossible = rc != SIMIDX_E_NOMEM;
		cache->table[t].lookups = 0;
		free(cached);
		return NULL;
	}
	cached->generation = v->generation;
	cached->map_changes = v->map_changes;
	cached->refs = 1;
	put(cache, t, cached);
	return cached;
}

sx_cached_index *sx_block_index_cache_take(sx_block_index_cache *cache, unsigned t,
					   const sx_table_version *v, sx_txn *txn,
					   sx_cached_index *old, uint64_t lookups)
{
	sx_cached_index *cached;

	pthread_mutex_lock(&cache->lock);
	unref(old);
	cached = cache->table[t].cached;
	if (sx_cached_index_fits(cached, v))
		cached->refs++;
	else if (is_due(cache, t, v, lookups))
		cached = make(cache, t, v, txn);
	else
		cached = NULL;
	pthread_mutex_unlock(&cache->lock);
	return cached;
}
