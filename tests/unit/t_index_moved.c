/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What becomes of handles when another index takes the place of theirs, and after fork().
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <simidx_check.h>
#include <simidx_info.h>
#include <simidx_load.h>
#include <simidx_walk.h>

#include "index/sx_index.h"
#include "support/sxt_fixture.h"
#include "support/sxt_index.h"

/* ------------------------------------------------------------------------------------------
 * Replacing an index
 */

/* What an old handle answers once another index has its place. */
static void must_have_moved(simidx *index, simidx_reader *reader, simidx_writer *writer)
{
	simidx_table_info table = SIMIDX_TABLE_INFO_INIT;
	simidx_results results = SIMIDX_RESULTS_INIT;
	simidx_query query = SIMIDX_QUERY_INIT;
	simidx_info info = SIMIDX_INFO_INIT;
	char *copy = sxt_path(t_dir, "copy");
	simidx_match match;
	simidx_walk *walk;

	for (int i = 0; i < 2; i++) {
		sxt_must_sx(simidx_reader_search(reader, &query, &results, &sxt_err),
			    SIMIDX_E_MOVED);
		sxt_must_eq(results.n, 0);
		sxt_must_sx(simidx_reader_find_id(reader, 0, &match, &sxt_err),
			    SIMIDX_E_MOVED);
		sxt_must_eq(t_put(writer, SIMIDX_NO_ID, 1, NULL), SIMIDX_E_MOVED);
	}
	sxt_must_sx(simidx_writer_merge(writer, &sxt_err), SIMIDX_E_MOVED);
	sxt_must_sx(simidx_get_info(index, &info, &sxt_err), SIMIDX_E_MOVED);
	sxt_must_sx(simidx_get_table_info(index, 0, &table, &sxt_err), SIMIDX_E_MOVED);
	sxt_must_sx(simidx_walk_open(index, &walk, &sxt_err), SIMIDX_E_MOVED);
	sxt_must_sx(simidx_verify(index, NULL, NULL, NULL, &sxt_err), SIMIDX_E_MOVED);
	sxt_must_sx(simidx_backup(index, copy, &sxt_err), SIMIDX_E_MOVED);
	sxt_must(access(copy, F_OK));
	free(copy);
}

/* A handle, a reader and a walk from before; the walk must end where its snapshot does. */
static int see_it_replaced(sxt_proc *me, void *ctx)
{
	simidx *index = sxt_open(t_path, 0);
	simidx_reader *reader = sxt_reader(index);
	simidx_writer *writer = sxt_writer(index, 0);
	simidx_match match;
	simidx_walk *walk;

	(void)ctx;
	sxt_must_ok(simidx_walk_open(index, &walk, &sxt_err));
	if (me) {
		sxt_proc_tell(me);
		sxt_proc_wait(me);
	} else {
		simidx_create_options o = SIMIDX_CREATE_OPTIONS_INIT;

		o.flags = SIMIDX_CREATE_TRUNCATE;
		simidx_close(sxt_create(t_path, &o));
	}
	for (uint64_t id = 0; id < 900; id++) {
		sxt_must_ok(simidx_walk_next(walk, &match, &sxt_err));
		sxt_must(match.id == id && match.fp == id * id);
	}
	sxt_must_sx(simidx_walk_next(walk, &match, &sxt_err), SIMIDX_E_END);
	simidx_walk_close(walk);
	must_have_moved(index, reader, writer);
	simidx_writer_close(writer);
	simidx_reader_close(reader);
	simidx_close(index);
	index = sxt_open(t_path, 0);
	sxt_must_eq(t_info(index).documents, 0);
	writer = sxt_writer(index, 0);
	sxt_must_eq(t_put(writer, SIMIDX_NO_ID, 1, NULL), SIMIDX_OK);
	sxt_commit(writer);
	simidx_writer_close(writer);
	simidx_close(index);
	return 0;
}

