/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "store/sx_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "store/sx_file_check.h"
#include "store/sx_lock_file.h"
#include "store/sx_store_handle.h"
#include "util/sx_err.h"

static const char *const file_names[] = { SX_DATA_NAME, SX_LOCK_NAME, SX_WRITE_NAME };
#define N_FILES (sizeof(file_names) / sizeof(file_names[0]))

/* Names of private directories: this and six random characters. */
#define PRIVATE_PREFIX ".simidx-"
#define PRIVATE_LENGTH (sizeof(PRIVATE_PREFIX) - 1 + 6)

/* The write lock's file before it is locked. */
#define NEW_LOCK_NAME SX_WRITE_NAME ".new"

/* What a store's directory may have besides, and what goes with it. */
static const char *const other_names[] = { NEW_LOCK_NAME, SX_LOCK_NAME SX_LOCK_FILE_NEW,
					   SX_SEEN_NAME, SX_SEEN_NAME ".new" };
#define N_OTHERS (sizeof(other_names) / sizeof(other_names[0]))

/*
 * A private directory without a lock is that of a process that died. When it cannot be known
 * that no builder is about to lock it, it must be older than this.
 */
#define UNLOCKED_SECONDS 60

/* How often to try to lock the parent, a millisecond apart: others hold it for moments. */
#define PARENT_TRIES 500

#define MAX_NAME 255

/*
 * Where `path` leads, and the directory that holds it; both freed by the caller. A symbolic
 * link is followed, so that what it points to is replaced and not the link.
 */
static int resolve(const char *path, char **target, char **parent, simidx_error *err)
{
	char *real = realpath(path, NULL);
	const char *slash;
	size_t n;

	*target = real ? real : strdup(path);
	*parent = NULL;
	if (!*target)
		return sx_fail_nomem(err);
	n = strlen(*target);
	while (n > 1 && (*target)[n - 1] == '/')
		(*target)[--n] = '\0';
	slash = strrchr(*target, '/');
	if (!slash)
		*parent = strdup(".");
	else
		*parent = strndup(*target, slash == *target ? 1 : (size_t)(slash - *target));
	if (*parent)
		return SIMIDX_OK;
	free(*target);
	*target = NULL;
	return sx_fail_nomem(err);
}

static int is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

int sx_dir_check_outside(const char *path, const char *dir, simidx_error *err)
{
	struct stat inner, st = { 0 }, last;
	char *target, *parent;
	int is_inside = 0, fd, rc = resolve(path, &target, &parent, err);

	if (rc)
		return rc;
	fd = stat(dir, &inner) ? -1 : open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
	/* Up to the root, whose parent is itself. */
	do {
		int up = -1;

		last = st;
		if (fd >= 0 && !fstat(fd, &st)) {
			is_inside = is_same_file(&st, &inner);
			up = openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		}
		if (fd >= 0)
			close(fd);
		fd = up;
	} while (fd >= 0 && !is_inside && !is_same_file(&st, &last));
	if (fd >= 0)
		close(fd);
	free(target);
	free(parent);
	return is_inside ? sx_fail(err, SIMIDX_E_ARG, "%s is inside the index %s", path, dir)
			 : SIMIDX_OK;
}

/* Whether there is a store at the target: nothing else is ever replaced. */
static int is_store(const char *target)
{
	struct stat st;
	char *data;
	int found;

	if (asprintf(&data, "%s/" SX_DATA_NAME, target) < 0)
		return 0;
	found = !lstat(data, &st);
	free(data);
	return found;
}

/* Whether a file of a store's directory is the store's, or a name that every directory has. */
static int is_own(const char *name)
{
	for (size_t i = 0; i < N_FILES; i++)
		if (!strcmp(name, file_names[i]))
			return 1;
	for (size_t i = 0; i < N_OTHERS; i++)
		if (!strcmp(name, other_names[i]))
			return 1;
	return !strcmp(name, ".") || !strcmp(name, "..");
}

int sx_dir_check_own(const char *path, simidx_error *err)
{
	const struct dirent *entry;
	DIR *dir = is_store(path) ? opendir(path) : NULL;
	int rc = SIMIDX_OK;

	while (dir && !rc && (entry = readdir(dir)) != NULL)
		/* A directory is none of the store's files, whatever its name. */
		if (!is_own(entry->d_name) ||
		    (entry->d_type == DT_DIR && entry->d_name[0] != '.'))
			rc = sx_fail(err, SIMIDX_E_EXISTS,
				     "%s has other files, such as %s: move them away first", path,
				     entry->d_name);
	if (dir)
		closedir(dir);
	return rc;
}

