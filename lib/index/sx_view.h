/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * A view: one snapshot of an index, with its tables as the executor reads them (sx_lookup.h).
 */

#ifndef SX_VIEW_H
#define SX_VIEW_H

#include "index/sx_snapshot.h"
#include "table/sx_lookup.h"

/** Tables of a view: the permuted ones by number, then postings. */
#define SX_VIEW_POSTINGS SX_MAX_TABLES
#define SX_VIEW_TABLES (SX_MAX_TABLES + 1)

typedef struct sx_view {
	sx_snapshot snapshot;
	sx_table_view table[SX_VIEW_TABLES];
	sx_cached_index *held[SX_VIEW_TABLES]; /* what table[].blocks is of, or of an older snapshot */
	uint64_t seen;     /* the snapshot that the tables are of */
	unsigned seen_map; /* changes of the map until then */
	int is_whole;      /* all tables have the block indexes that they can have */
	uint64_t queries;  /* snapshots taken */
	uint64_t since[SX_VIEW_TABLES]; /* queries before the reader held this one */
} sx_view;

/** Begin a view without a snapshot: sx_view_renew() takes one. The codes of sx_snapshot_begin(). */
int sx_view_begin(sx_view *view, simidx *index, simidx_error *err);

/**
 * Take a new snapshot. Most often nothing has changed since the last one, and this costs nothing
 * more; otherwise block indexes are taken from the cache, or made where it is time.
 */
int sx_view_renew(sx_view *view, simidx_error *err);

/** Say that `n` queries are about to be asked in this snapshot: block indexes are made for them. */
void sx_view_expect(sx_view *view, uint64_t n);

/** Give the snapshot back. */
static inline void sx_view_reset(sx_view *view)
{
	sx_snapshot_reset(&view->snapshot);
}

/** End it. One that is all zero but for snapshot.index is allowed. */
void sx_view_end(sx_view *view);

/** Rows of each permuted table. */
static inline uint64_t sx_view_rows(const sx_view *view)
{
	return view->snapshot.header.table[0].rows;
}

/** Rows of the log that are not merged. */
static inline uint64_t sx_view_fresh_rows(const sx_view *view)
{
	return view->snapshot.header.next_seq - view->snapshot.header.first_seq;
}

#endif /* SX_VIEW_H */
