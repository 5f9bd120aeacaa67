/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Repairing an index whose fresh rows have changed and deleted documents: these stay as they are,
 * whatever older tables say, and none of it is told as lost.
 */

#include <stdio.h>
#include <stdlib.h>

#include <simidx_check.h>
#include <simidx_repair.h>

#include "support/sxt_fixture.h"
#include "support/sxt_repair.h"

#define CHANGES 20
#define IS_DELETED(d) ((d) % 7 == 3)

static size_t t_changed; /* place in the model of the document that changes many times */

/* It stands in the tables, and so does its fingerprint, which nobody else has. */
static void t_choose_changed(void)
{
	size_t like;

	t_find_left();
	for (t_changed = 0; t_changed < t_model.n; t_changed++) {
		if (IS_DELETED(t_changed) || !(t_where[t_changed] & IN_POSTINGS))
			continue;
		for (like = 0; like < t_model.n; like++)
			if (like != t_changed && t_model.at[like].fp == t_model.at[t_changed].fp)
				break;
		if (like == t_model.n)
			return;
	}
	sxt_fail("no document has a fingerprint of its own");
}

static uint64_t t_fp_after(size_t d)
{
	return d == t_changed ? t_model.at[d].fp ^ CHANGES : t_model.at[d].fp;
}

static void t_change_documents(void)
{
	simidx *index = sxt_open(t_path, 0);
	simidx_writer *writer = sxt_writer(index, 0);

	for (uint64_t i = 1; i <= CHANGES; i++) {
		const sxt_doc *d = &t_model.at[t_changed];
		simidx_doc doc = SIMIDX_DOC_INIT;

		doc.id = d->id;
		doc.fp = d->fp ^ i;
		doc.fp2 = d->fp2;
		doc.flags = t_flags & SIMIDX_CREATE_FP2 ? SIMIDX_DOC_FP2 : 0;
		sxt_must_ok(simidx_writer_replace(writer, &doc, NULL, &sxt_err));
	}
	for (size_t d = 0; d < t_model.n; d++)
		if (IS_DELETED(d))
			sxt_must_ok(simidx_writer_delete_id(writer, t_model.at[d].id, &sxt_err));
	sxt_commit(writer);
	simidx_writer_close(writer);
	simidx_close(index);
	t_read_entries_again();
}

/* Documents that were not deleted and are not there any more: how many, and if one has `fp`. */
static size_t t_count_missing(simidx_reader *reader, uint64_t fp, int *has_fp)
{
	simidx_match match;
	size_t missing = 0;

	*has_fp = 0;
	for (size_t d = 0; d < t_model.n; d++) {
		int rc = simidx_reader_find_id(reader, t_model.at[d].id, &match, &sxt_err);

		if (IS_DELETED(d)) {
			sxt_must_sx(rc, SIMIDX_E_NOT_FOUND);
		} else if (rc) {
			sxt_must_sx(rc, SIMIDX_E_NOT_FOUND);
			missing++;
			*has_fp |= t_fp_after(d) == fp;
		} else {
			sxt_must_eq(match.fp, t_fp_after(d));
		}
	}
	sxt_error_clear(&sxt_err);
	return missing;
}

START_TEST(test_what_rows_have_changed_is_believed)
{
	simidx_repair_report report = SIMIDX_REPAIR_REPORT_INIT;
	char *path = sxt_path(t_dir, "new");
	simidx_reader *reader;
	int has_fp, is_named;
	simidx *index;
	size_t missing;

	t_repair_begin(_i);
	t_choose_changed();
	t_change_documents();
	t_damage(IN_POSTINGS, NULL);
	t_damage(IN_DOCS, NULL);
	sxt_must_ok(simidx_repair(t_path, path, NULL, t_tell, NULL, &report, &sxt_err));
	index = sxt_open(path, 0);
	reader = sxt_reader(index);
	missing = t_count_missing(reader, 0, &has_fp);
	sxt_must_eq(report.documents_lost, missing);
	/* A fingerprint is told as lost only if a document is. */
	for (size_t i = 0; i < t_n_told; i++) {
		is_named = t_told_at[i].kind == SIMIDX_LOSS_DOCUMENT && t_told_at[i].has_fp;
		if (is_named && t_count_missing(reader, t_told_at[i].fp, &has_fp) && !has_fp)
			sxt_fail("fingerprint %016llx is told as lost",
				 (unsigned long long)t_told_at[i].fp);
		sxt_must(!is_named || missing);
	}
	simidx_reader_close(reader);
	sxt_check_sound(index);
	simidx_close(index);
	free(path);
}
END_TEST

