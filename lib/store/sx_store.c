/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Opening and closing, and the registry of what this process has open. The registry exists
 * because LMDB must never map a file twice in one process: its locks are fcntl() locks, which
 * belong to the process, and closing one of the two drops those of the other.
 */

#include "store/sx_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "store/sx_env_copy.h"
#include "store/sx_file_check.h"
#include "store/sx_lmdb_pages.h"
#include "store/sx_store_handle.h"
#include "util/sx_alloc.h"
#include "util/sx_err.h"

#define OPEN_TRIES 1000 /* each sees another exchange */

static pthread_mutex_t registry_mutex = PTHREAD_MUTEX_INITIALIZER;
static sx_store *registry;
static atomic_uint fork_count; /* forks so far on the way to this process */

static pthread_once_t watch_once = PTHREAD_ONCE_INIT;
static int watch_errno;

/* ------------------------------------------------------------------------------------------
 * Registry
 */

static unsigned forks(void)
{
	return atomic_load_explicit(&fork_count, memory_order_relaxed);
}

void sx_store_registry_lock(void)
{
	pthread_mutex_lock(&registry_mutex);
}

void sx_store_registry_unlock(void)
{
	pthread_mutex_unlock(&registry_mutex);
}

/*
 * In a child nothing of the parent's is open: a child that opens a directory afresh gets an
 * environment of its own. The parent's write lock would outlive the parent if the child kept
 * the descriptor.
 */
static void forked(void)
{
	for (sx_store *store = registry; store; store = store->next) {
		if (store->lock.fd >= 0)
			close(store->lock.fd);
		if (store->lock.merge_fd >= 0)
			close(store->lock.merge_fd);
		store->lock.fd = store->lock.merge_fd = -1;
	}
	registry = NULL;
	atomic_fetch_add_explicit(&fork_count, 1, memory_order_relaxed);
	sx_store_registry_unlock();
}

static void watch_forks(void)
{
	watch_errno = pthread_atfork(sx_store_registry_lock, sx_store_registry_unlock, forked);
}

/*
 * Checks that are needed once a process. Before the registry is locked for the first time, or a
 * child could inherit it locked.
 */
static int check_process(simidx_error *err)
{
	int version[3];

	pthread_once(&watch_once, watch_forks);
	if (watch_errno)
		return sx_fail_errno(err, watch_errno, "cannot watch for fork()");
	sx_store_lmdb_version(version);
	if (version[0] || version[1] != 9 || version[2] < 24)
		return sx_fail(err, SIMIDX_E_UNSUPPORTED,
			       "LMDB 0.9.24 or later of the 0.9 series is needed, this is %d.%d.%d",
			       version[0], version[1], version[2]);
	return SIMIDX_OK;
}

void sx_store_lmdb_version(int version[3])
{
	mdb_version(&version[0], &version[1], &version[2]);
}

/* The store of this data file, if this process has it open. */
static sx_store *find_open(const struct stat *st)
{
	sx_store *store = registry;

	while (store && (store->env.dev != st->st_dev || store->env.ino != st->st_ino))
		store = store->next;
	return store;
}

static void enter_registry(sx_store *store)
{
	store->next = registry;
	registry = store;
}

static void leave_registry(sx_store *store)
{
	sx_store **link = &registry;

	while (*link != store)
		link = &(*link)->next;
	*link = store->next;
}

/* ------------------------------------------------------------------------------------------
 * The handle
 */

/* "/cwd/dir/name", or "dir/name" if there is no working directory. NULL: no memory. */
static char *absolute(const char *dir, const char *name)
{
	char *cwd = dir[0] == '/' ? NULL : getcwd(NULL, 0);
	char *out = NULL;

	if (asprintf(&out, "%s%s%s/%s", cwd ? cwd : "", cwd ? "/" : "", dir, name) < 0)
		out = NULL;
	free(cwd);
	return out;
}

static void free_location(sx_location *place)
{
	free(place->path);
	free(place->data);
	free(place->write);
	free(place);
}

int sx_store_set_path(sx_store *store, const char *path, simidx_error *err)
{
	sx_location *place = sx_calloc(1, sizeof(*place));

	if (!place)
		return sx_fail_nomem(err);
	place->path = strdup(path);
	place->data = absolute(path, SX_DATA_NAME);
	place->write = absolute(path, SX_WRITE_NAME);
	if (!place->path || !place->data || !place->write) {
		free_location(place);
		return sx_fail_nomem(err);
	}
	place->older = atomic_load(&store->place);
	while (!atomic_compare_exchange_weak(&store->place, &place->older, place))
		;
	return SIMIDX_OK;
}

