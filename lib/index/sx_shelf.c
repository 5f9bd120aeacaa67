/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "index/sx_shelf.h"

#include <stdlib.h>
#include <string.h>

#include "index/sx_snapshot.h"
#include "util/sx_alloc.h"

/*
 * Making a block index costs about 20 ns a block, a look-up without it 0.3 us (10^6 documents) to
 * 0.4 us (10^7) more than one with it. The first one in a process costs more, for page faults.
 */
#define BLOCKS_A_LOOKUP 20
#define MOST_LOOKUPS 2000
#define TYPICAL_ROWS 600 /* of a block */

int sx_shelf_init(sx_shelf *shelf)
{
	memset(shelf, 0, sizeof(*shelf));
	return pthread_mutex_init(&shelf->lock, NULL) ? -1 : 0;
}

static void free_held(sx_held *held)
{
	sx_block_index_free(held->blocks);
	free(held);
}

void sx_shelf_free(sx_shelf *shelf)
{
	for (unsigned t = 0; t < SX_SHELF_TABLES; t++)
		if (shelf->table[t].held)
			free_held(shelf->table[t].held);
	pthread_mutex_destroy(&shelf->lock);
}

static void unref(sx_held *held)
{
	if (held && !--held->refs)
		free_held(held);
}

void sx_shelf_drop(sx_shelf *shelf, sx_held *held)
{
	if (!held)
		return;
	pthread_mutex_lock(&shelf->lock);
	unref(held);
	pthread_mutex_unlock(&shelf->lock);
}

static const sx_table_count *count_of(const sx_header *h, unsigned t)
{
	return t == SX_SHELF_POSTINGS ? &h->other[SX_COUNT_POSTINGS] : &h->table[t];
}

static const sx_table *table_of(const simidx *index, unsigned t)
{
	return t == SX_SHELF_POSTINGS ? &index->tables.postings : &index->tables.permuted[t];
}

/* Whether a new block index of a table may take so many bytes. The lock is held. */
static int has_room(const sx_shelf *shelf, unsigned t, uint64_t bytes)
{
	const sx_held *old = shelf->table[t].held;

	return !shelf->max_bytes ||
	       shelf->bytes - (old ? old->blocks->bytes : 0) + bytes <= shelf->max_bytes;
}

/* Begin to keep accounts of a newer generation of a table. The lock is held. */
static void note_generation(sx_shelf *shelf, unsigned t, uint64_t generation)
{
	if (shelf->table[t].generation >= generation)
		return;
	shelf->table[t].generation = generation;
	shelf->table[t].debt = 0;
	shelf->table[t].hopeless = 0;
}

/* Whether it is time to make one. The lock is held. */
static int is_due(const sx_snapshot *s, unsigned t, const sx_table_count *count, uint64_t lookups)
{
	sx_shelf *shelf = &s->index->shelf;
	uint64_t blocks = count->rows / TYPICAL_ROWS + 1;
	uint64_t price = blocks / BLOCKS_A_LOOKUP;

	price = price < MOST_LOOKUPS ? price : MOST_LOOKUPS;
	note_generation(shelf, t, count->generation);
	shelf->table[t].debt += lookups;
	if (!has_room(shelf, t, sx_block_index_size(blocks)))
		return 0;
	return shelf->table[t].generation == count->generation && !shelf->table[t].making &&
	       !shelf->table[t].hopeless && shelf->table[t].debt >= price &&
	       (!s->has_made || lookups >= price);
}

/* Put a new one in the place of the old one, unless a newer one is there. The lock is held. */
static void put_up(sx_shelf *shelf, unsigned t, sx_held *held)
{
	sx_held *old = shelf->table[t].held;

	if (old && old->generation > held->generation)
		return;
	shelf->table[t].held = held;
	held->refs++;
	shelf->bytes += held->blocks->bytes;
	if (old) {
		shelf->bytes -= old->blocks->bytes;
		unref(old);
	}
}

