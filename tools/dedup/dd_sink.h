/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * A file that gets lines: standard output, or one that an option names. Where its name says so it
 * is compressed. Then lines wait in memory until a commit, and are a member or frame of their own:
 * what follows can be read whether the run that wrote the one before came to its end or not.
 *
 * Memory: of a compressed file about 2 MB.
 */

#ifndef DD_SINK_H
#define DD_SINK_H

#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

struct dd_sink;

/**
 * Open a file to add to its end, or make it.
 *
 * @param path  borrowed; NULL: standard output
 * @return NULL with a message
 */
struct dd_sink *dd_sink_open(const char *path);

/** Close the file. Lines that were not committed may be lost. NULL is allowed. */
void dd_sink_close(struct dd_sink *sink);

/** The descriptor. */
int dd_sink_fd(const struct dd_sink *sink);

/**
 * Begin to write behind what is there. Of what a run has left that was killed, and had not
 * committed, half a line or half a member is removed. A compressed file must be whole then, as
 * nothing could be read behind half a member.
 *
 * @param end          how a line ends: '\n', or 0 for names that end with a NUL byte
 * @param killed_from  as in tl_emit_begin()
 * @return 0, or TL_TROUBLE with a message
 */
int dd_sink_begin(struct dd_sink *sink, char end, off_t killed_from);

/**
 * Where a line of moderate length is written to; dd_sink_wrote() follows. Valid until then.
 *
 * @return NULL with a message
 */
FILE *dd_sink_out(struct dd_sink *sink);

/** Lines were written to dd_sink_out(). Returns 0, or TL_TROUBLE with a message. */
int dd_sink_wrote(struct dd_sink *sink);

/** Write bytes, of any number. Returns 0, or TL_TROUBLE with a message. */
int dd_sink_put(struct dd_sink *sink, const char *bytes, size_t n);

/**
 * Hand over what was written. A compressed file that is empty gets a member of nothing, as one of
 * no bytes cannot be read.
 *
 * @param is_synced  and sync the file
 * @return 0, or TL_TROUBLE, with a message unless standard output is not synced: main() tells that
 */
int dd_sink_commit(struct dd_sink *sink, int is_synced);

#endif /* DD_SINK_H */