static void free_store(sx_store *store)
{
	sx_location *place = atomic_load(&store->place);

	while (place) {
		sx_location *older = place->older;

		free_location(place);
		place = older;
	}
	free(store);
}

/* Undo make_store(). */
static void destroy_store(sx_store *store)
{
	sx_write_lock_destroy(&store->lock);
	sx_env_destroy(&store->env);
	pthread_mutex_destroy(&store->tables);
	free_store(store);
}

/* Make a handle that is not in the registry, and open LMDB with LMDB's `flags`. */
static int make_store(const char *dir, const sx_store_options *options, unsigned flags,
		      mode_t mode, uint64_t file_bytes, sx_store **out, simidx_error *err)
{
	sx_store *store = sx_calloc(1, sizeof(*store));
	int e, rc;

	if (!store)
		return sx_fail_nomem(err);
	store->refs = 1;
	store->generation = forks();
	/* On Linux what is set up here holds no memory: there is nothing to undo. */
	e = sx_write_lock_init(&store->lock);
	if (!e)
		e = pthread_mutex_init(&store->tables, NULL);
	if (!e)
		e = sx_env_init(&store->env);
	if (e) {
		free(store);
		return sx_fail_errno(err, e, "cannot make a lock");
	}
	rc = sx_store_set_path(store, dir, err);
	if (!rc)
		rc = sx_env_open(&store->env, dir, flags, mode, options->map_size, file_bytes,
				 err);
	if (rc)
		destroy_store(store);
	else
		*out = store;
	return rc;
}

/* ------------------------------------------------------------------------------------------
 * Create, open, close
 */

int sx_store_create(const char *dir, const sx_store_options *options, sx_store **out,
		    simidx_error *err)
{
	mode_t mode = options->mode ? (mode_t)options->mode : SX_STORE_DEFAULT_MODE;
	int dir_fd, fd, rc;
	sx_store *store;
	struct stat st;

	*out = NULL;
	if (options->flags & (SX_STORE_READ_ONLY | SX_STORE_STATIC))
		return sx_fail(err, SIMIDX_E_ARG, "a new store cannot be read-only");
	rc = check_process(err);
	if (!rc)
		rc = sx_file_check_directory(dir, options->flags & SX_STORE_FORCE, &dir_fd, err);
	if (rc)
		return rc;
	sx_store_registry_lock();
	if (!fstatat(dir_fd, SX_DATA_NAME, &st, AT_SYMLINK_NOFOLLOW))
		rc = sx_fail(err, SIMIDX_E_EXISTS, "%s/" SX_DATA_NAME " exists", dir);
	if (!rc)
		rc = make_store(dir, options, 0, mode, 0, &store, err);
	if (rc == SIMIDX_E_MOVED)
		sx_fail(err, rc, "%s: " SX_LOCK_NAME " was replaced or moved away", dir);
	if (rc)
		goto out;
	/* Here, so that the lock file has the mode of the data file. */
	fd = sx_write_lock_open(atomic_load(&store->place)->write, store->env.data_fd);
	if (fd < 0) {
		rc = sx_fail_errno(err, errno, "%s: the lock file " SX_WRITE_NAME, dir);
		destroy_store(store);
		goto out;
	}
	close(fd);
	enter_registry(store);
	*out = store;
out:
	sx_store_registry_unlock();
	close(dir_fd);
	return rc;
}

/* One more reference to a store that is open already. */
static int share(sx_store *store, const char *dir, unsigned flags, sx_store **out,
		 simidx_error *err)
{
	int rc = SIMIDX_OK;

	if (store->env.is_static != !!(flags & SX_STORE_STATIC))
		return sx_fail(err, SIMIDX_E_BUSY,
			       "%s is open in this process already, %s locks; it cannot "
			       "be open both with SIMIDX_OPEN_STATIC and without",
			       dir, store->env.is_static ? "without" : "with");
	/* The directory was renamed since: what was a dead path leads to the file again. */
	if (sx_store_check_path(store, NULL))
		rc = sx_store_set_path(store, dir, err);
	if (rc)
		return rc;
	store->refs++;
	*out = store;
	return SIMIDX_OK;
}

