/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Old documents of a directory: first those of the fresh rows, then those of postings, which has
 * the times.
 */

#ifndef SX_LOCAL_OLDER_H
#define SX_LOCAL_OLDER_H

#include "write/sx_writer.h"

/** sx_backend_writer.older(). */
int sx_local_older(simidx_writer *writer, sx_older *older, simidx_error *err);

#endif /* SX_LOCAL_OLDER_H */
