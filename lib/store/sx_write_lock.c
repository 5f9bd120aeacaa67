/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "store/sx_write_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MIN_SLEEP_MS 1
#define MAX_SLEEP_MS 50

int sx_write_lock_init(sx_write_lock *lock)
{
	pthread_condattr_t attr;
	int e = pthread_condattr_init(&attr);

	lock->is_taken = 0;
	lock->fd = -1;
	if (e)
		return e;
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	e = pthread_cond_init(&lock->released, &attr);
	pthread_condattr_destroy(&attr);
	return e ? e : pthread_mutex_init(&lock->mutex, NULL);
}

void sx_write_lock_destroy(sx_write_lock *lock)
{
	if (lock->fd >= 0)
		close(lock->fd);
	pthread_cond_destroy(&lock->released);
	pthread_mutex_destroy(&lock->mutex);
}

int sx_write_lock_open(const char *path, int data_fd)
{
	int fd, tries = 0;
	struct stat st;

	do {
		fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
		if (fd >= 0 || errno != ENOENT)
			return fd;
		fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	} while (fd < 0 && errno == EEXIST && ++tries < 3);
	if (fd < 0 || fstat(data_fd, &st))
		return fd;
	if ((fchown(fd, st.st_uid, st.st_gid) && fchown(fd, (uid_t)-1, st.st_gid)) ||
	    fchmod(fd, st.st_mode & 0777)) {
		/* Then it is ours alone, which is enough for us. */
	}
	return fd;
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static struct timespec to_timespec(int64_t ms)
{
	return (struct timespec){ .tv_sec = (time_t)(ms / 1000), .tv_nsec = ms % 1000 * 1000000 };
}

/* Take the turn of this process. `deadline` < 0 = none. 0 or an errno. */
static int take_turn(sx_write_lock *lock, int64_t deadline)
{
	struct timespec until = to_timespec(deadline < 0 ? 0 : deadline);
	int e = 0;

	pthread_mutex_lock(&lock->mutex);
	while (lock->is_taken && !e)
		e = deadline < 0 ? pthread_cond_wait(&lock->released, &lock->mutex)
				 : pthread_cond_timedwait(&lock->released, &lock->mutex, &until);
	if (!lock->is_taken) {
		lock->is_taken = 1;
		e = 0;
	}
	pthread_mutex_unlock(&lock->mutex);
	return e == ETIMEDOUT ? EWOULDBLOCK : e;
}

static void end_turn(sx_write_lock *lock)
{
	pthread_mutex_lock(&lock->mutex);
	lock->is_taken = 0;
	pthread_cond_broadcast(&lock->released);
	pthread_mutex_unlock(&lock->mutex);
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
		sleep_ms = sleep_ms * 2 < MAX_SLEEP_MS ? sleep_ms * 2 : MAX_SLEEP_MS;
	}
	return 0;
}

int sx_write_lock_take(sx_write_lock *lock, const char *path, int data_fd, int wait_ms)
{
	int64_t deadline = wait_ms < 0 ? -1 : now_ms() + wait_ms;
	int e = take_turn(lock, deadline), fd;

	if (e)
		return e;
	fd = sx_write_lock_open(path, data_fd);
	e = fd < 0 ? errno : lock_file(fd, deadline);
	if (!e) {
		lock->fd = fd;
		return 0;
	}
	if (fd >= 0)
		close(fd);
	end_turn(lock);
	return e;
}

void sx_write_lock_adopt(sx_write_lock *lock, int fd)
{
	pthread_mutex_lock(&lock->mutex);
	lock->is_taken = 1;
	pthread_mutex_unlock(&lock->mutex);
	lock->fd = fd;
}

void sx_write_lock_release(sx_write_lock *lock)
{
	sx_write_lock_close(lock->fd);
	lock->fd = -1;
	end_turn(lock);
}

void sx_write_lock_close(int fd)
{
	/* Unlock first: a child may have a copy of the descriptor until it calls exec(). */
	flock(fd, LOCK_UN);
	close(fd);
}
