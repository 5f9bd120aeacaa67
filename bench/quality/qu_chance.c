/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "quality/qu_chance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bn_util.h"

#define SAMPLE 200      /* queries */
#define GRID 64         /* cosines; between them the logarithm is taken as straight */
#define MAX_LIMIT 1024  /* of a rule */
#define UNIT 32.0       /* of weights: a standard deviation of a sum */
#define TAIL 1000       /* pairs that the tail of the cosines is taken from */
#define Z 1.959964      /* of the normal distribution, 2.5 % above it */

/* Chances of each distance up to a limit, after one bit more. */
static void add_bit(double *chance, unsigned limit, unsigned weight, double differs)
{
	unsigned t;

	if (!weight)
		return;
	for (t = limit + 1; t-- > 0;)
		chance[t] = chance[t] * (1 - differs) +
			    (t >= weight ? chance[t - weight] * differs : 0);
}

static void add_bits(double *chance, unsigned limit, const uint8_t *weights, double cosine)
{
	double slope = cosine / sqrt(2 * (1 - cosine * cosine)) / UNIT;

	for (unsigned b = 0; b < 64; b++)
		add_bit(chance, limit, weights ? weights[b] : 1,
			weights ? erfc(slope * weights[b]) / 2 : acos(cosine) / acos(-1));
}

/* Chance of a document with this cosine to be within the limit of a query. */
static double chance_of(const struct qu_rule *rule, const struct qu_fp *query, double cosine)
{
	double chance[MAX_LIMIT + 1] = { 1 }, sum = 0;

	add_bits(chance, rule->limit, rule->kind == QU_PLAIN ? NULL : query->weights, cosine);
	if (rule->kind == QU_WEIGHTS_FP2)
		add_bits(chance, rule->limit, query->weights2, cosine);
	for (unsigned t = 0; t <= rule->limit; t++)
		sum += chance[t];
	return fmin(sum, 1);
}

void qu_chances(const struct qu_fp *fps, size_t n, const struct qu_rule *rules, size_t n_rules,
		struct qu_chance *out)
{
	size_t sample = n < SAMPLE ? n : SAMPLE, r, i, b;

	for (r = 0; r < n_rules; r++) {
		double log_at[GRID + 1] = { 0 }; /* of equal documents: 0 */

		if (rules[r].limit > MAX_LIMIT)
			bn_die("a limit is too large");
		for (b = 0; b < GRID; b++) {
			double mean = 0;

			for (i = 0; i < sample; i++)
				mean += chance_of(&rules[r], &fps[i * n / sample],
						  (double)b / GRID) /
					(double)sample;
			log_at[b] = log(mean);
		}
		for (b = 0; b < QU_BINS; b++) {
			double x = ((double)b + 0.5) * GRID / QU_BINS;
			size_t left = (size_t)x;

			out[r].at[b] = exp(log_at[left] + (x - (double)left) *
								  (log_at[left + 1] -
								   log_at[left]));
		}
		out[r].by_bits = exp(log_at[0]);
	}
}

/* Of a query: chances of each distance by the first fingerprint, of all up to it by the second. */
struct distances {
	double first[QU_SAME_GRID + 1][MAX_LIMIT + 1], second[QU_SAME_GRID + 1][MAX_LIMIT + 1];
};

static void distances_of(const struct qu_fp *query, unsigned limit, struct distances *d)
{
	memset(d, 0, sizeof(*d));
	for (size_t i = 0; i <= QU_SAME_GRID; i++) {
		d->first[i][0] = d->second[i][0] = 1;
		add_bits(d->first[i], limit, query->weights, (double)i / QU_SAME_GRID);
		add_bits(d->second[i], limit, query->weights2, (double)i / QU_SAME_GRID);
		for (unsigned t = 1; t <= limit; t++)
			d->second[i][t] += d->second[i][t - 1];
	}
}

/* Where on the diagonal the chance is this, as its logarithm; there it grows. */
static double on_diagonal(double mean[QU_SAME_GRID + 1][QU_SAME_GRID + 1], double log_chance)
{
	size_t i = 0;
	double from, to;

	while (i + 1 < QU_SAME_GRID && log(mean[i + 1][i + 1]) < log_chance)
		i++;
	from = log(mean[i][i]);
	to = log(mean[i + 1][i + 1]);
	return ((double)i + fmin(fmax((log_chance - from) / (to - from), 0), 1)) / QU_SAME_GRID;
}

