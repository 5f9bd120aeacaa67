/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * A walk over all rows of a table in order.
 */

#ifndef SX_TABLE_WALK_H
#define SX_TABLE_WALK_H

#include <pthread.h>

#include "table/sx_table.h"

/** A piece at a time. */
typedef struct sx_table_walk {
	const sx_table *table;
	sx_cursor *cursor;
	sx_rows rows;   /* the piece: one block, or up to 256 rows */
	sx_slice key;   /* store key of its last row (or fence) */
	size_t used;    /* bytes of the piece without padding */
	sx_sort_key last;  /* place of the store key before this piece */
	int started;
	int stuck;      /* the store itself failed: there is no going on */
	/* NULL, or held while the store is asked: see sx_table_walk_share() */
	pthread_mutex_t *lock;
} sx_table_walk;

/** Start at the first row, or at the piece that has the first one at or after *from. */
int sx_table_walk_begin(sx_table_walk *walk, sx_txn *txn, const sx_table *table,
			const sx_sort_key *from, simidx_error *err);

/**
 * Several threads walk in one transaction, each by a walk of its own: from now on `lock` is held
 * while the store is asked, but not while blocks are decoded. The caller holds it for begin and
 * end.
 */
static inline void sx_table_walk_share(sx_table_walk *walk, pthread_mutex_t *lock)
{
	walk->lock = lock;
}

/**
 * Load the next piece into walk->rows, and check it: checksum, order, and that it stands where its
 * store key says. Returns SIMIDX_E_END after the last piece; SIMIDX_E_CORRUPT, with table and key,
 * for a damaged one; a further call goes on after it, unless walk->stuck.
 */
int sx_table_walk_next(sx_table_walk *walk, simidx_error *err);

void sx_table_walk_end(sx_table_walk *walk);

#endif /* SX_TABLE_WALK_H */
