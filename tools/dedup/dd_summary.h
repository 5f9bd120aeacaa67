/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What a run says of itself in the end.
 */

#ifndef DD_SUMMARY_H
#define DD_SUMMARY_H

#include <simidx_dedup.h>

#include "common/tl_report.h"
#include "dedup/dd_again.h"
#include "dedup/dd_output.h"
#include "input/in_reader.h"

/** What was counted while inputs were read. */
struct dd_summary {
	uint64_t documents, rejected;
	uint64_t texts;      /* of `documents` */
	uint64_t text_bytes; /* of these */
	uint64_t binary;     /* of `documents`: files that are no texts */
	struct tl_remark not_utf8;   /* texts that are something else */
	struct tl_remark named_rows; /* files found that were taken for one text, named as rows */
	struct tl_remark lists;      /* files taken for one text that look like fingerprints */
	struct tl_remark skipped;    /* files found that are no texts */
	double started, seconds;
	double shown; /* when progress was */
	int has_warned; /* that memory is likely to be too small */
};

/** Free what remarks have. */
void dd_summary_free(struct dd_summary *all);

/** A text was read: count it, and what is odd about it. */
void dd_summary_look(struct dd_summary *all, const struct dd_options *options,
		     const struct in_reader *reader, const struct in_row *row);

/**
 * Now and then, how far reading has come.
 *
 * @param bytes  read of all inputs
 */
void dd_summary_progress(struct dd_summary *all, const struct dd_options *options, uint64_t bytes,
			 struct dd_output *output);

/**
 * After 10,000 documents, and again after ten times as many: warn if the run is likely to end for
 * want of memory.
 *
 * @param bytes   read of all inputs up to the last row
 * @param each    bytes that a document needs until the end
 * @param tables  bytes that there are for all
 */
void dd_summary_estimate(struct dd_summary *all, const struct dd_options *options, uint64_t bytes,
			 uint64_t each, uint64_t tables);

/** A stream has failed: the file or directory of its rows is not complete. */
void dd_summary_tell_partial(const struct dd_options *options);

/** Reading has ended before a place, as memory is used up. Returns the exit code. */
int dd_summary_tell_full(const struct dd_summary *all, const struct dd_options *options,
			 const char *place);

/**
 * Tell of it.
 *
 * @param dedup  NULL if there was no document
 * @param remember  enum simidx_dedup_remember, of --index
 * @return comparisons for which a text could not be read again, though nobody has limited that
 */
uint64_t dd_summary_tell(const struct dd_summary *all, const struct dd_options *options,
			 const simidx_dedup *dedup, const struct dd_again *again,
			 struct dd_output *output, int remember);

#endif /* DD_SUMMARY_H */
