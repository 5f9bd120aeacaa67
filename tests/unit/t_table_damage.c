/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Tables with records that no merge has written: they are refused and named, the rest is read.
 */

#include <stdio.h>

#include "support/sxt_table.h"
#include "table/sx_lookup.h"

static const struct t_kind permuted = { "permuted", SX_TABLE_PERMUTED, 0, "4x16", 64, 2, NULL };
static const struct t_kind pairs = { "pairs", SX_TABLE_PAIRS, 1, NULL, 0, 0, NULL };
static const struct t_kind numbers = { "numbers", SX_TABLE_NUMBERS, 1, NULL, 0, 0, NULL };

/* A copy of record number i; the key as it is shown in messages. */
static void get_record(struct t_tab *tab, size_t i, unsigned char *key_bytes, sx_slice *key,
		       unsigned char *value_bytes, sx_slice *value, char *hex)
{
	t_record(tab, i, key_bytes, key, value_bytes, value);
	for (size_t b = 0; b < key->size; b++)
		sprintf(hex + 2 * b, "%02x", key_bytes[b]);
}

/* Walk all; *rows is how many rows came, *bad how many pieces were refused. */
static void count_walk(struct t_tab *tab, const char *hex, size_t *rows, size_t *bad)
{
	sx_table_walk walk;
	simidx_error err;
	int rc;

	*rows = *bad = 0;
	ck_assert_sx(sx_table_walk_begin(&walk, tab->txn, &tab->table, NULL, &sxt_err),
		     SIMIDX_OK);
	for (;;) {
		sxt_error_clear(&err);
		rc = sx_table_walk_next(&walk, &err);
		if (rc == SIMIDX_E_END)
			break;
		if (!rc) {
			*rows += walk.rows.n;
			continue;
		}
		ck_assert_int_eq(rc, SIMIDX_E_CORRUPT);
		ck_assert_int_eq(err.code, SIMIDX_E_CORRUPT);
		ck_assert_int_eq(walk.stuck, 0);
		ck_assert_ptr_nonnull(strstr(err.text, "table table"));
		ck_assert_ptr_nonnull(strstr(err.text, hex));
		++*bad;
	}
	sx_table_walk_end(&walk);
}

static void check_refused(struct t_tab *tab, const struct t_rows *list, const char *hex)
{
	unsigned char *remove;
	size_t done = 0;
	sx_delta delta;
	sx_rows rows;
	sx_changes changes = { &rows, NULL };

	t_changes(tab, list, &rows, &remove);
	changes.remove = remove;
	ck_assert_sx(sx_table_merge(tab->txn, &tab->table, &changes, &done, UINT64_MAX, &delta,
				    &sxt_err),
		     SIMIDX_E_CORRUPT);
	ck_assert_msg(strstr(sxt_err.text, "table table") && strstr(sxt_err.text, hex), "%s",
		      sxt_err.text);
	sx_rows_free(&rows);
	free(remove);
}

/* One byte of one block is wrong: wherever it is, a merge does not carry it on. */
START_TEST(test_damaged_block_is_found)
{
	static const size_t offsets[] = { 0, 3, 5, 9, 16, 1000, 3000, 3500, 4079 };
	unsigned char key_bytes[SX_TABLE_MAX_KEY], value_bytes[T_MOST_ENTRIES];
	char hex[2 * SX_TABLE_MAX_KEY + 1];
	size_t end[200], n, record, first, rows, bad;
	struct t_rows list = { 0 };
	sx_slice key, value;
	struct t_tab tab;
	sxt_rng rng;

	sxt_rng_init(&rng, 1370 + (uint64_t)_i);
	t_tab_open(&tab, _i % 2 ? &pairs : &permuted, SIMIDX_LAYOUT_BLOCKS, 90);
	t_add_uniform(&tab, &rng, &list, 10000);
	t_merge(&tab, &list, 0);
	t_tab_commit(&tab);
	n = t_block_ends(&tab, end, 200);
	record = _i == 0 ? 0 : _i == 1 ? n - 1 : 1 + sxt_rng_below(&rng, n - 2);
	get_record(&tab, record, key_bytes, &key, value_bytes, &value, hex);
	ck_assert_uint_eq(value.size, tab.table.block_size);
	value_bytes[offsets[_i]] ^= (unsigned char)(1u << sxt_rng_below(&rng, 8));
	ck_assert_sx(sx_dbi_put(tab.txn, tab.table.dbi, key, value, &sxt_err), SIMIDX_OK);

	count_walk(&tab, hex, &rows, &bad);
	ck_assert_uint_eq(bad, 1);
	first = record ? end[record - 1] + 1 : 0;
	ck_assert_uint_eq(rows, tab.model.n - (end[record] + 1 - first));

	/* A change for this block; and one for all blocks. */
	list.n = 0;
	t_rows_add(&tab, &list, tab.model.at[end[record]].fp, tab.model.at[end[record]].col,
		   1);
	check_refused(&tab, &list, hex);
	list.n = 0;
	t_add_uniform(&tab, &rng, &list, 1000);
	check_refused(&tab, &list, hex);
	t_rows_free(&list);
	t_tab_close(&tab);
}
END_TEST