static void make_900(void)
{
	simidx *index = sxt_create(t_path, NULL);
	simidx_writer *writer = sxt_writer(index, 0);

	for (uint64_t i = 0; i < 900; i++) {
		ck_assert_int_eq(t_put(writer, i, i * i, NULL), SIMIDX_OK);
		if (i == 600) {
			sxt_commit(writer);
			ck_assert_sx(simidx_writer_merge(writer, &sxt_err), SIMIDX_OK);
		}
	}
	sxt_commit(writer);
	simidx_writer_close(writer);
	simidx_close(index);
}

START_TEST(test_replaced_within_a_process)
{
	make_900();
	ck_assert_int_eq(see_it_replaced(NULL, NULL), 0);
}
END_TEST

START_TEST(test_replaced_by_another_process)
{
	simidx_create_options o = SIMIDX_CREATE_OPTIONS_INIT;
	sxt_proc child;
	simidx *index;

	make_900();
	sxt_proc_start(&child, see_it_replaced, NULL);
	ck_assert_int_eq(sxt_proc_wait(&child), 0);
	o.flags = SIMIDX_CREATE_TRUNCATE;
	index = sxt_create(t_path, &o);
	ck_assert_uint_eq(t_info(index).documents, 0);
	sxt_proc_tell(&child);
	ck_assert_int_eq(sxt_proc_finish(&child), 0);
	ck_assert_uint_eq(t_info(index).documents, 1);
	simidx_close(index);
}
END_TEST

/* The first call while the copy is verified replaces the index. */
static void replace_while_verified(void *ctx, const char *phase, uint64_t done, uint64_t total)
{
	simidx_create_options o = SIMIDX_CREATE_OPTIONS_INIT;
	int *replaced = ctx;

	(void)done;
	(void)total;
	if (strcmp(phase, "backup") && !*replaced) {
		o.flags = SIMIDX_CREATE_TRUNCATE;
		simidx_close(sxt_create(t_path, &o));
		*replaced = 1;
	}
}

START_TEST(test_replaced_while_it_is_copied)
{
	char *copy = sxt_path(t_dir, "copy");
	int replaced = 0;
	simidx *index;

	make_900();
	index = sxt_open(t_path, 0);
	simidx_set_progress(index, replace_while_verified, &replaced);
	ck_assert_sx(simidx_backup(index, copy, &sxt_err), SIMIDX_E_MOVED);
	ck_assert_int_eq(replaced, 1);
	ck_assert_int_ne(access(copy, F_OK), 0);
	simidx_close(index);
	free(copy);
}
END_TEST

/* As mv does: the handle is not told of it. */
static void move(const char *from, const char *to)
{
	ck_assert_int_eq(rename(from, to), 0);
}

struct by_hand {
	char *aside;
	int is_done;
};

/* The first call while the copy is verified moves the index away. */
static void move_while_verified(void *ctx, const char *phase, uint64_t done, uint64_t total)
{
	struct by_hand *moved = ctx;

	(void)done;
	(void)total;
	if (strcmp(phase, "backup") && !moved->is_done) {
		move(t_path, moved->aside);
		moved->is_done = 1;
	}
}

/* Nothing in an index tells that its directory was moved by other means than the library's. */
START_TEST(test_copied_where_it_was_moved_by_hand)
{
	char *copy = sxt_path(t_dir, "copy"), *other = sxt_path(t_dir, "other");
	struct by_hand moved = { sxt_path(t_dir, "aside"), 0 };
	simidx *index;

	make_900();
	simidx_close(sxt_create(other, NULL));
	index = sxt_open(t_path, 0);
	move(t_path, moved.aside);
	for (int i = 0; i < 2; i++) {
		ck_assert_sx(simidx_backup(index, copy, &sxt_err), SIMIDX_E_MOVED);
		ck_assert(strstr(sxt_err.text, "was replaced or moved away; open it again"));
		ck_assert_int_ne(access(copy, F_OK), 0);
		if (!i)
			move(other, t_path);
	}
	move(t_path, other);
	move(moved.aside, t_path);
	simidx_set_progress(index, move_while_verified, &moved);
	ck_assert_sx(simidx_backup(index, copy, &sxt_err), SIMIDX_E_MOVED);
	ck_assert_int_eq(moved.is_done, 1);
	ck_assert_int_ne(access(copy, F_OK), 0);
	move(moved.aside, t_path);
	ck_assert_sx(simidx_backup(index, copy, &sxt_err), SIMIDX_OK);
	simidx_close(index);
	free(copy);
	free(other);
	free(moved.aside);
}
END_TEST

