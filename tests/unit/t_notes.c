/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Notes of documents: what each call does to them, what is refused, and what becomes of damaged
 * ones. Random changes beside all others are in t_live_model.c.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simidx_check.h>
#include <simidx_info.h>
#include <simidx_load.h>
#include <simidx_repair.h>
#include <simidx_walk.h>

#include "index/sx_index.h"
#include "index/sx_notes.h"
#include "support/sxt_fixture.h"
#include "support/sxt_index.h"
#include "util/sx_bytes.h"

static simidx *index_now;

static void create(unsigned flags)
{
	simidx_create_options o = SIMIDX_CREATE_OPTIONS_INIT;

	o.flags = flags;
	index_now = sxt_create(t_path, &o);
}

static simidx_doc document(uint64_t id, const void *note, size_t size)
{
	simidx_doc doc = t_document(id, id * UINT64_C(0x9e3779b97f4a7c15), NULL);

	doc.note = note;
	doc.note_size = size;
	return doc;
}

static int put(simidx_writer *writer, uint64_t id, const char *note)
{
	simidx_doc doc = document(id, note, note ? strlen(note) : 0);

	return simidx_writer_put(writer, &doc, NULL, &sxt_err);
}

static int replace(simidx_writer *writer, uint64_t id, const char *note)
{
	simidx_doc doc = document(id, note, note ? strlen(note) : 0);

	return simidx_writer_replace(writer, &doc, NULL, &sxt_err);
}

/* Documents 0 to 9, every second one with a note. */
static void put_all(void)
{
	simidx_writer *writer = sxt_writer(index_now, 0);
	char note[] = "note 0";

	for (uint64_t id = 0; id < 10; id++) {
		note[5] = (char)('0' + id);
		sxt_must_ok(put(writer, id, id % 2 ? NULL : note));
	}
	sxt_commit(writer);
	simidx_writer_close(writer);
}

static void check(uint64_t id, const char *want)
{
	simidx_reader *reader = sxt_reader(index_now);
	const void *note;
	size_t size;

	sxt_must_ok(simidx_reader_note(reader, id, &note, &size, &sxt_err));
	ck_assert_uint_eq(size, want ? strlen(want) : 0);
	ck_assert(want ? !memcmp(note, want, size) : !note);
	simidx_reader_close(reader);
}

/* Of all documents, in order; `step` as put_all(). */
static void check_walk(void)
{
	char want[] = "note 0";
	const void *note;
	simidx_walk *walk;
	simidx_match m;
	size_t size;

	sxt_must_ok(simidx_walk_open(index_now, &walk, &sxt_err));
	ck_assert_sx(simidx_walk_note(walk, &note, &size, &sxt_err), SIMIDX_E_STATE);
	for (uint64_t id = 0; id < 10; id++) {
		sxt_must_ok(simidx_walk_next(walk, &m, &sxt_err));
		sxt_must_ok(simidx_walk_note(walk, &note, &size, &sxt_err));
		want[5] = (char)('0' + id);
		ck_assert_uint_eq(size, id % 2 ? 0 : strlen(want));
		ck_assert(id % 2 ? !note : !memcmp(note, want, size));
	}
	sxt_must_sx(simidx_walk_next(walk, &m, &sxt_err), SIMIDX_E_END);
	ck_assert_sx(simidx_walk_note(walk, &note, &size, &sxt_err), SIMIDX_E_STATE);
	simidx_walk_close(walk);
}

START_TEST(test_a_note_stays_with_its_document)
{
	create(SIMIDX_CREATE_NOTES);
	put_all();
	for (int is_merged = 0; is_merged < 2; is_merged++) {
		check(4, "note 4");
		check(5, NULL);
		check_walk();
		ck_assert_uint_eq(t_info(index_now).notes, 5);
		sxt_check_sound(index_now);
		sxt_merge(index_now);
	}
	simidx_close(index_now);
}
END_TEST

/*
 * As often as there are documents, but not for each: nothing is said of those that were left out.
 */