static int visit_any(void *ctx, const sx_block_slice *slice, enum sx_next *next,
		     simidx_error *err)
{
	(void)ctx;
	(void)slice;
	(void)next;
	(void)err;
	return SIMIDX_OK;
}

/* A record that is intact but under a key that is not the table's. */
START_TEST(test_wrong_key_is_found)
{
	unsigned char key_bytes[SX_TABLE_MAX_KEY], value_bytes[T_MOST_ENTRIES];
	char hex[2 * SX_TABLE_MAX_KEY + 1];
	sx_sort_key all = { 0, 0 }, last = { UINT64_MAX, UINT64_MAX };
	struct t_rows list = { 0 };
	size_t count, bad, n;
	sx_slice key, value;
	sx_cursor *cursor;
	struct t_tab tab;
	sx_probe probe = { .high = UINT64_MAX };
	sx_table_view view = { .table = &tab.table };
	sx_lookup_task task = { .view = &view, .probe = &probe, .n = 1,
				.first = SX_LOOKUP_SLICES, .visit = visit_any };
	sx_lookup lookup;
	sx_rows rows;
	sxt_rng rng;

	sxt_rng_init(&rng, 1390);
	t_tab_open(&tab, &permuted, _i ? SIMIDX_LAYOUT_ROWS : SIMIDX_LAYOUT_BLOCKS, 90);
	t_add_uniform(&tab, &rng, &list, 5000);
	t_merge(&tab, &list, 0);
	get_record(&tab, 3, key_bytes, &key, value_bytes, &value, hex);
	n = tab.model.n;
	/* Its prefix says something else than its fingerprint; the order stays as it is. */
	ck_assert_sx(sx_dbi_del(tab.txn, tab.table.dbi, key, &sxt_err), SIMIDX_OK);
	key_bytes[key.size - 1] ^= 1;
	key_bytes[6] ^= 0x80; /* a bit of the third block, which leads in this table */
	sprintf(hex, "%02x%02x", key_bytes[0], key_bytes[1]);
	ck_assert_sx(sx_dbi_put(tab.txn, tab.table.dbi, key, value, &sxt_err), SIMIDX_OK);

	count_walk(&tab, hex, &count, &bad);
	ck_assert_uint_eq(bad, 1);
	ck_assert_uint_lt(count, n);
	ck_assert_sx(sx_cursor_open(tab.txn, tab.table.dbi, &cursor, &sxt_err), SIMIDX_OK);
	sx_rows_init(&rows, 0);
	ck_assert_sx(sx_table_range(&tab.table, cursor, all, last, 0, &rows, &sxt_err),
		     SIMIDX_E_CORRUPT);
	sxt_must(!sx_lookup_init(&lookup, tab.store, sx_kernel_best(), 0, 0));
	task.txn = tab.txn;
	sxt_error_clear(&sxt_err);
	ck_assert_sx(sx_lookup_run(&lookup, &task, &sxt_err), SIMIDX_E_CORRUPT);
	ck_assert_ptr_nonnull(strstr(sxt_err.text, hex));
	sx_cursor_close(cursor);
	sx_cursor_close(view.cursor);
	sx_lookup_free(&lookup);
	sx_rows_free(&rows);
	t_rows_free(&list);
	t_tab_close(&tab);
}
END_TEST

