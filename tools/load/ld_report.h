/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What a load counts and reports: rejected rows, progress, the summary.
 */

#ifndef LD_REPORT_H
#define LD_REPORT_H

#include "common/tl_report.h"
#include "input/in_reader.h"
#include "load/ld_options.h"

#include <stdio.h>

#define LD_MAX_PHASES 16

/** A part of the work, in the order in which they began. */
struct ld_phase {
	char name[24];
	double seconds;
};

/** What is worth a word, although it is no error. Of each kind the first place is kept. */
enum ld_remark {
	LD_NOT_UTF8,     /* texts with bytes that are no UTF-8 */
	LD_SKIPPED,      /* files in directories that are no texts */
	LD_FUTURE,       /* rows whose time is later than the clock */
	LD_N_REMARKS
};

/** The counts of a load. */
struct ld_report {
	const struct ld_options *options;
	uint64_t rows;       /* read in this run, rejected ones included */
	uint64_t texts;      /* of these */
	uint64_t resumed;    /* rows that an earlier run had stored or rejected */
	uint64_t stored;     /* documents that the index has more than before */
	uint64_t documents;  /* in the index in the end */
	int is_unmeasured;   /* it could not be asked for that */
	uint64_t rejected;
	uint64_t skipped;    /* files that are no texts */
	uint64_t skipped_named; /* of these, inputs that were named */
	uint64_t duplicates; /* documents left out because of their id or label */
	uint64_t there;      /* of these, rows that are no errors: --on-duplicate first, --touch */
	uint64_t near;       /* documents left out because others are near (--mode if-new) */
	uint64_t touched;    /* rows that were left out, and a document got their time (--touch) */
	uint64_t undecided;  /* rows that others have been before, each time: not stored */
	uint64_t missing;    /* documents that were to be deleted, and are not there */
	char first_missing[160]; /* where the first one is asked for */
	uint64_t empty_texts; /* without features */
	uint64_t short_texts; /* not counting these */
	uint64_t bytes;      /* read */
	uint64_t index_bytes; /* of the data file in the end */
	const char *way;     /* ld_target_way() */
	struct tl_remark remarks[LD_N_REMARKS], doubts[IN_N_DOUBTS];
	int advised;         /* that duplicates need not be errors */
	FILE *rejects;       /* --rejects */
	FILE *summary;       /* --summary */
	double started;
	/* ld_progress.c */
	struct ld_phase phase[LD_MAX_PHASES]; /* the first one is "read" */
	unsigned n_phases, current;
	double phase_started;
	uint64_t phase_done;  /* when it began or went on */
	double shown;         /* when the progress line was last drawn */
	uint64_t passed;      /* bytes of rows that were passed over */
	int is_build;         /* an index is built, in four steps */
	uint64_t other_rows;  /* then: documents that come from other indexes */
	uint64_t build_rows;  /* all rows, once the building has begun; else 0 */
	int wait_reported;    /* that somebody is waited for */
};

/** Begin; opens --rejects and --summary. Returns 0, or TL_TROUBLE with a message. */
int ld_report_begin(struct ld_report *report, const struct ld_options *options);

/**
 * Write the summary and close what is open. Returns `code`, or TL_TROUBLE when not all could be
 * written.
 */
int ld_report_end(struct ld_report *report, int code);

/**
 * A row or file is left out.
 *
 * @param place         may be empty
 * @param is_duplicate  because its id or label is in use
 */
void ld_report_reject(struct ld_report *report, const char *place, const char *reason,
		      int is_duplicate);

/** What was to be deleted is not there: counted, and listed in --rejects. */
void ld_report_missing(struct ld_report *report, const char *place);

/** Other writers were first each time: counted, and listed in --rejects. */
void ld_report_undecided(struct ld_report *report, const char *place);

/** An input that was named is no text. */
void ld_report_skip(struct ld_report *report, const char *place, const char *reason);

/** Count a remark. */
void ld_report_remark(struct ld_report *report, enum ld_remark remark, const char *place);

/** Whether more rows were rejected than --max-errors allows. */
int ld_report_too_many(const struct ld_report *report);

/** Print remarks, and in one line what the load did. */
void ld_report_success(struct ld_report *report);

/* ---- ld_progress.c ---- */

/** Another part of the work begins, or one goes on. */
void ld_report_phase(struct ld_report *report, const char *name);

/** From now on an index is built; `other_rows` documents come from other indexes. */
void ld_report_build(struct ld_report *report, uint64_t other_rows);

/** Draw the progress line of reading, if it is time. `bytes` are those read so far. */
void ld_report_progress(struct ld_report *report, uint64_t bytes);

/**
 * Draw that of another phase, which begins or goes on if it is not the current one. `done` of
 * `total` as simidx_set_progress() has them; "waiting: " and a reason is for another writer.
 */
void ld_report_work(struct ld_report *report, const char *phase, uint64_t done, uint64_t total);

#endif /* LD_REPORT_H */
