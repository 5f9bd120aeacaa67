/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Deleting what is older than a time: of documents in the tables, in fresh and in pending rows; in
 * many transactions, between which others write; and what it tells of its work.
 */

#include <stdio.h>
#include <string.h>

#include <simidx_check.h>
#include <simidx_walk.h>

#include "index/sx_index.h"
#include "support/sxt_fixture.h"
#include "support/sxt_index.h"

static const sxt_variant variants[] = {
	{ "4x16", SIMIDX_LAYOUT_BLOCKS, SIMIDX_CREATE_TIMES },
	{ "4x16", SIMIDX_LAYOUT_ROWS, SIMIDX_CREATE_TIMES },
	{ "4x16", SIMIDX_LAYOUT_BLOCKS, SIMIDX_CREATE_TIMES | SIMIDX_CREATE_FP2 },
};

#define N_VARIANTS ((int)(sizeof(variants) / sizeof(variants[0])))

#define CUT 1000u /* what is older goes */

/* What document i has. Of seven, three are old, one is as old as allowed, one is unknown. */
static uint32_t time_of(uint64_t i)
{
	static const uint32_t times[] = { 1, 999, 500, 1000, 0, 1001, UINT32_MAX };

	return times[i % 7];
}

static int is_old(uint64_t i)
{
	return i % 7 < 3;
}

static uint64_t count_old(uint64_t from, uint64_t to)
{
	uint64_t n = 0;

	for (; from < to; from++)
		n += (uint64_t)is_old(from);
	return n;
}

static unsigned flags_now;
static int on_one_fingerprint;

static simidx *create(int variant)
{
	simidx_create_options o = SIMIDX_CREATE_OPTIONS_INIT;

	o.plan = variants[variant].plan;
	o.layout = variants[variant].layout;
	o.flags = flags_now = variants[variant].flags;
	return sxt_create(t_path, &o);
}

/* Labels of every third; several documents have one fingerprint. */
static simidx_doc document(uint64_t i, char label[32])
{
	simidx_doc doc = SIMIDX_DOC_INIT;

	doc.id = i;
	doc.fp = on_one_fingerprint ? 77 : i / 5 * UINT64_C(0x9e3779b97f4a7c15);
	doc.time = time_of(i);
	doc.flags = SIMIDX_DOC_TIME;
	if (flags_now & SIMIDX_CREATE_FP2) {
		doc.fp2 = i;
		doc.flags |= SIMIDX_DOC_FP2;
	}
	if (i % 3 == 0) {
		doc.label = label;
		doc.label_size = (size_t)sprintf(label, "label %llu", (unsigned long long)i);
	}
	return doc;
}

static void put(simidx_writer *writer, uint64_t from, uint64_t to)
{
	char label[32];

	for (; from < to; from++) {
		simidx_doc doc = document(from, label);

		sxt_must_ok(simidx_writer_put(writer, &doc, NULL, &sxt_err));
	}
}

static void store(simidx *index, uint64_t from, uint64_t to)
{
	simidx_writer *writer = sxt_writer(index, 0);

	put(writer, from, to);
	sxt_commit(writer);
	simidx_writer_close(writer);
}

static void check_document(const simidx_match *m, uint64_t i)
{
	char label[32];
	simidx_doc doc = document(i, label);

	sxt_must_eq(m->id, i);
	sxt_must_eq(m->fp, doc.fp);
	sxt_must_eq(m->fp2, doc.fp2);
	sxt_must_eq(m->time, doc.time);
	sxt_must_eq(m->label_size, doc.label_size);
	sxt_must(!doc.label || !memcmp(m->label, doc.label, doc.label_size));
}

