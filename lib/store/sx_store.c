/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Opening and closing, and the registry of what this process has open. The registry exists
 * because LMDB must never map a file twice in one process: its locks are fcntl() locks, which
 * belong to the process, and closing one of the two drops those of the other.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "store/sx_store_lmdb.h"
#include "util/sx_alloc.h"
#include "util/sx_err.h"

#define MAX_READERS 1024
/* As LMDB makes it: a cache line a reader, and a head. A longer one would mean more readers. */
#define LOCK_FILE_BYTES (64 * (MAX_READERS + 2))
#define DEFAULT_MAP ((uint64_t)1 << 40)
#define OPEN_TRIES 1000 /* each sees another exchange */

#define LMDB_VERSION(major, minor, patch) ((major) << 24 | (minor) << 16 | (patch))

static pthread_mutex_t registry_mutex = PTHREAD_MUTEX_INITIALIZER;
static sx_store *registry;
static atomic_uint fork_count;

static pthread_once_t start_once = PTHREAD_ONCE_INIT;
static int start_errno;
static int lmdb_version;
static char lmdb_version_text[36];

/* ------------------------------------------------------------------------------------------
 * Registry
 */

unsigned sx_fork_count(void)
{
	return atomic_load_explicit(&fork_count, memory_order_relaxed);
}

void sx_registry_lock(void)
{
	pthread_mutex_lock(&registry_mutex);
}

void sx_registry_unlock(void)
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
	sx_store *store;

	for (store = registry; store; store = store->next) {
		if (store->lock_fd >= 0)
			close(store->lock_fd);
		store->lock_fd = -1;
	}
	registry = NULL;
	atomic_fetch_add_explicit(&fork_count, 1, memory_order_relaxed);
	sx_registry_unlock();
}

static void start(void)
{
	int major, minor, patch;

	mdb_version(&major, &minor, &patch);
	lmdb_version = LMDB_VERSION(major, minor, patch);
	snprintf(lmdb_version_text, sizeof(lmdb_version_text), "%d.%d.%d", major, minor,
		 patch);
	start_errno = pthread_atfork(sx_registry_lock, sx_registry_unlock, forked);
}

/* Checks that are needed once a process. */
static int check_process(simidx_error *err)
{
	pthread_once(&start_once, start);
	if (start_errno)
		return sx_fail_errno(err, start_errno, "cannot watch for fork()");
	if (lmdb_version < LMDB_VERSION(0, 9, 24) || lmdb_version >= LMDB_VERSION(0, 10, 0))
		return sx_fail(err, SIMIDX_E_UNSUPPORTED,
			       "LMDB 0.9.24 or later of the 0.9 series is needed, this is %s",
			       lmdb_version_text);
	return SIMIDX_OK;
}

const char *sx_store_lmdb_version(void)
{
	pthread_once(&start_once, start);
	return lmdb_version_text;
}

/* The store of this data file, if this process has it open. */
static sx_store *find_open(const struct stat *st)
{
	sx_store *store = registry;

	while (store && (store->dev != st->st_dev || store->ino != st->st_ino))
		store = store->next;
	return store;
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
	if (!place)
		return;
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
	sx_location *place, *older;

	if (!store)
		return;
	for (place = atomic_load(&store->place); place; place = older) {
		older = place->older;
		free_location(place);
	}
	free(store);
}

static int init_sync(sx_store *store, simidx_error *err)
{
	pthread_condattr_t attr;
	int e;

	e = pthread_condattr_init(&attr);
	if (e)
		return sx_fail_errno(err, e, "cannot make a lock");
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	e = pthread_mutex_init(&store->mutex, NULL);
	if (!e) {
		e = pthread_cond_init(&store->changed, &attr);
		if (e)
			pthread_mutex_destroy(&store->mutex);
	}
	pthread_condattr_destroy(&attr);
	return e ? sx_fail_errno(err, e, "cannot make a lock") : SIMIDX_OK;
}

