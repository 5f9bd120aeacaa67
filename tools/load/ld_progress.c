/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The progress line of a load, and how long each part of the work has taken.
 */

#include "load/ld_report.h"

#include "common/tl_msg.h"
#include "common/tl_number.h"

#include <string.h>

/* A wait of this many seconds is reported where no progress line is seen. */
#define WAIT_REPORTED 1.0

/* The steps of building an index, with a typical time for a row, from which the time that is left
 * is guessed before a step has begun. */
static const struct {
	const char *phase;
	double seconds;
} steps[] = {
	{ "read", 0 }, { "documents", 2.5e-7 }, { "postings", 1.5e-7 }, { "tables", 2.5e-7 }
};

#define N_STEPS ((int)(sizeof(steps) / sizeof(steps[0])))

void ld_report_phase(struct ld_report *report, const char *name)
{
	double now = tl_seconds();
	unsigned i = 0;

	/* The time since the current phase began, or went on, goes to it. */
	if (report->n_phases)
		report->phase[report->current].seconds += now - report->phase_started;
	report->phase_started = now;
	while (i < report->n_phases &&
	       strncmp(report->phase[i].name, name, sizeof(report->phase[i].name) - 1) != 0)
		i++;
	if (i == LD_MAX_PHASES)
		return;
	if (i == report->n_phases)
		snprintf(report->phase[report->n_phases++].name, sizeof(report->phase[i].name),
			 "%s", name);
	report->current = i;
}

void ld_report_build(struct ld_report *report, uint64_t other_rows)
{
	report->is_build = 1;
	report->other_rows = other_rows;
}

/* Number of the current phase among the steps of building, or -1. */
static int current_step(const struct ld_report *report)
{
	int step = report->is_build ? N_STEPS - 1 : -1;

	while (step >= 0 && strcmp(steps[step].phase, report->phase[report->current].name) != 0)
		step--;
	return step;
}

/* What the steps after this one will take, in seconds; scaled as those that are done were. */
static double time_after(const struct ld_report *report, int step, double rows)
{
	double later = 0, typical = 0, real = 0;

	for (int i = 1; i < N_STEPS; i++) {
		if (i > step)
			later += steps[i].seconds * rows;
		for (unsigned k = 0; i < step && k < report->n_phases; k++)
			if (strcmp(report->phase[k].name, steps[i].phase) == 0) {
				typical += steps[i].seconds * rows;
				real += report->phase[k].seconds;
			}
	}
	return typical > 0 ? later * real / typical : later;
}

/* "2 of 4: ". Beside a load that only inserts there are no other steps. */
static void write_step(int step, char *out, size_t size)
{
	out[0] = '\0';
	if (step >= 0)
		snprintf(out, size, "%d of %d: ", step + 1, N_STEPS);
}

void ld_report_progress(struct ld_report *report, uint64_t bytes)
{
	double seconds, done, total, rows, left;
	char step[24], percent[64] = "";

	if (report->current)
		ld_report_phase(report, "read");
	if (!tl_progress_due(&report->shown))
		return;
	seconds = report->phase[0].seconds + report->shown - report->phase_started;
	done = (double)(bytes - report->passed);
	total = (double)report->options->total_bytes - (double)report->passed;
	if (done > 0 && total > done) {
		left = seconds * (total - done) / done;
		rows = (double)report->rows * total / done + (double)report->other_rows;
		if (report->is_build)
			left += time_after(report, 0, rows);
		snprintf(percent, sizeof(percent), "%.0f %%%s, ", 100.0 * done / total,
			 tl_left(left));
	}
	write_step(current_step(report), step, sizeof(step));
	tl_progress_show("%sreading: %s%s rows, %s rows/s, %.1f MB", step, percent,
			 tl_amount((double)report->rows),
			 tl_amount(seconds > 0 ? (double)report->rows / seconds : 0),
			 (double)bytes / 1e6);
}

/* What is being done in a phase. */
static const char *doing(const char *phase)
{
	static const char *const words[][2] = {
		{ "documents", "writing documents" }, { "postings", "writing postings" },
		{ "tables", "writing tables" },	      { "merge", "merging" },
		{ "skip", "passing over rows" },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(phase, words[i][0]) == 0)
			return words[i][1];
	return phase;
}

/*
 * Who is in the way, with whom the reason ends: "... by another writer: simidx-load (process 9)".
 */
static const char *holder_in(const char *reason)
{
	const char *name = reason, *next;

	while ((next = strstr(name, ": ")))
		name = next + 2;
	return strstr(name, " (process ") ? name : "another process";
}

/* Another process is in the way: who, on a terminal always, elsewhere once if it takes long. */
static void show_wait(struct ld_report *report, const char *reason, double seconds)
{
	if (tl_progress_wanted()) {
		tl_progress_show("waiting for %s: %.0f s", holder_in(reason), seconds);
	} else if (seconds >= WAIT_REPORTED && !report->wait_reported) {
		tl_notice("%s: waiting for %s, which writes it", report->options->index,
			  holder_in(reason));
		report->wait_reported = 1;
	}
}

void ld_report_work(struct ld_report *report, const char *phase, uint64_t done, uint64_t total)
{
	char step[24];
	const char *waits_for = strncmp(phase, "waiting: ", 9) == 0 ? phase + 9 : NULL, *left = "";
	/* Steps are few, all else is rows. */
	int counts_steps = strcmp(phase, "tables") == 0 || strcmp(phase, "merge") == 0;
	double seconds, since, all, time;

	phase = waits_for ? "waiting" : phase;
	if (strncmp(report->phase[report->current].name, phase,
		    sizeof(report->phase[0].name) - 1) != 0) {
		ld_report_phase(report, phase);
		report->phase_done = done;
		if (current_step(report) == 1)
			report->build_rows = total;
	}
	seconds = tl_seconds() - report->phase_started;
	if (waits_for) {
		if (!tl_progress_wanted() || tl_progress_due(&report->shown))
			show_wait(report, waits_for, seconds);
		return;
	}
	if (!tl_progress_due(&report->shown))
		return;
	write_step(current_step(report), step, sizeof(step));
	since = (double)(done - report->phase_done);
	all = (double)(total - report->phase_done);
	if (since > 0 && all >= since) {
		time = seconds * (all - since) / since;
		if (report->is_build)
			time += time_after(report, current_step(report),
					   (double)report->build_rows);
		left = tl_left(time);
	}
	tl_progress_show("%s%s: %.0f %%%s, %s of %s%s", step, doing(phase),
			 total ? 100.0 * (double)done / (double)total : 0.0, left,
			 tl_amount((double)done), tl_amount((double)total),
			 counts_steps ? "" : " rows");
}
