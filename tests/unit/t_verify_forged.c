/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Files in which each table is sound by itself, with right checksums and a header that agrees with
 * it, and which are wrong all the same: verification compares the tables with each other.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simidx_check.h>
#include <simidx_repair.h>

#include "index/sx_index.h"
#include "support/sxt_fixture.h"
#include "support/sxt_index.h"
#include "table/sx_table_merge.h"
#include "util/sx_hash.h"

#define DOCUMENTS 50

/* Documents 0.. with fingerprints 16 times their numbers, in the tables. */
static void make_index(unsigned flags)
{
	simidx *index = t_numbered(t_path, DOCUMENTS, flags);

	sxt_merge(index);
	sxt_check_sound(index);
	simidx_close(index);
}

static void rewrite(void (*change)(simidx *index, sx_txn *txn, sx_header *h))
{
	simidx *index = sxt_open(t_path, 0);
	sx_header h;
	sx_txn *txn;

	sxt_must_ok(sx_store_lock(index->store, 0, &sxt_err));
	sxt_must_ok(sx_txn_begin_write(index->store, 0, &txn, &sxt_err));
	sxt_must_ok(sx_meta_read_header(txn, &index->tables.meta, &h, &sxt_err));
	change(index, txn, &h);
	sxt_must_ok(sx_meta_write_header(txn, &index->tables.meta, &h, &sxt_err));
	sxt_must_ok(sx_txn_commit(txn, &sxt_err));
	sx_store_unlock(index->store);
	simidx_close(index);
}

/* Set or remove a row of a table, and tell the header, if it counts the table. */
static void change_cols(sx_txn *txn, const sx_table *table, sx_table_count *count, uint64_t key,
			const uint64_t *cols, unsigned char remove)
{
	sx_delta delta = { 0 };
	size_t done = 0;
	sx_rows rows;

	sx_rows_init(&rows, table->n_cols);
	sxt_must(!sx_rows_push(&rows, key, cols));
	sxt_must_ok(sx_table_merge(txn, table, &(sx_changes){ &rows, &remove }, &done, 1000, &delta,
				   &sxt_err));
	sxt_must_eq(done, 1);
	if (count) {
		count->rows += (uint64_t)delta.rows;
		count->digest += delta.digest;
		count->generation++;
	}
	sx_rows_free(&rows);
}

static void change_row(sx_txn *txn, const sx_table *table, sx_table_count *count, uint64_t key,
		       uint64_t col, unsigned char remove)
{
	change_cols(txn, table, count, key, &col, remove);
}

static void change_table(simidx *index, sx_txn *txn, sx_header *h, uint64_t fp,
			 unsigned char remove)
{
	const sx_table *table = &index->tables.permuted[1];

	change_row(txn, table, &h->table[1], sx_permute(table->perm, fp), 0, remove);
}

static void add_to_t02(simidx *index, sx_txn *txn, sx_header *h)
{
	change_table(index, txn, h, 7, 0);
}

static void change_in_t02(simidx *index, sx_txn *txn, sx_header *h)
{
	change_table(index, txn, h, 7, 0);
	change_table(index, txn, h, 16, 1);
}

static void change_in_docs(simidx *index, sx_txn *txn, sx_header *h)
{
	change_row(txn, &index->tables.docs, &h->other[SX_COUNT_DOCS], 1, 17, 0);
}

/* The id is that of another document, and the header's next id would not notice. */
static void change_id_in_docs(simidx *index, sx_txn *txn, sx_header *h)
{
	h->next_id = DOCUMENTS + 1;
	change_row(txn, &index->tables.docs, &h->other[SX_COUNT_DOCS], 1, 0, 1);
	change_row(txn, &index->tables.docs, &h->other[SX_COUNT_DOCS], DOCUMENTS, 16, 0);
}

static void lower_next_id(simidx *index, sx_txn *txn, sx_header *h)
{
	(void)index;
	(void)txn;
	sxt_must_eq(h->next_id, DOCUMENTS);
	h->next_id--;
}

