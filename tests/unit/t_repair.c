/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Repairing an index in which blocks, rows or records are damaged: what is left, and what is told.
 */

#include "support/sxt_fixture.h"
#include "support/sxt_repair.h"

START_TEST(test_sound_index_is_copied)
{
	simidx_repair_report report;

	t_repair_begin(_i);
	report = t_check_repair();
	ck_assert_uint_eq(t_n_told, 0);
	ck_assert_uint_eq(report.documents, T_DOCUMENTS);
}
END_TEST

START_TEST(test_one_damaged_entry)
{
	static const unsigned kinds[] = { IN_POSTINGS, IN_DOCS, IN_FRESH, IN_TABLES, IN_LABELS };
	unsigned in = kinds[_i / 8];
	simidx_repair_report report;

	if (_i % 8 > 5 || (_i % 8 > 3 && in != IN_FRESH && in != IN_TABLES))
		return; /* no such index, or no such table in it */
	t_repair_begin(_i % 8);
	t_damage(in, in == IN_TABLES ? "t01" : NULL);
	report = t_check_repair();
	/* Most of what is damaged in one place stands in another one. */
	ck_assert_uint_eq(report.documents == T_DOCUMENTS, in != IN_FRESH);
	ck_assert_uint_le(report.damaged, 1);
}
END_TEST

/* One of each kind, and of each table: what one of them has lost another one may still have. */
START_TEST(test_all_kinds_at_once)
{
	t_repair_begin(_i);
	for (unsigned t = 1; t <= 4; t++) {
		char name[] = { 't', '0', (char)('0' + t), '\0' };

		t_damage(IN_TABLES, name);
	}
	t_damage(IN_FRESH, NULL);
	if (!(t_flags & SIMIDX_CREATE_NO_IDS)) {
		t_damage(IN_POSTINGS, NULL);
		t_damage(IN_DOCS, NULL);
		t_damage(IN_LABELS, NULL);
	}
	t_check_repair();
}
END_TEST

/* Half of everything: now many documents are lost, and named as far as they are known. */
START_TEST(test_half_of_everything)
{
	simidx_repair_report report;

	t_repair_begin(_i);
	t_find_left();
	for (size_t i = 0; i < t_n_entries; i++) {
		const t_entry *e = &t_entries[i];
		/* What is damaged in a label whose hash is lost as well cannot be seen. */
		int is_kept = e->where == IN_BY_LABEL ||
			      (e->where == IN_LABELS &&
			       t_where[t_find_doc(e->key[0])] & IN_FRESH);

		if (!is_kept && sxt_rng_below(&t_rng, 2))
			t_damage_entry(&t_entries[i]);
	}
	report = t_check_repair();
	ck_assert_uint_gt(report.documents_lost, 0);
	ck_assert_uint_eq(report.named > 0, !(t_flags & SIMIDX_CREATE_NO_IDS));
}
END_TEST

static const sxt_test tests[] = {
	{ &test_sound_index_is_copied, 0, 6 },
	{ &test_one_damaged_entry, 0, 40 },
	{ &test_all_kinds_at_once, 0, 6 },
	{ &test_half_of_everything, 0, 6 },
};

SXT_SUITE(repair, t_repair_set_up, t_repair_tear_down);
