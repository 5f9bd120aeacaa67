/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "index/sx_snapshot.h"

#include <string.h>

#include "util/sx_err.h"

#define MAX_AGE 1.0 /* seconds, of what an engine says of itself */

/*
 * The planner thinks of no fewer rows: an engine may know of fewer documents than it has, and a walk
 * over very many would cost far more than probes of a few.
 */
#define LEAST_ROWS 10000

/* The header of an index of an engine: its counts. All its documents are in the tables. */
static int ask_engine(sx_snapshot *s, double max_age, simidx_error *err)
{
	simidx_engine_info info;
	sx_header *h = &s->header;
	int rc = sx_engine_info(s->index->engine, max_age, &info, err);

	if (rc)
		return rc;
	memset(h, 0, sizeof(*h));
	h->documents = info.documents;
	h->labels = info.labels;
	h->next_id = info.next_id;
	for (unsigned t = 0; t < s->index->plan.n_tables; t++)
		h->table[t].rows = info.documents > LEAST_ROWS ? info.documents : LEAST_ROWS;
	for (unsigned i = 0; i < SX_COUNT_OTHERS; i++)
		h->other[i].rows = info.documents;
	s->id = 1;
	return SIMIDX_OK;
}

/*
 * The header is read again only when somebody has committed since. Where it says that another
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

int sx_snapshot_begin(sx_snapshot *s, simidx *index, simidx_error *err)
{
	int rc;

	memset(s, 0, sizeof(*s));
	s->index = index;
	if (index->engine)
		return ask_engine(s, MAX_AGE, err);
	rc = sx_txn_begin_read(index->store, &s->txn, err);
	if (!rc)
		rc = sx_snapshot_load(s, err);
	if (rc)
		sx_snapshot_end(s);
	return rc;
}

int sx_snapshot_renew(sx_snapshot *s, simidx_error *err)
{
	int rc;

	if (s->index->engine)
		return ask_engine(s, MAX_AGE, err);
	rc = sx_txn_renew(s->txn, err);
	if (rc)
		return rc;
	rc = sx_snapshot_load(s, err);
	if (rc)
		sx_txn_reset(s->txn);
	return rc;
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

int sx_snapshot_begin_write(sx_snapshot *s, simidx *index, int no_meta_sync, simidx_error *err)
{
	int rc;

	s->index = index;
	s->id = 0;
	if (index->engine) {
		rc = ask_engine(s, 0, err);
		s->is_begun = !rc;
		return rc;
	}
	rc = sx_txn_begin_write(index->store, no_meta_sync, &s->txn, err);
	if (!rc)
		rc = sx_meta_read_header(s->txn, &index->tables.meta, &s->header, err);
	s->header.state &= ~SX_STATE_SUPERSEDED;
	return rc;
}

int sx_snapshot_commit(sx_snapshot *s, simidx_error *err)
{
	sx_txn *txn = s->txn;
	int rc = sx_meta_write_header(txn, &s->index->tables.meta, &s->header, err);

	if (rc)
		return rc;
	s->txn = NULL; /* the commit frees it, whatever comes of it */
	return sx_txn_commit(txn, err);
}

/* ---- views ---- */

int sx_view_begin(sx_view *view, simidx *index, simidx_error *err)
{
	const sx_tables *tables = &index->tables;
	int rc;

	memset(view, 0, sizeof(*view));
	for (unsigned t = 0; t < index->plan.n_tables; t++)
		view->table[t].table = &tables->permuted[t];
	view->table[SX_VIEW_POSTINGS].table = &tables->postings;
	rc = sx_snapshot_begin(&view->snapshot, index, err);
	view->snapshot.index = index;
	view->is_whole = index->engine != NULL;
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
	simidx *index = view->snapshot.index;

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
		sx_block_index_cache_give_back(&index->block_index_cache, view->held[t]);
}

uint64_t sx_view_rows(const sx_view *view)
{
	return view->snapshot.header.table[0].rows;
}

uint64_t sx_view_fresh_rows(const sx_view *view)
{
	return view->snapshot.header.next_seq - view->snapshot.header.first_seq;
}

/* Take the block index of one table. Returns 1 if it has the one that it can have. */
static int take(sx_view *view, unsigned t, unsigned map_changes, uint64_t expected)
{
	sx_snapshot *s = &view->snapshot;
	sx_block_index_cache *cache = &s->index->block_index_cache;
	const sx_table_count *count = t == SX_VIEW_POSTINGS ? &s->header.other[SX_COUNT_POSTINGS]
							    : &s->header.table[t];
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
	if (index->layout == SIMIDX_LAYOUT_BLOCKS &&
	    index->block_index_cache.max_bytes != SIMIDX_BLOCK_INDEX_NEVER) {
		for (unsigned t = 0; t < index->plan.n_tables; t++)
			view->is_whole &= take(view, t, map_changes, expected);
		if (sx_has_ids(index))
			view->is_whole &= take(view, SX_VIEW_POSTINGS, map_changes, expected);
	}
	view->seen = view->snapshot.id;
	view->seen_map = map_changes;
}

int sx_view_renew(sx_view *view, simidx_error *err)
{
	unsigned map_changes;
	int rc = sx_snapshot_renew(&view->snapshot, err);

	if (rc || view->snapshot.index->engine)
		return rc;
	map_changes = sx_store_map_changes(view->snapshot.index->store);
	if (!view->is_whole || view->seen != view->snapshot.id || view->seen_map != map_changes)
		take_all(view, map_changes, 0);
	view->queries++;
	return SIMIDX_OK;
}

void sx_view_expect(sx_view *view, uint64_t n)
{
	if (!view->is_whole)
		take_all(view, view->seen_map, n);
	view->queries += n;
}
