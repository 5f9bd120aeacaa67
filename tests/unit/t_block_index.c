/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Directories and look-ups through them against the model of the table; damaged tables.
 */

#include <stdlib.h>

#include "block/sx_block_search.h"
#include "t_fast.h"
#include "t_table.h"
#include "table/sx_lookup.h"

Suite *suite_block_index(void);

enum data { UNIFORM, SKEWED, DENSE, RUNS, FEW, NOTHING, N_DATA };

static const struct t_kind kinds[] = {
	{ "64", SX_TABLE_PERMUTED, 0, "4x16", 64, 0 },
	{ "48", SX_TABLE_PERMUTED, 0, "4x16", 48, 2 },
	{ "33", SX_TABLE_PERMUTED, 0, "10x26", 33, 7 },
	{ "17", SX_TABLE_PERMUTED, 0, "3x22", 17, 1 },
	{ "16", SX_TABLE_PERMUTED, 0, "4x16", 16, 3 },
	{ "pairs", SX_TABLE_PAIRS, 1, NULL, 0, 0 },
	{ "fp2", SX_TABLE_PAIRS, 2, NULL, 0, 0 },
};

#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

static uint64_t mask_of(const struct t_tab *tab)
{
	return tab->table.perm ? UINT64_MAX >> (64 - tab->plan.bits) : UINT64_MAX;
}

static uint64_t make_fp(const struct t_tab *tab, sxt_rng *rng, enum data data, size_t i)
{
	uint64_t x = sxt_rng_u64(rng) & mask_of(tab);

	switch (data) {
	case SKEWED: /* most of it in a thousandth of the space, some anywhere */
		return i % 8 ? x >> 10 : x;
	case DENSE:
		return i & mask_of(tab);
	case RUNS:
		return i % 4 ? (x & 3) * 12345 & mask_of(tab) : x;
	default:
		return x;
	}
}

/* The ends of the space are there too. */
static void fill(struct t_tab *tab, sxt_rng *rng, enum data data)
{
	size_t n = data == FEW ? 20 : data == NOTHING ? 0 : 20000;
	struct t_rows list = { 0 };

	for (size_t i = 0; i < n; i++) {
		uint64_t cols[5] = { i, sxt_rng_u64(rng), 0, 0, 0 };
		uint64_t fp = make_fp(tab, rng, data, i);

		if (i < 2)
			fp = i ? mask_of(tab) : 0;
		t_rows_add(tab, &list, fp, cols, 0);
	}
	t_rows_sort(&list);
	if (n)
		t_merge(tab, &list, 0);
	t_rows_free(&list);
	t_tab_commit(tab);
}

/* ------------------------------------------------------------------------------------------
 * A block index and a snapshot
 */

struct view {
	sx_txn *txn;
	sx_block_index *blocks;
};

static void view_open(struct t_tab *tab, struct view *view)
{
	ck_assert_sx(sx_txn_begin_read(tab->store, &view->txn, &sxt_err), SIMIDX_OK);
	ck_assert_sx(sx_block_index_make(&tab->table, view->txn, tab->model.n, &view->blocks,
				       &sxt_err),
		     SIMIDX_OK);
}

static void view_close(struct view *view)
{
	sx_block_index_free(view->blocks);
	sx_txn_abort(view->txn);
}

/* All blocks are entered with their keys and places. */
static void check_entries(struct t_tab *tab, const struct view *view)
{
	const sx_block_index *d = view->blocks;
	sx_slice key, value;
	sx_cursor *cursor;
	size_t i = 0;
	int rc;

	ck_assert_sx(sx_cursor_open(view->txn, tab->table.dbi, &cursor, &sxt_err), SIMIDX_OK);
	for (rc = sx_cursor_first(cursor, &key, &value, &sxt_err); !rc;
	     rc = sx_cursor_next(cursor, &key, &value, &sxt_err), i++) {
		sx_place place;

		t_must(i < d->n);
		t_must(!sx_table_place(&tab->table, key, &place));
		t_must_eq(d->entry[i].last, place.key);
		t_must(sx_block_index_block(d, i) == value.data);
	}
	ck_assert_int_eq(rc, SIMIDX_E_END);
	ck_assert_uint_eq(i, d->n);
	/* What an offset says beforehand is what its entry says. */
	for (size_t s = 0; d->n && s <= d->max >> d->shift; s++)
		t_must_eq((uint64_t)d->slot[s].page, (uint64_t)d->entry[d->slot[s].first].page);
	ck_assert_uint_le(d->bytes, sx_block_index_size(i));
	sx_cursor_close(cursor);
}

