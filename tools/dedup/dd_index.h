/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The index of what is kept: a private one, or that of --index, with its mark (dd_mark.h).
 * Functions that return int return 0, or TL_TROUBLE with a message.
 */

#ifndef DD_INDEX_H
#define DD_INDEX_H

#include <simidx_dedup.h>

#include "dedup/dd_mark.h"

struct dd_index;

/**
 * Open the index, or make it.
 *
 * @param most_rows  rows that a commit may leave unmerged: they are in memory
 * @param dir        where a private one is made
 * @return NULL with a message
 */
struct dd_index *dd_index_open(const struct dd_options *options, enum simidx_dedup_kind kind,
			       uint64_t most_rows, const char *dir);

/** Forget what is not committed and close. NULL is allowed. */
void dd_index_close(struct dd_index *index);

/** What this run remembers in it: for simidx_dedup_options. */
int dd_index_remember(const struct dd_index *index);

/** How the library is to decide; batches, calls and other indexes are for the caller to set. */
simidx_dedup_options dd_index_options(const struct dd_index *index, enum simidx_dedup_kind kind);

/** For simidx_dedup_open(). */
simidx *dd_index_handle(struct dd_index *index);
simidx_writer *dd_index_writer(struct dd_index *index);

/** Tell of an error of the library with what is kept. Returns the exit code. */
int dd_index_fail(const struct dd_index *index, const simidx_error *err);

/** A reader that finds also what is not committed. */
int dd_index_reader(struct dd_index *index, simidx_reader **reader);

/**
 * Before the first transaction, where the mark is of a run that was killed: from then on nothing
 * comes any more that it has sent.
 */
int dd_index_resume(struct dd_index *index);

/** Take the write lock, so that nobody else adds documents, and read the mark again. */
int dd_index_begin(struct dd_index *index);

/** The mark that the last run has left in the index of --index; all zero if there is none. */
const struct dd_mark *dd_index_mark(const struct dd_index *index);

/** The id that the next document would have got when the index was opened. */
uint64_t dd_index_first_id(const struct dd_index *index);

/** Write the mark of this run, in a transaction; `remember` of it is not used. */
int dd_index_write_mark(struct dd_index *index, const struct dd_mark *mark);

/** Commit what dd_index_begin() has begun. */
int dd_index_commit(struct dd_index *index);

/** End what dd_index_begin() has begun, and change nothing. */
void dd_index_rollback(struct dd_index *index);

#endif /* DD_INDEX_H */
