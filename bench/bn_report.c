/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "bn_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bn_util.h"

void bn_report_begin(struct bn_report *report)
{
	memset(report->cell, 0, sizeof(report->cell));
	for (unsigned w = 0; w < report->n_works; w++) {
		for (unsigned r = 0; r < report->n_rivals; r++) {
			struct bn_cell *cell = &report->cell[w][r];

			cell->us = bn_alloc(report->rounds, sizeof(double));
			cell->p50 = bn_alloc(report->rounds, sizeof(double));
			cell->p99 = bn_alloc(report->rounds, sizeof(double));
		}
	}
}

void bn_report_end(struct bn_report *report)
{
	for (unsigned w = 0; w < report->n_works; w++) {
		for (unsigned r = 0; r < report->n_rivals; r++) {
			free(report->cell[w][r].us);
			free(report->cell[w][r].p50);
			free(report->cell[w][r].p99);
		}
	}
}

void bn_report_add(struct bn_report *report, unsigned work, unsigned rival, double us,
		   double p50, double p99, double matches)
{
	struct bn_cell *cell = &report->cell[work][rival];

	cell->us[cell->n] = us;
	cell->p50[cell->n] = p50;
	cell->p99[cell->n] = p99;
	cell->matches = matches;
	cell->n++;
}

/* Quantile of a copy: the rounds must stay in their order. */
static double quantile(const double *v, unsigned n, double q)
{
	double *copy = bn_alloc(n, sizeof(*copy)), out;

	if (n)
		memcpy(copy, v, n * sizeof(*copy));
	out = bn_quantile(copy, n, q);
	free(copy);
	return out;
}

/*
 * One cell over another, round by round: median, least and greatest; null where it makes no sense.
 */
static void print_ratio(const char *name, const struct bn_cell *cell, const struct bn_cell *base)
{
	double *ratios, median;

	if (!base || cell == base || !base->n || base->n != cell->n) {
		printf(",\"%s\":null", name);
		fprintf(stderr, " %10s", "-");
		return;
	}
	ratios = bn_alloc(cell->n, sizeof(*ratios));
	for (unsigned i = 0; i < cell->n; i++)
		ratios[i] = base->us[i] > 0 ? cell->us[i] / base->us[i] : 0;
	median = bn_quantile(ratios, cell->n, 0.5);
	printf(",\"%s\":%.3f,\"%s_min\":%.3f,\"%s_max\":%.3f", name, median, name, ratios[0],
	       name, ratios[cell->n - 1]);
	fprintf(stderr, " %10.3f", median);
	free(ratios);
}

static void print_cell(const struct bn_report *report, unsigned w, unsigned r)
{
	const struct bn_cell *cell = &report->cell[w][r], *row = report->cell[w];
	const struct bn_cell *base = cell;
	double us = quantile(cell->us, cell->n, 0.5), p50 = quantile(cell->p50, cell->n, 0.5);
	double p99 = quantile(cell->p99, cell->n, 0.5);
	double low = quantile(cell->us, cell->n, 0), high = quantile(cell->us, cell->n, 1);

	printf("{\"bench\":\"%s\",\"set\":\"%s\",\"documents\":%llu,\"class\":\"%s\""
	       ",\"work\":\"%s\",\"contestant\":\"%s\",\"us\":%.4f,\"us_min\":%.4f,\"us_max\":%.4f",
	       report->bench, report->set, (unsigned long long)report->documents, report->class,
	       report->work[w], report->rival[r], us, low, high);
	fprintf(stderr, "  %-22s %11.3f %11.3f %11.3f", report->rival[r], us, low, high);
	if (p50 > 0) {
		printf(",\"p50_us\":%.4f,\"p99_us\":%.4f", p50, p99);
		fprintf(stderr, " %11.3f %11.3f", p50, p99);
	} else {
		printf(",\"p50_us\":null,\"p99_us\":null");
		fprintf(stderr, " %11s %11s", "-", "-");
	}
	printf(",\"matches\":%.4f", cell->matches);
	print_ratio("over_arrays", cell,
		    report->arrays[r] < 0 ? NULL : &row[report->arrays[r]]);
	print_ratio("over_mih", cell, report->mih < 0 ? NULL : &row[report->mih]);
	if (report->base_work >= 0)
		base = &report->cell[report->base_work][r];
	else if (report->base_rival >= 0)
		base = &row[report->base_rival];
	print_ratio("over_base", cell, base);
	printf("}\n");
	fputc('\n', stderr);
}

void bn_report_print(struct bn_report *report)
{
	for (unsigned w = 0; w < report->n_works; w++) {
		int begun = 0;

		for (unsigned r = 0; r < report->n_rivals; r++) {
			if (!report->cell[w][r].n)
				continue;
			if (!begun)
				fprintf(stderr,
					"\n%s, %llu documents, %s queries, %s\n  %-22s %11s %11s"
					" %11s %11s %11s %10s %10s %10s\n",
					report->set, (unsigned long long)report->documents,
					report->class, report->work[w], "", "us", "min", "max",
					"p50", "p99", "/arrays", "/mih-rs", "/base");
			begun = 1;
			print_cell(report, w, r);
		}
	}
	fflush(stdout);
}