/* Of documents 0 .. n - 1 those are left that are not old, and `spared`. */
static void check_left(simidx *index, uint64_t n, uint64_t spared)
{
	simidx_walk *walk;
	simidx_match m;

	sxt_must_ok(simidx_walk_open(index, &walk, &sxt_err));
	for (uint64_t i = 0; i < n; i++) {
		if (is_old(i) && i != spared)
			continue;
		sxt_must_ok(simidx_walk_next(walk, &m, &sxt_err));
		if (i != spared)
			check_document(&m, i);
		else
			sxt_must_eq(m.id, i);
	}
	sxt_must_sx(simidx_walk_next(walk, &m, &sxt_err), SIMIDX_E_END);
	simidx_walk_close(walk);
	sxt_check_sound(index);
}

/* What is gone is not found by its id or label, and its label may be another's. */
static void check_gone(simidx *index, uint64_t i)
{
	simidx_reader *reader = sxt_reader(index);
	char label[32];
	simidx_doc doc = document(i, label);
	simidx_match m;

	ck_assert_sx(simidx_reader_find_id(reader, i, &m, &sxt_err), SIMIDX_E_NOT_FOUND);
	if (doc.label)
		ck_assert_sx(simidx_reader_find_label(reader, doc.label, doc.label_size, &m,
						      &sxt_err),
			     SIMIDX_E_NOT_FOUND);
	simidx_reader_close(reader);
}

