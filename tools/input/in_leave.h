/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Which of the files that are found in directories and lists are left out: by their names, and by
 * their sizes.
 */

#ifndef IN_LEAVE_H
#define IN_LEAVE_H

#include "common/tl_options.h"

#include <stdint.h>

/** Options; all zero: nothing is left out. */
struct in_leave_options {
	struct tl_strings exclude; /* --exclude: patterns; the list itself is owned */
	uint64_t max_bytes;        /* --max-bytes; 0 = any number */
};

/** What was left out. */
struct in_left_out {
	uint64_t excluded;    /* files and directories */
	uint64_t matched;     /* bits of the first 64 patterns: it has left out something */
	uint64_t ends;        /* the same: names have ended with it */
	uint64_t large;       /* files */
	char first_large[256]; /* the path of the first, cut to this */
};

/**
 * Whether a file or directory that a walk has come to is excluded. It is counted then. The
 * directories that it is in are not.
 *
 * @param path  relative to where the walk began
 */
int in_leave_entry(const struct in_leave_options *options, const char *path, int is_directory,
		   struct in_left_out *counts);

/** The same for a path of a list: also if a directory in it is excluded. */
int in_leave_listed(const struct in_leave_options *options, const char *path,
		    struct in_left_out *counts);

/** Whether a file is too large. It is counted then. */
int in_leave_large(const struct in_leave_options *options, const char *path, uint64_t bytes,
		   struct in_left_out *counts);

/** Notices of what was left out. */
void in_leave_tell(const struct in_leave_options *options, const struct in_left_out *counts);

#endif /* IN_LEAVE_H */
