/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Rows that were decided, on standard output in the order of the input, and safe there before the
 * commit that remembers them. So are lines about them in another file.
 */

#ifndef TL_EMIT_H
#define TL_EMIT_H

#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

/**
 * Begin. Where a stream goes to the end of a file that can be read, half a line there is ended, so
 * that nothing is glued to it.
 *
 * @param end          how a line ends: '\n', or 0 for names that end with a NUL byte
 * @param killed_from  from this byte on the file has what a run has written that was killed: half
 *                     a line that begins there is removed, as its row was not committed and comes
 *                     again; -1 = nothing is removed
 */
void tl_emit_begin(FILE *out, char end, off_t killed_from);

/** Write the path of a whole file, with escapes and in a line; or as it is, ended by a NUL byte. */
void tl_emit_path(FILE *out, const char *path, int nul_ends);

/** Write a row as it came: its line; of a whole file (kept_size = 0) the path. */
void tl_emit_input(const char *path, const char *kept, size_t kept_size);

/**
 * Hand over what was written to a stream, and sync it if that is a regular file.
 *
 * @param what  its name for messages
 * @return 0, or TL_TROUBLE with a message
 */
int tl_emit_flush(FILE *out, const char *what);

#endif /* TL_EMIT_H */
