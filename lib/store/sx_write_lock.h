/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The write lock: a lock on a file of our own, and a turn among the threads of this process. It
 * is taken before LMDB's mutex, because that one waits forever, belongs to one thread, and
 * vanishes when the directory is exchanged.
 */

#ifndef SX_WRITE_LOCK_H
#define SX_WRITE_LOCK_H

#include <pthread.h>

typedef struct sx_write_lock {
	pthread_mutex_t mutex;
	pthread_cond_t released;
	int is_taken; /* by a thread of this process; guarded by the mutex */
	int fd;       /* of the lock file while it is locked, else -1 */
} sx_write_lock;

/** 0 or an errno. */
int sx_write_lock_init(sx_write_lock *lock);

void sx_write_lock_destroy(sx_write_lock *lock);

/**
 * Open the lock file at `path`, or make it for those who may write the data file: with its mode,
 * and with its owner and group as far as that is permitted. Returns a descriptor, or -1 and errno.
 */
int sx_write_lock_open(const char *path, int data_fd);

/**
 * Take the turn of this process and lock the file.
 *
 * @param wait_ms  milliseconds to wait at most; 0 = do not wait, -1 = forever
 * @return 0; EWOULDBLOCK when the time is over; the errno of opening or locking the file
 */
int sx_write_lock_take(sx_write_lock *lock, const char *path, int data_fd, int wait_ms);

/** Hold the lock by a descriptor that is locked already. */
void sx_write_lock_adopt(sx_write_lock *lock, int fd);

/** Release what was taken or adopted. */
void sx_write_lock_release(sx_write_lock *lock);

/** Unlock a lock file and close it. */
void sx_write_lock_close(int fd);

#endif /* SX_WRITE_LOCK_H */
