/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Who holds the write lock of an index that a load waits for.
 */

#ifndef LD_HOLDER_H
#define LD_HOLDER_H

#include <stddef.h>

/**
 * Write who writes the index at `path`, or builds one for it: "simidx-load (process 123)", or
 * "another process" where /proc does not say. Returns whether it says.
 *
 * Cost: reads /proc/locks, and the directory that the path is in.
 */
int ld_holder_name(const char *path, char *out, size_t size);

#endif /* LD_HOLDER_H */
