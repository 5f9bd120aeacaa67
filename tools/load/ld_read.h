/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Reading: rows of the inputs, in their order, to what stores them; texts through the queue, whose
 * threads make fingerprints of them.
 */

#ifndef LD_READ_H
#define LD_READ_H

#include "load/ld_run.h"

/** Get ready to read for the target, which is open. */
void ld_read_begin(struct ld_run *run);

/** Read all files and store their rows, until a signal asks to stop. Returns 0 or an exit code. */
int ld_read_files(struct ld_run *run, struct in_files *files);

/** Free what reading has needed. */
void ld_read_end(struct ld_run *run);

#endif /* LD_READ_H */
