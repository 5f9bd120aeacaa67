/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * A store that runs out of address space or of disk space, or that belongs to somebody else.
 */

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "support/sxt_fixture.h"
#include "support/sxt_store.h"

#define NOBODY 65534

/* ------------------------------------------------------------------------------------------
 * The memory map
 */

START_TEST(test_full_map_loses_no_commit)
{
	sx_store_options options = { .map_size = 400000 };
	sx_store *store;
	sx_slice value;
	sx_txn *txn;
	sx_dbi dbi;

	ck_assert_sx(sx_store_open(t_path, &options, &store, &sxt_err), SIMIDX_OK);
	t_rewrite(store, 20, 1);
	txn = t_write(store);
	dbi = t_table(txn, 0);
	ck_assert_sx(t_fill(txn, dbi, 1000, 2, store, &sxt_err), SIMIDX_E_MAP_FULL);
	ck_assert_sx(sx_dbi_put(txn, dbi, t_slice("a"), t_slice("1"), &sxt_err),
		     SIMIDX_E_STATE);
	ck_assert_sx(sx_txn_commit(txn, &sxt_err), SIMIDX_E_STATE);
	sx_store_unlock(store);
	txn = t_read(store);
	ck_assert_sx(sx_dbi_get(txn, t_table(txn, 0), t_slice("b000019"), &value, &sxt_err), 0);
	ck_assert_int_eq(((const unsigned char *)value.data)[0], 1);
	ck_assert_int_eq(sx_dbi_get(txn, t_table(txn, 0), t_slice("b000020"), &value, &sxt_err),
			 SIMIDX_E_NOT_FOUND);
	sx_txn_abort(txn);
	t_put(store, "a", "1");
	sx_store_close(store);
	store = t_open(t_path, 0);
	t_rewrite(store, 1000, 2);
	sx_store_close(store);
	/* A map that is smaller than the file is made as large as the file. */
	options.map_size = 4096;
	ck_assert_sx(sx_store_open(t_path, &options, &store, &sxt_err), SIMIDX_OK);
	ck_assert(t_has(store, "a", "1"));
	sx_store_close(store);
}
END_TEST

static int grow(sxt_proc *me, void *ctx)
{
	sx_store *store = t_open(t_path, 0);

	(void)ctx;
	sxt_proc_tell(me);
	while (!sxt_proc_wait(me)) {
		static unsigned n = 500;

		t_rewrite(store, n, 3);
		n *= 2;
		sxt_proc_tell(me);
	}
	return 0;
}

START_TEST(test_map_resized)
{
	sx_store_options options = { .map_size = 200000 };
	sx_txn *txn, *held;
	sx_store *store;
	sxt_proc other;
	sx_slice value;

	sxt_proc_start(&other, grow, NULL);
	ck_assert_int_eq(sxt_proc_wait(&other), 0);
	ck_assert_sx(sx_store_open(t_path, &options, &store, &sxt_err), SIMIDX_OK);
	t_rewrite(store, 10, 1);
	/* While a transaction lives here, the map cannot move under it. */
	held = t_read(store);
	sxt_proc_tell(&other);
	ck_assert_int_eq(sxt_proc_wait(&other), 0);
	ck_assert_sx(sx_txn_begin_read(store, &txn, &sxt_err), SIMIDX_E_BUSY);
	ck_assert_sx(sx_dbi_get(held, t_table(held, 0), t_slice("b000009"), &value, &sxt_err),
		     SIMIDX_OK);
	ck_assert_int_eq(((const unsigned char *)value.data)[0], 1);
	sx_txn_reset(held);
	/* A handle that was reset does not hold it. */
	ck_assert_sx(sx_txn_begin_read(store, &txn, &sxt_err), SIMIDX_OK);
	ck_assert_sx(sx_dbi_get(txn, t_table(txn, 0), t_slice("b000499"), &value, &sxt_err),
		     SIMIDX_OK);
	ck_assert_int_eq(((const unsigned char *)value.data)[0], 3);
	sx_txn_abort(txn);
	/* Renewing, writing and copying adopt it too. */
	sxt_proc_tell(&other);
	ck_assert_int_eq(sxt_proc_wait(&other), 0);
	ck_assert_sx(sx_txn_renew(held, &sxt_err), SIMIDX_OK);
	ck_assert_sx(sx_dbi_get(held, t_table(held, 0), t_slice("b000999"), &value, &sxt_err), 0);
	sx_txn_abort(held);
	sxt_proc_tell(&other);
	ck_assert_int_eq(sxt_proc_wait(&other), 0);
	t_put(store, "a", "1");
	sxt_proc_tell(&other);
	ck_assert_int_eq(sxt_proc_wait(&other), 0);
	ck_assert_sx(sx_store_copy(store, t_dir, &sxt_err), SIMIDX_OK);
	sx_store_close(store);
	sxt_proc_kill(&other);
}
END_TEST

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

