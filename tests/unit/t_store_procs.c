/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * A store that several processes use: locks, forks, readers that die.
 * Children are forked before the store is opened, but where use after a fork is the point.
 */

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "support/sxt_fixture.h"
#include "support/sxt_store.h"

static uint64_t file_size(void)
{
	struct stat st;

	ck_assert_int_eq(stat(t_data, &st), 0);
	return (uint64_t)st.st_size;
}

/* ------------------------------------------------------------------------------------------
 * Write lock
 */

static int hold_lock(sxt_proc *me, void *ctx)
{
	sx_store *store = t_open(t_path, 0);

	(void)ctx;
	sxt_must_ok(sx_store_lock(store, 0, &sxt_err));
	sxt_proc_tell(me);
	sxt_proc_wait(me);
	usleep(20000);
	sx_store_unlock(store);
	sxt_proc_wait(me);
	return 0;
}

static void interrupt(int signal)
{
	(void)signal;
}

START_TEST(test_lock_processes)
{
	struct sigaction action = { .sa_handler = interrupt };
	struct itimerval ticks = { { 0, 3000 }, { 0, 3000 } };
	sx_store *store;
	sxt_proc holder;

	sxt_proc_start(&holder, hold_lock, NULL);
	ck_assert_int_eq(sxt_proc_wait(&holder), 0);
	store = t_open(t_path, 0);
	ck_assert_sx(sx_store_lock(store, 0, &sxt_err), SIMIDX_E_BUSY);
	ck_assert_sx(sx_store_lock(store, 30, &sxt_err), SIMIDX_E_BUSY);
	/* Waiting without end, and signals all the time, until the other one lets go. */
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &ticks, NULL);
	sxt_proc_tell(&holder);
	ck_assert_sx(sx_store_lock(store, -1, &sxt_err), SIMIDX_OK);
	ticks = (struct itimerval){ 0 };
	setitimer(ITIMER_REAL, &ticks, NULL);
	sx_store_unlock(store);
	sxt_proc_tell(&holder);
	ck_assert_int_eq(sxt_proc_finish(&holder), 0);
	sx_store_close(store);
}
END_TEST

START_TEST(test_lock_killed)
{
	sx_store *store;
	sxt_proc holder;

	sxt_proc_start(&holder, hold_lock, NULL);
	ck_assert_int_eq(sxt_proc_wait(&holder), 0);
	store = t_open(t_path, 0);
	ck_assert_sx(sx_store_lock(store, 0, &sxt_err), SIMIDX_E_BUSY);
	sxt_proc_kill(&holder);
	ck_assert_sx(sx_store_lock(store, 0, &sxt_err), SIMIDX_OK);
	sx_store_unlock(store);
	sx_store_close(store);
}
END_TEST

/* Tell the parent, then wait until somebody else tells, longer than the parent lives. */
static int idle(sxt_proc *me, void *ctx)
{
	sxt_proc *other = ctx;

	prctl(PR_SET_PDEATHSIG, 0);
	sxt_proc_tell(me);
	sxt_proc_wait(other);
	return 0;
}

/* Take the lock, have a child, release the lock, take it again. */
static int hold_and_fork(sxt_proc *me, void *ctx)
{
	sx_store *store = t_open(t_path, 0);
	sxt_proc children[2];

	(void)ctx;
	sxt_must_ok(sx_store_lock(store, 0, &sxt_err));
	sxt_proc_start(&children[0], idle, &children[0]);
	sxt_proc_wait(&children[0]);
	sx_store_unlock(store);
	sxt_proc_tell(me);
	sxt_proc_wait(me);
	sxt_must_ok(sx_store_lock(store, 0, &sxt_err));
	sxt_proc_start(&children[1], idle, me);
	sxt_proc_wait(&children[1]);
	sxt_proc_tell(me);
	pause();
	return 0;
}

/* The lock belongs to the process that took it, not to its children. */
START_TEST(test_lock_forked)
{
	sx_store *store;
	sxt_proc holder;
	siginfo_t info;

	sxt_proc_start(&holder, hold_and_fork, NULL);
	ck_assert_int_eq(sxt_proc_wait(&holder), 0);
	store = t_open(t_path, 0);
	ck_assert_sx(sx_store_lock(store, 0, &sxt_err), SIMIDX_OK);
	sx_store_unlock(store);
	sxt_proc_tell(&holder);
	ck_assert_int_eq(sxt_proc_wait(&holder), 0);
	ck_assert_sx(sx_store_lock(store, 0, &sxt_err), SIMIDX_E_BUSY);
	kill(holder.pid, SIGKILL);
	ck_assert_int_eq(waitid(P_PID, (id_t)holder.pid, &info, WEXITED | WNOWAIT), 0);
	/* Its second child still waits for us. */
	ck_assert_sx(sx_store_lock(store, 0, &sxt_err), SIMIDX_OK);
	sx_store_unlock(store);
	sxt_proc_tell(&holder);
	sxt_proc_finish(&holder);
	sx_store_close(store);
}
END_TEST

