/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The bulk loader among other processes: readers and writers of the index that it replaces, and
 * other loaders.
 */

#include <stdlib.h>
#include <string.h>

#include <simidx_check.h>
#include <simidx_walk.h>

#include "open/sx_publish.h"
#include "store/sx_dir.h"
#include "support/sxt_load.h"

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
	sxt_load_put(index, 100, 50);
	sxt_must_ok(simidx_walk_open(index, &walk, &sxt_err));
	sxt_must_ok(simidx_walk_next(walk, &match, &sxt_err));
	sxt_proc_tell(me);
	sxt_proc_wait(me); /* the loader is open and holds the lock */
	o.wait_ms = 0;
	sxt_must_ok(simidx_writer_open(index, &o, &writer, &sxt_err));
	sxt_must_sx(simidx_writer_put(writer, &doc, NULL, &sxt_err), SIMIDX_E_BUSY);
	sxt_proc_tell(me);
	sxt_proc_wait(me); /* exchanged */
	while (!(rc = simidx_walk_next(walk, &match, &err)))
		n++;
	sxt_must(rc == SIMIDX_E_END && n == 150);
	simidx_walk_close(walk);
	sxt_must_sx(simidx_writer_put(writer, &doc, NULL, &sxt_err), SIMIDX_E_MOVED);
	sxt_must_sx(simidx_walk_open(index, &walk, &sxt_err), SIMIDX_E_MOVED);
	simidx_writer_close(writer);
	simidx_close(index);
	index = sxt_open(sxt_load_path, 0);
	sxt_must_eq(sxt_load_count(index), 151);
	sxt_load_put(index, 500, 1);
	sxt_must_eq(sxt_load_count(index), 152);
	simidx_close(index);
	return 0;
}

START_TEST(test_old_user_sees_new_index)
{
	simidx_create_options create = sxt_create_of(&sxt_forms[0]);
	simidx_doc doc = SIMIDX_DOC_INIT;
	simidx_loader_report report;
	simidx_loader *loader;
	simidx *index = sxt_create(sxt_load_path, &create);
	sxt_proc proc;

	sxt_load_put(index, 0, 100);
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

	(void)ctx;
	sxt_must_ok(simidx_loader_open(sxt_load_path, &create, NULL, &loader, &sxt_err));
	sxt_proc_tell(me);
	sxt_proc_wait(me);
	return 0;
}

/* A builder that was killed leaves a directory that the next one removes; a live one keeps it. */
START_TEST(test_killed_loader_leaves_index)
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

/* ---- several loaders ---- */

/* Tell the other process once that this one waits. */
static void hear_waiting(void *ctx, const char *phase, uint64_t done, uint64_t total)
{
	sxt_proc **me = ctx;

	if (!*me || strncmp(phase, "waiting: ", 9))
		return;
	sxt_must(done == 0 && total == 0);
	sxt_proc_tell(*me);
	*me = NULL;
}

static int hear_stop(void *ctx)
{
	sxt_proc **me = ctx;

	return !*me; /* once it has waited */
}

/* What a second loader is to do, and what it is to see. */
struct second {
	int creates, stops, truncates;
	int want;           /* of simidx_loader_open() */
	uint64_t documents; /* in the end, with the one that it puts */
};

static int second_loader(sxt_proc *me, void *ctx)
{
	const struct second *second = ctx;
	simidx_create_options create = sxt_create_of(&sxt_forms[0]);
	simidx_loader_options o = SIMIDX_LOADER_OPTIONS_INIT;
	simidx_doc doc = SIMIDX_DOC_INIT;
	simidx_loader *loader;
	simidx *index;
	sxt_proc *tells = me;

	create.flags |= second->truncates ? SIMIDX_CREATE_TRUNCATE : 0;
	o.memory = (uint64_t)64 << 20;
	o.wait_ms = 0;
	sxt_must_sx(simidx_loader_open(sxt_load_path, second->creates ? &create : NULL, &o,
				       &loader, &sxt_err), SIMIDX_E_BUSY);
	o.wait_ms = 3; /* gone through, a little later */
	sxt_must_sx(simidx_loader_open(sxt_load_path, second->creates ? &create : NULL, &o,
				       &loader, &sxt_err), SIMIDX_E_BUSY);
	o.wait_ms = -1;
	o.progress = hear_waiting;
	o.stop = second->stops ? hear_stop : NULL;
	o.ctx = &tells;
	sxt_must_sx(simidx_loader_open(sxt_load_path, second->creates ? &create : NULL, &o,
				       &loader, &sxt_err), second->want);
	if (second->want)
		return 0;
	o.stop = NULL;
	sxt_must_ok(simidx_loader_put(loader, &doc, NULL, &sxt_err));
	sxt_must_ok(simidx_loader_finish(loader, NULL, &sxt_err));
	simidx_loader_close(loader);
	index = sxt_open(sxt_load_path, 0);
	sxt_must_eq(sxt_load_count(index), second->documents);
	simidx_close(index);
	return 0;
}