/* A row of the rows layout with a value of another size. */
START_TEST(test_wrong_value_is_found)
{
	unsigned char key_bytes[SX_TABLE_MAX_KEY], value_bytes[64] = { 0 };
	char hex[2 * SX_TABLE_MAX_KEY + 1];
	struct t_rows list = { 0 };
	sx_slice key, value;
	struct t_tab tab;
	size_t count, bad;
	sxt_rng rng;

	sxt_rng_init(&rng, 1400);
	t_tab_open(&tab, &numbers, SIMIDX_LAYOUT_ROWS, 90);
	t_add_uniform(&tab, &rng, &list, 1000);
	t_merge(&tab, &list, 0);
	get_record(&tab, 600, key_bytes, &key, value_bytes, &value, hex);
	value.size = _i ? value.size + 1 : value.size - 1;
	ck_assert_sx(sx_dbi_put(tab.txn, tab.table.dbi, key, value, &sxt_err), SIMIDX_OK);
	count_walk(&tab, hex, &count, &bad);
	ck_assert_uint_eq(bad, 1);
	/* At most the piece that it is in is lost. */
	ck_assert_uint_ge(count, 1000 - 256);
	list.n = 0;
	t_rows_add(&tab, &list, tab.model.at[600].key, tab.model.at[600].col, 1);
	check_refused(&tab, &list, hex);
	t_rows_free(&list);
	t_tab_close(&tab);
}
END_TEST

/* One bit of a row's value is wrong: everybody who reads the row says so. */
START_TEST(test_damaged_row_is_found)
{
	unsigned char key_bytes[SX_TABLE_MAX_KEY], value_bytes[64] = { 0 };
	char hex[2 * SX_TABLE_MAX_KEY + 1];
	struct t_rows list = { 0 };
	sx_table_view view = { 0 };
	sx_lookup_task task = { .view = &view, .n = 1, .first = SX_LOOKUP_SLICES,
				.visit = visit_any };
	sx_slice key, value;
	sx_cursor *cursor;
	struct t_tab tab;
	size_t count, bad;
	sx_lookup lookup;
	sx_rows rows;
	sxt_rng rng;

	sxt_rng_init(&rng, 1405);
	t_tab_open(&tab, _i ? &numbers : &pairs, SIMIDX_LAYOUT_ROWS, 90);
	t_add_uniform(&tab, &rng, &list, 1000);
	t_merge(&tab, &list, 0);
	get_record(&tab, 600, key_bytes, &key, value_bytes, &value, hex);
	ck_assert_uint_eq(value.size, _i ? 8 + 4 : 4);
	view.table = &tab.table;
	task.txn = tab.txn;
	task.probe = &(sx_probe){ .low = tab.model.at[600].key, .high = tab.model.at[600].key };
	sxt_must(!sx_lookup_init(&lookup, tab.store, sx_kernel_best(), 0,
					 tab.table.n_cols));
	sx_rows_init(&rows, tab.table.n_cols);
	list.n = 0;
	t_rows_add(&tab, &list, tab.model.at[600].key, tab.model.at[600].col, 1);
	for (size_t bit = 0; bit < 8 * value.size; bit++) {
		sx_sort_key place = { tab.model.at[600].key, _i ? 0 : tab.model.at[600].col[0] };

		value_bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
		ck_assert_sx(sx_dbi_put(tab.txn, tab.table.dbi, key, value, &sxt_err), SIMIDX_OK);
		count_walk(&tab, hex, &count, &bad);
		ck_assert_uint_eq(bad, 1);
		check_refused(&tab, &list, hex);
		ck_assert_sx(sx_cursor_open(tab.txn, tab.table.dbi, &cursor, &sxt_err), SIMIDX_OK);
		sxt_error_clear(&sxt_err);
		ck_assert_sx(sx_table_range(&tab.table, cursor, place, place, 0, &rows, &sxt_err),
			     SIMIDX_E_CORRUPT);
		ck_assert_ptr_nonnull(strstr(sxt_err.text, hex));
		sx_cursor_close(cursor);
		sxt_error_clear(&sxt_err);
		ck_assert_sx(sx_lookup_run(&lookup, &task, &sxt_err), SIMIDX_E_CORRUPT);
		ck_assert_ptr_nonnull(strstr(sxt_err.text, hex));
		sxt_error_clear(&sxt_err);
		sx_cursor_close(view.cursor);
		view.cursor = NULL;
		value_bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
	}
	ck_assert_sx(sx_dbi_put(tab.txn, tab.table.dbi, key, value, &sxt_err), SIMIDX_OK);
	t_check_all(&tab);
	sx_lookup_free(&lookup);
	sx_rows_free(&rows);
	t_rows_free(&list);
	t_tab_close(&tab);
}
END_TEST

