/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What -h and --help print, made from a table of options (tl_options.h).
 */

#ifndef TL_HELP_H
#define TL_HELP_H

#include <stdio.h>

#include "common/tl_options.h"

/**
 * Print the help of a program or command to stdout.
 *
 * @param full  0: one line an option; else everything
 * @return TL_OK; tl_finish_output() is to follow
 */
int tl_help_print(const struct tl_command *command, int full);

/** Print the "Usage:" line of a program or command. */
void tl_help_usage(FILE *out, const struct tl_command *command);

/** What a command can do, and what to type for it: what its table says of that, or its options. */
const char *tl_help_tasks(const struct tl_command *command);

/** Print the commands of a program, a line each with what they do. */
void tl_help_commands(FILE *out, const struct tl_command *program);

/**
 * What --help and the manual page say about an option: its text, the words that its value may be
 * and its default.
 *
 * @return a string for free(), or NULL when memory is short
 */
char *tl_help_text(const struct tl_option *row);

#endif /* TL_HELP_H */
