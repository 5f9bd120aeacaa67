/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The write lock: a lock on a file of our own. It is taken before LMDB's mutex, because that one
 * waits forever, belongs to one thread, and vanishes when the directory is exchanged.
 *
 * It is fair. The threads of a process queue, and the first of them goes for the file: it takes a
 * second lock there, the place of the next writer, then the lock itself, and then gives the
 * place up. So a writer that has released the lock and wants it again finds the place taken by the
 * one that has waited, and gets behind it. Both locks end with the process that has them.
 *
 * A third lock there is the merger's: a merge gives the write lock up between its transactions, and
 * this one says that a writer is still at work.
 */

#ifndef SX_WRITE_LOCK_H
#define SX_WRITE_LOCK_H

#include <pthread.h>
#include <sys/stat.h>

struct sx_waiter;

typedef struct sx_write_lock {
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	struct sx_waiter *first, *last; /* threads that want the lock; guarded by the mutex */
	int is_taken; /* by a thread of this process, or it waits for the file; guarded, too */
	int fd;       /* of the lock file while it is locked or waited for, else -1 */
	/* of the lock file while a thread of this process merges, else -1; guarded, too */
	int merge_fd;
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
 * Take the lock.
 *
 * @param wait_ms  milliseconds to wait at most; 0 = do not wait, -1 = forever
 * @return 0; EWOULDBLOCK when the time is over; ECANCELED by sx_stop_asked(); the errno of opening
 *         or locking the file
 */
int sx_write_lock_take(sx_write_lock *lock, const char *path, int data_fd, int wait_ms);

/** Hold the lock by a descriptor that is locked already. */
void sx_write_lock_adopt(sx_write_lock *lock, int fd);

/** Release what was taken or adopted. */
void sx_write_lock_release(sx_write_lock *lock);

/** Take the merger's lock, as sx_write_lock_take(); with or without the write lock. */
int sx_merge_lock_take(sx_write_lock *lock, const char *path, int data_fd, int wait_ms);

void sx_merge_lock_release(sx_write_lock *lock);

/** Unlock a lock file and close it. */
void sx_write_lock_close(int fd);

/** Room for what sx_write_lock_holder() writes. */
#define SX_HOLDER_SIZE 64

/**
 * Write which process has locked a lock file, for the end of a message: ": simidx-load (process
 * 123)", or nothing where that is not known. Returns `out`.
 */
const char *sx_write_lock_holder(const struct stat *file, char out[SX_HOLDER_SIZE]);

#endif /* SX_WRITE_LOCK_H */
