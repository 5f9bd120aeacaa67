/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * How merges leave the blocks of a table: how full, joined, split, and behind which keys.
 */

#include "support/sxt_table.h"
#include "table/sx_table_walk.h"

static const struct t_kind permuted = { "permuted", SX_TABLE_PERMUTED, 0, "4x16", 64, 2, NULL };
static const struct t_kind pairs = { "pairs", SX_TABLE_PAIRS, 1, NULL, 0, 0, NULL };
static const struct t_kind numbers = { "numbers", SX_TABLE_NUMBERS, 1, NULL, 0, 0, NULL };

/* n random rows of the model, to be removed. */
static void add_removals(const struct t_tab *tab, sxt_rng *rng, struct t_rows *list, size_t n)
{
	size_t i;

	for (i = 0; i < tab->model.n; i++) {
		/* As many of those that are left as are still to be chosen. */
		if (sxt_rng_below(rng, tab->model.n - i) >= n)
			continue;
		t_rows_add(tab, list, tab->model.at[i].fp, tab->model.at[i].col, 1);
		n--;
	}
}

/* ------------------------------------------------------------------------------------------
 * How full blocks are
 */

/*
 * A uniform table that grows by 30 % in merges of a tenth: each touches every block, so each
 * leaves blocks that are filled to 90 % or carried on. 0.85 is what is promised.
 */
START_TEST(test_blocks_stay_full_as_table_grows)
{
	struct t_rows list = { 0 };
	const size_t n = 60000;
	struct t_tab tab;
	sxt_rng rng;
	int i;

	sxt_rng_init(&rng, 1300 + (uint64_t)_i);
	t_tab_open(&tab, _i ? &pairs : &permuted, SIMIDX_LAYOUT_BLOCKS, 90);
	t_add_uniform(&tab, &rng, &list, n);
	t_merge(&tab, &list, 0);
	/* Fill factor 90 %, less what no further entry fits into, and the last block. */
	ck_assert_double_gt(t_fill_of(&tab), 0.88);
	ck_assert_double_lt(t_fill_of(&tab), 0.91);
	for (i = 0; i < 3; i++) {
		list.n = 0;
		t_add_uniform(&tab, &rng, &list, n / 10);
		t_merge(&tab, &list, 0);
		ck_assert_double_gt(t_fill_of(&tab), 0.85);
	}
	t_check_all(&tab);
	t_rows_free(&list);
	t_tab_close(&tab);
}
END_TEST

/* Ascending numbers, a few at a time, as the log of fresh rows grows: nothing is split. */
START_TEST(test_appended_blocks_are_full)
{
	struct t_rows list = { 0 };
	struct t_tab tab;
	uint64_t seq, cols[SX_MAX_COLS] = { 0 };
	sxt_rng rng;

	sxt_rng_init(&rng, 1310);
	t_tab_open(&tab, &numbers, SIMIDX_LAYOUT_BLOCKS, 100);
	for (seq = 0; seq < 20000; seq++) {
		cols[0] = sxt_rng_u64(&rng);
		t_rows_add(&tab, &list, seq, cols, 0);
		if (sxt_rng_below(&rng, 100))
			continue;
		t_merge(&tab, &list, 0);
		list.n = 0;
	}
	t_merge(&tab, &list, 0);
	t_check_all(&tab);
	ck_assert_double_gt(t_fill_of(&tab), 0.98);
	t_rows_free(&list);
	t_tab_close(&tab);
}
END_TEST

/* The last block when it is exactly full, and when a change behind it changes nothing. */
START_TEST(test_last_block_is_filled)
{
	struct t_rows list = { 0 }, one = { 0 };
	uint64_t cols[SX_MAX_COLS] = { 0 }, seq;
	unsigned char *remove;
	struct t_tab tab;
	sx_rows rows;
	size_t n;

	t_tab_open(&tab, &numbers, SIMIDX_LAYOUT_BLOCKS, 100);
	for (seq = 0; seq < 10000; seq++) {
		cols[0] = seq * seq;
		t_rows_add(&tab, &list, seq, cols, 0);
	}
	t_changes(&tab, &list, &rows, &remove);
	n = sx_block_fit(&rows, 0, tab.table.block_size);
	ck_assert_uint_lt(n, list.n);
	list.n = n;
	t_merge(&tab, &list, 0);
	t_check_all(&tab);
	t_rows_add(&tab, &one, n, cols, 1);
	t_merge(&tab, &one, 0);
	t_check_all(&tab);
	one.at[0].remove = 0;
	t_merge(&tab, &one, 0);
	t_check_all(&tab);
	ck_assert_uint_eq(tab.model.n, n + 1);
	sx_rows_free(&rows);
	free(remove);
	t_rows_free(&list);
	t_rows_free(&one);
	t_tab_close(&tab);
}
END_TEST

