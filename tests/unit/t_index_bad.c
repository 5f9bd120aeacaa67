/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Files that are not what they should be, and writes that fail: a code and a text, never a
 * signal, and what was there before stays.
 */

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <simidx_check.h>
#include <simidx_info.h>
#include <simidx_walk.h>

#include "index/sx_index.h"
#include "support/sxt_fixture.h"
#include "support/sxt_model.h"

#define MERGED 1200
#define ALL 1500

static sxt_model model;
static sxt_rng rng;

static void set_up(void)
{
	sxt_set_up_path();
	sxt_rng_init(&rng, 1);
	sxt_model_init(&model, 64, SIMIDX_CREATE_FP2);
	while (model.n < ALL)
		sxt_model_add(&model, sxt_rng_u64(&rng), &rng);
}

static void tear_down(void)
{
	sxt_model_free(&model);
	sxt_tear_down();
}

static void make_index(unsigned layout)
{
	simidx_create_options o = SIMIDX_CREATE_OPTIONS_INIT;
	simidx *index;

	o.flags = SIMIDX_CREATE_FP2;
	o.layout = layout;
	index = sxt_create(t_path, &o);
	sxt_model_store(&model, 0, MERGED, index);
	sxt_merge(index);
	sxt_model_store(&model, MERGED, ALL, index);
	simidx_close(index);
}

static void open_fails(int code)
{
	simidx *index = (simidx *)&index;

	ck_assert_sx(simidx_open(t_path, NULL, &index, &sxt_err), code);
	ck_assert_ptr_null(index);
	ck_assert_int_eq(sxt_err.code, code);
	ck_assert_ptr_nonnull(strstr(sxt_err.text, " "));
}

/* ------------------------------------------------------------------------------------------
 * Not an index, or another one
 */

START_TEST(test_other_files_are_no_index)
{
	unsigned char noise[20000];

	ck_assert_int_eq(mkdir(t_path, 0755), 0);
	open_fails(SIMIDX_E_NOT_INDEX);
	sxt_file_write(t_data, "", 0);
	open_fails(SIMIDX_E_NOT_INDEX);
	for (size_t i = 0; i < sizeof(noise); i++)
		noise[i] = (unsigned char)sxt_rng_u64(&rng);
	for (size_t n = 1; n <= sizeof(noise); n = 3 * n - 1) {
		sxt_file_write(t_data, noise, n);
		open_fails(SIMIDX_E_NOT_INDEX);
	}
	sxt_remove(t_data);
	ck_assert_int_eq(mkdir(t_data, 0755), 0);
	open_fails(SIMIDX_E_NOT_INDEX);
	sxt_remove(t_path);
	sxt_file_write(t_path, noise, 100);
	open_fails(SIMIDX_E_NOT_INDEX);
}
END_TEST

/* LMDB files of others: without our table, without the header, with something else in it. */
START_TEST(test_other_lmdb_files_are_no_index)
{
	sx_store_options how = { .map_size = 1 << 20 };
	sx_slice key = { "header", 6 }, value = { "hello", 5 };
	sx_store *store;
	sx_txn *txn;
	sx_dbi dbi;

	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(mkdir(t_path, 0755), 0);
		sxt_must_ok(sx_store_create(t_path, &how, &store, &sxt_err));
		sxt_must_ok(sx_store_lock(store, 0, &sxt_err));
		sxt_must_ok(sx_txn_begin_write(store, 0, &txn, &sxt_err));
		sxt_must_ok(sx_dbi_open(txn, i ? "meta" : "t", 1, &dbi, &sxt_err));
		if (i == 2)
			sxt_must_ok(sx_dbi_put(txn, dbi, key, value, &sxt_err));
		sxt_must_ok(sx_txn_commit(txn, &sxt_err));
		sx_store_unlock(store);
		sx_store_close(store);
		open_fails(SIMIDX_E_NOT_INDEX);
		sxt_remove(t_path);
	}
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * Truncated
 */

