/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "store/sx_env.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "store/sx_file_check.h"
#include "store/sx_lock_file.h"
#include "util/sx_err.h"

#define DEFAULT_MAP ((uint64_t)1 << 40)
#define REMAPPING LONG_MIN
#define MAP_TRIES 16
#define FULL_BYTES (1u << 20) /* a file system with less than this free is full */

/* ------------------------------------------------------------------------------------------
 * Errors
 */

/* LMDB's codes, and what they mean to our callers. */
static const struct lmdb_code {
	int rc;
	int code;
	const char *text;
} lmdb_codes[] = {
	{ MDB_KEYEXIST, SIMIDX_E_EXISTS, "the key is not greater than the last one" },
	{ MDB_NOTFOUND, SIMIDX_E_NOT_FOUND, "not found" },
	{ MDB_PAGE_NOTFOUND, SIMIDX_E_CORRUPT, "a page that is pointed to does not exist" },
	{ MDB_CORRUPTED, SIMIDX_E_CORRUPT, "a page is of the wrong type" },
	{ MDB_PANIC, SIMIDX_E_IO,
	  "an earlier write of the header page failed; close the index and open it again" },
	{ MDB_VERSION_MISMATCH, SIMIDX_E_UNSUPPORTED,
	  "the data or lock file belongs to another version of LMDB" },
	{ MDB_INVALID, SIMIDX_E_CORRUPT, "a header page is not LMDB's" },
	{ MDB_MAP_FULL, SIMIDX_E_MAP_FULL,
	  "the memory map is full; open the index with a larger map size" },
	{ MDB_DBS_FULL, SIMIDX_E_UNSUPPORTED, "too many tables" },
	{ MDB_READERS_FULL, SIMIDX_E_BUSY, "all reader slots are taken" },
	{ MDB_TLS_FULL, SIMIDX_E_BUSY, "too many thread-local keys" },
	{ MDB_TXN_FULL, SIMIDX_E_RANGE, "the transaction changes too many pages" },
	{ MDB_CURSOR_FULL, SIMIDX_E_CORRUPT, "a tree is deeper than can be" },
	{ MDB_PAGE_FULL, SIMIDX_E_CORRUPT, "a page has less room than it says" },
	{ MDB_MAP_RESIZED, SIMIDX_E_BUSY,
	  "another process made the file larger than the map; end the open transactions first" },
	{ MDB_INCOMPATIBLE, SIMIDX_E_CORRUPT, "a table is of the wrong type" },
	{ MDB_BAD_RSLOT, SIMIDX_E_STATE, "a reader slot was used twice" },
	{ MDB_BAD_TXN, SIMIDX_E_STATE, "the transaction failed before and must be aborted" },
	{ MDB_BAD_VALSIZE, SIMIDX_E_ARG, "the key or value is empty or too long" },
	{ MDB_BAD_DBI, SIMIDX_E_STATE, "the table was not opened" },
};

/* Whether a failed write to fd failed for lack of space. */
static int is_full(int fd)
{
	struct statvfs fs;
	struct stat st;
	struct rlimit limit;

	if (fd < 0)
		return 0;
	if (!fstatvfs(fd, &fs) && (uint64_t)fs.f_bavail * fs.f_frsize < FULL_BYTES)
		return 1;
	return !getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY &&
	       !fstat(fd, &st) && (uint64_t)st.st_size >= (uint64_t)limit.rlim_cur;
}

int sx_env_write_fail(int fd, int sys_errno, const char *doing, simidx_error *err)
{
	/* A write that stores less than it should sets no errno; LMDB calls that EIO. */
	if (sys_errno == EIO && is_full(fd))
		sys_errno = ENOSPC;
	return sx_fail_errno(err, sys_errno, "%s", doing);
}

