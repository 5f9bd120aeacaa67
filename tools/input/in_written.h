/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Files that options name to be written to. None of them is an input, and nothing that somebody
 * has is replaced.
 */

#ifndef IN_WRITTEN_H
#define IN_WRITTEN_H

#include <sys/stat.h>

#include "input/in_files.h"

/** A file that an option names to be written to. */
struct in_written {
	const char *option, *path; /* NULL: not given */
	int may_have_lines;        /* more are added */
	const char *begins;        /* a file that begins so is replaced; NULL: none is */
	int is_there;              /* as a regular file */
	struct stat status;
};

/** Look at one. */
struct in_written in_written_look(const char *option, const char *path, int may_have_lines);

/**
 * No input or list that is named is one of these, nor standard output where something is printed;
 * others are found out when they are met (in_guard.h).
 *
 * @return 0, or TL_TROUBLE with a message
 */
int in_written_check_inputs(const struct in_written *written, size_t n,
			    const struct in_files_options *inputs, int prints);

/**
 * None is standard output by another name, the index, a file of it or that of another option, and
 * none has bytes unless lines are added.
 *
 * @param index   which there is or will be; NULL = none
 * @param prints  whether something else goes to standard output
 * @return 0, or TL_TROUBLE with a message
 */
int in_written_check(const struct in_written *written, size_t n, const char *index, int prints);

/** Whether a file that is met as an input, and has contents, is one that is written. Says so. */
int in_written_is_met(const char *path);

/** How a summary begins: that of an earlier run is replaced. */
#define IN_WRITTEN_SUMMARY "{\"exit\":"

#endif /* IN_WRITTEN_H */
