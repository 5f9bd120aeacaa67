/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Repairing an index in which blocks, rows or records are damaged: what is left, and what is told.
 */

#include <simidx_repair.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "index/sx_index.h"
#include "support/sxt_fixture.h"
#include "support/sxt_repair.h"
#include "util/sx_bytes.h"
#include "util/sx_hash.h"

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

	if (_i % 8 / 2 == 2 && in != IN_FRESH && in != IN_TABLES)
		return; /* no such table without ids */
	t_repair_begin(_i % 8);
	t_damage(in, in == IN_TABLES ? "t01" : NULL);
	report = t_check_repair();
	/* Most of what is damaged in one place stands in another one. */
	ck_assert_uint_eq(report.documents == T_DOCUMENTS, in != IN_FRESH);
	ck_assert_uint_le(report.damaged, 1);
}
END_TEST

/* What is damaged in a label whose hash is lost as well cannot be seen. */
static void damage_checked_label(void)
{
	size_t i = 0;

	t_find_left();
	while (t_entries[i].where != IN_LABELS ||
	       !(t_where[t_find_doc(t_entries[i].key[0])] & IN_BY_LABEL))
		i++;
	t_damage_entry(&t_entries[i]);
}

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
		damage_checked_label();
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

/*
 * The page of a tree that has the keys: what is below it is lost in one table, and stands in
 * others.
 */
START_TEST(test_damaged_page_of_a_tree)
{
	static const unsigned kinds[] = { IN_POSTINGS, IN_DOCS, IN_FRESH, IN_TABLES, IN_LABELS,
					  IN_BY_LABEL };

	t_repair_begin(_i % 4);
	t_damage_leaf(kinds[_i / 4], kinds[_i / 4] == IN_TABLES ? "t03" : NULL);
	t_check_repair();
}
END_TEST

static t_entry *entry_of(unsigned in, const char *table, size_t number)
{
	for (size_t i = 0; i < t_n_entries; i++)
		if (t_entries[i].where == in && (!table || !strcmp(t_entries[i].table, table)) &&
		    !number--)
			return &t_entries[i];
	return NULL;
}

/* Neither a label nor its hash is left: the header alone says that there were such labels. */
START_TEST(test_labels_that_nothing_names)
{
	simidx_repair_report report;
	uint64_t labels = 0;

	t_repair_begin(_i);
	for (size_t i = 0; i < t_model.n; i++)
		labels += t_model.at[i].label_size > 0;
	for (size_t i = 0; i < t_n_entries; i++)
		if (t_entries[i].where == IN_BY_LABEL && !t_entries[i].is_damaged)
			t_damage_leaf_of(&t_entries[i]);
	/* The first label is of a document that is not fresh. */
	t_damage_leaf_of(entry_of(IN_LABELS, NULL, 0));
	report = t_check_repair();
	ck_assert_uint_eq(report.documents, T_DOCUMENTS);
	ck_assert_uint_gt(report.labels_lost, 0);
	ck_assert_uint_lt(report.labels_lost, labels);
}
END_TEST

/* Each block that has changed places is sound by itself: where it stands shows that it is wrong. */
START_TEST(test_blocks_that_changed_places)
{
	static const unsigned kinds[] = { IN_POSTINGS, IN_DOCS, IN_FRESH };
	simidx_repair_report report;

	t_repair_begin(2);
	for (unsigned k = 0; k < 3; k++)
		t_swap_entries(entry_of(kinds[k], NULL, 0), entry_of(kinds[k], NULL, 2));
	/* Of another place: at its own it may fit, and then the digest alone tells. */
	t_swap_entries(entry_of(IN_TABLES, "t01", 0), entry_of(IN_TABLES, "t04", 2));
	report = t_check_repair();
	/* Fresh rows stand nowhere else; so t01 is read, and then t02, which is whole. */
	ck_assert_uint_lt(report.documents, T_DOCUMENTS);
	ck_assert_uint_eq(report.damaged, 7);
}
END_TEST

/* ---- records ---- */

/*
 * Change copies of a record of the index as a whole: bits 1 and 2 for those of meta and meta2, in
 * their order in the file, and 4 for that of about, which is the first one. `key` stands before it.
 */
