/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The files that were read: which of them are the same one, and whether they are still as they
 * were. A file is known by its device and inode, so that one that is reached twice, by two paths, a
 * symbolic link or hard links, counts once: its other paths are noted, but are no inputs of their
 * own. Who removes a file to get rid of its text has to remove all its paths; and who keeps a
 * file keeps all of them.
 *
 * Thread rules: one thread calls dd_files_meet(); the other functions may be called by any
 * thread meanwhile, for files that it has been given the number of.
 * Memory: at most dd_files_bytes() a path.
 */

#ifndef DD_FILES_H
#define DD_FILES_H

#include "input/in_reader.h"

struct dd_files;

/** The most that has to be remembered of a path. */
size_t dd_files_bytes(const char *path);

/** What dd_files_meet() found. */
enum dd_met {
	DD_MET_NO_MEMORY = -1,
	DD_MET_NEW,   /* a file that was not read yet */
	DD_MET_AGAIN, /* one that was: not to be read again; its other path is remembered */
	DD_MET_KNOWN  /* the same, by a path that is known: nothing is remembered */
};

/** What has become of a file since it was read. */
enum dd_state {
	DD_AS_READ,
	DD_REMOVED,   /* or cannot be looked at */
	DD_CHANGED    /* another file has its path, or its size or one of its times differs */
};

/** None yet. NULL when memory is short. */
struct dd_files *dd_files_new(void);

/** Free. NULL is allowed. */
void dd_files_free(struct dd_files *files);

/**
 * Note the file with which a reader has begun; to be called between in_reader_open() and the first
 * in_reader_next(), so that a change while it is read is seen later. What is no regular file,
 * such as a pipe, is new each time. Standard input from a regular file is that file.
 *
 * @param below   the end of the reader's path that dd_files_below() is to tell; NULL: all of it
 * @param number  set to the file's number, counted from 0; with DD_MET_AGAIN and DD_MET_KNOWN to
 *                that of the first time
 */
enum dd_met dd_files_meet(struct dd_files *files, const struct in_reader *reader,
			  const char *below, uint32_t *number);

/** How many there are. */
uint32_t dd_files_count(struct dd_files *files);

/** Its path of the first time; valid as long as `files`. */
const char *dd_files_path(struct dd_files *files, uint32_t number);

/** The end of that path that is kept below another directory (struct in_file). */
const char *dd_files_below(struct dd_files *files, uint32_t number);

/** Another path by which it was reached, `i` counted from 0, each once; NULL after the last. */
const char *dd_files_other_path(struct dd_files *files, uint32_t number, size_t i);

/** As dd_files_state(), by another path of a regular file. */
enum dd_state dd_files_state_by(struct dd_files *files, uint32_t number, const char *path);

/**
 * When it was modified, as it was read.
 *
 * @param out  set to nanoseconds since 1970
 * @return 0; -1: it is no regular file
 */
int dd_files_modified(struct dd_files *files, uint32_t number, int64_t *out);

/** Bytes of a regular file, as it was read; 0 of others. */
uint64_t dd_files_size(struct dd_files *files, uint32_t number);

/** The format in which it was read. */
const struct in_format *dd_files_format(struct dd_files *files, uint32_t number);

/** It has another one, as it is now known. To be called by the thread of dd_files_meet(). */
void dd_files_set_format(struct dd_files *files, uint32_t number,
			 const struct in_format *format);

/** Whether it can be opened again by its path and read at any byte: a regular file, not
 * standard input. It may be compressed. */
int dd_files_can_seek(struct dd_files *files, uint32_t number);

/**
 * Look at a file again: size, times of modification and status change, device and inode. The latter
 * time cannot be put back; it changes also with the owner, the mode and the number of hard links. A
 * change within one tick of the clock of the file system that keeps the size is not seen. What is
 * no regular file is as read.
 *
 * @param fd  it, open; -1 = its path of the first time is looked at
 */
enum dd_state dd_files_state(struct dd_files *files, uint32_t number, int fd);

/**
 * Whether an open file that has changed is the same file, and not smaller: it may only have been
 * added to.
 */
int dd_files_has_grown(struct dd_files *files, uint32_t number, int fd);

#endif /* DD_FILES_H */
