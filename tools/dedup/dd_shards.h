/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The files of --output-dir, the shards: each input has one, with the rows of it that stay. It has
 * the input's path below another directory, and is compressed where its name says so. Inputs are
 * read in order, so one shard is open at a time.
 */

#ifndef DD_SHARDS_H
#define DD_SHARDS_H

#include "dedup/dd_files.h"
#include "dedup/dd_mark.h"
#include "dedup/dd_sink.h"

struct dd_shards;

/**
 * None yet.
 *
 * @param resumes  what is in shards that are made was not committed, and is moved aside
 * @return NULL with a message
 */
struct dd_shards *dd_shards_new(const struct dd_options *options, struct dd_files *files,
				int resumes);

/** Close the open one. NULL is allowed. */
void dd_shards_free(struct dd_shards *shards);

/**
 * A file has a first line that names its columns, so its shard begins with it. To be told before
 * its rows are decided, in the order of files. Returns 0, or TL_TROUBLE with a message.
 */
int dd_shards_head(struct dd_shards *shards, uint32_t file, const char *line, size_t size);

/**
 * The shard of a file, whose rows come next. Those of the files before it are made and closed.
 *
 * @param file  as dd_files_meet() has numbered it, not below that of the last call
 * @return it, valid until the next call; NULL with a message
 */
struct dd_sink *dd_shards_select(struct dd_shards *shards, uint32_t file);

/**
 * Go on with the shard of a file; those before it are whole, and are left alone.
 *
 * @param place  what of it was committed
 * @return it; NULL with a message
 */
struct dd_sink *dd_shards_go_on(struct dd_shards *shards, uint32_t file,
				const struct dd_place *place);

/**
 * Check the shards of all inputs before anything is read: two inputs must not have the same one,
 * and it must be no input, and new or empty. All inputs must be files of rows.
 *
 * @param resumes  they may have contents, of a run that is gone on with
 * @return 0, or an exit code with a message
 */
int dd_shards_check(const struct dd_options *options, int resumes);

#endif /* DD_SHARDS_H */
