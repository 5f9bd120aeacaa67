/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Figures of several contestants, several kinds of work and several rounds: JSON lines on the
 * standard output, a table for people on the standard error. Ratios are taken within a round,
 * whose parts follow each other closely, and their median is what is printed.
 */

#ifndef BN_REPORT_H
#define BN_REPORT_H

#include <stdint.h>

#define BN_MAX_RIVALS 64
#define BN_MAX_WORKS 24

struct bn_cell {
	double *us, *p50, *p99; /**< by round; p50 and p99 are 0 where they were not measured */
	unsigned n;
	double matches;         /**< a query */
};

struct bn_report {
	const char *bench;      /**< of the program: "search", "live" */
	const char *set, *class;
	uint64_t documents;
	const char *rival[BN_MAX_RIVALS];
	int arrays[BN_MAX_RIVALS]; /**< the arrays that a contestant is compared with, or -1 */
	int mih;                /**< which contestant is mih-rs, or -1 */
	unsigned n_rivals;
	const char *work[BN_MAX_WORKS];
	/* What over_base compares with; both -1: with nothing. */
	int base_work;          /**< the figure of the same contestant for this work */
	int base_rival;         /**< with base_work -1: the figure of this contestant for the same
	                             work */
	unsigned n_works;
	unsigned rounds;
	struct bn_cell cell[BN_MAX_WORKS][BN_MAX_RIVALS];
};

/** Make room for the rounds. Names, `n_rivals`, `n_works` and `rounds` must be set. */
void bn_report_begin(struct bn_report *report);

/** Add a round. What is not added is not printed. */
void bn_report_add(struct bn_report *report, unsigned work, unsigned rival, double us, double p50,
		   double p99, double matches);

void bn_report_print(struct bn_report *report);
void bn_report_end(struct bn_report *report);

#endif /* BN_REPORT_H */
