/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "quality/qu_score.h"

#include <math.h>

#define Z 1.959964 /* of the normal distribution, 2.5 % above it */

struct qu_value qu_share(double part, double whole)
{
	struct qu_value share = { 1, 0, 1 };
	double zz = Z * Z, middle, half;

	if (whole <= 0)
		return share;
	share.is = part / whole;
	middle = (part + zz / 2) / (whole + zz);
	half = Z / (whole + zz) * sqrt(part * (1 - share.is) + zz / 4);
	share.low = fmax(0, middle - half);
	share.high = fmin(1, middle + half);
	return share;
}

/* F1 = 2 s / (1 + s) where s is the share of what was found rightly among all that is near or
 * was found: it grows with s, so the ends of an interval of s are those of one of F1. */
static double f1_of(double s)
{
	return 2 * s / (1 + s);
}

struct qu_score qu_score_of(double near, double wrong, double missed)
{
	struct qu_value s = qu_share(near, near + wrong + missed);
	struct qu_score score = {
		qu_share(near, near + wrong),
		qu_share(near, near + missed),
		{ f1_of(s.is), f1_of(s.low), f1_of(s.high) },
	};

	return score;
}

/* Method: Zou and Donner, "Construction of confidence limits about effect measures: a general
 * approach" (Statistics in Medicine 27, 2008): distances to the limits add up as variances
 * do. */
struct qu_value qu_mean(const struct qu_value *values, size_t n)
{
	struct qu_value mean = { 0, 0, 0 };
	double below = 0, above = 0;

	if (!n)
		return mean;
	for (size_t i = 0; i < n; i++) {
		mean.is += values[i].is / (double)n;
		below += pow(values[i].is - values[i].low, 2);
		above += pow(values[i].high - values[i].is, 2);
	}
	mean.low = mean.is - sqrt(below) / (double)n;
	mean.high = mean.is + sqrt(above) / (double)n;
	return mean;
}
