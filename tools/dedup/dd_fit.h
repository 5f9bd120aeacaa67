/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Which options go together.
 */

#ifndef DD_FIT_H
#define DD_FIT_H

#include "dedup/dd_options.h"

/** The option that is about comparing texts, if one was given; or NULL. */
const char *dd_fit_comparing(const struct dd_options *options);

/** Check that options go together, and take what follows from that. Returns TL_PROCEED, or
 * TL_TROUBLE with a message. */
int dd_fit_check(struct dd_options *options);

#endif /* DD_FIT_H */
