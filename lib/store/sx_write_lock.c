/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "store/sx_write_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "util/sx_stop.h"

#define MIN_SLEEP_MS 1
#define MAX_SLEEP_MS 20
#define ASK_MS 50 /* how often a thread that waits for another one asks whether to stop */

/* A thread that wants the lock. */
struct sx_waiter {
	struct sx_waiter *next;
};

int sx_write_lock_init(sx_write_lock *lock)
{
	pthread_condattr_t attr;
	int e = pthread_condattr_init(&attr);

	lock->first = lock->last = NULL;
	lock->is_taken = 0;
	lock->fd = lock->merge_fd = -1;
	if (e)
		return e;
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	e = pthread_cond_init(&lock->changed, &attr);
	pthread_condattr_destroy(&attr);
	return e ? e : pthread_mutex_init(&lock->mutex, NULL);
}

void sx_write_lock_destroy(sx_write_lock *lock)
{
	if (lock->fd >= 0)
		close(lock->fd);
	if (lock->merge_fd >= 0)
		close(lock->merge_fd);
	pthread_cond_destroy(&lock->changed);
	pthread_mutex_destroy(&lock->mutex);
}

int sx_write_lock_open(const char *path, int data_fd)
{
	int fd, tries = 0;
	struct stat st;

	do {
		fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
		if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode))) {
			close(fd); /* a device, or a pipe */
			errno = EINVAL;
			return -1;
		}
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

static void leave_queue(sx_write_lock *lock, struct sx_waiter *waiter)
{
	struct sx_waiter *before = NULL, **link = &lock->first;

	for (; *link != waiter; link = &before->next)
		before = *link;
	*link = waiter->next;
	if (lock->last == waiter)
		lock->last = before;
}

/* Wait for a change until some time; < 0 = none. 0 or an errno, ETIMEDOUT when it has come. */
static int wait_until(sx_write_lock *lock, int64_t until)
{
	struct timespec at = to_timespec(until < 0 ? 0 : until);

	return until < 0 ? pthread_cond_wait(&lock->changed, &lock->mutex)
			 : pthread_cond_timedwait(&lock->changed, &lock->mutex, &at);
}

/* Ask whether to stop, without the mutex: who answers may wait for a thread that wants it. */
static int ask(sx_write_lock *lock)
{
	int is_stopped;

	pthread_mutex_unlock(&lock->mutex);
	is_stopped = sx_stop_asked();
	pthread_mutex_lock(&lock->mutex);
	return is_stopped ? ECANCELED : 0;
}

/* Wait for a change until the deadline. *next_ask < 0: nobody is asked, else when that is due. */
static int wait_for_change(sx_write_lock *lock, int64_t deadline, int64_t *next_ask)
{
	int is_sooner = *next_ask >= 0 && (deadline < 0 || *next_ask < deadline);
	int e = wait_until(lock, is_sooner ? *next_ask : deadline);

	if (is_sooner && e == ETIMEDOUT)
		e = 0;
	if (e || *next_ask < 0 || now_ms() < *next_ask)
		return e;
	*next_ask = now_ms() + ASK_MS;
	return ask(lock);
}

/* Take the turn of this process, in the order of coming. `deadline` < 0 = none. 0 or an errno. */
static int take_turn(sx_write_lock *lock, int64_t deadline)
{
	int64_t next_ask = sx_stop_is_set() ? now_ms() + ASK_MS : -1;
	struct sx_waiter waiter = { NULL };
	int e = 0, has_turn;

	pthread_mutex_lock(&lock->mutex);
	if (lock->last)
		lock->last->next = &waiter;
	else
		lock->first = &waiter;
	lock->last = &waiter;
	while ((lock->first != &waiter || lock->is_taken) && !e)
		e = wait_for_change(lock, deadline, &next_ask);
	has_turn = lock->first == &waiter && !lock->is_taken;
	leave_queue(lock, &waiter);
	if (has_turn)
		lock->is_taken = 1;
	else
		pthread_cond_broadcast(&lock->changed); /* another one may be the first now */
	pthread_mutex_unlock(&lock->mutex);
	return has_turn ? 0 : e == ETIMEDOUT ? EWOULDBLOCK : e;
}

static void end_turn(sx_write_lock *lock)
{
	pthread_mutex_lock(&lock->mutex);
	lock->is_taken = 0;
	pthread_cond_broadcast(&lock->changed);
	pthread_mutex_unlock(&lock->mutex);
}

/*
 * The place of the next writer is the first byte of the lock file, under a lock that belongs
 * to the open file, as that of flock() does; the two kinds do not see each other.
 */
