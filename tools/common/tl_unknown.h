/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * An option that a command does not have.
 */

#ifndef TL_UNKNOWN_H
#define TL_UNKNOWN_H

#include "common/tl_options.h"

/** What was found. */
struct tl_unknown {
	const struct tl_command *command;
	const char *const *names; /* of all its options, ending with NULL */
	int letter;               /* which was given; 0 = a name */
	char *const *next;        /* the word behind the last one that was read */
};

/** Tell what is meant by it, or what to do instead. */
void tl_unknown_refuse(const struct tl_unknown *unknown);

#endif /* TL_UNKNOWN_H */