START_TEST(test_a_walk_may_ask_twice)
{
	const void *note;
	simidx_walk *walk;
	simidx_match m;
	size_t size;

	create(SIMIDX_CREATE_NOTES);
	put_all();
	sxt_must_ok(simidx_walk_open(index_now, &walk, &sxt_err));
	sxt_must_ok(simidx_walk_next(walk, &m, &sxt_err));
	for (int i = 0; i < 10; i++)
		sxt_must_ok(simidx_walk_note(walk, &note, &size, &sxt_err));
	for (int i = 1; i < 10; i++)
		sxt_must_ok(simidx_walk_next(walk, &m, &sxt_err));
	ck_assert_sx(simidx_walk_next(walk, &m, &sxt_err), SIMIDX_E_END);
	simidx_walk_close(walk);
	simidx_close(index_now);
}
END_TEST

/* A document that is gone leaves its note until the merge; it is nobody else's. */
START_TEST(test_a_note_is_not_inherited)
{
	simidx_writer *writer;

	create(SIMIDX_CREATE_NOTES);
	put_all();
	if (_i)
		sxt_merge(index_now);
	writer = sxt_writer(index_now, 0);
	sxt_must_ok(simidx_writer_delete_id(writer, 2, &sxt_err));
	sxt_commit(writer);
	sxt_check_sound(index_now);
	ck_assert_uint_eq(t_info(index_now).notes, 4);
	sxt_must_ok(put(writer, 2, NULL));
	sxt_must_ok(replace(writer, 4, NULL));
	sxt_must_ok(replace(writer, 6, "another one"));
	sxt_must_ok(replace(writer, 7, "the first one"));
	sxt_must_ok(simidx_writer_delete_id(writer, 8, &sxt_err));
	sxt_commit(writer);
	for (int is_merged = 0; is_merged < 2; is_merged++) {
		check(0, "note 0");
		check(2, NULL);
		check(4, NULL);
		check(6, "another one");
		check(7, "the first one");
		ck_assert_uint_eq(t_info(index_now).notes, 3);
		sxt_check_sound(index_now);
		sxt_must_ok(simidx_writer_merge(writer, &sxt_err));
	}
	sxt_must_ok(put(writer, 8, NULL));
	sxt_commit(writer);
	check(8, NULL);
	simidx_writer_close(writer);
	simidx_close(index_now);
}
END_TEST

/* A replacement that changes nothing but the note, or nothing, is just that. */
START_TEST(test_rows_of_a_replacement)
{
	simidx_writer *writer;

	create(SIMIDX_CREATE_NOTES);
	put_all();
	writer = sxt_writer(index_now, 0);
	sxt_must_ok(replace(writer, 2, "note 2"));
	sxt_must_ok(replace(writer, 3, NULL));
	sxt_commit(writer);
	ck_assert_uint_eq(t_info(index_now).fresh_rows, 10);
	sxt_must_ok(replace(writer, 2, "Note 2"));
	sxt_commit(writer);
	ck_assert_uint_eq(t_info(index_now).fresh_rows, 12);
	check(2, "Note 2");
	simidx_writer_close(writer);
	simidx_close(index_now);
}
END_TEST

static uint64_t pages_of_notes(void)
{
	simidx_table_info info = SIMIDX_TABLE_INFO_INIT;

	for (unsigned i = 0;; i++) {
		sxt_must_ok(simidx_get_table_info(index_now, i, &info, &sxt_err));
		if (!strcmp(info.name, "notes"))
			return info.pages;
	}
}

