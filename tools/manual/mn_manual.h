/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What is made from the tables of options when libsimidx is built: manual pages, and completions
 * for shells. Everything is printed to stdout.
 */

#ifndef MN_MANUAL_H
#define MN_MANUAL_H

#include "common/tl_options.h"

/**
 * The manual page of a program or of one of its commands, in mdoc.
 *
 * @param date      of the last change, "2026-11-27"
 * @param programs  which the page points to, but for the command itself; ends with NULL
 */
void mn_print_page(const struct tl_command *command, const char *date,
		   const struct tl_command *const *programs);

/** The completion of a program for a shell. */
void mn_print_bash(const struct tl_command *program);
void mn_print_zsh(const struct tl_command *program);
void mn_print_fish(const struct tl_command *program);

#endif /* MN_MANUAL_H */
