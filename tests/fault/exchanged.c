/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * An index that is exchanged for another one, and removed, at the worst moments of opening it: when
 * its directory is open and the file in it is not, when one of its files is open and the other is
 * not, and when it is open but not locked; and one that gets its name when another process looks
 * whether it was abandoned. Linked with --wrap for functions that come next then, and open() stands
 * in for the system's, in LMDB too.
 */

#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <simidx_info.h>

#include "store/sx_file_check.h"
#include "store/sx_txn.h"
#include "support/sxt_fixture.h"
#include "support/sxt_model.h"

#define OTHERS 6 /* indexes that take the place one after the other */

int __real_sx_file_check_open(const char *at, int dir_fd, int *fd, struct stat *st,
			      simidx_error *err);
int __wrap_sx_file_check_open(const char *at, int dir_fd, int *fd, struct stat *st,
			      simidx_error *err);
int __real_sx_store_lock(sx_store *store, int wait_ms, simidx_error *err);
int __wrap_sx_store_lock(sx_store *store, int wait_ms, simidx_error *err);
int __real_flock(int fd, int operation);
int __wrap_flock(int fd, int operation);

static char *other[OTHERS];
static int before_file, before_second, before_lock; /* exchanges to come at each moment */
static int exchanged;

/* As another process does it. No call of the library: one is under way. */
static void exchange(void)
{
	const char *gone = other[exchanged++];

	sxt_must(!renameat2(AT_FDCWD, t_path, AT_FDCWD, gone, RENAME_EXCHANGE));
	sxt_remove(gone);
}

int __wrap_sx_file_check_open(const char *at, int dir_fd, int *fd, struct stat *st,
			      simidx_error *err)
{
	if (before_file > 0) {
		before_file--;
		exchange();
	}
	return __real_sx_file_check_open(at, dir_fd, fd, st, err);
}

int __wrap_sx_store_lock(sx_store *store, int wait_ms, simidx_error *err)
{
	if (before_lock > 0) {
		before_lock--;
		exchange();
	}
	return __real_sx_store_lock(store, wait_ms, err);
}

static int open_file(const char *file, int flags, mode_t mode)
{
	static const char name[] = "/" SX_LOCK_NAME;
	size_t n = strlen(file), name_n = sizeof(name) - 1;

	/* Our own code follows no links. */
	if (before_second > 0 && !(flags & O_NOFOLLOW) && n > name_n &&
	    !strcmp(file + n - name_n, name)) {
		before_second--;
		exchange();
	}
	return openat(AT_FDCWD, file, flags, mode);
}

/* that of an index which is published before its lock is tried; NULL = none */
static char *private_path;

int __wrap_flock(int fd, int operation)
{
	struct stat st, ours = { 0 };
	char lock[4200];

	if (private_path && operation & LOCK_NB) {
		snprintf(lock, sizeof(lock), "%s/" SX_WRITE_NAME, private_path);
		if (!stat(lock, &ours) && !fstat(fd, &st) && st.st_ino == ours.st_ino) {
			sxt_must(!rename(private_path, other[1]));
			private_path = NULL;
		}
	}
	return __real_flock(fd, operation);
}

/* By both of the names that it has. */
#define DEFINE_OPEN(function, symbol)                              \
	int function(const char *file, int flags, ...) __asm__(symbol); \
	int function(const char *file, int flags, ...)             \
	{                                                          \
		mode_t mode = 0;                                   \
		va_list ap;                                        \
								   \
		va_start(ap, flags);                               \
		if (flags & O_CREAT)                               \
			mode = va_arg(ap, mode_t);                 \
		va_end(ap);                                        \
		return open_file(file, flags, mode);               \
	}

DEFINE_OPEN(open_plain, "open")
DEFINE_OPEN(open_large, "open64")

/* The index at the path has no document, number i of the others i + 1. */
static void make(const char *at, int n)
{
	simidx *index = sxt_create(at, NULL);
	simidx_writer *writer = sxt_writer(index, 0);

	for (int i = 0; i < n; i++) {
		simidx_doc doc = SIMIDX_DOC_INIT;

		ck_assert_sx(simidx_writer_put(writer, &doc, NULL, &sxt_err), SIMIDX_OK);
	}
	sxt_commit(writer);
	simidx_writer_close(writer);
	simidx_close(index);
}

