/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/* When block indexes are made, and the memory that they take; the answers are always the same. */

#include "support/sxt_search.h"

/* ------------------------------------------------------------------------------------------
 * Memory
 */

static uint64_t bytes_of_all(const simidx *index)
{
	uint64_t bytes = 0;

	for (unsigned t = 0; t < SX_BLOCK_INDEX_CACHE_TABLES; t++)
		if (index->block_index_cache->table[t].cached)
			bytes += index->block_index_cache->table[t].cached->blocks->bytes;
	return bytes;
}

/* None, too few bytes for any, for some, enough: the answers are the same. */
START_TEST(test_answers_for_any_max_bytes)
{
	struct t_search s;
	uint64_t all;

	t_search_init(&s, _i * SXT_N_PLANS * T_SEARCH_LAYOUTS, SIMIDX_CREATE_FP2);
	t_search_fill(&s, 12000);
	t_search_store(&s, s.model.n - 100);
	t_search_open_with(&s, 0);
	t_search_some_indexed(&s, 30);
	all = s.index->block_index_cache->bytes;
	ck_assert_uint_gt(all, 0);
	ck_assert_uint_eq(bytes_of_all(s.index), all);
	ck_assert_uint_eq(t_search_used_by(s.reader), 4);
	t_search_open_with(&s, SIMIDX_BLOCK_INDEX_NEVER);
	t_search_some_indexed(&s, 30);
	ck_assert_uint_eq(bytes_of_all(s.index), 0);
	ck_assert_uint_eq(t_search_used_by(s.reader), 0);
	t_search_open_with(&s, 1);
	t_search_some_indexed(&s, 30);
	ck_assert_uint_eq(bytes_of_all(s.index), 0);
	for (uint64_t part = 1; part < 8; part++) {
		t_search_open_with(&s, all * part / 7);
		t_search_some_indexed(&s, 20);
		ck_assert_uint_eq(bytes_of_all(s.index), s.index->block_index_cache->bytes);
		ck_assert_msg(s.index->block_index_cache->bytes <= all * part / 7,
			      "%llu bytes of block indexes, at most %llu",
			      (unsigned long long)s.index->block_index_cache->bytes,
			      (unsigned long long)(all * part / 7));
	}
	t_search_end(&s);
}
END_TEST

/* What is replaced after a merge makes room for what takes its place. */
START_TEST(test_replaced_ones_make_room)
{
	struct t_search s;
	uint64_t all;

	t_search_init(&s, 0, 0);
	t_search_fill(&s, 12000);
	t_search_store(&s, s.model.n - 100);
	t_search_open_with(&s, 0);
	t_search_some_indexed(&s, 10);
	all = s.index->block_index_cache->bytes;
	t_search_open_with(&s, all + all / 8); /* that of one table takes a fifth */
	for (int merged = 0; merged < 2; merged++) {
		t_search_some_indexed(&s, 10);
		ck_assert_uint_eq(t_search_used_by(s.reader), 4);
		ck_assert_uint_ge(s.index->block_index_cache->bytes, all);
		ck_assert_uint_eq(bytes_of_all(s.index), s.index->block_index_cache->bytes);
		sxt_merge(s.index);
	}
	t_search_end(&s);
}
END_TEST