/* Let the second loader wait for `loader`, which puts a document and finishes or gives up. */
static void run_second(simidx_loader *loader, struct second *second, int finishes)
{
	simidx_doc doc = SIMIDX_DOC_INIT;
	simidx_loader_report report;
	sxt_proc proc;

	sxt_proc_start(&proc, second_loader, second);
	ck_assert_int_eq(sxt_proc_wait(&proc), 0);
	ck_assert_sx(simidx_loader_put(loader, &doc, NULL, &sxt_err), SIMIDX_OK);
	if (second->stops)
		ck_assert_int_eq(sxt_proc_finish(&proc), 0);
	if (finishes)
		sxt_load_finish(loader, &report);
	else
		simidx_loader_close(loader);
	if (!second->stops)
		ck_assert_int_eq(sxt_proc_finish(&proc), 0);
	ck_assert_int_eq(sxt_load_hidden(), 0);
}

/* Two that make an index: the second learns at once that it is not alone. */
START_TEST(test_second_maker_is_refused)
{
	simidx_create_options create = sxt_create_of(&sxt_forms[0]);
	struct second gives_up = { .creates = 1, .want = SIMIDX_OK, .documents = 1 };
	struct second exists = { .creates = 1, .want = SIMIDX_E_EXISTS };
	struct second stopped = { .creates = 1, .stops = 1, .want = SIMIDX_E_STOPPED };
	struct second truncates = { .creates = 1, .truncates = 1, .documents = 1 };
	simidx_loader_options o = SIMIDX_LOADER_OPTIONS_INIT;
	simidx_loader *loader;

	run_second(sxt_loader(&create, 0, NULL), &stopped, 0);
	run_second(sxt_loader(&create, 0, NULL), &gives_up, 0);
	sxt_remove(sxt_load_path);
	run_second(sxt_loader(&create, 0, NULL), &exists, 1);
	/* What is there is not waited for. */
	ck_assert_sx(simidx_loader_open(sxt_load_path, &create, &o, &loader, &sxt_err),
		     SIMIDX_E_EXISTS);
	ck_assert_int_eq(sxt_load_hidden(), 0);
	/* A rebuild that would be thrown away. */
	run_second(sxt_loader(NULL, 0, NULL), &truncates, 1);
}
END_TEST

/* Two that rebuild an index: the second one takes over what the first has made. */
START_TEST(test_second_rebuild_waits)
{
	simidx_create_options create = sxt_create_of(&sxt_forms[0]);
	struct second second = { .documents = 12 };
	struct second after_none = { .documents = 13 };
	simidx *index = sxt_create(sxt_load_path, &create);

	sxt_load_put(index, 0, 10);
	simidx_close(index);
	run_second(sxt_loader(NULL, 0, NULL), &second, 1);
	run_second(sxt_loader(NULL, 0, NULL), &after_none, 0);
}
END_TEST

/* Puts another index at the path while others wait for the lock of the first one. */
static int exchanger(sxt_proc *me, void *ctx)
{
	simidx_create_options create = sxt_create_of(&sxt_forms[0]);
	simidx *index = sxt_open(sxt_load_path, 0), *other;
	char *dir;
	int fd;

	(void)ctx;
	sxt_must_ok(sx_store_lock(index->store, 0, &sxt_err));
	other = sxt_create(sxt_load_other, &create);
	sxt_load_put(other, 0, 7);
	sxt_must_ok(sx_dir_prepare(sxt_load_path, &dir, &fd, &sxt_err));
	sxt_must_ok(sx_store_copy(other->store, dir, &sxt_err));
	simidx_close(other);
	sxt_proc_tell(me);
	sxt_proc_wait(me);
	sxt_must_ok(sx_publish_exchange(index, dir, sxt_load_path, 0600, &sxt_err));
	sx_dir_unlock(fd);
	sx_store_unlock(index->store);
	simidx_close(index);
	free(dir);
	return 0;
}

