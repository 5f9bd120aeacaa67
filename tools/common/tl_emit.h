/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Rows that were decided, on standard output in the order of the input, and safe there before the
 * commit that remembers them.
 */

#ifndef TL_EMIT_H
#define TL_EMIT_H

#include <stddef.h>
#include <stdio.h>

/**
 * Begin. Where standard output goes to the end of a file that can be read, half a line there is
 * ended, so that nothing is glued to it.
 *
 * @param removes_half  half a line is of a run that was killed: it is removed, as its row was not
 *                      committed and comes again
 */
void tl_emit_begin(int removes_half);

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
