/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Files in which a program says what it did: --rejects, a line for each row that was left out of
 * the work, and --summary, counts as JSON.
 */

#ifndef TL_REPORT_H
#define TL_REPORT_H

#include <stdint.h>
#include <stdio.h>

/** What to do where a file cannot be made, or "". */
const char *tl_report_advise(int reason);

/**
 * Open such a file.
 *
 * @param path  "-" is standard output; NULL: there is none
 * @param mode  as of fopen()
 * @param out   set to it, or to NULL
 * @return 0, or TL_TROUBLE with a message
 */
int tl_report_open(const char *path, const char *mode, FILE **out);

/**
 * Close it.
 *
 * @param out   NULL: it was not opened
 * @param code  the exit code so far
 * @param what  it has, for a message
 * @return `code`, or TL_TROUBLE with a message when not all could be written; of standard output
 *         that is told in the end
 */
int tl_report_close(FILE *out, const char *path, const char *what, int code);

/**
 * Whether to tell of the `n`th of such rows or files, counted from 1, and of no more than three
 * rows together with the same reason. Of the first that is not told a message says that more are
 * only counted.
 */
int tl_report_tells(uint64_t n, const char *what, const char *place, const char *reason);

/** A line of --rejects: where the row is, a tab, and the reason. Nothing if `out` is NULL. */
void tl_report_reject(FILE *out, const char *place, const char *reason);

/** What is odd about several things, of which the first is told; all zero: nothing is. */
struct tl_remark {
	uint64_t n;
	char *first; /* where the first is: for free() */
};

/** One more. */
void tl_remark_add(struct tl_remark *remark, const char *place);

/** A notice of how many there are, if any: what one or many are, and what to do. */
void tl_remark_tell(const struct tl_remark *remark, const char *one, const char *many,
		    const char *advice);

/** The most memory that this process has had, in bytes. */
uint64_t tl_report_peak(void);

#endif /* TL_REPORT_H */
