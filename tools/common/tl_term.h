/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Standard output as a terminal: whether it is one, how wide, whether in colour; and texts and
 * numbers as people read them there. Threads may call these at once.
 */

#ifndef TL_TERM_H
#define TL_TERM_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/tl_number.h"

/** When output is coloured: --color. */
enum tl_color { TL_COLOR_AUTO, TL_COLOR_ALWAYS, TL_COLOR_NEVER };

/** The words of --color, ending with NULL. */
extern const char *const tl_color_words[];

/** What switches colours on and off. */
#define TL_BOLD "\033[1m"
#define TL_RED "\033[1;31m"
#define TL_STRUCK "\033[9;31m" /* red, with a line through it */
#define TL_GREEN "\033[1;32m"
#define TL_PLAIN "\033[m"

/** Whether standard output is a terminal. */
int tl_term_is(void);

/** Columns of the terminal that a descriptor is; 80 if it does not tell. */
unsigned tl_term_width(int fd);

/**
 * Whether to use colours. TL_COLOR_AUTO: on a terminal that is not "dumb", unless the environment
 * has NO_COLOR.
 */
int tl_term_colors(enum tl_color wanted);

/**
 * Write text as tl_put_visible() does, in at most `width` columns: a longer one loses its
 * beginning, as paths and addresses differ at their ends.
 */
void tl_term_put(FILE *out, const char *text, size_t size, size_t width);

/** Columns that escaped text takes. */
size_t tl_term_columns(const char *s, size_t n);

/** A number: on a terminal with commas, "1,234,567". Valid as what tl_count() returns. */
const char *tl_term_count(uint64_t number);

/** A number of bytes: on a terminal as "117.3 MiB". Valid as that. */
const char *tl_term_bytes(uint64_t bytes);

#endif /* TL_TERM_H */