static int new_store(const char *dir, sx_store **out, simidx_error *err)
{
	sx_store *store = sx_calloc(1, sizeof(*store));
	int rc;

	*out = NULL;
	if (!store)
		return sx_fail_nomem(err);
	store->refs = 1;
	store->generation = sx_fork_count();
	store->data_fd = -1;
	store->lock_fd = -1;
	store->page_size = sx_check_page_size();
	rc = sx_store_set_path(store, dir, err);
	if (!rc)
		rc = init_sync(store, err);
	if (rc)
		free_store(store);
	else
		*out = store;
	return rc;
}

/* Undo new_store() and open_env(). */
static void destroy_store(sx_store *store)
{
	if (store->lock_fd >= 0)
		close(store->lock_fd);
	if (store->env)
		mdb_env_close(store->env);
	pthread_cond_destroy(&store->changed);
	pthread_mutex_destroy(&store->mutex);
	free_store(store);
}

/* ------------------------------------------------------------------------------------------
 * Environment
 */

size_t sx_map_choose(uint64_t want, uint64_t file_bytes)
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

/* Read-ahead helps a file that fits in memory, and evicts what is needed of a larger one. */
static unsigned read_ahead_flag(uint64_t file_bytes)
{
	long pages = sysconf(_SC_PHYS_PAGES);

	if (pages > 0 && file_bytes / (uint64_t)sysconf(_SC_PAGESIZE) > (uint64_t)pages / 2)
		return MDB_NORDAHEAD;
	return 0;
}

/*
 * Have all of lock.mdb on the disk before LMDB makes and maps it: on a full disk LMDB would make
 * a file with holes, and the process would be killed when it first writes to one. Opening it
 * here drops no locks, because this process does not have the store open.
 */
static int reserve_lock_file(const char *dir, mode_t mode, simidx_error *err)
{
	char *path = absolute(dir, SX_LOCK_NAME);
	int fd, rc = SIMIDX_OK;
	struct stat st;

	if (!path)
		return sx_fail_nomem(err);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, mode);
	if (fd < 0 || fstat(fd, &st)) {
		rc = sx_fail_errno(err, errno, "%s", path);
	} else if (st.st_size < LOCK_FILE_BYTES &&
		   fallocate(fd, 0, st.st_size, LOCK_FILE_BYTES - st.st_size) &&
		   errno != EOPNOTSUPP) {
		rc = sx_write_fail(fd, errno, path, err);
		if (!st.st_size)
			unlink(path);
	}
	if (fd >= 0)
		close(fd);
	free(path);
	return rc;
}

/*
 * mdb_env_open(), with none of LMDB's descriptors below 3: in a process whose standard output or
 * error is closed, whoever prints would write into the index.
 */
static int open_above_standard(MDB_env *env, const char *dir, unsigned flags, mode_t mode)
{
	int held[3], n = 0, rc;

	while (n < 3) {
		held[n] = open("/dev/null", O_RDONLY | O_CLOEXEC);
		if (held[n] < 0)
			break;
		if (held[n] > STDERR_FILENO) {
			close(held[n]);
			break;
		}
		n++;
	}
	rc = mdb_env_open(env, dir, flags, mode);
	while (n)
		close(held[--n]);
	return rc;
}

/* Open LMDB. `flags` are LMDB's. On failure the caller destroys the store. */
static int open_env(sx_store *store, const char *dir, unsigned flags, mode_t mode,
		    uint64_t map_size, uint64_t file_bytes, simidx_error *err)
{
	size_t size = sx_map_choose(map_size, file_bytes);
	struct stat st;
	int rc;

	if (!size)
		return sx_fail(err, SIMIDX_E_NOMEM,
			       "%s: not enough address space to map the file", dir);
	if (!(flags & MDB_NOLOCK)) {
		rc = reserve_lock_file(dir, mode, err);
		if (rc)
			return rc;
	}
	rc = mdb_env_create(&store->env);
	if (!rc)
		rc = mdb_env_set_maxdbs(store->env, SX_STORE_MAX_TABLES);
	if (!rc)
		rc = mdb_env_set_maxreaders(store->env, MAX_READERS);
	if (!rc)
		rc = mdb_env_set_mapsize(store->env, size);
	if (!rc)
		rc = open_above_standard(store->env, dir, flags | MDB_NOTLS, mode);
	if (!rc)
		rc = mdb_env_get_fd(store->env, &store->data_fd);
	if (rc)
		return sx_lmdb_fail(store, rc, dir, err);
	/* LMDB sets it on its other descriptors, but not on this one. */
	if (fcntl(store->data_fd, F_SETFD, FD_CLOEXEC) || fstat(store->data_fd, &st))
		return sx_fail_errno(err, errno, "%s/" SX_DATA_NAME, dir);
	store->dev = st.st_dev;
	store->ino = st.st_ino;
	store->is_static = !!(flags & MDB_NOLOCK);
	store->is_writable = !(flags & MDB_RDONLY);
	if (!store->is_static)
		mdb_reader_check(store->env, NULL);
	return SIMIDX_OK;
}

