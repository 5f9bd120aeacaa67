/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * How a load that fails is told, and what the index holds then or in the end.
 */

#ifndef LD_END_H
#define LD_END_H

#include "load/ld_run.h"

/** An error of the index ends the load: its message. Returns the exit code. */
int ld_end_fail(struct ld_run *run, const simidx_error *err);

/** More rows were rejected than may be: a message. Returns the exit code. */
int ld_end_too_many(const struct ld_run *run);

/** Note what the index holds now, for the summary. Returns whether that could be had. */
int ld_end_measure(struct ld_run *run, int has_failed);

/** Say what a load that did not finish leaves, and how to go on. */
void ld_end_tell(const struct ld_run *run, int is_measured);

#endif /* LD_END_H */