/* More bits than a key has, in the block of postings; the checksum is right. */
static void raise_base(simidx *index, sx_txn *txn, sx_header *h)
{
	const sx_table *postings = &index->tables.postings;
	unsigned char *block = malloc(postings->block_size);
	sx_slice key, value;
	sx_cursor *cursor;
	unsigned width;

	(void)h;
	sxt_must(block);
	sxt_must_ok(sx_cursor_open(txn, postings->dbi, &cursor, &sxt_err));
	sxt_must_ok(sx_cursor_first(cursor, &key, &value, &sxt_err));
	memcpy(block, value.data, postings->block_size);
	width = sx_block_shape_of(sx_load_le32(block + SX_BLOCK_SHAPE_AT)).width;
	sxt_must(width);
	block[SX_BLOCK_HEADER - width] |= 1; /* the lowest bit that none of its keys has */
	sx_store_le32(block, (uint32_t)sx_hash(block + SX_BLOCK_SHAPE_AT,
					       postings->block_size - SX_BLOCK_SHAPE_AT) +
				    postings->number);
	value.data = block;
	sxt_must_ok(sx_dbi_put(txn, postings->dbi, key, value, &sxt_err));
	sx_cursor_close(cursor);
	free(block);
}

/* A time has 4 bytes in a column that has room for 8. */
static void widen_time(simidx *index, sx_txn *txn, sx_header *h)
{
	const uint64_t cols[] = { 1, UINT64_C(1) << 32 };

	change_cols(txn, &index->tables.postings, &h->other[SX_COUNT_POSTINGS], 16, cols, 0);
}

/* The low 4 bytes of it are an old time. */
static void widen_old_time(simidx *index, sx_txn *txn, sx_header *h)
{
	const uint64_t cols[] = { 1, UINT64_C(1) << 32 | 5 };

	change_cols(txn, &index->tables.postings, &h->other[SX_COUNT_POSTINGS], 16, cols, 0);
}

static void set_largest_time(simidx *index, sx_txn *txn, sx_header *h)
{
	const uint64_t cols[] = { 1, UINT32_MAX };

	change_cols(txn, &index->tables.postings, &h->other[SX_COUNT_POSTINGS], 16, cols, 0);
}

static void set_fresh_time(simidx *index, sx_txn *txn, uint64_t time)
{
	const uint64_t cols[] = { [SX_LOG_OP] = SX_FRESH_PUT, [SX_LOG_ID] = 1, [SX_LOG_FP] = 16,
				  [SX_LOG_LABEL_HASH] = 0, time };

	change_cols(txn, &index->fresh->log, NULL, 1, cols, 0);
}

static void widen_fresh_time(simidx *index, sx_txn *txn, sx_header *h)
{
	(void)h;
	set_fresh_time(index, txn, UINT64_MAX);
}

static void widen_old_fresh_time(simidx *index, sx_txn *txn, sx_header *h)
{
	(void)h;
	set_fresh_time(index, txn, UINT64_C(1) << 32 | 5);
}

static const struct forgery {
	void (*change)(simidx *index, sx_txn *txn, sx_header *h);
	unsigned flags;
	const char *table, *text;
} forgeries[] = {
	{ add_to_t02, 0, "t02", "it has 51 entries, the fingerprints of postings 50" },
	{ change_in_t02, 0, "t02", "its entries are not those of the fingerprints of postings" },
	{ add_to_t02, SIMIDX_CREATE_NO_IDS, "t02", "it has 51 entries, t01 50" },
	{ change_in_t02, SIMIDX_CREATE_NO_IDS, "t02", "its entries are not those of t01" },
	{ change_in_docs, 0, "docs", "its entries are not those of postings" },
	{ change_id_in_docs, 0, "docs", "its entries are not those of postings" },
	{ lower_next_id, 0, "docs",
	  "document 49 is there, and the header says that 49 is the next id" },
	{ raise_base, 0, "postings", "its header is impossible" },
	{ widen_time, SIMIDX_CREATE_TIMES, "postings",
	  "a time of 4294967296 needs more than 4 bytes" },
};

#define N_FORGERIES (sizeof(forgeries) / sizeof(forgeries[0]))

static unsigned problems;

static void note_problem(void *ctx, const simidx_problem *problem)
{
	const struct forgery *f = ctx;

	ck_assert_str_eq(problem->table, f->table);
	if (!strstr(problem->text, f->text))
		ck_abort_msg("not '%s' but '%s'", f->text, problem->text);
	problems++;
}

