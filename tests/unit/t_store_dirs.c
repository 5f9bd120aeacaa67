/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Directories of stores: made, published, exchanged, renamed and copied.
 */

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include "support/sxt_fixture.h"
#include "support/sxt_store.h"

static void set_up(void)
{
	sx_store *store;

	sxt_set_up_path();
	store = t_create(t_path, 0);
	t_rewrite(store, 20, 1);
	t_rewrite(store, 60, 2);
	sx_store_close(store);
}

static mode_t mode_of(const char *where, const char *name)
{
	char *full = sxt_path(where, name);
	struct stat st;

	ck_assert_int_eq(stat(full, &st), 0);
	free(full);
	return st.st_mode & 07777;
}

static int exists(const char *where, const char *name)
{
	char *full = sxt_path(where, name);
	struct stat st;
	int found = !lstat(full, &st);

	free(full);
	return found;
}

/* A private directory with a store in it that holds this value. */
static char *build(const char *target, const char *value)
{
	sx_store_options options = { .map_size = T_MAP };
	sx_store *store;
	char *private_dir;
	int fd;

	ck_assert_sx(sx_dir_prepare(target, &private_dir, &fd, &sxt_err), SIMIDX_OK);
	sx_dir_unlock(fd);
	ck_assert_sx(sx_store_create(private_dir, &options, &store, &sxt_err), SIMIDX_OK);
	t_put(store, "v", value);
	sx_store_close(store);
	return private_dir;
}

static int holds(const char *where, const char *value)
{
	sx_store *store = t_open(where, 0);
	int has = t_has(store, "v", value);

	sx_store_close(store);
	return has;
}

/* Make a private directory look a minute and a bit old. */
static void make_old(const char *private_dir)
{
	struct timespec times[2] = { { .tv_sec = time(NULL) - 70 }, { .tv_sec = time(NULL) - 70 } };

	ck_assert_int_eq(utimensat(AT_FDCWD, private_dir, times, 0), 0);
}

/* One builder at a time for a path, but not for another path, nor for what is quickly made. */
START_TEST(test_one_builder_a_path)
{
	char *target = sxt_path(t_dir, "y"), *longer = sxt_path(t_dir, "yy");
	char *longest = sxt_path(t_dir, "yyy"), *mine, *other, *begun;
	sx_store *store;
	int fd, other_fd, begun_fd;

	ck_assert_sx(sx_dir_claim(target, &mine, &fd, &sxt_err), SIMIDX_OK);
	ck_assert_sx(sx_dir_claim(target, &other, &other_fd, &sxt_err), SIMIDX_E_BUSY);
	ck_assert_ptr_null(other);
	ck_assert_int_eq(other_fd, -1);
	ck_assert_sx(sx_dir_claim(longer, &other, &other_fd, &sxt_err), SIMIDX_OK);
	sx_dir_unlock(other_fd);
	free(other);
	ck_assert_sx(sx_dir_prepare(target, &other, &other_fd, &sxt_err), SIMIDX_OK);
	sx_dir_unlock(other_fd);
	free(other);
	/* Nor is a path claimed by who claims one that begins with it. */
	ck_assert_sx(sx_dir_claim(longest, &other, &other_fd, &sxt_err), SIMIDX_OK);
	ck_assert_sx(sx_dir_claim(longer, &begun, &begun_fd, &sxt_err), SIMIDX_OK);
	sx_dir_unlock(begun_fd);
	sx_dir_unlock(other_fd);
	free(begun);
	free(other);
	/* Who claims cleans up, too. */
	ck_assert_sx(sx_dir_claim(longer, &other, &other_fd, &sxt_err), SIMIDX_OK);
	sx_dir_unlock(other_fd);
	free(other);
	sx_dir_unlock(fd);
	ck_assert(exists(mine, ""));
	ck_assert_sx(sx_dir_claim(target, &other, &other_fd, &sxt_err), SIMIDX_OK);
	ck_assert(!exists(mine, ""));
	free(mine);
	/* So does a store that is there, of what nobody is at work on. */
	store = t_open(t_path, 0);
	sx_dir_clean(store);
	ck_assert(exists(other, ""));
	sx_dir_unlock(other_fd);
	sx_dir_clean(store);
	ck_assert(!exists(other, ""));
	sx_store_close(store);
	/* Free is what nothing is at, or an empty directory. */
	ck_assert(sx_dir_is_free(target));
	ck_assert_int_eq(mkdir(target, 0700), 0);
	ck_assert(sx_dir_is_free(target));
	ck_assert(!sx_dir_is_free(t_path));
	ck_assert(!sx_dir_is_free(t_data));
	free(other);
	free(target);
	free(longer);
	free(longest);
}
END_TEST