/* A table that could have none may have one after a merge. */
START_TEST(test_another_chance_after_a_merge)
{
	struct t_search s;

	t_search_init(&s, 0, 0);
	t_search_fill(&s, 12000);
	t_search_store(&s, s.model.n - 100);
	t_search_open_with(&s, 0);
	ck_assert_sx(sx_view_renew(&s.reader->view, &sxt_err), SIMIDX_OK);
	s.index->block_index_cache->table[0].generation =
		s.reader->view.snapshot.header.table[0].generation;
	s.index->block_index_cache->table[0].is_impossible = 1;
	sx_view_reset(&s.reader->view);
	for (unsigned merged = 0; merged < 2; merged++) {
		t_search_some_indexed(&s, 10);
		ck_assert_uint_eq(t_search_used_by(s.reader), 3 + merged);
		sxt_merge(s.index);
	}
	t_search_end(&s);
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * When they are made
 */

/* Store one more document and merge, as another process does. */
static void merge_elsewhere(struct t_search *s)
{
	simidx *other = sxt_open(s->path, 0);

	t_search_add(s, t_search_any(s));
	sxt_model_store(&s->model, s->model.n - 1, s->model.n, other);
	sxt_merge(other);
	simidx_close(other);
}

static void add_and_merge(struct t_search *s, size_t n)
{
	size_t from = s->model.n;

	while (s->model.n < from + n)
		t_search_add(s, t_search_any(s));
	sxt_model_store(&s->model, from, s->model.n, s->index);
	sxt_merge(s->index);
}

/* Tables whose block indexes are for the newest snapshot; postings are one of them. */
static unsigned valid_in(struct t_search *s)
{
	unsigned map_changes = sx_store_map_changes(s->index->store), valid = 0;
	const sx_tables *tables = &s->index->tables;
	sx_snapshot now;

	ck_assert_sx(sx_snapshot_begin(&now, s->index, &sxt_err), SIMIDX_OK);
	for (unsigned t = 0; t < SX_BLOCK_INDEX_CACHE_TABLES; t++) {
		int is_postings = t == SX_VIEW_POSTINGS;
		const sx_table_count *count = is_postings ? &now.header.other[SX_COUNT_POSTINGS]
							  : &now.header.table[t];
		sx_table_version version = { is_postings ? &tables->postings : &tables->permuted[t],
					     count->rows, count->generation, map_changes };

		valid += sx_cached_index_fits(s->index->block_index_cache->table[t].cached,
					      &version);
	}
	sx_snapshot_end(&now);
	return valid;
}

/* So that narrow ranges are worth many probes. */
static const sx_costs probe_costs = { 100, 100, 1e6, 1e6, 0, 0 };

static void make_even(struct t_search *s, size_t merged, size_t n)
{
	t_search_init(s, 0, 0);
	while (s->model.n < n)
		t_search_add(s, t_search_any(s));
	t_search_store(s, merged);
	t_search_open_with(s, 0);
	s->index->costs = &probe_costs;
}

/* Within radius 3 by one probe of each table, and one look-up of postings for the only match. */
static void search_one(struct t_search *s, simidx_reader *reader)
{
	simidx_query q = SIMIDX_QUERY_INIT;
	simidx_results r;

	q.fp = s->model.at[0].fp;
	q.radius = 3;
	sxt_check_query(&s->model, s->model.n, reader, &q, &r);
	ck_assert_uint_eq(r.probes, 4);
	ck_assert_uint_eq(r.fingerprints, 1);
}

/* Searches until there are block indexes: the number of those that had none. */
static unsigned searches_without(struct t_search *s)
{
	unsigned n = 0;

	for (; n < 1000; n++) {
		search_one(s, s->reader);
		if (t_search_used_by(s->reader) == 4)
			break;
		ck_assert_uint_eq(t_search_used_by(s->reader), 0);
	}
	ck_assert_uint_eq(valid_in(s), 5);
	return n;
}

/* The first ones come with the look-up after SX_BLOCK_INDEX_CACHE_LOOKUPS of them in each table. */
START_TEST(test_made_after_enough_lookups)
{
	struct t_search s;

	make_even(&s, 5000, 5000);
	ck_assert_uint_eq(valid_in(&s), 0);
	ck_assert_uint_eq(searches_without(&s), SX_BLOCK_INDEX_CACHE_LOOKUPS);
	/* A new reader has them at once, and a merge of nothing leaves them. */
	simidx_reader_close(s.reader);
	s.reader = sxt_reader(s.index);
	sxt_merge(s.index);
	ck_assert_uint_eq(searches_without(&s), 0);
	t_search_end(&s);
}
END_TEST

/* Look-ups count whichever reader has asked for them. */
START_TEST(test_lookups_of_all_readers_count)
{
	simidx_reader *other;
	struct t_search s;
	unsigned n = 0;

	make_even(&s, 5000, 5000);
	other = sxt_reader(s.index);
	for (; !t_search_used_by(s.reader) && n < 1000; n++) {
		search_one(&s, s.reader);
		search_one(&s, other);
	}
	/* Those that a reader has done count when it takes the next snapshot. */
	ck_assert_uint_ge(n, SX_BLOCK_INDEX_CACHE_LOOKUPS / 2);
	ck_assert_uint_le(n, SX_BLOCK_INDEX_CACHE_LOOKUPS / 2 + 2);
	ck_assert_uint_eq(valid_in(&s), 5);
	simidx_reader_close(other);
	t_search_end(&s);
}
END_TEST

/*
 * After SX_BLOCK_INDEX_CACHE_LOOKUPS queries of the generation before, the first query after a
 * merge has the new ones, whatever the number of its transactions, and whoever has merged.
 */
START_TEST(test_made_again_after_a_merge)
{
	struct t_search s;

	make_even(&s, 5000, 8000);
	s.index->tuning.merge_blocks = _i ? 8 : 4096;
	searches_without(&s);
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < SX_BLOCK_INDEX_CACHE_LOOKUPS; i++)
			search_one(&s, s.reader);
		if (round == 1)
			merge_elsewhere(&s);
		else
			add_and_merge(&s, 1000);
		ck_assert_uint_eq(valid_in(&s), 0); /* a merge makes none */
		ck_assert_uint_eq(searches_without(&s), 0);
		ck_assert_uint_eq(bytes_of_all(s.index), s.index->block_index_cache->bytes);
	}
	t_search_some(&s, s.model.n, s.reader, 30);
	t_search_end(&s);
}
END_TEST

