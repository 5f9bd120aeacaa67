/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * A right command line to show to who has typed a wrong one: what was typed with the mistake
 * mended, if it is known what was meant; else the shortest one of the command, made of its table,
 * with the indexes and files that were given.
 */

#ifndef TL_EXAMPLE_H
#define TL_EXAMPLE_H

#include "common/tl_options.h"

/**
 * From now on each tl_usage_error() shows a line of this command, or of that of its commands which
 * was given.
 *
 * @param argv  what was typed after argv[0], ending with NULL; borrowed, and may be reordered
 */
void tl_example_set(const struct tl_command *command, char **argv);

/**
 * What was typed is right with something else in one place; for the next tl_usage_error().
 *
 * @param at     where it stands, in a word of argv; NULL = before all words
 * @param n      bytes of it
 * @param right  what stands there instead; borrowed. If it ends with a blank, the rest of the word
 *               is a word of its own. What was the value of the word, and would be none of an
 *               option that takes none, is left out
 */
void tl_example_mend(const char *at, size_t n, const char *right);

/** Another command line is right; of what follows, up to a quote. Borrowed. */
void tl_example_is(const char *line);

#endif /* TL_EXAMPLE_H */
