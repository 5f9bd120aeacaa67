/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The texts of documents that are kept, to be read again when a later document looks like one of
 * them. Nothing of a text stays in memory: it is read from its file, or, where that is a pipe or
 * compressed, from a temporary file (dd_spill.h).
 *
 * Thread rules: one thread reads inputs, with dd_texts_place(); one keeps, with dd_texts_keep();
 * any number of others, each with its own dd_texts_reader, get what was kept before. Memory:
 * DD_TEXTS_BYTES a kept document, and that of dd_files.h.
 */

#ifndef DD_TEXTS_H
#define DD_TEXTS_H

#include <simidx.h>

#include "dedup/dd_files.h"

/** What is remembered of a kept document. */
#define DD_TEXTS_BYTES 16

struct dd_texts;
struct dd_texts_reader;

struct dd_texts_options {
	const char *tmpdir;    /* of the temporary file; borrowed */
	uint64_t spill_limit;  /* bytes of it at most; UINT64_MAX = a tenth of what is free */
	const struct in_columns *columns; /* how rows are written; borrowed */
};

/** What a place is. */
enum dd_place_kind {
	DD_PLACE_NONE,    /* there is no text: a bare fingerprint, or features */
	DD_PLACE_FILE,    /* in a file that can be read again */
	DD_PLACE_PASSING  /* in a source that cannot: to be put aside, or gone */
};

/** Where the text of a row is; a value. */
struct dd_place {
	enum dd_place_kind kind;
	uint32_t file;    /* as dd_files_meet() numbers it */
	uint64_t offset;  /* of its record in the file, in bytes */
	uint32_t size;    /* of the record */
};

/** Whether a text could be had again. */
enum dd_again {
	DD_AGAIN,         /* here it is */
	DD_GONE_NONE,     /* there was none */
	DD_GONE_REMOVED,  /* its file was removed, or cannot be opened any more */
	DD_GONE_CHANGED,  /* its file was changed or replaced since it was read; if rows were only
	                   * added to it, the others are there */
	DD_GONE_SPILL,    /* it was not put aside, as there was no room */
	DD_GONE_FAILED,   /* it could not be read */
	DD_GONE_MEMORY,   /* memory is short, so that the run ends */
	DD_N_AGAIN
};

/**
 * Begin.
 *
 * @param files  the files of the inputs; must live longer
 * @return NULL when memory is short
 */
struct dd_texts *dd_texts_open(const struct dd_texts_options *options, struct dd_files *files);

/** End; readers are closed before. NULL is allowed. */
void dd_texts_close(struct dd_texts *texts);

/**
 * Where the text of a row lies; to be called by the thread that reads, right after in_reader_next()
 * gave it.
 *
 * @param file  its number of dd_files_meet()
 */
void dd_texts_place(const struct dd_texts *texts, const struct in_reader *reader,
		    const struct in_row *row, uint32_t file, struct dd_place *place);

/**
 * Keep a document.
 *
 * @param utf8    its text, `size` bytes; not needed for DD_PLACE_NONE
 * @param handle  set to the number of those kept before
 * @return 0; -1 when memory is short. That a text could not be put aside is no failure
 */
int dd_texts_keep(struct dd_texts *texts, const struct dd_place *place, const char *utf8,
		  size_t size, uint64_t *handle);

/** Why texts were not put aside; NULL = all were. For the thread that keeps. */
const char *dd_texts_problem(const struct dd_texts *texts);

/** What a thread needs to get texts. NULL when memory is short. */
struct dd_texts_reader *dd_texts_reader_open(struct dd_texts *texts);

/** NULL is allowed. */
void dd_texts_reader_close(struct dd_texts_reader *reader);

/**
 * A text again.
 *
 * @param handle  of dd_texts_keep(), returned before
 * @param utf8    set to it; valid until the next call with this reader
 * @param size    set to its size in bytes
 * @return DD_AGAIN; or why it is not there, and then *size is 0
 *
 * Cost: of a file, a look at it, a read of the record and its parser; the file that was used last
 * stays open. Of the temporary file, a read and decompression.
 */
enum dd_again dd_texts_get(struct dd_texts_reader *reader, uint64_t handle, const char **utf8,
			   size_t *size);

#endif /* DD_TEXTS_H */
