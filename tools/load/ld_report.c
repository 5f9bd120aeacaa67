/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "load/ld_report.h"

#include "common/tl_escape.h"
#include "common/tl_msg.h"

#include <errno.h>
#include <string.h>

/* Messages about single rows and files beyond this are only counted. */
#define MAX_TOLD 20

/* Time since the current phase began, or went on, goes to it. */
static void end_phase(struct ld_report *report)
{
	double now = tl_seconds();

	if (report->n_phases)
		report->phase[report->current].seconds += now - report->phase_started;
	report->phase_started = now;
}

static int open_output(const char *path, FILE **out)
{
	if (!path)
		return 0;
	*out = fopen(path, "we");
	return *out ? 0 : tl_error("%s: cannot write: %s", path, strerror(errno));
}

int ld_report_begin(struct ld_report *report, const struct ld_options *options)
{
	memset(report, 0, sizeof(*report));
	report->options = options;
	report->mode = "insert";
	report->started = report->phase_started = report->shown = tl_seconds();
	report->wants_progress = tl_progress_wanted();
	ld_report_phase(report, "read");
	if (open_output(options->rejects, &report->rejects))
		return TL_TROUBLE;
	return open_output(options->summary, &report->summary);
}

int ld_report_end(struct ld_report *report, int code)
{
	int failed;

	end_phase(report);
	if (report->summary)
		code = ld_summary_write(report, code);
	if (!report->rejects)
		return code;
	failed = ferror(report->rejects);
	if (fclose(report->rejects) || failed)
		code = tl_error("%s: cannot write all rejected rows", report->options->rejects);
	report->rejects = NULL;
	return code;
}

void ld_report_reject(struct ld_report *report, const char *place, const char *reason)
{
	report->rejected++;
	if (report->rejects) {
		tl_put_message(report->rejects, place, strlen(place));
		fputc('\t', report->rejects);
		tl_put_message(report->rejects, reason, strlen(reason));
		fputc('\n', report->rejects);
	}
	if (report->rejected <= MAX_TOLD)
		tl_error("%s%s%s", place, *place ? ": " : "", reason);
	else if (report->rejected == MAX_TOLD + 1)
		tl_error("more rejected rows are only counted");
}

void ld_report_skip(struct ld_report *report, const char *place, const char *reason)
{
	report->skipped++;
	if (report->skipped <= MAX_TOLD)
		tl_notice("%s: skipped: %s", place, reason);
	else if (report->skipped == MAX_TOLD + 1)
		tl_notice("more skipped files are only counted");
}

int ld_report_too_many(const struct ld_report *report)
{
	return report->rejected > report->options->max_errors;
}

/* ---- progress ---- */

void ld_report_phase(struct ld_report *report, const char *name)
{
	unsigned i = 0;

	end_phase(report);
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

/* "12 s", "3 min": what is left when `done` of `total` took so long. */
static void time_left(double seconds, double done, double total, char *out, size_t size)
{
	double left = done > 0 ? seconds * (total - done) / done : 0;

	out[0] = '\0';
	if (done <= 0 || total <= done)
		return;
	if (left < 120)
		snprintf(out, size, ", %.0f s left", left);
	else
		snprintf(out, size, ", %.0f min left", left / 60);
}

static int is_time(struct ld_report *report, double now)
{
	if (!report->wants_progress || now - report->shown < TL_PROGRESS_SECONDS)
		return 0;
	report->shown = now;
	return 1;
}

void ld_report_progress(struct ld_report *report, uint64_t bytes)
{
	double now = report->wants_progress ? tl_seconds() : 0;
	double seconds, passed = (double)report->passed;
	double total = (double)report->options->total_bytes;
	char left[40], percent[24] = "";

	if (report->current)
		ld_report_phase(report, "read");
	if (!is_time(report, now))
		return;
	seconds = report->phase[0].seconds + now - report->phase_started;
	time_left(seconds, (double)bytes - passed, total - passed, left, sizeof(left));
	if (total > 0)
		snprintf(percent, sizeof(percent), ", %.0f %%", 100.0 * (double)bytes / total);
	tl_progress_show("reading: %llu rows, %.0f rows/s, %.1f MB%s%s",
			 (unsigned long long)report->rows,
			 seconds > 0 ? (double)report->rows / seconds : 0.0,
			 (double)bytes / 1e6, percent, left);
}

/* Steps are few, all else is rows. */
static int counts_steps(const char *phase)
{
	return strcmp(phase, "tables") == 0 || strcmp(phase, "merge") == 0;
}

void ld_report_work(struct ld_report *report, const char *phase, uint64_t done, uint64_t total)
{
	char left[40], rate[60] = "";
	double now, seconds, since;

	if (strncmp(report->phase[report->current].name, phase,
		    sizeof(report->phase[0].name) - 1) != 0) {
		ld_report_phase(report, phase);
		report->phase_done = done;
	}
	now = report->wants_progress ? tl_seconds() : 0;
	if (!is_time(report, now))
		return;
	seconds = now - report->phase_started;
	if (!total) {
		tl_progress_show("%s: %.0f s", phase, seconds);
		return;
	}
	since = (double)done - (double)report->phase_done;
	time_left(seconds, since, (double)total - (double)report->phase_done, left, sizeof(left));
	if (!counts_steps(phase))
		snprintf(rate, sizeof(rate), " rows, %.0f rows/s",
			 since > 0 && seconds > 0 ? since / seconds : 0.0);
	tl_progress_show("%s: %llu of %llu%s, %.0f %%%s", phase, (unsigned long long)done,
			 (unsigned long long)total, rate, 100.0 * (double)done / (double)total,
			 left);
}

void ld_report_tell(struct ld_report *report)
{
	double seconds = tl_seconds() - report->started;

	if (report->short_texts)
		tl_notice("%llu texts are shorter than %u tokens: one edit moves their "
			  "fingerprints far",
			  (unsigned long long)report->short_texts,
			  (unsigned)tl_text_min_tokens(&report->options->text));
	tl_notice("%llu documents stored, %llu rows rejected, %llu files skipped, %.2f s, "
		  "%.0f rows/s",
		  (unsigned long long)report->stored, (unsigned long long)report->rejected,
		  (unsigned long long)report->skipped, seconds,
		  seconds > 0 ? (double)report->rows / seconds : 0.0);
}
