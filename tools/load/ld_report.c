/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "load/ld_report.h"

#include "common/tl_json.h"
#include "common/tl_msg.h"
#include "common/tl_number.h"
#include "input/in_guard.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A rate says something from so many rows on. */
#define LEAST_RATED 1000

/* Less time is not worth a word. */
#define LEAST_SECONDS 0.1

int ld_report_begin(struct ld_report *report, const struct ld_options *options)
{
	memset(report, 0, sizeof(*report));
	report->options = options;
	report->way = "insert";
	report->started = report->phase_started = report->shown = tl_seconds();
	ld_report_phase(report, "read");
	if (tl_report_open(options->rejects, "ae", &report->rejects) ||
	    tl_report_open(options->summary, options->resume ? "ae" : "we", &report->summary))
		return TL_TROUBLE;
	if (report->rejects && report->rejects != stdout)
		in_guard_add_output(fileno(report->rejects), options->resume);
	if (report->summary && report->summary != stdout)
		in_guard_add_output(fileno(report->summary), options->resume);
	if (options->emit != LD_EMIT_NONE || report->rejects == stdout ||
	    report->summary == stdout)
		in_guard_add_output(STDOUT_FILENO, 0);
	return 0;
}

static void put_phases(struct tl_json *json, const struct ld_report *report)
{
	tl_json_open(json, "phases", '[');
	for (unsigned i = 0; i < report->n_phases; i++) {
		tl_json_open(json, NULL, '{');
		tl_json_string(json, "name", report->phase[i].name);
		tl_json_real(json, "seconds", report->phase[i].seconds);
		tl_json_close(json, '}');
	}
	tl_json_close(json, ']');
}

/* Write --summary. Returns `code`, or TL_TROUBLE when not all could be written. */
static int write_summary(struct ld_report *report, int code)
{
	double seconds = tl_seconds() - report->started;
	struct tl_json json = tl_json_line(report->summary);

	tl_json_signed(&json, "exit", code);
	tl_json_string(&json, "write", report->way);
	tl_json_unsigned(&json, "rows", report->rows);
	tl_json_unsigned(&json, "resumed", report->resumed);
	tl_json_unsigned(&json, "texts", report->texts);
	tl_json_unsigned(&json, "stored", report->stored);
	if (report->is_unmeasured)
		tl_json_null(&json, "documents");
	else
		tl_json_unsigned(&json, "documents", report->documents);
	tl_json_unsigned(&json, "rejected", report->rejected);
	tl_json_unsigned(&json, "skipped", report->skipped);
	tl_json_unsigned(&json, "duplicates", report->duplicates);
	tl_json_string(&json, "mode", report->options->merge_only ?
					      "merge-only" : ld_mode_words[report->options->mode]);
	tl_json_unsigned(&json, "near", report->near);
	tl_json_unsigned(&json, "touched", report->touched);
	tl_json_unsigned(&json, "missing", report->missing);
	tl_json_unsigned(&json, "undecided", report->undecided);
	tl_json_unsigned(&json, "empty_texts", report->empty_texts);
	tl_json_unsigned(&json, "short_texts", report->short_texts);
	tl_json_unsigned(&json, "not_utf8", report->remarks[LD_NOT_UTF8].n);
	tl_json_unsigned(&json, "future", report->remarks[LD_FUTURE].n);
	tl_json_real(&json, "seconds", seconds);
	tl_json_real(&json, "rows_per_s", seconds > 0 ? (double)report->rows / seconds : 0);
	tl_json_unsigned(&json, "bytes", report->bytes);
	tl_json_unsigned(&json, "peak_rss", tl_report_peak());
	tl_json_unsigned(&json, "index_bytes", report->index_bytes);
	put_phases(&json, report);
	tl_json_end(&json);
	return tl_report_close(report->summary, report->options->summary, "the summary", code);
}

int ld_report_end(struct ld_report *report, int code)
{
	for (int i = 0; i < LD_N_REMARKS; i++)
		free(report->remarks[i].first);
	ld_report_phase(report, report->phase[report->current].name);
	if (report->summary)
		code = write_summary(report, code);
	code = tl_report_close(report->rejects, report->options->rejects, "all rejected rows",
			       code);
	report->rejects = NULL;
	return code;
}

void ld_report_missing(struct ld_report *report, const char *place)
{
	if (!report->missing++)
		snprintf(report->first_missing, sizeof(report->first_missing), "%s", place);
	tl_report_reject(report->rejects, place, "is not there");
}

void ld_report_undecided(struct ld_report *report, const char *place)
{
	report->undecided++;
	tl_report_reject(report->rejects, place, "undecided: others were first each time");
}