/* The only note comes and goes in one transaction, again and again. */
START_TEST(test_the_only_note_takes_no_new_pages)
{
	simidx_writer *writer;
	uint64_t before;

	create(SIMIDX_CREATE_NOTES);
	writer = sxt_writer(index_now, 0);
	sxt_must_ok(put(writer, 0, "x"));
	sxt_commit(writer);
	before = t_info(index_now).file_bytes;
	for (int i = 0; i < 500; i++) {
		sxt_must_ok(replace(writer, 0, NULL));
		sxt_must_ok(replace(writer, 0, "x"));
	}
	sxt_must_ok(replace(writer, 0, NULL));
	sxt_commit(writer);
	ck_assert_uint_le(t_info(index_now).file_bytes, before + 64 * 4096);
	ck_assert_uint_eq(pages_of_notes(), 0);
	check(0, NULL);
	sxt_check_sound(index_now);
	simidx_writer_close(writer);
	simidx_close(index_now);
}
END_TEST

START_TEST(test_limits)
{
	char *large = calloc(1, SIMIDX_MAX_NOTE + 1), *path = sxt_path(t_dir, "compacted");
	simidx_doc doc = document(1, large, SIMIDX_MAX_NOTE);
	simidx_writer *writer;
	simidx_reader *reader;
	const void *note;
	size_t size;

	ck_assert_ptr_nonnull(large);
	memset(large, 'n', SIMIDX_MAX_NOTE);
	create(SIMIDX_CREATE_NOTES);
	writer = sxt_writer(index_now, 0);
	sxt_must_ok(simidx_writer_put(writer, &doc, NULL, &sxt_err));
	doc.id = 2;
	doc.note_size++;
	ck_assert_sx(simidx_writer_put(writer, &doc, NULL, &sxt_err), SIMIDX_E_RANGE);
	doc.note_size = 0;
	ck_assert_sx(simidx_writer_put(writer, &doc, NULL, &sxt_err), SIMIDX_E_RANGE);
	sxt_must_ok(put(writer, 3, "1"));
	sxt_commit(writer);
	reader = sxt_reader(index_now);
	sxt_must_ok(simidx_reader_note(reader, 1, &note, &size, &sxt_err));
	ck_assert_uint_eq(size, SIMIDX_MAX_NOTE);
	ck_assert(!memcmp(note, large, size));
	ck_assert_sx(simidx_reader_note(reader, 2, &note, &size, &sxt_err), SIMIDX_E_NOT_FOUND);
	ck_assert(!note && !size);
	ck_assert_sx(simidx_reader_note(reader, 1, NULL, &size, &sxt_err), SIMIDX_E_ARG);
	simidx_reader_close(reader);
	simidx_writer_close(writer);
	simidx_close(index_now);
	/* What is read of pages without LMDB has the same limit. */
	sxt_must_ok(simidx_repair(t_path, path, NULL, NULL, NULL, NULL, &sxt_err));
	index_now = sxt_open(path, 0);
	reader = sxt_reader(index_now);
	sxt_must_ok(simidx_reader_note(reader, 1, &note, &size, &sxt_err));
	ck_assert(size == SIMIDX_MAX_NOTE && !memcmp(note, large, size));
	simidx_reader_close(reader);
	simidx_close(index_now);
	free(large);
	free(path);
}
END_TEST

START_TEST(test_an_index_without_notes)
{
	simidx_create_options o = SIMIDX_CREATE_OPTIONS_INIT;
	simidx_writer *writer;
	simidx_reader *reader;
	const void *note;
	simidx_walk *walk;
	simidx_match m;
	size_t size;

	create(0);
	writer = sxt_writer(index_now, 0);
	ck_assert_sx(put(writer, 0, "x"), SIMIDX_E_MISMATCH);
	sxt_must_ok(put(writer, 0, NULL));
	sxt_commit(writer);
	simidx_writer_close(writer);
	reader = sxt_reader(index_now);
	ck_assert_sx(simidx_reader_note(reader, 0, &note, &size, &sxt_err), SIMIDX_E_MISMATCH);
	simidx_reader_close(reader);
	sxt_must_ok(simidx_walk_open(index_now, &walk, &sxt_err));
	sxt_must_ok(simidx_walk_next(walk, &m, &sxt_err));
	ck_assert_sx(simidx_walk_note(walk, &note, &size, &sxt_err), SIMIDX_E_MISMATCH);
	simidx_walk_close(walk);
	simidx_close(index_now);
	o.flags = SIMIDX_CREATE_NO_IDS | SIMIDX_CREATE_NOTES | SIMIDX_CREATE_TRUNCATE;
	ck_assert_sx(simidx_create(t_path, &o, &index_now, &sxt_err), SIMIDX_E_ARG);
}
END_TEST

