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

/** Write s for a person: as tl_put_escaped(), but a backslash stays single. */
void tl_put_message(FILE *out, const char *s, size_t n);

/**
 * Undo tl_put_escaped().
 *
 * @param out       room for n bytes; may be s itself
 * @param out_size  set to the number of bytes written
 * @return 0, or -1 at a backslash that begins no known escape
 */
int tl_unescape(const char *s, size_t n, char *out, size_t *out_size);

#endif /* TL_ESCAPE_H */