/* Whether the path leads to another directory now than when this one was opened. */
static int leads_elsewhere(const char *dir, int dir_fd)
{
	struct stat then, now;

	return !fstat(dir_fd, &then) && !stat(dir, &now) &&
	       (then.st_dev != now.st_dev || then.st_ino != now.st_ino);
}

static int open_new(const char *dir, int dir_fd, const struct stat *st,
		    const sx_store_options *options, sx_store **out, simidx_error *err)
{
	unsigned flags = 0;
	sx_store *store;
	int rc;

	if (options->flags & SX_STORE_STATIC) {
		flags = MDB_NOLOCK | MDB_RDONLY;
	} else {
		rc = sx_file_check_lock_file(dir, dir_fd, err);
		if (rc)
			return rc;
		if (options->flags & SX_STORE_READ_ONLY ||
		    faccessat(dir_fd, SX_DATA_NAME, W_OK, AT_EACCESS))
			flags = MDB_RDONLY;
	}
	/* The mode is that of the data file, in case LMDB has to make the lock file. */
	rc = make_store(dir, options, flags, st->st_mode & 0777, (uint64_t)st->st_size, &store,
			err);
	if (rc)
		return rc;
	/*
	 * The path led elsewhere when LMDB went there, or after the first of its two files: with
	 * the data of one index and the locks of another no snapshot would ever be the last one.
	 */
	if (store->env.dev != st->st_dev || store->env.ino != st->st_ino ||
	    leads_elsewhere(dir, dir_fd)) {
		destroy_store(store);
		return SIMIDX_E_MOVED;
	}
	enter_registry(store);
	*out = store;
	return SIMIDX_OK;
}

/*
 * Open once. SIMIDX_E_MOVED without setting err: the directory was exchanged meanwhile. Then the
 * old one is being removed, and anything in it may have been missing already.
 */
static int open_locked(const char *dir, const sx_store_options *options, sx_store **out,
		       simidx_error *err)
{
	sx_store *store = NULL;
	int dir_fd, fd, rc;
	struct stat st;

	rc = sx_file_check_directory(dir, options->flags & SX_STORE_FORCE, &dir_fd, err);
	if (rc)
		return rc;
	rc = sx_file_check_open(dir, dir_fd, &fd, &st, err);
	if (!rc) {
		store = find_open(&st);
		if (!store)
			rc = sx_file_check_data(dir, fd, options->flags & SX_STORE_CUT, err);
		close(fd);
	}
	if (!rc)
		rc = store ? share(store, dir, options->flags, out, err)
			   : open_new(dir, dir_fd, &st, options, out, err);
	if (rc && leads_elsewhere(dir, dir_fd)) {
		sx_err_clear(err);
		rc = SIMIDX_E_MOVED;
	}
	close(dir_fd);
	return rc;
}

int sx_store_open(const char *dir, const sx_store_options *options, sx_store **out,
		  simidx_error *err)
{
	int rc, tries = 0;

	*out = NULL;
	rc = check_process(err);
	if (rc)
		return rc;
	sx_store_registry_lock();
	do
		rc = open_locked(dir, options, out, err);
	while (rc == SIMIDX_E_MOVED && ++tries < OPEN_TRIES);
	sx_store_registry_unlock();
	return rc == SIMIDX_E_MOVED ? sx_fail(err, rc, "%s is being replaced", dir) : rc;
}

void sx_store_close(sx_store *store)
{
	if (!store)
		return;
	/* Held until LMDB has closed, so that no thread opens the same file meanwhile. */
	sx_store_registry_lock();
	if (--store->refs) {
		/* Others use it. */
	} else if (store->generation != forks()) {
		/*
		 * In a child. mdb_env_close() would wipe the parent's reader slots, and closing
		 * LMDB's descriptors would drop locks that this process may have taken since.
		 * So LMDB's memory and descriptors are left as they are.
		 */
		free_store(store);
	} else {
		leave_registry(store);
		destroy_store(store);
	}
	sx_store_registry_unlock();
}

/* ------------------------------------------------------------------------------------------
 * Copy
 */

