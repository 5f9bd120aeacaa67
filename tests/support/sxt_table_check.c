/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Comparing a table with its model.
 */

#include "support/sxt_table.h"
#include "table/sx_lookup.h"

static void check_row(const struct t_tab *tab, const sx_rows *rows, size_t i,
		      const struct t_row *row)
{
	unsigned c;

	sxt_must_eq(rows->key[i], row->key);
	for (c = 0; c < tab->table.n_cols; c++)
		sxt_must_eq(rows->col[c][i], row->col[c]);
}

/* All rows, in pieces, from the first one or from a place on. */
static void check_walk(struct t_tab *tab, const struct t_row *from)
{
	sx_sort_key place = { from ? from->key : 0, from ? from->ord : 0 };
	size_t at = 0, i;
	sx_table_walk walk;
	int rc;

	while (from && at < tab->model.n && t_row_cmp(&tab->model.at[at], from) < 0)
		at++;
	ck_assert_sx(sx_table_walk_begin(&walk, tab->txn, &tab->table, from ? &place : NULL,
					 &sxt_err),
		     SIMIDX_OK);
	sxt_error_clear(&sxt_err);
	while (!(rc = sx_table_walk_next(&walk, &sxt_err))) {
		sxt_must_ge(walk.rows.n, 1);
		for (i = 0; i < walk.rows.n; i++) {
			sx_sort_key here = sx_sort_key_of(&tab->table, &walk.rows, i);

			/* The first piece may begin before the place, but not end there. */
			if (from && sx_sort_key_cmp(here, place) < 0)
				continue;
			sxt_must_lt(at, tab->model.n);
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

	sxt_must_eq(value.size, tab->table.block_size);
	n = t_block_read(value.data, value.size, tab->table.n_cols, entries, &bytes_used);
	sxt_must_le(at + n, tab->model.n);
	for (i = 0; i < n; i++) {
		sxt_must_eq(entries[i].key, tab->model.at[at + i].key);
		for (c = 0; c < tab->table.n_cols; c++)
			sxt_must_eq(entries[i].col[c], tab->model.at[at + i].col[c]);
	}
	size = t_row_key(tab, &tab->model.at[at + n - 1], bytes);
	sxt_must_eq(key.size, size);
	sxt_must_ge(memcmp(key.data, bytes, size), 0);
	if (at + n < tab->model.n) {
		t_row_key(tab, &tab->model.at[at + n], bytes);
		sxt_must_lt(memcmp(key.data, bytes, size), 0);
	}
	*used += bytes_used;
	return n;
}

static void check_record(const struct t_tab *tab, sx_slice key, sx_slice value, size_t at)
{
	unsigned first = tab->table.kind == SX_TABLE_PAIRS, c;
	size_t columns = 8 * (tab->table.n_cols - first);
	unsigned char bytes[SX_TABLE_MAX_KEY + 8 * SX_MAX_COLS];
	const struct t_row *row;

	sxt_must_lt(at, tab->model.n);
	row = &tab->model.at[at];
	sxt_must_eq(key.size, t_row_key(tab, row, bytes));
	sxt_must(!memcmp(key.data, bytes, key.size));
	sxt_must_eq(value.size, columns + (tab->table.checks_rows ? 4 : 0));
	memcpy(bytes + key.size, value.data, columns);
	if (tab->table.checks_rows)
		sxt_must_eq(t_le((const unsigned char *)value.data + columns, 4),
			    (uint32_t)(T_NUMBER + sx_hash(bytes, key.size + columns)));
	for (c = first; c < tab->table.n_cols; c++)
		sxt_must_eq(t_le((const unsigned char *)value.data + 8 * (c - first), 8),
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
	sx_sort_key from = { low->key, low->ord }, to = { high->key, high->ord };
	uint64_t none[SX_MAX_COLS] = { 0 }, want = 0;
	sx_rows rows;
	size_t i;

	sx_rows_init(&rows, tab->table.n_cols);
	sxt_must(!sx_rows_push(&rows, 1, none)); /* what was there stays, and does not count */
	ck_assert_sx(sx_table_range(&tab->table, cursor, from, to, limit, &rows, &sxt_err),
		     SIMIDX_OK);
	for (i = 0; i < tab->model.n && (!limit || want < limit); i++) {
		const struct t_row *row = &tab->model.at[i];

		if (t_row_cmp(row, low) < 0 || t_row_cmp(row, high) > 0)
			continue;
		want++;
		sxt_must_lt(want, rows.n);
		check_row(tab, &rows, want, row);
	}
	sxt_must_eq(rows.n, want + 1);
	sx_rows_free(&rows);
}

/* What a look-up by a cursor has found. */
struct found {
	const struct t_tab *tab;
	sx_lookup lookup;
	sx_table_view view;
	sx_lookup_task task;
	uint64_t query;
	unsigned k;
	size_t row;          /* of the model, the next one of the range */
	uint64_t candidates;
	uint64_t slices, max; /* slices; after `max` of them it is the end */
	enum sx_next end;
	int is_end;
};

/* All entries of the slice are rows of the range; those that are near are found. */
static int visit(void *ctx, const sx_block_slice *slice, enum sx_next *next, simidx_error *err)
{
	struct found *f = ctx;
	size_t n = (size_t)(slice->to - slice->from), near, seen = 0;

	(void)err;
	sxt_must(!f->is_end && *next == SX_NEXT_SLICE && slice->from <= slice->to);
	near = n ? sx_lookup_near(&f->lookup, &f->task, slice, n, f->query, f->k) : 0;
	f->candidates += n;
	for (; n; n--, f->row++) {
		uint64_t key;

		sxt_must_lt(f->row, f->tab->model.n);
		key = f->tab->model.at[f->row].key;
		if ((unsigned)__builtin_popcountll(key ^ f->query) > f->k)
			continue;
		sxt_must_lt(seen, near);
		sxt_must_eq(f->lookup.keys[seen++], key);
	}
	sxt_must_eq(seen, near);
	if (++f->slices >= f->max) {
		*next = f->end;
		f->is_end = 1;
	}
	return SIMIDX_OK;
}

/* To the end, or for the first slices only. */
static void check_near(struct t_tab *tab, sx_probe probe, size_t first, uint64_t max,
		       struct found *f)
{
	size_t from = 0, to;

	while (from < tab->model.n && tab->model.at[from].key < probe.low)
		from++;
	for (to = from; to < tab->model.n && tab->model.at[to].key <= probe.high; to++)
		;
	f->tab = tab;
	f->view = (sx_table_view){ .table = &tab->table };
	f->task = (sx_lookup_task){ .txn = tab->txn, .view = &f->view, .probe = &probe, .n = 1,
				    .first = first, .visit = visit, .ctx = f };
	f->row = from;
	f->candidates = f->slices = 0;
	f->max = max;
	f->is_end = 0;
	ck_assert_sx(sx_lookup_run(&f->lookup, &f->task, &sxt_err), SIMIDX_OK);
	sxt_must_eq(f->view.by_cursor, 1);
	sxt_must_eq(f->candidates, f->row - from);
	sxt_must_le(f->row, to);
	if (!f->is_end)
		sxt_must_eq(f->row, to);
	else
		sxt_must_eq(f->slices, max);
	sx_cursor_close(f->view.cursor);
}

/* The most bits behind those that all keys of a range begin with in which one within k differs. */
static sx_probe probe_of(uint64_t low, uint64_t high, uint64_t query, unsigned k)
{
	uint64_t differ = low ^ high;
	uint64_t alike = differ ? ~(UINT64_MAX >> __builtin_clzll(differ)) : UINT64_MAX;
	int rest = (int)k - __builtin_popcountll((low ^ query) & alike);

	return (sx_probe){ low, high, 0, rest < 0 ? -1 : rest };
}

/* A probe: the range of the query's prefix; and any range. */
static void check_probes(struct t_tab *tab, sxt_rng *rng, struct found *f)
{
	const sx_perm *perm = tab->table.perm;
	struct t_row a = random_place(tab, rng), b = random_place(tab, rng);
	uint64_t rest = (UINT64_C(1) << (perm->bits - perm->prefix_bits)) - 1;
	unsigned k = (unsigned)sxt_rng_below(rng, 5), flips = (unsigned)sxt_rng_below(rng, 4);
	uint64_t query = sxt_rng_flip(rng, a.key, perm->bits, flips);
	sx_probe probe;

	f->query = query;
	f->k = k;
	f->end = sxt_rng_below(rng, 2) ? SX_NEXT_PROBE : SX_NEXT_NOTHING;
	check_near(tab, probe_of(query & ~rest, query | rest, query, k), SX_LOOKUP_SLICES,
		   UINT64_MAX, f);
	if (a.key <= b.key) {
		probe = probe_of(a.key, b.key, query, k);
		check_near(tab, probe, SX_LOOKUP_SLICES, UINT64_MAX, f);
		check_near(tab, probe, 1 + (size_t)sxt_rng_below(rng, 300), UINT64_MAX, f);
		check_near(tab, probe, 1 + (size_t)sxt_rng_below(rng, 300),
			   1 + sxt_rng_below(rng, 4), f);
	}
	check_near(tab, probe_of(a.key, a.key, query, k), 1, UINT64_MAX, f);
}

void t_check_ranges(struct t_tab *tab, sxt_rng *rng, unsigned n)
{
	struct t_row low = { 0 }, high = { .key = UINT64_MAX };
	struct found found = { 0 };
	sx_cursor *cursor;
	unsigned i;

	if (tab->table.perm)
		high.key >>= 64 - tab->table.perm->bits;
	high.ord = tab->table.kind == SX_TABLE_PAIRS ? UINT64_MAX : 0;
	sxt_must(!sx_lookup_init(&found.lookup, tab->store, sx_kernel_best(), 0,
				 tab->table.n_cols));
	ck_assert_sx(sx_cursor_open(tab->txn, tab->table.dbi, &cursor, &sxt_err), SIMIDX_OK);
	check_range(tab, cursor, &low, &high, 0);
	for (i = 0; i < n; i++) {
		low = random_place(tab, rng);
		high = sxt_rng_below(rng, 4) ? random_place(tab, rng) : low;
		check_range(tab, cursor, &low, &high, 0);
		check_range(tab, cursor, &low, &high, 1 + sxt_rng_below(rng, 1000));
		if (tab->table.perm)
			check_probes(tab, rng, &found);
		if (i < 3)
			check_walk(tab, &low);
	}
	sx_cursor_close(cursor);
	sx_lookup_free(&found.lookup);
}

size_t t_block_ends(struct t_tab *tab, size_t *end, size_t most)
{
	sx_table_walk walk;
	size_t n = 0, at = 0;

	ck_assert_sx(sx_table_walk_begin(&walk, tab->txn, &tab->table, NULL, &sxt_err),
		     SIMIDX_OK);
	while (!sx_table_walk_next(&walk, &sxt_err) && n < most) {
		at += walk.rows.n;
		end[n++] = at - 1;
	}
	sx_table_walk_end(&walk);
	return n;
}