/*
 * Removals leave no crowd of small blocks: what fills at most 75 % of a block is given to the
 * next one if that is touched too, and here all are. So all fill more than that, except the
 * last one or two of about forty.
 */
START_TEST(test_blocks_join_as_table_shrinks)
{
	unsigned merges = (unsigned)_i ? 10 : 1, i;
	struct t_rows list = { 0 };
	const size_t n = 60000;
	struct t_tab tab;
	sxt_rng rng;

	sxt_rng_init(&rng, 1320 + (uint64_t)_i);
	t_tab_open(&tab, &permuted, SIMIDX_LAYOUT_BLOCKS, 90);
	t_add_uniform(&tab, &rng, &list, n);
	t_merge(&tab, &list, 0);
	for (i = 0; i < merges; i++) {
		list.n = 0;
		add_removals(&tab, &rng, &list, n * 9 / 10 / merges);
		t_merge(&tab, &list, 0);
	}
	t_check_all(&tab);
	ck_assert_uint_lt(tab.model.n, n / 10 + 100);
	ck_assert_double_ge(t_fill_of(&tab), 0.73);
	t_rows_free(&list);
	t_tab_close(&tab);
}
END_TEST

/*
 * Neighbourhoods thinned out one after another, from the last to the first. A block joins the
 * one behind it when it was touched and both together fill no more than 75 %, so afterwards any
 * two neighbours fill more than that.
 */
START_TEST(test_blocks_join_where_rows_go)
{
	struct t_rows list = { 0 };
	uint64_t blocks, used;
	struct t_tab tab;
	size_t at, i;
	sxt_rng rng;

	sxt_rng_init(&rng, 1330);
	t_tab_open(&tab, &permuted, SIMIDX_LAYOUT_BLOCKS, 90);
	t_add_uniform(&tab, &rng, &list, 30000);
	t_merge(&tab, &list, 0);
	for (at = tab.model.n; at >= 100; at -= 100) {
		list.n = 0;
		for (i = at - 100; i < at; i++)
			if (i % 10 > 2)
				t_rows_add(&tab, &list, tab.model.at[i].fp,
					   tab.model.at[i].col, 1);
		t_merge(&tab, &list, 0);
	}
	t_check_all(&tab);
	t_check_ranges(&tab, &rng, 30);
	t_usage(&tab, &blocks, &used);
	ck_assert_uint_gt(used, blocks / 2 * (tab.table.block_size * 3 / 4));
	t_rows_free(&list);
	t_tab_close(&tab);
}
END_TEST

/* Any two neighbours fill more than half of a block, whatever was added and removed before. */
static void check_neighbours(struct t_tab *tab)
{
	sx_table_walk walk;
	size_t before = SIZE_MAX / 2;

	sxt_must_ok(sx_table_walk_begin(&walk, tab->txn, &tab->table, NULL, &sxt_err));
	while (!sx_table_walk_next(&walk, &sxt_err)) {
		sxt_must_gt(before + walk.used, tab->table.block_size / 2);
		before = walk.used;
	}
	sx_table_walk_end(&walk);
	sxt_error_clear(&sxt_err);
}

/*
 * Every second block is thinned out to one row, which joins nobody because its neighbours are full;
 * then these go, and the thin ones have become neighbours. `_i`: all that go at once, or block
 * after block.
 */
START_TEST(test_blocks_join_around_those_that_go)
{
	struct t_rows list = { 0 };
	uint64_t cols[SX_MAX_COLS] = { 0 };
	size_t end[200], n;
	struct t_tab tab;
	sxt_rng rng;

	sxt_rng_init(&rng, 1335);
	t_tab_open(&tab, &numbers, SIMIDX_LAYOUT_BLOCKS, 90);
	for (uint64_t i = 0; i < 20000; i++) {
		cols[0] = sxt_rng_u64(&rng);
		t_rows_add(&tab, &list, i, cols, 0);
	}
	t_merge(&tab, &list, 0);
	n = t_block_ends(&tab, end, 200);
	ck_assert_uint_gt(n, 30);
	list.n = 0;
	for (int is_thin = 1; is_thin >= 0; is_thin--)
		for (size_t block = 0; block < n; block++) {
			size_t first = block ? end[block - 1] + 1 : 0;

			for (size_t i = first; block % 2 != (size_t)is_thin && i <= end[block]; i++)
				if (!is_thin || i > first)
					t_rows_add(&tab, &list, i, cols, 1);
			if (_i || block + 1 == n) {
				t_merge(&tab, &list, 0);
				list.n = 0;
				check_neighbours(&tab);
			}
		}
	t_check_all(&tab);
	ck_assert_uint_eq(tab.model.n, (n + 1) / 2);
	t_rows_free(&list);
	t_tab_close(&tab);
}
END_TEST