/* What builders left goes away; what somebody builds, and what is none of ours, stays. */
START_TEST(test_leftovers_are_removed)
{
	static const char *const kept[] = { ".simidx-abcde", ".simidx-abcdefg", "simidx-abcdef" };
	char *target = sxt_path(t_dir, "y"), *unlocked, *locked, *empty, *mine, *file;
	sx_store *store;
	int fd, empty_fd, my_fd;

	/* Built by a process that is gone, whenever that was. */
	unlocked = build(target, "1");
	ck_assert_sx(sx_dir_prepare(target, &locked, &fd, &sxt_err), SIMIDX_OK);
	ck_assert(!exists(unlocked, ""));
	ck_assert(exists(locked, "write.lock"));
	/* Killed in the first or the last moments. */
	empty = sxt_path(t_dir, ".simidx-empty1");
	ck_assert_int_eq(mkdir(empty, 0700), 0);
	/* Not private directories: other names, a file. */
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		char *other = sxt_path(t_dir, kept[i]);

		ck_assert_int_eq(mkdir(other, 0700), 0);
		free(other);
	}
	file = sxt_path(t_dir, ".simidx-ABCDEF");
	sxt_file_write(file, "x", 1);
	ck_assert_sx(sx_dir_prepare(target, &mine, &my_fd, &sxt_err), SIMIDX_OK);
	ck_assert(exists(locked, ""));
	ck_assert(exists(mine, ""));
	ck_assert(!exists(empty, ""));
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		ck_assert(exists(t_dir, kept[i]));
	ck_assert(exists(t_dir, ".simidx-ABCDEF"));
	/* While somebody else holds the parent's lock, only what is old counts as left behind. */
	empty_fd = open(t_dir, O_RDONLY | O_DIRECTORY);
	ck_assert_int_eq(flock(empty_fd, LOCK_EX), 0);
	for (int old = 0; old < 2; old++) {
		ck_assert_int_eq(mkdir(empty, 0700) && !old, 0);
		if (old)
			make_old(empty);
		sx_dir_unlock(my_fd);
		free(mine);
		ck_assert_sx(sx_dir_prepare(target, &mine, &my_fd, &sxt_err), SIMIDX_OK);
		ck_assert_int_eq(exists(empty, ""), !old);
	}
	close(empty_fd);
	sx_dir_unlock(my_fd);
	/* A store takes the lock over, and others wait for it as for any. */
	ck_assert_sx(sx_store_create(locked, &(sx_store_options){ .map_size = T_MAP }, &store,
				     &sxt_err),
		     SIMIDX_OK);
	sx_store_adopt_lock(store, fd);
	ck_assert_sx(sx_store_lock(store, 0, &sxt_err), SIMIDX_E_BUSY);
	sx_store_unlock(store);
	ck_assert_sx(sx_store_lock(store, 0, &sxt_err), SIMIDX_OK);
	sx_store_unlock(store);
	sx_store_close(store);
	free(file);
	free(mine);
	free(empty);
	free(locked);
	free(unlocked);
	free(target);
}
END_TEST

/* The mode that was asked for, that of the files and that of the directory. */
static const unsigned modes[][3] = {
	{ 0, 0600, 0700 },    { 0600, 0600, 0700 }, { 0660, 0660, 0770 },
	{ 0640, 0640, 0750 }, { 0644, 0644, 0755 }, { 0666, 0666, 0777 },
};
#define N_MODES 6

static void check_modes(const char *where, const unsigned *mode)
{
	ck_assert_uint_eq(mode_of(where, "."), mode[2]);
	ck_assert_uint_eq(mode_of(where, "data.mdb"), mode[1]);
	ck_assert_uint_eq(mode_of(where, "lock.mdb"), mode[1]);
	ck_assert_uint_eq(mode_of(where, "write.lock"), mode[1]);
}

START_TEST(test_publish_modes)
{
	const unsigned *mode = modes[_i / 2];
	char *target = sxt_path(t_dir, "y"), *slashed = sxt_path(target, "//"), *private_dir;
	char *lock = sxt_path(target, "lock.mdb"), *own = sxt_path(target, "write.lock");
	sx_store *store;

	umask((_i & 1) ? 077 : 0);
	private_dir = build(slashed, "1");
	ck_assert_uint_eq(mode_of(private_dir, "."), 0700);
	ck_assert_int_eq(strncmp(private_dir, t_dir, strlen(t_dir)), 0);
	ck_assert_int_eq(strncmp(private_dir + strlen(t_dir), "/.simidx-", 9), 0);
	ck_assert_sx(sx_dir_publish(private_dir, slashed, mode[0], 0, &sxt_err), SIMIDX_OK);
	ck_assert(!exists(private_dir, ""));
	check_modes(target, mode);
	/* Lock files that have to be made again are like the data file. */
	ck_assert_int_eq(unlink(lock) | unlink(own), 0);
	umask(0);
	store = t_open(target, 0);
	t_put(store, "v", "2");
	sx_store_close(store);
	check_modes(target, mode);
	free(private_dir);
	free(own);
	free(lock);
	free(slashed);
	free(target);
}
END_TEST

