/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/dd_report.h"

#include "common/tl_emit.h"
#include "common/tl_json.h"
#include "common/tl_msg.h"
#include "input/in_guard.h"

#include <stdlib.h>

int dd_report_begin(struct dd_report *report)
{
	const struct dd_options *options = report->options;

	if (tl_report_open(options->rejects, "ae", &report->rejects) ||
	    tl_report_open(options->list_binary, "ae", &report->list_binary) ||
	    tl_report_open(options->summary, options->resume ? "ae" : "we", &report->summary))
		return TL_TROUBLE;
	if (report->rejects)
		in_guard_add_output(fileno(report->rejects), 0);
	if (report->list_binary)
		in_guard_add_output(fileno(report->list_binary), 0);
	if (report->summary)
		in_guard_add_output(fileno(report->summary), 0);
	return 0;
}

void dd_report_reject(struct dd_report *report, const char *place, const char *reason)
{
	tl_report_reject(report->rejects, place, reason);
	if (tl_report_tells(++report->rejected, "rejected rows", place, reason))
		tl_error("%s%s%s", place, *place ? ": " : "", reason);
}

/* As --stream writes paths. */
void dd_report_binary(struct dd_report *report, const char *path)
{
	if (report->list_binary)
		tl_emit_path(report->list_binary, path, report->options->inputs.nul_lists);
}

static const char *way(const struct dd_options *options)
{
	return options->pairs	    ? "pairs" :
	       options->stream	    ? "stream" :
	       options->drop_list ? "drop-list" :
				      "groups";
}

/* What was found: of groups, pairs or a filter. */
static void put_found(struct tl_json *json, const struct dd_options *options,
		      const struct dd_counts *counts, uint64_t documents)
{
	if (options->pairs) {
		tl_json_unsigned(json, "pairs", counts->near);
		return;
	}
	tl_json_unsigned(json, "near", counts->near);
	if (options->stream) {
		tl_json_unsigned(json, "new", documents - counts->near - counts->known);
		tl_json_unsigned(json, "known", counts->known);
	} else {
		tl_json_unsigned(json, "groups", counts->groups);
		tl_json_unsigned(json, "unread", counts->unread);
		tl_json_unsigned(json, "valueless", counts->valueless);
		tl_json_unsigned(json, "changed", counts->changed);
	}
	tl_json_unsigned(json, "spared", counts->spared);
	tl_json_unsigned(json, "near_bytes", counts->bytes);
	tl_json_unsigned(json, "identical_bytes", counts->same_bytes);
}

static void put_texts(struct tl_json *json, const simidx_dedup *dedup)
{
	simidx_dedup_counts counts = { .size = sizeof(counts) };

	simidx_dedup_count(dedup, &counts);
	tl_json_unsigned(json, "empty_texts", counts.empty);
	tl_json_unsigned(json, "unsearched", counts.unsearched);
	tl_json_unsigned(json, "by_hash", counts.by_hash);
	tl_json_unsigned(json, "exhausted", counts.exhausted);
	tl_json_unsigned(json, "too_long", counts.too_long);
	tl_json_unsigned(json, "foreign", counts.foreign);
	tl_json_unsigned(json, "note_bytes", counts.note_bytes);
}

static int write_summary(struct dd_report *report, int code, const struct dd_work *work,
			 const struct dd_output *output, uint64_t bytes)
{
	struct tl_json json = tl_json_line(report->summary);
	static const struct dd_counts none;
	double rows = (double)(report->documents + report->rejected);

	tl_json_signed(&json, "exit", code);
	tl_json_string(&json, "write", way(report->options));
	tl_json_unsigned(&json, "rows", report->documents + report->rejected);
	tl_json_unsigned(&json, "documents", report->documents);
	tl_json_unsigned(&json, "rejected", report->rejected);
	tl_json_unsigned(&json, "skipped", report->skipped.n);
	tl_json_unsigned(&json, "binary", report->binary);
	put_found(&json, report->options, output ? dd_output_counts(output) : &none,
		  report->documents);
	put_texts(&json, work->dedup);
	tl_json_unsigned(&json, "not_utf8", report->not_utf8.n);
	tl_json_real(&json, "seconds", report->seconds);
	tl_json_real(&json, "rows_per_s", report->seconds > 0 ? rows / report->seconds : 0);
	tl_json_unsigned(&json, "bytes", bytes);
	tl_json_unsigned(&json, "peak_rss", tl_report_peak());
	tl_json_end(&json);
	return tl_report_close(report->summary, report->options->summary, "the summary", code);
}

int dd_report_end(struct dd_report *report, int code, const struct dd_work *work,
		  const struct dd_output *output, uint64_t bytes)
{
	free(report->not_utf8.first);
	free(report->skipped.first);
	if (report->summary)
		code = write_summary(report, code, work, output, bytes);
	code = tl_report_close(report->rejects, report->options->rejects, "all rejected rows",
			       code);
	return tl_report_close(report->list_binary, report->options->list_binary,
			       "all names of files that are no texts", code);
}