static int merge_and_fork(sxt_proc *me, void *ctx)
{
	sx_store *store = t_open(t_path, 0);
	sxt_proc child;

	(void)ctx;
	sxt_must_ok(sx_store_lock_merge(store, 0, &sxt_err));
	sxt_proc_start(&child, idle, me);
	sxt_proc_wait(&child);
	sxt_proc_tell(me);
	pause();
	return 0;
}

/* Nor does a child keep the lock of who merges. */
START_TEST(test_merge_lock_forked)
{
	sx_store *store;
	sxt_proc holder;
	siginfo_t info;

	sxt_proc_start(&holder, merge_and_fork, NULL);
	ck_assert_int_eq(sxt_proc_wait(&holder), 0);
	store = t_open(t_path, 0);
	ck_assert_sx(sx_store_lock_merge(store, 0, &sxt_err), SIMIDX_E_BUSY);
	kill(holder.pid, SIGKILL);
	ck_assert_int_eq(waitid(P_PID, (id_t)holder.pid, &info, WEXITED | WNOWAIT), 0);
	ck_assert_sx(sx_store_lock_merge(store, 0, &sxt_err), SIMIDX_OK);
	sx_store_unlock_merge(store);
	sxt_proc_tell(&holder);
	sxt_proc_finish(&holder);
	sx_store_close(store);
}
END_TEST

static void *lock_and_leave(void *arg)
{
	return sx_store_lock(arg, -1, NULL) ? arg : NULL;
}

/* Two writers in one process exclude each other, and the lock moves between threads. */
START_TEST(test_lock_threads)
{
	sx_store *store = t_open(t_path, 0), *other = t_open(t_path, 0);
	pthread_t thread;
	void *failed;

	ck_assert_sx(sx_store_lock(store, 0, &sxt_err), SIMIDX_OK);
	ck_assert_sx(sx_store_lock(other, 0, &sxt_err), SIMIDX_E_BUSY);
	ck_assert_sx(sx_store_lock(other, 20, &sxt_err), SIMIDX_E_BUSY);
	ck_assert_int_eq(pthread_create(&thread, NULL, lock_and_leave, other), 0);
	usleep(5000);
	sx_store_unlock(store);
	pthread_join(thread, &failed);
	ck_assert_ptr_null(failed);
	ck_assert_sx(sx_store_lock(store, 0, &sxt_err), SIMIDX_E_BUSY);
	sx_store_unlock(other);
	ck_assert_sx(sx_store_lock(store, 0, &sxt_err), SIMIDX_OK);
	sx_store_unlock(store);
	sx_store_close(other);
	sx_store_close(store);
}
END_TEST

/* Hold the lock, and put another store in this one's place meanwhile. */
static int replace_locked(sxt_proc *me, void *ctx)
{
	sx_store_options options = { .map_size = T_MAP };
	sx_store *store = t_open(t_path, 0), *fresh;
	char *private_dir;
	int fd;

	(void)ctx;
	sxt_must_ok(sx_store_lock(store, 0, &sxt_err));
	sxt_proc_tell(me);
	sxt_proc_wait(me);
	usleep(20000);
	sxt_must_ok(sx_dir_prepare(t_path, &private_dir, &fd, &sxt_err));
	sxt_must_ok(sx_store_create(private_dir, &options, &fresh, &sxt_err));
	sxt_must_ok(sx_dir_publish(private_dir, t_path, 0, 1, &sxt_err));
	sx_store_unlock(store);
	return 0;
}

