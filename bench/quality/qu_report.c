/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "quality/qu_report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bn_util.h"
#include "quality/qu_score.h"

#define ENOUGH_PAIRS 50
#define MAX_SETS 64

const char *qu_kind_name(enum qu_rule_kind kind)
{
	static const char *const names[] = { "k", "weights", "weights+fp2" };

	return names[kind];
}

static void print_value(const char *name, struct qu_value v)
{
	printf(",\"%s\":%.4f,\"%s_low\":%.4f,\"%s_high\":%.4f", name, v.is, name, v.low, name,
	       v.high);
}

static void print_head(const char *set, const struct qu_report *report,
		       const struct qu_rule *rule, size_t seed)
{
	printf("{\"bench\":\"quality\",\"set\":\"%s\",\"extractor\":\"%s\",\"rule\":\"%s\""
	       ",\"limit\":%u",
	       set, report->extractor, qu_kind_name(rule->kind), rule->limit);
	if (seed == report->n_seeds)
		printf(",\"seed\":\"mean\",\"seeds\":%zu", report->n_seeds);
	else
		printf(",\"seed\":%zu", seed);
}

/* The mean over the seeds; `at` is the first seed's. */
static struct qu_found mean_found(const struct qu_report *report, const struct qu_found *at)
{
	struct qu_found mean;
	double n = (double)report->n_seeds;

	memset(&mean, 0, sizeof(mean));
	for (size_t i = 0; i < report->n_seeds; i++, at += report->n_rules) {
		mean.near += at->near / n;
		mean.wrong += at->wrong / n;
		mean.missed += at->missed / n;
		mean.grey += at->grey / n;
		mean.candidates += at->candidates / n;
		mean.uniform += at->uniform / n;
		for (unsigned j = 0; j < QU_MAX_KINDS; j++)
			mean.kinds[j] += at->kinds[j] / n;
	}
	return mean;
}

static double skew(const struct qu_found *found)
{
	return found->uniform > 0 ? found->candidates / found->uniform : 0;
}

static void print_found(const struct qu_set *set, const struct qu_found *found)
{
	struct qu_score score = qu_score_of(found->near, found->wrong, found->missed);

	if (!set->is_of_edits) {
		printf(",\"near\":%.2f,\"wrong\":%.2f,\"missed\":%.2f,\"grey\":%.2f",
		       found->near, found->wrong, found->missed, found->grey);
		print_value("precision", score.precision);
		print_value("recall", score.recall);
		print_value("f1", score.f1);
	}
	if (set->n_kinds) {
		printf(",\"%s\":{", set->is_of_edits ? "recall" : "recall_of_kinds");
		for (unsigned i = 0; i < set->n_kinds; i++)
			printf("%s\"%s\":%.4f", i ? "," : "", set->kinds[i],
			       found->kinds[i] / (double)set->edits[i]);
		printf("}");
	}
	printf(",\"candidates\":%.2f,\"uniform\":%.2f,\"over_uniform\":%.2f}\n",
	       found->candidates, found->uniform, skew(found));
}

void qu_rule_name(const char *extractor, const struct qu_rule *rule, char *to, size_t size)
{
	snprintf(to, size, "%s %s %s%u", extractor, qu_kind_name(rule->kind),
		 rule->kind == QU_PLAIN ? "= " : "<= ", rule->limit);
}

static void table_row(const struct qu_report *report, const struct qu_rule *rule,
		      const struct qu_found *found)
{
	struct qu_score s = qu_score_of(found->near, found->wrong, found->missed);
	char name[80];

	qu_rule_name(report->extractor, rule, name, sizeof(name));
	fprintf(stderr, "  %-28s %9.3f %7.3f %7.3f %5.3f..%5.3f %7.1f %7.1f %11.1f %6.2f\n",
		name, s.precision.is, s.recall.is, s.f1.is, s.f1.low, s.f1.high, found->wrong,
		found->grey, found->candidates, skew(found));
}

static void table_of_edits(const struct qu_report *report, const struct qu_result *result)
{
	const struct qu_set *set = result->set;
	char name[80];
	size_t r;

	for (r = 0; r < report->n_rules; r++) {
		struct qu_found mean = mean_found(report, &result->found[r]);

		if (report->rules[r].place != QU_TABLES)
			continue;
		qu_rule_name(report->extractor, &report->rules[r], name, sizeof(name));
		fprintf(stderr, "  %s\n   ", name);
		for (unsigned i = 0; i < set->n_kinds; i++)
			fprintf(stderr, " %s %.3f%s", set->kinds[i],
				mean.kinds[i] / (double)set->edits[i],
				i % 6 == 5 && i + 1 < set->n_kinds ? "\n   " : "");
		fputc('\n', stderr);
	}
}

