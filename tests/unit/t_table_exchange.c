/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Blocks whose contents have changed places, in one table and between two: each is intact, and none
 * passes for another one. Who asks gets the right answer or is told of damage, as do walks, merges
 * and verification.
 */

#include <stdlib.h>
#include <string.h>

#include <simidx_check.h>
#include <simidx_walk.h>

#include "index/sx_index.h"
#include "support/sxt_fixture.h"
#include "support/sxt_index.h"

#define DOCUMENTS 500
#define CROWD 6000 /* documents on few fingerprints */
#define MAX_BLOCKS 64

/* Where a block stands, and what it has. */
struct block {
	unsigned table; /* number_table() */
	unsigned char key[SX_TABLE_MAX_KEY];
	size_t key_size;
	unsigned char *bytes;
	size_t size;
};

static struct block blocks[MAX_BLOCKS];
static size_t n_blocks;
static sxt_model model;
static simidx *index_now;
static unsigned char *data; /* of the sound index */
static size_t data_size;

static void tear_down(void)
{
	for (size_t i = 0; i < n_blocks; i++)
		free(blocks[i].bytes);
	free(data);
	sxt_model_free(&model);
	sxt_tear_down();
}

/* The permuted tables, then postings, docs and the log; NULL after them. */
static const sx_table *number_table(unsigned i)
{
	const sx_table *others[] = { &index_now->tables.postings, &index_now->tables.docs,
				     &index_now->fresh->log, NULL };
	unsigned n = index_now->schema->plan.n_tables;

	return i < n ? &index_now->tables.permuted[i] : others[i - n];
}

static void read_blocks(sx_txn *txn, unsigned number)
{
	const sx_table *table = number_table(number);
	sx_cursor *cursor;
	sx_slice key, value;
	int rc;

	sxt_must_ok(sx_cursor_open(txn, table->dbi, &cursor, &sxt_err));
	for (rc = sx_cursor_first(cursor, &key, &value, &sxt_err); !rc;
	     rc = sx_cursor_next(cursor, &key, &value, &sxt_err)) {
		struct block *b = &blocks[n_blocks++];

		sxt_must_le(n_blocks, MAX_BLOCKS);
		b->table = number;
		b->key_size = key.size;
		memcpy(b->key, key.data, key.size);
		b->size = value.size;
		b->bytes = malloc(value.size);
		sxt_must(b->bytes);
		memcpy(b->bytes, value.data, value.size);
	}
	sx_cursor_close(cursor);
}

static void each_table(sx_txn *txn)
{
	for (unsigned i = 0; number_table(i); i++)
		read_blocks(txn, i);
}

static void in_transaction(void (*work)(sx_txn *txn))
{
	sx_txn *txn;

	sxt_must_ok(sx_store_lock(index_now->store, 0, &sxt_err));
	sxt_must_ok(sx_txn_begin_write(index_now->store, 0, &txn, &sxt_err));
	work(txn);
	sxt_must_ok(sx_txn_commit(txn, &sxt_err));
	sx_store_unlock(index_now->store);
}

static size_t swapped[2]; /* numbers of blocks */

/* Each of the two gets what the other has. */
static void write_two(sx_txn *txn)
{
	for (int i = 0; i < 2; i++) {
		struct block *place = &blocks[swapped[i]], *content = &blocks[swapped[!i]];

		sxt_must_ok(sx_dbi_put(txn, number_table(place->table)->dbi,
				       (sx_slice){ place->key, place->key_size },
				       (sx_slice){ content->bytes, content->size }, &sxt_err));
	}
}

static void open_checked(void)
{
	simidx_open_options o = SIMIDX_OPEN_OPTIONS_INIT;

	o.flags = SIMIDX_OPEN_CHECK;
	sxt_must_ok(simidx_open(t_path, &o, &index_now, &sxt_err));
}

static uint64_t any_fp(sxt_rng *rng, unsigned i, unsigned n)
{
	if (n == CROWD)
		return i % 2 * 1024;
	/*
	 * Small keys, too, so that many blocks of one table could stand in the place of another's.
	 */
	return i % 2 ? sxt_rng_u64(rng) : i / 3 * 2;
}

static void make(unsigned n, unsigned flags)
{
	simidx_create_options o = SIMIDX_CREATE_OPTIONS_INIT;
	sxt_rng rng;

	sxt_rng_init(&rng, 1450);
	sxt_model_init(&model, 64, flags);
	for (unsigned i = 0; i < n; i++)
		sxt_model_add(&model, any_fp(&rng, i, n), &rng);
	o.plan = "4x16";
	o.flags = flags;
	index_now = sxt_create(t_path, &o);
	sxt_model_store(&model, 0, n - 60, index_now);
	sxt_merge(index_now);
	sxt_model_store(&model, n - 60, n, index_now);
	in_transaction(each_table);
	simidx_close(index_now);
	data = sxt_file_read(t_data, &data_size);
	ck_assert_uint_ge(n_blocks, 4 + 3);
}

/* ---- answers ---- */

static unsigned told, right;

/* An answer is the right one, or there is none. */
static void judge(int rc, int is_right)
{
	if (rc) {
		sxt_must_eq(rc, SIMIDX_E_CORRUPT);
		told++;
	} else {
		sxt_must(is_right);
		right++;
	}
}