/* A look at the index finds this and nothing else. */
static void check_verify(const struct forgery *f)
{
	simidx *index = sxt_open(t_path, 0);

	ck_assert_sx(simidx_verify(index, note_problem, (void *)(uintptr_t)f, NULL, &sxt_err),
		     SIMIDX_E_CORRUPT);
	ck_assert_uint_eq(problems, 1);
	simidx_close(index);
}

START_TEST(test_verify_finds_what_does_not_agree)
{
	const struct forgery *f = &forgeries[_i];

	make_index(f->flags);
	rewrite(f->change);
	check_verify(f);
}
END_TEST

/* ---- a header that counts something else than there is ---- */

static void count_document(simidx *index, sx_txn *txn, sx_header *h)
{
	(void)index;
	(void)txn;
	h->documents++;
}

static void count_label(simidx *index, sx_txn *txn, sx_header *h)
{
	(void)index;
	(void)txn;
	h->labels++;
}

static void count_row(simidx *index, sx_txn *txn, sx_header *h)
{
	(void)index;
	(void)txn;
	h->table[2].rows++;
}

static void change_digest(simidx *index, sx_txn *txn, sx_header *h)
{
	(void)index;
	(void)txn;
	h->other[SX_COUNT_DOCS].digest ^= 1;
}

static void count_fresh(simidx *index, sx_txn *txn, sx_header *h)
{
	(void)index;
	(void)txn;
	h->next_seq++;
}

/* Under the id of another document there is one more label, which by_label does not have. */
static void add_label(simidx *index, sx_txn *txn, sx_header *h)
{
	unsigned char id[8];

	(void)h;
	sx_store_be64(id, 7);
	sxt_must_ok(sx_dbi_put(txn, index->tables.labels, (sx_slice){ id, 8 },
			       (sx_slice){ "odd", 3 }, &sxt_err));
}

static void add_odd_label(simidx *index, sx_txn *txn, sx_header *h)
{
	(void)h;
	sxt_must_ok(sx_dbi_put(txn, index->tables.labels, (sx_slice){ "7", 1 },
			       (sx_slice){ "odd", 3 }, &sxt_err));
}

/* A hash for which there is no label. */
static void add_to_by_label(simidx *index, sx_txn *txn, sx_header *h)
{
	(void)h;
	change_row(txn, &index->tables.by_label, NULL, 5, 7, 0);
}

#define HEADER_SAYS "entries of documents that are there, the header says"

static const struct miscount {
	void (*change)(simidx *index, sx_txn *txn, sx_header *h);
	const char *problem[3]; /* in the order in which they are told */
} miscounts[] = {
	{ count_document,
	  { "postings: with the fresh rows there are 50 documents, the header says 51" } },
	{ count_label,
	  { "labels: it has 0 " HEADER_SAYS " 1",
	    "by_label: with the fresh rows it has 0 labels, the header says 1" } },
	{ count_row, { "t03: it has 50 entries, the header says 51" } },
	{ change_digest, { "docs: its digest is " } },
	{ count_fresh, { "fresh: it has 0 rows, the header says 1" } },
	{ add_label, { "labels: it has 1 " HEADER_SAYS " 0" } },
	{ add_odd_label, { "labels: entry 0 has a key or value of a wrong size" } },
	{ add_to_by_label,
	  { "by_label: document 7 has no label",
	    "by_label: with the fresh rows it has 1 labels, the header says 0" } },
};

#define N_MISCOUNTS (sizeof(miscounts) / sizeof(miscounts[0]))

static void note_miscount(void *ctx, const simidx_problem *problem)
{
	const struct miscount *m = ctx;
	const char *want = problems < 2 ? m->problem[problems] : NULL;
	char text[600];

	snprintf(text, sizeof(text), "%s: %s", problem->table, problem->text);
	if (!want || strncmp(text, want, strlen(want)) != 0)
		ck_abort_msg("not '%s' but '%s'", want ? want : "", text);
	problems++;
}

START_TEST(test_header_counts_what_there_is)
{
	const struct miscount *m = &miscounts[_i];
	simidx_verify_report report = SIMIDX_VERIFY_REPORT_INIT;
	simidx *index;

	make_index(0);
	rewrite(m->change);
	index = sxt_open(t_path, 0);
	ck_assert_sx(simidx_verify(index, note_miscount, (void *)(uintptr_t)m, &report, &sxt_err),
		     SIMIDX_E_CORRUPT);
	ck_assert_ptr_null(m->problem[problems]);
	ck_assert_uint_eq(report.problems, problems);
	simidx_close(index);
}
END_TEST