/* ------------------------------------------------------------------------------------------
 * Create, open, close
 */

static int create_locked(const char *dir, int dir_fd, const sx_store_options *options,
			 sx_store **out, simidx_error *err)
{
	mode_t mode = options->mode ? (mode_t)options->mode : SX_DEFAULT_MODE;
	sx_store *store;
	struct stat st;
	int fd = -1, rc;

	if (!fstatat(dir_fd, SX_DATA_NAME, &st, AT_SYMLINK_NOFOLLOW))
		return sx_fail(err, SIMIDX_E_EXISTS, "%s/" SX_DATA_NAME " exists", dir);
	rc = new_store(dir, &store, err);
	if (rc)
		return rc;
	rc = open_env(store, dir, 0, mode, options->map_size, 0, err);
	if (!rc)
		rc = sx_lock_file_open(store, &fd, err);
	if (rc) {
		destroy_store(store);
		return rc;
	}
	close(fd);
	store->next = registry;
	registry = store;
	*out = store;
	return SIMIDX_OK;
}

int sx_store_create(const char *dir, const sx_store_options *options, sx_store **out,
		    simidx_error *err)
{
	int dir_fd, rc;

	*out = NULL;
	if (options->flags & (SX_STORE_READ_ONLY | SX_STORE_STATIC))
		return sx_fail(err, SIMIDX_E_ARG, "a new store cannot be read-only");
	rc = check_process(err);
	if (!rc)
		rc = sx_check_directory(dir, options->flags, &dir_fd, err);
	if (rc)
		return rc;
	sx_registry_lock();
	rc = create_locked(dir, dir_fd, options, out, err);
	sx_registry_unlock();
	close(dir_fd);
	return rc;
}

/* One more reference to a store that is open already. */
static int share(sx_store *store, const char *dir, unsigned flags, sx_store **out,
		 simidx_error *err)
{
	if (store->is_static != !!(flags & SX_STORE_STATIC))
		return sx_fail(err, SIMIDX_E_BUSY,
			       "%s is open in this process already, %s locks; it cannot "
			       "be open both with SIMIDX_OPEN_STATIC and without",
			       dir, store->is_static ? "without" : "with");
	/* The directory was renamed since: what was a dead path leads to the file again. */
	if (sx_store_check_path(store, NULL)) {
		int rc = sx_store_set_path(store, dir, err);

		if (rc)
			return rc;
	}
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
	uint64_t file_bytes = (uint64_t)st->st_size;
	unsigned flags = read_ahead_flag(file_bytes);
	sx_store *store;
	int is_writable, rc;

	rc = sx_check_access(dir, dir_fd, options->flags, &is_writable, err);
	if (!rc)
		rc = new_store(dir, &store, err);
	if (rc)
		return rc;
	if (options->flags & SX_STORE_STATIC)
		flags |= MDB_NOLOCK;
	if (!is_writable)
		flags |= MDB_RDONLY;
	/* The mode is that of the data file, in case LMDB has to make the lock file. */
	rc = open_env(store, dir, flags, st->st_mode & 0777, options->map_size, file_bytes,
		      err);
	/*
	 * The path led elsewhere when LMDB went there, or behind the first of its two files: with
	 * the data of one index and the locks of another no snapshot would ever be the last one.
	 */
	if (!rc && (store->dev != st->st_dev || store->ino != st->st_ino ||
		    leads_elsewhere(dir, dir_fd)))
		rc = SIMIDX_E_MOVED;
	if (rc) {
		destroy_store(store);
		return rc;
	}
	store->next = registry;
	registry = store;
	*out = store;
	return SIMIDX_OK;
}

