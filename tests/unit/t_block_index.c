/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/* Block indexes, and look-ups by them and by a cursor, against the model of the table. */

#include <stdlib.h>

#include "block/sx_block_search.h"
#include "support/sxt_block_rows.h"
#include "support/sxt_lookup.h"

/* How the probes of a test are looked up. */
enum access { BY_INDEX, BY_CURSOR, MIXED, N_ACCESSES };

/* ------------------------------------------------------------------------------------------
 * Block indexes
 */

/* All blocks are entered with their keys and places. */
static void check_entries(struct t_tab *tab, const struct t_lookup *view)
{
	const sx_block_index *d = view->blocks;
	sx_slice key, value;
	sx_cursor *cursor;
	size_t i = 0;
	int rc;

	ck_assert_sx(sx_cursor_open(view->txn, tab->table.dbi, &cursor, &sxt_err), SIMIDX_OK);
	for (rc = sx_cursor_first(cursor, &key, &value, &sxt_err); !rc;
	     rc = sx_cursor_next(cursor, &key, &value, &sxt_err), i++) {
		sx_sort_key place;

		sxt_must_lt(i, d->n);
		sxt_must(!sx_table_sort_key(&tab->table, key, &place));
		sxt_must_eq(d->entry[i].last, place.key);
		sxt_must(sx_block_index_block(d, i) == value.data);
	}
	ck_assert_int_eq(rc, SIMIDX_E_END);
	ck_assert_uint_eq(i, d->n);
	ck_assert_uint_le(d->bytes, sx_block_index_size(i));
	sx_cursor_close(cursor);
}

static void check_find(const sx_block_index *d, uint64_t key)
{
	size_t want = 0;

	while (want < d->n && d->entry[want].last < key)
		want++;
	sx_block_index_prefetch(d, key);
	sxt_must_eq(sx_block_index_find(d, key), want);
}

static uint64_t any_key(const struct t_tab *tab, sxt_rng *rng)
{
	uint64_t key = sxt_rng_u64(rng) & t_lookup_mask(tab);

	switch (sxt_rng_below(rng, 6)) {
	case 0:
		return key;
	case 1:
		return 0;
	case 2:
		return t_lookup_mask(tab);
	case 3:
		return key >> sxt_rng_below(rng, 60);
	default:
		if (tab->model.n)
			key = tab->model.at[sxt_rng_below(rng, tab->model.n)].key;
		return (key + sxt_rng_below(rng, 3) - 1) & t_lookup_mask(tab);
	}
}

/* ------------------------------------------------------------------------------------------
 * Look-ups
 */

#define MAX_PROBES 300

/* What its keys are compared with. */
struct wanted {
	uint64_t query;
	unsigned k;
};

static void any_probe(const struct t_tab *tab, sxt_rng *rng, sx_probe *probe)
{
	uint64_t a = any_key(tab, rng), b = any_key(tab, rng);

	if (sxt_rng_below(rng, 24)) { /* the others have a large part of all rows */
		b = a + (sxt_rng_below(rng, 2) ? sxt_rng_u64(rng) >> (20 + sxt_rng_below(rng, 40))
					       : 0);
		if (b > t_lookup_mask(tab) || b < a)
			b = a;
	}
	probe->low = a < b ? a : b;
	probe->high = a < b ? b : a;
	probe->table = 0;
	probe->rest = 64;
}

/* The most bits behind those that all keys of a probe begin with in which one within k differs. */
static int rest_of(const sx_probe *probe, const struct wanted *wanted)
{
	uint64_t differ = probe->low ^ probe->high;
	uint64_t alike = differ ? ~(UINT64_MAX >> __builtin_clzll(differ)) : UINT64_MAX;
	int rest = (int)wanted->k - __builtin_popcountll((probe->low ^ wanted->query) & alike);

	return rest < 0 ? -1 : rest;
}

