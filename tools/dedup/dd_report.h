/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What is told of single inputs and rows; the files of --rejects, --list-binary and --summary.
 */

#ifndef DD_REPORT_H
#define DD_REPORT_H

#include "dedup/dd_summary.h"

#include <stdio.h>

/** Zero but for the first: nothing is open. */
struct dd_report {
	const struct dd_options *options;
	FILE *rejects, *binary, *summary; /* NULL: none is wanted */
};

/** Open them. dd_check_outputs() has found nothing. Returns 0, or TL_TROUBLE with a message. */
int dd_report_begin(struct dd_report *report);

/** An input or row cannot be had: say so, and count it. */
void dd_report_reject(struct dd_report *report, struct dd_summary *all, const char *place,
		      const char *reason);

/** A file is no text: --list-binary. */
void dd_report_binary(struct dd_report *report, const char *path);

/**
 * Write the summary and close all.
 *
 * @param code    the exit code so far
 * @param output  NULL: it never began
 * @param dedup   NULL: there was no document
 * @return `code`, or TL_TROUBLE with a message when not all could be written
 */
int dd_report_end(struct dd_report *report, int code, const struct dd_summary *all,
		  const struct dd_output *output, const simidx_dedup *dedup, uint64_t bytes);

#endif /* DD_REPORT_H */