static void check_find(const sx_block_index *d, uint64_t key)
{
	size_t want = 0;

	while (want < d->n && d->entry[want].last < key)
		want++;
	sx_block_index_hint(d, key);
	t_must_eq(sx_block_index_find(d, key), want);
}

static uint64_t any_key(const struct t_tab *tab, sxt_rng *rng)
{
	uint64_t key = sxt_rng_u64(rng) & mask_of(tab);

	switch (sxt_rng_below(rng, 6)) {
	case 0:
		return key;
	case 1:
		return 0;
	case 2:
		return mask_of(tab);
	case 3:
		return key >> sxt_rng_below(rng, 60);
	default:
		if (tab->model.n)
			key = tab->model.at[sxt_rng_below(rng, tab->model.n)].key;
		return (key + sxt_rng_below(rng, 3) - 1) & mask_of(tab);
	}
}

/* ------------------------------------------------------------------------------------------
 * Look-ups
 */

#define MOST_RANGES 300

static void any_range(const struct t_tab *tab, sxt_rng *rng, sx_range *range)
{
	uint64_t a = any_key(tab, rng), b = any_key(tab, rng);

	if (sxt_rng_below(rng, 8)) {
		b = a + (sxt_rng_below(rng, 2) ? sxt_rng_u64(rng) >> (20 + sxt_rng_below(rng, 40))
					       : 0);
		if (b > mask_of(tab) || b < a)
			b = a;
	}
	range->low = a < b ? a : b;
	range->high = a < b ? b : a;
}

/* Row number i of the model is the next one of a range. */
static void check_piece(const struct t_tab *tab, const sx_piece *p, size_t *i)
{
	sx_block block;
	sx_rows rows;
	size_t n = (size_t)(p->to - p->from);

	if (p->to <= p->from)
		return;
	sx_rows_init(&rows, tab->table.n_cols);
	t_must(!sx_block_open(&block, p->value, tab->table.block_size, tab->table.n_cols));
	t_must(p->to <= block.n);
	t_must(!sx_rows_reserve(&rows, n));
	t_must(!sx_block_decode(&block, p->from, n, &rows));
	for (size_t j = 0; j < n; j++, ++*i) {
		t_must(*i < tab->model.n);
		t_must_eq(rows.key[j], tab->model.at[*i].key);
		for (unsigned c = 0; c < tab->table.n_cols; c++)
			t_must_eq(rows.col[c][j], tab->model.at[*i].col[c]);
	}
	sx_rows_free(&rows);
}

