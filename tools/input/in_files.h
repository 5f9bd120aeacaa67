/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The inputs of a run one after another: operands, and with -r the files of those that are
 * directories, in the order of their names; then what --files-from lists.
 */

#ifndef IN_FILES_H
#define IN_FILES_H

#include "common/tl_options.h"
#include "input/in_leave.h"
#include "input/in_reader.h"

#include <fts.h>

/** What was asked for; everything is borrowed. */
struct in_files_options {
	char **operands;
	size_t n_operands;
	struct tl_strings lists; /* --files-from; the list itself is owned */
	int nul_lists;           /* -0: names in lists end with a NUL byte */
	int may_recurse;         /* the program has -r, which may be advised */
	int recursive;           /* -r: operands may be directories */
	int hidden;              /* --hidden: in these, names that begin with a dot, too */
	struct in_leave_options leave; /* of what is found there and in lists */
	/* -F: 1 + place in in_format_load_names, 0 = none; read by the caller */
	int format_word;
	const struct in_format *format; /* of everything; NULL = operands by name, rest text */
	int may_be_missing;      /* operands that cannot be opened are for the program to tell as it
	                          * comes to them; in_files_check() passes over them */
	struct in_columns columns;      /* of everything */
};

/** The options; their struct is struct in_files_options. The second ones have also formats that
 * only a load reads. */
extern const struct tl_option in_files_rows[], in_files_load_rows[];

/** One input. */
struct in_file {
	const char *path;    /* borrowed until the next call */
	const struct in_format *format;
	int is_stdin;
	int is_found;        /* in a directory, so nobody has named it */
	/* the end of the path that is kept where it goes into another directory: of an operand its
	 * name; of a directory what comes behind it, and its name unless it ends in a slash, "."
	 * or ".."; of a list the path as it stands, without slashes before it */
	const char *below;
};

/** They; zero but for the options, which must live as long: before the first one. */
struct in_files {
	const struct in_files_options *options;
	size_t next_operand;
	size_t next_list;
	int in_list; /* `lines` reads list number next_list - 1 */
	struct in_lines lines;
	struct in_room name; /* from a list, NUL-terminated */
	FTS *walk; /* of operand number next_operand - 1, a directory */
	struct in_left_out left_out;
	size_t walk_below; /* bytes of paths in it that come before what in_file.below has */
	char reason[8192]; /* why one cannot be had, with the path in it */
};

/** Free what it holds. */
void in_files_close(struct in_files *files);

/**
 * The next input.
 *
 * @return IN_ROW; IN_END; IN_REJECTED for a file or directory that cannot be had; IN_FATAL
 *         when a list cannot be read. `reason` tells why
 */
enum in_result in_files_next(struct in_files *files, struct in_file *file);

/**
 * Look at all inputs that can be had, before they are read.
 *
 * @param visit  is called for each; unless it returns 0, that ends it, and so does a signal
 * @return what `visit` has returned, or TL_TROUBLE with a message
 */
int in_files_each(const struct in_files_options *options,
		  int (*visit)(void *ctx, const struct in_file *file), void *ctx);

/** Notices of what was left out so far. */
void in_files_tell(const struct in_files *files);

/** Free the lists of options. */
void in_files_free_options(struct in_files_options *options);

/**
 * Refuse standard input as an operand without a format. Returns TL_PROCEED, or TL_TROUBLE with a
 * message.
 */
int in_files_check_dash(const struct in_files_options *options);

/** Refuse options about what is found where nothing can be. Returns TL_PROCEED, or TL_TROUBLE
 * with a message. */
int in_files_check_found(const struct in_files_options *options);

/** How many of `n` operands or lists are "-", standard input. */
size_t in_files_n_stdin(char **names, size_t n);

/**
 * Check operands and lists before anything else is done: they must be there and readable, unless
 * operands may be missing; their formats known to this build and fit for the options about columns.
 *
 * @param total_bytes  set to the size of all of them, or 0 when it cannot be told
 * @return 0, or TL_TROUBLE with a message
 */
int in_files_check(const struct in_files_options *options, uint64_t *total_bytes);

/**
 * Refuse formats whose rows are no lines, for an option that writes the rows of inputs as lines.
 *
 * @param option  its name, for the message
 * @return TL_PROCEED, or TL_TROUBLE with a message
 */
int in_files_check_lines(const struct in_files_options *options, const char *option);

/**
 * Tell how lines become texts, if all inputs were one text each and were at most so many.
 *
 * @param texts  that were read
 */
void in_files_tell_whole(const struct in_files_options *options, uint64_t texts, uint64_t most);

/** Directories have no files. Returns TL_TROUBLE, with a message. */
int in_files_refuse_none(const struct in_files_options *options);

#endif /* IN_FILES_H */
