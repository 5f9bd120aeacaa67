/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/dd_report.h"

#include "common/tl_msg.h"
#include "common/tl_number.h"
#include "common/tl_path.h"
#include "common/tl_term.h"
#include "common/tl_utf8.h"
#include "dedup/dd_memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <stdio.h>

/* After so many rows it is estimated how many there are, and again after ten times as many. */
#define ESTIMATED_AFTER 10000

void dd_report_text(struct dd_report *report, const struct in_reader *reader,
		    const struct in_row *row)
{
	const struct dd_options *options = report->options;
	enum in_doubt doubt;

	report->texts++;
	report->text_bytes += row->text_size;
	if (!tl_is_utf8(row->text, row->text_size))
		tl_remark_add(&report->not_utf8, in_reader_place(reader));
	doubt = in_doubt(reader, row, options->inputs.format != NULL);
	if (doubt && doubt != IN_NAMED_JSON)
		tl_remark_add(&report->doubts[doubt], in_reader_place(reader));
}

void dd_report_progress(struct dd_report *report, uint64_t bytes, const struct dd_output *output)
{
	char percent[24 + TL_NUMBER_SIZE] = "";
	uint64_t total = report->options->total_bytes;
	double seconds;

	if (!tl_progress_due(&report->shown))
		return;
	seconds = report->shown - report->started;
	if (bytes && total > bytes)
		snprintf(percent, sizeof(percent), "%.0f %%%s, ",
			 100.0 * (double)bytes / (double)total,
			 tl_left(seconds * (double)(total - bytes) / (double)bytes));
	tl_progress_show("%s%s document%s, %s/s, %s %s", percent,
			 tl_amount((double)report->documents), report->documents == 1 ? "" : "s",
			 tl_amount((double)report->documents / seconds),
			 tl_amount((double)dd_output_counts(output)->near),
			 report->options->pairs ? "pairs" : "near-duplicates");
}

/* Whether it is 10,000 or ten times as many, and so on. */
static int is_time_to_estimate(uint64_t documents)
{
	while (documents > ESTIMATED_AFTER && documents % 10 == 0)
		documents /= 10;
	return documents == ESTIMATED_AFTER;
}

void dd_report_estimate(struct dd_report *report, uint64_t bytes, uint64_t each, uint64_t tables)
{
	const struct dd_options *options = report->options;
	double expected, needed;

	if (report->has_warned || !is_time_to_estimate(report->documents) ||
	    options->total_bytes <= bytes)
		return;
	expected = (double)report->documents * (double)options->total_bytes / (double)bytes;
	needed = expected * (double)each;
	if (needed <= (double)tables)
		return;
	report->has_warned = 1;
	tl_notice("--memory is likely to be too small: there are about %s documents, which may "
		  "need --memory %" PRIu64 "M", tl_amount(expected),
		  dd_memory_megabytes((uint64_t)needed, options->threads));
}

static int can_resume(const struct dd_report *report)
{
	return report->options->index && !tl_path_is_uri(report->options->index);
}

int dd_report_full(const struct dd_report *report, const char *place)
{
	return tl_error("--memory is used up by %s: all before %s is decided, and nothing from "
			"there on was read%s",
			tl_counted(report->documents, "document", "documents"), place,
			can_resume(report) ?
			"; --resume goes on with more --memory" :
			"");
}

void dd_report_partial(const struct dd_report *report)
{
	const struct dd_options *options = report->options;
	const char *path = options->output ? options->output : options->output_dir;

	if (path)
		tl_error("%s is not complete%s", path,
			 can_resume(report) ? "; with --resume the same command goes on" : "");
}

/* Texts that could not be read again, though nobody has put a limit to that. */
static uint64_t tell_unread(const struct dd_again *again, const simidx_dedup_counts *counts)
{
	static const char *const why[DD_N_GONE] = {
		[DD_GONE_CHANGED] = "its file has changed since it was read",
		[DD_GONE_REMOVED] = "its file has been removed since it was read",
		[DD_GONE_FAILED] = "it could not be read",
	};
	uint64_t gone[DD_N_GONE] = { [DD_GONE_CHANGED] = counts->changed,
				     [DD_GONE_FAILED] = counts->unread };
	uint64_t unread = 0;

	dd_again_count(again, gone);
	for (int i = 0; i < DD_N_GONE; i++) {
		unread += gone[i];
		if (gone[i])
			tl_error("fingerprints decided %s whether a text is near to an earlier "
				 "one, as %s", tl_counted(gone[i], "time", "times"), why[i]);
	}
	return unread;
}

