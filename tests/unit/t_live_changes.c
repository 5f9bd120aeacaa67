/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Changes of documents, one promise after another. Random ones are compared with a model in
 * t_live_model.c.
 */

#include <stdlib.h>
#include <time.h>

#include "index/sx_snapshot.h"
#include "support/sxt_fixture.h"
#include "support/sxt_index.h"
#include "util/sx_bytes.h"

static int t_replace(simidx_writer *writer, uint64_t id, uint64_t fp, const char *label)
{
	simidx_doc doc = t_document(id, fp, label);

	return simidx_writer_replace(writer, &doc, NULL, &sxt_err);
}

/* ---- what counts as changed ---- */

START_TEST(test_replacing_by_the_same_counts_and_writes_nothing)
{
	simidx *index = sxt_create(t_path, NULL);
	simidx_writer *writer = sxt_writer(index, 0);
	uint64_t commit;

	ck_assert_int_eq(t_put(writer, 1, 16, "one"), SIMIDX_OK);
	sxt_commit(writer);
	commit = t_info(index).snapshot;
	ck_assert_sx(t_replace(writer, 1, 16, "one"), SIMIDX_OK);
	ck_assert_uint_eq(simidx_writer_pending(writer), 1);
	sxt_commit(writer);
	ck_assert_uint_eq(simidx_writer_pending(writer), 0);
	ck_assert_uint_eq(simidx_writer_stored(writer), 2);
	ck_assert_uint_eq(t_info(index).snapshot, commit);
	simidx_writer_close(writer);
	simidx_close(index);
}
END_TEST

