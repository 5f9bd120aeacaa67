/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The value of an option: what it must be, and what is said of one that is not.
 */

#ifndef TL_VALUE_H
#define TL_VALUE_H

#include "common/tl_options.h"

/** Keep it in the struct of the option's table, at `base`. 0, or TL_TROUBLE after a message. */
int tl_value_set(const struct tl_option *row, char *base, char *text);

#endif /* TL_VALUE_H */