/* What was odd about texts and files. */
static void tell_odd(struct dd_report *report, const simidx_dedup_counts *counts)
{
	const struct tl_remark *skipped = &report->skipped;

	if (counts->exhausted)
		tl_notice("%s compared with the %d nearest without a match; more may be near "
			  "(--all compares with all)",
			  tl_counted(counts->exhausted, "document was", "documents were"),
			  SIMIDX_DEDUP_MOST_COMPARED);
	tl_remark_tell(&report->not_utf8, "text is not UTF-8", "texts are not UTF-8",
		       ": convert such files before, for example with iconv");
	in_doubts_tell(report->doubts);
	if (counts->too_long)
		tl_notice("sketches decided %s whether a text is near to a long one (without a "
			  "sketch fingerprints), as --memory has no room for both",
			  tl_counted(counts->too_long, "time", "times"));
	if (counts->empty)
		tl_notice("%s no words: of these an empty one is near to nothing, another only to "
			  "the same bytes",
			  tl_counted(counts->empty, "text has", "texts have"));
	if (report->binary)
		tl_notice("%s and %s compared by bytes alone",
			  tl_counted(report->binary, "file is no text", "files are no texts"),
			  report->binary == 1 ? "was" : "were");
	if (skipped->n)
		tl_notice("%s and %s skipped (first: %s)",
			  tl_counted(skipped->n, "file is no text", "files are no texts"),
			  skipped->n == 1 ? "was" : "were",
			  skipped->first ? skipped->first : "?");
}

/* What later runs compare with. */
static void tell_remembered(const struct dd_options *options, const simidx_dedup_counts *counts,
			    int is_text)
{
	if (is_text && counts->texts + counts->sketches)
		tl_notice("%s: remembers %s more, in %s bytes", options->index,
			  tl_counted(counts->texts + counts->sketches, "text", "texts"),
			  tl_count(counts->note_bytes));
	if (is_text && counts->sketches)
		tl_notice("%s: of these %s too long, and remembered by a sketch",
			  options->index, tl_counted(counts->sketches, "is", "are"));
	if (counts->foreign)
		tl_notice("fingerprints decided %s, as an index had no note of a text that can be "
			  "compared: another program has put it, or 'simidx-query verify INDEX' "
			  "tells what is damaged",
			  tl_counted(counts->foreign, "time", "times"));
}

/* How many bytes of texts are left out or can be deleted, and how many are of identical ones. */
static void write_bytes(const struct dd_options *options, const struct dd_counts *counts,
			char out[], size_t size)
{
	int n = counts->bytes ? snprintf(out, size, "; %s %s",
					 tl_counted(counts->bytes, "byte", "bytes"),
					 options->stream ? "left out" : "can be deleted") : 0;

	out[n] = '\0';
	/* Sketches alone cannot tell of any. */
	if (n && (counts->same_bytes || !counts->is_least))
		snprintf(out + n, size - (size_t)n, " (%s%s identical)",
			 counts->is_least ? "at least " : "", tl_count(counts->same_bytes));
}

static const struct in_format *first_format(const struct in_files_options *inputs)
{
	if (inputs->format || !inputs->n_operands)
		return inputs->format ? inputs->format : &in_format_text;
	return in_format_of_path(inputs->operands[0], NULL);
}

/* A stream may well have nothing near among fewer texts. */
#define LARGE_STREAM 1000

/* So many files are hardly streamed as texts. */
#define FEW_FILES 3

/* So few bytes on average are of names, not of texts; in so many rows at least. */
#define SHORT_BYTES 32
#define MANY_SHORT 10

/* Nothing was found, which says little to who does not know what was looked for. */
static void tell_limit(const struct dd_report *report)
{
	const struct dd_options *options = report->options;

	if (report->texts >= MANY_SHORT && report->text_bytes < SHORT_BYTES * report->texts &&
	    first_format(&options->inputs) != &in_format_text)
		tl_notice("texts have fewer than %d bytes on average: --text-field names another "
			  "member or column", SHORT_BYTES);
	if (report->texts == report->documents && !report->doubts[IN_LISTS_FPS].n &&
	    !options->index && !options->against.n)
		in_files_tell_whole(&options->inputs, report->texts,
				    options->stream ? FEW_FILES : 1);
	if (report->texts >= (options->stream ? LARGE_STREAM : 2) && !options->similarity_given &&
	    !options->identical && !options->no_verify)
		tl_notice("texts are near if they have %.0f %% of their runs of five words in "
			  "common: --similarity 0.6 finds less similar ones",
			  100 * options->similarity);
}

