/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The files of --rejects and --summary.
 */

#ifndef DD_REPORT_H
#define DD_REPORT_H

#include "dedup/dd_summary.h"

#include <stdio.h>

struct dd_report {
	const struct dd_options *options;
	FILE *rejects, *summary; /* NULL: none is wanted */
};

/** Open both. dd_check_outputs() has found nothing. Returns 0, or TL_TROUBLE with a message. */
int dd_report_begin(struct dd_report *report, const struct dd_options *options);

/**
 * Write the summary and close both.
 *
 * @param code    the exit code so far
 * @param output  NULL: it never began
 * @param dedup   NULL: there was no document
 * @return `code`, or TL_TROUBLE with a message when not all could be written
 */
int dd_report_end(struct dd_report *report, int code, const struct dd_summary *all,
		  const struct dd_output *output, const simidx_dedup *dedup, uint64_t bytes);

#endif /* DD_REPORT_H */
