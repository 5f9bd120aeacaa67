/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * simidx_set_stop(): what takes long ends where it asks, whichever time that is, and the index is
 * as before.
 */

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/time.h>
#include <unistd.h>

#include <simidx_check.h>

#include "index/sx_index.h"
#include "store/sx_txn.h"
#include "support/sxt_fixture.h"
#include "support/sxt_model.h"

#define N_DOCS 20000

static simidx *db;
static char *copy;
static sxt_model model;
static size_t n_stored;
static unsigned asked, says_yes_at;

static int stop(void *ctx)
{
	ck_assert_ptr_eq(ctx, &model);
	return ++asked >= says_yes_at;
}

/* From now on the n-th question is answered by yes, and those that follow. */
static void stop_at(unsigned n)
{
	asked = 0;
	says_yes_at = n;
	simidx_set_stop(stop, &model);
}

static void set_up(void)
{
	sxt_rng rng;

	sxt_set_up_path();
	copy = sxt_path(t_dir, "copy");
	sxt_rng_init(&rng, 3);
	sxt_model_init(&model, 64, 0);
	for (int i = 0; i < N_DOCS; i++)
		sxt_model_add(&model, sxt_rng_u64(&rng), &rng);
	db = sxt_create(t_path, NULL);
	sxt_model_store(&model, 0, N_DOCS / 2, db);
	sxt_merge(db);
	n_stored = N_DOCS / 2;
}

static void tear_down(void)
{
	simidx_set_stop(NULL, NULL);
	sxt_check_content(&model, n_stored, db);
	simidx_close(db);
	sxt_model_free(&model);
	free(copy);
	sxt_tear_down();
}

static int verify(void)
{
	simidx_verify_report report = SIMIDX_VERIFY_REPORT_INIT;
	int rc = simidx_verify(db, NULL, NULL, &report, &sxt_err);

	ck_assert_uint_eq(report.problems, 0);
	return rc;
}

static int check_pages(void)
{
	return simidx_check_pages(t_path, 0, NULL, NULL, &sxt_err);
}

static int open_untrusted(void)
{
	simidx_open_options how = SIMIDX_OPEN_OPTIONS_INIT;
	simidx *index;
	int rc;

	how.flags = SIMIDX_OPEN_UNTRUSTED;
	rc = simidx_open(t_path, &how, &index, &sxt_err);
	ck_assert_int_eq(index == NULL, rc != SIMIDX_OK);
	simidx_close(index);
	return rc;
}

static int backup(void)
{
	int rc = simidx_backup(db, copy, &sxt_err);

	ck_assert_int_eq(access(copy, F_OK), rc ? -1 : 0);
	if (!rc)
		sxt_remove(copy);
	return rc;
}

static int (*const reads[])(void) = { verify, check_pages, open_untrusted, backup };

START_TEST(test_reading_stops_where_it_asks)
{
	int (*read)(void) = reads[_i];
	unsigned all;

	stop_at(UINT_MAX);
	ck_assert_sx(read(), SIMIDX_OK);
	all = asked;
	ck_assert_uint_gt(all, 20);
	/* How often a copy asks is a matter of time, so the last number is a guess of it. */
	for (unsigned n = 1; n < all - 10; n += 1 + n / 3) {
		stop_at(n);
		ck_assert_sx(read(), SIMIDX_E_STOPPED);
		ck_assert_uint_eq(asked, n);
		ck_assert_ptr_nonnull(strstr(sxt_err.text, "stopped"));
	}
}
END_TEST

START_TEST(test_merge_stops_and_goes_on)
{
	simidx_writer_options how = SIMIDX_WRITER_OPTIONS_INIT;
	simidx_writer *writer;
	unsigned n = 0;
	int rc;

	db->tuning.merge_blocks = 16;
	sxt_model_store(&model, N_DOCS / 2, N_DOCS, db);
	do {
		stop_at(1);
		how.merge = SIMIDX_MERGE_NEVER;
		/* One that was cut off is ended at the beginning of the next transaction. */
		ck_assert_sx(simidx_writer_open(db, &how, &writer, &sxt_err), SIMIDX_OK);
		rc = simidx_writer_merge(writer, &sxt_err);
		ck_assert_uint_le(asked, 1);
		simidx_set_stop(NULL, NULL);
		simidx_writer_close(writer);
		sxt_check_content(&model, N_DOCS, db);
		n++;
	} while (rc == SIMIDX_E_STOPPED && n < 3);
	ck_assert_sx(rc, SIMIDX_E_STOPPED);
	sxt_merge(db);
	sxt_check_content(&model, N_DOCS, db);
	ck_assert_sx(simidx_verify(db, NULL, NULL, NULL, &sxt_err), SIMIDX_OK);
	n_stored = N_DOCS;
}
END_TEST

