/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/* Tables that are no tables: no block index is made of them, or look-ups fail. */

#include <stdlib.h>
#include <string.h>

#include "support/sxt_lookup.h"

static size_t blocks_of(struct t_tab *tab)
{
	uint64_t blocks, used;

	t_usage(tab, &blocks, &used);
	return (size_t)blocks;
}

/* Values of another size, keys that are none: no block index. */
START_TEST(test_bad_sizes_and_keys_are_refused)
{
	unsigned char key_bytes[SX_TABLE_MAX_KEY + 1], bytes[T_MOST_ENTRIES];
	sx_block_index *blocks;
	sx_slice key, value;
	struct t_tab tab;
	sx_txn *txn;
	sxt_rng rng;

	sxt_rng_init(&rng, 5300);
	t_tab_open(&tab, &t_lookup_kinds[0], SIMIDX_LAYOUT_BLOCKS, 90);
	t_lookup_fill(&tab, &rng, T_UNIFORM);
	t_record(&tab, blocks_of(&tab) / 2, key_bytes, &key, bytes, &value);
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

static int visit_any(void *ctx, const sx_block_slice *s, enum sx_next *next, simidx_error *err)
{
	(void)ctx;
	(void)s;
	(void)next;
	(void)err;
	return SIMIDX_OK;
}

/*
 * Any bytes in the block that a block index looks at as an example, or in another one: the
 * block index is made, and a look-up that reads the block fails, also by a cursor.
 */
START_TEST(test_damaged_block_fails_lookups)
{
	unsigned char key_bytes[SX_TABLE_MAX_KEY], bytes[T_MOST_ENTRIES];
	sx_probe probe = { .high = UINT64_MAX, .table = _i >= 16 };
	sx_lookup_task task = { .probe = &probe, .n = 1, .first = SX_LOOKUP_SLICES,
				.visit = visit_any };
	int way = _i % 16;
	sx_slice key, value;
	struct t_tab tab;
	struct t_lookup view;
	sxt_rng rng;
	size_t n, i;

	sxt_rng_init(&rng, 5400 + (uint64_t)way);
	t_tab_open(&tab, &t_lookup_kinds[way % 2 ? 6 : 0], SIMIDX_LAYOUT_BLOCKS, 90);
	t_lookup_fill(&tab, &rng, T_UNIFORM);
	n = blocks_of(&tab);
	i = way % 4 < 2 ? n / 2 : sxt_rng_below(&rng, n);
	t_record(&tab, i, key_bytes, &key, bytes, &value);
	for (size_t b = 0; b < (way < 8 ? 16 : value.size); b++)
		bytes[b] = (unsigned char)(way < 4 ? 0 : way < 8 ? 255 : sxt_rng_u64(&rng));
	ck_assert_sx(sx_dbi_put(tab.txn, tab.table.dbi, key, value, &sxt_err), SIMIDX_OK);
	t_tab_commit(&tab);
	t_lookup_open(&tab, &view);
	task.txn = view.txn;
	task.view = view.table;
	ck_assert_sx(sx_lookup_run(&view.lookup, &task, &sxt_err), SIMIDX_E_CORRUPT);
	ck_assert_ptr_nonnull(strstr(sxt_err.text, "table table"));
	t_lookup_close(&view);
	t_tab_close(&tab);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_bad_sizes_and_keys_are_refused, 0, 4 },
	{ &test_damaged_block_fails_lookups, 0, 32 },
};

SXT_SUITE(block_index_damage, NULL, NULL);
