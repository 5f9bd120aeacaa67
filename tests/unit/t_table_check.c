/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Comparing a table with its model.
 */

#include "t_fast.h"
#include "t_table.h"

static void check_row(const struct t_tab *tab, const sx_rows *rows, size_t i,
		      const struct t_row *row)
{
	unsigned c;

	t_must_eq(rows->key[i], row->key);
	for (c = 0; c < tab->table.n_cols; c++)
		t_must_eq(rows->col[c][i], row->col[c]);
}

/* All rows, in pieces, from the first one or from a place on. */
static void check_walk(struct t_tab *tab, const struct t_row *from)
{
	sx_place place = { from ? from->key : 0, from ? from->ord : 0 };
	size_t at = 0, i;
	sx_table_walk walk;
	int rc;

	while (from && at < tab->model.n && t_row_cmp(&tab->model.at[at], from) < 0)
		at++;
	ck_assert_sx(sx_table_walk_begin(&walk, tab->txn, &tab->table, 1, from ? &place : NULL,
					 &sxt_err),
		     SIMIDX_OK);
	sxt_error_clear(&sxt_err);
	while (!(rc = sx_table_walk_next(&walk, &sxt_err))) {
		t_must(walk.rows.n >= 1);
		for (i = 0; i < walk.rows.n; i++) {
			sx_place here = sx_place_of(&tab->table, &walk.rows, i);

			/* The first piece may begin before the place, but not end there. */
			if (from && sx_place_cmp(here, place) < 0)
				continue;
			t_must(at < tab->model.n);
			check_row(tab, &walk.rows, i, &tab->model.at[at++]);
		}
	}
	ck_assert_int_eq(rc, SIMIDX_E_END);
	ck_assert_int_eq(sxt_err.code, SIMIDX_OK);
	ck_assert_int_eq(walk.stuck, 0);
	ck_assert_uint_eq(at, tab->model.n);
	sx_table_walk_end(&walk);
}

/* A block's record: the model's next rows, under a key that parts them from those behind. */
static size_t check_block(const struct t_tab *tab, sx_slice key, sx_slice value, size_t at,
			  struct t_entry *entries, uint64_t *used)
{
	unsigned char bytes[SX_TABLE_MAX_KEY];
	size_t n, bytes_used, size, i;
	unsigned c;

	t_must_eq(value.size, tab->table.block_size);
	n = t_block_read(value.data, value.size, tab->table.n_cols, entries, &bytes_used);
	t_must(at + n <= tab->model.n);
	for (i = 0; i < n; i++) {
		t_must_eq(entries[i].key, tab->model.at[at + i].key);
		for (c = 0; c < tab->table.n_cols; c++)
			t_must_eq(entries[i].col[c], tab->model.at[at + i].col[c]);
	}
	size = t_row_key(tab, &tab->model.at[at + n - 1], bytes);
	t_must_eq(key.size, size);
	t_must(memcmp(key.data, bytes, size) >= 0);
	if (at + n < tab->model.n) {
		t_row_key(tab, &tab->model.at[at + n], bytes);
		t_must(memcmp(key.data, bytes, size) < 0);
	}
	*used += bytes_used;
	return n;
}

static void check_record(const struct t_tab *tab, sx_slice key, sx_slice value, size_t at)
{
	unsigned first = tab->table.kind == SX_TABLE_PAIRS, c;
	unsigned char bytes[SX_TABLE_MAX_KEY];
	const struct t_row *row;

	t_must(at < tab->model.n);
	row = &tab->model.at[at];
	t_must_eq(key.size, t_row_key(tab, row, bytes));
	t_must(!memcmp(key.data, bytes, key.size));
	t_must_eq(value.size, 8 * (tab->table.n_cols - first));
	for (c = first; c < tab->table.n_cols; c++)
		t_must_eq(t_le((const unsigned char *)value.data + 8 * (c - first), 8),
			  row->col[c]);
}

