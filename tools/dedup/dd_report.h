/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What a run counts and says: of single inputs and rows, in the files of --rejects, --list-binary
 * and --summary, and in the end.
 */

#ifndef DD_REPORT_H
#define DD_REPORT_H

#include "common/tl_report.h"
#include "dedup/dd_again.h"
#include "dedup/dd_output.h"
#include "input/in_reader.h"

#include <stdio.h>

/** Zero but for the first: nothing is open or counted. */
struct dd_report {
	const struct dd_options *options;
	FILE *rejects, *list_binary, *summary; /* NULL: none is wanted */
	uint64_t documents, rejected;
	uint64_t texts;      /* of `documents` */
	uint64_t text_bytes; /* of these */
	uint64_t binary;     /* of `documents`: files that are no texts */
	struct tl_remark not_utf8;   /* texts that are something else */
	struct tl_remark doubts[IN_N_DOUBTS];
	struct tl_remark skipped;    /* files found that are no texts */
	double started, seconds;
	double shown; /* when progress was */
	int has_warned; /* that memory is likely to be too small */
};

/** Open the files. dd_check_outputs() found nothing. Returns 0, or TL_TROUBLE with a message. */
int dd_report_begin(struct dd_report *report);

/** An input or row cannot be had: say so, and count it. */
void dd_report_reject(struct dd_report *report, const char *place, const char *reason);

/** A file is no text: --list-binary. */
void dd_report_binary(struct dd_report *report, const char *path);

/**
 * Write the summary and close all.
 *
 * @param code    the exit code so far
 * @param output  NULL: it never began
 * @param bytes   read of all inputs
 * @return `code`, or TL_TROUBLE with a message when not all could be written
 */
int dd_report_end(struct dd_report *report, int code, const struct dd_work *work,
		  const struct dd_output *output, uint64_t bytes);

/* ---- dd_summary.c ---- */

/** A text was read: count it, and what is odd about it. */
void dd_report_text(struct dd_report *report, const struct in_reader *reader,
		    const struct in_row *row);

/** Now and then, how far reading has come: so many bytes of all inputs. */
void dd_report_progress(struct dd_report *report, uint64_t bytes, const struct dd_output *output);

/**
 * After 10,000 documents, and again after ten times as many: warn if the run is likely to end for
 * want of memory.
 *
 * @param bytes   read of all inputs up to the last row
 * @param each    bytes that a document needs until the end
 * @param tables  bytes that there are for all
 */
void dd_report_estimate(struct dd_report *report, uint64_t bytes, uint64_t each, uint64_t tables);

/** A stream has failed: the file or directory of its rows is not complete. */
void dd_report_partial(const struct dd_report *report);

/** Reading has ended before a place, as memory is used up. Returns the exit code. */
int dd_report_full(const struct dd_report *report, const char *place);

/**
 * Tell of all, in the end.
 *
 * @return comparisons for which a text could not be read again, though nobody has limited that
 */
uint64_t dd_report_tell(struct dd_report *report, const struct dd_work *work,
			const struct dd_again *again, struct dd_output *output);

#endif /* DD_REPORT_H */
