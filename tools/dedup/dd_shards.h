/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The files of --output-dir, the shards: each input has one, with the rows of it that stay. It has
 * the input's path below another directory, and is compressed where its name says so. Inputs are
 * read in order, so one shard is open at a time.
 */

#ifndef DD_SHARDS_H
#define DD_SHARDS_H

#include "dedup/dd_mark.h"
#include "dedup/dd_sink.h"
#include "dedup/dd_work.h"

#include <limits.h>

/** Zero but for the first two: none yet. */
struct dd_shards {
	const struct dd_work *work;
	int resumes;           /* what is in shards that are made was not committed: it is moved */
	char path[PATH_MAX];   /* of the open one */
	struct dd_sink *sink;  /* it; NULL: none is open */
	uint32_t next;         /* the first file without a shard */
	struct dd_head *head, **last; /* first lines of files, in the order of these */
};

/** Close the open one, and free what they hold. */
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
