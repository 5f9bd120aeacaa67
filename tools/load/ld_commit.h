/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Commits of a writer: now and then, with a mark of how far the load has come.
 */

#ifndef LD_COMMIT_H
#define LD_COMMIT_H

#include "load/ld_run.h"

/** A writer commits after so many seconds. */
#define LD_COMMIT_SECONDS 5

/** Whether the writer has had its rows for long enough, as others want to see them. */
int ld_commit_is_due(const struct ld_run *run);

/** Commit what the writer has. Returns 0 or an exit code. */
int ld_commit(struct ld_run *run);

/**
 * Before the first row: commit where the load begins. The mark of an earlier load must not be taken
 * for one of this load, even if this one is killed before its first commit.
 */
int ld_commit_start(struct ld_run *run);

/**
 * What the next commit, or the loader if it is not NULL, has to store besides documents: how far
 * the load has come, or in the end the mark that a full dump has brought from its index.
 */
int ld_commit_mark(struct ld_run *run, simidx_loader *loader, const struct ld_mark *mark);

#endif /* LD_COMMIT_H */
