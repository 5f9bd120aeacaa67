/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The bulk loader among other processes, when it is stopped or fails, with more than fits in
 * memory; and marks.
 */

#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "index/sx_index.h"
#include "support/sxt_load.h"

Suite *suite_loader_live(void);

/* Rows that are refused at once count, so that later ones are told by the right number. */
START_TEST(test_row_numbers)
{
	simidx_create_options create = sxt_create_of(&sxt_forms[3]);
	sxt_heard heard;
	simidx_loader *loader = sxt_loader(&create, SIMIDX_DUPLICATES_REJECT, &heard);
	simidx_doc doc = SIMIDX_DOC_INIT;
	simidx_loader_report report;
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
	simidx_loader_close(loader);
	ck_assert_uint_eq(heard.n, 1);
	ck_assert(heard.rejected[4]);
	index = sxt_open(sxt_load_path, 0);
	sxt_check_sound(index);
	simidx_close(index);
}
END_TEST

/* Many documents on one fingerprint: one entry in each table. */
START_TEST(test_one_fingerprint)
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
		ck_assert_sx(simidx_loader_put(loader, &doc, NULL, &sxt_err), SIMIDX_OK);
	sxt_load_finish(loader, &report);
	ck_assert_uint_eq(report.documents, 100000);
	ck_assert_uint_eq(report.distinct, 1);
	index = sxt_open(sxt_load_path, 0);
	sxt_check_sound(index);
	ck_assert_sx(simidx_get_table_info(index, 2, &table, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(table.entries, 1);
	reader = sxt_reader(index);
	ck_assert_sx(simidx_search(reader, &query, &results, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(results.n, 100000);
	ck_assert_uint_eq(results.matches[99999].id, 99999);
	simidx_reader_close(reader);
	simidx_close(index);
}
END_TEST

/* ---- other processes ---- */

static void put_some(simidx *index, uint64_t from, uint64_t n)
{
	simidx_writer *writer = sxt_writer(index, 0);
	simidx_doc doc = SIMIDX_DOC_INIT;
	simidx_error err;

	for (uint64_t i = 0; i < n; i++) {
		doc.fp = (from + i) * 0x9e3779b97f4a7c15;
		sxt_proc_must(simidx_put(writer, &doc, NULL, &err), SIMIDX_OK, &err);
	}
	sxt_commit(writer);
	simidx_writer_close(writer);
}

static uint64_t count_documents(simidx *index)
{
	simidx_info info = SIMIDX_INFO_INIT;
	simidx_error err;

	sxt_proc_must(simidx_get_info(index, &info, &err), SIMIDX_OK, &err);
	return info.documents;
}

/* Has the old index open while another one takes its place. */
static int old_user(sxt_proc *me, void *ctx)
{
	simidx *index = sxt_open(sxt_load_path, 0);
	simidx_writer_options o = SIMIDX_WRITER_OPTIONS_INIT;
	simidx_doc doc = SIMIDX_DOC_INIT;
	simidx_writer *writer;
	simidx_match match;
	simidx_walk *walk;
	simidx_error err;
	uint64_t n = 1;
	int rc;

	(void)ctx;
	put_some(index, 100, 50);
	sxt_proc_must(simidx_walk_open(index, &walk, &err), SIMIDX_OK, &err);
	sxt_proc_must(simidx_walk_next(walk, &match, &err), SIMIDX_OK, &err);
	sxt_proc_tell(me);
	sxt_proc_wait(me); /* the loader is open and holds the lock */
	o.wait_ms = 0;
	sxt_proc_must(simidx_writer_open(index, &o, &writer, &err), SIMIDX_OK, &err);
	sxt_proc_must(simidx_put(writer, &doc, NULL, &err), SIMIDX_E_BUSY, &err);
	sxt_proc_tell(me);
	sxt_proc_wait(me); /* exchanged */
	while (!(rc = simidx_walk_next(walk, &match, &err)))
		n++;
	sxt_proc_assert(rc == SIMIDX_E_END && n == 150);
	simidx_walk_close(walk);
	sxt_proc_must(simidx_put(writer, &doc, NULL, &err), SIMIDX_E_MOVED, &err);
	sxt_proc_must(simidx_walk_open(index, &walk, &err), SIMIDX_E_MOVED, &err);
	simidx_writer_close(writer);
	simidx_close(index);
	index = sxt_open(sxt_load_path, 0);
	sxt_proc_assert(count_documents(index) == 151);
	put_some(index, 500, 1);
	sxt_proc_assert(count_documents(index) == 152);
	simidx_close(index);
	return 0;
}

START_TEST(test_moved)
{
	simidx_create_options create = sxt_create_of(&sxt_forms[0]);
	simidx_doc doc = SIMIDX_DOC_INIT;
	simidx_loader_report report;
	simidx_loader *loader;
	simidx *index = sxt_create(sxt_load_path, &create);
	sxt_proc proc;

	put_some(index, 0, 100);
	simidx_close(index);
	sxt_proc_start(&proc, old_user, NULL);
	ck_assert_int_eq(sxt_proc_wait(&proc), 0);
	loader = sxt_loader(NULL, 0, NULL);
	sxt_proc_tell(&proc);
	ck_assert_int_eq(sxt_proc_wait(&proc), 0);
	ck_assert_sx(simidx_loader_put(loader, &doc, NULL, &sxt_err), SIMIDX_OK);
	sxt_load_finish(loader, &report);
	ck_assert_uint_eq(report.documents, 151);
	sxt_proc_tell(&proc);
	ck_assert_int_eq(sxt_proc_finish(&proc), 0);
	ck_assert_int_eq(sxt_load_hidden(), 0);
}
END_TEST

static int load_and_wait(sxt_proc *me, void *ctx)
{
	simidx_create_options create = sxt_create_of(&sxt_forms[0]);
	simidx_loader *loader;
	simidx_error err;

	(void)ctx;
	sxt_proc_must(simidx_loader_open(sxt_load_path, &create, NULL, &loader, &err), SIMIDX_OK, &err);
	sxt_proc_tell(me);
	sxt_proc_wait(me);
	return 0;
}

/* A builder that was killed leaves a directory that the next one removes; a live one keeps it. */
START_TEST(test_killed)
{
	simidx_create_options create = sxt_create_of(&sxt_forms[0]);
	simidx *index;
	sxt_proc proc;

	sxt_proc_start(&proc, load_and_wait, NULL);
	ck_assert_int_eq(sxt_proc_wait(&proc), 0);
	ck_assert_int_eq(sxt_load_hidden(), 1);
	index = sxt_create(sxt_load_other, &create);
	ck_assert_sx(simidx_backup(index, sxt_load_path, &sxt_err), SIMIDX_OK);
	sxt_remove(sxt_load_path);
	ck_assert_int_eq(sxt_load_hidden(), 1);
	sxt_proc_kill(&proc);
	ck_assert_int_eq(sxt_load_hidden(), 1);
	ck_assert_int_ne(access(sxt_load_path, F_OK), 0);
	ck_assert_sx(simidx_backup(index, sxt_load_path, &sxt_err), SIMIDX_OK);
	ck_assert_int_eq(sxt_load_hidden(), 0);
	simidx_close(index);
}
END_TEST

/* ---- errors ---- */

START_TEST(test_stop)
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

START_TEST(test_errors)
{
	simidx_create_options create = sxt_create_of(&sxt_forms[0]);
	simidx_loader_options o = SIMIDX_LOADER_OPTIONS_INIT;
	char *missing = sxt_path(sxt_load_dir, "no/such");
	simidx_loader *loader;
	simidx *index;

	o.memory = ((uint64_t)64 << 20) - 1;
	ck_assert_sx(simidx_loader_open(sxt_load_path, &create, &o, &loader, &sxt_err), SIMIDX_E_ARG);
	ck_assert_ptr_null(loader);
	o.memory = 0;
	o.duplicates = 3;
	ck_assert_sx(simidx_loader_open(sxt_load_path, &create, &o, &loader, &sxt_err), SIMIDX_E_ARG);
	o.duplicates = 0;
	ck_assert_sx(simidx_loader_open(missing, &create, &o, &loader, &sxt_err),
		     SIMIDX_E_NOT_FOUND);
	ck_assert_sx(simidx_loader_open(sxt_load_path, NULL, &o, &loader, &sxt_err), SIMIDX_E_NOT_FOUND);
	o.tmpdir = missing;
	ck_assert_sx(simidx_loader_open(sxt_load_path, &create, &o, &loader, &sxt_err), SIMIDX_OK);
	ck_assert_sx(simidx_loader_finish(loader, NULL, &sxt_err), SIMIDX_E_NOT_FOUND);
	simidx_loader_close(loader);
	ck_assert_int_ne(access(sxt_load_path, F_OK), 0);
	/* Something has come to the sxt_load_path meanwhile: it is not replaced. */
	o.tmpdir = NULL;
	ck_assert_sx(simidx_loader_open(sxt_load_path, &create, &o, &loader, &sxt_err), SIMIDX_OK);
	index = sxt_create(sxt_load_path, &create);
	put_some(index, 0, 3);
	ck_assert_sx(simidx_loader_finish(loader, NULL, &sxt_err), SIMIDX_E_EXISTS);
	simidx_loader_close(loader);
	ck_assert_uint_eq(count_documents(index), 3);
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
START_TEST(test_no_space)
{
	simidx_create_options create = sxt_create_of(&sxt_forms[0]);
	char *small = sxt_path(sxt_load_dir, "small"), *inside = sxt_path(small, "index");
	simidx_loader_options o = SIMIDX_LOADER_OPTIONS_INIT;
	simidx_loader *loader;
	int rc = SIMIDX_OK;

	ck_assert_int_eq(mkdir(small, 0700), 0);
	if (geteuid() || mount("none", small, "tmpfs", 0, "size=2m"))
		goto out; /* not allowed here */
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
out:
	free(inside);
	free(small);
}
END_TEST

/* More than the sorters hold in 64 MiB, so that everything is spilled and merged. */
START_TEST(test_spills)
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
		doc.fp = simidx_hash_bytes(&doc.id, sizeof(doc.id));
		ck_assert_int_eq(simidx_loader_put(loader, &doc, NULL, NULL), SIMIDX_OK);
	}
	sxt_load_finish(loader, &report);
	ck_assert_uint_eq(report.documents, n);
	ck_assert_uint_gt(report.spill_bytes, 24 * n);
	index = sxt_open(sxt_load_path, 0);
	sxt_check_sound(index);
	ck_assert_sx(simidx_walk_open(index, &walk, &sxt_err), SIMIDX_OK);
	for (uint64_t i = 0; i < n; i++) {
		ck_assert_int_eq(simidx_walk_next(walk, &match, NULL), SIMIDX_OK);
		ck_assert(match.id == i && match.fp == simidx_hash_bytes(&i, sizeof(i)));
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

START_TEST(test_mark)
{
	simidx *index = sxt_create(sxt_load_path, NULL);
	simidx_writer *writer = sxt_writer(index, 0);
	char mark[2000];
	simidx_loader_report report;
	size_t n;

	get_mark(index, mark, SIMIDX_E_NOT_FOUND);
	ck_assert_sx(simidx_set_mark(writer, "", 0, &sxt_err), SIMIDX_E_RANGE);
	ck_assert_sx(simidx_set_mark(writer, mark, SIMIDX_MAX_MARK + 1, &sxt_err), SIMIDX_E_RANGE);
	/* It becomes visible with the commit, with documents or without. */
	ck_assert_sx(simidx_set_mark(writer, "one", 3, &sxt_err), SIMIDX_OK);
	get_mark(index, mark, SIMIDX_E_NOT_FOUND);
	sxt_commit(writer);
	ck_assert_uint_eq(get_mark(index, mark, SIMIDX_OK), 3);
	ck_assert_str_eq(mark, "one");
	ck_assert_sx(simidx_set_mark(writer, "two", 3, &sxt_err), SIMIDX_OK);
	simidx_rollback(writer);
	sxt_commit(writer);
	put_some(index, 0, 3);
	get_mark(index, mark, SIMIDX_OK);
	ck_assert_str_eq(mark, "one");
	memset(mark, 'x', SIMIDX_MAX_MARK);
	ck_assert_sx(simidx_set_mark(writer, mark, SIMIDX_MAX_MARK, &sxt_err), SIMIDX_OK);
	sxt_commit(writer);
	sxt_merge(index);
	ck_assert_uint_eq(get_mark(index, mark, SIMIDX_OK), SIMIDX_MAX_MARK);
	ck_assert_sx(simidx_get_mark(index, mark, 2, &n, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(n, SIMIDX_MAX_MARK);
	sxt_check_sound(index);
	simidx_writer_close(writer);
	simidx_close(index);
	/* An index that is built whole has none. */
	sxt_load_finish(sxt_loader(NULL, 0, NULL), &report);
	index = sxt_open(sxt_load_path, 0);
	get_mark(index, mark, SIMIDX_E_NOT_FOUND);
	ck_assert_uint_eq(count_documents(index), 3);
	simidx_close(index);
}
END_TEST

Suite *suite_loader_live(void)
{
	Suite *suite = suite_create("loader_live");
	TCase *tc = tcase_create("loader_live");

	tcase_add_checked_fixture(tc, sxt_load_set_up, sxt_load_tear_down);
	tcase_set_timeout(tc, sxt_is_long() ? 600 : 120);
	tcase_add_test(tc, test_row_numbers);
	tcase_add_test(tc, test_one_fingerprint);
	tcase_add_test(tc, test_moved);
	tcase_add_test(tc, test_killed);
	tcase_add_test(tc, test_stop);
	tcase_add_test(tc, test_errors);
	tcase_add_test(tc, test_no_space);
	tcase_add_test(tc, test_spills);
	tcase_add_test(tc, test_mark);
	suite_add_tcase(suite, tc);
	return suite;
}