START_TEST(test_waits_stop)
{
	simidx *other = sxt_open(t_path, 0);
	simidx_writer *writer;

	ck_assert_sx(sx_store_lock(other->store, 0, &sxt_err), SIMIDX_OK);
	ck_assert_sx(simidx_writer_open(db, NULL, &writer, &sxt_err), SIMIDX_OK);
	stop_at(3);
	ck_assert_sx(simidx_writer_begin(writer, &sxt_err), SIMIDX_E_STOPPED);
	ck_assert_uint_eq(asked, 3);
	simidx_set_stop(NULL, NULL);
	sx_store_unlock(other->store);
	ck_assert_sx(simidx_writer_begin(writer, &sxt_err), SIMIDX_OK);
	simidx_writer_close(writer);
	simidx_close(other);
}
END_TEST

static atomic_int polls;

/* Another thread that looks again and again whether the lock is free. */
static void *poll_lock(void *ctx)
{
	simidx *other = ctx;

	while (atomic_load(&polls)) {
		sxt_must_eq(sx_store_lock(other->store, 0, NULL), SIMIDX_E_BUSY);
		usleep(1000);
	}
	return NULL;
}

/* Whoever comes and goes meanwhile. */
START_TEST(test_waits_stop_among_others)
{
	simidx *other = sxt_open(t_path, 0);
	simidx_writer *writer;
	pthread_t thread;

	ck_assert_sx(sx_store_lock(other->store, 0, &sxt_err), SIMIDX_OK);
	ck_assert_sx(simidx_writer_open(db, NULL, &writer, &sxt_err), SIMIDX_OK);
	atomic_store(&polls, 1);
	ck_assert_int_eq(pthread_create(&thread, NULL, poll_lock, db), 0);
	stop_at(2);
	ck_assert_sx(simidx_writer_begin(writer, &sxt_err), SIMIDX_E_STOPPED);
	ck_assert_uint_eq(asked, 2);
	atomic_store(&polls, 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	sx_store_unlock(other->store);
	simidx_writer_close(writer);
	simidx_close(other);
}
END_TEST

static void on_alarm(int number)
{
	(void)number;
}

/* Takes the lock of another process, or the place of one that is next to have it. */
static int take_from_outside(int fd, int is_place)
{
	struct flock place = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };

	return is_place ? fcntl(fd, F_OFD_SETLK, &place) : flock(fd, LOCK_EX);
}

/* One without a limit: signals have it ask. */
START_TEST(test_signals_stop_a_wait)
{
	const struct itimerval often = { { 0, 10000 }, { 0, 10000 } }, never = { 0 };
	const struct sigaction action = { .sa_handler = on_alarm };
	char *path = sxt_path(t_path, "write.lock");
	int fd = open(path, O_RDWR | O_CLOEXEC);
	simidx_writer *writer;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(take_from_outside(fd, _i), 0);
	ck_assert_sx(simidx_writer_open(db, NULL, &writer, &sxt_err), SIMIDX_OK);
	ck_assert_int_eq(sigaction(SIGALRM, &action, NULL), 0);
	stop_at(3);
	ck_assert_int_eq(setitimer(ITIMER_REAL, &often, NULL), 0);
	ck_assert_sx(simidx_writer_begin(writer, &sxt_err), SIMIDX_E_STOPPED);
	ck_assert_int_eq(setitimer(ITIMER_REAL, &never, NULL), 0);
	ck_assert_uint_eq(asked, 3);
	simidx_set_stop(NULL, NULL);
	close(fd);
	ck_assert_sx(simidx_writer_begin(writer, &sxt_err), SIMIDX_OK);
	simidx_writer_close(writer);
	free(path);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_reading_stops_where_it_asks, 0, sizeof(reads) / sizeof(reads[0]) },
	{ &test_merge_stops_and_goes_on, 0, 1 },
	{ &test_waits_stop, 0, 1 },
	{ &test_waits_stop_among_others, 0, 1 },
	{ &test_signals_stop_a_wait, 0, 2 },
};

SXT_SUITE(stop, set_up, tear_down);
