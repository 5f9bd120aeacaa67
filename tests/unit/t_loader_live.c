/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The bulk loader when it is stopped or fails, with more than fits in memory; and marks.
 */

#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <simidx_check.h>
#include <simidx_info.h>
#include <simidx_sketch.h>
#include <simidx_walk.h>

#include "index/sx_index.h"
#include "support/sxt_index.h"
#include "support/sxt_load.h"

/* Rows that are refused at once count, so that later ones are told by the right number. */
START_TEST(test_refused_rows_are_counted)
{
	simidx_create_options create = sxt_create_of(&sxt_forms[3]);
	sxt_heard heard;
	simidx_loader *loader = sxt_loader(&create, SIMIDX_DUPLICATES_REJECT, &heard);
	simidx_doc doc = SIMIDX_DOC_INIT;
	simidx_loader_report report = { .size = 1 }; /* too small */
	simidx *index;

	doc.id = 5;
	ck_assert_sx(simidx_loader_put(loader, &doc, NULL, &sxt_err), SIMIDX_OK);
	doc.fp = (uint64_t)1 << 32;
	ck_assert_sx(simidx_loader_put(loader, &doc, NULL, &sxt_err), SIMIDX_E_RANGE);
	doc.fp = 7;
	doc.id = (uint64_t)1 << 63;
	ck_assert_sx(simidx_loader_put(loader, &doc, NULL, &sxt_err), SIMIDX_E_RANGE);
	doc.id = 5;
	doc.flags = SIMIDX_DOC_FP2;
	ck_assert_sx(simidx_loader_put(loader, &doc, NULL, &sxt_err), SIMIDX_E_MISMATCH);
	doc.flags = 0;
	ck_assert_sx(simidx_loader_put(loader, &doc, NULL, &sxt_err), SIMIDX_OK);
	ck_assert_sx(simidx_loader_finish(loader, NULL, &sxt_err), SIMIDX_OK);
	ck_assert_sx(simidx_loader_finish(loader, &report, &sxt_err), SIMIDX_E_ARG);
	ck_assert_sx(simidx_loader_finish(loader, NULL, &sxt_err), SIMIDX_E_STATE);
	ck_assert_sx(simidx_loader_put(loader, &doc, NULL, &sxt_err), SIMIDX_E_STATE);
	ck_assert_sx(simidx_loader_expect(loader, 1, 1, &sxt_err), SIMIDX_E_STATE);
	ck_assert_sx(simidx_loader_set_mark(loader, "1", 1, &sxt_err), SIMIDX_E_STATE);
	ck_assert_sx(simidx_loader_reserve_ids(loader, 99, &sxt_err), SIMIDX_E_STATE);
	index = sxt_open(sxt_load_path, 0);
	ck_assert_sx(simidx_loader_add_index(loader, index, &sxt_err), SIMIDX_E_STATE);
	simidx_loader_close(loader);
	ck_assert_uint_eq(heard.n, 1);
	ck_assert(heard.rejected[4]);
	ck_assert_uint_eq(t_info(index).next_id, 6);
	sxt_check_sound(index);
	simidx_close(index);
}
END_TEST

