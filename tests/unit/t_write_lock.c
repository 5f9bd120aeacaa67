/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Whose turn it is among writers: the one that waits comes before the one that has just had the
 * lock. No test depends on time: a writer goes on when it sees that another one is in line.
 */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <simidx_load.h>

#include "index/sx_index.h"
#include "store/sx_store_handle.h"
#include "store/sx_txn.h"
#include "support/sxt_model.h"

#define MANY 50 /* times that a writer takes the lock again, if it is let */

static char *dir, *path, *lock_path;
static simidx *db;

/* Seen by all processes. */
static struct shared {
	atomic_uint rounds; /* times that the first writer has released the lock */
	unsigned served_at; /* their number when the waiting one got it */
	uint64_t id;        /* of the document that it put */
} *shared;

static void set_up(void)
{
	dir = sxt_dir_make();
	path = sxt_path(dir, "index");
	lock_path = sxt_path(path, "write.lock");
	db = NULL;
	simidx_close(sxt_create(path, NULL));
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	ck_assert_ptr_ne(shared, MAP_FAILED);
	memset(shared, 0, sizeof(*shared));
}

static void tear_down(void)
{
	simidx_close(db);
	munmap(shared, sizeof(*shared));
	sxt_remove(dir);
	free(lock_path);
	free(path);
	free(dir);
}

