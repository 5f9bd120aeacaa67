/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The command line of a program that makes temporary indexes of labelled collections, one a seed.
 */

#ifndef QU_OPTIONS_H
#define QU_OPTIONS_H

#include <stdint.h>

#include "bn_options.h"
#include "quality/qu_set.h"

struct qu_options {
	const char *plan, *dir, *text_field;
	uint64_t seeds;
};

/** With the defaults. */
struct qu_options qu_options_init(void);

/**
 * Read the command line: options of its own, and those of struct qu_options. Operands are one or
 * more collections.
 *
 * @param own    ends with a row without a name; at most 16 rows
 * @param about  lines for --help
 * @param more   what is printed, for --help
 * @return number of the first operand in argv
 */
int qu_parse(struct qu_options *options, const struct bn_option *own, const char *about,
	     const char *more, int argc, char **argv);

/** Read a collection that has labels of pairs; one of edits ends the program. */
void qu_read_labelled(struct qu_set *set, const char *prefix, const struct qu_options *options);

#endif /* QU_OPTIONS_H */
