/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What is printed of the decisions: pairs and new inputs as they come, groups at the end
 * (dd_groups.h).
 */

#ifndef DD_OUTPUT_H
#define DD_OUTPUT_H

#include "dedup/dd_groups.h"

struct dd_output;

/**
 * Begin; opens --output, --dups and --evidence. Neither these nor standard output may be an input
 * that is named.
 *
 * @param work   gets facts and keepers
 * @param start  the mark of a run that is gone on with; borrowed; NULL: none is
 * @return NULL with a message
 */
struct dd_output *dd_output_new(struct dd_work *work, const struct dd_mark *start);

/** Free, after what decides is closed. NULL is allowed. */
void dd_output_free(struct dd_output *output);

/**
 * Bytes that are needed until the end for a document, whether it is kept or not.
 *
 * @param kept  those of one that is kept, besides
 */
uint64_t dd_output_bytes(const struct dd_output *output, uint64_t kept);

/**
 * The indexes are open. Half a line that a run has left that was killed is ended or removed; where
 * it is gone on with, all that it has not committed. A transaction is open then, of --index.
 *
 * @param has_lines  the first document is a line of its file, and not the whole file
 * @return 0 or an exit code
 */
int dd_output_begin(struct dd_output *output, int has_lines);

/**
 * Where a run is gone on with: the file of its last row is met, and its shard is opened. Returns 0
 * or an exit code.
 */
int dd_output_go_on(struct dd_output *output, uint32_t file);

/**
 * What a mark says of the files that are written and of the last row that was decided. To be called
 * when all is handed over: after dd_output_begin() and dd_output_committing().
 */
void dd_output_mark(const struct dd_output *output, struct dd_mark *mark);

/** Where a filter writes what stays, where that is one file; NULL with --output-dir. */
struct dd_sink *dd_output_kept(const struct dd_output *output);

/**
 * As simidx_dedup_calls.decided. Returns 0 or an exit code. When all is decided, groups may have
 * documents that others have compared: these come without a text.
 */
int dd_output_decided(struct dd_output *output, const simidx_dedup_row *row,
		      const simidx_dedup_near *near, size_t n);

/** Whether a row that is asked about is not compared with a kept one: simidx_dedup_calls.skips. */
int dd_output_skips(const struct dd_output *output, uint64_t handle);

/**
 * There are rows that are not decided: this one, or with NULL any number that nobody has read. A
 * drop list names no other row by their labels. Returns 0, or TL_TROUBLE with a message.
 */
int dd_output_unread(struct dd_output *output, const struct in_row *row);

/** The handle of the row that was kept last; rows have names. */
uint64_t dd_output_last_kept(const struct dd_output *output);

/**
 * A file has a line of --header. To be told before its rows are decided, in the order of files.
 * Returns 0 or an exit code.
 */
int dd_output_head(struct dd_output *output, uint32_t file, const char *line, size_t size);

/**
 * A batch is committed next: what is to be remembered must be safe before.
 *
 * @param is_complete  all inputs were read: each has its file in --output-dir
 * @return 0 or an exit code
 */
int dd_output_committing(struct dd_output *output, int is_complete);

/**
 * All is decided: print the groups.
 *
 * @param memory  bytes for the work
 * @return 0 or an exit code
 */
int dd_output_finish(struct dd_output *output, uint64_t memory);

/** What was counted; valid as long as `output`. */
const struct dd_counts *dd_output_counts(const struct dd_output *output);

/**
 * Tell of the largest groups of which ten or more documents were left out, each with the beginning
 * of the text that stays, and of what --evidence has got. Warn if for one more than 1,000 were left
 * out, and more than 1 % of all; the warning is printed also where notices are not wanted.
 *
 * @param documents  of the run
 */
void dd_output_tell(struct dd_output *output, uint64_t documents);

#endif /* DD_OUTPUT_H */