static int open_at(const char *dir, int dir_fd, const sx_store_options *options, sx_store **out,
		   simidx_error *err)
{
	sx_store *store;
	struct stat st;
	int fd, rc;

	rc = sx_check_open(dir, dir_fd, &fd, &st, err);
	if (rc)
		return rc;
	store = find_open(&st);
	if (!store)
		rc = sx_check_data(dir, fd, err);
	close(fd);
	if (rc)
		return rc;
	return store ? share(store, dir, options->flags, out, err)
		     : open_new(dir, dir_fd, &st, options, out, err);
}

/*
 * Open once. SIMIDX_E_MOVED without setting err: the directory was exchanged meanwhile. Then the
 * old one is being removed, and anything in it may have been missing already.
 */
static int open_locked(const char *dir, const sx_store_options *options, sx_store **out,
		       simidx_error *err)
{
	int dir_fd, rc;

	rc = sx_check_directory(dir, options->flags, &dir_fd, err);
	if (rc)
		return rc;
	rc = open_at(dir, dir_fd, options, out, err);
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
	sx_registry_lock();
	do
		rc = open_locked(dir, options, out, err);
	while (rc == SIMIDX_E_MOVED && ++tries < OPEN_TRIES);
	sx_registry_unlock();
	return rc == SIMIDX_E_MOVED ? sx_fail(err, rc, "%s is being replaced", dir) : rc;
}

void sx_store_close(sx_store *store)
{
	sx_store **link = &registry;

	if (!store)
		return;
	/* Held until LMDB has closed, so that nobody opens the same file meanwhile. */
	sx_registry_lock();
	if (--store->refs) {
		sx_registry_unlock();
		return;
	}
	if (store->generation != sx_fork_count()) {
		/*
		 * In a child. mdb_env_close() would wipe the parent's reader slots, and closing
		 * LMDB's descriptors would drop locks that this process may have taken since.
		 * So LMDB's memory and descriptors are left behind.
		 */
		free_store(store);
	} else {
		while (*link != store)
			link = &(*link)->next;
		*link = store->next;
		destroy_store(store);
	}
	sx_registry_unlock();
}

/* ------------------------------------------------------------------------------------------
 * Questions
 */

const char *sx_store_path(const sx_store *store)
{
	return atomic_load(&store->place)->path;
}

int sx_store_is_writable(const sx_store *store)
{
	return store->is_writable;
}

int sx_store_check_fork(const sx_store *store, simidx_error *err)
{
	if (store->generation == sx_fork_count())
		return SIMIDX_OK;
	return sx_fail(err, SIMIDX_E_FORK, "%s was opened before fork(); open it in the child",
		       sx_store_path(store));
}

size_t sx_store_page_size(const sx_store *store)
{
	return store->page_size;
}

size_t sx_store_block_size(const sx_store *store)
{
	return store->page_size - 16; /* the page's header */
}

int sx_store_mode(const sx_store *store, unsigned *mode, simidx_error *err)
{
	struct stat st;

	if (fstat(store->data_fd, &st))
		return sx_fail_errno(err, errno, "%s", sx_store_path(store));
	*mode = st.st_mode & 0777;
	return SIMIDX_OK;
}

int sx_store_free_bytes(const sx_store *store, uint64_t *bytes, simidx_error *err)
{
	struct statvfs fs;

	if (fstatvfs(store->data_fd, &fs))
		return sx_fail_errno(err, errno, "%s", sx_store_path(store));
	*bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
	return SIMIDX_OK;
}

int sx_store_check_path(const sx_store *store, simidx_error *err)
{
	struct stat st;

	if (!stat(atomic_load(&store->place)->data, &st)) {
		if (st.st_dev == store->dev && st.st_ino == store->ino)
			return SIMIDX_OK;
	} else if (errno != ENOENT && errno != ENOTDIR) {
		return sx_fail_errno(err, errno, "%s", sx_store_path(store));
	}
	return sx_fail(err, SIMIDX_E_MOVED, "%s was replaced or moved away; open it again",
		       sx_store_path(store));
}
