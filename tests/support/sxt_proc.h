/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Second processes for tests. They take turns with the test by sxt_proc_tell() and
 * sxt_proc_wait(), so that no test depends on time, and assert by sxt_must*() of sxt_assert.h.
 */

#ifndef SXT_PROC_H
#define SXT_PROC_H

#include <sys/types.h>
#include <unistd.h>

typedef struct sxt_proc {
	pid_t pid; /* of the child; 0 in the child */
	int in, out;
} sxt_proc;

/** Exit status of a child that could not set the scene: sxt_skip() the test. */
#define SXT_CHILD_SKIPPED 77

/** Whether this is such a process. */
extern int sxt_in_child;

/** Fork; the child calls body() and ends with what it returns. It dies with the test. */
void sxt_proc_start(sxt_proc *proc, int (*body)(sxt_proc *me, void *ctx), void *ctx);

/** Let the other side go on. */
void sxt_proc_tell(sxt_proc *proc);

/** Wait until the other side tells. Returns 0, or -1 if it has ended. */
int sxt_proc_wait(sxt_proc *proc);

/**
 * Wait for the child to end: its exit status, or the number of the signal that killed it, negative.
 */
int sxt_proc_finish(sxt_proc *proc);

/** Kill the child with SIGKILL and wait for its end. */
void sxt_proc_kill(sxt_proc *proc);

/** Run body() in a child: what sxt_proc_finish() returns. */
int sxt_proc_run(int (*body)(sxt_proc *me, void *ctx), void *ctx);

#endif /* SXT_PROC_H */