/* Rows that are not merged yet count, too. */
START_TEST(test_next_id_of_a_fresh_document)
{
	static const struct forgery f = { lower_next_id, 0, "fresh",
					  "document 49 is there, and the header says that 49 is "
					  "the next id" };

	simidx_close(t_numbered(t_path, DOCUMENTS, 0));
	rewrite(lower_next_id);
	check_verify(&f);
}
END_TEST

START_TEST(test_time_of_a_fresh_document)
{
	static const struct forgery f = { widen_fresh_time, SIMIDX_CREATE_TIMES, "fresh",
					  "a time of 18446744073709551615 needs more than 4 "
					  "bytes" };

	simidx_close(t_numbered(t_path, DOCUMENTS, f.flags));
	rewrite(f.change);
	check_verify(&f);
}
END_TEST

/* Repair cannot keep it, and says so; the largest one that there can be is sound. */
START_TEST(test_times_at_the_limit)
{
	simidx_repair_report report = SIMIDX_REPAIR_REPORT_INIT;
	char *path = sxt_path(t_dir, "new");
	simidx *index;

	make_index(SIMIDX_CREATE_TIMES);
	rewrite(set_largest_time);
	index = sxt_open(t_path, 0);
	sxt_check_sound(index);
	simidx_close(index);
	sxt_must_ok(simidx_repair(t_path, path, NULL, NULL, NULL, &report, &sxt_err));
	ck_assert_uint_eq(report.times_lost, 0);
	sxt_remove(path);
	rewrite(widen_time);
	sxt_must_ok(simidx_repair(t_path, path, NULL, NULL, NULL, &report, &sxt_err));
	ck_assert_uint_eq(report.times_lost, 1);
	ck_assert_uint_eq(report.documents, DOCUMENTS);
	index = sxt_open(path, 0);
	sxt_check_sound(index);
	simidx_close(index);
	free(path);
}
END_TEST

/* Searches, an expiry and a touch take it for one that is not known. */
START_TEST(test_wide_time_is_not_known)
{
	simidx_query query = SIMIDX_QUERY_INIT;
	simidx_results results = SIMIDX_RESULTS_INIT;
	simidx_writer *writer;
	simidx_reader *reader;
	simidx *index;
	simidx_match m;
	uint64_t n;

	if (_i)
		simidx_close(t_numbered(t_path, DOCUMENTS, SIMIDX_CREATE_TIMES));
	else
		make_index(SIMIDX_CREATE_TIMES);
	rewrite(_i ? widen_old_fresh_time : widen_old_time);
	index = sxt_open(t_path, 0);
	reader = sxt_reader(index);
	sxt_must_ok(simidx_reader_find_id(reader, 1, &m, &sxt_err));
	ck_assert_uint_eq(m.time, 0);
	ck_assert_uint_eq(m.flags & SIMIDX_MATCH_TIME, 0);
	query.fp = 16;
	query.radius = 0;
	query.newer_than = 100;
	sxt_must_ok(simidx_reader_search(reader, &query, &results, &sxt_err));
	ck_assert_uint_eq(results.n, 1);
	writer = sxt_writer(index, 0);
	sxt_must_ok(simidx_writer_delete_older(writer, 100, NULL, NULL, &n, &sxt_err));
	ck_assert_uint_eq(n, 0);
	sxt_must_ok(simidx_writer_touch(writer, 1, 7, &sxt_err));
	sxt_commit(writer);
	simidx_writer_close(writer);
	sxt_must_ok(simidx_reader_find_id(reader, 1, &m, &sxt_err));
	ck_assert_uint_eq(m.time, 7);
	simidx_reader_close(reader);
	simidx_close(index);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_verify_finds_what_does_not_agree, 0, N_FORGERIES },
	{ &test_header_counts_what_there_is, 0, N_MISCOUNTS },
	{ &test_next_id_of_a_fresh_document, 0, 1 },
	{ &test_time_of_a_fresh_document, 0, 1 },
	{ &test_times_at_the_limit, 0, 1 },
	{ &test_wide_time_is_not_known, 0, 2 },
};

SXT_SUITE(verify_forged, sxt_set_up_path, sxt_tear_down);