START_TEST(test_publish_replaces_nothing)
{
	char *target = sxt_path(t_dir, "y"), *inside = sxt_path(target, "letter");
	char *private_dir = build(target, "1"), *missing = sxt_path(t_dir, "a/b"), *none;
	int fd;

	/* Neither a file nor a directory with something in it is touched, whatever `replace`. */
	sxt_file_write(target, "x", 1);
	ck_assert_sx(sx_dir_publish(private_dir, target, 0, 0, &sxt_err), SIMIDX_E_EXISTS);
	ck_assert_sx(sx_dir_publish(private_dir, target, 0, 1, &sxt_err), SIMIDX_E_EXISTS);
	ck_assert_int_eq(unlink(target), 0);
	ck_assert_int_eq(mkdir(target, 0700), 0);
	sxt_file_write(inside, "x", 1);
	ck_assert_sx(sx_dir_publish(private_dir, target, 0, 0, &sxt_err), SIMIDX_E_EXISTS);
	ck_assert_sx(sx_dir_publish(private_dir, target, 0, 1, &sxt_err), SIMIDX_E_EXISTS);
	ck_assert(exists(target, "letter"));
	/* Nor is a store, unless it is to be replaced. */
	ck_assert_sx(sx_dir_publish(private_dir, t_path, 0, 0, &sxt_err), SIMIDX_E_EXISTS);
	ck_assert(exists(private_dir, "data.mdb"));
	/* An empty directory is. */
	ck_assert_int_eq(unlink(inside), 0);
	ck_assert_sx(sx_dir_publish(private_dir, target, 0, 0, &sxt_err), SIMIDX_OK);
	ck_assert(holds(target, "1"));
	ck_assert_sx(sx_dir_prepare(missing, &none, &fd, &sxt_err), SIMIDX_E_NOT_FOUND);
	ck_assert_ptr_null(none);
	free(missing);
	free(private_dir);
	free(inside);
	free(target);
}
END_TEST

START_TEST(test_old_store_after_replacement)
{
	sx_store *store = t_open(t_path, 0), *fresh;
	char *private_dir = build(t_path, "new");
	sx_txn *txn = t_read(store);
	sx_slice value;

	ck_assert_sx(sx_store_check_path(store, &sxt_err), SIMIDX_OK);
	ck_assert_sx(sx_dir_publish(private_dir, t_path, 0640, 1, &sxt_err), SIMIDX_OK);
	ck_assert(!exists(private_dir, ""));
	ck_assert_uint_eq(mode_of(t_path, "."), 0750);
	/* Who has the old one open sees its snapshot to the end, but cannot write. */
	ck_assert_sx(sx_store_check_path(store, &sxt_err), SIMIDX_E_MOVED);
	ck_assert_sx(sx_store_lock(store, 0, &sxt_err), SIMIDX_E_MOVED);
	ck_assert_sx(sx_store_lock(store, 0, &sxt_err), SIMIDX_E_MOVED);
	ck_assert_sx(sx_dbi_get(txn, t_table(txn, 0), t_slice("b000059"), &value, &sxt_err),
		     SIMIDX_OK);
	fresh = t_open(t_path, 0);
	ck_assert_ptr_ne(fresh, store);
	ck_assert(t_has(fresh, "v", "new"));
	t_put(fresh, "v", "newer");
	sx_txn_abort(txn);
	sx_store_close(store);
	sx_store_close(fresh);
	free(private_dir);
	/* Where nothing is, replacing is making. */
	sxt_remove(t_path);
	private_dir = build(t_path, "again");
	ck_assert_sx(sx_dir_publish(private_dir, t_path, 0, 1, &sxt_err), SIMIDX_OK);
	ck_assert(holds(t_path, "again"));
	free(private_dir);
}
END_TEST

