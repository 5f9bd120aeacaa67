/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The files of the indexes that are open are no inputs. It is not only that nobody wants them:
 * closing any descriptor of LMDB's lock file drops the locks of the whole process, and then
 * other processes take its readers for dead. Nor is a file that the tool itself writes an input.
 */

#ifndef IN_GUARD_H
#define IN_GUARD_H

#include <sys/stat.h>

/** From now on the files in this directory are none; it need not be there yet. Borrowed. */
void in_guard_add(const char *index);

/** Whether a path leads to one of these files. To be asked before it is opened. */
int in_guard_is_file(const char *path);

/** Whether a directory is such an index, or one that is being built. */
int in_guard_is_directory(const char *name, const struct stat *status);

/**
 * The tool is going to write to this file. At most eight files; what is no regular file does not
 * matter.
 *
 * @param is_own  what it has is of an earlier run of the tool, and no input
 */
void in_guard_add_output(int fd, int is_own);

/** What in_guard_is_output() says. */
enum in_output {
	/* the tool does not write to it */
	IN_OUTPUT_NONE,
	/* it does, and the file was empty or its own: nothing in it is an input */
	IN_OUTPUT_EMPTY,
	/* it does, and the file had bytes: they may be an input that gets lines */
	IN_OUTPUT_HAD_BYTES
};

/** Whether a path leads to a file that the tool writes. */
enum in_output in_guard_is_output(const char *path);

#endif /* IN_GUARD_H */