/* With less address space than we would like to reserve. */
static int open_small(sxt_proc *me, void *ctx)
{
	const rlim_t *limit = ctx;
	struct rlimit space = { *limit, *limit };
	sx_store_options options = { 0 };
	sx_store *store;
	int i;

	(void)me;
	sxt_must(!setrlimit(RLIMIT_AS, &space));
	sxt_must_ok(sx_store_open(t_path, &options, &store, &sxt_err));
	t_rewrite(store, 1000, 1);
	for (i = 0; i < 16; i++)
		sxt_must(malloc(1 << 20));
	return 0;
}

START_TEST(test_map_halved)
{
	static rlim_t limits[] = { (rlim_t)200 << 20, (rlim_t)1100 << 20, (rlim_t)5 << 30,
				   (rlim_t)1200 << 30 };

#ifdef SANITIZED
	sxt_skip("sanitizers need more address space");
#endif
	ck_assert_int_eq(sxt_proc_run(open_small, &limits[_i]), 0);
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * No space
 */

/* A limit on the size of files stands for a disk that is full: a write falls short. */
static int write_beyond(sxt_proc *me, void *ctx)
{
	sx_store *store = t_open(t_path, 0);
	struct rlimit limit;
	sx_txn *txn;
	sx_dbi dbi;

	(void)me;
	(void)ctx;
	t_rewrite(store, 20, 1);
	signal(SIGXFSZ, SIG_IGN);
	sxt_must(!getrlimit(RLIMIT_FSIZE, &limit));
	limit.rlim_cur = 1000000;
	sxt_must(!setrlimit(RLIMIT_FSIZE, &limit));
	txn = t_write(store);
	sxt_must_ok(sx_dbi_open(txn, "u", 1, &dbi, &sxt_err));
	sxt_must_ok(t_fill(txn, dbi, 500, 2, store, &sxt_err));
	sxt_must_sx(sx_txn_commit(txn, &sxt_err), SIMIDX_E_NO_SPACE);
	sx_store_unlock(store);
	sxt_error_clear(&sxt_err);
	txn = t_write(store);
	sxt_must_sx(sx_dbi_open(txn, "u", 0, &dbi, &sxt_err), SIMIDX_E_NOT_FOUND);
	sxt_must_ok(t_fill(txn, t_table(txn, 0), 30, 1, store, &sxt_err));
	t_commit(store, txn);
	return 0;
}

START_TEST(test_file_limit_loses_no_commit)
{
	sx_store *store;
	sx_slice value;
	sx_txn *txn;

	ck_assert_int_eq(sxt_proc_run(write_beyond, NULL), 0);
	store = t_open(t_path, 0);
	txn = t_read(store);
	ck_assert_sx(sx_dbi_get(txn, t_table(txn, 0), t_slice("b000029"), &value, &sxt_err), 0);
	ck_assert_int_eq(((const unsigned char *)value.data)[0], 1);
	ck_assert_int_eq(sx_dbi_get(txn, t_table(txn, 0), t_slice("b000030"), &value, &sxt_err),
			 SIMIDX_E_NOT_FOUND);
	sx_txn_abort(txn);
	sx_store_close(store);
}
END_TEST

/* A file system of our own at `where`, that nobody else sees. */
static void mount_private(const char *where, const char *type, const char *source,
			  unsigned long flags, const char *options)
{
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount(source, where, type, flags, options))
		_exit(SXT_CHILD_SKIPPED);
}

static int fill_disk(sxt_proc *me, void *ctx)
{
	char *small = sxt_path(t_dir, "small"), *target = sxt_path(small, "y");
	char *ballast = sxt_path(small, "ballast"), *copy = sxt_path(small, "copy");
	static char bytes[600000];
	sx_store *store;
	sx_txn *txn;

	(void)me;
	(void)ctx;
	sxt_must(!mkdir(small, 0700));
	mount_private(small, "tmpfs", "none", 0, "size=2M");
	store = t_create(target, 0);
	t_rewrite(store, 20, 1);
	sxt_file_write(ballast, bytes, sizeof(bytes));
	txn = t_write(store);
	sxt_must_ok(t_fill(txn, t_table(txn, 0), 400, 2, store, &sxt_err));
	sxt_must_sx(sx_txn_commit(txn, &sxt_err), SIMIDX_E_NO_SPACE);
	sxt_must(strstr(sxt_err.text, "No space left"));
	sx_store_unlock(store);
	sxt_error_clear(&sxt_err);
	sxt_must(!mkdir(copy, 0700));
	sxt_must_sx(sx_store_copy(store, copy, &sxt_err), SIMIDX_E_NO_SPACE);
	sx_dir_remove(copy);
	/* Readers go on, and with space again writers too, with the same handle. */
	txn = t_read(store);
	sxt_must_eq(sx_dbi_get(txn, t_table(txn, 0), t_slice("b000020"), &(sx_slice){ 0 },
			       NULL), SIMIDX_E_NOT_FOUND);
	sx_txn_abort(txn);
	sxt_must(!unlink(ballast));
	t_rewrite(store, 100, 2);
	t_put(store, "a", "1");
	sx_store_close(store);
	store = t_open(target, 0);
	sxt_must(t_has(store, "a", "1"));
	sx_store_close(store);
	return 0;
}