START_TEST(test_foreign_directory_is_not_replaced)
{
	char *link = sxt_path(t_dir, "link"), *letter = sxt_path(t_path, "letter"), *private_dir;
	struct stat st;

	/* Through a link, what it points to is replaced. */
	ck_assert_int_eq(symlink("index", link), 0);
	private_dir = build(link, "1");
	ck_assert_sx(sx_dir_publish(private_dir, link, 0, 1, &sxt_err), SIMIDX_OK);
	ck_assert_int_eq(lstat(link, &st), 0);
	ck_assert(S_ISLNK(st.st_mode));
	ck_assert(holds(t_path, "1"));
	free(private_dir);
	/* Files that are not ours are not removed with the old directory. */
	sxt_file_write(letter, "x", 1);
	private_dir = build(t_path, "2");
	ck_assert_sx(sx_dir_publish(private_dir, t_path, 0, 1, &sxt_err), SIMIDX_OK);
	ck_assert(holds(t_path, "2"));
	ck_assert(exists(private_dir, "letter"));
	ck_assert(!exists(private_dir, "data.mdb"));
	ck_assert(!exists(t_path, "letter"));
	free(private_dir);
	/* A private directory goes with its files. */
	private_dir = build(t_path, "3");
	sx_dir_remove(private_dir);
	ck_assert(!exists(private_dir, ""));
	sx_dir_remove(private_dir);
	sx_dir_remove(NULL);
	free(private_dir);
	free(letter);
	free(link);
}
END_TEST

START_TEST(test_open_while_published)
{
	sx_store_options options = { .map_size = T_MAP };
	char *target = sxt_path(t_dir, "y"), *private_dir;
	int fd;
	sx_store *store, *other;

	ck_assert_sx(sx_dir_prepare(target, &private_dir, &fd, &sxt_err), SIMIDX_OK);
	sx_dir_unlock(fd);
	ck_assert_sx(sx_store_create(private_dir, &options, &store, &sxt_err), SIMIDX_OK);
	t_put(store, "v", "1");
	ck_assert_sx(sx_dir_publish(private_dir, target, 0, 0, &sxt_err), SIMIDX_OK);
	ck_assert_sx(sx_store_check_path(store, &sxt_err), SIMIDX_E_MOVED);
	ck_assert_sx(sx_store_set_path(store, target, &sxt_err), SIMIDX_OK);
	ck_assert_str_eq(sx_store_path(store), target);
	ck_assert_sx(sx_store_check_path(store, &sxt_err), SIMIDX_OK);
	t_put(store, "v", "2");
	other = t_open(target, 0);
	ck_assert_ptr_eq(other, store);
	sx_store_close(other);
	/* A directory that was renamed is found again by whoever opens it there. */
	sxt_remove(t_path);
	ck_assert_int_eq(rename(target, t_path), 0);
	ck_assert_sx(sx_store_lock(store, 0, &sxt_err), SIMIDX_E_MOVED);
	other = t_open(t_path, 0);
	ck_assert_ptr_eq(other, store);
	t_put(other, "v", "3");
	sx_store_close(other);
	ck_assert(t_has(store, "v", "3"));
	sx_store_close(store);
	free(private_dir);
	free(target);
}
END_TEST

START_TEST(test_copy_equals_store)
{
	char *copy = sxt_dir_make(), *copied = sxt_path(copy, "data.mdb");
	sx_store *store = t_open(t_path, 0), *other;
	sx_slice value, expected;
	sx_txn *txn, *copy_txn;
	struct stat st, original;
	int i;

	ck_assert_int_eq(stat(t_data, &original), 0);
	txn = t_read(store);
	ck_assert_sx(sx_store_copy(store, copy, &sxt_err), SIMIDX_OK);
	ck_assert_int_eq(stat(copied, &st), 0);
	ck_assert_int_lt(st.st_size, original.st_size);
	other = t_open(copy, 0);
	copy_txn = t_read(other);
	for (i = 0; i < 60; i++) {
		char key[16];

		snprintf(key, sizeof(key), "b%06d", i);
		ck_assert_sx(sx_dbi_get(txn, t_table(txn, 0), t_slice(key), &expected, &sxt_err),
			     0);
		ck_assert_sx(sx_dbi_get(copy_txn, t_table(copy_txn, 0), t_slice(key), &value,
				    &sxt_err),
			     SIMIDX_OK);
		ck_assert_uint_eq(value.size, expected.size);
		ck_assert_mem_eq(value.data, expected.data, value.size);
	}
	sx_txn_abort(copy_txn);
	sx_txn_abort(txn);
	t_put(other, "v", "1");
	sx_store_close(other);
	ck_assert_sx(sx_store_copy(store, copy, &sxt_err), SIMIDX_E_EXISTS);
	ck_assert_sx(sx_store_copy(store, copied, &sxt_err), SIMIDX_E_NOT_INDEX);
	sx_store_close(store);
	free(copied);
	free(copy);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_publish_modes, 0, 2 * N_MODES },
	{ &test_one_builder_a_path, 0, 1 },
	{ &test_leftovers_are_removed, 0, 1 },
	{ &test_publish_replaces_nothing, 0, 1 },
	{ &test_old_store_after_replacement, 0, 1 },
	{ &test_foreign_directory_is_not_replaced, 0, 1 },
	{ &test_open_while_published, 0, 1 },
	{ &test_copy_equals_store, 0, 1 },
};

SXT_SUITE(store_dirs, set_up, sxt_tear_down);
