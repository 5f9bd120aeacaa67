/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The block indexes of an open index, shared by its readers. One is made for a table when it pays:
 * after so many look-ups without it as cost about as much as making it (rent or buy). A merge
 * leaves one that is not valid any more. The handle that merges makes the next one at once if the
 * last one was in use; merging takes far longer. After merges of others it is rent or buy again.
 */

#ifndef SX_SHELF_H
#define SX_SHELF_H

#include <pthread.h>

#include "table/sx_block_index.h"

/** Tables that have block indexes: the permuted ones by number, then postings. */
#define SX_SHELF_POSTINGS SX_MAX_TABLES
#define SX_SHELF_TABLES (SX_MAX_TABLES + 1)

/** A block index and what it is valid for. It lives as long as somebody holds it. */
typedef struct sx_held {
	sx_block_index *blocks;
	uint64_t generation;  /* of the table */
	unsigned map_changes; /* of the store */
	int is_used;          /* a reader has taken it; guarded by the shelf's lock */
	unsigned refs;        /* guarded by the shelf's lock */
} sx_held;

typedef struct sx_shelf {
	pthread_mutex_t lock; /* guards all */
	uint64_t max_bytes;   /* 0 = no limit; SIMIDX_BLOCK_INDEX_NEVER */
	struct {
		sx_held *held;
		uint64_t generation; /* that `debt` is about */
		uint64_t debt;       /* look-ups since it has none that is valid */
		int making;          /* somebody is at it, without the lock */
		int hopeless;        /* this generation's table cannot have one */
	} table[SX_SHELF_TABLES];
	uint64_t bytes; /* of all that stand here */
} sx_shelf;

/** 0 or -1. */
int sx_shelf_init(sx_shelf *shelf);

/** When no reader is left. */
void sx_shelf_free(sx_shelf *shelf);

/** Whether what a reader holds, if anything, is for this generation of the table. */
static inline int sx_held_fits(const sx_held *held, uint64_t generation, unsigned map_changes)
{
	return held && held->generation == generation && held->map_changes == map_changes;
}

/** Give back what a reader holds. NULL is allowed. */
void sx_shelf_drop(sx_shelf *shelf, sx_held *held);

#endif /* SX_SHELF_H */
