/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Arguments of the calls on an open index: NULL, sizes, flags and ranges that are refused, and
 * where what is listed ends.
 */

#include <stdlib.h>
#include <string.h>

#include <simidx_batch.h>
#include <simidx_check.h>
#include <simidx_info.h>
#include <simidx_walk.h>

#include "support/sxt_fixture.h"
#include "support/sxt_index.h"

START_TEST(test_null_arguments_are_refused)
{
	simidx *index = t_numbered(t_path, 1, 0);
	simidx_reader *reader = sxt_reader(index);
	simidx_table_info table = SIMIDX_TABLE_INFO_INIT;
	simidx_results results = SIMIDX_RESULTS_INIT;
	simidx_query query = SIMIDX_QUERY_INIT;
	simidx_info info = SIMIDX_INFO_INIT;
	simidx_reader *no_reader = reader;
	simidx_match match;

#define ARG(call) ck_assert_sx(call, SIMIDX_E_ARG)
	ARG(simidx_get_info(NULL, &info, &sxt_err));
	ARG(simidx_get_info(index, NULL, &sxt_err));
	ARG(simidx_get_table_info(NULL, 0, &table, &sxt_err));
	ARG(simidx_get_table_info(index, 0, NULL, &sxt_err));
	ARG(simidx_reader_open(NULL, &no_reader, &sxt_err));
	ck_assert_ptr_null(no_reader);
	ARG(simidx_reader_open(index, NULL, &sxt_err));
	results.n = 1;
	ARG(simidx_reader_search(NULL, &query, &results, &sxt_err));
	ck_assert_uint_eq(results.n, 0);
	ARG(simidx_reader_search(reader, NULL, &results, &sxt_err));
	ARG(simidx_reader_search(reader, &query, NULL, &sxt_err));
	match.fp = 1;
	ARG(simidx_reader_find_id(NULL, 0, &match, &sxt_err));
	ck_assert_uint_eq(match.fp, 0);
	ARG(simidx_reader_find_id(reader, 0, NULL, &sxt_err));
	ARG(simidx_reader_find_label(NULL, "x", 1, &match, &sxt_err));
	ARG(simidx_reader_find_label(reader, NULL, 1, &match, &sxt_err));
	ARG(simidx_reader_find_label(reader, "x", 1, NULL, &sxt_err));
	simidx_reader_close(NULL);
	simidx_reader_close(reader);
	simidx_close(index);
}
END_TEST

START_TEST(test_null_arguments_of_writers_are_refused)
{
	simidx *index = t_numbered(t_path, 1, 0);
	simidx_writer *writer = sxt_writer(index, 0), *no_writer = writer;
	simidx_verify_report report = SIMIDX_VERIFY_REPORT_INIT;
	simidx_doc doc = SIMIDX_DOC_INIT;
	simidx_match match;
	simidx_walk *walk;
	uint64_t id;

	ARG(simidx_walk_open(NULL, &walk, &sxt_err));
	ck_assert_ptr_null(walk);
	ARG(simidx_walk_open(index, NULL, &sxt_err));
	match.fp = 1;
	ARG(simidx_walk_next(NULL, &match, &sxt_err));
	ck_assert_uint_eq(match.fp, 0);
	ARG(simidx_writer_open(NULL, NULL, &no_writer, &sxt_err));
	ck_assert_ptr_null(no_writer);
	ARG(simidx_writer_open(index, NULL, NULL, &sxt_err));
	ARG(simidx_writer_put(NULL, &doc, &id, &sxt_err));
	ARG(simidx_writer_put(writer, NULL, &id, &sxt_err));
	ck_assert_uint_eq(id, SIMIDX_NO_ID);
	ARG(simidx_writer_replace(writer, &doc, &id, &sxt_err)); /* no id and no label */
	ARG(simidx_writer_delete_id(NULL, 0, &sxt_err));
	ARG(simidx_writer_delete_label(NULL, "x", 1, &sxt_err));
	ARG(simidx_writer_delete_label(writer, NULL, 1, &sxt_err));
	ck_assert_sx(simidx_writer_touch(writer, 0, 1, &sxt_err), SIMIDX_E_MISMATCH);
	ARG(simidx_writer_commit(NULL, &sxt_err));
	ARG(simidx_writer_merge(NULL, &sxt_err));
	ARG(simidx_verify(NULL, NULL, NULL, &report, &sxt_err));
	ARG(simidx_backup(NULL, t_path, &sxt_err));
	ARG(simidx_backup(index, NULL, &sxt_err));

	simidx_close(NULL);
	simidx_writer_close(NULL);
	simidx_walk_close(NULL);
	simidx_writer_rollback(NULL);
	simidx_set_progress(NULL, NULL, NULL);
	ck_assert_uint_eq(simidx_writer_pending(NULL), 0);
	simidx_writer_close(writer);
	simidx_close(index);
}
END_TEST