START_TEST(test_lock_moved)
{
	sx_store *store;
	sxt_proc other;

	sxt_proc_start(&other, replace_locked, NULL);
	ck_assert_int_eq(sxt_proc_wait(&other), 0);
	store = t_open(t_path, 0);
	sxt_proc_tell(&other);
	ck_assert_sx(sx_store_lock(store, -1, &sxt_err), SIMIDX_E_MOVED);
	ck_assert_int_eq(sxt_proc_finish(&other), 0);
	sx_store_close(store);
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * Use after fork()
 */

struct inherited {
	sx_store *store;
	sx_txn *reading, *writing;
	sx_cursor *cursor;
};

static int use_inherited(sxt_proc *me, void *ctx)
{
	struct inherited *h = ctx;
	sx_store *mine;
	sx_txn *txn;
	int i;

	sxt_must_sx(sx_store_check_fork(h->store, &sxt_err), SIMIDX_E_FORK);
	sxt_must(strstr(sxt_err.text, t_path));
	sxt_must_sx(sx_txn_begin_read(h->store, &txn, &sxt_err), SIMIDX_E_FORK);
	sxt_must_sx(sx_txn_begin_write(h->store, 0, &txn, &sxt_err), SIMIDX_E_FORK);
	sxt_must_sx(sx_store_lock(h->store, 0, &sxt_err), SIMIDX_E_FORK);
	sxt_must_sx(sx_store_copy(h->store, t_dir, &sxt_err), SIMIDX_E_FORK);
	sxt_must_sx(sx_txn_renew(h->reading, &sxt_err), SIMIDX_E_FORK);
	sx_cursor_close(h->cursor);
	sx_txn_reset(h->reading);
	sx_txn_abort(h->reading);
	sxt_must_sx(sx_txn_commit(h->writing, &sxt_err), SIMIDX_E_FORK);
	sx_store_unlock(h->store);
	/* Opened afresh, it works, and the parent's snapshot is respected. */
	mine = t_open(t_path, 0);
	sxt_must(mine != h->store);
	sx_store_close(h->store);
	sxt_must_sx(sx_store_lock(mine, 0, &sxt_err), SIMIDX_E_BUSY);
	sxt_proc_tell(me);
	sxt_proc_wait(me);
	for (i = 0; i < 10; i++)
		t_rewrite(mine, 50, (unsigned char)(100 + i));
	sx_store_close(mine);
	return 0;
}

START_TEST(test_handles_are_refused_after_fork)
{
	struct inherited h;
	sx_slice key, value;
	sxt_proc child;
	sx_dbi dbi;

	h.store = t_open(t_path, 0);
	t_rewrite(h.store, 50, 7);
	h.reading = t_read(h.store);
	dbi = t_table(h.reading, 0);
	ck_assert_sx(sx_cursor_open(h.reading, dbi, &h.cursor, &sxt_err), SIMIDX_OK);
	h.writing = t_write(h.store);
	sxt_proc_start(&child, use_inherited, &h);
	ck_assert_int_eq(sxt_proc_wait(&child), 0);
	/* Nothing that the child did is felt here. */
	ck_assert_sx(sx_dbi_put(h.writing, dbi, t_slice("z"), t_slice("1"), &sxt_err), SIMIDX_OK);
	t_commit(h.store, h.writing);
	sxt_proc_tell(&child);
	ck_assert_int_eq(sxt_proc_finish(&child), 0);
	ck_assert_sx(sx_cursor_last(h.cursor, &key, &value, &sxt_err), SIMIDX_OK);
	ck_assert(t_equal(key, "b000049"));
	ck_assert_int_eq(((const unsigned char *)value.data)[value.size - 1], 7);
	ck_assert_sx(sx_cursor_first(h.cursor, &key, &value, &sxt_err), SIMIDX_OK);
	ck_assert_int_eq(((const unsigned char *)value.data)[0], 7);
	sx_cursor_close(h.cursor);
	sx_txn_abort(h.reading);
	ck_assert(t_has(h.store, "z", "1"));
	h.reading = t_read(h.store);
	ck_assert_sx(sx_dbi_get(h.reading, dbi, t_slice("b000049"), &value, &sxt_err), SIMIDX_OK);
	ck_assert_int_eq(((const unsigned char *)value.data)[0], 109);
	sx_txn_abort(h.reading);
	sx_store_close(h.store);
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * Readers
 */

static int hold_snapshots(sxt_proc *me, void *ctx)
{
	const int *n = ctx;
	sx_store *store = t_open(t_path, 0);
	int i;

	for (i = 0; i < *n; i++)
		t_read(store);
	sxt_proc_tell(me);
	sxt_proc_wait(me);
	return 0;
}

/* A reader that was killed must not pin pages for ever. */
START_TEST(test_stale_reader)
{
	uint64_t before, grown, page;
	sx_store *store;
	sxt_proc reader;
	int i, one = 1;

	sxt_proc_start(&reader, hold_snapshots, &one);
	ck_assert_int_eq(sxt_proc_wait(&reader), 0);
	store = t_open(t_path, 0);
	page = sx_store_page_size(store);
	before = file_size();
	for (i = 0; i < 10; i++)
		t_rewrite(store, 100, (unsigned char)i);
	grown = file_size() - before;
	ck_assert_uint_ge(grown, 10 * 100 * page);
	sxt_proc_kill(&reader);
	before = file_size();
	for (i = 0; i < 30; i++)
		t_rewrite(store, 100, (unsigned char)i);
	ck_assert_uint_le(file_size() - before, 200 * page);
	sx_store_close(store);
}
END_TEST

START_TEST(test_reader_slots)
{
	int most = 1024;
	sx_store *store;
	sxt_proc reader;
	sx_txn *txn;

	sxt_proc_start(&reader, hold_snapshots, &most);
	ck_assert_int_eq(sxt_proc_wait(&reader), 0);
	store = t_open(t_path, 0);
	ck_assert_sx(sx_txn_begin_read(store, &txn, &sxt_err), SIMIDX_E_BUSY);
	ck_assert_ptr_null(txn);
	sxt_proc_kill(&reader);
	ck_assert_sx(sx_txn_begin_read(store, &txn, &sxt_err), SIMIDX_OK);
	sx_txn_abort(txn);
	sx_store_close(store);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_lock_processes, 0, 1 },
	{ &test_lock_killed, 0, 1 },
	{ &test_lock_forked, 0, 1 },
	{ &test_merge_lock_forked, 0, 1 },
	{ &test_lock_threads, 0, 1 },
	{ &test_lock_moved, 0, 1 },
	{ &test_handles_are_refused_after_fork, 0, 1 },
	{ &test_stale_reader, 0, 1 },
	{ &test_reader_slots, 0, 1 },
};

SXT_SUITE(store_procs, sxt_set_up_closed_store, sxt_tear_down);