static void unlink_files(int dir_fd)
{
	for (size_t i = 0; i < N_FILES; i++)
		unlinkat(dir_fd, file_names[i], 0);
	for (size_t i = 0; i < N_OTHERS; i++)
		unlinkat(dir_fd, other_names[i], 0);
}

/* ------------------------------------------------------------------------------------------
 * Private directories
 */

/*
 * The lock of the directory in which private ones are made: held while one is made and locked,
 * and while abandoned ones are removed. Returns a descriptor, or -1 if it cannot be had; then we
 * do without.
 */
static int lock_parent(const char *parent, int tries)
{
	int fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct timespec pause = { .tv_nsec = 1000000 };

	while (fd >= 0) {
		if (!flock(fd, LOCK_EX | LOCK_NB))
			return fd;
		if ((errno != EWOULDBLOCK && errno != EINTR) || --tries <= 0)
			break;
		nanosleep(&pause, NULL);
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

/*
 * Whether a directory that was opened by a name still has it: a builder may have put it in its
 * place.
 */
static int has_name(int parent_fd, const char *name, int dir_fd)
{
	struct stat opened, there;

	return !fstat(dir_fd, &opened) && !fstatat(parent_fd, name, &there, AT_SYMLINK_NOFOLLOW) &&
	       is_same_file(&opened, &there);
}

/*
 * Remove a private directory if its builder is dead: one that lives holds the write lock of its
 * directory until that is in its place. One that lives and has written into its lock file that it
 * works for `target_name`, which may be NULL, has claimed that: returns whether, and which process
 * it is.
 */
static int remove_if_abandoned(int parent_fd, const char *name, int parent_is_locked,
			       const char *target_name, char *claimer)
{
	int dir_fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	int lock_fd, is_abandoned, is_claimed = 0;
	char claim[MAX_NAME + 1];
	struct stat st;

	if (dir_fd < 0)
		return 0;
	lock_fd = openat(dir_fd, SX_WRITE_NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (lock_fd >= 0)
		is_abandoned = !flock(lock_fd, LOCK_EX | LOCK_NB);
	else
		is_abandoned = errno == ENOENT &&
			       (parent_is_locked || (!fstat(dir_fd, &st) &&
						     st.st_mtime + UNLOCKED_SECONDS < time(NULL)));
	if (is_abandoned && has_name(parent_fd, name, dir_fd)) {
		unlink_files(dir_fd);
		unlinkat(parent_fd, name, AT_REMOVEDIR);
	} else if (!is_abandoned && lock_fd >= 0 && target_name) {
		ssize_t n = pread(lock_fd, claim, sizeof(claim), 0);

		is_claimed = n > 0 && (size_t)n == strlen(target_name) &&
			     !memcmp(claim, target_name, (size_t)n);
		if (is_claimed && !fstat(lock_fd, &st))
			sx_write_lock_holder(&st, claimer);
	}
	if (lock_fd >= 0)
		close(lock_fd);
	close(dir_fd);
	return is_claimed;
}

/*
 * Remove what builders that were killed left in a directory. One of them may be an index that
 * has been exchanged for another: first see to it that the exchange is on the disk. Returns
 * whether a builder that lives has claimed `target_name`, as remove_if_abandoned().
 */
static int remove_leftovers(const char *parent, int parent_is_locked, const char *target_name,
			    char *claimer)
{
	const struct dirent *entry;
	DIR *dir = opendir(parent);
	int claimed = 0, synced = 0;

	while (dir && (entry = readdir(dir)) != NULL) {
		if (strlen(entry->d_name) != PRIVATE_LENGTH ||
		    strncmp(entry->d_name, PRIVATE_PREFIX, sizeof(PRIVATE_PREFIX) - 1))
			continue;
		if (!synced && fsync(dirfd(dir)))
			break;
		synced = 1;
		claimed |= remove_if_abandoned(dirfd(dir), entry->d_name, parent_is_locked,
					       target_name, claimer);
	}
	if (dir)
		closedir(dir);
	return claimed;
}

void sx_dir_clean(const sx_store *store)
{
	char *dir = strdup(atomic_load(&store->place)->data), *target, *parent;
	char claimer[SX_HOLDER_SIZE];
	int parent_fd;

	if (!dir)
		return;
	*strrchr(dir, '/') = '\0';
	if (!resolve(dir, &target, &parent, NULL)) {
		/* The holder of the parent's lock cleans up, too: there is nothing to wait for. */
		parent_fd = lock_parent(parent, 1);
		remove_leftovers(parent, parent_fd >= 0, NULL, claimer);
		sx_dir_unlock(parent_fd);
		free(target);
		free(parent);
	}
	free(dir);
}

void sx_dir_unlock(int fd)
{
	if (fd >= 0)
		sx_write_lock_close(fd);
}

/* Make and lock the write lock's file of a new directory; it says what is claimed, if anything. */
static int lock_private(const char *private_dir, const char *claim, int *fd, simidx_error *err)
{
	size_t n = claim ? strlen(claim) : 0;
	int dir_fd = open(private_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	int rc = SIMIDX_OK;

	/* It gets its name when it is locked, or others could take it for an abandoned one. */
	*fd = dir_fd < 0 ? -1
			 : openat(dir_fd, NEW_LOCK_NAME,
				  O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
				  SX_STORE_DEFAULT_MODE);
	if (*fd < 0 || flock(*fd, LOCK_EX | LOCK_NB) ||
	    (n && write(*fd, claim, n) != (ssize_t)n) ||
	    renameat(dir_fd, NEW_LOCK_NAME, dir_fd, SX_WRITE_NAME)) {
		rc = sx_fail_errno(err, errno, "%s: the lock file " SX_WRITE_NAME, private_dir);
		sx_dir_unlock(*fd);
		*fd = -1;
	}
	if (dir_fd >= 0)
		close(dir_fd);
	return rc;
}

static int make_private(const char *parent, const char *path, const char *claim, char **out,
			int *lock_fd, simidx_error *err)
{
	char *made;
	int rc;

	if (asprintf(&made, "%s/" PRIVATE_PREFIX "XXXXXX", parent) < 0)
		return sx_fail_nomem(err);
	if (!mkdtemp(made)) {
		rc = sx_fail_errno(err, errno, "cannot make %s in the directory %s", path,
				   parent);
	} else {
		rc = lock_private(made, claim, lock_fd, err);
		if (rc)
			sx_dir_remove(made);
	}
	if (rc)
		free(made);
	else
		*out = made;
	return rc;
}

static const char *last_name(const char *target)
{
	const char *slash = strrchr(target, '/');

	return slash ? slash + 1 : target;
}

static int prepare(const char *path, int is_claim, char **out, int *lock_fd, simidx_error *err)
{
	const char *claim = NULL;
	char *target, *parent;
	char claimer[SX_HOLDER_SIZE] = "";
	int parent_fd, rc;

	*out = NULL;
	*lock_fd = -1;
	rc = resolve(path, &target, &parent, err);
	if (rc)
		return rc;
	/* Not only when it is renamed in the end. */
	if (strlen(last_name(target)) > MAX_NAME) {
		rc = sx_fail_errno(err, ENAMETOOLONG, "%s", path);
		free(target);
		free(parent);
		return rc;
	}
	if (is_claim)
		claim = last_name(target);
	parent_fd = lock_parent(parent, PARENT_TRIES);
	if (remove_leftovers(parent, parent_fd >= 0, claim, claimer))
		rc = sx_fail(err, SIMIDX_E_BUSY, "%s is being built by another process%s", path,
			     claimer);
	else
		rc = make_private(parent, path, claim, out, lock_fd, err);
	sx_dir_unlock(parent_fd);
	free(target);
	free(parent);
	return rc;
}

int sx_dir_prepare(const char *path, char **out, int *lock_fd, simidx_error *err)
{
	return prepare(path, 0, out, lock_fd, err);
}

int sx_dir_claim(const char *path, char **out, int *lock_fd, simidx_error *err)
{
	return prepare(path, 1, out, lock_fd, err);
}

int sx_dir_is_free(const char *path)
{
	const struct dirent *entry;
	struct stat st;
	DIR *dir;
	int is_free = 1;

	if (lstat(path, &st))
		return 1; /* what is wrong with it is told when it is used */
	dir = opendir(path);
	while (dir && is_free && (entry = readdir(dir)) != NULL)
		is_free = !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..");
	if (!dir)
		return 0;
	closedir(dir);
	return is_free;
}

/* ------------------------------------------------------------------------------------------
 * Publishing
 */

/* Give the files and the directory their mode, and what is in data.mdb to the disk. */
static int finish_files(const char *dir, int dir_fd, mode_t mode, simidx_error *err)
{
	mode_t with_search = mode | (mode & 0444) >> 2;
	int fd, rc = SIMIDX_OK;

	for (size_t i = 0; i < N_FILES; i++)
		if (fchmodat(dir_fd, file_names[i], mode, 0) && errno != ENOENT)
			return sx_fail_errno(err, errno, "%s/%s", dir, file_names[i]);
	/*
	 * The lock files are not synced: what is in them means nothing after a power cut, and
	 * closing a descriptor of lock.mdb would drop LMDB's locks.
	 */
	fd = openat(dir_fd, SX_DATA_NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 || fsync(fd))
		rc = sx_env_write_fail(fd, errno, dir, err);
	if (fd >= 0)
		close(fd);
	if (!rc && (fchmod(dir_fd, with_search) || fsync(dir_fd)))
		rc = sx_fail_errno(err, errno, "%s", dir);
	return rc;
}

/* The new files belong to whom the old ones belonged, as far as we may. */
static void keep_owner(int dir_fd, const char *target)
{
	struct stat st;

	if (stat(target, &st))
		return;
	for (size_t i = 0; i <= N_FILES; i++) {
		const char *name = i < N_FILES ? file_names[i] : ".";

		if (fchownat(dir_fd, name, st.st_uid, st.st_gid, 0) &&
		    fchownat(dir_fd, name, (uid_t)-1, st.st_gid, 0))
			return;
	}
}

/* Without an exchange, an empty directory is replaced and nothing else. */
static int move_in(const char *private_dir, const char *target, int exchanges,
		   simidx_error *err)
{
	int e;

	if (!renameat2(AT_FDCWD, private_dir, AT_FDCWD, target, exchanges ? RENAME_EXCHANGE : 0))
		return SIMIDX_OK;
	e = errno;
	if (exchanges && (e == EINVAL || e == ENOSYS))
		return sx_fail(err, SIMIDX_E_UNSUPPORTED,
			       "the file system of %s cannot exchange two directories",
			       target);
	if (!exchanges && (e == EEXIST || e == ENOTEMPTY || e == ENOTDIR))
		return sx_fail(err, SIMIDX_E_EXISTS, "%s exists", target);
	return sx_fail_errno(err, e, exchanges ? "cannot replace %s" : "cannot rename to %s",
			     target);
}

/* The store is in its place: have the disk know. */
static int sync_exchange(int parent_fd, const char *path, const char *parent, simidx_error *err)
{
	int e;

	if (!fsync(parent_fd))
		return SIMIDX_OK;
	e = errno;
	sx_fail_errno(err, e,
		      "%s is in its place, but whether it stays there after a power cut is not "
		      "known: cannot sync %s",
		      path, parent);
	if (err)
		err->code = SIMIDX_E_UNKNOWN;
	return SIMIDX_E_UNKNOWN;
}

static int publish_at(const char *private_dir, const char *target, mode_t mode, int exchanges,
		      simidx_error *err)
{
	int fd, rc;

	fd = open(private_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return sx_fail_errno(err, errno, "%s", private_dir);
	if (exchanges)
		keep_owner(fd, target);
	rc = finish_files(private_dir, fd, mode, err);
	close(fd);
	if (rc)
		return rc;
	/* An open in another thread looks at the path twice and must find the same there. */
	sx_store_registry_lock();
	rc = move_in(private_dir, target, exchanges, err);
	sx_store_registry_unlock();
	return rc;
}

int sx_dir_publish(const char *private_dir, const char *path, unsigned mode, int replace,
		   simidx_error *err)
{
	char *target, *parent;
	int exchanges, parent_fd, rc;

	rc = resolve(path, &target, &parent, err);
	if (rc)
		return rc;
	exchanges = replace && is_store(target);
	/* Opened before the exchange, so that after it only the sync can fail. */
	parent_fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (parent_fd < 0)
		rc = sx_fail_errno(err, errno, "%s", parent);
	else
		rc = publish_at(private_dir, target, mode ? (mode_t)mode : SX_STORE_DEFAULT_MODE,
				exchanges, err);
	if (!rc)
		rc = sync_exchange(parent_fd, path, parent, err);
	/* What was there stands at the private path now, and only once that is on the disk. */
	if (!rc && exchanges)
		sx_dir_remove(private_dir);
	if (parent_fd >= 0)
		close(parent_fd);
	free(target);
	free(parent);
	return rc;
}

void sx_dir_remove(const char *private_dir)
{
	int fd;

	if (!private_dir)
		return;
	fd = open(private_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return;
	unlink_files(fd);
	close(fd);
	rmdir(private_dir);
}
