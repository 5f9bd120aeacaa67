/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Repairing a file whose pages are damaged: those of LMDB's trees, and its two header pages.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <simidx_check.h>
#include <simidx_load.h>
#include <simidx_repair.h>

#include "store/sx_lmdb_pages.h"
#include "support/sxt_fixture.h"
#include "support/sxt_repair.h"

static uint64_t number_at(const unsigned char *bytes, size_t at, size_t n)
{
	uint64_t x = 0;

	memcpy(&x, bytes + at, n);
	return x;
}

static void note_page(void *ctx, const simidx_problem *problem)
{
	(void)problem;
	++*(unsigned *)ctx;
}

/*
 * Whatever branch page of a table is damaged, and whatever leaf of a table whose values have pages
 * of their own: nothing is lost, and nothing of older commits comes back, of which free pages are
 * full.
 */
START_TEST(test_pages_below_a_damaged_one)
{
	size_t size, page = (size_t)sysconf(_SC_PAGESIZE), n_repaired = 0;
	char *loose = sxt_path(t_dir, "loose"), *path = sxt_path(t_dir, "new");
	char *name = sxt_path(loose, "data.mdb");
	unsigned char *bytes;

	t_repair_begin(_i);
	bytes = sxt_file_read(name, &size);
	for (size_t at = 2 * page; at < size; at += page) {
		simidx_repair_report report = SIMIDX_REPAIR_REPORT_INIT;
		simidx_repair_options how = SIMIDX_REPAIR_OPTIONS_INIT;
		size_t node = at + (size_t)number_at(bytes, at + 16, 2);
		int is_branch = bytes[at + 10] == 1, is_leaf = bytes[at + 10] == 2;
		simidx *index;
		unsigned n = 0;

		/* A leaf whose first node has the flag of a value with pages of its own. */
		if (number_at(bytes, at, 8) != at / page || (!is_branch && !is_leaf) ||
		    (is_leaf && number_at(bytes, node + 4, 2) != 1))
			continue;
		bytes[at] ^= 0x80;
		sxt_file_write(name, bytes, size);
		bytes[at] ^= 0x80;
		/* Pages that are free are not met. */
		if (!simidx_check_pages(loose, 0, note_page, &n, NULL))
			continue;
		ck_assert_uint_eq(n, 1);
		n_repaired++;
		t_n_told = 0;
		how.memory = 128 << 20;
		ck_assert_sx(simidx_repair(loose, path, &how, t_tell, NULL, &report, &sxt_err),
			     SIMIDX_OK);
		ck_assert_uint_le(t_n_told, 1);
		ck_assert_uint_eq(report.damaged, t_n_told);
		index = sxt_open(path, 0);
		sxt_check_sound(index);
		sxt_check_content(&t_model, t_model.n, index);
		simidx_close(index);
		sxt_remove(path);
	}
	ck_assert_uint_gt(n_repaired, 3);
	free(bytes);
	free(name);
	free(loose);
	free(path);
}
END_TEST

/*
 * One changed bit of a transaction number lets LMDB show the commit before the last one.
 * Verification tells it, and a repair takes the last one.
 */
