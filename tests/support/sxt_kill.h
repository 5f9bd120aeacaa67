/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Children that end at a place of their work, or stop there until the test lets them go on: before
 * or after a commit of LMDB, say. For programs that are linked with --wrap for the function that is
 * such a place; its __wrap_ calls sxt_kill_before() and sxt_kill_after().
 */

#ifndef SXT_KILL_H
#define SXT_KILL_H

#include "support/sxt_proc.h"

#include <simidx.h>

/** Exit status of a child that was ended so. */
#define SXT_KILLED 42

/** What is to happen in a child, which sets it; all zero: nothing. */
typedef struct sxt_kill {
	unsigned at;       /* the place that ends it, from 1 on; 0 = none */
	int is_after;      /* after what is done there, not before */
	sxt_proc *watcher; /* told after each place, and waited for; may be NULL */
} sxt_kill;

/** Begin to count places; NULL: no place matters any more. */
void sxt_kill_begin(const sxt_kill *kill);

/** A place is reached, and what is done there is about to be; and was done. */
void sxt_kill_before(void);
void sxt_kill_after(void);

/** How far a merge has come: the state in the header, SX_STATE_ bits; 0 = none was begun. */
unsigned sxt_merge_state(simidx *index);

#endif /* SXT_KILL_H */
