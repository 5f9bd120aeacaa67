/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Temporary files for what does not fit in memory. They have no name from the moment they are
 * made, so a process that is killed leaves nothing.
 */

#ifndef SX_SPILL_H
#define SX_SPILL_H

#include <stddef.h>
#include <stdint.h>

#include <simidx.h>

/** A file without a name in directory `dir`: its descriptor, or -1 with errno. */
int sx_spill_file(const char *dir);

/** Such a file that grows at its end, for one thread at a time. */
typedef struct sx_spill sx_spill;

/** Make an empty file in directory `dir`, with a write buffer of `buffer` bytes. */
int sx_spill_new(const char *dir, size_t buffer, sx_spill **out, simidx_error *err);

/** NULL is allowed. */
void sx_spill_free(sx_spill *spill);

/**
 * Forget what was written. The file keeps its space, which makes it quicker to write again than
 * a new one.
 */
void sx_spill_clear(sx_spill *spill);

/** Append bytes. */
int sx_spill_write(sx_spill *spill, const void *data, size_t size, simidx_error *err);

/** Bytes appended so far: where the next ones will be. */
uint64_t sx_spill_size(const sx_spill *spill);

/** Read exactly `size` bytes at `at`; what is still in the write buffer is written first. */
int sx_spill_read(sx_spill *spill, uint64_t at, void *data, size_t size, simidx_error *err);

#endif /* SX_SPILL_H */