/* The writer's own reader finds what is pending; if-new that finds something changes nothing. */
START_TEST(test_pending_notes)
{
	simidx_query q = SIMIDX_QUERY_INIT;
	simidx_doc doc = document(2, "new", 3);
	simidx_writer *writer;
	simidx_reader *reader;
	const void *note;
	size_t size;

	create(SIMIDX_CREATE_NOTES | SIMIDX_CREATE_TIMES);
	put_all();
	writer = sxt_writer(index_now, 0);
	sxt_must_ok(replace(writer, 4, "pending"));
	sxt_must_ok(simidx_writer_reader(writer, &reader, &sxt_err));
	sxt_must_ok(simidx_reader_note(reader, 4, &note, &size, &sxt_err));
	ck_assert(size == 7 && !memcmp(note, "pending", size));
	check(4, "note 4");
	q.fp = doc.fp;
	doc.id = SIMIDX_NO_ID;
	ck_assert_sx(simidx_writer_put_if_new(writer, &doc, &q, NULL, NULL, &sxt_err),
		     SIMIDX_E_EXISTS);
	sxt_must_ok(simidx_writer_touch(writer, 6, UINT32_MAX, &sxt_err));
	sxt_must_ok(simidx_writer_touch(writer, 7, UINT32_MAX, &sxt_err));
	sxt_commit(writer);
	for (int is_merged = 0; is_merged < 2; is_merged++) {
		check(2, "note 2");
		check(4, "pending");
		check(6, "note 6");
		check(7, NULL);
		sxt_check_sound(index_now);
		sxt_must_ok(simidx_writer_merge(writer, &sxt_err));
	}
	sxt_must_ok(replace(writer, 2, "never"));
	simidx_writer_rollback(writer);
	check(2, "note 2");
	simidx_writer_close(writer);
	simidx_close(index_now);
}
END_TEST

/* Of several documents with one id the one that stays keeps its own note. */
START_TEST(test_loaders)
{
	simidx_loader_options o = SIMIDX_LOADER_OPTIONS_INIT;
	simidx_create_options c = SIMIDX_CREATE_OPTIONS_INIT;
	static const char *const notes[] = { "first", NULL, "third" };
	simidx_loader *loader;

	o.duplicates = _i ? SIMIDX_DUPLICATES_LAST : SIMIDX_DUPLICATES_REJECT;
	c.flags = SIMIDX_CREATE_NOTES;
	sxt_must_ok(simidx_loader_open(t_path, &c, &o, &loader, &sxt_err));
	for (uint64_t id = 9; id-- > 0;) {
		for (int i = 0; i < 3; i++) {
			const char *note = notes[(id + (unsigned)i) % 3];
			simidx_doc doc = document(id, note, note ? strlen(note) : 0);

			sxt_must_ok(simidx_loader_put(loader, &doc, NULL, &sxt_err));
		}
	}
	sxt_must_ok(simidx_loader_finish(loader, NULL, &sxt_err));
	simidx_loader_close(loader);
	index_now = sxt_open(t_path, 0);
	for (uint64_t id = 0; id < 9; id++)
		check(id, notes[(id + (_i ? 2 : 0)) % 3]);
	ck_assert_uint_eq(t_info(index_now).notes, 6);
	sxt_check_sound(index_now);
	simidx_close(index_now);
}
END_TEST

/* ---- damage ---- */

