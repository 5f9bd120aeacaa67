/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Tables of every kind and layout against a sorted array: random merges, ranges, probes, keys.
 */

#include <stdio.h>

#include "support/sxt_table.h"

static const struct t_kind kinds[] = {
	{ "4x16", SX_TABLE_PERMUTED, 0, "4x16", 64, 1, NULL },
	{ "4x16 f=16", SX_TABLE_PERMUTED, 0, "4x16", 16, 3, NULL },
	{ "4x16 f=31", SX_TABLE_PERMUTED, 0, "4x16", 31, 0, NULL },
	{ "10x26", SX_TABLE_PERMUTED, 0, "10x26", 64, 5, NULL },
	{ "10x26 f=48", SX_TABLE_PERMUTED, 0, "10x26", 48, 9, NULL },
	{ "16x28 f=32", SX_TABLE_PERMUTED, 0, "16x28", 32, 6, NULL },
	{ "20x31", SX_TABLE_PERMUTED, 0, "20x31", 64, 0, NULL },
	{ "20x31 f=63", SX_TABLE_PERMUTED, 0, "20x31", 63, 19, NULL },
	{ "pairs", SX_TABLE_PAIRS, 1, NULL, 0, 0, NULL },
	{ "pairs with values", SX_TABLE_PAIRS, 1, NULL, 0, 0, &t_all_columns },
	{ "numbers", SX_TABLE_NUMBERS, 1, NULL, 0, 0, NULL },
	{ "numbers of five", SX_TABLE_NUMBERS, 5, NULL, 0, 0, NULL },
};

#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

static uint64_t most_key(const struct t_tab *tab)
{
	return tab->table.perm ? UINT64_MAX >> (64 - tab->table.perm->bits) : UINT64_MAX;
}

/* A row in one of several neighbourhoods. */
static void add_change(const struct t_tab *tab, sxt_rng *rng, struct t_rows *list,
		       uint64_t focus, int remove)
{
	uint64_t most = most_key(tab), key, cols[SX_MAX_COLS];
	unsigned c;

	for (c = 0; c < SX_MAX_COLS; c++)
		cols[c] = sxt_rng_u64(rng) >> 8 * (c + list->n % 3);
	switch (sxt_rng_below(rng, 8)) {
	case 0: /* the ends of the order */
		key = sxt_rng_below(rng, 2) ? most : 0;
		if (sxt_rng_below(rng, 2))
			cols[0] = sxt_rng_below(rng, 2) ? UINT64_MAX : 0;
		break;
	case 1:
	case 2: /* dense */
		key = (focus + sxt_rng_below(rng, 3000)) & most;
		break;
	case 3: /* one key, many ids */
		key = focus & most;
		cols[0] = sxt_rng_below(rng, 5000);
		break;
	case 4: /* few bits away */
		key = sxt_rng_flip(rng, focus & most,
				   tab->table.perm ? tab->table.perm->bits : 64,
				   1 + (unsigned)sxt_rng_below(rng, 3));
		break;
	default:
		key = sxt_rng_u64(rng) & most;
	}
	t_rows_add(tab, list, key, cols, remove);
}

/* Again something that is there: to be added once more, in vain, or removed. */
static void add_repeat(const struct t_tab *tab, sxt_rng *rng, struct t_rows *list, int remove)
{
	const struct t_row *row = &tab->model.at[sxt_rng_below(rng, tab->model.n)];
	uint64_t cols[SX_MAX_COLS] = { 0 };
	unsigned c;

	for (c = 0; c < tab->table.n_cols; c++)
		cols[c] = c || tab->table.kind == SX_TABLE_NUMBERS ? ~row->col[c]
								   : row->col[c];
	t_rows_add(tab, list, row->fp, cols, remove);
}

static void random_changes(const struct t_tab *tab, sxt_rng *rng, struct t_rows *list)
{
	static const unsigned sizes[] = { 1, 3, 40, 1000, 12000 };
	size_t n = 1 + sxt_rng_below(rng, sizes[sxt_rng_below(rng, 5)]), i;
	uint64_t focus = sxt_rng_u64(rng);
	uint64_t removals = sxt_rng_below(rng, 3) ? 1 : sxt_rng_below(rng, 10); /* in ten */
	uint64_t repeats = sxt_rng_below(rng, 4) * 2;

	if (tab->model.n < 2000) /* enough for many blocks */
		n += 10000;
	else if (sxt_rng_below(rng, 2))
		focus = tab->model.at[sxt_rng_below(rng, tab->model.n)].fp;
	for (i = 0; i < n; i++) {
		int remove = sxt_rng_below(rng, 10) < removals;

		if (tab->model.n && (remove || sxt_rng_below(rng, 10) < repeats))
			add_repeat(tab, rng, list, remove);
		else
			add_change(tab, rng, list, focus, remove && sxt_rng_below(rng, 2));
	}
	for (i = 0; i < 3; i++) /* absent, as a rule */
		add_change(tab, rng, list, focus, 1);
	t_rows_sort(list);
}