/* Put rows [from, from + n) of the model as an intact block under the key of row `fence`. */
static void put_block(struct t_tab *tab, size_t from, size_t n, size_t fence)
{
	unsigned char bytes[SX_TABLE_MAX_KEY], value[T_MOST_ENTRIES];
	sx_sort_key place = { tab->model.at[fence].key, 0 };
	sx_slice key = { bytes, 0 }, data = { value, tab->table.block_size };
	sx_rows rows;
	size_t i;

	sx_rows_init(&rows, tab->table.n_cols);
	for (i = from; i < from + n; i++)
		sxt_must(!sx_rows_push(&rows, tab->model.at[i].key, tab->model.at[i].col));
	sx_block_encode(&rows, 0, n, T_NUMBER, value, tab->table.block_size);
	key.size = sx_table_key(&tab->table, place, bytes);
	ck_assert_sx(sx_dbi_put(tab->txn, tab->table.dbi, key, data, &sxt_err), SIMIDX_OK);
	sx_rows_free(&rows);
}

/* Blocks that are intact one by one, but do not follow each other as they must. */
START_TEST(test_wrong_order_is_found)
{
	struct t_rows list = { 0 };
	struct t_tab tab;
	size_t count, bad;
	sxt_rng rng;

	sxt_rng_init(&rng, 1410);
	t_tab_open(&tab, &permuted, SIMIDX_LAYOUT_BLOCKS, 90);
	t_add_uniform(&tab, &rng, &list, 1000);
	tab.model = list;
	put_block(&tab, 0, 100, 99);
	switch (_i) {
	case 0: /* as it should be, once with a fence */
		put_block(&tab, 100, 100, 220);
		put_block(&tab, 300, 100, 399);
		break;
	case 1: /* an entry lies behind the key */
		put_block(&tab, 100, 100, 198);
		put_block(&tab, 300, 100, 399);
		break;
	case 2: /* an entry is in two blocks */
		put_block(&tab, 99, 100, 199);
		put_block(&tab, 300, 100, 399);
		break;
	default: /* a fence passes the next block's first entry: it would not be found */
		put_block(&tab, 100, 100, 310);
		put_block(&tab, 300, 100, 399);
	}
	count_walk(&tab, "", &count, &bad);
	ck_assert_uint_eq(bad, _i > 0);
	ck_assert_uint_eq(count, _i ? 200 : 300);
	t_tab_close(&tab);
}
END_TEST

/*
 * Two intact blocks that have changed places, as by a misdirected write: a checksum says nothing of
 * where a block belongs. The merge would write rows of the one as if they followed those before the
 * other, with a checksum of its own.
 */
START_TEST(test_swapped_blocks_are_not_merged)
{
	static const struct t_kind *const kinds[] = { &permuted, &pairs, &numbers };
	unsigned char key_bytes[2][SX_TABLE_MAX_KEY], value_bytes[2][T_MOST_ENTRIES];
	char hex[2][2 * SX_TABLE_MAX_KEY + 1];
	unsigned rounds = sxt_is_long() ? 1000 : 60;
	size_t end[200], n, rows, bad;
	struct t_rows list = { 0 };
	struct t_tab tab;
	sxt_rng rng;

	sxt_rng_init(&rng, 1420 + (uint64_t)_i);
	t_tab_open(&tab, kinds[_i], SIMIDX_LAYOUT_BLOCKS, 90);
	t_add_uniform(&tab, &rng, &list, 10000);
	t_merge(&tab, &list, 0);
	t_tab_commit(&tab);
	n = t_block_ends(&tab, end, 200);
	ck_assert_uint_gt(n, 10);
	for (unsigned i = 0; i < rounds; i++) {
		size_t a = sxt_rng_below(&rng, n), b = (a + 1 + sxt_rng_below(&rng, n - 1)) % n;
		sx_slice key[2], value[2];

		get_record(&tab, a, key_bytes[0], &key[0], value_bytes[0], &value[0], hex[0]);
		get_record(&tab, b, key_bytes[1], &key[1], value_bytes[1], &value[1], hex[1]);
		for (int j = 0; j < 2; j++)
			ck_assert_sx(sx_dbi_put(tab.txn, tab.table.dbi, key[j], value[!j],
						&sxt_err),
				     SIMIDX_OK);
		count_walk(&tab, "", &rows, &bad);
		ck_assert_uint_ge(bad, 2);

		/* One row for one of the two; and rows for nearly all blocks. */
		list.n = 0;
		t_rows_add(&tab, &list, tab.model.at[end[i % 2 ? a : b]].fp ^ 1,
			   tab.model.at[end[i % 2 ? a : b]].col, 0);
		if (t_row_cmp(&list.at[0], &tab.model.at[end[i % 2 ? a : b]]) < 0)
			check_refused(&tab, &list, hex[i % 2 ? 0 : 1]);
		list.n = 0;
		t_add_uniform(&tab, &rng, &list, 1 + sxt_rng_below(&rng, 2000));
		t_rows_add(&tab, &list, tab.model.at[end[a]].fp, tab.model.at[end[a]].col, 1);
		t_rows_sort(&list);
		check_refused(&tab, &list, "");
		t_tab_abort(&tab);
	}
	t_check_all(&tab);
	t_rows_free(&list);
	t_tab_close(&tab);
}
END_TEST