START_TEST(test_full_disk_loses_no_commit)
{
	int rc = sxt_proc_run(fill_disk, NULL);

	if (rc == SXT_CHILD_SKIPPED)
		sxt_skip("no right to mount a file system");
	ck_assert_int_eq(rc, 0);
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * Permissions
 */

/* Whether the test's directory can be reached by somebody else. */
static int become_nobody(void)
{
	char *parent = sxt_path(t_dir, "..");
	struct stat st;

	sxt_must(!chmod(parent, 0711) && !chmod(t_dir, 0711));
	free(parent);
	return !seteuid(NOBODY) && !stat(t_path, &st);
}

static int open_as_nobody(sxt_proc *me, void *ctx)
{
	char *lock = sxt_path(t_path, "lock.mdb");
	sx_store_options options = { .map_size = T_MAP };
	sx_store *store;

	(void)me;
	(void)ctx;
	sxt_must(!chmod(t_path, 0755) && !chmod(t_data, 0600));
	if (!become_nobody())
		return SXT_CHILD_SKIPPED;
	/* Not to be read at all. */
	sxt_must_sx(sx_store_open(t_path, &options, &store, &sxt_err), SIMIDX_E_PERMISSION);
	sxt_must(!strstr(sxt_err.text, "SIMIDX_OPEN_STATIC"));
	sxt_must(!seteuid(0) && !chmod(t_data, 0644) && !seteuid(NOBODY));
	/* To be read, but without locks. */
	sxt_error_clear(&sxt_err);
	sxt_must_sx(sx_store_open(t_path, &options, &store, &sxt_err), SIMIDX_E_PERMISSION);
	sxt_must(strstr(sxt_err.text, "SIMIDX_OPEN_STATIC"));
	store = t_open(t_path, SX_STORE_STATIC);
	sxt_must(!sx_store_is_writable(store) && t_has(store, "a", "1"));
	sx_store_close(store);
	/* The same if the lock file is missing and cannot be made. */
	sxt_must(!seteuid(0) && !unlink(lock) && !seteuid(NOBODY));
	sxt_error_clear(&sxt_err);
	sxt_must_sx(sx_store_open(t_path, &options, &store, &sxt_err), SIMIDX_E_PERMISSION);
	sxt_must(strstr(sxt_err.text, "SIMIDX_OPEN_STATIC"));
	/* With a lock file for all, it can be read with locks. */
	sxt_must(!seteuid(0));
	sxt_file_write(lock, "", 0);
	sxt_must(!chmod(lock, 0666) && !seteuid(NOBODY));
	store = t_open(t_path, 0);
	sxt_must(!sx_store_is_writable(store) && t_has(store, "a", "1"));
	sxt_error_clear(&sxt_err);
	sxt_must_sx(sx_store_lock(store, 0, &sxt_err), SIMIDX_E_READ_ONLY);
	sx_store_close(store);
	sxt_must(!seteuid(0));
	return 0;
}

START_TEST(test_without_permission)
{
	sx_store *store = t_open(t_path, 0);
	int rc;

	t_put(store, "a", "1");
	sx_store_close(store);
	if (geteuid())
		sxt_skip("only root can become nobody");
	rc = sxt_proc_run(open_as_nobody, NULL);
	if (rc == SXT_CHILD_SKIPPED)
		sxt_skip("nobody cannot reach the directory of the test");
	ck_assert_int_eq(rc, 0);
}
END_TEST

static int open_read_only_mount(sxt_proc *me, void *ctx)
{
	sx_store_options options = { .map_size = T_MAP };
	sx_store *store;

	(void)me;
	(void)ctx;
	mount_private(t_path, NULL, t_path, MS_BIND, NULL);
	if (mount("none", t_path, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL))
		return SXT_CHILD_SKIPPED;
	sxt_must_sx(sx_store_open(t_path, &options, &store, &sxt_err), SIMIDX_E_PERMISSION);
	sxt_must(strstr(sxt_err.text, "SIMIDX_OPEN_STATIC"));
	store = t_open(t_path, SX_STORE_STATIC);
	sxt_must(!sx_store_is_writable(store) && t_has(store, "a", "1"));
	sx_store_close(store);
	return 0;
}

START_TEST(test_read_only_mount)
{
	sx_store *store = t_open(t_path, 0);
	int rc;

	t_put(store, "a", "1");
	sx_store_close(store);
	rc = sxt_proc_run(open_read_only_mount, NULL);
	if (rc == SXT_CHILD_SKIPPED)
		sxt_skip("no right to mount a file system");
	ck_assert_int_eq(rc, 0);
}
END_TEST

/* Root, writing first, must not shut the owner out. */
START_TEST(test_root_leaves_lock_to_owner)
{
	char *own = sxt_path(t_path, "write.lock");
	sx_store *store;
	struct stat st;

	if (geteuid())
		sxt_skip("only root can change owners");
	ck_assert_int_eq(unlink(own), 0);
	ck_assert_int_eq(chown(t_data, NOBODY, NOBODY), 0);
	ck_assert_int_eq(chmod(t_data, 0660), 0);
	store = t_open(t_path, 0);
	t_put(store, "a", "1");
	sx_store_close(store);
	ck_assert_int_eq(stat(own, &st), 0);
	ck_assert_uint_eq(st.st_uid, NOBODY);
	ck_assert_uint_eq(st.st_gid, NOBODY);
	ck_assert_uint_eq(st.st_mode & 0777, 0660);
	free(own);
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * LMDB's lock file
 */

/* Give back a part of lock.mdb to the file system, in which no reader is noted; its number. */
static ino_t make_sparse(void)
{
	char *lock = sxt_path(t_path, "lock.mdb");
	int fd = open(lock, O_RDWR | O_CLOEXEC);
	struct stat st;

	sxt_must(fd >= 0 &&
		 !fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 32768, 32768));
	sxt_must(!fstat(fd, &st) && st.st_blocks * 512 < st.st_size);
	close(fd);
	free(lock);
	return st.st_ino;
}

static struct stat lock_file(void)
{
	char *lock = sxt_path(t_path, "lock.mdb");
	struct stat st;

	sxt_must(!stat(lock, &st));
	free(lock);
	return st;
}

static int hold_open(sxt_proc *me, void *ctx)
{
	sx_store *store = t_open(t_path, 0);

	(void)ctx;
	t_put(store, "a", "2");
	sxt_proc_tell(me);
	sxt_proc_wait(me);
	sxt_must(t_has(store, "a", "2"));
	sx_store_close(store);
	return 0;
}

/* Writing to it would need space that may not be there: another one takes its place. */
START_TEST(test_sparse_lock_file_is_replaced)
{
	sx_store *store = t_open(t_path, 0);
	struct stat st;
	ino_t sparse;

	sx_store_close(store);
	sparse = make_sparse();
	store = t_open(t_path, 0);
	st = lock_file();
	ck_assert(st.st_ino != sparse);
	ck_assert_int_ge(st.st_blocks * 512, st.st_size);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
	t_put(store, "a", "2");
	sx_store_close(store);
}
END_TEST

/* Not while another process has it open: the two would not see each other. */
START_TEST(test_lock_file_in_use_stays)
{
	sx_store *store;
	sxt_proc child;
	ino_t sparse;

	sxt_proc_start(&child, hold_open, NULL);
	ck_assert_int_eq(sxt_proc_wait(&child), 0);
	sparse = make_sparse();
	store = t_open(t_path, 0);
	ck_assert_uint_eq(lock_file().st_ino, sparse);
	ck_assert(t_has(store, "a", "2"));
	sxt_proc_tell(&child);
	ck_assert_int_eq(sxt_proc_finish(&child), 0);
	sx_store_close(store);
	store = t_open(t_path, 0);
	ck_assert(lock_file().st_ino != sparse);
	sx_store_close(store);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_full_map_loses_no_commit, 0, 1 },
	{ &test_map_resized, 0, 1 },
	{ &test_map_halved, 0, 4 },
	{ &test_file_limit_loses_no_commit, 0, 1 },
	{ &test_full_disk_loses_no_commit, 0, 1 },
	{ &test_without_permission, 0, 1 },
	{ &test_read_only_mount, 0, 1 },
	{ &test_root_leaves_lock_to_owner, 0, 1 },
	{ &test_sparse_lock_file_is_replaced, 0, 1 },
	{ &test_lock_file_in_use_stays, 0, 1 },
};

SXT_SUITE(store_limits, sxt_set_up_closed_store, sxt_tear_down);
