/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The write lock: a lock on a file of our own before LMDB's mutex, because LMDB's waits for
 * ever, belongs to one thread, and vanishes when the directory is exchanged.
 */

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "store/sx_store_lmdb.h"
#include "util/sx_err.h"

#define MIN_SLEEP_MS 1
#define MAX_SLEEP_MS 50

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static struct timespec to_timespec(int64_t ms)
{
	struct timespec t = { .tv_sec = (time_t)(ms / 1000), .tv_nsec = ms % 1000 * 1000000 };

	return t;
}

/*
 * Make the lock file for those who may write the data file: same owner and group, as far as we
 * may, and same mode. Returns a descriptor or -1.
 */
static int make_lock_file(const char *path, int data_fd)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	struct stat st;

	if (fd < 0 || fstat(data_fd, &st))
		return fd;
	if ((fchown(fd, st.st_uid, st.st_gid) && fchown(fd, (uid_t)-1, st.st_gid)) ||
	    fchmod(fd, st.st_mode & 0777)) {
		/* Then it is ours alone, which is enough for us. */
	}
	return fd;
}

int sx_lock_file_open(const sx_store *store, int *fd, simidx_error *err)
{
	const sx_location *place = atomic_load(&store->place);
	int tries = 0;

	do {
		*fd = open(place->write, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
		if (*fd < 0 && errno == ENOENT)
			*fd = make_lock_file(place->write, store->data_fd);
	} while (*fd < 0 && errno == EEXIST && ++tries < 3);
	if (*fd >= 0)
		return SIMIDX_OK;
	if (errno == ENOENT && sx_store_check_path(store, err))
		return SIMIDX_E_MOVED;
	return sx_fail_errno(err, errno, "%s: the lock file " SX_WRITE_NAME, place->path);
}

static int fail_busy(const sx_store *store, simidx_error *err)
{
	return sx_fail(err, SIMIDX_E_BUSY, "%s is locked by another writer",
		       sx_store_path(store));
}

/* Take the turn of this process. `deadline` < 0 = none. */
static int lock_in_process(sx_store *store, int64_t deadline, simidx_error *err)
{
	struct timespec until = to_timespec(deadline < 0 ? 0 : deadline);
	int e = 0;

	pthread_mutex_lock(&store->mutex);
	while (store->write_locked && !e) {
		if (deadline < 0)
			e = pthread_cond_wait(&store->changed, &store->mutex);
		else
			e = pthread_cond_timedwait(&store->changed, &store->mutex, &until);
	}
	if (!store->write_locked) {
		store->write_locked = 1;
		e = 0;
	}
	pthread_mutex_unlock(&store->mutex);
	return e ? fail_busy(store, err) : SIMIDX_OK;
}

static void unlock_in_process(sx_store *store)
{
	pthread_mutex_lock(&store->mutex);
	store->write_locked = 0;
	pthread_cond_broadcast(&store->changed);
	pthread_mutex_unlock(&store->mutex);
}

/* Lock the file: 0 or an errno, EWOULDBLOCK when the time is over. */
static int lock_file(int fd, int64_t deadline)
{
	int64_t sleep_ms = MIN_SLEEP_MS, left;
	struct timespec pause;

	while (flock(fd, deadline < 0 ? LOCK_EX : LOCK_EX | LOCK_NB)) {
		if (errno == EINTR)
			continue;
		if (errno != EWOULDBLOCK)
			return errno;
		left = deadline - now_ms();
		if (left <= 0)
			return EWOULDBLOCK;
		/* There is no flock() with a time limit that does without signals. */
		pause = to_timespec(sleep_ms < left ? sleep_ms : left);
		nanosleep(&pause, NULL);
		if (sleep_ms < MAX_SLEEP_MS)
			sleep_ms = sleep_ms * 2 < MAX_SLEEP_MS ? sleep_ms * 2 : MAX_SLEEP_MS;
	}
	return 0;
}

/* Unlock first: a child may have a copy of the descriptor until it calls exec(). */
static void release_file(int fd)
{
	flock(fd, LOCK_UN);
	close(fd);
}

int sx_store_lock(sx_store *store, int wait_ms, simidx_error *err)
{
	int64_t deadline = wait_ms < 0 ? -1 : now_ms() + wait_ms;
	int e, fd = -1, rc;

	rc = sx_store_check_fork(store, err);
	if (rc)
		return rc;
	if (!store->is_writable)
		return sx_fail(err, SIMIDX_E_READ_ONLY,
			       "%s is open read-only, or its files cannot be written",
			       sx_store_path(store));
	rc = lock_in_process(store, deadline, err);
	if (rc)
		return rc;
	rc = sx_lock_file_open(store, &fd, err);
	if (rc)
		goto fail;
	e = lock_file(fd, deadline);
	if (e) {
		rc = e == EWOULDBLOCK ? fail_busy(store, err)
				      : sx_fail_errno(err, e, "%s: " SX_WRITE_NAME,
						      sx_store_path(store));
		goto fail;
	}
	/* While we waited, the holder may have put another index here. */
	rc = sx_store_check_path(store, err);
	if (rc)
		goto fail;
	/* A reader that was killed would keep all pages that are freed from now on. */
	mdb_reader_check(store->env, NULL);
	store->lock_fd = fd;
	return SIMIDX_OK;
fail:
	if (fd >= 0)
		release_file(fd);
	unlock_in_process(store);
	return rc;
}

void sx_dir_unlock(int fd)
{
	if (fd >= 0)
		release_file(fd);
}

void sx_store_adopt_lock(sx_store *store, int fd)
{
	pthread_mutex_lock(&store->mutex);
	store->write_locked = 1;
	pthread_mutex_unlock(&store->mutex);
	store->lock_fd = fd;
}

void sx_store_unlock(sx_store *store)
{
	/* In a child the descriptor was closed by the fork, and the lock is the parent's. */
	if (sx_store_check_fork(store, NULL))
		return;
	release_file(store->lock_fd);
	store->lock_fd = -1;
	unlock_in_process(store);
}