START_TEST(test_unknown_sizes_and_flags_are_refused)
{
	simidx *index = t_numbered(t_path, 1, 0);
	simidx_reader *reader = sxt_reader(index);
	simidx_writer *writer = sxt_writer(index, 0);
	simidx_writer_options how = SIMIDX_WRITER_OPTIONS_INIT;
	simidx_verify_report report = SIMIDX_VERIFY_REPORT_INIT;
	simidx_table_info table = SIMIDX_TABLE_INFO_INIT;
	simidx_results results = SIMIDX_RESULTS_INIT;
	simidx_query query = SIMIDX_QUERY_INIT;
	simidx_info info = SIMIDX_INFO_INIT;
	simidx_doc doc = SIMIDX_DOC_INIT;

	info.size = 0;
	ARG(simidx_get_info(index, &info, &sxt_err));
	table.size = 4097;
	ARG(simidx_get_table_info(index, 0, &table, &sxt_err));
	report.size = 0;
	ARG(simidx_verify(index, NULL, NULL, &report, &sxt_err));
	query.size = 16;
	ARG(simidx_reader_search(reader, &query, &results, &sxt_err));
	query.size = sizeof(query);
	query.flags = 1u << 31;
	ARG(simidx_reader_search(reader, &query, &results, &sxt_err));
	query.flags = 0;
	query.mode = SIMIDX_NEAREST + 1;
	ARG(simidx_reader_search(reader, &query, &results, &sxt_err));
	query.mode = SIMIDX_NEAREST; /* without a limit */
	ARG(simidx_reader_search(reader, &query, &results, &sxt_err));
	query.mode = SIMIDX_ALL;
	query.probes = 1; /* without weights, and so is the next one */
	ARG(simidx_reader_search(reader, &query, &results, &sxt_err));
	query.probes = 0;
	query.complete = 1;
	ARG(simidx_reader_search(reader, &query, &results, &sxt_err));
	query.complete = 0;
	ck_assert_sx(simidx_reader_search(reader, &query, &results, &sxt_err), SIMIDX_OK);
	results.size = 16;
	ARG(simidx_reader_search(reader, &query, &results, &sxt_err));
	doc.size = 0;
	ARG(simidx_writer_put(writer, &doc, NULL, &sxt_err));
	doc.size = sizeof(doc);
	doc.flags = 8;
	ARG(simidx_writer_put(writer, &doc, NULL, &sxt_err));
	doc.flags = 0;
	doc.time = 1; /* without its flag */
	ARG(simidx_writer_put(writer, &doc, NULL, &sxt_err));
#undef ARG
#define OPTIONS(change)                                                                       \
	do {                                                                                  \
		simidx_writer_options good = how;                                             \
		simidx_writer *none = writer;                                                 \
                                                                                              \
		change;                                                                       \
		ck_assert_sx(simidx_writer_open(index, &how, &none, &sxt_err), SIMIDX_E_ARG); \
		ck_assert_ptr_null(none);                                                     \
		how = good;                                                                   \
	} while (0)
	OPTIONS(how.size = 0);
	OPTIONS(how.flags = 2);
	OPTIONS(how.durability = 2);
	OPTIONS(how.merge = 3);
	OPTIONS(how.wait_ms = -2);
#undef OPTIONS
	simidx_writer_close(writer);
	simidx_reader_close(reader);
	simidx_close(index);
}
END_TEST

START_TEST(test_queries_out_of_range_are_refused)
{
	simidx_create_options o = SIMIDX_CREATE_OPTIONS_INIT;
	simidx_results results = SIMIDX_RESULTS_INIT;
	simidx_query query = SIMIDX_QUERY_INIT;
	simidx_reader *reader;
	simidx *index;

	o.bits = 33;
	index = sxt_create(t_path, &o);
	reader = sxt_reader(index);
	query.radius = SIMIDX_MAX_RADIUS + 1;
	results.n = 7;
	ck_assert_sx(simidx_reader_search(reader, &query, &results, &sxt_err), SIMIDX_E_RANGE);
	ck_assert_uint_eq(results.n, 0);
	ck_assert_ptr_null(results.matches);
	query.radius = 64;
	ck_assert_sx(simidx_reader_search(reader, &query, &results, &sxt_err), SIMIDX_E_RANGE);
	query.radius = 0;
	query.fp = UINT64_C(1) << 33;
	ck_assert_sx(simidx_reader_search(reader, &query, &results, &sxt_err), SIMIDX_E_RANGE);
	ck_assert_int_eq(sxt_err.code, SIMIDX_E_RANGE);
	query.fp--;
	ck_assert_sx(simidx_reader_search(reader, &query, &results, &sxt_err), SIMIDX_OK);
	simidx_reader_close(reader);
	simidx_close(index);
}
END_TEST