static int lock_place(int fd, int blocks)
{
	struct flock place = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };

	return fcntl(fd, blocks ? F_OFD_SETLKW : F_OFD_SETLK, &place);
}

static void unlock_place(int fd)
{
	struct flock place = { .l_type = F_UNLCK, .l_whence = SEEK_SET, .l_len = 1 };

	fcntl(fd, F_OFD_SETLK, &place);
}

static int lock_file(int fd, int blocks)
{
	return flock(fd, blocks ? LOCK_EX : LOCK_EX | LOCK_NB);
}

/*
 * Take one of the two: 0 or an errno, EWOULDBLOCK when the time is over. A wait without an end is a
 * signal's to interrupt: it keeps its place among those that wait, which asking now and then would
 * give up.
 */
static int wait_for(int fd, int (*take)(int fd, int blocks), int64_t deadline)
{
	int64_t sleep_ms = MIN_SLEEP_MS, left;
	struct timespec pause;

	while (take(fd, deadline < 0)) {
		if (errno == EINTR && sx_stop_asked())
			return ECANCELED;
		if (errno == EINTR)
			continue;
		if (errno != EWOULDBLOCK && errno != EACCES)
			return errno;
		left = deadline - now_ms();
		if (left <= 0)
			return EWOULDBLOCK;
		if (sx_stop_asked())
			return ECANCELED;
		/* There is no wait with a time limit that does without signals. */
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
	e = fd < 0 ? errno : 0;
	lock->fd = fd; /* a child of this process closes it */
	if (!e)
		e = wait_for(fd, lock_place, deadline);
	if (!e) {
		e = wait_for(fd, lock_file, deadline);
		unlock_place(fd);
	}
	if (!e)
		return 0;
	lock->fd = -1;
	if (fd >= 0)
		close(fd);
	end_turn(lock);
	return e;
}

/* The merger's lock is on the second byte. It is released when the file is closed. */
static int lock_merge(int fd, int blocks)
{
	struct flock place = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 1, .l_len = 1 };

	return fcntl(fd, blocks ? F_OFD_SETLKW : F_OFD_SETLK, &place);
}

int sx_merge_lock_take(sx_write_lock *lock, const char *path, int data_fd, int wait_ms)
{
	int fd = sx_write_lock_open(path, data_fd), e;

	if (fd < 0)
		return errno;
	e = wait_for(fd, lock_merge, wait_ms < 0 ? -1 : now_ms() + wait_ms);
	if (e) {
		close(fd);
		return e;
	}
	pthread_mutex_lock(&lock->mutex);
	lock->merge_fd = fd; /* a child of this process closes it */
	pthread_mutex_unlock(&lock->mutex);
	return 0;
}

void sx_merge_lock_release(sx_write_lock *lock)
{
	struct flock place = { .l_type = F_UNLCK, .l_whence = SEEK_SET, .l_start = 1, .l_len = 1 };
	int fd;

	pthread_mutex_lock(&lock->mutex);
	fd = lock->merge_fd;
	lock->merge_fd = -1;
	pthread_mutex_unlock(&lock->mutex);
	fcntl(fd, F_OFD_SETLK, &place);
	close(fd);
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

/* The process that has locked a file; 0 = not known. */
static long process_of(const struct stat *file)
{
	FILE *locks = fopen("/proc/locks", "re");
	unsigned dev_major, dev_minor;
	unsigned long inode;
	long pid, found = 0;
	char line[256];

	if (!locks)
		return 0;
	/* Lines of processes that wait have an arrow after the number. */
	while (!found && fgets(line, sizeof(line), locks))
		if (sscanf(line, "%*d: FLOCK ADVISORY WRITE %ld %x:%x:%lu", &pid, &dev_major,
			   &dev_minor, &inode) == 4 &&
		    inode == file->st_ino && makedev(dev_major, dev_minor) == file->st_dev)
			found = pid;
	fclose(locks);
	return found > 0 ? found : 0;
}

const char *sx_write_lock_holder(const struct stat *file, char out[SX_HOLDER_SIZE])
{
	char path[64], name[17] = "a program"; /* the system cuts names at 15 bytes */
	long pid = process_of(file);
	FILE *comm;

	out[0] = '\0';
	if (!pid)
		return out;
	snprintf(path, sizeof(path), "/proc/%ld/comm", pid);
	comm = fopen(path, "re");
	if (comm && fgets(name, sizeof(name), comm))
		name[strcspn(name, "\n")] = '\0';
	if (comm)
		fclose(comm);
	snprintf(out, SX_HOLDER_SIZE, ": %s (process %ld)", name, pid);
	return out;
}