/* Wait until a process has the place of the one that is next. */
static void wait_for_line(void)
{
	struct flock place = { 0 };
	int fd = open(lock_path, O_RDWR | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	do {
		usleep(1000);
		place = (struct flock){ .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };
		ck_assert_int_eq(fcntl(fd, F_OFD_GETLK, &place), 0);
	} while (place.l_type == F_UNLCK);
	close(fd);
}

/* ------------------------------------------------------------------------------------------
 * Processes
 */

static int wait_for_lock(sxt_proc *me, void *ctx)
{
	const int *wait_ms = ctx;

	sxt_proc_wait(me); /* until the test has the lock */
	db = sxt_open(path, 0);
	sxt_must_ok(sx_store_lock(db->store, *wait_ms, &sxt_err));
	shared->served_at = atomic_load(&shared->rounds);
	sx_store_unlock(db->store);
	return 0;
}

/* With and without a limit to the time, which are waited for in different ways. */
START_TEST(test_waiting_process_comes_next)
{
	int wait_ms = _i ? 300000 : -1;
	sxt_proc waiter;

	sxt_proc_start(&waiter, wait_for_lock, &wait_ms);
	db = sxt_open(path, 0);
	ck_assert_sx(sx_store_lock(db->store, -1, &sxt_err), SIMIDX_OK);
	sxt_proc_tell(&waiter);
	wait_for_line();
	for (unsigned i = 0; i < MANY; i++) {
		atomic_fetch_add(&shared->rounds, 1);
		sx_store_unlock(db->store);
		ck_assert_sx(sx_store_lock(db->store, -1, &sxt_err), SIMIDX_OK);
	}
	sx_store_unlock(db->store);
	ck_assert_int_eq(sxt_proc_finish(&waiter), 0);
	ck_assert_uint_eq(shared->served_at, 1);
}
END_TEST

/* Nobody waits for a process that was killed while it was in line, nor for its place. */
START_TEST(test_killed_waiter_leaves_its_place)
{
	int wait_ms = _i ? 300000 : -1;
	sxt_proc killed, waiter;

	sxt_proc_start(&killed, wait_for_lock, &wait_ms);
	sxt_proc_start(&waiter, wait_for_lock, &wait_ms);
	db = sxt_open(path, 0);
	ck_assert_sx(sx_store_lock(db->store, -1, &sxt_err), SIMIDX_OK);
	sxt_proc_tell(&killed);
	wait_for_line();
	sxt_proc_tell(&waiter);
	sxt_proc_kill(&killed);
	wait_for_line();
	atomic_fetch_add(&shared->rounds, 1);
	sx_store_unlock(db->store);
	ck_assert_int_eq(sxt_proc_finish(&waiter), 0);
	ck_assert_uint_eq(shared->served_at, 1);
	ck_assert_sx(sx_store_lock(db->store, 0, &sxt_err), SIMIDX_OK);
	sx_store_unlock(db->store);
}
END_TEST

/* While a process is in line, one that does not want to wait does not get the lock before it. */
START_TEST(test_no_waiting_is_no_way_past_the_line)
{
	int wait_ms = 300000;
	sxt_proc waiter;

	sxt_proc_start(&waiter, wait_for_lock, &wait_ms);
	db = sxt_open(path, 0);
	ck_assert_sx(sx_store_lock(db->store, -1, &sxt_err), SIMIDX_OK);
	sxt_proc_tell(&waiter);
	wait_for_line();
	atomic_fetch_add(&shared->rounds, 1);
	sx_store_unlock(db->store);
	while (sx_store_lock(db->store, 0, &sxt_err))
		ck_assert_int_eq(sxt_err.code, SIMIDX_E_BUSY);
	atomic_fetch_add(&shared->rounds, 1);
	sx_store_unlock(db->store);
	ck_assert_int_eq(sxt_proc_finish(&waiter), 0);
	ck_assert_uint_eq(shared->served_at, 1);
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * Threads
 */

static atomic_int n_served;

static void *take_and_note(void *arg)
{
	int *served = arg; /* first how long to wait */

	sxt_must_ok(sx_store_lock(db->store, *served, &sxt_err));
	*served = atomic_fetch_add(&n_served, 1);
	sx_store_unlock(db->store);
	return NULL;
}

/* Threads of one process get the lock in the order of coming; two of three set a limit. */
START_TEST(test_threads_are_served_in_order)
{
	int served[3] = { 300000, -1, 300000 };
	const struct sx_waiter *last = NULL, *now;
	pthread_t thread[3];
	sx_write_lock *lock;

	db = sxt_open(path, 0);
	lock = &db->store->lock;
	atomic_store(&n_served, 0);
	ck_assert_sx(sx_store_lock(db->store, 0, &sxt_err), SIMIDX_OK);
	for (unsigned i = 0; i < 3; i++) {
		ck_assert_int_eq(pthread_create(&thread[i], NULL, take_and_note, &served[i]), 0);
		do {
			usleep(1000);
			pthread_mutex_lock(&lock->mutex);
			now = lock->last;
			pthread_mutex_unlock(&lock->mutex);
		} while (now == last);
		last = now;
	}
	sx_store_unlock(db->store);
	ck_assert_sx(sx_store_lock(db->store, -1, &sxt_err), SIMIDX_OK);
	ck_assert_int_eq(atomic_load(&n_served), 3);
	sx_store_unlock(db->store);
	for (int i = 0; i < 3; i++) {
		pthread_join(thread[i], NULL);
		ck_assert_int_eq(served[i], i);
	}
}
END_TEST

/* One that gives up leaves the queue, wherever it stands in it. */
START_TEST(test_thread_that_gives_up_leaves_the_queue)
{
	int served = -1;
	pthread_t thread;

	db = sxt_open(path, 0);
	atomic_store(&n_served, 0);
	ck_assert_sx(sx_store_lock(db->store, 0, &sxt_err), SIMIDX_OK);
	ck_assert_sx(sx_store_lock(db->store, 5, &sxt_err), SIMIDX_E_BUSY);
	ck_assert_ptr_null(db->store->lock.first);
	ck_assert_int_eq(pthread_create(&thread, NULL, take_and_note, &served), 0);
	for (unsigned i = 0; i < 3; i++)
		ck_assert_sx(sx_store_lock(db->store, 5, &sxt_err), SIMIDX_E_BUSY);
	sx_store_unlock(db->store);
	pthread_join(thread, NULL);
	ck_assert_int_eq(served, 0);
	ck_assert_ptr_null(db->store->lock.first);
	ck_assert_ptr_null(db->store->lock.last);
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * Writers and loaders
 */

static void put(simidx_writer *writer, uint64_t *id)
{
	simidx_doc doc = SIMIDX_DOC_INIT;

	doc.fp = 7;
	sxt_must_ok(simidx_writer_put(writer, &doc, id, &sxt_err));
}

static int put_one(sxt_proc *me, void *ctx)
{
	simidx_writer *writer;

	(void)ctx;
	sxt_proc_wait(me);
	db = sxt_open(path, 0);
	writer = sxt_writer(db, 0);
	put(writer, &shared->id);
	sxt_commit(writer);
	simidx_writer_close(writer);
	return 0;
}

/* Ids tell the order in which documents were put. */
START_TEST(test_insertion_lets_a_document_in)
{
	simidx_writer *writer;
	sxt_proc other;
	uint64_t id;

	sxt_proc_start(&other, put_one, NULL);
	db = sxt_open(path, 0);
	writer = sxt_writer(db, 0);
	put(writer, &id);
	sxt_proc_tell(&other);
	wait_for_line();
	for (unsigned i = 0; i < MANY; i++) {
		sxt_commit(writer);
		put(writer, &id);
	}
	sxt_commit(writer);
	simidx_writer_close(writer);
	ck_assert_int_eq(sxt_proc_finish(&other), 0);
	ck_assert_uint_eq(shared->id, 1);
	ck_assert_uint_eq(id, MANY + 1);
}
END_TEST

static int rebuild(sxt_proc *me, void *ctx)
{
	simidx_loader *loader;

	(void)ctx;
	sxt_proc_wait(me);
	sxt_must_ok(simidx_loader_open(path, NULL, NULL, &loader, &sxt_err));
	shared->served_at = atomic_load(&shared->rounds);
	sxt_must_ok(simidx_loader_finish(loader, NULL, &sxt_err));
	simidx_loader_close(loader);
	return 0;
}

/*
 * A loader waits in pieces, between which it is in no line: others may be faster there, but rarely.
 */
START_TEST(test_insertion_lets_a_loader_in)
{
	const unsigned many = 1000;
	simidx_writer *writer;
	sxt_proc other;
	uint64_t id;

	sxt_proc_start(&other, rebuild, NULL);
	db = sxt_open(path, 0);
	writer = sxt_writer(db, 0);
	put(writer, &id);
	sxt_proc_tell(&other);
	wait_for_line();
	for (unsigned i = 0; i < many; i++) {
		simidx_doc doc = SIMIDX_DOC_INIT;
		int rc;

		atomic_fetch_add(&shared->rounds, 1);
		sxt_commit(writer);
		rc = simidx_writer_put(writer, &doc, &id, &sxt_err);
		if (rc == SIMIDX_E_MOVED)
			break;
		sxt_must_ok(rc);
	}
	simidx_writer_close(writer);
	ck_assert_int_eq(sxt_proc_finish(&other), 0);
	ck_assert_uint_ge(shared->served_at, 1);
	ck_assert_uint_lt(shared->served_at, many);
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * Who has it
 */

static int hold(sxt_proc *me, void *ctx)
{
	const int *claims = ctx;
	simidx_create_options create = SIMIDX_CREATE_OPTIONS_INIT;
	simidx_loader *loader = NULL;

	create.flags = SIMIDX_CREATE_TRUNCATE;
	if (*claims) {
		sxt_must_ok(simidx_loader_open(path, &create, NULL, &loader, &sxt_err));
	} else {
		db = sxt_open(path, 0);
		sxt_must_ok(sx_store_lock(db->store, 0, &sxt_err));
	}
	sxt_proc_tell(me);
	sxt_proc_wait(me);
	if (!*claims)
		sx_store_unlock(db->store);
	simidx_loader_close(loader);
	return 0;
}

START_TEST(test_error_names_the_process)
{
	simidx_create_options create = SIMIDX_CREATE_OPTIONS_INIT;
	simidx_loader_options how = SIMIDX_LOADER_OPTIONS_INIT;
	simidx_loader *loader;
	char want[64] = "";
	sxt_proc holder;
	int claims = _i;

	sxt_proc_start(&holder, hold, &claims);
	ck_assert_int_eq(sxt_proc_wait(&holder), 0);
	db = sxt_open(path, 0);
	how.wait_ms = 0;
	create.flags = SIMIDX_CREATE_TRUNCATE;
	if (claims)
		ck_assert_sx(simidx_loader_open(path, &create, &how, &loader, &sxt_err),
			     SIMIDX_E_BUSY);
	else
		ck_assert_sx(sx_store_lock(db->store, 0, &sxt_err), SIMIDX_E_BUSY);
	ck_assert_ptr_nonnull(strstr(sxt_err.text, claims ? "is being built by another process"
							  : "is locked by another writer"));
	/* Where the system does not show locks, nothing is known. */
	if (!access("/proc/locks", R_OK))
		snprintf(want, sizeof(want), ": %s (process %ld)", program_invocation_short_name,
			 (long)holder.pid);
	ck_assert_msg(strstr(sxt_err.text, want), "'%s', not '%s'", sxt_err.text, want);
	sxt_proc_tell(&holder);
	ck_assert_int_eq(sxt_proc_finish(&holder), 0);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_waiting_process_comes_next, 0, 2 },
	{ &test_killed_waiter_leaves_its_place, 0, 2 },
	{ &test_no_waiting_is_no_way_past_the_line, 0, 1 },
	{ &test_threads_are_served_in_order, 0, 1 },
	{ &test_thread_that_gives_up_leaves_the_queue, 0, 1 },
	{ &test_insertion_lets_a_document_in, 0, 1 },
	{ &test_insertion_lets_a_loader_in, 0, 1 },
	{ &test_error_names_the_process, 0, 2 },
};

SXT_SUITE(write_lock, set_up, tear_down);