/* Names and sums of all sub-databases, with ids and without. */
START_TEST(test_info_of_all_tables)
{
	static const char *const names[] = { "t01",  "t02",   "t03",    "t04",     "postings",
					     "docs", "fresh", "labels", "by_label" };
	static const char *const bare[] = { "t01", "t02", "t03", "t04", "fresh" };
	int without = _i;
	simidx *index = t_numbered(t_path, 5, without ? SIMIDX_CREATE_NO_IDS : 0);
	unsigned n = without ? 5 : 9;
	simidx_table_info t = SIMIDX_TABLE_INFO_INIT;

	sxt_merge(index);
	for (unsigned i = 0; i < n; i++) {
		int is_label = i > 6, is_fresh = i == (without ? 4 : 6);

		ck_assert_sx(simidx_get_table_info(index, i, &t, &sxt_err), SIMIDX_OK);
		ck_assert_str_eq(t.name, without ? bare[i] : names[i]);
		ck_assert_uint_eq(t.prefix_bits, i < 4 ? 16 : 0);
		ck_assert_uint_eq(t.prefix_mask, i < 4 ? 0xffffULL << (48 - 16 * i) : 0);
		ck_assert_uint_eq(t.entries, is_label || is_fresh ? 0 : 5);
		ck_assert_uint_eq(t.keys, is_label || is_fresh ? 0 : 1);
		ck_assert_uint_eq(t.overflow_pages, t.keys);
		ck_assert_int_eq(t.digest != 0, !is_label && !is_fresh);
	}
	ck_assert_sx(simidx_get_table_info(index, n, &t, &sxt_err), SIMIDX_E_END);
	ck_assert_int_eq(sxt_err.code, SIMIDX_E_END);
	ck_assert_uint_ne(strlen(sxt_err.text), 0);
	ck_assert_sx(simidx_get_table_info(index, UINT32_MAX, &t, &sxt_err), SIMIDX_E_END);
	simidx_close(index);
}
END_TEST

/* The last error of a walk has a code and a text like any other. */
START_TEST(test_end_of_walk_is_an_error_with_text)
{
	simidx *index = t_numbered(t_path, 2, 0);
	simidx_match match;
	simidx_walk *walk;

	ck_assert_sx(simidx_walk_open(index, &walk, &sxt_err), SIMIDX_OK);
	for (uint64_t id = 0; id < 2; id++) {
		ck_assert_sx(simidx_walk_next(walk, &match, &sxt_err), SIMIDX_OK);
		ck_assert_uint_eq(match.id, id);
	}
	ck_assert_sx(simidx_walk_next(walk, &match, &sxt_err), SIMIDX_E_END);
	ck_assert_int_eq(sxt_err.code, SIMIDX_E_END);
	ck_assert_uint_ne(strlen(sxt_err.text), 0);
	simidx_walk_close(walk);
	simidx_close(index);
}
END_TEST

static int refuse_answers(void *ctx, size_t i, const simidx_results *results)
{
	(void)ctx;
	(void)i;
	(void)results;
	ck_abort_msg("there is nothing to deliver");
	return 1;
}

START_TEST(test_bad_batches_are_refused)
{
	simidx_batch_options o = SIMIDX_BATCH_OPTIONS_INIT;
	simidx *index = t_numbered(t_path, 10, 0);
	simidx_reader *reader = sxt_reader(index);
	simidx_query q = SIMIDX_QUERY_INIT;

	ck_assert_sx(simidx_reader_search_batch(reader, &q, 1, &o, &sxt_err), SIMIDX_E_ARG);
	o.deliver = refuse_answers;
	ck_assert_sx(simidx_reader_search_batch(NULL, &q, 1, &o, &sxt_err), SIMIDX_E_ARG);
	ck_assert_sx(simidx_reader_search_batch(reader, NULL, 1, &o, &sxt_err), SIMIDX_E_ARG);
	ck_assert_sx(simidx_reader_search_batch(reader, &q, 1, NULL, &sxt_err), SIMIDX_E_ARG);
	ck_assert_sx(simidx_reader_search_batch(reader, NULL, 0, &o, &sxt_err), SIMIDX_OK);
	o.size = 16;
	ck_assert_sx(simidx_reader_search_batch(reader, &q, 1, &o, &sxt_err), SIMIDX_E_ARG);
	o.size = sizeof(o);
	q.size = 16;
	ck_assert_sx(simidx_reader_search_batch(reader, &q, 1, &o, &sxt_err), SIMIDX_E_ARG);
	simidx_reader_close(reader);
	simidx_close(index);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_null_arguments_are_refused, 0, 1 },
	{ &test_null_arguments_of_writers_are_refused, 0, 1 },
	{ &test_unknown_sizes_and_flags_are_refused, 0, 1 },
	{ &test_queries_out_of_range_are_refused, 0, 1 },
	{ &test_bad_batches_are_refused, 0, 1 },
	{ &test_info_of_all_tables, 0, 2 },
	{ &test_end_of_walk_is_an_error_with_text, 0, 1 },
};

SXT_SUITE(index_args, sxt_set_up_path, sxt_tear_down);