/* Put a value where the note of an id is; NULL: remove that. */
static void forge(uint64_t id, const void *value, size_t size)
{
	unsigned char bytes[8];
	sx_slice key = { bytes, sizeof(bytes) };
	sx_txn *txn;

	sx_store_be64(bytes, id);
	sxt_must_ok(sx_store_lock(index_now->store, 0, &sxt_err));
	sxt_must_ok(sx_txn_begin_write(index_now->store, 0, &txn, &sxt_err));
	sxt_must_ok(value ? sx_dbi_put(txn, index_now->tables.notes, key, (sx_slice){ value, size },
				       &sxt_err)
			  : sx_dbi_del(txn, index_now->tables.notes, key, &sxt_err));
	sxt_must_ok(sx_txn_commit(txn, &sxt_err));
	sx_store_unlock(index_now->store);
}

static unsigned problems;

static void note_problem(void *ctx, const simidx_problem *problem)
{
	const char *want = ctx;

	if (!strstr(problem->text, want))
		ck_abort_msg("not '%s' but '%s'", want, problem->text);
	problems++;
}

static void expect_problem(const char *text)
{
	problems = 0;
	ck_assert_sx(simidx_verify(index_now, note_problem, (void *)(uintptr_t)text, NULL,
				   &sxt_err),
		     SIMIDX_E_CORRUPT);
	ck_assert_uint_ge(problems, 1);
}

static uint64_t lost_with_id, lost_together;

static void note_loss(void *ctx, const simidx_loss *loss)
{
	(void)ctx;
	if (loss->kind != SIMIDX_LOSS_NOTE)
		return;
	lost_with_id += loss->id != SIMIDX_NO_ID;
	lost_together += loss->id == SIMIDX_NO_ID;
}

/* Of `n` documents, this one and others after it, the note is lost. */
static void repair_and_check(uint64_t id, unsigned n)
{
	simidx_repair_report report = SIMIDX_REPAIR_REPORT_INIT;
	char *path = sxt_path(t_dir, "repaired");

	lost_with_id = lost_together = 0;
	simidx_close(index_now);
	sxt_must_ok(simidx_repair(t_path, path, NULL, note_loss, NULL, &report, &sxt_err));
	ck_assert_uint_eq(report.documents, 10);
	ck_assert_uint_eq(report.documents_lost, 0);
	ck_assert_uint_eq(report.notes_lost, n);
	ck_assert_uint_eq(report.named + report.labels_lost + report.changes_lost, 0);
	index_now = sxt_open(path, 0);
	sxt_check_sound(index_now);
	check(0, "note 0");
	check(id, NULL);
	ck_assert_uint_eq(t_info(index_now).notes, 5 - n);
	simidx_close(index_now);
	free(path);
}

/* What is damaged can be replaced and deleted. The file is then as it was before. */
static void check_changes(void)
{
	size_t data_size;
	unsigned char *data = sxt_file_read(t_data, &data_size);
	simidx *index = sxt_open(t_path, 0);
	simidx_writer *writer = sxt_writer(index, 0);

	sxt_must_ok(replace(writer, 2, "note 2"));
	sxt_must_ok(simidx_writer_delete_id(writer, 2, &sxt_err));
	sxt_commit(writer);
	sxt_must_ok(simidx_writer_merge(writer, &sxt_err));
	simidx_writer_close(writer);
	sxt_check_sound(index);
	ck_assert_uint_eq(t_info(index).notes, 4);
	simidx_close(index);
	sxt_file_write(t_data, data, data_size);
	free(data);
}

