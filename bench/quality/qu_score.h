/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Precision, recall and F1 with 95 % intervals. Counts may be means over seeds.
 */

#ifndef QU_SCORE_H
#define QU_SCORE_H

#include <stddef.h>

struct qu_value {
	double is, low, high;
};

struct qu_score {
	struct qu_value precision, recall, f1;
};

/** Share `part` / `whole` with Wilson's interval; 1, 0..1 for a whole of 0. */
struct qu_value qu_share(double part, double whole);

struct qu_score qu_score_of(double near, double wrong, double missed);

/** Mean of `n` independent values. */
struct qu_value qu_mean(const struct qu_value *values, size_t n);

#endif /* QU_SCORE_H */
