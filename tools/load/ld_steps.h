/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The states of a load, and the steps from one to the next.
 *
 *	state      what comes                   step     next state
 *	CLOSED     the first row, or the end    begin    INSERTING or BUILDING
 *	INSERTING  much, for a large index      rebuild  BUILDING
 *	BUILDING   standard input, slowly       show     INSERTING
 *	INSERTING  the end                      finish   DONE
 *	BUILDING   the end                      finish   DONE
 *
 * A load that begins INSERTING has an index, or makes an empty one; BUILDING makes a new file of
 * what is there and what comes, which nobody sees until it is complete. What is at the path may be
 * exchanged by others while a load is INSERTING: then it goes on in what stands there, if that is
 * an index of the same kind (ld_target_again).
 */

#ifndef LD_STEPS_H
#define LD_STEPS_H

#include "load/ld_run.h"

/**
 * Get ready for a row: begin, if it is the first one, and open an extractor if it is a text.
 *
 * @param row  NULL: the first line of a full dump, which comes before all rows
 * @return 0 or an exit code
 */
int ld_steps_before_row(struct ld_run *run, const struct in_row *row);

/**
 * A row is about to be put: rebuild, if the writer was given so much that the rest is for a loader;
 * see whether the rest will fit, if there is a loader.
 *
 * @return 0 or an exit code
 */
int ld_steps_before_put(struct ld_run *run);

/** Whether the writer has had its rows for long enough, as others want to see them. */
int ld_steps_is_due(const struct ld_run *run);

/** Commit what the writer has, and merge beside if that is due. Returns 0 or an exit code. */
int ld_steps_commit(struct ld_run *run);

/**
 * Whether the input, which has nothing more for now, comes so slowly that what has come is to be
 * seen. Waits for more until that is decided.
 *
 * @param fd  of the input
 */
int ld_steps_pauses(const struct ld_run *run, int fd);

/** After that: commit, or build a new index and insert what follows. Returns 0 or an exit code. */
int ld_steps_pause(struct ld_run *run);

/** Everything has been put: commit and merge, or build. Returns 0 or an exit code. */
int ld_steps_finish(struct ld_run *run);

/** --merge-only: move fresh rows into the tables, whoever else writes. 0 or an exit code. */
int ld_steps_merge(struct ld_run *run);

#endif /* LD_STEPS_H */