int sx_store_copy(sx_store *store, const char *dir, simidx_error *err)
{
	int dir_fd, fd, rc = sx_store_check_fork(store, err);

	if (!rc)
		rc = sx_file_check_directory(dir, 1, &dir_fd, err);
	if (rc)
		return rc;
	fd = openat(dir_fd, SX_DATA_NAME, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
		    SX_STORE_DEFAULT_MODE);
	close(dir_fd);
	if (fd < 0)
		return sx_fail_errno(err, errno, "%s/" SX_DATA_NAME, dir);
	rc = sx_env_begin(&store->env, sx_env_copy, &fd);
	if (rc == ECANCELED)
		rc = sx_fail(err, SIMIDX_E_STOPPED, "stopped; there is no copy");
	else if (rc)
		rc = sx_env_fail(&store->env, rc, "cannot copy", err);
	else
		sx_env_leave(&store->env);
	if (close(fd) && !rc)
		rc = sx_fail_errno(err, errno, "%s/" SX_DATA_NAME, dir);
	return rc;
}

/* ------------------------------------------------------------------------------------------
 * Questions
 */

const char *sx_store_path(const sx_store *store)
{
	return atomic_load(&store->place)->path;
}

int sx_store_check_path(const sx_store *store, simidx_error *err)
{
	struct stat st;

	if (!stat(atomic_load(&store->place)->data, &st)) {
		if (st.st_dev == store->env.dev && st.st_ino == store->env.ino)
			return SIMIDX_OK;
	} else if (errno != ENOENT && errno != ENOTDIR) {
		return sx_fail_errno(err, errno, "%s", sx_store_path(store));
	}
	return sx_fail(err, SIMIDX_E_MOVED, "%s was replaced or moved away; open it again",
		       sx_store_path(store));
}

int sx_store_check_fork(const sx_store *store, simidx_error *err)
{
	if (store->generation == forks())
		return SIMIDX_OK;
	return sx_fail(err, SIMIDX_E_FORK, "%s was opened before fork(); open it in the child",
		       sx_store_path(store));
}

int sx_store_is_writable(const sx_store *store)
{
	return store->env.is_writable;
}

int sx_store_is_short(const sx_store *store)
{
	MDB_envinfo info;
	struct stat st;

	mdb_env_info(store->env.env, &info);
	return !fstat(store->env.data_fd, &st) &&
	       (uint64_t)st.st_size / store->env.page_size <= info.me_last_pgno;
}

int sx_store_mode(const sx_store *store, unsigned *mode, simidx_error *err)
{
	struct stat st;

	if (fstat(store->env.data_fd, &st))
		return sx_fail_errno(err, errno, "%s", sx_store_path(store));
	*mode = st.st_mode & 0777;
	return SIMIDX_OK;
}

int sx_store_free_bytes(const sx_store *store, uint64_t *bytes, simidx_error *err)
{
	struct statvfs fs;

	if (fstatvfs(store->env.data_fd, &fs))
		return sx_fail_errno(err, errno, "%s", sx_store_path(store));
	*bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
	return SIMIDX_OK;
}

/* ------------------------------------------------------------------------------------------
 * Pages of the map
 */

size_t sx_store_page_size(const sx_store *store)
{
	return store->env.page_size;
}

size_t sx_store_block_size(const sx_store *store)
{
	return store->env.page_size - sizeof(sx_lmdb_header);
}

unsigned sx_store_map_changes(const sx_store *store)
{
	return atomic_load_explicit(&store->env.map_changes, memory_order_relaxed);
}

static void *page_of(const sx_store *store, const void *p)
{
	return (void *)((uintptr_t)p & ~((uintptr_t)store->env.page_size - 1));
}

int sx_store_is_resident(const sx_store *store, const void *p)
{
	unsigned char resident = 1;

	return mincore(page_of(store, p), 1, &resident) || (resident & 1);
}

void sx_store_will_need(const sx_store *store, const void *p)
{
	(void)madvise(page_of(store, p), store->env.page_size, MADV_WILLNEED);
}

void sx_store_unmap_pages(const sx_store *store)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long start, end, inode;
	unsigned dev_major, dev_minor;
	char line[256];

	if (!maps)
		return;
	/*
	 * Of maps that are shared and read-only, where nothing can be lost that is only in
	 * memory. The rest of a line with a long path is not read as a line of its own.
	 */
	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx r-%*1[x-]s %*x %x:%x %lu", &start, &end, &dev_major,
			   &dev_minor, &inode) == 5 &&
		    inode == store->env.ino && makedev(dev_major, dev_minor) == store->env.dev)
			(void)madvise((void *)start, end - start, MADV_DONTNEED);
	fclose(maps);
}