void qu_report_set(const struct qu_report *report, const struct qu_result *result)
{
	const struct qu_set *set = result->set;
	size_t seed, r;

	for (r = 0; r < report->n_rules; r++) {
		const struct qu_found *first = &result->found[r];
		struct qu_found mean = mean_found(report, first);

		for (seed = 0; seed <= report->n_seeds; seed++) {
			print_head(set->name, report, &report->rules[r], seed);
			print_found(set, seed == report->n_seeds
						 ? &mean
						 : &first[seed * report->n_rules]);
		}
	}
	fflush(stdout);
	fprintf(stderr, "%s: %zu documents, %zu near pairs, mean of %zu seeds\n", set->name,
		set->n, set->n_near, report->n_seeds);
	if (set->n_kinds)
		table_of_edits(report, result);
	if (set->is_of_edits)
		return;
	fprintf(stderr, "  %-28s %9s %7s %7s %12s %7s %7s %11s %6s\n", "", "precision",
		"recall", "F1", "95 %", "wrong", "grey", "candidates", "/unif.");
	for (r = 0; r < report->n_rules; r++) {
		struct qu_found mean = mean_found(report, &result->found[r]);

		if (report->rules[r].place != QU_JSON)
			table_row(report, &report->rules[r], &mean);
	}
}

void qu_report_bits(const struct qu_set *set, const char *extractor, size_t seed,
		    const struct qu_fp *fps)
{
	double least = 1, most = 0, off = 0;

	for (unsigned b = 0; b < 64; b++) {
		double share = 0;

		for (size_t i = 0; i < set->n; i++)
			share += (double)(fps[i].fp >> b & 1);
		share /= (double)set->n;
		least = fmin(least, share);
		most = fmax(most, share);
		off += fabs(share - 0.5) / 64;
	}
	printf("{\"bench\":\"quality\",\"set\":\"%s\",\"extractor\":\"%s\",\"seed\":%zu"
	       ",\"documents\":%zu,\"bit_set_least\":%.3f,\"bit_set_most\":%.3f"
	       ",\"bit_off_balance\":%.4f}\n",
	       set->name, extractor, seed, set->n, least, most, off);
	if (!seed)
		fprintf(stderr,
			"\n%s, %s: a bit is set in %.1f..%.1f %% of the fingerprints, on average "
			"%.1f off 50\n",
			set->name, extractor, 100 * least, 100 * most, 100 * off);
}

/* Means of one rule for one seed, or with the mean of all seeds. */
struct means {
	struct qu_value mean;
	struct qu_score pooled;
	double worst; /* most wrong pairs in a set */
};

static struct means means_of(const struct qu_report *report, size_t r, size_t seed)
{
	struct qu_value values[MAX_SETS];
	struct qu_found sum = { 0 };
	struct means means;
	size_t n = 0;

	means.worst = 0;
	for (size_t i = 0; i < report->n_results; i++) {
		const struct qu_result *result = &report->results[i];
		struct qu_found f = mean_found(report, &result->found[r]);

		if (result->apart || result->set->is_of_edits)
			continue;
		if (seed < report->n_seeds)
			f = result->found[seed * report->n_rules + r];
		sum.near += f.near;
		sum.wrong += f.wrong;
		sum.missed += f.missed;
		means.worst = fmax(means.worst, f.wrong);
		if (result->set->n_near >= ENOUGH_PAIRS && n < MAX_SETS)
			values[n++] = qu_score_of(f.near, f.wrong, f.missed).f1;
	}
	means.mean = qu_mean(values, n);
	means.pooled = qu_score_of(sum.near, sum.wrong, sum.missed);
	return means;
}

void qu_report_means(const struct qu_report *report)
{
	char name[80];
	size_t r, seed;

	fprintf(stderr, "\n%s: mean F1 of sets with %d near pairs or more, and of all pairs\n",
		report->extractor, ENOUGH_PAIRS);
	fprintf(stderr, "  %-28s %6s %12s %12s %7s %12s %12s\n", "", "mean", "95 %", "seeds",
		"pooled", "95 %", "wrong a set");
	for (r = 0; r < report->n_rules; r++) {
		double least = 1, most = 0;
		struct means m;

		for (seed = 0; seed <= report->n_seeds; seed++) {
			m = means_of(report, r, seed);
			print_head("all", report, &report->rules[r], seed);
			print_value("mean_f1", m.mean);
			print_value("pooled_f1", m.pooled.f1);
			printf(",\"most_wrong\":%.2f}\n", m.worst);
			if (seed < report->n_seeds) {
				least = fmin(least, m.mean.is);
				most = fmax(most, m.mean.is);
			}
		}
		qu_rule_name(report->extractor, &report->rules[r], name, sizeof(name));
		if (report->rules[r].place != QU_JSON)
			fprintf(stderr,
				"  %-28s %6.3f %5.3f..%5.3f %5.3f..%5.3f %7.3f %5.3f..%5.3f"
				" %12.1f\n",
				name, m.mean.is, m.mean.low, m.mean.high, least, most,
				m.pooled.f1.is, m.pooled.f1.low, m.pooled.f1.high, m.worst);
	}
}
