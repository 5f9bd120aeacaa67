/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * LMDB's lock file, which it maps and writes to: made so that this never needs space on the disk.
 * On a full disk the process would be killed at the first write to a page that has no place yet.
 *
 * A file system that copies on write (btrfs) gives a page a new place at each write, also where all
 * of the file was allocated before. There the file is marked to be written in place, which can be
 * done only as long as it is empty.
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
 * Before LMDB opens a store: make the file, or see to the one that is there. That one is never
 * written to; if it may not stay as it is, another one takes its place, but only when no process has
 * the store open. This one must not have it open either: closing the file drops its locks.
 *
 * @param mode  of a new file
 * @param file  set to the file that LMDB is going to open: for sx_lock_file_is()
 * @return SIMIDX_OK; SIMIDX_E_NO_SPACE, also when less than 1 MiB is free and writing to the file may
 *         need space; another code of a failed system call
 */
int sx_lock_file_prepare(const char *dir, mode_t mode, struct stat *file, simidx_error *err);

/** Whether the lock file is still that one, and no other process has put another one there. */
int sx_lock_file_is(const char *dir, const struct stat *file);

#endif /* SX_LOCK_FILE_H */