/* ---- labels that deleted documents have left ---- */

/* Nothing is damaged, so nothing is told of them. */
START_TEST(test_labels_that_are_left_are_nobodys)
{
	simidx_repair_report report = SIMIDX_REPAIR_REPORT_INIT;
	char *path = sxt_path(t_dir, "new");
	simidx_reader *reader;
	simidx *index;
	int has_fp;

	t_repair_begin(_i);
	t_choose_changed();
	t_change_documents();
	sxt_must_ok(simidx_repair(t_path, path, NULL, t_tell, NULL, &report, &sxt_err));
	ck_assert_uint_eq(t_n_told, 0);
	ck_assert_uint_eq(report.documents_lost + report.labels_lost, 0);
	index = sxt_open(path, 0);
	reader = sxt_reader(index);
	ck_assert_uint_eq(t_count_missing(reader, 0, &has_fp), 0);
	simidx_reader_close(reader);
	sxt_check_sound(index);
	simidx_close(index);
	free(path);
}
END_TEST

/* The page of the entry that stands `eighths` of the way through those of a kind. */
static void t_damage_leaf_at(unsigned in, unsigned eighths)
{
	size_t n = 0, i;

	for (i = 0; i < t_n_entries; i++)
		n += t_entries[i].where == in;
	n = n * eighths / 8;
	for (i = 0; t_entries[i].where != in || n--; i++)
		;
	t_damage_leaf_of(&t_entries[i]);
}

/* How many labels are lost is what the header counts and nobody has: these are not among them. */
START_TEST(test_labels_that_are_left_hide_no_loss)
{
	simidx_repair_report report = SIMIDX_REPAIR_REPORT_INIT;
	char *path = sxt_path(t_dir, "new");
	uint64_t lost = 0;

	t_repair_begin(_i);
	t_choose_changed();
	t_change_documents();
	t_damage(IN_POSTINGS, NULL);
	t_damage(IN_DOCS, NULL);
	for (unsigned eighths = 0; eighths < 8; eighths++)
		t_damage_leaf_at(IN_BY_LABEL, eighths);
	/* Of documents in the tables, and not one that the changes have written anew. */
	t_damage_leaf_at(IN_LABELS, t_changed < t_model.n / 2 ? 5 : 2);
	t_find_left();
	for (size_t d = 0; d < t_model.n; d++) {
		int is_labelled = t_model.at[d].label_size && !IS_DELETED(d) && d != t_changed;
		/* its document is lost */
		int is_known = (t_where[d] & IN_BY_LABEL) && !t_is_left(d);

		lost += is_labelled && !(t_where[d] & IN_LABELS) && !is_known;
	}
	sxt_must_ok(simidx_repair(t_path, path, NULL, t_tell, NULL, &report, &sxt_err));
	ck_assert_uint_gt(lost, 0);
	ck_assert_uint_eq(report.labels_lost, lost);
	free(path);
}
END_TEST

/* The document of the first label that is in the tables. */
static size_t t_choose_labelled(void)
{
	size_t d = 0;

	t_find_left();
	while (!t_model.at[d].label_size || !(t_where[d] & IN_POSTINGS))
		d++;
	return d;
}

