/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "load/ld_report.h"

#include "common/tl_msg.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#ifdef HAVE_JSON

#include <jansson.h>

const char *ld_summary_missing(void)
{
	return NULL;
}

static json_t *phases(const struct ld_report *report)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < report->n_phases; i++)
		json_array_append_new(list, json_pack("{s:s, s:f}", "name", report->phase[i].name,
						      "seconds", report->phase[i].seconds));
	return list;
}

int ld_summary_write(struct ld_report *report, int code)
{
	double seconds = tl_seconds() - report->started;
	struct rusage usage;
	json_t *summary;
	int failed;

	getrusage(RUSAGE_SELF, &usage);
	summary = json_pack(
		"{s:i, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:I, s:I, s:I, s:o}",
		"exit", code, "mode", report->mode, "rows", (json_int_t)report->rows, "resumed",
		(json_int_t)report->resumed, "stored", (json_int_t)report->stored, "rejected",
		(json_int_t)report->rejected, "skipped", (json_int_t)report->skipped,
		"duplicates", (json_int_t)report->duplicates, "short_texts",
		(json_int_t)report->short_texts, "seconds", seconds, "rows_per_s",
		seconds > 0 ? (double)report->rows / seconds : 0.0, "bytes",
		(json_int_t)report->bytes, "peak_rss", (json_int_t)usage.ru_maxrss * 1024,
		"index_bytes", (json_int_t)report->index_bytes, "phases", phases(report));
	failed = !summary || json_dumpf(summary, report->summary, JSON_INDENT(1)) ||
		 fputc('\n', report->summary) == EOF;
	if (fclose(report->summary))
		failed = 1;
	report->summary = NULL;
	json_decref(summary);
	if (failed)
		return tl_error("%s: cannot write the summary: %s", report->options->summary,
				strerror(errno));
	return code;
}

#else /* !HAVE_JSON */

const char *ld_summary_missing(void)
{
	return "this program was built without JSON support";
}

int ld_summary_write(struct ld_report *report, int code)
{
	(void)report;
	return code;
}

#endif