int sx_env_fail(const sx_env *env, int rc, const char *doing, simidx_error *err)
{
	if (rc > 0)
		return sx_env_write_fail(env->data_fd, rc, doing, err);
	for (size_t i = 0; i < sizeof(lmdb_codes) / sizeof(lmdb_codes[0]); i++)
		if (lmdb_codes[i].rc == rc)
			return sx_fail(err, lmdb_codes[i].code, "%s: %s", doing,
				       lmdb_codes[i].text);
	return sx_fail(err, SIMIDX_E_IO, "%s: LMDB error %d", doing, rc);
}

/* ------------------------------------------------------------------------------------------
 * Opening
 */

/*
 * Address space for a file of `file_bytes`: `want`, or the largest half, quarter, ... of it that
 * can be had. 0 if not even the file can be mapped.
 */
static size_t choose_map(uint64_t want, uint64_t file_bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t least = (file_bytes / page + 1) * page;
	size_t size = want ? (want / page + (want % page != 0)) * page : DEFAULT_MAP;

	for (;;) {
		size_t probe;
		void *p;

		if (size < least)
			size = least;
		/* Where nothing was asked for, leave something for the rest of the process. */
		probe = want || size == least ? size : size + size / 2;
		p = mmap(NULL, probe, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			 -1, 0);
		if (p != MAP_FAILED) {
			munmap(p, probe);
			return size;
		}
		if (size == least)
			return 0;
		size = size / page / 2 * page;
	}
}

/*
 * Open LMDB's lock file, locked, unless LMDB does without, and LMDB itself, with no descriptor
 * below 3: in a process whose standard output or error is closed, whatever is printed would be
 * written into the index.
 */
