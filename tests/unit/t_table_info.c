/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What simidx_get_table_info() tells of an index that has documents, labels and notes, merged and
 * not: against what was put, against what simidx_get_info() tells of the file, and against what
 * simidx_verify() looks at.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simidx_check.h>
#include <simidx_load.h>

#include "support/sxt_fixture.h"
#include "support/sxt_index.h"

#define MOST 16

/* The sub-databases in their order, by name. */
enum { T01, T02, T03, T04, POSTINGS, DOCS, FRESH, LABELS, BY_LABEL, NOTES, TABLES };

static void read_all(simidx *index, simidx_table_info table[TABLES])
{
	simidx_table_info more = SIMIDX_TABLE_INFO_INIT;

	for (unsigned i = 0; i < TABLES; i++) {
		table[i] = (simidx_table_info)SIMIDX_TABLE_INFO_INIT;
		sxt_must_ok(simidx_get_table_info(index, i, &table[i], &sxt_err));
	}
	sxt_must_sx(simidx_get_table_info(index, TABLES, &more, &sxt_err), SIMIDX_E_END);
}

/* Document number i: every third has a label, every fourth a note, two have one fingerprint. */
static simidx_doc document(uint64_t i, char *label, char *note)
{
	simidx_doc doc = t_document(i, (i / 2) << 32 | i / 2, NULL);

	memset(note, 'n', MOST);
	if (i % 3 == 0) {
		doc.label = label;
		doc.label_size = (size_t)sprintf(label, "label %u", (unsigned)i);
	}
	if (i % 4 == 0) {
		doc.note = note;
		doc.note_size = 1 + i % MOST;
	}
	return doc;
}

/* Store documents [0, n), in this order or from the last to the first. */
static simidx *make(const char *path, unsigned layout, uint64_t n, int backwards)
{
	simidx_create_options create = SIMIDX_CREATE_OPTIONS_INIT;
	char label[32], note[MOST];
	simidx_writer *writer;
	simidx *index;

	create.layout = layout;
	create.plan = "4x16";
	create.flags = SIMIDX_CREATE_NOTES;
	index = sxt_create(path, &create);
	writer = sxt_writer(index, 0);
	for (uint64_t i = 0; i < n; i++) {
		simidx_doc doc = document(backwards ? n - 1 - i : i, label, note);

		sxt_must_ok(simidx_writer_put(writer, &doc, NULL, &sxt_err));
	}
	sxt_commit(writer);
	simidx_writer_close(writer);
	return index;
}

START_TEST(test_entries_and_their_bytes)
{
	enum { N = 20000, PER_LABEL = 8, PER_NOTE = 8 + 4 }; /* their keys, and a checksum */
	uint64_t labels = 0, label_bytes = 0, notes = 0, note_bytes = 0, pages = 0;
	simidx *index = make(t_path, (unsigned)_i, N, 0);
	simidx_table_info table[TABLES];
	char label[32], note[MOST];
	simidx_info info;

	for (uint64_t i = 0; i < N; i++) {
		simidx_doc doc = document(i, label, note);

		labels += doc.label != NULL;
		label_bytes += doc.label ? PER_LABEL + doc.label_size : 0;
		notes += doc.note != NULL;
		note_bytes += doc.note ? PER_NOTE + doc.note_size : 0;
	}
	read_all(index, table);
	for (unsigned i = 0; i < TABLES; i++) {
		uint64_t entries = i == FRESH ? N : i == LABELS ? labels : i == NOTES ? notes : 0;

		ck_assert_uint_eq(table[i].entries, entries);
		ck_assert_int_eq(table[i].pages != 0, entries != 0);
		ck_assert_uint_eq(table[i].unknown_fp2, 0);
	}
	ck_assert_uint_eq(table[LABELS].bytes_used, label_bytes);
	ck_assert_uint_eq(table[NOTES].bytes_used, note_bytes);
	sxt_merge(index);
	read_all(index, table);
	info = t_info(index);
	for (unsigned i = 0; i < TABLES; i++) {
		static const uint64_t entries[] = { N / 2, N / 2, N / 2, N / 2, N, N, 0 };
		int is_table = i < FRESH;

		ck_assert_uint_eq(table[i].entries, i <= FRESH ? entries[i]
						    : i == NOTES ? notes : labels);
		/* In the rows layout, and of labels and notes always, each has a key of its own. */
		if (_i == SIMIDX_LAYOUT_ROWS || !is_table)
			ck_assert_uint_eq(table[i].keys, table[i].entries);
		else
			ck_assert_uint_lt(table[i].keys, table[i].entries / 10);
		ck_assert_uint_eq(table[i].overflow_pages,
				  _i == SIMIDX_LAYOUT_BLOCKS && is_table ? table[i].keys : 0);
		ck_assert_uint_le(table[i].bytes_used, table[i].pages * info.page_bytes);
		ck_assert_uint_ge(table[i].pages, table[i].overflow_pages);
		pages += table[i].pages;
	}
	ck_assert_uint_eq(table[LABELS].bytes_used, label_bytes);
	ck_assert_uint_eq(table[NOTES].bytes_used, note_bytes);
	ck_assert_uint_eq(info.distinct, N / 2);
	ck_assert_uint_eq(info.labels, labels);
	ck_assert_uint_eq(info.notes, notes);
	ck_assert_uint_le(info.used_bytes, info.file_bytes);
	ck_assert_uint_eq(info.file_bytes % info.page_bytes, 0);
	/* All but LMDB's own pages, the table of tables, and the header with the profile. */
	ck_assert_uint_gt(info.used_bytes / info.page_bytes, pages);
	ck_assert_uint_le(info.used_bytes / info.page_bytes, pages + 8);
	simidx_close(index);
}
END_TEST

