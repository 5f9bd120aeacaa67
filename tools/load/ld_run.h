/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The loop of a load: rows in, documents out, commits between.
 */

#ifndef LD_RUN_H
#define LD_RUN_H

#include "load/ld_target.h"

/** Documents between two commits. */
#define LD_BATCH 100000

/**
 * Load all inputs and print what came of it.
 *
 * @return the exit code
 */
int ld_run(const struct ld_options *options, struct ld_target *target);

#endif /* LD_RUN_H */