/*
 * Rows come and go for ever, and their number stays: anywhere, or new ones after all others while
 * the oldest go, but for one in a thousand, so that blocks get thin, and some empty. As any two
 * neighbours fill more than half of a block, n bytes of rows have at most 4 n / size + 1 blocks.
 */
START_TEST(test_table_that_changes_for_ever_does_not_grow)
{
	unsigned rounds = sxt_is_long() ? 2000 : 200;
	uint64_t cols[SX_MAX_COLS] = { 0 }, oldest = 0, newest = 0, blocks, used;
	struct t_tab tab;
	sxt_rng rng;

	sxt_rng_init(&rng, 1340 + (uint64_t)_i);
	t_tab_open(&tab, _i ? &numbers : &permuted, SIMIDX_LAYOUT_BLOCKS, 90);
	for (unsigned round = 0; round < rounds; round++) {
		struct t_rows list = { 0 };
		size_t n = 1 + sxt_rng_below(&rng, round % 4 ? 40 : 3000);

		if (_i) {
			for (size_t i = 0; i < n && newest - oldest > 12000; i++, oldest++)
				if (oldest % 1000)
					t_rows_add(&tab, &list, oldest, cols, 1);
			for (size_t i = 0; i < n; i++, newest++) {
				cols[0] = sxt_rng_u64(&rng);
				t_rows_add(&tab, &list, newest, cols, 0);
			}
		} else if (tab.model.n > 12000) {
			add_removals(&tab, &rng, &list, n);
		} else {
			t_add_uniform(&tab, &rng, &list, n);
		}
		t_merge(&tab, &list, 0);
		check_neighbours(&tab);
		t_rows_free(&list);
	}
	t_check_all(&tab);
	t_usage(&tab, &blocks, &used);
	ck_assert_uint_le(blocks, 4 * used / tab.table.block_size + 1);
	t_tab_close(&tab);
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * More changes for one block than are merged in a round
 */

#define MANY 150000

/* `above`: there is a row behind all changes; without it the block is open at its end. */
static void many_changes(int above, int twice)
{
	struct t_rows list = { 0 };
	uint64_t cols[SX_MAX_COLS] = { 7 }, i;
	struct t_tab tab;
	sxt_rng rng;

	sxt_rng_init(&rng, 1340);
	t_tab_open(&tab, &numbers, SIMIDX_LAYOUT_BLOCKS, 90);
	for (i = 0; i < 300; i++)
		t_rows_add(&tab, &list, i * 500, cols, 0);
	if (above)
		t_rows_add(&tab, &list, UINT64_MAX, cols, 0);
	t_merge(&tab, &list, 0);
	list.n = 0;
	/* All 300 go; so many are not there to be removed, and in between some are new. */
	for (i = 0; i < MANY; i++)
		t_rows_add(&tab, &list, i, cols, i % 500 == 0 || i % 7);
	t_merge(&tab, &list, twice ? 3 : 0);
	t_check_all(&tab);
	t_check_ranges(&tab, &rng, 10);
	t_rows_free(&list);
	t_tab_close(&tab);
}

START_TEST(test_many_merges)
{
	many_changes(_i % 2, _i / 2);
}
END_TEST

/* The first round empties the block; what follows belongs there still. */
START_TEST(test_round_that_empties)
{
	struct t_rows list = { 0 };
	uint64_t cols[SX_MAX_COLS] = { 7 }, i;
	struct t_tab tab;
	sxt_rng rng;

	sxt_rng_init(&rng, 1350);
	t_tab_open(&tab, &numbers, SIMIDX_LAYOUT_BLOCKS, 90);
	for (i = 0; i < 200; i++)
		t_rows_add(&tab, &list, i, cols, 0);
	if (_i) {
		for (i = 0; i < 2000; i++)
			t_rows_add(&tab, &list, UINT64_MAX - 2000 + i, cols, 0);
	}
	t_merge(&tab, &list, 0);
	list.n = 0;
	for (i = 0; i < MANY; i++)
		t_rows_add(&tab, &list, i, cols, i < 100000);
	t_merge(&tab, &list, 0);
	t_check_all(&tab);
	t_check_ranges(&tab, &rng, 10);
	ck_assert_uint_eq(tab.model.n, 50000 + (_i ? 2000 : 0));
	t_rows_free(&list);
	t_tab_close(&tab);
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * Fences
 */

/* Remove the last entries of each block: its key is then a fence. Then add around it. */
START_TEST(test_fences_after_removals)
{
	struct t_rows list = { 0 }, ends = { 0 };
	size_t end[200], n, i;
	uint64_t cols[SX_MAX_COLS] = { 0 }, probe;
	struct t_tab tab;
	sx_cursor *cursor;
	sxt_rng rng;
	sx_rows none;

	sxt_rng_init(&rng, 1360);
	t_tab_open(&tab, &numbers, SIMIDX_LAYOUT_BLOCKS, 90);
	sx_rows_init(&none, tab.table.n_cols);
	t_add_uniform(&tab, &rng, &list, 20000);
	t_merge(&tab, &list, 0);
	n = t_block_ends(&tab, end, 200);
	ck_assert_uint_gt(n, 20);
	list.n = 0;
	for (i = 0; i < n; i++) {
		t_rows_add(&tab, &ends, tab.model.at[end[i]].key, tab.model.at[end[i]].col, 1);
		t_rows_add(&tab, &list, tab.model.at[end[i] - 1].key,
			   tab.model.at[end[i] - 1].col, 1);
		t_rows_add(&tab, &list, tab.model.at[end[i]].key, tab.model.at[end[i]].col, 1);
	}
	t_merge(&tab, &list, 0);
	t_check_all(&tab);
	ck_assert_sx(sx_cursor_open(tab.txn, tab.table.dbi, &cursor, &sxt_err), SIMIDX_OK);
	for (i = 0; i < n; i++) {
		for (probe = ends.at[i].key - 1; probe != ends.at[i].key + 2; probe++) {
			sx_sort_key place = { probe, 0 };

			ck_assert_sx(sx_table_range(&tab.table, cursor, place, place, 1, &none,
						    &sxt_err),
				     SIMIDX_OK);
			ck_assert_uint_eq(none.n, 0);
		}
	}
	sx_cursor_close(cursor);
	sx_rows_free(&none);
	t_check_ranges(&tab, &rng, 20);
	/* One before, at and behind each fence, one fence at a time. */
	for (i = 0; i < n; i++) {
		list.n = 0;
		for (probe = ends.at[i].key - 1; probe != ends.at[i].key + 2; probe++)
			if (probe % 3 != i % 3)
				t_rows_add(&tab, &list, probe, cols, 0);
		t_rows_sort(&list);
		t_merge(&tab, &list, 0);
	}
	t_check_all(&tab);
	t_check_ranges(&tab, &rng, 20);
	t_rows_free(&list);
	t_rows_free(&ends);
	t_tab_close(&tab);
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * Pieces
 */

/*
 * A merge stops about where it was told to, and tells where: with one change for every other
 * block, and where a fifth of each block goes, so that each is carried into the next one. The
 * step that passes the limit may write a few blocks and take one away.
 */
START_TEST(test_merge_in_pieces)
{
	unsigned layout = (unsigned)_i % 2;
	size_t step = _i / 2 ? 5 : 1000;
	uint64_t most = _i / 2 ? 1 : 5;
	struct t_rows list = { 0 };
	sx_changes changes = { 0 };
	size_t done = 0, before, i;
	unsigned char *remove;
	struct t_tab tab;
	sx_delta delta;
	sx_rows rows;
	sxt_rng rng;

	sxt_rng_init(&rng, 1365);
	t_tab_open(&tab, &permuted, layout, 90);
	t_add_uniform(&tab, &rng, &list, 20000);
	t_merge(&tab, &list, 0);
	list.n = 0;
	for (i = 3; i < tab.model.n; i += step)
		t_rows_add(&tab, &list, tab.model.at[i].fp, NULL, 1);
	t_changes(&tab, &list, &rows, &remove);
	changes.rows = &rows;
	changes.remove = remove;
	while (done < list.n) {
		before = done;
		ck_assert_sx(sx_table_merge(tab.txn, &tab.table, &changes, &done, most,
					    &delta, &sxt_err),
			     SIMIDX_OK);
		ck_assert_uint_gt(done, before);
		ck_assert_int_eq(delta.rows, (int64_t)before - (int64_t)done);
		ck_assert_uint_le(delta.written, most + 3);
		ck_assert(delta.written >= most || done == list.n);
	}
	sx_rows_free(&rows);
	free(remove);
	t_rows_free(&list);
	t_tab_close(&tab);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_blocks_stay_full_as_table_grows, 0, 2 },
	{ &test_appended_blocks_are_full, 0, 1 },
	{ &test_last_block_is_filled, 0, 1 },
	{ &test_blocks_join_as_table_shrinks, 0, 2 },
	{ &test_table_that_changes_for_ever_does_not_grow, 0, 2 },
	{ &test_blocks_join_where_rows_go, 0, 1 },
	{ &test_blocks_join_around_those_that_go, 0, 2 },
	{ &test_many_merges, 0, 4 },
	{ &test_round_that_empties, 0, 2 },
	{ &test_fences_after_removals, 0, 1 },
	{ &test_merge_in_pieces, 0, 4 },
};

SXT_SUITE(table_merge, NULL, NULL);
