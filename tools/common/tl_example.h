/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * A right command line to show to who has typed a wrong one: the shortest one of the command, made
 * of its table, with the indexes and files that were given.
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

#endif /* TL_EXAMPLE_H */