/* The records as they lie in the store. */
static void check_records(struct t_tab *tab, uint64_t *blocks, uint64_t *used)
{
	struct t_entry *entries = malloc(T_MOST_ENTRIES * sizeof(*entries));
	sx_slice key, value;
	sx_cursor *cursor;
	sx_dbi_stat stat;
	size_t at = 0;
	int rc;

	*blocks = *used = 0;
	ck_assert_sx(sx_cursor_open(tab->txn, tab->table.dbi, &cursor, &sxt_err), SIMIDX_OK);
	for (rc = sx_cursor_first(cursor, &key, &value, &sxt_err); !rc;
	     rc = sx_cursor_next(cursor, &key, &value, &sxt_err)) {
		++*blocks;
		if (tab->table.layout == SIMIDX_LAYOUT_BLOCKS)
			at += check_block(tab, key, value, at, entries, used);
		else
			check_record(tab, key, value, at++);
	}
	ck_assert_int_eq(rc, SIMIDX_E_END);
	sx_cursor_close(cursor);
	ck_assert_uint_eq(at, tab->model.n);
	ck_assert_sx(sx_dbi_stat_get(tab->txn, tab->table.dbi, &stat, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(stat.keys, *blocks);
	if (tab->table.layout == SIMIDX_LAYOUT_BLOCKS)
		ck_assert_uint_eq(stat.overflow_pages, stat.keys);
	else
		ck_assert_uint_eq(stat.overflow_pages, 0);
	free(entries);
}

void t_check_all(struct t_tab *tab)
{
	uint64_t blocks, used, digest = 0;
	size_t i;

	for (i = 0; i < tab->model.n; i++)
		digest += t_row_hash(tab, &tab->model.at[i]);
	ck_assert_uint_eq(tab->digest, digest);
	ck_assert_int_eq(tab->rows, (int64_t)tab->model.n);
	check_records(tab, &blocks, &used);
	check_walk(tab, NULL);
}

void t_usage(struct t_tab *tab, uint64_t *blocks, uint64_t *used)
{
	check_records(tab, blocks, used);
}

double t_fill_of(struct t_tab *tab)
{
	uint64_t blocks, used;

	check_records(tab, &blocks, &used);
	return (double)used / (double)(blocks * tab->table.block_size);
}

/* A place near some row of the model, or anywhere. */
static struct t_row random_place(const struct t_tab *tab, sxt_rng *rng)
{
	unsigned bits = tab->table.perm ? tab->table.perm->bits : 64;
	uint64_t most = UINT64_MAX >> (64 - bits);
	int pairs = tab->table.kind == SX_TABLE_PAIRS;
	struct t_row place = { 0 };

	if (tab->model.n && sxt_rng_below(rng, 8))
		place = tab->model.at[sxt_rng_below(rng, tab->model.n)];
	else if (sxt_rng_below(rng, 2))
		place.key = sxt_rng_u64(rng) & most;
	switch (sxt_rng_below(rng, 8)) {
	case 0:
		place.key -= place.key > 0;
		break;
	case 1:
		place.key += place.key < most;
		break;
	case 2:
		place.ord += pairs;
		break;
	case 3:
		place.ord -= pairs;
		break;
	case 4:
		place.ord = pairs ? UINT64_MAX : 0;
		break;
	case 5:
		place.ord = 0;
		break;
	case 6:
		place.key = sxt_rng_below(rng, 2) ? most : 0;
		break;
	default:
		break;
	}
	return place;
}

static void check_range(struct t_tab *tab, sx_cursor *cursor, const struct t_row *low,
			const struct t_row *high, uint64_t limit)
{
	sx_place from = { low->key, low->ord }, to = { high->key, high->ord };
	uint64_t none[SX_MAX_COLS] = { 0 }, want = 0;
	sx_rows rows;
	size_t i;

	sx_rows_init(&rows, tab->table.n_cols);
	t_must(!sx_rows_push(&rows, 1, none)); /* what was there stays, and does not count */
	ck_assert_sx(sx_table_range(&tab->table, cursor, from, to, limit, &rows, &sxt_err),
		     SIMIDX_OK);
	for (i = 0; i < tab->model.n && (!limit || want < limit); i++) {
		const struct t_row *row = &tab->model.at[i];

		if (t_row_cmp(row, low) < 0 || t_row_cmp(row, high) > 0)
			continue;
		want++;
		t_must(want < rows.n);
		check_row(tab, &rows, want, row);
	}
	t_must_eq(rows.n, want + 1);
	sx_rows_free(&rows);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* At once, and with pauses. */
static void check_near(struct t_tab *tab, sx_cursor *cursor, uint64_t low, uint64_t high,
		       uint64_t query, unsigned k, uint64_t pause, sx_found *found)
{
	uint64_t candidates = 0, before = found->candidates;
	size_t i, seen = 0;
	sx_spot spot = { .table = &tab->table, .cursor = cursor, .low = low };

	found->keys.n = 0;
	found->pause = before + pause;
	ck_assert_sx(sx_table_find(&spot, 1, &sxt_err), SIMIDX_OK);
	sx_table_fetch(&spot, high);
	ck_assert_sx(sx_table_near(&spot, high, query, k, found, &sxt_err), SIMIDX_OK);
	while (found->is_paused) {
		ck_assert_uint_ge(found->candidates, found->pause);
		found->pause += pause;
		spot.low = found->next;
		ck_assert_sx(sx_table_find(&spot, 1, &sxt_err), SIMIDX_OK);
		ck_assert_sx(sx_table_near(&spot, high, query, k, found, &sxt_err), SIMIDX_OK);
	}
	if (found->keys.n)
		qsort(found->keys.at, found->keys.n, sizeof(uint64_t), by_value);
	for (i = 0; i < tab->model.n; i++) {
		uint64_t key = tab->model.at[i].key;

		if (key < low || key > high)
			continue;
		candidates++;
		if ((unsigned)__builtin_popcountll(key ^ query) > k)
			continue;
		t_must(seen < found->keys.n);
		t_must_eq(found->keys.at[seen], key);
		seen++;
	}
	t_must_eq(found->keys.n, seen);
	t_must_eq(found->candidates - before, candidates);
}

/* A probe: the range of the query's prefix; and any range. */
static void check_probes(struct t_tab *tab, sxt_rng *rng, sx_cursor *cursor, sx_found *found)
{
	const sx_perm *perm = tab->table.perm;
	struct t_row a = random_place(tab, rng), b = random_place(tab, rng);
	uint64_t rest = (UINT64_C(1) << (perm->bits - perm->prefix_bits)) - 1;
	unsigned k = (unsigned)sxt_rng_below(rng, 5), flips = (unsigned)sxt_rng_below(rng, 4);
	uint64_t query = sxt_rng_flip(rng, a.key, perm->bits, flips);

	check_near(tab, cursor, query & ~rest, query | rest, query, k, UINT32_MAX, found);
	if (a.key <= b.key) {
		check_near(tab, cursor, a.key, b.key, query, k, UINT32_MAX, found);
		check_near(tab, cursor, a.key, b.key, query, k, 1 + sxt_rng_below(rng, 3000), found);
	}
	check_near(tab, cursor, a.key, a.key, query, k, 1, found);
}

void t_check_ranges(struct t_tab *tab, sxt_rng *rng, unsigned n)
{
	struct t_row low = { 0 }, high = { .key = UINT64_MAX };
	sx_cursor *cursor;
	sx_found found;
	unsigned i;

	if (tab->table.perm)
		high.key >>= 64 - tab->table.perm->bits;
	high.ord = tab->table.kind == SX_TABLE_PAIRS ? UINT64_MAX : 0;
	t_must(!sx_found_init(&found, sx_kernel_best()));
	ck_assert_sx(sx_cursor_open(tab->txn, tab->table.dbi, &cursor, &sxt_err), SIMIDX_OK);
	check_range(tab, cursor, &low, &high, 0);
	for (i = 0; i < n; i++) {
		low = random_place(tab, rng);
		high = sxt_rng_below(rng, 4) ? random_place(tab, rng) : low;
		check_range(tab, cursor, &low, &high, 0);
		check_range(tab, cursor, &low, &high, 1 + sxt_rng_below(rng, 1000));
		if (tab->table.perm)
			check_probes(tab, rng, cursor, &found);
		if (i < 3)
			check_walk(tab, &low);
	}
	sx_cursor_close(cursor);
	sx_found_free(&found);
}

size_t t_block_ends(struct t_tab *tab, size_t *end, size_t most)
{
	sx_table_walk walk;
	size_t n = 0, at = 0;

	ck_assert_sx(sx_table_walk_begin(&walk, tab->txn, &tab->table, 1, NULL, &sxt_err),
		     SIMIDX_OK);
	while (!sx_table_walk_next(&walk, &sxt_err) && n < most) {
		at += walk.rows.n;
		end[n++] = at - 1;
	}
	sx_table_walk_end(&walk);
	return n;
}