static void t_damage_fresh_row(uint64_t id)
{
	size_t i = 0;

	while (t_entries[i].where != IN_FRESH || t_entries[i].n != 1 || t_entries[i].key[0] != id)
		i++;
	t_damage_entry(&t_entries[i]);
}

/*
 * A document is deleted, another one gets its label, and the row that deletes is lost: the first
 * one comes back, but the label is the other one's.
 */
START_TEST(test_label_belongs_to_the_fresh_row)
{
	simidx_repair_report report = SIMIDX_REPAIR_REPORT_INIT;
	char *path = sxt_path(t_dir, "new");
	simidx_doc doc = SIMIDX_DOC_INIT;
	simidx_writer *writer;
	simidx_reader *reader;
	simidx_match match;
	const sxt_doc *d;
	simidx *index;
	uint64_t id;

	t_repair_begin(1 + 2 * _i);
	d = &t_model.at[t_choose_labelled()];
	index = sxt_open(t_path, 0);
	writer = sxt_writer(index, 0);
	sxt_must_ok(simidx_writer_delete_id(writer, d->id, &sxt_err));
	doc.fp = ~d->fp;
	doc.flags = t_flags & SIMIDX_CREATE_FP2 ? SIMIDX_DOC_FP2 : 0;
	doc.label = d->label;
	doc.label_size = d->label_size;
	sxt_must_ok(simidx_writer_put(writer, &doc, &id, &sxt_err));
	sxt_commit(writer);
	simidx_writer_close(writer);
	simidx_close(index);
	t_read_entries_again();
	t_damage_fresh_row(d->id);
	sxt_must_ok(simidx_repair(t_path, path, NULL, t_tell, NULL, &report, &sxt_err));
	ck_assert_uint_eq(report.documents, t_model.n + 1);
	ck_assert_uint_eq(t_count_told(SIMIDX_LOSS_LABEL, d->id), 1);
	ck_assert_uint_eq(report.labels_lost, 1);
	index = sxt_open(path, 0);
	reader = sxt_reader(index);
	ck_assert_sx(simidx_reader_find_label(reader, d->label, d->label_size, &match, &sxt_err),
		     SIMIDX_OK);
	ck_assert_uint_eq(match.id, id);
	ck_assert_sx(simidx_reader_find_id(reader, d->id, &match, &sxt_err), SIMIDX_OK);
	ck_assert(match.fp == d->fp && !(match.flags & SIMIDX_MATCH_LABEL));
	simidx_reader_close(reader);
	sxt_check_sound(index);
	simidx_close(index);
	free(path);
}
END_TEST

/* ---- lost changes ---- */

/*
 * Documents that are not as they are after the changes: deleted, but there; gone; or as they were.
 */
struct wrong {
	size_t back, missing, old;
};

static struct wrong t_find_wrong(const char *path)
{
	simidx *index = sxt_open(path, 0);
	simidx_reader *reader = sxt_reader(index);
	struct wrong wrong = { 0 };
	simidx_match match;

	sxt_check_sound(index);
	for (size_t d = 0; d < t_model.n; d++) {
		int rc = simidx_reader_find_id(reader, t_model.at[d].id, &match, &sxt_err);

		sxt_must(!rc || rc == SIMIDX_E_NOT_FOUND);
		wrong.back += !rc && IS_DELETED(d);
		wrong.missing += rc && !IS_DELETED(d);
		wrong.old += !rc && !IS_DELETED(d) && match.fp != t_fp_after(d);
	}
	simidx_reader_close(reader);
	simidx_close(index);
	return wrong;
}

/* A file without free pages, in which an entry could be found as it was in an earlier commit. */
static void t_drop_free_pages(void)
{
	char *copy = sxt_path(t_dir, "copy");
	simidx *index = sxt_open(t_path, 0);

	sxt_must_ok(simidx_backup(index, copy, &sxt_err));
	simidx_close(index);
	sxt_remove(t_path);
	sxt_must(!rename(copy, t_path));
	free(copy);
	t_read_entries_again();
}

