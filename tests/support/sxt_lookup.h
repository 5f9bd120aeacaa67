/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/* Tables to be looked up, and what looks them up: a snapshot with a block index of the table. */

#ifndef SXT_LOOKUP_H
#define SXT_LOOKUP_H

#include <stdlib.h>
#include <string.h>

#include "support/sxt_table.h"
#include "table/sx_lookup.h"

enum t_lookup_data {
	T_UNIFORM,
	T_SKEWED,
	T_DENSE,
	T_HIGH,
	T_LOW,
	T_RUNS,
	T_ONE_RUN,
	T_FEW,
	T_NOTHING,
	T_LOOKUP_DATA
};

static const struct t_kind t_lookup_kinds[] = {
	{ "64", SX_TABLE_PERMUTED, 0, "4x16", 64, 0, NULL },
	{ "48", SX_TABLE_PERMUTED, 0, "4x16", 48, 2, NULL },
	{ "33", SX_TABLE_PERMUTED, 0, "10x26", 33, 7, NULL },
	{ "17", SX_TABLE_PERMUTED, 0, "3x22", 17, 1, NULL },
	{ "16", SX_TABLE_PERMUTED, 0, "4x16", 16, 3, NULL },
	{ "pairs", SX_TABLE_PAIRS, 1, NULL, 0, 0, NULL },
	{ "values", SX_TABLE_PAIRS, 1, NULL, 0, 0, &t_all_columns },
};

#define T_LOOKUP_KINDS (sizeof(t_lookup_kinds) / sizeof(t_lookup_kinds[0]))

static inline uint64_t t_lookup_mask(const struct t_tab *tab)
{
	return tab->table.perm ? UINT64_MAX >> (64 - tab->plan.bits) : UINT64_MAX;
}

/** The greatest fingerprint of a table. There are greater ones where this is not the mask. */
static inline uint64_t t_lookup_last(const struct t_tab *tab, enum t_lookup_data data)
{
	return data == T_ONE_RUN ? 7 : t_lookup_mask(tab) >> (data == T_LOW ? 3 : 0);
}

static inline uint64_t t_lookup_fp(const struct t_tab *tab, sxt_rng *rng,
				   enum t_lookup_data data, size_t i)
{
	uint64_t x = sxt_rng_u64(rng) & t_lookup_mask(tab);

	switch (data) {
	case T_SKEWED: /* most of it in a thousandth of the space, some anywhere */
		return i % 8 ? x >> 10 : x;
	case T_DENSE:
		return i & t_lookup_mask(tab);
	case T_HIGH: /* the same at the other end, where numbers of blocks need all their bits */
		return (t_lookup_mask(tab) - i) & t_lookup_mask(tab);
	case T_LOW:
		return x >> 3;
	case T_RUNS:
		return i % 4 ? (x & 3) * 12345 & t_lookup_mask(tab) : x;
	case T_ONE_RUN: /* it begins where a knot is, and fills most blocks between two of them */
		return i % 16 ? 4 : x & 7;
	default:
		return x;
	}
}

/** Fill a table with fingerprints of this sort. The least and the greatest one are there too. */
static inline void t_lookup_fill(struct t_tab *tab, sxt_rng *rng, enum t_lookup_data data)
{
	size_t n = data == T_FEW ? 20 : data == T_NOTHING ? 0 : 20000;
	struct t_rows list = { 0 };

	for (size_t i = 0; i < n; i++) {
		uint64_t cols[5] = { i, sxt_rng_u64(rng), 0, 0, 0 };
		uint64_t fp = t_lookup_fp(tab, rng, data, i);

		if (i < 2)
			fp = i ? t_lookup_last(tab, data) : 0;
		t_rows_add(tab, &list, fp, cols, 0);
	}
	t_rows_sort(&list);
	if (n)
		t_merge(tab, &list, 0);
	t_rows_free(&list);
	t_tab_commit(tab);
}

/** A snapshot of a table, and what looks it up. */
struct t_lookup {
	sx_txn *txn;
	sx_block_index *blocks;
	sx_table_view table[2]; /* the table, and once more without its block index */
	sx_lookup lookup;
};

static inline void t_lookup_open(struct t_tab *tab, struct t_lookup *view)
{
	memset(view, 0, sizeof(*view));
	ck_assert_sx(sx_txn_begin_read(tab->store, &view->txn, &sxt_err), SIMIDX_OK);
	if (tab->table.layout == SIMIDX_LAYOUT_BLOCKS)
		ck_assert_sx(sx_block_index_make(&tab->table, view->txn, tab->model.n,
						 &view->blocks, &sxt_err),
			     SIMIDX_OK);
	view->table[0].table = view->table[1].table = &tab->table;
	view->table[0].blocks = view->blocks;
	sxt_must(!sx_lookup_init(&view->lookup, tab->store, sx_kernel_best(), 0,
				 tab->table.n_cols));
}

static inline void t_lookup_close(struct t_lookup *view)
{
	sx_lookup_free(&view->lookup);
	sx_cursor_close(view->table[0].cursor);
	sx_cursor_close(view->table[1].cursor);
	sx_block_index_free(view->blocks);
	sx_txn_abort(view->txn);
}

#endif /* SXT_LOOKUP_H */