/* The first row of the model at or behind a key. */
static size_t row_at(const struct t_tab *tab, uint64_t key)
{
	size_t from = 0, to = tab->model.n;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (tab->model.at[middle].key < key)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

static size_t row_behind(const struct t_tab *tab, uint64_t key)
{
	return key == UINT64_MAX ? tab->model.n : row_at(tab, key + 1);
}

/*
 * The pieces of all ranges, one after another, hold exactly their rows, however many are found at
 * first; of a range that is left, as some are if there is an rng, the first rows.
 */
static void check_lookup(const struct t_tab *tab, const sx_range *range, size_t n, size_t first,
			 sxt_rng *rng)
{
	static sx_lookup l;
	size_t at = 0, i = n ? row_at(tab, range[0].low) : 0, left = SIZE_MAX;
	uint64_t pieces = 0;

	sx_lookup_begin(&l, range, n, first);
	for (sx_lookup_find(&l); l.n; sx_lookup_find(&l)) {
		size_t begun = at;

		t_must(l.n <= SX_LOOKUP_PIECES);
		pieces += l.n;
		ck_assert_sx(sx_lookup_locate_exactly(&l, sx_kernel_best(), &sxt_err), SIMIDX_OK);
		for (size_t j = 0; j < l.n; j++) {
			t_must(l.piece[j].range >= at && l.piece[j].range < n);
			t_must(l.piece[j].range != left);
			t_must(l.piece[j].range == begun || j < first ||
			       l.piece[j - first].range != l.piece[j].range);
			while (at < l.piece[j].range) {
				t_must(at == left || i == row_behind(tab, range[at].high));
				i = row_at(tab, range[++at].low);
			}
			check_piece(tab, &l.piece[j], &i);
		}
		if (rng && sxt_rng_below(rng, 2)) {
			left = l.block == SIZE_MAX ? left : l.next;
			sx_lookup_leave(&l);
		}
	}
	for (; at < n; at++) {
		t_must(at == left || i == row_behind(tab, range[at].high));
		i = at + 1 < n ? row_at(tab, range[at + 1].low) : 0;
	}
	t_must_eq(pieces, l.blocks);
}

/* What a piece that is not exact must have, and may. */
static void check_rough(const struct t_tab *tab, int even, const sx_piece *rough,
			const sx_piece *exact)
{
	sx_block block;
	size_t n = (size_t)(exact->to - exact->from), most;

	t_must(!sx_block_open(&block, rough->value, tab->table.block_size, tab->table.n_cols));
	t_must(rough->from <= rough->to && rough->to <= block.n);
	if (n)
		t_must(rough->from <= exact->from && rough->to >= exact->to);
	/* Of keys that are spread evenly few more: two parts, and what these are larger by. */
	most = n + 2 * block.n / SX_SAMPLES_PARTS + 50;
	if (even)
		t_must((size_t)(rough->to - rough->from) <= most);
}

/* The keys of a range that are near a query are those of its rows. */
static void check_near(const struct t_tab *tab, const sx_lookup *l, size_t i, uint64_t query,
		       unsigned k)
{
	static uint64_t hits[SX_MAX_BLOCK_ROWS];
	static uint16_t entry[SX_MAX_BLOCK_ROWS];
	const sx_piece *p = &l->piece[i];
	const sx_range *r = &l->range[p->range];
	size_t n = 0, found = 0;
	sx_block block;

	if (p->to > p->from)
		found = sx_lookup_near(l, p, sx_kernel_best(), (size_t)(p->to - p->from), query, k,
				       hits, entry);
	t_must(!sx_block_open(&block, p->value, tab->table.block_size, tab->table.n_cols));
	for (size_t e = 0; e < block.n; e++) {
		uint64_t key = sx_block_key(&block, e);

		if (key < r->low || key > r->high || (unsigned)__builtin_popcountll(key ^ query) > k)
			continue;
		t_must(n < found);
		t_must_eq(hits[n++], key);
	}
	t_must_eq(n, found);
}

/* Pieces as searches see them, beside the exact ones. */
static void check_rough_lookup(const struct t_tab *tab, const sx_range *range, size_t n,
			       int even, sxt_rng *rng)
{
	static sx_lookup rough, exact;

	sx_lookup_begin(&rough, range, n, SX_LOOKUP_PIECES);
	sx_lookup_begin(&exact, range, n, SX_LOOKUP_PIECES);
	for (sx_lookup_find(&rough); rough.n; sx_lookup_find(&rough)) {
		sx_lookup_find(&exact);
		t_must_eq(rough.n, exact.n);
		ck_assert_sx(sx_lookup_locate(&rough, sx_kernel_best(), &sxt_err), SIMIDX_OK);
		ck_assert_sx(sx_lookup_locate_exactly(&exact, sx_kernel_best(), &sxt_err),
			     SIMIDX_OK);
		for (size_t i = 0; i < rough.n; i++) {
			const sx_range *r = &range[rough.piece[i].range];

			check_rough(tab, even, &rough.piece[i], &exact.piece[i]);
			if (i < 20)
				check_near(tab, &rough, i,
					   sxt_rng_below(rng, 2) ? r->low : any_key(tab, rng),
					   (unsigned)sxt_rng_below(rng, 20));
		}
	}
}

static void check_lookups(const struct t_tab *tab, const struct view *view, int even,
			  sxt_rng *rng)
{
	static const size_t sizes[] = { 0, 1, 2, 31, 32, 33, 63, 64, 65, MOST_RANGES };
	static sx_range range[MOST_RANGES];

	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
		for (size_t i = 0; i < sizes[s]; i++) {
			range[i].blocks = view->blocks;
			any_range(tab, rng, &range[i]);
		}
		/* First as the first reader, which makes the rank samples; then as all others. */
		check_lookup(tab, range, sizes[s], SX_LOOKUP_PIECES, NULL);
		check_rough_lookup(tab, range, sizes[s], even, rng);
		check_lookup(tab, range, sizes[s], 1 + sxt_rng_below(rng, 3), NULL);
		check_lookup(tab, range, sizes[s], 1 + sxt_rng_below(rng, 3), rng);
	}
	range[0].low = 0;
	range[0].high = mask_of(tab);
	check_lookup(tab, range, 1, SX_LOOKUP_PIECES, NULL);
}

