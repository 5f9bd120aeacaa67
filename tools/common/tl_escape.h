/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The C-style escapes of labels: \t \n \r \\ and \xHH for other control characters
 * and for bytes that are not valid UTF-8.
 */

#ifndef TL_ESCAPE_H
#define TL_ESCAPE_H

#include "common/tl_utf8.h"

#include <stdio.h>

/** Write s with escapes; tl_unescape() gives back the same bytes. */
void tl_put_escaped(FILE *out, const char *s, size_t n);

/**
 * Write s for a terminal: as tl_put_escaped(), and characters that are not seen or turn the
 * direction of a text as their bytes, such as U+200B and U+202E.
 */
void tl_put_visible(FILE *out, const char *s, size_t n);

/** Write s for a person: as tl_put_visible(), but a backslash stays single. */
void tl_put_message(FILE *out, const char *s, size_t n);

/**
 * Undo tl_put_escaped() or tl_put_visible().
 *
 * @param out       room for n bytes; may be s itself
 * @param out_size  set to the number of bytes written
 * @return 0, or -1 at a backslash that begins no known escape
 */
int tl_unescape(const char *s, size_t n, char *out, size_t *out_size);

#endif /* TL_ESCAPE_H */