/* The sum of the hashes of entries does not depend on their order, nor on the layout. */
START_TEST(test_digests)
{
	char *other_path = sxt_path(t_dir, "other");
	simidx *index = make(t_path, SIMIDX_LAYOUT_BLOCKS, 100, 0);
	simidx *other = make(other_path, SIMIDX_LAYOUT_ROWS, 100, 1);
	simidx_table_info a[TABLES], b[TABLES];

	read_all(index, a);
	for (unsigned i = 0; i < TABLES; i++)
		ck_assert_uint_eq(a[i].digest, 0);
	sxt_merge(index);
	sxt_merge(other);
	read_all(index, a);
	read_all(other, b);
	for (unsigned i = 0; i < TABLES; i++) {
		ck_assert_uint_eq(a[i].digest, b[i].digest);
		ck_assert_int_eq(a[i].digest != 0, i < FRESH);
		if (i <= T04)
			ck_assert_uint_eq(a[i].digest, a[T01].digest);
	}
	ck_assert_uint_eq(a[POSTINGS].digest, a[DOCS].digest); /* of the same two numbers */
	simidx_close(other);
	simidx_close(index);
	free(other_path);
}
END_TEST

static void count(void *ctx, const simidx_problem *problem)
{
	(void)problem;
	++*(unsigned *)ctx;
}

/* All blocks or rows of all tables but labels and notes, which have neither. */
START_TEST(test_what_verify_looks_at)
{
	simidx_verify_report report = SIMIDX_VERIFY_REPORT_INIT;
	simidx *index = make(t_path, (unsigned)_i, 3000, 0);
	simidx_writer *writer = sxt_writer(index, 0);
	simidx_table_info table[TABLES];
	unsigned problems = 0;

	sxt_merge(index);
	for (uint64_t id = 5000; id < 5007; id++)
		ck_assert_int_eq(t_put(writer, id, id, NULL), SIMIDX_OK);
	sxt_must_ok(simidx_writer_delete_id(writer, 4, &sxt_err));
	sxt_commit(writer);
	read_all(index, table);
	sxt_must_ok(simidx_verify(index, count, &problems, &report, &sxt_err));
	for (unsigned i = 0; i < TABLES; i++) {
		if (i == LABELS || i == NOTES)
			continue;
		report.blocks -= table[i].keys;
		report.entries -= table[i].entries;
	}
	ck_assert_uint_eq(report.blocks, 0);
	ck_assert_uint_eq(report.entries, 0);
	ck_assert_uint_eq(report.documents, 3006);
	ck_assert_uint_eq(report.problems, 0);
	ck_assert_uint_eq(report.mended, 0);
	ck_assert_uint_eq(problems, 0);
	simidx_writer_close(writer);
	simidx_close(index);
}
END_TEST

/* Of documents that a loader takes, and of others that are put where some lack it already. */
START_TEST(test_second_fingerprints_that_are_not_known)
{
	simidx_create_options create = SIMIDX_CREATE_OPTIONS_INIT;
	simidx_table_info table = SIMIDX_TABLE_INFO_INIT;
	simidx_doc doc = SIMIDX_DOC_INIT;
	simidx_loader *loader;
	simidx_writer *writer;
	simidx *index;

	create.flags = SIMIDX_CREATE_FP2;
	create.plan = "4x16";
	create.layout = (unsigned)_i;
	sxt_must_ok(simidx_loader_open(t_path, &create, NULL, &loader, &sxt_err));
	for (unsigned i = 0; i < 5; i++) {
		doc.flags = i < 3 ? SIMIDX_DOC_FP2_UNKNOWN : SIMIDX_DOC_FP2;
		sxt_must_ok(simidx_loader_put(loader, &doc, NULL, &sxt_err));
	}
	sxt_must_ok(simidx_loader_finish(loader, NULL, &sxt_err));
	simidx_loader_close(loader);
	index = sxt_open(t_path, 0);
	writer = sxt_writer(index, 0);
	for (unsigned i = 0; i < 9; i++) {
		doc.flags = i < 2 ? SIMIDX_DOC_FP2_UNKNOWN : SIMIDX_DOC_FP2;
		sxt_must_ok(simidx_writer_put(writer, &doc, NULL, &sxt_err));
	}
	sxt_commit(writer);
	for (unsigned is_merged = 0; is_merged < 2; is_merged++) {
		for (unsigned i = 0; i <= BY_LABEL; i++) {
			uint64_t want = i == POSTINGS ? is_merged ? 5 : 3
					: i == FRESH && !is_merged ? 2 : 0;

			sxt_must_ok(simidx_get_table_info(index, i, &table, &sxt_err));
			ck_assert_uint_eq(table.unknown_fp2, want);
		}
		sxt_merge(index);
	}
	simidx_writer_close(writer);
	simidx_close(index);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_entries_and_their_bytes, 0, 2 },
	{ &test_digests, 0, 1 },
	{ &test_what_verify_looks_at, 0, 2 },
	{ &test_second_fingerprints_that_are_not_known, 0, 2 },
};

SXT_SUITE(table_info, sxt_set_up_path, sxt_tear_down);
