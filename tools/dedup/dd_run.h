/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The loop of a run: inputs in, decisions out.
 */

#ifndef DD_RUN_H
#define DD_RUN_H

#include "dedup/dd_options.h"

/**
 * Read all inputs and print what is near to what.
 *
 * @return the exit code
 */
int dd_run(const struct dd_options *options);

#endif /* DD_RUN_H */
