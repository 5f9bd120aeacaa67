/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Texts of rows, read again from the files that they were in.
 *
 * Thread rules: one thread reads inputs, with dd_again_place(); any number of others, each with its
 * own number, read again what it has read.
 */

#ifndef DD_AGAIN_H
#define DD_AGAIN_H

#include <simidx_dedup.h>

#include "dedup/dd_files.h"

struct dd_again;

/**
 * Begin.
 *
 * @param files    the files of the inputs; must live longer
 * @param columns  how rows are written; borrowed
 * @param threads  numbers of threads are below
 * @return NULL when memory is short
 */
struct dd_again *dd_again_open(struct dd_files *files, const struct in_columns *columns,
			       unsigned threads);

/** NULL is allowed. */
void dd_again_close(struct dd_again *again);

/**
 * Where the text of a row lies; to be called by the thread that reads, right after in_reader_next()
 * gave it.
 *
 * @param file  its number of dd_files_meet()
 * @return SIMIDX_DEDUP_PLACED; 0: it cannot be read again
 */
unsigned dd_again_place(struct dd_files *files, const struct in_reader *reader,
			const struct in_row *row, uint32_t file, simidx_dedup_place *place);

/**
 * A text again, as simidx_dedup_calls.read_text says.
 *
 * Cost: a look at the file, a read of the record and its parser; the file that a thread has used
 * last stays open.
 */
int dd_again_read(struct dd_again *again, unsigned thread, const simidx_dedup_place *place,
		  const char **text, size_t *size);

/** Free the buffers of long texts. While no other thread reads. */
void dd_again_trim(struct dd_again *again);

/** Why texts were not there again. */
enum dd_gone {
	DD_GONE_REMOVED,  /* its file was removed, or cannot be opened any more */
	DD_GONE_CHANGED,  /* its file was changed or replaced since it was read; if rows were only
	                   * added to it, the others are there */
	DD_GONE_FAILED,   /* it could not be read */
	DD_N_GONE
};

/** How often each was the cause. While no other thread reads. */
void dd_again_count(const struct dd_again *again, uint64_t counts[DD_N_GONE]);

#endif /* DD_AGAIN_H */
