/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What a load counts and tells: rejected rows, progress, the summary.
 */

#ifndef LD_REPORT_H
#define LD_REPORT_H

#include "load/ld_options.h"

#include <stdio.h>

#define LD_MAX_PHASES 16

/** A part of the work, in the order in which they began. */
struct ld_phase {
	char name[24];
	double seconds;
};

/** The counts of a load. */
struct ld_report {
	const struct ld_options *options;
	uint64_t rows;       /* read in this run, rejected ones included */
	uint64_t resumed;    /* rows that an earlier run had stored or rejected */
	uint64_t stored;     /* documents that the index has more than before */
	uint64_t rejected;
	uint64_t skipped;    /* files */
	uint64_t duplicates; /* documents left out because of their id or label */
	uint64_t short_texts;
	uint64_t bytes;      /* read */
	uint64_t index_bytes; /* of the data file in the end */
	const char *mode;    /* "create", "insert", "rebuild" or "insert, rebuild" */
	FILE *rejects;       /* --rejects */
	FILE *summary;       /* --summary */
	struct ld_phase phase[LD_MAX_PHASES]; /* the first one is "read" */
	unsigned n_phases, current;
	double started, phase_started;
	uint64_t phase_done; /* when it began or went on */
	double shown;        /* when the progress line was last drawn */
	uint64_t passed;     /* bytes of rows that were passed over */
	int wants_progress;
};

/** Begin; opens --rejects and --summary. Returns 0, or TL_TROUBLE with a message. */
int ld_report_begin(struct ld_report *report, const struct ld_options *options);

/** Write the summary and close what is open. Returns `code`, or TL_TROUBLE when not all could be written. */
int ld_report_end(struct ld_report *report, int code);

/** A row or file is left out. `place` may be empty. */
void ld_report_reject(struct ld_report *report, const char *place, const char *reason);

/** A file is no text. */
void ld_report_skip(struct ld_report *report, const char *place, const char *reason);

/** Whether more rows were rejected than --max-errors allows. */
int ld_report_too_many(const struct ld_report *report);

/** Another part of the work begins, or one goes on. */
void ld_report_phase(struct ld_report *report, const char *name);

/** Draw the progress line of reading, if it is time. `bytes` are those read so far. */
void ld_report_progress(struct ld_report *report, uint64_t bytes);

/** Draw that of another phase, which begins or goes on if it is not the current one. */
void ld_report_work(struct ld_report *report, const char *phase, uint64_t done, uint64_t total);

/** Print the summary on stderr. */
void ld_report_tell(struct ld_report *report);

/** Write --summary and close it. Returns `code`, or TL_TROUBLE with a message. */
int ld_summary_write(struct ld_report *report, int code);

#endif /* LD_REPORT_H */
