/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Processes that open and close one index at the same time. LMDB 0.9.27 to 0.9.31 cannot bear that
 * by itself (ITS#10095): the last one that closes destroys the mutexes of lock.mdb, which another
 * one has just found. Linked with --wrap for LMDB's two functions, to look at our lock in the midst
 * of them.
 */

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/sx_env.h"
#include "support/sxt_fixture.h"
#include "support/sxt_index.h"
#include "support/sxt_proc.h"

int __real_mdb_env_open(MDB_env *env, const char *path, unsigned flags, mdb_mode_t mode);
int __wrap_mdb_env_open(MDB_env *env, const char *path, unsigned flags, mdb_mode_t mode);
void __real_mdb_env_close(MDB_env *env);
void __wrap_mdb_env_close(MDB_env *env);

static int watched;                      /* whether is_locked() is asked */
static int opened_locked, closed_locked; /* calls of LMDB's functions under our lock */

/* Whether there is a lock behind all bytes of lock.mdb that LMDB locks. */
static int is_locked(void)
{
	struct flock behind = { .l_type = F_WRLCK,
				.l_whence = SEEK_SET,
				.l_start = (off_t)1 << 32 };
	char *path = sxt_path(t_path, "lock.mdb");
	int fd = open(path, O_RDWR | O_CLOEXEC);

	free(path);
	sxt_must(fd >= 0 && !fcntl(fd, F_OFD_GETLK, &behind));
	/* LMDB has no lock there that this could drop: it has not opened, or has closed */
	close(fd);
	return behind.l_type != F_UNLCK;
}

int __wrap_mdb_env_open(MDB_env *env, const char *path, unsigned flags, mdb_mode_t mode)
{
	if (watched)
		opened_locked += is_locked();
	return __real_mdb_env_open(env, path, flags, mode);
}

void __wrap_mdb_env_close(MDB_env *env)
{
	__real_mdb_env_close(env);
	if (watched)
		closed_locked += is_locked();
}

START_TEST(test_one_at_a_time_opens_or_closes)
{
	simidx *index;

	watched = 1;
	index = sxt_open(t_path, _i ? SIMIDX_OPEN_READ_ONLY : 0);
	ck_assert_int_eq(opened_locked, 1);
	ck_assert_int_eq(closed_locked, 0);
	simidx_close(index);
	ck_assert_int_eq(closed_locked, 1);
	ck_assert(!is_locked());
}
END_TEST

#define PROCESSES 8

static int open_often(sxt_proc *me, void *ctx)
{
	int rounds = sxt_is_long() ? 12500 : 1000;

	(void)ctx;
	sxt_proc_wait(me);
	for (int i = 0; i < rounds; i++) {
		simidx *index = sxt_open(t_path, i % 4 ? SIMIDX_OPEN_READ_ONLY : 0);

		sxt_must_eq(t_count(index, 16), 1);
		if (i % 100 == 0) {
			simidx_writer *writer = sxt_writer(index, 0);

			sxt_must_eq(t_put(writer, SIMIDX_NO_ID, ~(uint64_t)0, NULL), SIMIDX_OK);
			sxt_commit(writer);
			simidx_writer_close(writer);
		}
		simidx_close(index);
	}
	return 0;
}

START_TEST(test_many_open_and_close)
{
	sxt_proc proc[PROCESSES];

	for (int i = 0; i < PROCESSES; i++)
		sxt_proc_start(&proc[i], open_often, NULL);
	for (int i = 0; i < PROCESSES; i++)
		sxt_proc_tell(&proc[i]);
	for (int i = 0; i < PROCESSES; i++)
		ck_assert_int_eq(sxt_proc_finish(&proc[i]), 0);
}
END_TEST

static void set_up(void)
{
	sxt_set_up_path();
	simidx_close(t_numbered(t_path, 3, 0));
}

static const sxt_test tests[] = {
	{ &test_one_at_a_time_opens_or_closes, 0, 2 },
	{ &test_many_open_and_close, 0, 1 },
};

SXT_SUITE(open_close, set_up, sxt_tear_down);