/* The first ones of all hits. */
static void ask(simidx_reader *reader, const simidx_query *q, const sxt_hit *hits, size_t n)
{
	simidx_results got = SIMIDX_RESULTS_INIT;
	int is_right, rc = simidx_reader_search(reader, q, &got, &sxt_err);

	n = q->limit && q->limit < n ? (size_t)q->limit : n;
	is_right = got.n == n;
	for (size_t i = 0; !rc && is_right && i < n; i++)
		is_right = got.matches[i].id == hits[i].doc->id &&
			   got.matches[i].fp == hits[i].doc->fp &&
			   got.matches[i].fp2 == hits[i].doc->fp2 &&
			   got.matches[i].time == hits[i].doc->time;
	judge(rc, is_right);
}

static void ask_about(simidx_reader *reader, const sxt_doc *doc)
{
	simidx_query q = SIMIDX_QUERY_INIT;
	simidx_match m;
	size_t n;
	sxt_hit *hits = sxt_model_near(&model, model.n, doc->fp, 2, &n);
	int rc;

	q.fp = doc->fp;
	q.radius = 2;
	ask(reader, &q, hits, n);
	q.limit = 7;
	ask(reader, &q, hits, n);
	q.mode = SIMIDX_NEAREST;
	ask(reader, &q, hits, n);
	free(hits);
	rc = simidx_reader_find_id(reader, doc->id, &m, &sxt_err);
	judge(rc, !rc && m.fp == doc->fp && m.fp2 == doc->fp2 && m.time == doc->time);
}

static void ask_all(void)
{
	simidx_reader *reader = sxt_reader(index_now);

	for (size_t i = 0; i < model.n; i += model.n / 71)
		ask_about(reader, &model.at[i]);
	simidx_reader_close(reader);
}

/* A walk has all documents, or is told of damage. */
static void walk(void)
{
	simidx_match m;
	simidx_walk *w;
	size_t n = 0;
	int rc = simidx_walk_open(index_now, &w, &sxt_err);

	while (!rc) {
		rc = simidx_walk_next(w, &m, &sxt_err);
		n += !rc;
	}
	judge(rc == SIMIDX_E_END ? SIMIDX_OK : rc, n == model.n);
	simidx_walk_close(w);
}

static uint64_t verify(void)
{
	simidx_verify_report report = SIMIDX_VERIFY_REPORT_INIT;
	int rc = simidx_verify(index_now, NULL, NULL, &report, &sxt_err);

	sxt_must(rc == (report.problems ? SIMIDX_E_CORRUPT : SIMIDX_OK));
	return report.problems;
}

/*
 * Neither carries a merge on what is not its table's, nor does what is wrong look right after it.
 */
static void merge(void)
{
	simidx_writer *writer = sxt_writer(index_now, 0);
	int rc = simidx_writer_merge(writer, &sxt_err);

	sxt_must(!rc || rc == SIMIDX_E_CORRUPT);
	simidx_writer_close(writer);
	ck_assert_uint_ge(verify(), 1);
}

START_TEST(test_contents_that_changed_places)
{
	static const unsigned flags[] = { 0, SIMIDX_CREATE_FP2,
					  SIMIDX_CREATE_FP2 | SIMIDX_CREATE_TIMES };
	unsigned swaps = 0;

	make(DOCUMENTS, flags[_i]);
	for (size_t a = 0; a < n_blocks; a++) {
		for (size_t b = a + 1; b < n_blocks; b++, swaps++) {
			sxt_file_write(t_data, data, data_size);
			open_checked();
			ck_assert(swaps || !verify());
			swapped[0] = a;
			swapped[1] = b;
			in_transaction(write_two);
			ask_all();
			walk();
			ck_assert_uint_ge(verify(), 2);
			merge();
			ask_all();
			walk();
			simidx_close(index_now);
		}
	}
	ck_assert_uint_ge(swaps, 7 * 6 / 2);
	ck_assert_uint_gt(told, 10 * swaps);
	ck_assert_uint_gt(right, 10 * swaps);
}
END_TEST

/* Many blocks of postings have one key, and differ by their ids alone. */
START_TEST(test_blocks_of_one_fingerprint)
{
	simidx_open_options o = SIMIDX_OPEN_OPTIONS_INIT;
	unsigned postings = 4, swaps = 0;
	simidx_reader *reader;

	o.flags = SIMIDX_OPEN_CHECK;
	o.block_index_bytes = _i ? SIMIDX_BLOCK_INDEX_NEVER : 0;
	make(CROWD, SIMIDX_CREATE_FP2 | SIMIDX_CREATE_TIMES);
	for (size_t a = 0; a < n_blocks; a++) {
		for (size_t b = a + 1; b < n_blocks; b++) {
			if (blocks[a].table != postings || blocks[b].table != postings)
				continue;
			sxt_file_write(t_data, data, data_size);
			open_checked();
			swapped[0] = a;
			swapped[1] = b;
			in_transaction(write_two);
			simidx_close(index_now);
			sxt_must_ok(simidx_open(t_path, &o, &index_now, &sxt_err));
			reader = sxt_reader(index_now);
			ask_about(reader, &model.at[swaps % 2]);
			ask_about(reader, &model.at[swaps % 2]);
			simidx_reader_close(reader);
			ck_assert_uint_ge(verify(), 1);
			swaps++;
			simidx_close(index_now);
		}
	}
	ck_assert_uint_ge(swaps, 50);
	ck_assert_uint_gt(told, swaps);
	ck_assert_uint_gt(right, 0);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_contents_that_changed_places, 0, 3 },
	{ &test_blocks_of_one_fingerprint, 0, 2 },
};

SXT_SUITE(table_exchange, sxt_set_up_path, tear_down);