static unsigned table_of(enum access access, sxt_rng *rng)
{
	return access == MIXED ? (unsigned)sxt_rng_below(rng, 2) : access == BY_CURSOR;
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

/* What a look-up has visited. */
struct visited {
	const struct t_tab *tab;
	struct t_lookup *view;
	sx_lookup_task task;
	sxt_rng *rng;    /* not NULL: leave some of the probes */
	uint64_t max;    /* slices, then it is the end; 0 = all */
	const struct wanted *wanted;
	int even;
	size_t at;       /* the probe at hand */
	size_t row;      /* of the model, that is the next one of it */
	size_t left;     /* the last probe that was left */
	size_t last;     /* of the slice before */
	size_t more;     /* the probe of which more slices were found */
	uint64_t slices;
	int is_end;
};

static void begin(struct visited *v, const struct t_tab *tab, struct t_lookup *view,
		  const sx_probe *probe, size_t n, size_t first)
{
	memset(v, 0, sizeof(*v));
	v->tab = tab;
	v->view = view;
	v->task = (sx_lookup_task){ .txn = view->txn, .view = view->table, .probe = probe, .n = n,
				    .first = first, .ctx = v };
	v->row = n ? row_at(tab, probe[0].low) : 0;
	v->left = SIZE_MAX;
}

/* All of the probes before number `at` are done. */
static void finish_to(struct visited *v, size_t at)
{
	const sx_probe *probe = v->task.probe;

	for (; v->at < at; v->at++) {
		sxt_must(v->at == v->left || v->row == row_behind(v->tab, probe[v->at].high));
		if (v->at + 1 < v->task.n)
			v->row = row_at(v->tab, probe[v->at + 1].low);
	}
}

static size_t entries_of(const sx_block_slice *s)
{
	return s->to > s->from ? (size_t)(s->to - s->from) : 0;
}

/* The entries of a slice are the next rows of the model. */
static void check_rows(struct visited *v, const sx_rows *rows, size_t from, size_t n)
{
	const struct t_tab *tab = v->tab;

	for (size_t j = from; j < from + n; j++, v->row++) {
		sxt_must_lt(v->row, tab->model.n);
		sxt_must_eq(rows->key[j], tab->model.at[v->row].key);
		for (unsigned c = 0; c < tab->table.n_cols; c++)
			sxt_must_eq(rows->col[c][j], tab->model.at[v->row].col[c]);
	}
}

static void check_slice(struct visited *v, const sx_block_slice *s)
{
	const struct t_tab *tab = v->tab;
	size_t n = entries_of(s);
	sx_block block;
	sx_rows rows;

	if (!s->value) {
		sxt_must(n && n <= v->task.first && s->to <= v->view->lookup.rows.n);
		check_rows(v, &v->view->lookup.rows, s->from, n);
		return;
	}
	sxt_must(!sx_block_open(&block, s->value, tab->table.block_size, tab->table.n_cols));
	sxt_must(s->to <= block.n || !n);
	if (!n)
		return;
	sxt_must_eq(s->width, block.width);
	sx_rows_init(&rows, tab->table.n_cols);
	sxt_must(!sx_rows_reserve(&rows, n));
	sxt_must(!sx_block_decode(&block, s->from, n, &rows));
	sxt_must_ge(s->last, rows.key[n - 1]);
	check_rows(v, &rows, 0, n);
	sx_rows_free(&rows);
}

/* Those of a probe that are found at first are no more than it asked for. */
static void check_first(struct visited *v, const sx_block_slice *s)
{
	const sx_lookup *l = &v->view->lookup;
	size_t n = 0;

	if (!v->task.view[v->task.probe[s->probe].table].blocks)
		return;
	sxt_must(s >= l->slice && s < l->slice + l->n && l->n <= SX_LOOKUP_SLICES);
	if (s == l->slice)
		v->more = v->slices && s->probe == v->last ? s->probe : SIZE_MAX;
	v->last = s->probe;
	for (size_t i = 0; i < l->n; i++)
		n += l->slice[i].probe == s->probe;
	sxt_must(n <= v->task.first || s->probe == v->more);
}

static int visit_exact(void *ctx, const sx_block_slice *s, enum sx_next *next, simidx_error *err)
{
	struct visited *v = ctx;

	(void)err;
	sxt_must(!v->is_end && *next == SX_NEXT_SLICE);
	sxt_must(s->probe >= v->at && s->probe < v->task.n && s->probe != v->left);
	finish_to(v, s->probe);
	check_first(v, s);
	check_slice(v, s);
	v->slices++;
	if (v->rng && sxt_rng_below(v->rng, 2)) {
		v->left = s->probe;
		*next = SX_NEXT_PROBE;
	}
	if (v->slices == v->max) {
		v->is_end = 1;
		*next = SX_NEXT_NOTHING;
	}
	return SIMIDX_OK;
}

/*
 * The slices of all probes, one after another, hold exactly their rows, however many are found at
 * first; of a probe that is left, as some are if there is an rng, the first rows; and after the
 * end nothing is visited. Returns the number of slices.
 */
static uint64_t check_lookup(const struct t_tab *tab, struct t_lookup *view, const sx_probe *probe,
			     size_t n, size_t first, sxt_rng *rng, uint64_t max)
{
	struct visited v;

	begin(&v, tab, view, probe, n, first);
	v.task.exact = 1;
	v.task.visit = visit_exact;
	v.rng = rng;
	v.max = max;
	ck_assert_sx(sx_lookup_run(&view->lookup, &v.task, &sxt_err), SIMIDX_OK);
	if (!v.is_end)
		finish_to(&v, n);
	sxt_must_eq(view->lookup.blocks,
		    tab->table.layout == SIMIDX_LAYOUT_BLOCKS ? v.slices : 0);
	return v.slices;
}

/* The first entry of a block whose key is `key` or, if `behind`, greater. */
static size_t entry_at(const sx_block *block, uint64_t key, int behind)
{
	size_t from = 0, to = block->n;

	while (from < to) {
		size_t middle = from + (to - from) / 2;
		uint64_t here = t_block_key(block, middle);

		if (here < key || (behind && here == key))
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* What a slice that is not exact must have, and may. */
static void check_rough(const struct visited *v, const sx_block_slice *s, const sx_block *block)
{
	const sx_probe *probe = &v->task.probe[s->probe];
	size_t from = entry_at(block, probe->low, 0), to = entry_at(block, probe->high, 1);
	size_t n = to - from, max;

	sxt_must(s->from <= s->to && s->to <= block->n);
	if (n)
		sxt_must(s->from <= from && s->to >= to);
	/* Of keys that are spread evenly few more: two parts, and what these are larger by. */
	max = n + 4 * block->n / SX_SAMPLES_PARTS + 50;
	if (v->even)
		sxt_must_le((size_t)(s->to - s->from), max);
	/* By a cursor there are no others. */
	if (!v->task.view[probe->table].blocks)
		sxt_must_eq(entries_of(s), n);
}

/* The keys of a probe that are near its query are those of its rows. */
static void check_near(const struct visited *v, const sx_block_slice *s, const sx_block *block)
{
	const sx_probe *p = &v->task.probe[s->probe];
	const struct wanted *w = &v->wanted[s->probe];
	sx_lookup *l = &v->view->lookup;
	size_t n = 0, found = 0, from = block ? entry_at(block, p->low, 0) : s->from;
	size_t end = block ? block->n : s->to;
	uint64_t *decoded = block ? t_block_keys(block, from, end - from) : NULL;

	if (entries_of(s))
		found = sx_lookup_near(l, &v->task, s, entries_of(s), w->query, w->k);
	for (size_t e = from; e < end; e++) {
		uint64_t key = block ? decoded[e - from] : l->rows.key[e];

		if (key > p->high)
			break;
		if ((unsigned)__builtin_popcountll(key ^ w->query) > w->k)
			continue;
		sxt_must_lt(n, found);
		sxt_must_eq(l->keys[n++], key);
	}
	sxt_must_eq(n, found);
	free(decoded);
}

static int visit_rough(void *ctx, const sx_block_slice *s, enum sx_next *next, simidx_error *err)
{
	struct visited *v = ctx;
	sx_block block;

	(void)next;
	(void)err;
	v->slices++;
	if (!s->value) {
		check_near(v, s, NULL);
		return SIMIDX_OK;
	}
	sxt_must(!sx_block_open(&block, s->value, v->tab->table.block_size,
				v->tab->table.n_cols));
	check_rough(v, s, &block);
	if (v->slices % 64 < 20)
		check_near(v, s, &block);
	return SIMIDX_OK;
}

/* Slices as searches see them: as many as there are exact ones. */
static void check_rough_lookup(const struct t_tab *tab, struct t_lookup *view,
			       const sx_probe *probe, const struct wanted *wanted, size_t n,
			       int even, uint64_t slices)
{
	struct visited v;

	begin(&v, tab, view, probe, n, SX_LOOKUP_SLICES);
	v.task.visit = visit_rough;
	v.wanted = wanted;
	v.even = even;
	ck_assert_sx(sx_lookup_run(&view->lookup, &v.task, &sxt_err), SIMIDX_OK);
	if (tab->table.layout == SIMIDX_LAYOUT_BLOCKS)
		sxt_must_eq(v.slices, slices);
}

static void check_lookups(const struct t_tab *tab, struct t_lookup *view, enum access access,
			  int even, sxt_rng *rng)
{
	static const size_t sizes[] = { 0, 1, 2, 31, 32, 33, 63, 64, 65, MAX_PROBES };
	static sx_probe probe[MAX_PROBES];
	static struct wanted wanted[MAX_PROBES];
	uint64_t slices;

	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
		size_t n = sizes[s];

		for (size_t i = 0; i < n; i++) {
			any_probe(tab, rng, &probe[i]);
			probe[i].table = table_of(access, rng);
			wanted[i].query = sxt_rng_below(rng, 2) ? probe[i].low : any_key(tab, rng);
			wanted[i].k = (unsigned)sxt_rng_below(rng, 20);
			probe[i].rest = rest_of(&probe[i], &wanted[i]);
		}
		/* First as the first reader, which makes the rank samples; then as all others. */
		slices = check_lookup(tab, view, probe, n, SX_LOOKUP_SLICES, NULL, 0);
		check_rough_lookup(tab, view, probe, wanted, n, even, slices);
		check_lookup(tab, view, probe, n, 1 + sxt_rng_below(rng, 3), NULL, 0);
		check_lookup(tab, view, probe, n, 1 + sxt_rng_below(rng, 3), rng, 0);
		if (slices)
			sxt_must_eq(check_lookup(tab, view, probe, n, SX_LOOKUP_SLICES, NULL,
						 1), 1);
		check_lookup(tab, view, probe, n, 1 + sxt_rng_below(rng, 3), rng,
			     1 + sxt_rng_below(rng, slices + 1));
	}
	probe[0] = (sx_probe){ 0, t_lookup_mask(tab), table_of(access, rng), 64 };
	check_lookup(tab, view, probe, 1, SX_LOOKUP_SLICES, NULL, 0);
}

static int fail_at_third(void *ctx, const sx_block_slice *s, enum sx_next *next, simidx_error *err)
{
	unsigned *n = ctx;

	(void)s;
	(void)next;
	(void)err;
	return ++*n == 3 ? SIMIDX_E_STOPPED : SIMIDX_OK;
}

/* What a visitor returns is what the look-up returns, at once. */
START_TEST(test_error_of_visitor_ends_lookup)
{
	unsigned visits = 0;
	sx_lookup_task task = { .n = 1, .first = SX_LOOKUP_SLICES, .visit = fail_at_third,
				.ctx = &visits };
	sx_probe probe = { .high = UINT64_MAX, .table = _i == BY_CURSOR };
	struct t_tab tab;
	struct t_lookup view;
	sxt_rng rng;

	sxt_rng_init(&rng, 5250);
	t_tab_open(&tab, &t_lookup_kinds[0], _i == 2 ? SIMIDX_LAYOUT_ROWS : SIMIDX_LAYOUT_BLOCKS,
		   90);
	t_lookup_fill(&tab, &rng, T_UNIFORM);
	t_lookup_open(&tab, &view);
	task.txn = view.txn;
	task.view = view.table;
	task.probe = &probe;
	ck_assert_int_eq(sx_lookup_run(&view.lookup, &task, &sxt_err), SIMIDX_E_STOPPED);
	ck_assert_uint_eq(visits, 3);
	t_lookup_close(&view);
	t_tab_close(&tab);
}
END_TEST

/* What it says of a range is right but for the blocks at both ends, where blocks are alike. */
static void check_count(const struct t_tab *tab, const sx_block_index *d, sxt_rng *rng,
			enum t_lookup_data data)
{
	uint64_t in_block = d->n ? tab->model.n / d->n + 1 : 0;
	sx_probe r;

	for (unsigned i = 0; i < 200; i++) {
		uint64_t count, want, large;

		any_probe(tab, rng, &r);
		count = sx_block_index_count(d, r.low, r.high);
		large = sx_block_index_count_if_large(d, r.low, r.high);
		sxt_must(!large || large == count);
		want = row_behind(tab, r.high) - row_at(tab, r.low);
		sxt_must_le(count, tab->model.n);
		sxt_must_ge(sx_block_index_count(d, 0, r.high), sx_block_index_count(d, 0,
										     r.low));
		if (data == T_UNIFORM && tab->table.perm && tab->plan.bits > 20)
			sxt_must(count <= want + want / 5 + 2 * in_block &&
				 want <= count + want / 5 + 2 * in_block);
	}
	sxt_must_eq(sx_block_index_count(d, 0, t_lookup_mask(tab)), tab->model.n);
}

START_TEST(test_lookups_equal_the_model)
{
	enum t_lookup_data data = (enum t_lookup_data)(_i % T_LOOKUP_DATA);
	struct t_tab tab;
	struct t_lookup view;
	sxt_rng rng;
	int even;

	sxt_rng_init(&rng, 5100 + (uint64_t)_i);
	t_tab_open(&tab, &t_lookup_kinds[_i / T_LOOKUP_DATA], SIMIDX_LAYOUT_BLOCKS, 90);
	even = data == T_UNIFORM && (!tab.table.perm || tab.plan.bits > 20);
	t_lookup_fill(&tab, &rng, data);
	t_lookup_open(&tab, &view);
	check_entries(&tab, &view);
	for (unsigned i = 0; i < 500; i++)
		check_find(view.blocks, any_key(&tab, &rng));
	for (int access = 0; access < N_ACCESSES; access++)
		check_lookups(&tab, &view, (enum access)access, even, &rng);
	/* Now many of the guesses can be known to be right. */
	for (unsigned i = 0; i < 500; i++)
		check_find(view.blocks, any_key(&tab, &rng));
	check_count(&tab, view.blocks, &rng, data);
	t_lookup_close(&view);
	t_tab_close(&tab);
}
END_TEST

/* One row after another, by a cursor. */
START_TEST(test_rows_one_by_one_by_cursor)
{
	struct t_tab tab;
	struct t_lookup view;
	sxt_rng rng;

	sxt_rng_init(&rng, 5150 + (uint64_t)_i);
	t_tab_open(&tab, &t_lookup_kinds[_i / T_LOOKUP_DATA], SIMIDX_LAYOUT_ROWS, 90);
	t_lookup_fill(&tab, &rng, (enum t_lookup_data)(_i % T_LOOKUP_DATA));
	t_lookup_open(&tab, &view);
	check_lookups(&tab, &view, BY_CURSOR, 0, &rng);
	t_lookup_close(&view);
	t_tab_close(&tab);
}
END_TEST

/* After removals the keys of blocks are fences, behind their last rows. */
START_TEST(test_fences_after_removals)
{
	struct t_rows list = { 0 };
	struct t_tab tab;
	struct t_lookup view;
	sxt_rng rng;

	sxt_rng_init(&rng, 5200 + (uint64_t)_i);
	t_tab_open(&tab, &t_lookup_kinds[_i], SIMIDX_LAYOUT_BLOCKS, 90);
	t_lookup_fill(&tab, &rng, _i % 2 ? T_RUNS : T_UNIFORM);
	for (size_t i = 0; i < tab.model.n; i++)
		if (sxt_rng_below(&rng, 4))
			t_rows_add(&tab, &list,
				   tab.table.perm ? tab.model.at[i].fp : tab.model.at[i].key,
				   tab.model.at[i].col, 1);
	t_rows_sort(&list);
	t_merge(&tab, &list, 0);
	t_tab_commit(&tab);
	t_lookup_open(&tab, &view);
	check_entries(&tab, &view);
	for (int access = 0; access < N_ACCESSES; access++)
		check_lookups(&tab, &view, (enum access)access, 0, &rng);
	t_rows_free(&list);
	t_lookup_close(&view);
	t_tab_close(&tab);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_lookups_equal_the_model, 0, (int)T_LOOKUP_KINDS * T_LOOKUP_DATA },
	{ &test_rows_one_by_one_by_cursor, 0, (int)T_LOOKUP_KINDS * T_LOOKUP_DATA },
	{ &test_fences_after_removals, 0, (int)T_LOOKUP_KINDS },
	{ &test_error_of_visitor_ends_lookup, 0, 3 },
};

SXT_SUITE(block_index, NULL, NULL);
