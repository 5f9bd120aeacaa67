/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The mark that a run leaves in the index of --index with each commit: what the index remembers of
 * texts; whether the run came to its end; if not, to which files it wrote, how long they were, and
 * how far it has come in its inputs. After a run that was killed, what lies beyond these lengths
 * was not committed. No other file is ever cut.
 */

#ifndef DD_MARK_H
#define DD_MARK_H

#include "dedup/dd_options.h"

#include <sys/types.h>

/** Bytes of a mark with its NUL. */
#define DD_MARK_SIZE 384

/** A place in the inputs: behind a row. */
struct dd_position {
	uint64_t inputs; /* that were begun: the row is in the last of them; 0 = before all */
	uint64_t digest; /* of these, as dd_resume_digest() makes it */
	uint64_t offset; /* bytes of that input, decompressed */
	uint64_t line;   /* lines of it */
	uint64_t rows;   /* of all inputs */
};

/** How long a file was; inode 0: it is no regular file, or there is none. */
struct dd_place {
	uint64_t device, inode;
	uint64_t born; /* in ns since 1970: a later file may have the inode; 0: nobody knows */
	uint64_t length;
};

/** The files of decisions: with what is new, --dups, --evidence. */
enum dd_written { DD_KEPT, DD_DUPS, DD_EVIDENCE, DD_N_WRITTEN };

/** A mark; all zero if there is none. */
struct dd_mark {
	int remember;     /* enum simidx_dedup_remember; -1: the mark does not say so */
	int is_open;      /* the run did not come to its end */
	int has_position; /* `at` and what follows it are known */
	struct dd_place place[DD_N_WRITTEN]; /* if it is open */
	/* Behind the last row that was decided; after the end only all inputs, their digest and
	   names. */
	struct dd_position at;
	uint64_t kind;     /* enum simidx_dedup_kind */
	uint64_t names;    /* a hash of what decides; with --output-dir of it and all names, too */
	uint64_t first_id; /* that the run could give to a document */
};

/** The place of a file that is open. All that is written to it must be flushed. */
struct dd_place dd_mark_place(int fd);

/** Write a mark. */
void dd_mark_write(char text[DD_MARK_SIZE], const struct dd_mark *mark);

/** Read one; of another tool, or damaged, it is none. Numbers are as they stand there. */
void dd_mark_read(const char *text, struct dd_mark *mark);

/**
 * Where in a file that is written to something may lie that the run of a mark has not committed.
 *
 * @param fd  that file, open
 * @return bytes from the beginning; -1 if that run came to its end, or wrote to other files
 */
off_t dd_mark_committed(const struct dd_mark *mark, int fd);

/** Whether no run has committed anything between two marks. */
int dd_mark_is_same(const struct dd_mark *a, const struct dd_mark *b);

#endif /* DD_MARK_H */