/* After a few queries of the generation before, the others are still to come. */
START_TEST(test_not_made_after_few_lookups)
{
	enum { FEW = 40 };
	struct t_search s;
	uint64_t all;

	make_even(&s, 5000, 8000);
	searches_without(&s); /* the last one had block indexes */
	add_and_merge(&s, 1000);
	ck_assert_uint_eq(searches_without(&s), SX_BLOCK_INDEX_CACHE_LOOKUPS - 1);
	for (unsigned i = 1; i < FEW; i++)
		search_one(&s, s.reader);
	add_and_merge(&s, 1000);
	ck_assert_uint_eq(searches_without(&s), SX_BLOCK_INDEX_CACHE_LOOKUPS - FEW);
	all = s.index->block_index_cache->bytes;
	/* None where there must not be any, however many have asked. */
	s.index->block_index_cache->max_bytes = all / 2; /* as if it had grown by that much */
	for (unsigned i = 0; i < SX_BLOCK_INDEX_CACHE_LOOKUPS; i++)
		search_one(&s, s.reader);
	add_and_merge(&s, 1000);
	for (unsigned i = 0; i < 2 * SX_BLOCK_INDEX_CACHE_LOOKUPS; i++)
		search_one(&s, s.reader);
	ck_assert_uint_le(valid_in(&s), 2);
	t_search_open_with(&s, SIMIDX_BLOCK_INDEX_NEVER);
	s.index->costs = &probe_costs;
	for (unsigned i = 0; i < 2 * SX_BLOCK_INDEX_CACHE_LOOKUPS; i++)
		search_one(&s, s.reader);
	ck_assert_uint_eq(s.index->block_index_cache->bytes, 0);
	ck_assert_uint_eq(t_search_used_by(s.reader), 0);
	t_search_end(&s);
}
END_TEST

/* Queries that are about to come count as look-ups of all tables. */
START_TEST(test_expected_queries_count)
{
	struct t_search s;
	sx_view *view;

	make_even(&s, 5000, 5000);
	view = &s.reader->view;
	ck_assert_sx(sx_view_renew(view, &sxt_err), SIMIDX_OK);
	sx_view_expect(view, SX_BLOCK_INDEX_CACHE_LOOKUPS - 1);
	ck_assert_uint_eq(t_search_used_by(s.reader), 0);
	ck_assert_int_eq(view->is_whole, 0);
	sx_view_expect(view, 1);
	ck_assert_uint_eq(t_search_used_by(s.reader), 4);
	ck_assert_ptr_nonnull(view->table[SX_VIEW_POSTINGS].blocks);
	ck_assert_int_eq(view->is_whole, 1);
	ck_assert_uint_eq(valid_in(&s), 5);
	/* Those that come with block indexes count for the next generation. */
	sx_view_expect(view, SX_BLOCK_INDEX_CACHE_LOOKUPS);
	sx_view_reset(view);
	search_one(&s, s.reader);
	add_and_merge(&s, 1000);
	ck_assert_uint_eq(searches_without(&s), 0);
	t_search_end(&s);
}
END_TEST

/* A table whose block index cannot be made is read by the cursor, and the others have theirs. */
START_TEST(test_damaged_table_is_read_by_cursor)
{
	unsigned char bytes[SX_TABLE_MAX_KEY];
	sx_slice key = { bytes, 0 }, value = { bytes, 10 }; /* no block, after all others */
	struct t_search s;
	const sx_table *table;
	sx_txn *txn;

	make_even(&s, 5000, 5000);
	table = &s.index->tables.permuted[1];
	key.size = sx_table_key(table, (sx_sort_key){ UINT64_MAX, 0 }, bytes);
	ck_assert_sx(sx_store_lock(s.index->store, 0, &sxt_err), SIMIDX_OK);
	ck_assert_sx(sx_txn_begin_write(s.index->store, 0, &txn, &sxt_err), SIMIDX_OK);
	ck_assert_sx(sx_dbi_put(txn, table->dbi, key, value, &sxt_err), SIMIDX_OK);
	ck_assert_sx(sx_txn_commit(txn, &sxt_err), SIMIDX_OK);
	sx_store_unlock(s.index->store);
	for (unsigned i = 0; i < SX_BLOCK_INDEX_CACHE_LOOKUPS + 20; i++) {
		search_one(&s, s.reader);
		ck_assert_uint_eq(t_search_used_by(s.reader),
				  i < SX_BLOCK_INDEX_CACHE_LOOKUPS ? 0 : 3);
	}
	ck_assert_int_eq(s.index->block_index_cache->table[1].is_impossible, 1);
	ck_assert_ptr_null(s.reader->view.table[1].blocks);
	t_search_end(&s);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_answers_for_any_max_bytes, 0, 2 },
	{ &test_replaced_ones_make_room, 0, 1 },
	{ &test_another_chance_after_a_merge, 0, 1 },
	{ &test_made_after_enough_lookups, 0, 1 },
	{ &test_lookups_of_all_readers_count, 0, 1 },
	{ &test_made_again_after_a_merge, 0, 2 },
	{ &test_not_made_after_few_lookups, 0, 1 },
	{ &test_expected_queries_count, 0, 1 },
	{ &test_damaged_table_is_read_by_cursor, 0, 1 },
};

SXT_SUITE(search_block_index, NULL, NULL);