static int open_above_standard(sx_env *env, const char *dir, unsigned flags, mode_t mode, int *lmdb,
			       simidx_error *err)
{
	int fd, held[STDERR_FILENO + 1], n = 0, rc = SIMIDX_OK;

	while ((fd = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0 && fd <= STDERR_FILENO)
		held[n++] = fd;
	if (fd >= 0)
		close(fd);
	if (!(flags & MDB_NOLOCK))
		rc = sx_lock_file_open(dir, mode, &env->lock_fd, err);
	if (!rc)
		*lmdb = mdb_env_open(env->env, dir, flags | MDB_NOTLS, mode);
	while (n)
		close(held[--n]);
	return rc;
}

int sx_env_init(sx_env *env)
{
	env->data_fd = env->lock_fd = -1;
	env->page_size = sx_file_check_page_size();
	return pthread_mutex_init(&env->moving, NULL);
}

int sx_env_open(sx_env *env, const char *dir, unsigned flags, mode_t mode, uint64_t map_size,
		uint64_t file_bytes, simidx_error *err)
{
	size_t size = choose_map(map_size, file_bytes);
	long pages = sysconf(_SC_PHYS_PAGES);
	int rc, lmdb = 0;
	struct stat st;

	if (!size)
		return sx_fail(err, SIMIDX_E_NOMEM,
			       "%s: not enough address space to map the file", dir);
	/*
	 * Read-ahead helps a file that fits in memory, and evicts what is needed of a larger one.
	 */
	if (pages > 0 && file_bytes / (uint64_t)sysconf(_SC_PAGESIZE) > (uint64_t)pages / 2)
		flags |= MDB_NORDAHEAD;
	rc = mdb_env_create(&env->env);
	if (!rc)
		rc = mdb_env_set_maxdbs(env->env, SX_ENV_MAX_TABLES);
	if (!rc)
		rc = mdb_env_set_maxreaders(env->env, SX_LOCK_FILE_READERS);
	if (!rc)
		rc = mdb_env_set_mapsize(env->env, size);
	if (rc)
		return sx_env_fail(env, rc, dir, err);
	rc = open_above_standard(env, dir, flags, mode, &lmdb, err);
	if (rc)
		return rc;
	if (env->lock_fd >= 0) {
		rc = sx_lock_file_is_there(dir, &env->lock_fd, err);
		if (rc)
			return rc;
		sx_lock_file_unlock(env->lock_fd);
	}
	rc = lmdb;
	/* The header pages are LMDB's: that has been looked at before. */
	if (rc == MDB_INVALID)
		return sx_fail(err, SIMIDX_E_IO,
			       "%s: a header page could not be read whole, or " SX_LOCK_NAME
			       " could not be locked",
			       dir);
	if (!rc)
		rc = mdb_env_get_fd(env->env, &env->data_fd);
	if (rc)
		return sx_env_fail(env, rc, dir, err);
	/* LMDB sets it on its other descriptors, but not on this one. */
	if (fcntl(env->data_fd, F_SETFD, FD_CLOEXEC) || fstat(env->data_fd, &st))
		return sx_fail_errno(err, errno, "%s/" SX_DATA_NAME, dir);
	env->dev = st.st_dev;
	env->ino = st.st_ino;
	env->is_static = !!(flags & MDB_NOLOCK);
	env->is_writable = !(flags & MDB_RDONLY);
	if (!env->is_static)
		mdb_reader_check(env->env, NULL);
	return SIMIDX_OK;
}

void sx_env_destroy(sx_env *env)
{
	/* Where the lock cannot be had, closing without it is still the best. */
	if (env->lock_fd >= 0)
		sx_lock_file_lock(env->lock_fd);
	if (env->env)
		mdb_env_close(env->env);
	if (env->lock_fd >= 0) {
		sx_lock_file_unlock(env->lock_fd);
		close(env->lock_fd);
	}
	pthread_mutex_destroy(&env->moving);
}

/* ------------------------------------------------------------------------------------------
 * The map
 */

static void enter(sx_env *env)
{
	long n = atomic_load(&env->live);

	for (;;) {
		if (n < 0) {
			/* The thread that moves the map holds the mutex. */
			pthread_mutex_lock(&env->moving);
			pthread_mutex_unlock(&env->moving);
			n = atomic_load(&env->live);
		} else if (atomic_compare_exchange_weak(&env->live, &n, n + 1)) {
			return;
		}
	}
}

void sx_env_leave(sx_env *env)
{
	atomic_fetch_sub(&env->live, 1);
}

/*
 * Make the map as large as the file has become. Not mdb_env_set_mapsize(env, 0), which takes
 * over the other process's map size: if that cannot be had here, LMDB is left without a map.
 */
static int remap(sx_env *env)
{
	MDB_envinfo info;
	struct stat st;
	size_t size;
	int rc;

	if (fstat(env->data_fd, &st))
		return errno;
	mdb_env_info(env->env, &info);
	size = choose_map(2 * (uint64_t)st.st_size, (uint64_t)st.st_size);
	if (size < info.me_mapsize)
		size = info.me_mapsize;
	if (!size)
		return ENOMEM;
	rc = mdb_env_set_mapsize(env->env, size);
	if (rc)
		env->broken = 1;
	return rc;
}

/* After MDB_MAP_RESIZED, having left. `seen` is map_changes from before entering. */
static int adopt_map(sx_env *env, unsigned seen)
{
	long none = 0;
	int rc = 0;

	pthread_mutex_lock(&env->moving);
	if (atomic_load(&env->map_changes) == seen) {
		if (atomic_compare_exchange_strong(&env->live, &none, REMAPPING)) {
			rc = remap(env);
			if (!rc)
				atomic_fetch_add(&env->map_changes, 1);
			atomic_store(&env->live, 0);
		} else {
			rc = MDB_MAP_RESIZED;
		}
	}
	pthread_mutex_unlock(&env->moving);
	return rc;
}

int sx_env_begin(sx_env *env, int (*work)(sx_env *env, void *ctx), void *ctx)
{
	int checked = 0, tries = 0;

	for (;;) {
		unsigned seen = atomic_load(&env->map_changes);
		int rc;

		enter(env);
		rc = env->broken ? ENOMEM : work(env, ctx);
		if (!rc)
			return 0;
		sx_env_leave(env);
		if (rc == MDB_MAP_RESIZED && ++tries <= MAP_TRIES)
			rc = adopt_map(env, seen);
		else if (rc == MDB_READERS_FULL && !checked++)
			rc = mdb_reader_check(env->env, NULL);
		if (rc)
			return rc;
	}
}
