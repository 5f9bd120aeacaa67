/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * New, empty indexes.
 */

#ifndef SX_CREATE_H
#define SX_CREATE_H

#include "index/sx_index.h"

/**
 * SIMIDX_E_ARG if the options or the path are not what simidx_create() takes. Options are of our
 * size, or NULL if that of the caller's was bad.
 */
int sx_create_check(const char *path, const simidx_create_options *options, simidx_error *err);

/**
 * An empty index in a private directory, open, its write lock held: that is `lock_fd`, which is
 * taken over also on failure. Then *out is NULL.
 */
int sx_create_build(const char *dir, int lock_fd, const simidx_create_options *options,
		    sx_store **out, simidx_error *err);

/**
 * Options of a new index that is like an old one, its permissions included. What they point to is
 * the old one's.
 *
 * @param flags  of opening the old one: SIMIDX_OPEN_FORCE counts for the new one, too
 */
int sx_create_like(const simidx *old, unsigned flags, simidx_create_options *out,
		   simidx_error *err);

#endif /* SX_CREATE_H */