/* The last line. */
static void tell_all(const struct dd_report *report, const struct dd_counts *counts)
{
	const struct dd_options *options = report->options;
	char rejected[TL_NUMBER_SIZE + 16] = "", bytes[2 * TL_NUMBER_SIZE + 48];
	const char *documents = tl_counted(report->documents, "document", "documents");
	const char *near = tl_counted(counts->near, "near-duplicate", "near-duplicates");

	if (report->rejected)
		snprintf(rejected, sizeof(rejected), ", %s rejected", tl_count(report->rejected));
	write_bytes(options, counts, bytes, sizeof(bytes));
	if (options->pairs)
		tl_notice("%s in %.1f s: %s%s", documents, report->seconds,
			  tl_counted(counts->near, "pair", "pairs"), rejected);
	else if (options->stream)
		tl_notice("%s in %.1f s: %s new, %s%s%s", documents, report->seconds,
			  tl_count(report->documents - counts->near - counts->known), near,
			  rejected, bytes);
	else if (!counts->near)
		tl_notice("%s in %.1f s: no %s%s", documents, report->seconds,
			  options->identical ? "identical documents" : "near-duplicates",
			  rejected);
	else
		tl_notice("%s in %.1f s: %s in %s%s%s", documents, report->seconds,
			  options->identical ? tl_counted(counts->near, "identical document",
							  "identical documents") : near,
			  tl_counted(counts->groups, "group", "groups"), rejected, bytes);
}

/* What --keep could not decide. */
static void tell_undecided(const struct dd_options *options, const struct dd_counts *counts)
{
	if (counts->valueless)
		tl_notice("%s no %s, and so stay%s only where no other has",
			  tl_counted(counts->valueless, "document has", "documents have"),
			  dd_keep_lacks(&options->keep), counts->valueless == 1 ? "s" : "");
	if (counts->unread && options->identical)
		tl_notice("%s cannot be compared again, and so stay%s",
			  tl_counted(counts->unread, "document", "documents"),
			  counts->unread == 1 ? "s" : "");
	else if (counts->unread)
		tl_notice("%s cannot be compared again, so the first of %s stays, whatever --keep "
			  "says", tl_counted(counts->unread, "document", "documents"),
			  counts->unread == 1 ? "its group" : "their groups");
}

/* Who sends groups of rows to a file may have meant the rows. */
static void tell_rows(const struct dd_options *options, const struct dd_counts *counts)
{
	if (counts->near && !options->stream && !options->pairs && !options->drop_list &&
	    !options->json && !tl_term_is() && first_format(&options->inputs) != &in_format_text)
		tl_notice("this lists groups of rows; --stream writes the rows that are new");
}

/* What is near to others, and yet is not listed. */
static void tell_unlisted(const struct dd_options *options, const struct dd_counts *counts)
{
	if (counts->spared)
		tl_notice("%s, though near to others, as --max-group is reached",
			  tl_counted(counts->spared, "document stays", "documents stay"));
	if (counts->known)
		tl_notice("%s in %s already, with the same label: not new, and not listed",
			  tl_counted(counts->known, "document is", "documents are"),
			  options->index);
	if (counts->unnamed && options->dups)
		tl_notice("%s near to one of an earlier run, without a label: each may be that "
			  "document itself, so %s is not a list of what to delete",
			  tl_counted(counts->unnamed, "document is", "documents are"),
			  options->dups);
	if (counts->trusted)
		tl_notice("%s near by fingerprints alone: not listed, as no texts were compared",
			  tl_counted(counts->trusted, "document is", "documents are"));
}

uint64_t dd_report_tell(struct dd_report *report, const struct dd_work *work,
			const struct dd_again *again, struct dd_output *output)
{
	const struct dd_options *options = report->options;
	simidx_dedup_counts counts = { .size = sizeof(counts) };
	const struct dd_counts *written = dd_output_counts(output);
	uint64_t unread;

	simidx_dedup_count(work->dedup, &counts);
	if (simidx_dedup_problem(work->dedup))
		tl_notice("not all texts could be put aside, so fingerprints decided for some: %s",
			  simidx_dedup_problem(work->dedup));
	unread = tell_unread(again, &counts);
	tell_odd(report, &counts);
	tell_remembered(options, &counts,
			work->index && dd_index_remember(work->index) == SIMIDX_DEDUP_TEXT);
	dd_output_tell(output, report->documents);
	tell_undecided(options, written);
	if (written->near && first_format(&options->inputs) != &in_format_text &&
	    (options->keep.rule == DD_KEEP_NEWEST || options->keep.rule == DD_KEEP_OLDEST))
		tl_notice("--keep newest and oldest go by files, and rows of one are equally old, "
			  "so the first stays; --keep max:FIELD and min:FIELD go by dates of rows");
	tell_unlisted(options, written);
	tell_rows(options, written);
	if (!written->near)
		tell_limit(report);
	tell_all(report, written);
	return unread;
}