static void let_exchange(void *ctx, const char *phase, uint64_t done, uint64_t total)
{
	sxt_proc **proc = ctx;

	(void)done;
	(void)total;
	if (!*proc || strncmp(phase, "waiting: ", 9))
		return;
	sxt_proc_tell(*proc);
	*proc = NULL;
}

START_TEST(test_moved_while_waiting)
{
	simidx_create_options create = sxt_create_of(&sxt_forms[0]);
	simidx_loader_options o = SIMIDX_LOADER_OPTIONS_INIT;
	simidx_loader_report report;
	simidx *index = sxt_create(sxt_load_path, &create);
	simidx_loader *loader;
	sxt_proc proc, *tells = &proc;

	sxt_load_put(index, 0, 3);
	simidx_close(index);
	sxt_proc_start(&proc, exchanger, NULL);
	ck_assert_int_eq(sxt_proc_wait(&proc), 0);
	o.progress = let_exchange;
	o.ctx = &tells;
	ck_assert_sx(simidx_loader_open(sxt_load_path, NULL, &o, &loader, &sxt_err), SIMIDX_OK);
	ck_assert_ptr_null(tells);
	sxt_load_finish(loader, &report);
	ck_assert_uint_eq(report.documents, 7);
	ck_assert_int_eq(sxt_proc_finish(&proc), 0);
}
END_TEST

/* An index that is to be replaced is waited for at the end, too. */
START_TEST(test_truncate_waits_for_loader)
{
	simidx_create_options create = sxt_create_of(&sxt_forms[0]);
	simidx_loader_options o = SIMIDX_LOADER_OPTIONS_INIT;
	simidx *index = sxt_create(sxt_load_path, &create);
	simidx_loader *loader;

	create.flags |= SIMIDX_CREATE_TRUNCATE;
	create.map_size = (uint64_t)1 << 30;
	o.wait_ms = 5;
	ck_assert_sx(simidx_loader_open(sxt_load_path, &create, &o, &loader, &sxt_err), SIMIDX_OK);
	ck_assert_sx(sx_store_lock(index->store, 0, &sxt_err), SIMIDX_OK);
	ck_assert_sx(simidx_loader_finish(loader, NULL, &sxt_err), SIMIDX_E_BUSY);
	sx_store_unlock(index->store);
	simidx_loader_close(loader);
	ck_assert_int_eq(sxt_load_hidden(), 0);
	sxt_load_put(index, 0, 1);
	simidx_close(index);
}
END_TEST

/* Leftovers go, too, when an index is only written to. */
START_TEST(test_writer_removes_leftovers)
{
	simidx_create_options create = sxt_create_of(&sxt_forms[0]);
	simidx *index = sxt_create(sxt_load_other, &create);
	sxt_proc proc;

	sxt_proc_start(&proc, load_and_wait, NULL);
	ck_assert_int_eq(sxt_proc_wait(&proc), 0);
	sxt_load_put(index, 0, 1);
	ck_assert_int_eq(sxt_load_hidden(), 1);
	sxt_proc_kill(&proc);
	ck_assert_int_eq(sxt_load_hidden(), 1);
	sxt_load_put(index, 1, 1);
	ck_assert_int_eq(sxt_load_hidden(), 0);
	ck_assert_uint_eq(sxt_load_count(index), 2);
	simidx_close(index);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_old_user_sees_new_index, 0, 1 },
	{ &test_killed_loader_leaves_index, 0, 1 },
	{ &test_second_maker_is_refused, 0, 1 },
	{ &test_second_rebuild_waits, 0, 1 },
	{ &test_moved_while_waiting, 0, 1 },
	{ &test_truncate_waits_for_loader, 0, 1 },
	{ &test_writer_removes_leftovers, 0, 1 },
};

SXT_SUITE(loader_procs, sxt_load_set_up, sxt_load_tear_down);