/* What it says of a range is right but for the blocks at both ends, where blocks are alike. */
static void check_count(const struct t_tab *tab, const sx_block_index *d, sxt_rng *rng,
			enum data data)
{
	uint64_t in_block = d->n ? tab->model.n / d->n + 1 : 0;
	sx_range r;

	for (unsigned i = 0; i < 200; i++) {
		uint64_t count, want;

		any_range(tab, rng, &r);
		count = sx_block_index_count(d, r.low, r.high);
		want = row_behind(tab, r.high) - row_at(tab, r.low);
		t_must(count <= tab->model.n);
		t_must(sx_block_index_count(d, 0, r.high) >= sx_block_index_count(d, 0, r.low));
		if (data == UNIFORM && tab->table.perm && tab->plan.bits > 20)
			t_must(count <= want + want / 5 + 2 * in_block &&
			       want <= count + want / 5 + 2 * in_block);
	}
	t_must_eq(sx_block_index_count(d, 0, mask_of(tab)), tab->model.n);
}

START_TEST(against_the_table)
{
	enum data data = (enum data)(_i % N_DATA);
	struct t_tab tab;
	struct view view;
	sxt_rng rng;

	sxt_rng_init(&rng, 5100 + (uint64_t)_i);
	t_tab_open(&tab, &kinds[_i / N_DATA], SIMIDX_LAYOUT_BLOCKS, 90);
	fill(&tab, &rng, data);
	view_open(&tab, &view);
	check_entries(&tab, &view);
	for (unsigned i = 0; i < 500; i++)
		check_find(view.blocks, any_key(&tab, &rng));
	check_lookups(&tab, &view, data == UNIFORM && (!tab.table.perm || tab.plan.bits > 20),
		      &rng);
	check_count(&tab, view.blocks, &rng, data);
	view_close(&view);
	t_tab_close(&tab);
}
END_TEST