void ld_report_reject(struct ld_report *report, const char *place, const char *reason,
		      int is_duplicate)
{
	enum ld_mode mode = report->options->mode;
	int may_keep_first = mode == LD_ADD || mode == LD_IF_NEW;
	int is_first = is_duplicate && may_keep_first && !report->advised;
	int has_ids = strncmp(reason, "id ", 3) == 0 && strstr(place, ".jsonl");

	report->rejected++;
	report->advised |= is_first;
	tl_report_reject(report->rejects, place, reason);
	if (tl_report_tells(report->rejected, "rejected rows", place, reason))
		tl_error("%s%s%s%s%s", place, *place ? ": " : "", reason,
			 is_first ? " (--on-duplicate first keeps the stored one, without an "
				    "error; --mode replace stores this one" : "",
			 !is_first ? "" :
			 has_ids   ? "; --id-field none gives new ids)" : ")");
}

void ld_report_skip(struct ld_report *report, const char *place, const char *reason)
{
	report->skipped++;
	report->skipped_named++;
	if (tl_report_tells(report->skipped_named, "skipped files", place, reason))
		tl_error("%s: skipped: %s", place, reason);
}

void ld_report_remark(struct ld_report *report, enum ld_remark remark, const char *place)
{
	tl_remark_add(&report->remarks[remark], place);
	report->skipped += remark == LD_SKIPPED;
}

int ld_report_too_many(const struct ld_report *report)
{
	return report->rejected > report->options->max_errors;
}

/* ---- in the end ---- */

static void print_remarks(struct ld_report *report)
{
	static const struct {
		const char *one, *many, *advice;
	} texts[LD_N_REMARKS] = {
		[LD_SKIPPED] = { "file is no text and was skipped",
				 "files are no texts and were skipped", "" },
		[LD_FUTURE] = { "row has a time in the future", "rows have times in the future",
				"" },
		[LD_NOT_UTF8] = { "text is not UTF-8", "texts are not UTF-8",
				  ": convert such files before, for example with iconv" },
	};

	in_doubts_tell(report->doubts);
	for (int i = 0; i < LD_N_REMARKS; i++)
		tl_remark_tell(&report->remarks[i], texts[i].one, texts[i].many, texts[i].advice);
	if (report->texts == report->rows && !report->doubts[IN_LISTS_FPS].n &&
	    strcmp(report->way, "build") == 0)
		in_files_tell_whole(&report->options->inputs, report->texts, 1);
	if (report->options->force && report->duplicates)
		tl_notice("--force is about network file systems; --create truncate replaces an "
			  "index");
	tl_text_tell_lengths(report->empty_texts, report->short_texts,
			     tl_text_min_tokens(&report->options->text));
}

/* How long it took, and how fast that was. */
static void add_time(FILE *line, const struct ld_report *report)
{
	double seconds = tl_seconds() - report->started;

	if (seconds < LEAST_SECONDS)
		return;
	fprintf(line, " in %.*f s", seconds < 100 ? 1 : 0, seconds);
	if (report->rows >= LEAST_RATED)
		fprintf(line, " (%s %s/s)", tl_amount((double)report->rows / seconds),
			report->texts > report->rows / 2 ? "texts" : "rows");
}

/* An engine may be gone right after the last commit. */
static void add_documents(FILE *line, const struct ld_report *report)
{
	if (report->is_unmeasured)
		fprintf(line, "; how many the index has could not be asked");
	else
		fprintf(line, "; index has %s", tl_count(report->documents));
}

void ld_report_success(struct ld_report *report)
{
	char *text = NULL;
	size_t size;
	FILE *line = open_memstream(&text, &size);
	int is_insert = strcmp(report->way, "insert") == 0;
	static const char *const done[] = { "inserted", "inserted", "added or replaced",
					    "deleted" };

	print_remarks(report);
	if (!line)
		return;
	if (strcmp(report->way, "nothing") == 0) {
		fprintf(line, "no document was stored, and %s",
			report->documents ? "the index that is there stays" : "no index was made");
	} else if (strcmp(report->way, "build") == 0) {
		fprintf(line, "index built with %s",
			tl_counted(report->documents, "document", "documents"));
		add_time(line, report);
	} else if (strcmp(report->way, "merge") == 0) {
		fprintf(line, "merged");
		add_time(line, report);
		add_documents(line, report);
	} else {
		fprintf(line, "%s %s", tl_counted(report->stored, "document", "documents"),
			is_insert ? done[report->options->mode] : "added by a rebuild");
		add_time(line, report);
		add_documents(line, report);
	}
	if (report->there)
		fprintf(line, "; %s already there", tl_count(report->there));
	if (report->near)
		fprintf(line, "; %s",
			tl_counted(report->near, "near-duplicate", "near-duplicates"));
	if (report->touched)
		fprintf(line, ", %s touched", tl_count(report->touched));
	if (report->missing)
		fprintf(line, "; %s not there (%s%s)", tl_count(report->missing),
			report->missing > 1 ? "first: " : "", report->first_missing);
	if (report->undecided)
		fprintf(line, "; %s undecided, as others were first",
			tl_count(report->undecided));
	if (report->rejected)
		fprintf(line, "; %s rejected", tl_counted(report->rejected, "row", "rows"));
	if (report->skipped_named)
		fprintf(line, "; %s skipped", tl_counted(report->skipped_named, "file", "files"));
	if (!fclose(line) && text)
		tl_notice("%s", text);
	free(text);
}