static void damage_record(const char *key, unsigned copies)
{
	char *name = sxt_path(t_path, "data.mdb");
	size_t size, n = strlen(key), met = 0, about = *key != 'm';
	unsigned char *bytes = sxt_file_read(name, &size), *at = bytes;

	for (; (at = memmem(at, size - (size_t)(at - bytes), key, n)) != NULL; met++) {
		unsigned bit = met < about ? 4 : 1u << (met - about);

		at += n;
		if (copies & bit)
			t_change_file((size_t)(at - bytes) + (*key == 'h' ? 60 : 9), 4);
	}
	ck_assert_uint_eq(met, 2 + about);
	free(bytes);
	free(name);
}

START_TEST(test_damaged_copy_of_a_record)
{
	static const char *const keys[] = { "headersimidx", "profile\x08", "markas far" };
	simidx_repair_report report;

	t_repair_begin(0);
	damage_record(keys[_i / 2], 1u + (unsigned)_i % 2);
	report = t_check_repair();
	ck_assert_uint_eq(report.damaged, 1);
}
END_TEST

/* Both copies of a record, and that of the basis: first without it, then with it. */
START_TEST(test_all_copies_of_a_record)
{
	static const char *const keys[] = { "headersimidx", "profile\x08", "markas far" };
	int record = _i % 3, is_all = _i / 3, fails = !record && is_all;
	char *path = sxt_path(t_dir, "new");
	simidx_repair_report report = SIMIDX_REPAIR_REPORT_INIT;
	simidx_info info = SIMIDX_INFO_INIT;
	simidx *index;
	size_t size;

	t_repair_begin(0);
	damage_record(keys[record], is_all ? 7 : 3);
	ck_assert_sx(simidx_repair(t_path, path, NULL, t_tell, NULL, &report, &sxt_err),
		     fails ? SIMIDX_E_CORRUPT : SIMIDX_OK);
	ck_assert_uint_eq(report.damaged, 2 + (is_all && record < 2));
	ck_assert_uint_eq(report.header_lost, !record && !fails);
	/* A mark is left out where nobody knows whether it is the last one. */
	ck_assert_uint_eq(report.records_lost,
			  (!record && !fails) || record == 2 || (record && is_all));
	ck_assert_uint_eq(report.doubts, !record && !fails);
	ck_assert_uint_eq(report.documents, fails ? 0 : T_DOCUMENTS);
	if (!fails) {
		index = sxt_open(path, 0);
		sxt_check_sound(index);
		sxt_check_content(&t_model, t_model.n, index);
		ck_assert_sx(simidx_get_info(index, &info, &sxt_err), SIMIDX_OK);
		ck_assert_str_eq(info.profile, record == 1 && is_all ? "" : "of tests");
		ck_assert_sx(simidx_get_mark(index, NULL, 0, &size, &sxt_err),
			     record == 1 ? SIMIDX_OK : SIMIDX_E_NOT_FOUND);
		simidx_close(index);
	} else {
		ck_assert_int_ne(access(path, F_OK), 0);
	}
	free(path);
}
END_TEST

/* An index of another format is refused, as by all others, and nothing is called damaged. */
START_TEST(test_other_format)
{
	char *name = sxt_path(t_path, "data.mdb"), *path = sxt_path(t_dir, "new");
	simidx_repair_report report = SIMIDX_REPAIR_REPORT_INIT;
	size_t size, met = 0, n;
	unsigned char *bytes, *at;

	t_repair_begin(0);
	bytes = sxt_file_read(name, &size);
	for (at = bytes; (at = memmem(at, size - (size_t)(at - bytes), "headersimidx", 12)) != NULL;
	     met++) {
		/* The size of the value stands first in its node, of 8 bytes, before the key. */
		n = sx_load_le32(at - 8) - 8;
		at += 6;
		at[10] = 1;
		sx_store_le64(at + n, sx_hash(at, n));
	}
	ck_assert_uint_eq(met, 3);
	sxt_file_write(name, bytes, size);
	ck_assert_sx(simidx_repair(t_path, path, NULL, t_tell, NULL, &report, &sxt_err),
		     SIMIDX_E_VERSION);
	ck_assert_ptr_nonnull(strstr(sxt_err.text, "can dump it"));
	ck_assert_uint_eq(t_n_told, 0);
	ck_assert_uint_eq(report.damaged, 0);
	free(bytes);
	free(name);
	free(path);
}
END_TEST

/* ---- labels ---- */

