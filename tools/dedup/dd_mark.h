/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The mark that a run leaves in the index of --index: what the index remembers of texts; whether
 * the run came to its end; if not, to which files it wrote, and how long they were. After a run
 * that was killed, what lies beyond these lengths was not committed. No other file is ever cut.
 */

#ifndef DD_MARK_H
#define DD_MARK_H

#include "dedup/dd_options.h"

#include <stdio.h>
#include <sys/types.h>

/** Bytes of a mark with its NUL. */
#define DD_MARK_SIZE 192

/**
 * Write the mark. All output must be flushed, as the lengths of its files are looked up.
 *
 * @param remember     what the index remembers, enum simidx_dedup_remember
 * @param is_complete  all inputs were dealt with
 */
void dd_mark_write(char mark[DD_MARK_SIZE], const struct dd_options *options, int remember,
		   int is_complete);

/** What the index remembers; -1 if the mark does not say so. */
int dd_mark_remember(const char *mark);

/**
 * Where in a file that is written to something may lie that the run of a mark has not committed.
 *
 * @param mark  as it was in the index; "" or that of another tool: none
 * @param fd    that file, open
 * @return bytes from the beginning; -1 if that run came to its end, or wrote to other files
 */
off_t dd_mark_committed(const char *mark, int fd);

#endif /* DD_MARK_H */