/*
 * Blocks and rows that another table has written, intact and in the place where they would stand
 * here, too: only the number of the table is another one.
 */
START_TEST(test_blocks_of_another_table_are_found)
{
	static const struct t_kind *const kinds[] = { &pairs, &numbers, &permuted };
	sx_sort_key all = { 0, 0 }, last = { UINT64_MAX, UINT64_MAX };
	sx_probe probe = { .high = UINT64_MAX };
	sx_table_view view = { 0 };
	sx_lookup_task task = { .view = &view, .probe = &probe, .n = 1,
				.first = SX_LOOKUP_SLICES, .visit = visit_any };
	struct t_rows list = { 0 };
	size_t rows, bad;
	sx_lookup lookup;
	sx_cursor *cursor;
	struct t_tab tab;
	sx_rows found;
	sxt_rng rng;

	sxt_rng_init(&rng, 1440 + (uint64_t)_i);
	t_tab_open(&tab, kinds[_i / 2], _i % 2 ? SIMIDX_LAYOUT_ROWS : SIMIDX_LAYOUT_BLOCKS, 90);
	t_add_uniform(&tab, &rng, &list, 2000);
	t_merge(&tab, &list, 0);
	for (unsigned other = 0; other < 3; other++) {
		int rc = other ? SIMIDX_E_CORRUPT : SIMIDX_OK;

		/* One more, or what stands in another byte of the checksum. */
		tab.table.number = T_NUMBER + (other == 2 ? 256 : other);
		count_walk(&tab, "", &rows, &bad);
		ck_assert_uint_eq(rows, other ? 0 : tab.model.n);
		ck_assert_int_eq(bad > 0, other > 0);
		ck_assert_sx(sx_cursor_open(tab.txn, tab.table.dbi, &cursor, &sxt_err), SIMIDX_OK);
		sx_rows_init(&found, tab.table.n_cols);
		ck_assert_sx(sx_table_range(&tab.table, cursor, all, last, 0, &found, &sxt_err),
			     rc);
		sx_rows_free(&found);
		sx_cursor_close(cursor);
		view = (sx_table_view){ .table = &tab.table };
		task.txn = tab.txn;
		sxt_must(!sx_lookup_init(&lookup, tab.store, sx_kernel_best(), 1,
					 tab.table.n_cols));
		ck_assert_sx(sx_lookup_run(&lookup, &task, &sxt_err), rc);
		sx_cursor_close(view.cursor);
		sx_lookup_free(&lookup);
		list.n = 0;
		t_rows_add(&tab, &list, tab.model.at[600].key, tab.model.at[600].col, 1);
		if (other)
			check_refused(&tab, &list, "");
	}
	tab.table.number = T_NUMBER;
	t_check_all(&tab);
	t_rows_free(&list);
	t_tab_close(&tab);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_damaged_block_is_found, 0, 9 },
	{ &test_wrong_key_is_found, 0, 2 },
	{ &test_wrong_value_is_found, 0, 2 },
	{ &test_damaged_row_is_found, 0, 2 },
	{ &test_wrong_order_is_found, 0, 4 },
	{ &test_swapped_blocks_are_not_merged, 0, 3 },
	/* Rows of a permuted table have no checksum. */
	{ &test_blocks_of_another_table_are_found, 0, 5 },
};

SXT_SUITE(table_damage, NULL, NULL);
