/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * LMDB's lock file, which it maps and writes to: made so that this never needs space on the disk.
 * On a full disk the process would be killed at the first write to a page that has no place yet.
 *
 * A file system that copies on write (btrfs) gives a page a new place at each write, also where all
 * of the file was allocated before. There the file is marked to be written in place, which can be
 * done only as long as it is empty.
 *
 * And a lock in it is ours: whoever opens LMDB, or closes it, has it meanwhile. LMDB 0.9.27 to
 * 0.9.31 needs that (ITS#10095): the last process that closes destroys the mutexes in this file,
 * while one that opens waits for it, and then takes them for good. The lock is on a byte behind the
 * file, which LMDB does not lock, and belongs to the open file: it ends with the process.
 */

#ifndef SX_LOCK_FILE_H
#define SX_LOCK_FILE_H

#include <sys/stat.h>

#include <simidx.h>

/** Readers that it has room for. */
#define SX_LOCK_FILE_READERS 1024

/** The name of one that is being made, after that of the file. */
#define SX_LOCK_FILE_NEW ".new"

/**
 * Before LMDB opens a store: make the file, or check the old one, and lock it as
 * sx_lock_file_lock() does. The old one is never written to; if it may not stay as it is,
 * another one takes its place, but only when no process has the store open. This one must not have
 * it open either: closing the file drops its locks.
 *
 * @param mode  of a new file
 * @param fd    set to a descriptor of the file that LMDB is going to open. It stays open until LMDB
 *              has closed: closing it would drop LMDB's locks
 * @return SIMIDX_OK; SIMIDX_E_NO_SPACE, also when less than 4 MiB is free and writing to the file
 *         may need space; another code of a failed system call
 */
int sx_lock_file_open(const char *dir, mode_t mode, int *fd, simidx_error *err);

/**
 * Wait until no other process opens or closes LMDB, and keep them from it until
 * sx_lock_file_unlock(). 0 or an errno.
 */
int sx_lock_file_lock(int fd);

void sx_lock_file_unlock(int fd);

/**
 * After LMDB has opened: whether the lock file of the directory is still this one. If another
 * process has put another one there, LMDB may have that one: then `fd` becomes a descriptor of it,
 * not locked, or -1 where there is none any more, and LMDB is to be closed again.
 *
 * @return SIMIDX_OK; SIMIDX_E_MOVED, which the caller tells; SIMIDX_E_NOMEM
 */
int sx_lock_file_is_there(const char *dir, int *fd, simidx_error *err);

#endif /* SX_LOCK_FILE_H */