/* Make the block index; the lock is held, but not while the table is walked. NULL: it failed. */
static sx_held *make(sx_shelf *shelf, sx_snapshot *s, unsigned t, const sx_table_count *count,
		     unsigned map_changes)
{
	sx_held *held = sx_calloc(1, sizeof(*held));
	int rc;

	if (!held)
		return NULL;
	s->has_made = 1;
	shelf->table[t].making = 1;
	pthread_mutex_unlock(&shelf->lock);
	/* What is wrong with the table is told by whoever reads it without a block index. */
	rc = sx_block_index_make(table_of(s->index, t), s->txn, count->rows, &held->blocks, NULL);
	pthread_mutex_lock(&shelf->lock);
	shelf->table[t].making = 0;
	/* How many blocks there are was a guess until now. */
	if (!rc && !has_room(shelf, t, held->blocks->bytes)) {
		sx_block_index_free(held->blocks);
		rc = SIMIDX_E_RANGE;
	}
	if (rc) {
		shelf->table[t].hopeless = rc != SIMIDX_E_NOMEM;
		shelf->table[t].debt = 0;
		free(held);
		return NULL;
	}
	held->generation = count->generation;
	held->map_changes = map_changes;
	held->refs = 1;
	put_up(shelf, t, held);
	return held;
}

const sx_block_index *sx_shelf_get(sx_snapshot *s, unsigned t, uint64_t lookups,
				 sx_held **mine)
{
	simidx *index = s->index;
	sx_shelf *shelf = &index->shelf;
	const sx_table_count *count = count_of(&s->header, t);
	unsigned map_changes = sx_store_map_changes(index->store);
	sx_held *held = *mine;

	if (sx_held_fits(held, count->generation, map_changes))
		return held->blocks;
	if (shelf->max_bytes == SIMIDX_BLOCK_INDEX_NEVER || index->layout != SIMIDX_LAYOUT_BLOCKS)
		return NULL;
	pthread_mutex_lock(&shelf->lock);
	unref(held);
	held = shelf->table[t].held;
	if (sx_held_fits(held, count->generation, map_changes))
		held->refs++;
	else if (is_due(s, t, count, lookups))
		held = make(shelf, s, t, count, map_changes);
	else
		held = NULL;
	if (held)
		held->is_used = 1;
	pthread_mutex_unlock(&shelf->lock);
	*mine = held;
	return held ? held->blocks : NULL;
}

/* Whether the block index that a merge has outdated was in use. The lock is held. */
static int is_missed(const sx_shelf *shelf, unsigned t, uint64_t merged_from)
{
	const sx_held *held = shelf->table[t].held;

	return held && held->is_used && held->generation >= merged_from &&
	       !shelf->table[t].making;
}

/* Make the next one for the snapshot of the merge. The lock is held. */
static void replace(sx_shelf *shelf, sx_snapshot *s, unsigned t, uint64_t merged_from)
{
	const sx_table_count *count = count_of(&s->header, t);
	unsigned map_changes = sx_store_map_changes(s->index->store);

	note_generation(shelf, t, count->generation);
	if (is_missed(shelf, t, merged_from) &&
	    !sx_held_fits(shelf->table[t].held, count->generation, map_changes) &&
	    has_room(shelf, t, sx_block_index_size(count->rows / TYPICAL_ROWS + 1)))
		unref(make(shelf, s, t, count, map_changes));
}

void sx_shelf_renew(simidx *index, unsigned t, uint64_t merged_from)
{
	sx_shelf *shelf = &index->shelf;
	sx_snapshot s;
	int missed;

	pthread_mutex_lock(&shelf->lock);
	missed = is_missed(shelf, t, merged_from);
	pthread_mutex_unlock(&shelf->lock);
	if (!missed || sx_snapshot_begin(&s, index, NULL))
		return;
	pthread_mutex_lock(&shelf->lock);
	replace(shelf, &s, t, merged_from);
	pthread_mutex_unlock(&shelf->lock);
	sx_snapshot_end(&s);
}