/* Damage one of several entries of the log. */
static void t_damage_fresh(int i)
{
	size_t n = 0, at = 0, chosen;

	for (size_t k = 0; k < t_n_entries; k++)
		n += t_entries[k].where == IN_FRESH;
	chosen = (size_t)i * n / 3 + sxt_rng_below(&t_rng, n / 3 + 1);
	for (size_t k = 0; k < t_n_entries; k++)
		if (t_entries[k].where == IN_FRESH && at++ == chosen && !t_entries[k].is_damaged)
			t_damage_entry(&t_entries[k]);
}

/*
 * The log alone has what was deleted and replaced since the last merge. With a part of it lost,
 * some of that is as it was before: nothing tells of which documents, but that it is so is told,
 * how many changes it may be, and how many documents may be lost.
 */
START_TEST(test_lost_changes_are_told)
{
	simidx_repair_report report = SIMIDX_REPAIR_REPORT_INIT;
	char *path = sxt_path(t_dir, "new");
	struct wrong wrong;

	t_repair_begin(_i % 4);
	t_choose_changed();
	t_change_documents();
	t_drop_free_pages();
	for (int i = 0; i <= _i / 4 % 3; i++)
		t_damage_fresh(i);
	/* what is lost of the tables hides no document that is back, nor the other way round */
	if (_i % 2) {
		t_damage(IN_POSTINGS, NULL);
		t_damage(IN_DOCS, NULL);
	}
	sxt_must_ok(simidx_repair(t_path, path, NULL, t_tell, NULL, &report, &sxt_err));
	ck_assert_uint_eq(report.changes_lost, t_damaged_changes());
	ck_assert_uint_ge(t_count_told(SIMIDX_LOSS_CHANGES, SIMIDX_NO_ID), 1);
	ck_assert_uint_le(t_count_told(SIMIDX_LOSS_CHANGES, SIMIDX_NO_ID), report.changes_lost);
	wrong = t_find_wrong(path);
	ck_assert_uint_ge(report.documents_lost, wrong.missing);
	ck_assert_uint_ge(report.documents_lost, report.changes_lost);
	ck_assert_uint_le(wrong.back + wrong.old, report.changes_lost);
	free(path);
}
END_TEST

/* All of the log: everything is as it was at the last merge. */
START_TEST(test_all_changes_are_lost)
{
	simidx_repair_report report = SIMIDX_REPAIR_REPORT_INIT;
	char *path = sxt_path(t_dir, "new");
	struct wrong wrong;

	t_repair_begin(_i);
	t_choose_changed();
	t_change_documents();
	t_drop_free_pages();
	for (size_t i = 0; i < t_n_entries; i++)
		if (t_entries[i].where == IN_FRESH)
			t_damage_entry(&t_entries[i]);
	sxt_must_ok(simidx_repair(t_path, path, NULL, t_tell, NULL, &report, &sxt_err));
	ck_assert_uint_eq(t_count_told(SIMIDX_LOSS_CHANGES, SIMIDX_NO_ID), 1);
	ck_assert_uint_eq(report.changes_lost, t_damaged_changes());
	wrong = t_find_wrong(path);
	ck_assert_uint_gt(wrong.back, 100);
	ck_assert_uint_eq(wrong.old, 1);
	ck_assert_uint_gt(wrong.missing, 100);
	ck_assert_uint_ge(report.documents_lost, wrong.missing);
	free(path);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_what_rows_have_changed_is_believed, 0, 4 },
	{ &test_labels_that_are_left_are_nobodys, 0, 4 },
	{ &test_labels_that_are_left_hide_no_loss, 0, 4 },
	{ &test_label_belongs_to_the_fresh_row, 0, 2 },
	{ &test_lost_changes_are_told, 0, T_SOME(24) },
	{ &test_all_changes_are_lost, 0, 4 },
};

SXT_SUITE(repair_live, t_repair_set_up, t_repair_tear_down);
