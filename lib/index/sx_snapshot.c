/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "index/sx_snapshot.h"

#include <string.h>

#include "util/sx_err.h"

/*
 * The header is read again only after a commit. Where it says that another
 * index was to take this one's place, the path decides whether that happened.
 */
int sx_snapshot_load(sx_snapshot *s, simidx_error *err)
{
	uint64_t id = sx_txn_id(s->txn);
	int rc;

	if (s->id != id) {
		s->id = 0;
		rc = sx_meta_read_header(s->txn, &s->index->tables.meta, &s->header, err);
		if (rc)
			return rc;
		s->id = id;
	}
	if (s->header.state & SX_STATE_SUPERSEDED)
		return sx_store_check_path(s->index->store, err);
	return SIMIDX_OK;
}

int sx_snapshot_begin(sx_snapshot *s, const simidx *index, simidx_error *err)
{
	int rc;

	memset(s, 0, sizeof(*s));
	s->index = index;
	rc = index->backend->snapshot->begin(s, err);
	if (rc)
		sx_snapshot_end(s);
	return rc;
}

int sx_snapshot_renew(sx_snapshot *s, simidx_error *err)
{
	return s->index->backend->snapshot->renew(s, err);
}

void sx_snapshot_reset(sx_snapshot *s)
{
	if (s->txn)
		sx_txn_reset(s->txn);
}

void sx_snapshot_end(sx_snapshot *s)
{
	s->is_begun = 0;
	sx_txn_abort(s->txn);
	s->txn = NULL;
}

int sx_snapshot_begin_write(sx_snapshot *s, const simidx *index, int no_meta_sync,
			    simidx_error *err)
{
	int rc;

	s->index = index;
	s->id = 0;
	rc = index->backend->snapshot->begin_write(s, no_meta_sync, err);
	s->is_begun = !rc;
	return rc;
}

int sx_snapshot_commit(sx_snapshot *s, simidx_error *err)
{
	sx_txn *txn = s->txn;
	int rc = sx_meta_write_header(txn, &s->index->tables.meta, &s->header, err);

	if (rc)
		return rc;
	s->is_begun = 0;
	s->txn = NULL; /* the commit frees it, whatever comes of it */
	return sx_txn_commit(txn, err);
}

/* ---- views ---- */

int sx_view_begin(sx_view *view, const simidx *index, simidx_error *err)
{
	const sx_tables *tables = &index->tables;
	int rc;

	memset(view, 0, sizeof(*view));
	for (unsigned t = 0; t < index->schema->plan.n_tables; t++)
		view->table[t].table = &tables->permuted[t];
	view->table[SX_VIEW_POSTINGS].table = &tables->postings;
	rc = sx_snapshot_begin(&view->snapshot, index, err);
	view->snapshot.index = index;
	if (!rc)
		sx_snapshot_reset(&view->snapshot);
	return rc;
}

void sx_view_reset(sx_view *view)
{
	sx_snapshot_reset(&view->snapshot);
}

void sx_view_end(sx_view *view)
{
	const simidx *index = view->snapshot.index;

	/*
	 * A child after fork() must not touch the parent's transaction, nor wait for a lock that
	 * one of its threads may have had.
	 */
	if (sx_index_check_fork(index, NULL))
		return;
	for (unsigned t = 0; t < SX_VIEW_TABLES; t++)
		sx_cursor_close(view->table[t].cursor);
	sx_snapshot_end(&view->snapshot);
	for (unsigned t = 0; t < SX_VIEW_TABLES; t++)
		sx_block_index_cache_give_back(index->block_index_cache, view->held[t]);
}

uint64_t sx_view_rows(const sx_view *view)
{
	return view->snapshot.header.table[0].rows;
}

uint64_t sx_view_fresh_rows(const sx_view *view)
{
	return view->snapshot.header.next_seq - view->snapshot.header.first_seq;
}

/* Take the block index of one table. Returns 1 if it has it. */
static int take(sx_view *view, unsigned t, unsigned map_changes, uint64_t expected)
{
	sx_snapshot *s = &view->snapshot;
	sx_block_index_cache *cache = s->index->block_index_cache;
	const sx_table_count *count = sx_header_count(&s->header, view->table[t].table->number);
	sx_table_version version = { view->table[t].table, count->rows, count->generation,
				     map_changes };
	sx_cached_index *held = view->held[t];
	uint64_t lookups = view->table[t].by_cursor + expected;

	if (!sx_cached_index_fits(held, &version)) {
		if (held)
			lookups += view->queries - view->since[t];
		held = sx_block_index_cache_take(cache, t, &version, s->txn, held, lookups);
		view->held[t] = held;
		view->table[t].blocks = held ? held->blocks : NULL;
		view->since[t] = view->queries;
	}
	view->table[t].by_cursor = 0;
	return held != NULL;
}

static void take_all(sx_view *view, unsigned map_changes, uint64_t expected)
{
	const simidx *index = view->snapshot.index;

	view->is_whole = 1;
	if (index->schema->layout == SIMIDX_LAYOUT_BLOCKS &&
	    index->block_index_cache->max_bytes != SIMIDX_BLOCK_INDEX_NEVER) {
		for (unsigned t = 0; t < index->schema->plan.n_tables; t++)
			view->is_whole &= take(view, t, map_changes, expected);
		if (index->schema->has_ids)
			view->is_whole &= take(view, SX_VIEW_POSTINGS, map_changes, expected);
	}
	view->seen = view->snapshot.id;
	view->seen_map = map_changes;
}

int sx_view_renew(sx_view *view, simidx_error *err)
{
	const sx_snapshot *s = &view->snapshot;
	int rc = sx_snapshot_renew(&view->snapshot, err);

	if (rc)
		return rc;
	if (!view->is_whole || view->seen != s->id || view->seen_map != s->map_changes)
		take_all(view, s->map_changes, 0);
	view->queries++;
	return SIMIDX_OK;
}

void sx_view_expect(sx_view *view, uint64_t n)
{
	if (!view->is_whole)
		take_all(view, view->seen_map, n);
	view->queries += n;
}