/* After removals the keys of blocks are fences, behind their last rows. */
START_TEST(fences)
{
	struct t_rows list = { 0 };
	struct t_tab tab;
	struct view view;
	sxt_rng rng;

	sxt_rng_init(&rng, 5200 + (uint64_t)_i);
	t_tab_open(&tab, &kinds[_i], SIMIDX_LAYOUT_BLOCKS, 90);
	fill(&tab, &rng, _i % 2 ? RUNS : UNIFORM);
	for (size_t i = 0; i < tab.model.n; i++)
		if (sxt_rng_below(&rng, 4))
			t_rows_add(&tab, &list,
				   tab.table.perm ? tab.model.at[i].fp : tab.model.at[i].key,
				   tab.model.at[i].col, 1);
	t_rows_sort(&list);
	t_merge(&tab, &list, 0);
	t_tab_commit(&tab);
	view_open(&tab, &view);
	check_entries(&tab, &view);
	check_lookups(&tab, &view, 0, &rng);
	t_rows_free(&list);
	view_close(&view);
	t_tab_close(&tab);
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * Damage
 */

/* A copy of record number i. */
static void get_record(struct t_tab *tab, size_t i, unsigned char *key_bytes, sx_slice *key,
		       unsigned char *bytes, sx_slice *value)
{
	sx_cursor *cursor;
	int rc;

	ck_assert_sx(sx_cursor_open(tab->txn, tab->table.dbi, &cursor, &sxt_err), SIMIDX_OK);
	rc = sx_cursor_first(cursor, key, value, &sxt_err);
	while (!rc && i--)
		rc = sx_cursor_next(cursor, key, value, &sxt_err);
	ck_assert_int_eq(rc, SIMIDX_OK);
	memcpy(key_bytes, key->data, key->size);
	memcpy(bytes, value->data, value->size);
	key->data = key_bytes;
	value->data = bytes;
	sx_cursor_close(cursor);
}

static size_t blocks_of(struct t_tab *tab)
{
	uint64_t blocks, used;

	t_usage(tab, &blocks, &used);
	return (size_t)blocks;
}

/* Values of another size, keys that are none: no block index. */
START_TEST(refused)
{
	unsigned char key_bytes[SX_TABLE_MAX_KEY + 1], bytes[T_MOST_ENTRIES];
	sx_block_index *blocks;
	sx_slice key, value;
	struct t_tab tab;
	sx_txn *txn;
	sxt_rng rng;

	sxt_rng_init(&rng, 5300);
	t_tab_open(&tab, &kinds[0], SIMIDX_LAYOUT_BLOCKS, 90);
	fill(&tab, &rng, UNIFORM);
	get_record(&tab, blocks_of(&tab) / 2, key_bytes, &key, bytes, &value);
	switch (_i) {
	case 0:
		value.size--;
		break;
	case 1:
		value.size = 10; /* LMDB keeps it among the keys */
		break;
	case 2:
		key.size--;
		break;
	default: /* below the one before it by its value, behind it by its first bytes */
		ck_assert_sx(sx_dbi_del(tab.txn, tab.table.dbi, key, &sxt_err), SIMIDX_OK);
		key_bytes[key.size - 1] ^= 1;
		key_bytes[6] ^= 0x80;
		key_bytes[2] ^= 0x80;
	}
	ck_assert_sx(sx_dbi_put(tab.txn, tab.table.dbi, key, value, &sxt_err), SIMIDX_OK);
	t_tab_commit(&tab);
	ck_assert_sx(sx_txn_begin_read(tab.store, &txn, &sxt_err), SIMIDX_OK);
	ck_assert_sx(sx_block_index_make(&tab.table, txn, tab.model.n, &blocks, &sxt_err),
		     SIMIDX_E_CORRUPT);
	ck_assert_ptr_null(blocks);
	ck_assert_ptr_nonnull(strstr(sxt_err.text, "table table"));
	sx_txn_abort(txn);
	t_tab_close(&tab);
}
END_TEST

/*
 * Any bytes in the block that a block index looks at as an example, or in another one: the
 * block index is made, and whoever reads the block is told.
 */
START_TEST(damaged_block)
{
	unsigned char key_bytes[SX_TABLE_MAX_KEY], bytes[T_MOST_ENTRIES];
	static sx_lookup l;
	sx_slice key, value;
	struct t_tab tab;
	struct view view;
	sx_range range;
	sxt_rng rng;
	size_t n, i;
	int rc = 0;

	sxt_rng_init(&rng, 5400 + (uint64_t)_i);
	t_tab_open(&tab, &kinds[_i % 2 ? 6 : 0], SIMIDX_LAYOUT_BLOCKS, 90);
	fill(&tab, &rng, UNIFORM);
	n = blocks_of(&tab);
	i = _i % 4 < 2 ? n / 2 : sxt_rng_below(&rng, n);
	get_record(&tab, i, key_bytes, &key, bytes, &value);
	for (size_t b = 0; b < (_i < 8 ? 16 : value.size); b++)
		bytes[b] = (unsigned char)(_i < 4 ? 0 : _i < 8 ? 255 : sxt_rng_u64(&rng));
	ck_assert_sx(sx_dbi_put(tab.txn, tab.table.dbi, key, value, &sxt_err), SIMIDX_OK);
	t_tab_commit(&tab);
	view_open(&tab, &view);
	range.blocks = view.blocks;
	range.low = 0;
	range.high = UINT64_MAX;
	sx_lookup_begin(&l, &range, 1, SX_LOOKUP_PIECES);
	for (sx_lookup_find(&l); !rc && l.n; sx_lookup_find(&l))
		rc = sx_lookup_locate(&l, sx_kernel_best(), &sxt_err);
	ck_assert_int_eq(rc, SIMIDX_E_CORRUPT);
	view_close(&view);
	t_tab_close(&tab);
}
END_TEST

Suite *suite_block_index(void)
{
	Suite *suite = suite_create("block_index");
	TCase *sound = tcase_create("sound");
	TCase *damage = tcase_create("damage");

	tcase_set_timeout(sound, 120);
	tcase_add_loop_test(sound, against_the_table, 0, (int)N_KINDS * N_DATA);
	tcase_add_loop_test(sound, fences, 0, (int)N_KINDS);
	suite_add_tcase(suite, sound);
	tcase_add_loop_test(damage, refused, 0, 4);
	tcase_add_loop_test(damage, damaged_block, 0, 16);
	suite_add_tcase(suite, damage);
	return suite;
}