static void remove_all(struct t_tab *tab, uint64_t max_written)
{
	struct t_rows list = { 0 };
	sx_dbi_stat stat;
	size_t i;

	for (i = 0; i < tab->model.n; i++) {
		t_rows_add(tab, &list, tab->model.at[i].fp, tab->model.at[i].col, 1);
		sxt_must(!t_row_cmp(&list.at[i], &tab->model.at[i]));
	}
	t_merge(tab, &list, max_written);
	t_rows_free(&list);
	t_check_all(tab);
	ck_assert_uint_eq(tab->model.n, 0);
	ck_assert_uint_eq(tab->digest, 0);
	ck_assert_sx(sx_dbi_stat_get(tab->txn, tab->table.dbi, &stat, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(stat.keys, 0);
	ck_assert_uint_eq(stat.branch_pages + stat.leaf_pages + stat.overflow_pages, 0);
}

START_TEST(test_random_tables_equal_the_model)
{
	unsigned rounds = sxt_is_long() ? 600 : 48, i;
	struct t_rows list = { 0 };
	struct t_tab tab;
	sxt_rng rng;

	sxt_rng_init(&rng, 1000 + (uint64_t)_i);
	t_tab_open(&tab, &kinds[_i / 2], (unsigned)_i % 2, 50 + 10 * ((unsigned)_i / 2 % 6));
	t_check_all(&tab);
	t_check_ranges(&tab, &rng, 3);
	for (i = 0; i < rounds; i++) {
		list.n = 0;
		random_changes(&tab, &rng, &list);
		t_merge(&tab, &list, i % 5 == 4 ? 1 + sxt_rng_below(&rng, 20) : 0);
		t_check_all(&tab);
		t_check_ranges(&tab, &rng, 8);
		/* Once more: all is done already. */
		if (i % 4 == 3) {
			t_merge(&tab, &list, 0);
			t_check_all(&tab);
		}
		if (i % 16 == 15)
			remove_all(&tab, i % 32 == 15 ? 7 : 0);
	}
	remove_all(&tab, 0);
	t_check_ranges(&tab, &rng, 3);
	t_rows_free(&list);
	t_tab_close(&tab);
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * Keys
 */

static void check_key(const struct t_tab *tab, sx_sort_key place, unsigned char *bytes,
		      size_t *size)
{
	sx_slice key = { bytes, 0 };
	sx_sort_key back;

	*size = key.size = sx_table_key(&tab->table, place, bytes);
	sxt_must_le(key.size, SX_TABLE_MAX_KEY);
	sxt_must(!sx_table_sort_key(&tab->table, key, &back));
	sxt_must(!sx_sort_key_cmp(place, back));
	/* Too short and too long are no keys of this table. */
	key.size--;
	sxt_must(sx_table_sort_key(&tab->table, key, &back));
	key.size += 2;
	sxt_must(sx_table_sort_key(&tab->table, key, &back));
}

START_TEST(test_keys_keep_order)
{
	unsigned char a_key[SX_TABLE_MAX_KEY + 1] = { 0 }, b_key[SX_TABLE_MAX_KEY + 1] = { 0 };
	struct t_tab tab;
	sxt_rng rng;
	unsigned i;

	sxt_rng_init(&rng, 1100 + (uint64_t)_i);
	t_tab_open(&tab, &kinds[_i], SIMIDX_LAYOUT_BLOCKS, 90);
	for (i = 0; i < 3000; i++) {
		uint64_t most = most_key(&tab);
		sx_sort_key a = { sxt_rng_u64(&rng) & most, 0 }, b = a;
		size_t a_size, b_size;
		int c;

		if (i % 3 == 0)
			b.key = sxt_rng_u64(&rng) & most;
		else if (i % 3 == 1)
			b.key = sxt_rng_flip(&rng, a.key, most < UINT64_MAX ? 16 : 64, 1);
		if (i < 2)
			a.key = i ? most : 0;
		if (tab.table.kind == SX_TABLE_PAIRS) {
			a.col0 = sxt_rng_u64(&rng);
			b.col0 = a.col0 ^ sxt_rng_below(&rng, 2) << sxt_rng_below(&rng, 64);
		}
		check_key(&tab, a, a_key, &a_size);
		check_key(&tab, b, b_key, &b_size);
		sxt_must_eq(a_size, b_size);
		c = memcmp(a_key, b_key, a_size);
		sxt_must_eq((c > 0) - (c < 0), sx_sort_key_cmp(a, b));
	}
	t_tab_close(&tab);
}
END_TEST

/* A key of a permuted table says everything twice: both must agree. */
START_TEST(test_wrong_keys_are_refused)
{
	unsigned char bytes[SX_TABLE_MAX_KEY];
	const sx_perm *perm;
	struct t_tab tab;
	sx_sort_key place = { 0, 0 };
	sx_slice key;
	unsigned bit;
	sxt_rng rng;
	int wrong;

	sxt_rng_init(&rng, 1200 + (uint64_t)_i);
	t_tab_open(&tab, &kinds[_i], SIMIDX_LAYOUT_BLOCKS, 90);
	perm = tab.table.perm;
	ck_assert_ptr_nonnull(perm);
	place.key = sxt_rng_u64(&rng) & most_key(&tab);
	key.data = bytes;
	key.size = sx_table_key(&tab.table, place, bytes);
	for (bit = 0; bit < 8 * key.size; bit++) {
		unsigned fp_bit = 8 * (unsigned)key.size - 1 - bit; /* from the right */

		bytes[bit / 8] ^= (unsigned char)(0x80 >> bit % 8);
		/* Only a bit of the fingerprint that is not in the prefix may be changed. */
		wrong = fp_bit >= perm->bits || perm->prefix_mask >> fp_bit & 1;
		sxt_must_eq((sx_table_sort_key(&tab.table, key, &place) != 0), wrong);
		bytes[bit / 8] ^= (unsigned char)(0x80 >> bit % 8);
	}
	t_tab_close(&tab);
}
END_TEST

/* The example of doc/format.md. */
START_TEST(test_key_example)
{
	static const unsigned char want[] = { 0x45, 0x67, 0x01, 0x23, 0x45,
					      0x67, 0x89, 0xab, 0xcd, 0xef };
	sx_sort_key place = { UINT64_C(0x4567012389abcdef), 0 };
	unsigned char bytes[SX_TABLE_MAX_KEY];
	struct t_tab tab;

	t_tab_open(&tab, &kinds[0], SIMIDX_LAYOUT_ROWS, 90);
	ck_assert_uint_eq(sx_table_key(&tab.table, place, bytes), sizeof(want));
	ck_assert_mem_eq(bytes, want, sizeof(want));
	ck_assert_uint_eq(t_permute(tab.table.perm, UINT64_C(0x0123456789abcdef)), place.key);
	t_tab_close(&tab);
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * One fingerprint with very many documents
 */

static void check_ids(struct t_tab *tab, sx_cursor *cursor, uint64_t first, uint64_t last,
		      uint64_t limit, size_t n)
{
	sx_sort_key low = { 500, first }, high = { 500, last };
	sx_rows rows;
	size_t i;

	sx_rows_init(&rows, tab->table.n_cols);
	ck_assert_sx(sx_table_range(&tab->table, cursor, low, high, limit, &rows, &sxt_err),
		     SIMIDX_OK);
	ck_assert_uint_eq(rows.n, n);
	for (i = 0; i < n; i++) {
		sxt_must_eq(rows.key[i], 500);
		sxt_must_eq(rows.col[0][i], first + i);
	}
	sx_rows_free(&rows);
}

START_TEST(test_one_fingerprint_in_many_blocks)
{
	const uint64_t n = 100000;
	struct t_rows list = { 0 };
	uint64_t cols[SX_MAX_COLS] = { 0 }, i;
	sx_cursor *cursor;
	struct t_tab tab;

	/* Twice 1,000 others around them; those are there first in every other run. */
	t_tab_open(&tab, &kinds[8], SIMIDX_LAYOUT_BLOCKS, 90);
	for (i = 0; i < 1000; i++) {
		cols[0] = i;
		t_rows_add(&tab, &list, i, cols, 0);
		t_rows_add(&tab, &list, UINT64_MAX - i, cols, 0);
	}
	if (_i) {
		t_rows_sort(&list);
		t_merge(&tab, &list, 0);
		list.n = 0;
	}
	for (i = 0; i < n; i++) {
		cols[0] = i;
		t_rows_add(&tab, &list, 500, cols, 0);
	}
	t_rows_sort(&list);
	t_merge(&tab, &list, 0);
	t_check_all(&tab);
	ck_assert_uint_eq(tab.model.n, n + 2000 - 1); /* (500, 500) is both */
	ck_assert_sx(sx_cursor_open(tab.txn, tab.table.dbi, &cursor, &sxt_err), SIMIDX_OK);
	check_ids(&tab, cursor, 0, UINT64_MAX, 0, n);
	check_ids(&tab, cursor, 0, UINT64_MAX, 1, 1);
	check_ids(&tab, cursor, 0, UINT64_MAX, 54321, 54321);
	check_ids(&tab, cursor, 77777, 88888, 0, 88888 - 77777 + 1);
	check_ids(&tab, cursor, n - 1, UINT64_MAX, 0, 1);
	check_ids(&tab, cursor, n, UINT64_MAX, 0, 0);
	sx_cursor_close(cursor);
	/* And all but one of them go again. */
	for (i = 0; i < list.n; i++)
		list.at[i].remove = list.at[i].key == 500 && list.at[i].col[0] != 70000;
	t_merge(&tab, &list, 0);
	t_check_all(&tab);
	ck_assert_uint_eq(tab.model.n, 2000);
	t_rows_free(&list);
	t_tab_close(&tab);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_random_tables_equal_the_model, 0, 2 * N_KINDS },
	{ &test_one_fingerprint_in_many_blocks, 0, 2 },
	{ &test_keys_keep_order, 0, N_KINDS },
	{ &test_wrong_keys_are_refused, 0, 8 },
	{ &test_key_example, 0, 1 },
};

SXT_SUITE(table, NULL, NULL);