/* Many documents on one fingerprint: one entry in each table. */
START_TEST(test_load_of_one_fingerprint)
{
	simidx_create_options create = sxt_create_of(&sxt_forms[0]);
	simidx_loader *loader = sxt_loader(&create, 0, NULL);
	simidx_doc doc = SIMIDX_DOC_INIT;
	simidx_table_info table = SIMIDX_TABLE_INFO_INIT;
	simidx_query query = SIMIDX_QUERY_INIT;
	simidx_results results = SIMIDX_RESULTS_INIT;
	simidx_loader_report report;
	simidx_reader *reader;
	simidx *index;

	doc.fp = query.fp = 0x0123456789abcdef;
	for (int i = 0; i < 100000; i++)
		sxt_must_ok(simidx_loader_put(loader, &doc, NULL, &sxt_err));
	sxt_load_finish(loader, &report);
	ck_assert_uint_eq(report.documents, 100000);
	ck_assert_uint_eq(report.distinct, 1);
	index = sxt_open(sxt_load_path, 0);
	sxt_check_sound(index);
	ck_assert_sx(simidx_get_table_info(index, 2, &table, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(table.entries, 1);
	reader = sxt_reader(index);
	ck_assert_sx(simidx_reader_search(reader, &query, &results, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(results.n, 100000);
	ck_assert_uint_eq(results.matches[99999].id, 99999);
	simidx_reader_close(reader);
	simidx_close(index);
}
END_TEST

/* ---- errors ---- */

START_TEST(test_stop_leaves_index_as_it_was)
{
	simidx_create_options create = sxt_create_of(&sxt_forms[0]);
	uint64_t stops = 1;
	int stopped = 1;

	/* At each of the moments at which it asks, until there are no more. */
	for (uint64_t at = 1; stopped; at++) {
		sxt_heard heard;
		simidx_loader *loader = sxt_loader(&create, 0, &heard);
		int rc;

		heard.stop_at = at;
		for (int i = 0; i < 100; i++) {
			simidx_doc doc = SIMIDX_DOC_INIT;

			doc.fp = sxt_rng_u64(&sxt_load_rng);
			ck_assert_sx(simidx_loader_put(loader, &doc, NULL, &sxt_err), SIMIDX_OK);
		}
		rc = simidx_loader_finish(loader, NULL, &sxt_err);
		stopped = rc == SIMIDX_E_STOPPED;
		stops += (uint64_t)stopped;
		if (!stopped)
			ck_assert_int_eq(rc, SIMIDX_OK);
		ck_assert_int_eq(access(sxt_load_path, F_OK), stopped ? -1 : 0);
		simidx_loader_close(loader);
		ck_assert_int_eq(sxt_load_hidden(), 0);
	}
	ck_assert_uint_gt(stops, 4);
}
END_TEST

START_TEST(test_bad_calls_are_refused)
{
	simidx_create_options create = sxt_create_of(&sxt_forms[0]);
	simidx_loader_options o = SIMIDX_LOADER_OPTIONS_INIT;
	char *missing = sxt_path(sxt_load_dir, "no/such");
	simidx_loader *loader;
	simidx *index;

	o.memory = ((uint64_t)64 << 20) - 1;
	ck_assert_sx(simidx_loader_open(sxt_load_path, &create, &o, &loader, &sxt_err),
		     SIMIDX_E_ARG);
	ck_assert_ptr_null(loader);
	o.memory = 0;
	o.duplicates = 3;
	ck_assert_sx(simidx_loader_open(sxt_load_path, &create, &o, &loader, &sxt_err),
		     SIMIDX_E_ARG);
	o.duplicates = 0;
	ck_assert_sx(simidx_loader_open(missing, &create, &o, &loader, &sxt_err),
		     SIMIDX_E_NOT_FOUND);
	ck_assert_sx(simidx_loader_open(sxt_load_path, NULL, &o, &loader, &sxt_err),
		     SIMIDX_E_NOT_FOUND);
	o.tmpdir = missing;
	ck_assert_sx(simidx_loader_open(sxt_load_path, &create, &o, &loader, &sxt_err), SIMIDX_OK);
	ck_assert_sx(simidx_loader_finish(loader, NULL, &sxt_err), SIMIDX_E_NOT_FOUND);
	simidx_loader_close(loader);
	ck_assert_int_ne(access(sxt_load_path, F_OK), 0);
	/* Something has come to the sxt_load_path meanwhile: it is not replaced. */
	o.tmpdir = NULL;
	ck_assert_sx(simidx_loader_open(sxt_load_path, &create, &o, &loader, &sxt_err), SIMIDX_OK);
	index = sxt_create(sxt_load_path, &create);
	sxt_load_put(index, 0, 3);
	ck_assert_sx(simidx_loader_finish(loader, NULL, &sxt_err), SIMIDX_E_EXISTS);
	simidx_loader_close(loader);
	ck_assert_uint_eq(sxt_load_count(index), 3);
	/* A writer at work. */
	ck_assert_sx(sx_store_lock(index->store, 0, &sxt_err), SIMIDX_OK);
	o.wait_ms = 0;
	ck_assert_sx(simidx_loader_open(sxt_load_path, NULL, &o, &loader, &sxt_err), SIMIDX_E_BUSY);
	sx_store_unlock(index->store);
	simidx_close(index);
	ck_assert_int_eq(sxt_load_hidden(), 0);
	free(missing);
}
END_TEST

/* A file system of 2 MiB: both a full one and one that will be are told, and left as it was. */
START_TEST(test_no_space_leaves_index_as_it_was)
{
	simidx_create_options create = sxt_create_of(&sxt_forms[0]);
	char *small = sxt_path(sxt_load_dir, "small"), *inside = sxt_path(small, "index");
	simidx_loader_options o = SIMIDX_LOADER_OPTIONS_INIT;
	simidx_loader *loader;
	int rc = SIMIDX_OK;

	ck_assert_int_eq(mkdir(small, 0700), 0);
	if (geteuid() || mount("none", small, "tmpfs", 0, "size=2m"))
		sxt_skip("no right to mount a file system");
	o.memory = (uint64_t)64 << 20;
	create.map_size = (uint64_t)1 << 30;
	rc = simidx_loader_open(inside, &create, &o, &loader, &sxt_err);
	for (uint64_t i = 0; !rc && i < 200000; i++) {
		simidx_doc doc = SIMIDX_DOC_INIT;

		doc.fp = i * 0x9e3779b97f4a7c15;
		rc = simidx_loader_put(loader, &doc, NULL, &sxt_err);
	}
	if (!rc)
		rc = simidx_loader_finish(loader, NULL, &sxt_err);
	simidx_loader_close(loader);
	/* Only an empty directory can be removed. */
	ck_assert_int_ne(access(inside, F_OK), 0);
	ck_assert_int_eq(umount(small), 0);
	ck_assert_int_eq(rc, SIMIDX_E_NO_SPACE);
	free(inside);
	free(small);
}
END_TEST

/* Whether what is to come will fit: where the index is, and where the temporary files are. */
START_TEST(test_expected_size_must_fit)
{
	simidx_create_options create = sxt_create_of(&sxt_forms[0]);
	char *small = sxt_path(sxt_load_dir, "small"), *inside = sxt_path(small, "index");
	simidx_loader_options o = SIMIDX_LOADER_OPTIONS_INIT;
	simidx_loader *loader;

	o.memory = (uint64_t)64 << 20;
	create.map_size = (uint64_t)1 << 30;
	ck_assert_int_eq(mkdir(small, 0700), 0);
	ck_assert_sx(simidx_loader_open(sxt_load_path, &create, &o, &loader, &sxt_err), SIMIDX_OK);
	ck_assert_sx(simidx_loader_expect(NULL, 1, 0, &sxt_err), SIMIDX_E_ARG);
	ck_assert_sx(simidx_loader_expect(loader, 1000, 0, &sxt_err), SIMIDX_OK);
	ck_assert_sx(simidx_loader_expect(loader, (uint64_t)1 << 50, 0, &sxt_err),
		     SIMIDX_E_NO_SPACE);
	ck_assert_sx(simidx_loader_expect(loader, 1, (uint64_t)1 << 60, &sxt_err),
		     SIMIDX_E_NO_SPACE);
	ck_assert_sx(simidx_loader_expect(loader, UINT64_MAX, 0, &sxt_err), SIMIDX_E_RANGE);
	ck_assert_sx(simidx_loader_expect(loader, SIMIDX_MAX_ID + 1, 0, &sxt_err), SIMIDX_E_RANGE);
	ck_assert_sx(simidx_loader_expect(loader, 0, SIMIDX_MAX_ID + 1, &sxt_err), SIMIDX_E_RANGE);
	/* No number of bytes is so large that it looks small. */
	for (uint64_t n = SIMIDX_MAX_ID; n >= (uint64_t)1 << 50; n /= 2) {
		sxt_must_sx(simidx_loader_expect(loader, n, 0, &sxt_err), SIMIDX_E_NO_SPACE);
		sxt_must_sx(simidx_loader_expect(loader, 0, n, &sxt_err), SIMIDX_E_NO_SPACE);
		sxt_must_sx(simidx_loader_expect(loader, n, n, &sxt_err), SIMIDX_E_NO_SPACE);
		sxt_must_sx(simidx_loader_expect(loader, n, SIMIDX_MAX_ID, &sxt_err),
			    SIMIDX_E_NO_SPACE);
	}
	/* It changes nothing. */
	ck_assert_sx(simidx_loader_finish(loader, NULL, &sxt_err), SIMIDX_OK);
	ck_assert_sx(simidx_loader_expect(loader, 1, 0, &sxt_err), SIMIDX_E_STATE);
	simidx_loader_close(loader);
	sxt_remove(sxt_load_path);
	ck_assert_int_eq(sxt_load_hidden(), 0);
	if (geteuid() || mount("none", small, "tmpfs", 0, "size=8m"))
		sxt_skip("no right to mount a file system");
	ck_assert_sx(simidx_loader_open(inside, &create, &o, &loader, &sxt_err), SIMIDX_OK);
	ck_assert_sx(simidx_loader_expect(loader, 100000, 0, &sxt_err), SIMIDX_OK);
	ck_assert_sx(simidx_loader_expect(loader, 300000, 0, &sxt_err), SIMIDX_E_NO_SPACE);
	ck_assert_ptr_nonnull(strstr(sxt_err.text, inside));
	simidx_loader_close(loader);
	/* 300,000 records of 24 bytes stay in memory, a million are written; so are labels. */
	o.tmpdir = small;
	ck_assert_sx(simidx_loader_open(sxt_load_path, &create, &o, &loader, &sxt_err), SIMIDX_OK);
	ck_assert_sx(simidx_loader_expect(loader, 300000, 0, &sxt_err), SIMIDX_OK);
	ck_assert_sx(simidx_loader_expect(loader, 1000000, 0, &sxt_err), SIMIDX_E_NO_SPACE);
	ck_assert_ptr_nonnull(strstr(sxt_err.text, small));
	ck_assert_ptr_null(strstr(sxt_err.text, sxt_load_path));
	ck_assert_sx(simidx_loader_expect(loader, 1000, (uint64_t)9 << 20, &sxt_err),
		     SIMIDX_E_NO_SPACE);
	simidx_loader_close(loader);
	ck_assert_int_eq(umount(small), 0);
	ck_assert_int_eq(sxt_load_hidden(), 0);
	free(inside);
	free(small);
}
END_TEST

/* More than the sorters hold in 64 MiB, so that everything is spilled and merged. */
START_TEST(test_more_than_memory_is_spilled)
{
	simidx_create_options create = sxt_create_of(&sxt_forms[0]);
	uint64_t n = sxt_is_long() ? 5000000 : 1500000;
	simidx_loader *loader = sxt_loader(&create, 0, NULL);
	simidx_loader_report report;
	simidx_match match;
	simidx_walk *walk;
	simidx *index;

	/* Ids in an order far from theirs: a permutation, as n is no multiple of the prime. */
	for (uint64_t i = 0; i < n; i++) {
		simidx_doc doc = SIMIDX_DOC_INIT;

		doc.id = i * 7919 % n;
		doc.fp = simidx_feature_hash(&doc.id, sizeof(doc.id));
		sxt_must_ok(simidx_loader_put(loader, &doc, NULL, &sxt_err));
	}
	sxt_load_finish(loader, &report);
	ck_assert_uint_eq(report.documents, n);
	/* Random fingerprints in no order have no shorter form. */
	ck_assert_uint_gt(report.spill_bytes, 8 * n);
	index = sxt_open(sxt_load_path, 0);
	sxt_check_sound(index);
	ck_assert_sx(simidx_walk_open(index, &walk, &sxt_err), SIMIDX_OK);
	for (uint64_t i = 0; i < n; i++) {
		sxt_must_ok(simidx_walk_next(walk, &match, &sxt_err));
		sxt_must(match.id == i && match.fp == simidx_feature_hash(&i, sizeof(i)));
	}
	simidx_walk_close(walk);
	simidx_close(index);
}
END_TEST

/* ---- marks ---- */

static size_t get_mark(simidx *index, char *buffer, int want)
{
	size_t n;

	memset(buffer, 0, 2000);
	ck_assert_sx(simidx_get_mark(index, buffer, 2000, &n, &sxt_err), want);
	return n;
}

START_TEST(test_mark_is_visible_with_commit)
{
	simidx *index = sxt_create(sxt_load_path, NULL);
	simidx_writer *writer = sxt_writer(index, 0);
	char mark[2000];
	size_t n;

	get_mark(index, mark, SIMIDX_E_NOT_FOUND);
	ck_assert_sx(simidx_writer_set_mark(writer, "", 0, &sxt_err), SIMIDX_E_RANGE);
	ck_assert_sx(simidx_writer_set_mark(writer, mark, SIMIDX_MAX_MARK + 1, &sxt_err),
		     SIMIDX_E_RANGE);
	/* It becomes visible with the commit, with documents or without. */
	ck_assert_sx(simidx_writer_set_mark(writer, "one", 3, &sxt_err), SIMIDX_OK);
	get_mark(index, mark, SIMIDX_E_NOT_FOUND);
	sxt_commit(writer);
	ck_assert_uint_eq(get_mark(index, mark, SIMIDX_OK), 3);
	ck_assert_str_eq(mark, "one");
	ck_assert_sx(simidx_writer_set_mark(writer, "two", 3, &sxt_err), SIMIDX_OK);
	simidx_writer_rollback(writer);
	sxt_commit(writer);
	sxt_load_put(index, 0, 3);
	get_mark(index, mark, SIMIDX_OK);
	ck_assert_str_eq(mark, "one");
	memset(mark, 'x', SIMIDX_MAX_MARK);
	ck_assert_sx(simidx_writer_set_mark(writer, mark, SIMIDX_MAX_MARK, &sxt_err), SIMIDX_OK);
	sxt_commit(writer);
	sxt_merge(index);
	ck_assert_uint_eq(get_mark(index, mark, SIMIDX_OK), SIMIDX_MAX_MARK);
	/* Cut where there is less room: what has room is there, and nothing is behind it. */
	for (size_t room = 0; room < 4; room++) {
		memset(mark, '-', 4);
		ck_assert_sx(simidx_get_mark(index, mark, room, &n, &sxt_err), SIMIDX_OK);
		ck_assert_uint_eq(n, SIMIDX_MAX_MARK);
		ck_assert_mem_eq(mark, &"xxx----"[3 - room], 4);
	}
	ck_assert_sx(simidx_get_mark(index, NULL, 0, &n, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(n, SIMIDX_MAX_MARK);
	sxt_check_sound(index);
	simidx_writer_close(writer);
	simidx_close(index);
}
END_TEST

/* A rebuild keeps it, or stores another one; a new index has none that nobody has set. */
START_TEST(test_rebuild_keeps_mark)
{
	simidx_create_options create = sxt_create_of(&sxt_forms[0]);
	simidx *index = sxt_create(sxt_load_other, &create);
	simidx_loader *loader = sxt_loader(&create, 0, NULL);
	simidx_writer *writer = sxt_writer(index, 0);
	simidx_loader_report report;
	char mark[2000];

	ck_assert_sx(simidx_writer_set_mark(writer, "source", 6, &sxt_err), SIMIDX_OK);
	sxt_commit(writer);
	simidx_writer_close(writer);
	ck_assert_sx(simidx_loader_add_index(loader, index, &sxt_err), SIMIDX_OK);
	sxt_load_finish(loader, &report);
	simidx_close(index);
	index = sxt_open(sxt_load_path, 0);
	get_mark(index, mark, SIMIDX_E_NOT_FOUND);
	simidx_close(index);

	loader = sxt_loader(NULL, 0, NULL);
	ck_assert_sx(simidx_loader_set_mark(NULL, "x", 1, &sxt_err), SIMIDX_E_ARG);
	ck_assert_sx(simidx_loader_set_mark(loader, NULL, 1, &sxt_err), SIMIDX_E_ARG);
	ck_assert_sx(simidx_loader_set_mark(loader, "", 0, &sxt_err), SIMIDX_E_RANGE);
	ck_assert_sx(simidx_loader_set_mark(loader, mark, SIMIDX_MAX_MARK + 1, &sxt_err),
		     SIMIDX_E_RANGE);
	ck_assert_sx(simidx_loader_set_mark(loader, "first", 5, &sxt_err), SIMIDX_OK);
	memset(mark, 'x', SIMIDX_MAX_MARK);
	ck_assert_sx(simidx_loader_set_mark(loader, mark, SIMIDX_MAX_MARK, &sxt_err), SIMIDX_OK);
	ck_assert_sx(simidx_loader_set_mark(loader, "second", 6, &sxt_err), SIMIDX_OK);
	sxt_load_finish(loader, &report);
	index = sxt_open(sxt_load_path, 0);
	ck_assert_uint_eq(get_mark(index, mark, SIMIDX_OK), 6);
	ck_assert_str_eq(mark, "second");
	simidx_close(index);

	sxt_load_finish(sxt_loader(NULL, 0, NULL), &report);
	index = sxt_open(sxt_load_path, 0);
	ck_assert_uint_eq(get_mark(index, mark, SIMIDX_OK), 6);
	ck_assert_str_eq(mark, "second");
	sxt_check_sound(index);
	simidx_close(index);
}
END_TEST

/* What is built keeps ids back for good: above those of its sources and of what was put. */
START_TEST(test_loader_reserves_ids)
{
	simidx_create_options create = sxt_create_of(&sxt_forms[0]);
	simidx_doc doc = SIMIDX_DOC_INIT;
	simidx_loader *loader = sxt_loader(&create, 0, NULL);
	simidx_loader_report report;
	uint64_t id;
	simidx *index;

	ck_assert_sx(simidx_loader_reserve_ids(NULL, 1, &sxt_err), SIMIDX_E_ARG);
	ck_assert_sx(simidx_loader_reserve_ids(loader, SIMIDX_MAX_ID + 2, &sxt_err),
		     SIMIDX_E_RANGE);
	ck_assert_sx(simidx_loader_reserve_ids(loader, 50, &sxt_err), SIMIDX_OK);
	ck_assert_sx(simidx_loader_reserve_ids(loader, 20, &sxt_err), SIMIDX_OK);
	ck_assert_sx(simidx_loader_put(loader, &doc, &id, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(id, 50);
	ck_assert_sx(simidx_loader_reserve_ids(loader, 100, &sxt_err), SIMIDX_OK);
	sxt_load_finish(loader, &report);
	index = sxt_open(sxt_load_path, 0);
	ck_assert_uint_eq(t_info(index).next_id, 100);
	ck_assert_uint_eq(t_info(index).documents, 1);
	simidx_close(index);
	/* A rebuild of it without anything new. */
	sxt_load_finish(sxt_loader(NULL, 0, NULL), &report);
	index = sxt_open(sxt_load_path, 0);
	ck_assert_uint_eq(t_info(index).next_id, 100);
	sxt_check_sound(index);
	simidx_close(index);
	create.flags |= SIMIDX_CREATE_NO_IDS | SIMIDX_CREATE_TRUNCATE;
	loader = sxt_loader(&create, 0, NULL);
	ck_assert_sx(simidx_loader_reserve_ids(loader, 1, &sxt_err), SIMIDX_E_UNSUPPORTED);
	simidx_loader_close(loader);
}
END_TEST

/* simidx_info.puts: one more for each document that is loaded and stays, whatever it takes over. */
START_TEST(test_loaded_documents_are_counted)
{
	static const struct {
		uint64_t id;
		unsigned policy, grows;
	} loads[] = {
		{ 3, SIMIDX_DUPLICATES_REJECT, 1 }, /* below the next id, which stays */
		{ 3, SIMIDX_DUPLICATES_REJECT, 0 },
		{ 3, SIMIDX_DUPLICATES_FIRST, 0 },
		{ 3, SIMIDX_DUPLICATES_LAST, 1 },
		{ 4, SIMIDX_DUPLICATES_LAST, 1 },
	};
	simidx *index = sxt_create(sxt_load_path, NULL);
	simidx_writer *writer = sxt_writer(index, 0);
	simidx_info before, after;
	simidx_loader_report report;

	for (uint64_t id = 10; id < 13; id++)
		ck_assert_int_eq(t_put(writer, id, id, NULL), SIMIDX_OK);
	sxt_commit(writer);
	ck_assert_sx(simidx_writer_delete_id(writer, 11, &sxt_err), SIMIDX_OK);
	sxt_commit(writer);
	simidx_writer_close(writer);
	for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
		simidx_doc doc = t_document(loads[i].id, 7, NULL);
		simidx_loader *loader;

		before = t_info(index);
		simidx_close(index);
		loader = sxt_loader(NULL, loads[i].policy, NULL);
		ck_assert_sx(simidx_loader_put(loader, &doc, NULL, &sxt_err), SIMIDX_OK);
		sxt_load_finish(loader, &report);
		index = sxt_open(sxt_load_path, 0);
		after = t_info(index);
		ck_assert_uint_eq(after.next_id, 13);
		ck_assert_uint_eq(after.fresh_rows, 0);
		ck_assert_uint_eq(after.puts, before.puts + loads[i].grows);
		sxt_check_sound(index);
	}
	before = t_info(index);
	simidx_close(index);
	ck_assert_sx(simidx_compact(sxt_load_path, NULL, NULL, NULL, &sxt_err), SIMIDX_OK);
	index = sxt_open(sxt_load_path, 0);
	ck_assert_uint_eq(t_info(index).puts, before.puts);
	simidx_close(index);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_refused_rows_are_counted, 0, 1 },
	{ &test_load_of_one_fingerprint, 0, 1 },
	{ &test_stop_leaves_index_as_it_was, 0, 1 },
	{ &test_bad_calls_are_refused, 0, 1 },
	{ &test_no_space_leaves_index_as_it_was, 0, 1 },
	{ &test_expected_size_must_fit, 0, 1 },
	{ &test_more_than_memory_is_spilled, 0, 1 },
	{ &test_mark_is_visible_with_commit, 0, 1 },
	{ &test_rebuild_keeps_mark, 0, 1 },
	{ &test_loader_reserves_ids, 0, 1 },
	{ &test_loaded_documents_are_counted, 0, 1 },
};

SXT_SUITE(loader_live, sxt_load_set_up, sxt_load_tear_down);
