/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Directories that appear and disappear whole.
 */

#ifndef SX_DIR_H
#define SX_DIR_H

#include "store/sx_store.h"

/**
 * Make a private directory (mode 0700) beside `path`, for building what will stand there, and
 * take its write lock, so that others see that a builder is at work. Those that were left by
 * builders that died are removed.
 *
 * @param out      its path, freed by the caller
 * @param lock_fd  the lock: for sx_store_adopt_lock(), or sx_dir_unlock() when it is published
 */
int sx_dir_prepare(const char *path, char **out, int *lock_fd, simidx_error *err);

/**
 * The same for work that takes long: SIMIDX_E_BUSY while another builder has claimed the path.
 * Only builders that claim, and can see each other's directories, know of each other.
 */
int sx_dir_claim(const char *path, char **out, int *lock_fd, simidx_error *err);

/**
 * Refuse (SIMIDX_E_ARG) a path below the directory `dir`, where something is to be made of what is
 * in `dir` and nothing of that is to change. What cannot be looked at is not refused.
 */
int sx_dir_check_outside(const char *path, const char *dir, simidx_error *err);

/**
 * Refuse (SIMIDX_E_EXISTS) to exchange the store at a path while its directory has files that are
 * not a store's, as sx_dir_publish() would take them out of their place. What is not a store, or
 * cannot be looked at, is not refused.
 */
int sx_dir_check_own(const char *path, simidx_error *err);

/** Whether nothing is at a path, or an empty directory: sx_dir_publish() may put a store there. */
int sx_dir_is_free(const char *path);

/** Remove what builders that died left beside a store. Costs a look into the directory it is in. */
void sx_dir_clean(const sx_store *store);

/** Release such a lock. -1 is allowed. */
void sx_dir_unlock(int fd);

/**
 * Put a finished private directory in the place of `path`, durably: the files and the directory
 * are synced, then it is renamed and the parent synced.
 *
 * @param mode     permissions of the files; the directory gets search permission with them
 * @param replace  0: `path` must not exist or be an empty directory (else SIMIDX_E_EXISTS);
 *                 1: a store that is there is exchanged for it and removed, all but files
 *                 that are not a store's; nothing else is replaced (SIMIDX_E_EXISTS). The
 *                 new files get the old owner and group as far as we may.
 *                 SIMIDX_E_UNSUPPORTED where the file system cannot exchange directories
 * @return SIMIDX_OK; SIMIDX_E_UNKNOWN when the store is in its place, but the parent could not be
 *         synced: then the private directory, with the old store, must stay, too; after any other
 *         error nothing is at the path that was not there before
 */
int sx_dir_publish(const char *private_dir, const char *path, unsigned mode, int replace,
		   simidx_error *err);

/** Remove a private directory and the store files in it. NULL is allowed. Errors are ignored. */
void sx_dir_remove(const char *private_dir);

#endif /* SX_DIR_H */
