/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What was found, as JSON lines on the standard output and as tables on the standard error.
 */

#ifndef QU_REPORT_H
#define QU_REPORT_H

#include "quality/qu_search.h"

/** What is left of a collection when it has been searched. */
struct qu_result {
	const struct qu_set *set;
	struct qu_found *found; /**< by seed, then by rule */
	int apart;              /**< not in the means */
};

/** One extractor with all collections. */
struct qu_report {
	const char *extractor;
	const struct qu_rule *rules;
	size_t n_rules, n_seeds;
	struct qu_result *results;
	size_t n_results;
};

/** A rule in JSON lines, such as "weights+fp2". */
const char *qu_kind_name(enum qu_rule_kind kind);

/** A rule in tables, such as "words12 k = 3". */
void qu_rule_name(const char *extractor, const struct qu_rule *rule, char *to, size_t size);

/** Of one set: JSON lines for each seed and for the mean of them, and a table of the mean. */
void qu_report_set(const struct qu_report *report, const struct qu_result *result);

/** How evenly the bits of fingerprints are set. */
void qu_report_bits(const struct qu_set *set, const char *extractor, size_t seed,
		    const struct qu_fp *fps);

/**
 * Over the sets: the mean F1 of those with 50 near pairs or more, and the F1 of all pairs
 * together.
 */
void qu_report_means(const struct qu_report *report);

#endif /* QU_REPORT_H */
