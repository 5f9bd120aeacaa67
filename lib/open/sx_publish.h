/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Putting an index that was built in a private directory in its place, which may be that of
 * another index.
 */

#ifndef SX_PUBLISH_H
#define SX_PUBLISH_H

#include "index/sx_index.h"

/** Mode of the files of a new index where the caller chooses none. */
#define SX_PUBLISH_MODE 0600

/**
 * Put a private directory at the path, as simidx_create() does with these options.
 *
 * @param wait_ms  as for sx_publish_lock_old()
 * @return SIMIDX_OK; SIMIDX_E_EXISTS; with SIMIDX_CREATE_TRUNCATE what opening and locking the old
 *         index returns; or an error of the system
 */
int sx_publish(const char *dir, const char *path, const simidx_create_options *options,
	       int wait_ms, simidx_error *err);

/**
 * Open the index at the path, with flags of simidx_open(), and take its write lock; again while
 * other processes put another one there. SIMIDX_E_BUSY if another process has the lock for longer
 * than `wait_ms`, which is as for sx_store_lock().
 */
int sx_publish_lock_old(const char *path, unsigned flags, int wait_ms, simidx **out,
			simidx_error *err);

/**
 * Exchange a private directory for an index; the caller holds that one's write lock.
 * SIMIDX_E_EXISTS if there are files in its directory that are not an index's.
 */
int sx_publish_exchange(const simidx *old, const char *dir, const char *path, unsigned mode,
			simidx_error *err);

#endif /* SX_PUBLISH_H */
