/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * A right command line to show to who has typed a wrong one: all that was typed, with the mistake
 * mended or with what is missing. None is shown if anything would have to be left out, or if the
 * word behind an option may be its value or not.
 */

#ifndef TL_EXAMPLE_H
#define TL_EXAMPLE_H

#include "common/tl_options.h"

/**
 * From now on each tl_usage_error() may show a line of this command.
 *
 * @param argv  what was typed after argv[0], ending with NULL; borrowed, and may be reordered
 */
void tl_example_set(const struct tl_command *command, char **argv);

/** The command that was typed. */
const struct tl_command *tl_example_command(void);

/** Whether the command has an option of this name. */
int tl_example_has(const char *name);

/** The option of this name that was given, as it was typed; NULL = none. */
const char *tl_example_find(const char *name);

/** Whether the option of this name has a value. */
int tl_example_needs_value(const char *name);

/**
 * An example of the value of an option, or what it is called where only who types knows one. NULL =
 * it is not to be guessed, as it says what is deleted.
 */
const char *tl_example_value(const struct tl_option *row);

/**
 * What was typed is right with something else in one place; for the next tl_usage_error().
 *
 * @param at     where it stands, in a word of argv; NULL = before all words
 * @param n      bytes of it
 * @param right  what stands there instead; copied. If it ends with a blank, the rest of the word
 *               is a word of its own. An option that needs a value and has none is shown with what
 *               the value is called
 */
void tl_example_mend(const char *at, size_t n, const char *right);

/** The same, of the long option of this name, which was given. */
void tl_example_mend_option(const char *name, const char *right);

/** What was typed is right with the operands that are missing behind it. */
void tl_example_complete(void);

/** The same words are right behind the name of another program. */
void tl_example_is_of(const char *program);

/** Another command line is right; of what follows, up to a quote; "" = none. Borrowed. */
void tl_example_is(const char *line);

#endif /* TL_EXAMPLE_H */