static uint64_t delete_older(simidx_writer *writer, uint32_t time)
{
	uint64_t n = UINT64_MAX;

	ck_assert_sx(simidx_writer_delete_older(writer, time, NULL, NULL, &n, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(simidx_writer_pending(writer), 0);
	return n;
}

/* In the tables, in fresh rows and pending, in transactions of few documents and of many. */
START_TEST(test_old_documents_go)
{
	int is_small = _i >= N_VARIANTS;
	simidx *index = create(_i % N_VARIANTS);
	simidx_writer *writer;
	uint64_t stored;

	if (is_small) {
		index->tuning.older_deleted = 7;
		index->tuning.older_seen = 100;
		index->tuning.merge_blocks = 1;
		index->tuning.merge_rows = 50;
	}
	store(index, 0, 3000);
	sxt_merge(index);
	store(index, 3000, 4000);
	writer = sxt_writer(index, is_small ? 500 : 0);
	put(writer, 4000, 4500);
	ck_assert_uint_eq(delete_older(writer, CUT), count_old(0, 4500));
	check_left(index, 4500, SIMIDX_NO_ID);
	for (uint64_t i = 0; i < 4500; i += 501)
		if (is_old(i))
			check_gone(index, i);
	/* There is nothing left to do. */
	stored = simidx_writer_stored(writer);
	ck_assert_uint_eq(delete_older(writer, CUT), 0);
	ck_assert_uint_eq(delete_older(writer, 0), 0);
	ck_assert_uint_eq(simidx_writer_stored(writer), stored);
	sxt_must_ok(simidx_writer_merge(writer, &sxt_err));
	check_left(index, 4500, SIMIDX_NO_ID);
	/* Their labels are free. */
	put(writer, 0, 1);
	sxt_commit(writer);
	/*
	 * With the largest cut-off all that is known goes, but for what is of its second: 642 of 7.
	 */
	ck_assert_uint_eq(delete_older(writer, UINT32_MAX), 1 + 2 * 643);
	ck_assert_uint_eq(t_info(index).documents, 643 + 642);
	simidx_writer_close(writer);
	simidx_close(index);
}
END_TEST

/* Documents that were touched, replaced or deleted in fresh rows and in pending ones. */
START_TEST(test_the_last_row_decides)
{
	simidx *index = create(_i);
	simidx_writer *writer;
	char label[32];
	simidx_doc doc;
	uint64_t left = 0;
	simidx_match m;
	simidx_walk *walk;

	index->tuning.older_deleted = 3;
	store(index, 0, 700);
	sxt_merge(index);
	writer = sxt_writer(index, 0);
	for (unsigned round = 0; round < 2; round++) {
		for (uint64_t i = round * 350; i < 350 + round * 350; i += 7) {
			sxt_must_ok(simidx_writer_touch(writer, i, CUT, &sxt_err)); /* was 1 */
			doc = document(i + 3, label); /* was 1000 */
			doc.time = CUT - 1;
			sxt_must_ok(simidx_writer_replace(writer, &doc, NULL, &sxt_err));
			sxt_must_ok(simidx_writer_delete_id(writer, i + 1, &sxt_err)); /* was 999 */
			/* was 500: its fingerprint alone is another */
			doc = document(i + 2, label);
			doc.fp ^= 1;
			sxt_must_ok(simidx_writer_replace(writer, &doc, NULL, &sxt_err));
		}
		if (!round)
			sxt_commit(writer);
	}
	ck_assert_uint_eq(delete_older(writer, CUT), 2 * 100);
	sxt_must_ok(simidx_walk_open(index, &walk, &sxt_err));
	while (!simidx_walk_next(walk, &m, &sxt_err)) {
		sxt_must(m.id % 7 != 1 && m.id % 7 != 2 && m.id % 7 != 3);
		sxt_must_eq(m.time, m.id % 7 ? time_of(m.id) : CUT);
		left++;
	}
	ck_assert_uint_eq(left, 400);
	simidx_walk_close(walk);
	sxt_check_sound(index);
	simidx_writer_close(writer);
	simidx_close(index);
}
END_TEST

/* ---- others between two transactions ---- */

#define OTHERS 700
#define COME 50 /* meanwhile */

struct other {
	simidx *index;
	uint64_t done, total, calls;
	int has_merged;
};

/*
 * What another writer does after the first transaction. Ids are in the order of fingerprints; those
 * of documents that are still to be looked at are large.
 */
static void change_between(void *ctx, const char *phase, uint64_t done, uint64_t total)
{
	struct other *o = ctx;
	simidx_writer *writer;
	char label[32];
	simidx_doc doc;

	if (strcmp(phase, "deleting"))
		return;
	ck_assert_uint_ge(done, o->done);
	ck_assert_uint_le(done, total);
	ck_assert_uint_ge(total, o->total);
	o->done = done;
	o->total = total;
	if (o->calls++ != 1)
		return;
	writer = sxt_writer(o->index, 0);
	sxt_must_ok(simidx_writer_touch(writer, 693, CUT + 5, &sxt_err));
	sxt_must_ok(simidx_writer_delete_id(writer, 694, &sxt_err));
	doc = document(695, label); /* is put again, with another label and a later time */
	sxt_must_ok(simidx_writer_delete_id(writer, 695, &sxt_err));
	doc.label = "again";
	doc.label_size = 5;
	doc.time = CUT;
	sxt_must_ok(simidx_writer_put(writer, &doc, NULL, &sxt_err));
	/* More than were counted at the beginning. */
	doc.label = NULL;
	for (doc.id = OTHERS; doc.id < OTHERS + COME; doc.id++)
		sxt_must_ok(simidx_writer_put(writer, &doc, NULL, &sxt_err));
	sxt_commit(writer);
	if (o->has_merged)
		sxt_must_ok(simidx_writer_merge(writer, &sxt_err));
	simidx_writer_close(writer);
}

START_TEST(test_others_write_in_between)
{
	simidx *index = create(_i % N_VARIANTS);
	struct other other = { .index = index, .has_merged = _i >= N_VARIANTS };
	simidx_reader *reader;
	simidx_writer *writer;
	simidx_match m;

	index->tuning.older_deleted = 11;
	index->tuning.older_seen = COME / 3;
	on_one_fingerprint = 1; /* then postings are by id */
	store(index, 0, OTHERS);
	sxt_merge(index);
	simidx_set_progress(index, change_between, &other);
	writer = sxt_writer(index, 0);
	ck_assert_uint_eq(delete_older(writer, CUT), count_old(0, OTHERS) - 3);
	ck_assert_uint_gt(other.calls, OTHERS / 11 * 3 / 7);
	ck_assert_uint_eq(other.done, other.total);
	reader = sxt_reader(index);
	sxt_must_ok(simidx_reader_find_id(reader, 693, &m, &sxt_err));
	ck_assert_uint_eq(m.time, CUT + 5);
	ck_assert_sx(simidx_reader_find_id(reader, 694, &m, &sxt_err), SIMIDX_E_NOT_FOUND);
	sxt_must_ok(simidx_reader_find_label(reader, "again", 5, &m, &sxt_err));
	ck_assert_uint_eq(m.id, 695);
	ck_assert_uint_eq(m.time, CUT);
	ck_assert_uint_eq(t_info(index).documents, OTHERS - count_old(0, OTHERS) + 2 + COME);
	sxt_check_sound(index);
	simidx_reader_close(reader);
	simidx_writer_close(writer);
	simidx_close(index);
}
END_TEST

/* ---- many ---- */

#define MANY 100000

/* One fingerprint has them all, in many blocks; a transaction ends in the middle of one. */
START_TEST(test_many_of_one_fingerprint)
{
	simidx *index = create(_i);
	struct other other = { .index = index, .calls = 2 };
	simidx_writer *writer;

	on_one_fingerprint = 1;
	index->tuning.older_deleted = 4001;
	index->tuning.older_seen = 30000;
	store(index, 0, MANY);
	sxt_merge(index);
	simidx_set_progress(index, change_between, &other);
	writer = sxt_writer(index, 10000);
	ck_assert_uint_eq(delete_older(writer, CUT), count_old(0, MANY));
	ck_assert_uint_ge(other.calls - 2, count_old(0, MANY) / 4001);
	ck_assert_uint_eq(other.done, other.total);
	ck_assert_uint_eq(other.total, MANY);
	check_left(index, MANY, SIMIDX_NO_ID);
	simidx_writer_close(writer);
	simidx_close(index);
}
END_TEST

/* More than a transaction takes as the library is set: 65,536. */
START_TEST(test_more_than_a_transaction_takes)
{
	simidx *index = create(0);
	struct other other = { .index = index, .calls = 2 };
	simidx_writer *writer;

	store(index, 0, 4 * MANY);
	sxt_merge(index);
	simidx_set_progress(index, change_between, &other);
	writer = sxt_writer(index, 0);
	ck_assert_uint_eq(delete_older(writer, CUT), count_old(0, 4 * MANY));
	ck_assert_uint_eq(other.calls - 2, 1 + (count_old(0, 4 * MANY) + 65535) / 65536);
	check_left(index, 4 * MANY, SIMIDX_NO_ID);
	simidx_writer_close(writer);
	simidx_close(index);
}
END_TEST

/* ---- failures ---- */

/* A block of docs that no merge can read. */
static void damage(simidx *index)
{
	unsigned char zeros[SIMIDX_MAX_LABEL] = { 0 };
	const sx_table *table = &index->tables.docs;
	sx_slice key, value;
	unsigned char bytes[SX_TABLE_MAX_KEY];
	sx_cursor *cursor;
	sx_txn *txn;

	sxt_must_ok(sx_store_lock(index->store, 0, &sxt_err));
	sxt_must_ok(sx_txn_begin_write(index->store, 0, &txn, &sxt_err));
	sxt_must_ok(sx_cursor_open(txn, table->dbi, &cursor, &sxt_err));
	sxt_must_ok(sx_cursor_first(cursor, &key, &value, &sxt_err));
	memcpy(bytes, key.data, key.size);
	key.data = bytes;
	value.data = zeros;
	sx_cursor_close(cursor);
	sxt_must_ok(sx_dbi_put(txn, table->dbi, key, value, &sxt_err));
	sxt_must_ok(sx_txn_commit(txn, &sxt_err));
	sx_store_unlock(index->store);
}

/* A merge that fails after a commit: what was committed is counted. */
START_TEST(test_count_after_a_failure)
{
	simidx *index = create(0);
	uint64_t before, n = UINT64_MAX;
	simidx_writer *writer;

	index->tuning.older_deleted = 10;
	store(index, 0, 700);
	sxt_merge(index);
	damage(index);
	before = t_info(index).documents;
	writer = sxt_writer(index, 25); /* after the third commit */
	ck_assert_sx(simidx_writer_delete_older(writer, CUT, NULL, NULL, &n, &sxt_err),
		     SIMIDX_E_CORRUPT);
	ck_assert_uint_eq(n, 30);
	ck_assert_uint_eq(t_info(index).documents, before - 30);
	simidx_writer_close(writer);
	/* The next one does the rest, as long as nothing is merged. */
	writer = sxt_writer(index, 0);
	ck_assert_uint_eq(delete_older(writer, CUT), count_old(0, 700) - 30);
	simidx_writer_close(writer);
	simidx_close(index);
}
END_TEST

static int stop_at_third(void *ctx)
{
	return ++*(unsigned *)ctx == 3;
}

/* It ends between two commits, and the next call deletes the rest. */
START_TEST(test_it_can_be_stopped)
{
	simidx *index = create(0);
	uint64_t before, n = UINT64_MAX;
	simidx_writer *writer;
	unsigned asked = 0;

	index->tuning.older_deleted = 10;
	store(index, 0, 700);
	sxt_merge(index);
	before = t_info(index).documents;
	writer = sxt_writer(index, 0);
	ck_assert_sx(simidx_writer_delete_older(writer, CUT, stop_at_third, &asked, &n, &sxt_err),
		     SIMIDX_E_STOPPED);
	ck_assert_uint_eq(asked, 3);
	/* the first transaction looks at fresh rows, and there are none */
	ck_assert_uint_eq(n, 20);
	ck_assert_uint_eq(t_info(index).documents, before - 20);
	ck_assert_uint_eq(simidx_writer_pending(writer), 0);
	ck_assert_uint_eq(delete_older(writer, CUT), count_old(0, 700) - 20);
	simidx_writer_close(writer);
	simidx_close(index);
}
END_TEST

/* What is pending is committed with the mark, though nothing is old; or is not, after a failure. */
START_TEST(test_pending_changes_go_with_it)
{
	simidx *index = create(_i);
	simidx_writer *writer = sxt_writer(index, 0);
	uint64_t mark = 0, n;
	size_t size;

	put(writer, 3, 7);
	sxt_must_ok(simidx_writer_set_mark(writer, "12345678", 8, &sxt_err));
	ck_assert_uint_eq(delete_older(writer, CUT), 0);
	ck_assert_uint_eq(simidx_writer_stored(writer), 4);
	ck_assert_uint_eq(t_info(index).documents, 4);
	sxt_must_ok(simidx_get_mark(index, &mark, sizeof(mark), &size, &sxt_err));
	ck_assert(size == 8 && !memcmp(&mark, "12345678", 8));
	ck_assert_sx(simidx_writer_delete_older(writer, CUT + 1, NULL, NULL, NULL, &sxt_err),
		     SIMIDX_OK);
	ck_assert_uint_eq(t_info(index).documents, 3);
	simidx_writer_close(writer);
	/* Another one has the lock. */
	{
		simidx_writer *first = sxt_writer(index, 0), *second = t_impatient_writer(index);

		sxt_must_ok(simidx_writer_begin(first, &sxt_err));
		ck_assert_sx(simidx_writer_delete_older(second, UINT32_MAX, NULL, NULL, &n,
							&sxt_err),
			     SIMIDX_E_BUSY);
		ck_assert_uint_eq(n, 0);
		simidx_writer_close(first);
		ck_assert_uint_eq(delete_older(second, UINT32_MAX), 1);
		simidx_writer_close(second);
	}
	simidx_close(index);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_old_documents_go, 0, 2 * N_VARIANTS },
	{ &test_the_last_row_decides, 0, N_VARIANTS },
	{ &test_others_write_in_between, 0, 2 * N_VARIANTS },
	{ &test_many_of_one_fingerprint, 0, N_VARIANTS },
	{ &test_more_than_a_transaction_takes, 0, 1 },
	{ &test_count_after_a_failure, 0, 1 },
	{ &test_it_can_be_stopped, 0, 1 },
	{ &test_pending_changes_go_with_it, 0, N_VARIANTS },
};

SXT_SUITE(times_older, sxt_set_up_path, sxt_tear_down);