START_TEST(test_cut_short_never_crashes)
{
	size_t size, step = sxt_is_long() ? 511 : 4093;
	unsigned char *bytes;

	make_index((unsigned)_i);
	bytes = sxt_file_read(t_data, &size);
	for (size_t n = 0; n < size; n += n < 9000 ? 509 : step) {
		simidx *index = NULL;
		int rc;

		ck_assert_int_eq(truncate(t_data, (off_t)n), 0);
		rc = simidx_open(t_path, NULL, &index, &sxt_err);
		ck_assert_msg(rc == SIMIDX_E_CORRUPT || (n < 8192 && rc == SIMIDX_E_NOT_INDEX),
			      "%zu bytes: %s", n, simidx_error_name(rc));
		sxt_file_write(t_data, bytes, size);
	}
	{
		simidx *index = sxt_open(t_path, 0);

		sxt_check_content(&model, ALL, index);
		simidx_close(index);
	}
	free(bytes);
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * Flipped bits
 */

static char seen_table[32];

static void note_table(void *ctx, const simidx_problem *problem)
{
	const char *want = ctx;

	ck_assert_str_eq(problem->table, want);
	snprintf(seen_table, sizeof(seen_table), "%s", problem->table);
}

/* Where the bytes of a value stand in the file; they are known to stand there once. */
static off_t find_in_file(const void *value, size_t n)
{
	size_t size;
	unsigned char *bytes = sxt_file_read(t_data, &size);
	unsigned char *found = memmem(bytes, size, value, n);
	off_t at = found - bytes;

	ck_assert_ptr_nonnull(found);
	free(bytes);
	return at;
}

static void flip(int fd, off_t at, unsigned bit)
{
	unsigned char byte;

	ck_assert_int_eq(pread(fd, &byte, 1, at), 1);
	byte ^= (unsigned char)(1u << bit);
	ck_assert_int_eq(pwrite(fd, &byte, 1, at), 1);
}

/* Copy a block of a table: its last one, or the first. */
static void copy_block(simidx *index, const sx_table *table, int last, unsigned char *block)
{
	sx_slice key, value;
	sx_cursor *cursor;
	sx_txn *txn;

	sxt_must_ok(sx_txn_begin_read(index->store, &txn, &sxt_err));
	sxt_must_ok(sx_cursor_open(txn, table->dbi, &cursor, &sxt_err));
	sxt_must_ok(last ? sx_cursor_last(cursor, &key, &value,
					  &sxt_err) : sx_cursor_first(cursor, &key, &value,
								      &sxt_err));
	ck_assert_uint_eq(value.size, table->block_size);
	memcpy(block, value.data, value.size);
	sx_cursor_close(cursor);
	sx_txn_abort(txn);
}

/* Whatever is damaged: an answer or an error that names a table. */
static void use_damaged(simidx *index)
{
	simidx_reader *reader = sxt_reader(index);
	simidx_match match;
	simidx_walk *walk;
	int rc = SIMIDX_OK;

	for (unsigned i = 0; i < 4; i++) {
		simidx_results results = SIMIDX_RESULTS_INIT;
		simidx_query query = SIMIDX_QUERY_INIT;
		const sxt_doc *doc = &model.at[sxt_rng_below(&rng, ALL)];

		query.fp = doc->fp;
		query.flags = SIMIDX_QUERY_LABELS;
		rc = simidx_reader_search(reader, &query, &results, &sxt_err);
		if (rc) {
			ck_assert_int_eq(rc, SIMIDX_E_CORRUPT);
			ck_assert_ptr_nonnull(strstr(sxt_err.text, "table "));
		}
		rc = simidx_reader_find_id(reader, doc->id, &match, &sxt_err);
		ck_assert(!rc || rc == SIMIDX_E_CORRUPT || rc == SIMIDX_E_NOT_FOUND);
	}
	simidx_reader_close(reader);
	rc = simidx_walk_open(index, &walk, &sxt_err);
	ck_assert(!rc || rc == SIMIDX_E_CORRUPT);
	for (size_t i = 0; !rc && i < 2 * ALL; i++)
		rc = simidx_walk_next(walk, &match, &sxt_err);
	ck_assert(rc == SIMIDX_E_END || rc == SIMIDX_E_CORRUPT);
	simidx_walk_close(walk);
}

/* The map is of the file, so a changed byte is seen by an index that is open. */
START_TEST(test_flipped_bits_never_crash)
{
	int fd, last = _i % 2;
	unsigned char *block;
	simidx *index;
	const sx_table *table;
	unsigned step;
	off_t at;

	make_index(SIMIDX_LAYOUT_BLOCKS);
	fd = open(t_data, O_RDWR | O_CLOEXEC);
	index = sxt_open(t_path, 0);
	{
		const sx_table *const tables[] = { &index->tables.permuted[0],
						   &index->tables.permuted[3],
						   &index->tables.postings,
						   &index->tables.docs, &index->fresh->log };

		table = tables[_i / 2];
	}
	step = sxt_is_long() ? 1 : 331;
	block = malloc(table->block_size);
	copy_block(index, table, last, block);
	at = find_in_file(block, table->block_size);
	for (size_t bit = 0; bit < 8 * table->block_size; bit += bit < 128 ? 1 : step) {
		seen_table[0] = '\0';
		flip(fd, at + (off_t)(bit / 8), bit % 8);
		ck_assert_sx(simidx_verify(index, note_table, (void *)(uintptr_t)table->name, NULL,
					   &sxt_err),
			     SIMIDX_E_CORRUPT);
		ck_assert_str_eq(seen_table, table->name);
		if (bit < 128 || bit % 8 == 0)
			use_damaged(index);
		flip(fd, at + (off_t)(bit / 8), bit % 8);
	}
	sxt_check_content(&model, ALL, index);
	simidx_close(index);
	free(block);
	close(fd);
}
END_TEST

/* Copy the record of row `i` of a table, its key and then its value; returns the size of both. */
static size_t copy_row(simidx *index, const sx_table *table, size_t i, unsigned char *record)
{
	sx_slice key, value;
	sx_cursor *cursor;
	size_t size;
	sx_txn *txn;

	sxt_must_ok(sx_txn_begin_read(index->store, &txn, &sxt_err));
	sxt_must_ok(sx_cursor_open(txn, table->dbi, &cursor, &sxt_err));
	sxt_must_ok(sx_cursor_first(cursor, &key, &value, &sxt_err));
	while (i--)
		sxt_must_ok(sx_cursor_next(cursor, &key, &value, &sxt_err));
	memcpy(record, key.data, key.size);
	memcpy(record + key.size, value.data, value.size);
	size = key.size + value.size;
	sx_cursor_close(cursor);
	sx_txn_abort(txn);
	return size;
}

/* What hands on all documents ends with the damage, and names it. */
static void walk_is_refused(simidx *index, const char *table)
{
	simidx_match match;
	simidx_walk *walk;
	int rc = simidx_walk_open(index, &walk, &sxt_err);

	while (!rc)
		rc = simidx_walk_next(walk, &match, &sxt_err);
	ck_assert_int_eq(rc, SIMIDX_E_CORRUPT);
	ck_assert_ptr_nonnull(strstr(sxt_err.text, table));
	simidx_walk_close(walk);
}

/* Any bit of a row, of its key as of its value, as each has a checksum of both. */
START_TEST(test_flipped_bits_of_a_row_are_found)
{
	unsigned char record[128];
	simidx_info info = SIMIDX_INFO_INIT;
	simidx_writer *writer;
	const sx_table *table;
	simidx *index;
	size_t size;
	off_t at;
	int fd;

	make_index(SIMIDX_LAYOUT_ROWS);
	fd = open(t_data, O_RDWR | O_CLOEXEC);
	index = sxt_open(t_path, 0);
	{
		const sx_table *const tables[] = { &index->tables.postings, &index->tables.docs,
						   &index->fresh->log };

		table = tables[_i];
	}
	writer = sxt_writer(index, 0);
	size = copy_row(index, table, 100, record);
	at = find_in_file(record, size);
	for (size_t bit = 0; bit < 8 * size; bit++) {
		seen_table[0] = '\0';
		flip(fd, at + (off_t)(bit / 8), bit % 8);
		ck_assert_sx(simidx_verify(index, note_table, (void *)(uintptr_t)table->name, NULL,
					   &sxt_err),
			     SIMIDX_E_CORRUPT);
		ck_assert_str_eq(seen_table, table->name);
		walk_is_refused(index, table->name);
		if (table == &index->fresh->log)
			ck_assert_sx(simidx_writer_merge(writer, &sxt_err), SIMIDX_E_CORRUPT);
		use_damaged(index);
		flip(fd, at + (off_t)(bit / 8), bit % 8);
	}
	simidx_writer_close(writer);
	sxt_must_ok(simidx_get_info(index, &info, &sxt_err));
	ck_assert_uint_eq(info.fresh_rows, ALL - MERGED);
	sxt_check_content(&model, ALL, index);
	simidx_close(index);
	close(fd);
}
END_TEST

/* A block full of noise, and noise in a part of it. */
START_TEST(test_noise_in_a_block_is_found)
{
	unsigned rounds = sxt_is_long() ? 5000 : 200;
	simidx_verify_report report = SIMIDX_VERIFY_REPORT_INIT;
	unsigned char *block, *noise;
	simidx *index;
	off_t at;
	int fd;

	make_index(SIMIDX_LAYOUT_BLOCKS);
	fd = open(t_data, O_RDWR | O_CLOEXEC);
	index = sxt_open(t_path, 0);
	{
		const sx_table *const tables[] = { &index->tables.permuted[1],
						   &index->tables.postings,
						   &index->tables.docs, &index->fresh->log };
		const sx_table *table = tables[_i];
		size_t size = table->block_size;

		block = malloc(size);
		noise = malloc(size);
		copy_block(index, table, 0, block);
		at = find_in_file(block, size);
		for (unsigned i = 0; i < rounds; i++) {
			size_t from = i % 2 ? sxt_rng_below(&rng, size) : sxt_rng_below(&rng, 24);
			size_t n = 1 + sxt_rng_below(&rng, i % 3 ? 4 : size - from);

			memcpy(noise, block, size);
			for (size_t b = from; b < from + n && b < size; b++)
				noise[b] = (unsigned char)sxt_rng_u64(&rng);
			ck_assert_int_eq(pwrite(fd, noise, size, at), (ssize_t)size);
			use_damaged(index);
			if (memcmp(noise, block, size))
				ck_assert_sx(simidx_verify(index, NULL, NULL, &report, &sxt_err),
					     SIMIDX_E_CORRUPT);
		}
		ck_assert_int_eq(pwrite(fd, block, size, at), (ssize_t)size);
	}
	sxt_check_content(&model, ALL, index);
	simidx_close(index);
	free(block);
	free(noise);
	close(fd);
}
END_TEST

/* A label's bytes have no checksum, but by_label has their hash. */
START_TEST(test_damaged_label_is_found)
{
	simidx *index;
	size_t i = 0;
	int fd;

	make_index((unsigned)_i);
	while (model.at[i].label_size < 8)
		i++;
	fd = open(t_data, O_RDWR | O_CLOEXEC);
	index = sxt_open(t_path, 0);
	flip(fd, find_in_file(model.at[i].label, model.at[i].label_size), 1);
	ck_assert_sx(simidx_verify(index, note_table, (void *)(uintptr_t)"by_label", NULL,
				   &sxt_err),
		     SIMIDX_E_CORRUPT);
	simidx_close(index);
	close(fd);
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * No room
 */

static int put_until_full(simidx_writer *writer, simidx_error *err)
{
	int rc = SIMIDX_OK;

	for (uint64_t i = 0; !rc && i < 40000; i++) {
		simidx_doc doc = SIMIDX_DOC_INIT;
		char label[128];

		memset(label, 'z', sizeof(label));
		doc.label = label;
		doc.label_size = (size_t)snprintf(label, sizeof(label), "full %ju", (uintmax_t)i);
		doc.fp = i * 0x9e3779b97f4a7c15u;
		doc.flags = SIMIDX_DOC_FP2;
		rc = simidx_writer_put(writer, &doc, NULL, err);
	}
	return rc ? rc : simidx_writer_commit(writer, err);
}

/* A file without free pages that may grow by some, and later by as many as it likes. */
static int fill_disk(sxt_proc *me, void *ctx)
{
	int merging = *(int *)ctx;
	simidx *index = sxt_open(t_path, 0);
	simidx_writer *writer = sxt_writer(index, merging ? 1 : 0);
	struct rlimit limit = { 0, RLIM_INFINITY };
	simidx_info info = SIMIDX_INFO_INIT;
	struct stat st;

	(void)me;
	signal(SIGXFSZ, SIG_IGN);
	sxt_must(!stat(t_data, &st));
	limit.rlim_cur = (rlim_t)st.st_size + (merging ? 14 : 100) * 4096;
	sxt_must(!setrlimit(RLIMIT_FSIZE, &limit));
	if (merging) /* the rows fit, the merge of all fresh ones does not */
		sxt_model_put(&model, ALL, ALL + 10, writer);
	for (int i = 0; i < 2; i++) {
		sxt_must_sx(merging ? simidx_writer_commit(writer,
							   &sxt_err) : put_until_full(writer,
										      &sxt_err),
			    SIMIDX_E_NO_SPACE);
		sxt_must_eq(simidx_writer_pending(writer), 0);
		sxt_must_ok(simidx_get_info(index, &info, &sxt_err));
		sxt_must_eq(info.documents, ALL + (merging ? 10 : 0));
	}
	sxt_must_ok(simidx_verify(index, NULL, NULL, NULL, &sxt_err));
	limit.rlim_cur = RLIM_INFINITY;
	sxt_must(!setrlimit(RLIMIT_FSIZE, &limit));
	if (!merging)
		sxt_model_put(&model, ALL, ALL + 10, writer);
	sxt_commit(writer);
	simidx_writer_close(writer);
	simidx_close(index);
	return 0;
}

START_TEST(test_full_disk_loses_no_commit)
{
	char *copy = sxt_path(t_dir, "copy");
	int merging = _i;
	simidx *index;

	while (model.n < ALL + 10)
		sxt_model_add(&model, sxt_rng_u64(&rng), &rng);
	make_index(SIMIDX_LAYOUT_BLOCKS);
	index = sxt_open(t_path, 0);
	ck_assert_sx(simidx_backup(index, copy, &sxt_err), SIMIDX_OK);
	simidx_close(index);
	sxt_remove(t_path);
	ck_assert_int_eq(rename(copy, t_path), 0);
	ck_assert_int_eq(sxt_proc_run(fill_disk, &merging), 0);
	index = sxt_open(t_path, 0);
	sxt_check_content(&model, ALL + 10, index);
	sxt_merge(index);
	sxt_check_content(&model, ALL + 10, index);
	simidx_close(index);
	free(copy);
}
END_TEST

static int create_on_full_disk(sxt_proc *me, void *ctx)
{
	struct rlimit limit = { 4096, RLIM_INFINITY };
	simidx *index;

	(void)me;
	(void)ctx;
	signal(SIGXFSZ, SIG_IGN);
	sxt_must(!setrlimit(RLIMIT_FSIZE, &limit));
	sxt_must_sx(simidx_create(t_path, NULL, &index, &sxt_err), SIMIDX_E_NO_SPACE);
	return 0;
}

START_TEST(test_create_without_space_leaves_nothing)
{
	ck_assert_int_eq(sxt_proc_run(create_on_full_disk, NULL), 0);
	ck_assert_int_eq(rmdir(t_dir), 0); /* nothing left behind */
}
END_TEST

START_TEST(test_full_map_loses_no_commit)
{
	simidx_open_options o = SIMIDX_OPEN_OPTIONS_INIT;
	simidx_writer *writer;
	simidx *index;

	make_index(SIMIDX_LAYOUT_BLOCKS);
	o.map_size = 1 << 20;
	ck_assert_sx(simidx_open(t_path, &o, &index, &sxt_err), SIMIDX_OK);
	writer = sxt_writer(index, 0);
	ck_assert_sx(put_until_full(writer, &sxt_err), SIMIDX_E_MAP_FULL);
	ck_assert_uint_eq(simidx_writer_pending(writer), 0);
	sxt_check_content(&model, ALL, index);
	simidx_writer_close(writer);
	simidx_close(index);
	/* With more room it goes on. */
	index = sxt_open(t_path, 0);
	writer = sxt_writer(index, 0);
	ck_assert_sx(put_until_full(writer, &sxt_err), SIMIDX_OK);
	sxt_check_sound(index);
	simidx_writer_close(writer);
	simidx_close(index);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_other_files_are_no_index, 0, 1 },
	{ &test_other_lmdb_files_are_no_index, 0, 1 },
	{ &test_cut_short_never_crashes, 0, 2 },
	{ &test_flipped_bits_never_crash, 0, 10 },
	{ &test_flipped_bits_of_a_row_are_found, 0, 3 },
	{ &test_noise_in_a_block_is_found, 0, 4 },
	{ &test_damaged_label_is_found, 0, 2 },
	{ &test_full_disk_loses_no_commit, 0, 2 },
	{ &test_create_without_space_leaves_nothing, 0, 1 },
	{ &test_full_map_loses_no_commit, 0, 1 },
};

SXT_SUITE(index_bad, set_up, tear_down);
