/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * A right command line to show to who has typed a wrong one: what was typed with the mistake
 * mended, if it is known what was meant; else without the option that is refused, and without its
 * value. Where that is not right, the shortest one of the command, made of its table, with the
 * options, indexes and files that were given; none if it is not known which options are wrong.
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

/** The option of this name that was given, as it was typed; NULL = none. */
const char *tl_example_find(const char *name);

/** Whether a file or directory was given that can be read, and is no index. */
int tl_example_has_input(void);

/**
 * What was typed is right without an option, unless it is mended; NULL = all is right so far.
 *
 * @param word    the word of argv; borrowed
 * @param letter  which one of its letters, or 0 if it is one by name
 */
void tl_example_refuse(const char *word, int letter);

/** Each option and its value is right by itself: what is refused later may be any of them. */
void tl_example_options_read(void);

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

/** Another command line is right; of what follows, up to a quote; "" = none. Borrowed. */
void tl_example_is(const char *line);

#endif /* TL_EXAMPLE_H */
