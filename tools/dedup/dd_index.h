/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The index of what is kept: a private one, or that of --index, with its mark (dd_mark.h).
 * Functions that return int return 0, or TL_TROUBLE with a message.
 */

#ifndef DD_INDEX_H
#define DD_INDEX_H

#include <limits.h>

#include <simidx_dedup.h>

#include "dedup/dd_mark.h"
#include "dedup/dd_memory.h"

/** It; others look at these, and set nothing. */
struct dd_index {
	const struct dd_options *options;
	simidx *handle;
	simidx_writer *writer;
	simidx_reader *reader;   /* NULL until it is needed */
	struct dd_mark mark;     /* that the last run has left in --index; all zero: it has none */
	uint64_t first_id;       /* that the next document would have got when it was opened */
	int remember;            /* enum simidx_dedup_remember, whatever this run does */
	int is_compared;         /* this run compares texts */
	char seen_file[PATH_MAX]; /* of simidx_dedup_options; "": none */
};

/**
 * Open the index, or make it.
 *
 * @param memory  divided; what unmerged rows have of it becomes that of the index's size
 * @param dir     where a private one is made
 * @param name    its name there
 * @return NULL with a message
 */
struct dd_index *dd_index_open(const struct dd_options *options, enum simidx_dedup_kind kind,
			       struct dd_memory *memory, const char *dir, const char *name);

/** Forget what is not committed and close. NULL is allowed. */
void dd_index_close(struct dd_index *index);

/** What this run remembers in it: for simidx_dedup_options. */
int dd_index_remember(const struct dd_index *index);

/** How the library is to decide; batches, calls and other indexes are for the caller to set. */
simidx_dedup_options dd_index_options(const struct dd_index *index, enum simidx_dedup_kind kind);

/** Tell of an error of the library with what is kept. Returns the exit code. */
int dd_index_fail(const struct dd_index *index, const simidx_error *err);

/** A reader of what is committed. */
int dd_index_reader(struct dd_index *index, simidx_reader **reader);

/**
 * Before the first transaction, where the mark is of a run that was killed: from then on nothing
 * comes any more that it has sent.
 */
int dd_index_resume(struct dd_index *index);

/** Take the write lock, so that nobody else adds documents, and read the mark again. */
int dd_index_begin(struct dd_index *index);

/** Write the mark of this run, in a transaction; `remember` of it is not used. */
int dd_index_write_mark(struct dd_index *index, const struct dd_mark *mark);

/** Commit what dd_index_begin() has begun. */
int dd_index_commit(struct dd_index *index);

#endif /* DD_INDEX_H */