static void set_up(void)
{
	sxt_set_up_path();
	make(t_path, 0);
	for (int i = 0; i < OTHERS; i++) {
		char name[16];

		snprintf(name, sizeof(name), "other-%d", i);
		other[i] = sxt_path(t_dir, name);
		make(other[i], i + 1);
	}
}

static void tear_down(void)
{
	for (int i = 0; i < OTHERS; i++)
		free(other[i]);
	sxt_tear_down();
}

static uint64_t documents(simidx *index)
{
	simidx_info info = SIMIDX_INFO_INIT;

	ck_assert_sx(simidx_get_info(index, &info, &sxt_err), SIMIDX_OK);
	return info.documents;
}

/* Whatever is missing in the directory that was there first, the one behind it is opened. */
START_TEST(test_opens_what_takes_the_place)
{
	simidx *index;

	before_file = OTHERS;
	ck_assert_sx(simidx_open(t_path, NULL, &index, &sxt_err), SIMIDX_OK);
	ck_assert_int_eq(exchanged, OTHERS);
	ck_assert_uint_eq(documents(index), OTHERS);
	simidx_close(index);
}
END_TEST

/* The locks of one index and the data of another. Only without writing LMDB opens them last. */
START_TEST(test_locks_of_one_and_data_of_another)
{
	simidx_open_options o = SIMIDX_OPEN_OPTIONS_INIT;
	simidx *index;

	o.flags = _i ? SIMIDX_OPEN_READ_ONLY : 0;
	before_second = OTHERS;
	ck_assert_sx(simidx_open(t_path, &o, &index, &sxt_err), SIMIDX_OK);
	ck_assert_int_eq(exchanged, OTHERS);
	ck_assert_uint_eq(documents(index), OTHERS);
	simidx_close(index);
}
END_TEST

/* Truncating makes sure that it locks what is there. */
START_TEST(test_truncate_locks_what_is_there)
{
	simidx_create_options o = SIMIDX_CREATE_OPTIONS_INIT;
	simidx *index;

	o.flags = SIMIDX_CREATE_TRUNCATE;
	before_lock = OTHERS;
	ck_assert_sx(simidx_create(t_path, &o, &index, &sxt_err), SIMIDX_OK);
	ck_assert_int_eq(exchanged, OTHERS);
	ck_assert_uint_eq(documents(index), 0);
	simidx_close(index);
	ck_assert_sx(simidx_open(t_path, NULL, &index, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(documents(index), 0);
	simidx_close(index);
}
END_TEST

/* What is wrong with an index that stays where it is, is told as ever. */
START_TEST(test_damage_is_told_as_ever)
{
	char *data = sxt_path(t_path, "data.mdb");
	simidx *index;

	sxt_remove(data);
	ck_assert_sx(simidx_open(t_path, NULL, &index, &sxt_err), SIMIDX_E_NOT_INDEX);
	ck_assert_ptr_nonnull(strstr(sxt_err.text, "it has no data.mdb"));
	/* One of which the files are gone takes its place: that one is meant then. */
	free(data);
	data = sxt_path(other[0], "data.mdb");
	sxt_remove(data);
	before_file = 1;
	ck_assert_sx(simidx_open(t_path, NULL, &index, &sxt_err), SIMIDX_E_NOT_INDEX);
	ck_assert_int_eq(exchanged, 1);
	free(data);
}
END_TEST

/* A builder that comes to its end while another process looks whether it is dead loses nothing. */
START_TEST(test_what_is_published_is_no_leftover)
{
	char *path = sxt_path(t_dir, ".simidx-abcdef");
	simidx_writer *writer;
	simidx *index;

	sxt_must(!rename(other[1], path));
	private_path = path;
	index = sxt_open(t_path, 0);
	writer = sxt_writer(index, 0);
	ck_assert_sx(simidx_writer_begin(writer, &sxt_err), SIMIDX_OK);
	ck_assert_ptr_null(private_path); /* it was looked at */
	simidx_writer_close(writer);
	simidx_close(index);
	index = sxt_open(other[1], 0);
	ck_assert_uint_eq(documents(index), 2);
	simidx_close(index);
	free(path);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_what_is_published_is_no_leftover, 0, 1 },
	{ &test_opens_what_takes_the_place, 0, 1 },
	{ &test_locks_of_one_and_data_of_another, 0, 2 },
	{ &test_truncate_locks_what_is_there, 0, 1 },
	{ &test_damage_is_told_as_ever, 0, 1 },
};

SXT_SUITE(exchanged, set_up, tear_down);