/* Bytes that are not those that were stored, or are those of another document. */
START_TEST(test_a_damaged_note)
{
	const sx_slice four = { "note 4", 6 };
	simidx_reader *reader;
	simidx_walk *walk;
	const void *note;
	simidx_match m;
	char value[10];
	size_t size;

	create(SIMIDX_CREATE_NOTES);
	put_all();
	if (_i & 1)
		sxt_merge(index_now);
	memcpy(value, "Note 2", 6);
	sx_note_checksum(4, four, (unsigned char *)value + 6);
	if (_i & 2)
		memcpy(value, four.data, four.size);
	forge(2, value, _i & 4 ? 4 : sizeof(value));
	reader = sxt_reader(index_now);
	ck_assert_sx(simidx_reader_note(reader, 2, &note, &size, &sxt_err), SIMIDX_E_CORRUPT);
	ck_assert(!note && !size);
	simidx_reader_close(reader);
	sxt_must_ok(simidx_walk_open(index_now, &walk, &sxt_err));
	for (int i = 0; i < 3; i++)
		sxt_must_ok(simidx_walk_next(walk, &m, &sxt_err));
	ck_assert_sx(simidx_walk_note(walk, &note, &size, &sxt_err), SIMIDX_E_CORRUPT);
	simidx_walk_close(walk);
	expect_problem("the note of document 2 is not the one that was stored");
	simidx_close(index_now);
	check_changes();
	index_now = sxt_open(t_path, 0);
	repair_and_check(2, 1);
	/* Of a merged document nothing tells that it had one, but the header counts them. */
	ck_assert_uint_eq(lost_with_id, !(_i & 1));
	ck_assert_uint_eq(lost_together, _i & 1);
}
END_TEST

/* A row of the log tells at once, the count of the header at the end. */
static void expect_walk_to_tell(int at_end)
{
	const void *note;
	simidx_walk *walk;
	simidx_match m;
	size_t size;
	int rc;

	sxt_must_ok(simidx_walk_open(index_now, &walk, &sxt_err));
	while (!(rc = simidx_walk_next(walk, &m, &sxt_err)) &&
	       !(rc = simidx_walk_note(walk, &note, &size, &sxt_err)))
		;
	ck_assert_sx(rc, SIMIDX_E_CORRUPT);
	ck_assert_uint_eq(m.id, at_end ? 0 : 2);
	simidx_walk_close(walk);
	/* Who does not ask for notes is not concerned. */
	sxt_must_ok(simidx_walk_open(index_now, &walk, &sxt_err));
	while (!(rc = simidx_walk_next(walk, &m, &sxt_err)))
		;
	ck_assert_sx(rc, SIMIDX_E_END);
	simidx_walk_close(walk);
}

START_TEST(test_missing_notes)
{
	unsigned is_merged = _i & 1, n = _i & 2 ? 3 : 1;
	char want[80];

	create(SIMIDX_CREATE_NOTES);
	put_all();
	if (is_merged)
		sxt_merge(index_now);
	for (unsigned i = 0; i < n; i++)
		forge(2 + 2 * i, NULL, 0);
	expect_walk_to_tell((int)is_merged);
	snprintf(want, sizeof(want), "it has %u entries of documents that are there, the header "
		 "says 5", 5 - n);
	expect_problem(is_merged ? want : "");
	repair_and_check(2, n);
	ck_assert_uint_eq(lost_with_id, is_merged ? 0 : n);
	ck_assert_uint_eq(lost_together, is_merged);
}
END_TEST

/* One too many, of a document that has none. */
START_TEST(test_a_note_of_no_document)
{
	char value[5] = "x";

	create(SIMIDX_CREATE_NOTES);
	put_all();
	sxt_merge(index_now);
	sx_note_checksum(20, (sx_slice){ "x", 1 }, (unsigned char *)value + 1);
	forge(20, value, sizeof(value));
	expect_problem("it has 6 entries of documents that are there, the header says 5");
	simidx_close(index_now);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_a_note_stays_with_its_document, 0, 1 },
	{ &test_a_walk_may_ask_twice, 0, 1 },
	{ &test_a_note_is_not_inherited, 0, 2 },
	{ &test_rows_of_a_replacement, 0, 1 },
	{ &test_the_only_note_takes_no_new_pages, 0, 1 },
	{ &test_limits, 0, 1 },
	{ &test_an_index_without_notes, 0, 1 },
	{ &test_pending_notes, 0, 1 },
	{ &test_loaders, 0, 2 },
	{ &test_a_damaged_note, 0, 8 },
	{ &test_missing_notes, 0, 4 },
	{ &test_a_note_of_no_document, 0, 1 },
};

SXT_SUITE(notes, sxt_set_up_path, sxt_tear_down);