/* With the flag, a free name is made and what is not an index stays as it is. */
START_TEST(test_truncate_makes_a_free_name)
{
	simidx_create_options o = SIMIDX_CREATE_OPTIONS_INIT;
	char *full = sxt_path(t_dir, "full"), *note = sxt_path(full, "note");
	char *data = sxt_path(full, "data.mdb");
	simidx *index;
	char *bytes;
	size_t size;

	o.flags = SIMIDX_CREATE_TRUNCATE;
	simidx_close(sxt_create(t_path, &o));
	ck_assert_int_eq(mkdir(full, 0755), 0);
	sxt_file_write(note, "text", 4);
	for (int i = 0; i < 2; i++) {
		ck_assert_sx(simidx_create(full, &o, &index, &sxt_err), SIMIDX_E_NOT_INDEX);
		ck_assert_ptr_null(index);
		ck_assert_sx(simidx_create(note, &o, &index, &sxt_err), SIMIDX_E_NOT_INDEX);
		bytes = sxt_file_read(note, &size);
		ck_assert_str_eq(bytes, "text");
		free(bytes);
		sxt_file_write(data, "text", 4);
	}
	free(full);
	free(note);
	free(data);
}
END_TEST

/* Announced but never done: all goes on, and the next writer takes the announcement back. */
START_TEST(test_announced_but_never_replaced)
{
	simidx *index = sxt_create(t_path, NULL);
	simidx_writer *writer = sxt_writer(index, 0);
	simidx_reader *reader = sxt_reader(index);
	sx_header header;
	sx_txn *txn;

	ck_assert_int_eq(t_put(writer, 1, 1, NULL), SIMIDX_OK);
	sxt_commit(writer);
	for (int i = 0; i < 2; i++) {
		sxt_must_ok(sx_store_lock(index->store, 0, &sxt_err));
		sxt_must_ok(sx_txn_begin_write(index->store, 0, &txn, &sxt_err));
		sxt_must_ok(sx_meta_read_header(txn, &index->tables.meta, &header, &sxt_err));
		header.state |= SX_STATE_SUPERSEDED;
		sxt_must_ok(sx_meta_write_header(txn, &index->tables.meta, &header, &sxt_err));
		sxt_must_ok(sx_txn_commit(txn, &sxt_err));
		sx_store_unlock(index->store);

		ck_assert_uint_eq(t_count(index, 1), 1 + (size_t)i);
		sxt_check_sound(index);
		if (i)
			ck_assert_sx(simidx_writer_merge(writer, &sxt_err), SIMIDX_OK);
		else
			ck_assert_int_eq(t_put(writer, 2, 1, NULL), SIMIDX_OK);
		sxt_commit(writer);
		sxt_must_ok(sx_txn_begin_read(index->store, &txn, &sxt_err));
		sxt_must_ok(sx_meta_read_header(txn, &index->tables.meta, &header, &sxt_err));
		sx_txn_abort(txn);
		ck_assert_uint_eq(header.state, 0);
		ck_assert_uint_eq(t_count(index, 1), 2);
	}
	simidx_reader_close(reader);
	simidx_writer_close(writer);
	simidx_close(index);
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * After fork()
 */

struct handles {
	simidx *index;
	simidx_reader *reader;
	simidx_writer *pending, *idle;
	simidx_walk *walk;
};

static int use_after_fork(sxt_proc *me, void *ctx)
{
	struct handles *h = ctx;
	simidx_verify_report report = SIMIDX_VERIFY_REPORT_INIT;
	simidx_table_info table = SIMIDX_TABLE_INFO_INIT;
	simidx_results results = SIMIDX_RESULTS_INIT;
	simidx_query query = SIMIDX_QUERY_INIT;
	simidx_info info = SIMIDX_INFO_INIT;
	char *copy = sxt_path(t_dir, "copy");
	simidx_match match;
	simidx_reader *reader;
	simidx_writer *writer;
	simidx_walk *walk;

	(void)me;
#define FORKED(call) sxt_must_sx(call, SIMIDX_E_FORK)
	FORKED(simidx_get_info(h->index, &info, &sxt_err));
	FORKED(simidx_get_table_info(h->index, 0, &table, &sxt_err));
	FORKED(simidx_reader_open(h->index, &reader, &sxt_err));
	FORKED(simidx_reader_search(h->reader, &query, &results, &sxt_err));
	FORKED(simidx_reader_find_id(h->reader, 1, &match, &sxt_err));
	FORKED(simidx_reader_find_label(h->reader, "one", 3, &match, &sxt_err));
	FORKED(simidx_walk_open(h->index, &walk, &sxt_err));
	FORKED(simidx_walk_next(h->walk, &match, &sxt_err));
	FORKED(simidx_writer_open(h->index, NULL, &writer, &sxt_err));
	FORKED(simidx_verify(h->index, NULL, NULL, &report, &sxt_err));
	FORKED(simidx_backup(h->index, copy, &sxt_err));
	sxt_must_eq(t_put(h->idle, 77, 1, NULL), SIMIDX_E_FORK);
	sxt_must_eq(t_put(h->pending, 77, 1, NULL), SIMIDX_E_FORK);
	sxt_must_eq(t_put(h->pending, 2, 1, "one"), SIMIDX_E_FORK);
	FORKED(simidx_writer_commit(h->idle, &sxt_err));
	FORKED(simidx_writer_merge(h->idle, &sxt_err));
	FORKED(simidx_writer_merge(h->pending, &sxt_err));
	FORKED(simidx_writer_commit(h->pending, &sxt_err));
#undef FORKED
	simidx_writer_rollback(h->pending);
	simidx_writer_rollback(h->idle);
	simidx_walk_close(h->walk);
	simidx_reader_close(h->reader);
	simidx_writer_close(h->pending);
	simidx_writer_close(h->idle);
	simidx_close(h->index);
	/* The path can be opened afresh, and the parent is still writing. */
	h->index = sxt_open(t_path, 0);
	sxt_must_eq(t_count(h->index, 1), 1);
	writer = t_impatient_writer(h->index);
	sxt_must_eq(t_put(writer, 78, 1, NULL), SIMIDX_E_BUSY);
	simidx_writer_close(writer);
	simidx_close(h->index);
	free(copy);
	return 0;
}

START_TEST(test_handles_are_refused_after_fork)
{
	struct handles h;
	simidx_match match;

	h.index = sxt_create(t_path, NULL);
	h.reader = sxt_reader(h.index);
	h.pending = sxt_writer(h.index, _i ? 1 : 0);
	h.idle = sxt_writer(h.index, _i ? 1 : 0);
	ck_assert_int_eq(t_put(h.pending, 1, 1, "one"), SIMIDX_OK);
	sxt_commit(h.pending);
	ck_assert_int_eq(t_put(h.pending, 5, 5, "five"), SIMIDX_OK);
	ck_assert_sx(simidx_walk_open(h.index, &h.walk, &sxt_err), SIMIDX_OK);
	ck_assert_int_eq(sxt_proc_run(use_after_fork, &h), 0);
	/* The parent has not noticed anything. */
	ck_assert_sx(simidx_walk_next(h.walk, &match, &sxt_err), SIMIDX_OK);
	ck_assert_int_eq(t_put(h.pending, 6, 6, NULL), SIMIDX_OK);
	sxt_commit(h.pending);
	ck_assert_uint_eq(t_info(h.index).documents, 3);
	ck_assert_uint_eq(t_count(h.index, 5), 1);
	simidx_walk_close(h.walk);
	simidx_writer_close(h.idle);
	simidx_writer_close(h.pending);
	simidx_reader_close(h.reader);
	sxt_check_sound(h.index);
	simidx_close(h.index);
}
END_TEST

/* Files that are not the index's own stay where they are, and nothing is made below the index. */
START_TEST(test_other_files_are_not_taken_away)
{
	simidx_compact_options how = SIMIDX_COMPACT_OPTIONS_INIT;
	simidx_create_options anew = SIMIDX_CREATE_OPTIONS_INIT;
	simidx_loader_options loads = SIMIDX_LOADER_OPTIONS_INIT;
	char *note = sxt_path(t_path, "NOTE"), *below = sxt_path(t_path, "below");
	char *other = sxt_path(t_dir, "other");
	simidx_loader *loader;
	simidx *index;

	simidx_close(sxt_create(t_path, &anew));
	how.memory = (uint64_t)64 << 20;
	ck_assert_sx(simidx_compact(t_path, below, &how, NULL, &sxt_err), SIMIDX_E_ARG);
	ck_assert(strstr(sxt_err.text, "is inside the index"));
	sxt_file_write(note, "text", 4);
	ck_assert_sx(simidx_compact(t_path, NULL, &how, NULL, &sxt_err), SIMIDX_E_EXISTS);
	ck_assert(strstr(sxt_err.text, "has other files, such as NOTE: move them away first"));
	/*
	 * Nor do others that exchange the directory: at the beginning, or at the end at the latest.
	 */
	anew.flags |= SIMIDX_CREATE_TRUNCATE;
	loads.memory = how.memory;
	ck_assert_sx(simidx_create(t_path, &anew, &index, &sxt_err), SIMIDX_E_EXISTS);
	for (int i = 0; i < 2; i++) {
		const simidx_create_options *create = i ? &anew : NULL;

		ck_assert_sx(simidx_loader_open(t_path, create, &loads, &loader, &sxt_err),
			     SIMIDX_E_EXISTS);
		ck_assert_int_eq(remove(note), 0);
		sxt_must_ok(simidx_loader_open(t_path, create, &loads, &loader, &sxt_err));
		sxt_file_write(note, "text", 4);
		ck_assert_sx(simidx_loader_finish(loader, NULL, &sxt_err), SIMIDX_E_EXISTS);
		simidx_loader_close(loader);
		ck_assert_int_eq(access(note, F_OK), 0);
	}
	/* An index that is only read may have them. */
	ck_assert_sx(simidx_compact(t_path, other, &how, NULL, &sxt_err), SIMIDX_OK);
	ck_assert_int_eq(remove(note), 0);
	ck_assert_sx(simidx_compact(t_path, NULL, &how, NULL, &sxt_err), SIMIDX_OK);
	free(note);
	free(below);
	free(other);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_replaced_within_a_process, 0, 1 },
	{ &test_replaced_by_another_process, 0, 1 },
	{ &test_replaced_while_it_is_copied, 0, 1 },
	{ &test_copied_where_it_was_moved_by_hand, 0, 1 },
	{ &test_truncate_makes_a_free_name, 0, 1 },
	{ &test_announced_but_never_replaced, 0, 1 },
	{ &test_handles_are_refused_after_fork, 0, 2 },
	{ &test_other_files_are_not_taken_away, 0, 1 },
};

SXT_SUITE(index_moved, sxt_set_up_path, sxt_tear_down);