/* A hash that is wrong, and a hash that is given to another id: both are told, none is believed. */
START_TEST(test_damaged_hash_of_a_label)
{
	char *path = sxt_path(t_dir, "new");
	simidx_repair_report report = SIMIDX_REPAIR_REPORT_INIT;
	const t_entry *e;
	simidx_reader *reader;
	simidx_match match;
	simidx *index;
	uint64_t id;

	t_repair_begin(_i);
	e = entry_of(IN_BY_LABEL, NULL, 20);
	id = e->key[0];
	t_change_entry(e, 2 + 7, 1);
	ck_assert_sx(simidx_repair(t_path, path, NULL, t_tell, NULL, &report, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(report.documents, T_DOCUMENTS);
	ck_assert_uint_eq(report.labels_lost, 1);
	ck_assert_uint_eq(t_count_told(SIMIDX_LOSS_LABEL, id), 1);
	index = sxt_open(path, 0);
	reader = sxt_reader(index);
	ck_assert_sx(simidx_reader_find_id(reader, id, &match, &sxt_err), SIMIDX_OK);
	ck_assert_ptr_null(match.label);
	simidx_reader_close(reader);
	sxt_check_sound(index);
	simidx_close(index);

	/* The hash is right again, and stands for an id that there is not. */
	sxt_remove(path);
	t_change_entry(e, 2 + 7, 1);
	t_change_entry(e, 2 + 8, 1);
	t_n_told = 0;
	ck_assert_sx(simidx_repair(t_path, path, NULL, t_tell, NULL, &report, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(report.labels_lost, 0);
	ck_assert_uint_eq(report.doubts, 1);
	ck_assert_uint_eq(t_count_told(SIMIDX_LOSS_DOUBT, id), 1);
	ck_assert_uint_eq(t_count_told(SIMIDX_LOSS_DAMAGE, id ^ (uint64_t)1 << 56), 1);
	index = sxt_open(path, 0);
	reader = sxt_reader(index);
	ck_assert_sx(simidx_reader_find_id(reader, id, &match, &sxt_err), SIMIDX_OK);
	ck_assert(match.label_size == t_model.at[t_find_doc(id)].label_size);
	simidx_reader_close(reader);
	sxt_check_sound(index);
	simidx_close(index);
	free(path);
}
END_TEST

/* ---- tables that disagree ---- */

/* Give a document of one table another fingerprint, with a checksum that is right. */
static void change_fp(simidx *index, const sx_table *table, uint64_t id, uint64_t fp,
		      uint64_t new_fp, uint64_t fp2)
{
	int is_docs = table == &index->tables.docs;
	unsigned char key_bytes[SX_TABLE_MAX_KEY], bytes[64];
	uint64_t cols[SX_MAX_COLS] = { is_docs ? new_fp : id, fp2 };
	sx_sort_key old = { is_docs ? id : fp, is_docs ? 0 : id };
	sx_slice key = { key_bytes, sx_table_key(table, old, key_bytes) }, value = { bytes, 0 };
	sx_rows row;
	sx_txn *txn;

	sx_rows_init(&row, table->n_cols);
	sxt_must(!sx_rows_push(&row, is_docs ? id : new_fp, cols));
	sxt_must_ok(sx_store_lock(index->store, 0, &sxt_err));
	sxt_must_ok(sx_txn_begin_write(index->store, 0, &txn, &sxt_err));
	sxt_must_ok(sx_dbi_del(txn, table->dbi, key, &sxt_err));
	key.size = sx_table_key(table, sx_sort_key_of(table, &row, 0), key_bytes);
	value.size = sx_table_row_encode(table, &row, 0, key, bytes);
	sxt_must_ok(sx_dbi_put(txn, table->dbi, key, value, &sxt_err));
	sxt_must_ok(sx_txn_commit(txn, &sxt_err));
	sx_store_unlock(index->store);
	sx_rows_free(&row);
}

/* Keep which table is to blame for doubts about a document; `ctx` has its id. */
static const char *blamed;
static char blamed_table[16];

static void tell_and_keep(void *ctx, const simidx_loss *loss)
{
	if (loss->kind == SIMIDX_LOSS_DOUBT && loss->id == *(const uint64_t *)ctx) {
		ck_assert_uint_eq(loss->flags, SIMIDX_LOSS_HAS_FP);
		snprintf(blamed_table, sizeof(blamed_table), "%s", loss->table);
		blamed = blamed_table;
	}
	t_tell(NULL, loss);
}

/*
 * Bit 0 of the kind: docs is changed, else postings. With bit 1 the other one of them has a damaged
 * row besides, so that neither is whole.
 */
START_TEST(test_tables_that_disagree)
{
	int in_docs = _i & 1, both = _i & 2;
	simidx_repair_report report = SIMIDX_REPAIR_REPORT_INIT;
	char *path = sxt_path(t_dir, "new");
	const t_entry *e;
	const sxt_doc *doc;
	uint64_t id;
	simidx_reader *reader;
	simidx_match match;
	simidx *index;

	t_repair_begin(3);
	e = entry_of(IN_POSTINGS, NULL, 5);
	doc = &t_model.at[t_find_doc(e->key[0])];
	index = sxt_open(t_path, 0);
	change_fp(index, in_docs ? &index->tables.docs : &index->tables.postings, doc->id, doc->fp,
		  doc->fp ^ 1, doc->fp2);
	simidx_close(index);
	if (both)
		t_change_entry(entry_of(in_docs ? IN_POSTINGS : IN_DOCS, NULL, 100),
			       in_docs ? 18 : 10, 1);
	id = doc->id;
	blamed = NULL;
	sxt_must_ok(simidx_repair(t_path, path, NULL, tell_and_keep, &id, &report, &sxt_err));
	/* The one of them that is whole is right; else it is postings. */
	index = sxt_open(path, 0);
	reader = sxt_reader(index);
	ck_assert_sx(simidx_reader_find_id(reader, doc->id, &match, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(match.fp, both && !in_docs ? doc->fp ^ 1 : doc->fp);
	ck_assert_uint_eq((match.flags & SIMIDX_MATCH_FP2) != 0, in_docs || both);
	ck_assert_uint_eq(report.documents, T_DOCUMENTS);
	/* Where postings is whole, docs is not looked at. */
	ck_assert_uint_eq(t_count_told(SIMIDX_LOSS_DOUBT, doc->id), !in_docs || both);
	/* The table that is not believed. */
	ck_assert(!blamed == (in_docs && !both));
	if (blamed)
		ck_assert_str_eq(blamed, both ? "docs" : "postings");
	simidx_reader_close(reader);
	sxt_check_sound(index);
	simidx_close(index);
	free(path);
}
END_TEST

/* ---- merges that were cut off ---- */

struct copies {
	char *from, *to;
	unsigned step, wanted;
};

/* Between two steps of a merge: the file as it is then. */
static void copy_file(void *ctx, const char *phase, uint64_t done, uint64_t total)
{
	struct copies *c = ctx;
	size_t size;
	void *bytes;

	(void)phase;
	(void)done;
	(void)total;
	if (c->step++ != c->wanted)
		return;
	bytes = sxt_file_read(c->from, &size);
	sxt_file_write(c->to, bytes, size);
	free(bytes);
}

/* Documents that are in docs and in the fresh rows are there once; one of the two is enough. */
START_TEST(test_merge_that_was_cut_off)
{
	struct copies c = { .wanted = (unsigned)_i / 2 };
	char *other = sxt_path(t_dir, "other");
	simidx *index;

	t_repair_begin(_i % 2);
	index = sxt_open(t_path, 0);
	ck_assert_sx(simidx_backup(index, other, &sxt_err), SIMIDX_OK);
	simidx_close(index);
	c.from = sxt_path(other, "data.mdb");
	c.to = sxt_path(t_path, "data.mdb");
	index = sxt_open(other, 0);
	simidx_set_progress(index, copy_file, &c);
	sxt_merge(index);
	ck_assert_uint_gt(c.step, c.wanted);
	simidx_close(index);
	t_read_entries_again();
	t_damage(IN_FRESH, NULL);
	t_check_repair();
	free(c.from);
	free(c.to);
	free(other);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_damaged_page_of_a_tree, 0, T_SOME(24) },
	{ &test_labels_that_nothing_names, 0, T_SOME(4) },
	{ &test_blocks_that_changed_places, 0, T_SOME(1) },
	{ &test_damaged_copy_of_a_record, 0, T_SOME(6) },
	{ &test_all_copies_of_a_record, 0, 6 },
	{ &test_other_format, 0, 1 },
	{ &test_damaged_hash_of_a_label, 0, T_SOME(2) },
	{ &test_tables_that_disagree, 0, T_SOME(4) },
	{ &test_merge_that_was_cut_off, 0, T_SOME(12) },
	{ &test_sound_index_is_copied, 0, T_SOME(8) },
	{ &test_one_damaged_entry, 0, T_SOME(40) },
	{ &test_all_kinds_at_once, 0, T_SOME(8) },
	{ &test_half_of_everything, 0, T_SOME(8) },
};

SXT_SUITE(repair, t_repair_set_up, t_repair_tear_down);