START_TEST(test_changed_transaction_number)
{
	/*
	 * The last transaction is `last` modulo 8; the number of its page, or of the other one,
	 * changes.
	 */
	static const struct { unsigned last, other, bit; } changes[] = {
		/* set, as it is 23: the last one has a lower number then */
		{ 7, 0, 2 }, { 7, 0, 4 },
		{ 7, 1, 3 }, { 7, 1, 40 }, { 6, 1, 1 },
	};
	char *name = sxt_path(t_path, "data.mdb"), *path = sxt_path(t_dir, "new");
	size_t size, page = (size_t)sysconf(_SC_PAGESIZE), length;
	simidx_repair_report report = SIMIDX_REPAIR_REPORT_INIT;
	unsigned last = changes[_i].last, bit = changes[_i].bit, at;
	simidx *index;
	simidx_writer *writer;
	unsigned char *bytes;
	uint64_t n = 0, found;

	t_repair_begin(0);
	index = sxt_open(t_path, 0);
	writer = sxt_writer(index, 0);
	do {
		n++;
		ck_assert_sx(simidx_writer_set_mark(writer, &n, sizeof(n), &sxt_err), SIMIDX_OK);
		ck_assert_sx(simidx_writer_commit(writer, &sxt_err), SIMIDX_OK);
		bytes = sxt_file_read(name, &size);
		found = number_at(bytes, last % 2 * page + offsetof(sx_lmdb_meta, txn), 8);
		free(bytes);
	} while (n < 20 || found % 8 != last);
	simidx_writer_close(writer);
	simidx_close(index);
	at = last % 2 ^ changes[_i].other;
	t_change_file(at * page + offsetof(sx_lmdb_meta, txn) + bit / 8,
		      (unsigned char)(1u << bit % 8));
	index = sxt_open(t_path, SIMIDX_OPEN_READ_ONLY);
	ck_assert_sx(simidx_get_mark(index, &found, sizeof(found), &length, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(found, n - 1);
	ck_assert_sx(simidx_verify(index, NULL, NULL, NULL, &sxt_err), SIMIDX_E_CORRUPT);
	simidx_close(index);
	ck_assert_sx(simidx_repair(t_path, path, NULL, t_tell, NULL, &report, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(report.damaged, 1);
	index = sxt_open(path, 0);
	ck_assert_sx(simidx_get_mark(index, &found, sizeof(found), &length, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(found, n);
	sxt_check_sound(index);
	sxt_check_content(&t_model, t_model.n, index);
	simidx_close(index);
	free(name);
	free(path);
}
END_TEST

/*
 * One meta page is no meta page any more. LMDB refuses the file, but the other one still leads to
 * all of a commit: the last one or the one before.
 */
START_TEST(test_lost_meta_page)
{
	size_t size, page = (size_t)sysconf(_SC_PAGESIZE);
	char *name = sxt_path(t_path, "data.mdb");
	simidx_repair_report report = SIMIDX_REPAIR_REPORT_INIT;
	char *path = sxt_path(t_dir, "new");
	simidx_writer *writer;
	unsigned char *bytes;
	sx_lmdb_meta meta[2];
	simidx *index;
	int lost;

	t_repair_begin(_i % 6);
	/* Two commits that change nothing but a mark, so that both pages lead to all documents. */
	index = sxt_open(t_path, 0);
	writer = sxt_writer(index, 0);
	for (int i = 0; i < 2; i++) {
		ck_assert_sx(simidx_writer_set_mark(writer, &i, sizeof(i), &sxt_err), SIMIDX_OK);
		ck_assert_sx(simidx_writer_commit(writer, &sxt_err), SIMIDX_OK);
	}
	simidx_writer_close(writer);
	simidx_close(index);
	bytes = sxt_file_read(name, &size);
	memcpy(&meta[0], bytes, sizeof(meta[0]));
	memcpy(&meta[1], bytes + page, sizeof(meta[1]));
	free(bytes);
	free(name);
	/*
	 * The magic number of the older page, that of the newer one, the last page of the newer
	 * one.
	 */
	lost = (meta[1].txn > meta[0].txn) ^ (_i < 6);
	t_change_file((size_t)lost * page + (_i < 12 ? offsetof(sx_lmdb_meta, magic)
						     : offsetof(sx_lmdb_meta, last_page) + 7),
		      0x40);
	ck_assert_sx(simidx_open(t_path, NULL, &index, NULL), SIMIDX_E_CORRUPT);
	ck_assert_sx(simidx_repair(t_path, path, NULL, NULL, NULL, &report, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(report.documents, T_DOCUMENTS);
	ck_assert_uint_eq(report.damaged, 1);
	ck_assert_uint_eq(report.doubts, 1);
	ck_assert_uint_eq(report.unknown_fp2 + report.labels_lost + report.records_lost, 0);
	index = sxt_open(path, 0);
	sxt_check_sound(index);
	sxt_check_content(&t_model, t_model.n, index);
	simidx_close(index);
	free(path);
}
END_TEST

/* The same of an index to which nobody has written since a loader has made it: all is there. */
START_TEST(test_lost_meta_page_of_a_load)
{
	simidx_repair_report report = SIMIDX_REPAIR_REPORT_INIT;
	char *loaded = sxt_path(t_dir, "loaded"), *path = sxt_path(t_dir, "new");
	char *name = sxt_path(loaded, "data.mdb");
	const simidx_create_options create = SIMIDX_CREATE_OPTIONS_INIT;
	unsigned char magic[4] = { 0 };
	simidx_loader *loader;
	simidx *index;
	FILE *file;

	ck_assert_sx(simidx_loader_open(loaded, &create, NULL, &loader, &sxt_err),
		     SIMIDX_OK);
	for (uint64_t i = 0; i < T_DOCUMENTS; i++) {
		simidx_doc doc = SIMIDX_DOC_INIT;

		doc.fp = i * UINT64_C(0x9e3779b97f4a7c15);
		ck_assert_sx(simidx_loader_put(loader, &doc, NULL, &sxt_err), SIMIDX_OK);
	}
	ck_assert_sx(simidx_loader_finish(loader, NULL, &sxt_err), SIMIDX_OK);
	simidx_loader_close(loader);
	file = fopen(name, "r+");
	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(fseek(file, _i * sysconf(_SC_PAGESIZE) +
				       (long)offsetof(sx_lmdb_meta, magic), SEEK_SET), 0);
	ck_assert_uint_eq(fwrite(magic, 1, sizeof(magic), file), sizeof(magic));
	ck_assert_int_eq(fclose(file), 0);
	ck_assert_sx(simidx_repair(loaded, path, NULL, NULL, NULL, &report, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(report.documents, T_DOCUMENTS);
	ck_assert_uint_eq(report.damaged, 1);
	index = sxt_open(path, 0);
	sxt_check_sound(index);
	simidx_close(index);
	free(name);
	free(path);
	free(loaded);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_pages_below_a_damaged_one, 0, T_SOME(6) },
	{ &test_changed_transaction_number, 0, T_SOME(5) },
	{ &test_lost_meta_page, 0, T_SOME(18) },
	{ &test_lost_meta_page_of_a_load, 0, 2 },
};

SXT_SUITE(repair_pages, t_repair_set_up, t_repair_tear_down);