/* A merge gives the transaction up, so it is refused while that has anything to store. */
START_TEST(test_merge_loses_no_mark)
{
	simidx *index = sxt_create(t_path, NULL);
	simidx_writer *writer = sxt_writer(index, 0);
	unsigned char mark[SIMIDX_MAX_MARK];
	size_t size;

	ck_assert_int_eq(t_put(writer, 1, 16, "one"), SIMIDX_OK);
	sxt_commit(writer);
	ck_assert_sx(simidx_writer_set_mark(writer, "mark", 4, &sxt_err), SIMIDX_OK);
	ck_assert_sx(simidx_writer_merge(writer, &sxt_err), SIMIDX_E_STATE);
	sxt_commit(writer);
	ck_assert_sx(simidx_get_mark(index, mark, sizeof(mark), &size, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(size, 4);
	ck_assert_sx(simidx_writer_merge(writer, &sxt_err), SIMIDX_OK);
	simidx_writer_close(writer);
	simidx_close(index);
}
END_TEST

/* ---- ids that are kept back ---- */

/* The id that the next document gets which has none of its own. */
static uint64_t put_next(simidx_writer *writer)
{
	simidx_doc doc = t_document(SIMIDX_NO_ID, 16, NULL);
	uint64_t id;

	sxt_must_ok(simidx_writer_put(writer, &doc, &id, &sxt_err));
	return id;
}

START_TEST(test_reserved_ids_are_not_assigned)
{
	simidx *index = sxt_create(t_path, NULL);
	simidx_writer *writer = sxt_writer(index, 0);
	uint64_t before;

	ck_assert_uint_eq(put_next(writer), 0);
	ck_assert_sx(simidx_writer_reserve_ids(writer, 100, &sxt_err), SIMIDX_OK);
	ck_assert_sx(simidx_writer_reserve_ids(writer, 7, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(put_next(writer), 100);
	sxt_commit(writer);
	/*
	 * Nothing else is to be stored, in a merge there is no room for it, and a rollback forgets
	 * it.
	 */
	ck_assert_sx(simidx_writer_reserve_ids(writer, 200, &sxt_err), SIMIDX_OK);
	ck_assert_sx(simidx_writer_merge(writer, &sxt_err), SIMIDX_E_STATE);
	sxt_commit(writer);
	ck_assert_sx(simidx_writer_merge(writer, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(t_info(index).next_id, 200);
	ck_assert_uint_eq(t_info(index).documents, 2);
	before = t_info(index).snapshot;
	ck_assert_sx(simidx_writer_reserve_ids(writer, 300, &sxt_err), SIMIDX_OK);
	simidx_writer_rollback(writer);
	ck_assert_sx(simidx_writer_merge(writer, &sxt_err), SIMIDX_OK);
	sxt_commit(writer);
	ck_assert_uint_eq(t_info(index).next_id, 200);
	ck_assert_uint_eq(t_info(index).snapshot, before);
	/* Those below may be chosen, and a merge does not lower it. */
	ck_assert_int_eq(t_put(writer, 150, 32, "chosen"), SIMIDX_OK);
	sxt_commit(writer);
	sxt_merge(index);
	ck_assert_uint_eq(t_info(index).next_id, 200);
	sxt_check_sound(index);
	simidx_writer_close(writer);
	simidx_close(index);
}
END_TEST

START_TEST(test_no_more_ids_can_be_reserved_than_there_are)
{
	simidx_create_options create = SIMIDX_CREATE_OPTIONS_INIT;
	simidx *index = sxt_create(t_path, NULL);
	simidx_writer *writer = sxt_writer(index, 0);
	simidx_doc doc = t_document(SIMIDX_NO_ID, 16, NULL);

	ck_assert_sx(simidx_writer_reserve_ids(NULL, 1, &sxt_err), SIMIDX_E_ARG);
	ck_assert_sx(simidx_writer_reserve_ids(writer, SIMIDX_MAX_ID + 2, &sxt_err),
		     SIMIDX_E_RANGE);
	ck_assert_sx(simidx_writer_reserve_ids(writer, SIMIDX_NO_ID, &sxt_err), SIMIDX_E_RANGE);
	ck_assert_sx(simidx_writer_reserve_ids(writer, SIMIDX_MAX_ID + 1, &sxt_err), SIMIDX_OK);
	sxt_commit(writer);
	ck_assert_uint_eq(t_info(index).next_id, SIMIDX_MAX_ID + 1);
	ck_assert_sx(simidx_writer_put(writer, &doc, NULL, &sxt_err), SIMIDX_E_RANGE);
	sxt_check_sound(index);
	simidx_writer_close(writer);
	simidx_close(index);
	create.flags = SIMIDX_CREATE_NO_IDS | SIMIDX_CREATE_TRUNCATE;
	index = sxt_create(t_path, &create);
	writer = sxt_writer(index, 0);
	ck_assert_sx(simidx_writer_reserve_ids(writer, 1, &sxt_err), SIMIDX_E_UNSUPPORTED);
	simidx_writer_close(writer);
	simidx_close(index);
}
END_TEST

/* ---- labels of documents that are deleted ---- */

static uint64_t count_labels_stored(simidx *index)
{
	simidx_table_info info = SIMIDX_TABLE_INFO_INIT;
	unsigned i = 0;

	do
		sxt_must_ok(simidx_get_table_info(index, i++, &info, &sxt_err));
	while (strcmp(info.name, "labels"));
	return info.entries;
}

/* The id of the document with a label, or SIMIDX_NO_ID. */
static uint64_t find_label(simidx *index, const char *label)
{
	simidx_reader *reader = sxt_reader(index);
	simidx_match match;
	int rc = simidx_reader_find_label(reader, label, strlen(label), &match, &sxt_err);

	sxt_must(rc == SIMIDX_OK || rc == SIMIDX_E_NOT_FOUND);
	sxt_error_clear(&sxt_err);
	simidx_reader_close(reader);
	return rc ? SIMIDX_NO_ID : match.id;
}

/* Documents 0 to 3 with labels "0" to "3" in the tables, and a commit that deletes 1 and 2. */
static simidx *with_deleted(simidx_writer **writer)
{
	simidx *index = sxt_create(t_path, NULL);

	*writer = sxt_writer(index, 0);
	for (unsigned i = 0; i < 4; i++)
		sxt_must_eq(t_put(*writer, i, 16 * i, (char[]){ (char)('0' + i), 0 }), SIMIDX_OK);
	sxt_commit(*writer);
	sxt_merge(index);
	sxt_must_ok(simidx_writer_delete_id(*writer, 1, &sxt_err));
	sxt_must_ok(simidx_writer_delete_label(*writer, "2", 1, &sxt_err));
	sxt_commit(*writer);
	return index;
}

/* Whose label it is tells the log, too, where a handle has just been opened. */
START_TEST(test_label_of_a_document_that_came_and_went)
{
	simidx *index = sxt_create(t_path, NULL);
	simidx_writer *writer = sxt_writer(index, 0);

	ck_assert_int_eq(t_put(writer, 1, 16, "one"), SIMIDX_OK);
	ck_assert_int_eq(t_put(writer, 2, 32, "two"), SIMIDX_OK);
	sxt_commit(writer);
	ck_assert_sx(simidx_writer_delete_label(writer, "two", 3, &sxt_err), SIMIDX_OK);
	ck_assert_sx(t_replace(writer, 1, 16, "new"), SIMIDX_OK);
	sxt_commit(writer);
	simidx_writer_close(writer);
	simidx_close(index);
	index = sxt_open(t_path, 0);
	ck_assert_uint_eq(find_label(index, "one"), SIMIDX_NO_ID);
	ck_assert_uint_eq(find_label(index, "two"), SIMIDX_NO_ID);
	ck_assert_uint_eq(find_label(index, "new"), 1);
	simidx_close(index);
}
END_TEST

/* It is nobody's from the commit on, though its bytes wait for the merge. */
START_TEST(test_label_of_a_deleted_document_goes_with_the_merge)
{
	simidx_writer *writer;
	simidx *index = with_deleted(&writer);

	ck_assert_uint_eq(count_labels_stored(index), 4);
	ck_assert_uint_eq(t_info(index).labels, 2);
	ck_assert_uint_eq(find_label(index, "1"), SIMIDX_NO_ID);
	ck_assert_uint_eq(find_label(index, "2"), SIMIDX_NO_ID);
	sxt_check_sound(index);
	/* Another document takes a label that is free, and another one an id that is. */
	ck_assert_int_eq(t_put(writer, SIMIDX_NO_ID, 160, "2"), SIMIDX_OK);
	ck_assert_int_eq(t_put(writer, 1, 160, NULL), SIMIDX_OK);
	ck_assert_int_eq(t_put(writer, 2, 160, "1"), SIMIDX_OK);
	sxt_commit(writer);
	for (unsigned merged = 0; merged < 2; merged++) {
		ck_assert_uint_eq(t_info(index).labels, 4);
		ck_assert_uint_eq(count_labels_stored(index), 4);
		ck_assert_uint_eq(find_label(index, "2"), 4);
		ck_assert_uint_eq(find_label(index, "1"), 2);
		sxt_check_sound(index);
		sxt_merge(index);
	}
	ck_assert_sx(simidx_writer_delete_id(writer, 4, &sxt_err), SIMIDX_OK);
	sxt_commit(writer);
	sxt_merge(index);
	ck_assert_uint_eq(count_labels_stored(index), 3);
	sxt_check_sound(index);
	simidx_writer_close(writer);
	simidx_close(index);
}
END_TEST

/* In a transaction without the library, so that nothing else changes. */
static void store_label(simidx *index, uint64_t id, const char *label)
{
	unsigned char bytes[8];
	sx_slice key = { bytes, sizeof(bytes) }, value = { label, strlen(label) };
	sx_txn *txn;

	sx_store_be64(bytes, id);
	sxt_must_ok(sx_store_lock(index->store, -1, &sxt_err));
	sxt_must_ok(sx_txn_begin_write(index->store, 0, &txn, &sxt_err));
	sxt_must_ok(sx_dbi_put(txn, index->tables.labels, key, value, &sxt_err));
	sxt_must_ok(sx_txn_commit(txn, &sxt_err));
	sx_store_unlock(index->store);
}

/* Verification knows which labels may be there still, and what they must be. */
START_TEST(test_verify_knows_labels_that_are_left)
{
	static const struct {
		uint64_t id;
		const char *label;
		int is_sound;
	} cases[] = {
		{ 1, "1", 1 },
		{ 1, "x", 0 }, /* of a deleted document, but another one */
		{ 3, "x", 0 }, /* of one that is there */
		{ 9, "9", 0 }, /* of none */
	};
	simidx_writer *writer;
	simidx *index = with_deleted(&writer);

	store_label(index, cases[_i].id, cases[_i].label);
	ck_assert_sx(simidx_verify(index, NULL, NULL, NULL, &sxt_err),
		     cases[_i].is_sound ? SIMIDX_OK : SIMIDX_E_CORRUPT);
	simidx_writer_close(writer);
	simidx_close(index);
}
END_TEST

/* ---- one label or fingerprint that has had very many documents ---- */

#define CYCLES 50000

static double cpu_seconds(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

/*
 * What was added and deleted again costs no later change or search anything. If each looked at all
 * that was before, this would take CYCLES^2 / 2 looks, tens of seconds at least.
 */
START_TEST(test_what_came_and_went_costs_nothing)
{
	simidx *index = sxt_create(t_path, NULL);
	simidx_writer *writer = sxt_writer(index, 0);
	simidx_query query = SIMIDX_QUERY_INIT;
	double began = cpu_seconds();
	simidx_doc doc;
	uint64_t id;

	for (uint64_t i = 0; i < CYCLES; i++) {
		doc = t_document(SIMIDX_NO_ID, _i ? 16 : i * UINT64_C(0x9e3779b97f4a7c15),
				 _i ? NULL : "one");
		query.fp = doc.fp;
		ck_assert_sx(simidx_writer_put_if_new(writer, &doc, &query, &id, NULL, &sxt_err),
			     SIMIDX_OK);
		ck_assert_uint_eq(id, i);
		ck_assert_sx(simidx_writer_delete_id(writer, id, &sxt_err), SIMIDX_OK);
	}
	ck_assert_double_lt(cpu_seconds() - began, 10);
	sxt_commit(writer);
	ck_assert_uint_eq(t_info(index).documents, 0);
	sxt_check_sound(index);
	simidx_writer_close(writer);
	simidx_close(index);
}
END_TEST

static uint64_t id_of(simidx_reader *reader, const char *label)
{
	simidx_match match;
	int rc = simidx_reader_find_label(reader, label, strlen(label), &match, &sxt_err);

	sxt_must(!rc || rc == SIMIDX_E_NOT_FOUND);
	return rc ? SIMIDX_NO_ID : match.id;
}

/* A label that changes hands again and again in one transaction takes no new page each time. */
START_TEST(test_only_label_changes_hands)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), rounds = 5000;
	simidx *index = sxt_create(t_path, NULL);
	simidx_writer *writer = sxt_writer(index, 0);
	simidx_reader *pending, *reader = sxt_reader(index);
	uint64_t before;

	ck_assert_int_eq(t_put(writer, 0, 16, NULL), SIMIDX_OK);
	ck_assert_int_eq(t_put(writer, 1, 32, "label"), SIMIDX_OK);
	sxt_commit(writer);
	before = t_info(index).file_bytes;
	sxt_must_ok(simidx_writer_reader(writer, &pending, &sxt_err));
	for (uint64_t i = 0; i < rounds; i++) {
		uint64_t from = 1 - i % 2, to = i % 2;

		ck_assert_sx(t_replace(writer, from, 16 + i, NULL), SIMIDX_OK);
		ck_assert_uint_eq(id_of(pending, "label"), SIMIDX_NO_ID);
		ck_assert_sx(t_replace(writer, to, 16 + i, "label"), SIMIDX_OK);
		ck_assert_uint_eq(id_of(pending, "label"), to);
	}
	if (_i == 1) { /* it is nobody's in the end */
		ck_assert_sx(t_replace(writer, 1, 1, NULL), SIMIDX_OK);
		ck_assert_uint_eq(id_of(pending, "label"), SIMIDX_NO_ID);
	}
	sxt_commit(writer);
	ck_assert_uint_eq(id_of(reader, "label"), _i == 1 ? SIMIDX_NO_ID : 1);
	ck_assert_uint_eq(t_info(index).labels, _i != 1);
	/* The log has 4 rows a round, of less than 64 bytes. */
	ck_assert_uint_lt(t_info(index).file_bytes - before, 4 * rounds * 64 + 64 * page);
	sxt_check_sound(index);
	simidx_reader_close(reader);
	simidx_writer_close(writer);
	simidx_close(index);
}
END_TEST

/* What is taken back was never removed. */
START_TEST(test_only_label_stays_after_a_rollback)
{
	simidx *index = sxt_create(t_path, NULL);
	simidx_writer *writer = sxt_writer(index, 0);
	simidx_reader *reader = sxt_reader(index);

	ck_assert_int_eq(t_put(writer, 1, 32, "label"), SIMIDX_OK);
	sxt_commit(writer);
	ck_assert_sx(t_replace(writer, 1, 1, NULL), SIMIDX_OK);
	simidx_writer_rollback(writer);
	ck_assert_uint_eq(id_of(reader, "label"), 1);
	ck_assert_int_eq(t_put(writer, 2, 32, "other"), SIMIDX_OK);
	sxt_commit(writer);
	ck_assert_uint_eq(id_of(reader, "label"), 1);
	sxt_check_sound(index);
	simidx_reader_close(reader);
	simidx_writer_close(writer);
	simidx_close(index);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_replacing_by_the_same_counts_and_writes_nothing, 0, 1 },
	{ &test_merge_loses_no_mark, 0, 1 },
	{ &test_reserved_ids_are_not_assigned, 0, 1 },
	{ &test_no_more_ids_can_be_reserved_than_there_are, 0, 1 },
	{ &test_label_of_a_document_that_came_and_went, 0, 1 },
	{ &test_label_of_a_deleted_document_goes_with_the_merge, 0, 1 },
	{ &test_verify_knows_labels_that_are_left, 0, 4 },
	{ &test_what_came_and_went_costs_nothing, 0, 2 },
	{ &test_only_label_changes_hands, 0, 2 },
	{ &test_only_label_stays_after_a_rollback, 0, 1 },
};

SXT_SUITE(live_changes, sxt_set_up_path, sxt_tear_down);