void qu_same_of(const struct qu_fp *fps, size_t n, unsigned limit, struct qu_same *out)
{
	size_t sample = n < SAMPLE ? n : SAMPLE, i, j, k;
	double mean[QU_SAME_GRID + 1][QU_SAME_GRID + 1] = { { 0 } };
	struct distances *d = bn_alloc(1, sizeof(*d));

	for (k = 0; k < sample; k++) {
		distances_of(&fps[k * n / sample], limit, d);
		for (i = 0; i <= QU_SAME_GRID; i++)
			for (j = 0; j <= QU_SAME_GRID; j++)
				for (unsigned t = 0; t <= limit; t++)
					mean[i][j] += d->first[i][t] * d->second[j][limit - t] /
						      (double)sample;
	}
	for (i = 0; i <= QU_SAME_GRID; i++)
		for (j = 0; j <= QU_SAME_GRID; j++)
			out->of[i][j] = on_diagonal(mean, log(mean[i][j]));
	free(d);
}

static double expected(const uint64_t *pairs, size_t from, size_t to,
		       const struct qu_chance *chance)
{
	double sum = 0;

	for (size_t b = from; b < to; b++)
		sum += (double)pairs[b] * chance->at[b];
	return sum;
}

/* A generalised Pareto distribution: the share above x. */
static double above(double x, double shape, double scale)
{
	double base = 1 + shape * x / scale;

	if (fabs(shape) < 1e-6)
		return exp(-x / scale);
	return base > 0 ? pow(base, -1 / shape) : 0;
}

/* Matches in `pairs`, the most alike of which are replaced by a distribution that is like them
 * but does not end where they happen to. */
static double with_tail(const uint64_t *pairs, const struct qu_chance *chance)
{
	double n = 0, mean = 0, variance = 0, sum = 0, ratio;
	size_t from = QU_BINS, b;

	while (from && n < TAIL) {
		from--;
		n += (double)pairs[from];
	}
	for (b = from; b < QU_BINS; b++)
		mean += (double)pairs[b] * ((double)(b - from) + 0.5) / n;
	for (b = from; b < QU_BINS; b++)
		variance += (double)pairs[b] * pow((double)(b - from) + 0.5 - mean, 2) / n;
	if (!(variance > 0))
		return expected(pairs, 0, QU_BINS, chance);
	ratio = mean * mean / variance;
	for (b = from; b < QU_BINS; b++)
		sum += chance->at[b] *
		       (above((double)(b - from), (1 - ratio) / 2, mean * (1 + ratio) / 2) -
			above((double)(b + 1 - from), (1 - ratio) / 2, mean * (1 + ratio) / 2));
	return expected(pairs, 0, from, chance) + n * sum;
}

static double share_of(const uint64_t *pairs, const struct qu_chance *chance, int tail)
{
	double n = 0;

	for (size_t b = 0; b < QU_BINS; b++)
		n += (double)pairs[b];
	if (!(n > 0))
		return 0;
	return (tail ? with_tail(pairs, chance) : expected(pairs, 0, QU_BINS, chance)) / n;
}

struct qu_expected qu_expected_of(const struct qu_cosines *cosines,
				  const struct qu_chance *chance, double n, int tail)
{
	struct qu_expected e = { n * share_of(cosines->all, chance, tail), 0, 0 };
	double without[QU_GROUPS], mean = 0, square = 0, error;
	uint64_t rest[QU_BINS];
	unsigned g;

	for (g = 0; g < QU_GROUPS; g++) {
		for (size_t b = 0; b < QU_BINS; b++)
			rest[b] = cosines->all[b] - cosines->with[g][b];
		without[g] = log(fmax(share_of(rest, chance, tail), 1e-300));
		mean += without[g] / QU_GROUPS;
	}
	for (g = 0; g < QU_GROUPS; g++)
		square += pow(without[g] - mean, 2);
	error = sqrt(square * (QU_GROUPS - 1) / QU_GROUPS);
	e.low = e.is * exp(-Z * error);
	e.high = e.is * exp(Z * error);
	return e;
}
