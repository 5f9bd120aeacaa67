/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "load/ld_report.h"

#include "common/tl_json.h"
#include "common/tl_msg.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>

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

int ld_summary_write(struct ld_report *report, int code)
{
	double seconds = tl_seconds() - report->started;
	struct tl_json json = { .out = report->summary };
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	tl_json_open(&json, NULL, '{');
	tl_json_signed(&json, "exit", code);
	tl_json_string(&json, "write", report->way);
	tl_json_unsigned(&json, "rows", report->rows);
	tl_json_unsigned(&json, "resumed", report->resumed);
	tl_json_unsigned(&json, "texts", report->texts);
	tl_json_unsigned(&json, "stored", report->stored);
	tl_json_unsigned(&json, "documents", report->documents);
	tl_json_unsigned(&json, "rejected", report->rejected);
	tl_json_unsigned(&json, "skipped", report->skipped);
	tl_json_unsigned(&json, "duplicates", report->duplicates);
	tl_json_unsigned(&json, "empty_texts", report->empty_texts);
	tl_json_unsigned(&json, "short_texts", report->short_texts);
	tl_json_unsigned(&json, "not_utf8", report->remarks[LD_NOT_UTF8].n);
	tl_json_real(&json, "seconds", seconds);
	tl_json_real(&json, "rows_per_s", seconds > 0 ? (double)report->rows / seconds : 0);
	tl_json_unsigned(&json, "bytes", report->bytes);
	tl_json_unsigned(&json, "peak_rss", (uint64_t)usage.ru_maxrss * 1024);
	tl_json_unsigned(&json, "index_bytes", report->index_bytes);
	put_phases(&json, report);
	tl_json_close(&json, '}');
	putc('\n', report->summary);
	if (ld_report_close(report->summary))
		return tl_error("%s: cannot write the summary: %s", report->options->summary,
				strerror(errno));
	return code;
}
