/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/dd_run.h"

#include "common/tl_msg.h"
#include "common/tl_number.h"
#include "common/tl_text_options.h"
#include "dedup/dd_output.h"
#include "dedup/dd_room.h"
#include "input/in_guard.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* After so many milliseconds without input all that has come is decided. */
#define PAUSE_MS 1000

/* Messages about single rows and files beyond this are only counted. */
#define MAX_REPORTED 20

/* After this number of documents it is estimated how many there are. What must be known of them has half of
 * the memory, at least 24 bytes a document. */
#define ESTIMATED_AFTER 100000
#define LEAST_MEMORY 48

struct run {
	const struct dd_options *options;
	struct dd_room *room;
	struct dd_files *files;
	struct dd_output *output;
	struct dd_listener listener;
	struct dd_engine *engine; /* NULL until there is a document */
	enum dd_kind kind;
	struct in_reader reader;
	uint64_t documents, rejected;
	uint64_t unread;     /* comparisons for which a text could not be read again */
	uint64_t skipped;    /* files found that are no texts */
	char *first_skipped; /* the path of the first */
	int pause_code; /* of deciding while the input paused: 0, or the exit code */
	double started, shown;
};

/* ---- messages ---- */

/* An input or row that cannot be had. */
static void reject(struct run *run, const char *place, const char *reason)
{
	if (++run->rejected <= MAX_REPORTED)
		tl_error("%s%s%s", place, *place ? ": " : "", reason);
	else if (run->rejected == MAX_REPORTED + 1)
		tl_error("more rejected rows are only counted");
}

/* A file that was found and is no text. */
static void skip(struct run *run, const char *path)
{
	if (!run->skipped++)
		run->first_skipped = strdup(path);
}

static void show_progress(struct run *run)
{
	char number[TL_NUMBER_SIZE], rate[TL_NUMBER_SIZE], near[TL_NUMBER_SIZE], percent[24] = "";
	uint64_t bytes = in_reader_bytes(&run->reader), total = run->options->total_bytes;
	struct dd_output_counts counts;
	double now;

	if (!tl_progress_wanted() || (now = tl_seconds()) - run->shown < TL_PROGRESS_SECONDS)
		return;
	run->shown = now;
	dd_output_count(run->output, &counts);
	if (total > bytes)
		snprintf(percent, sizeof(percent), "%.0f %%, ", 100.0 * (double)bytes / (double)total);
	tl_progress_show("%s%s document%s, %s/s, %s %s", percent,
			 tl_write_amount((double)run->documents, number),
			 run->documents == 1 ? "" : "s",
			 tl_write_amount((double)run->documents / (now - run->started), rate),
			 tl_write_amount((double)counts.near, near),
			 run->options->pairs ? "pairs" : "near to others");
}

/* Texts that could not be read again, though nobody has put a limit to that. */
static void tell_unread(struct run *run, const struct dd_counts *all)
{
	static const char *const why[DD_N_AGAIN] = {
		[DD_GONE_CHANGED] = "its file has changed since it was read",
		[DD_GONE_REMOVED] = "its file has been removed since it was read",
		[DD_GONE_FAILED] = "it could not be read",
	};
	char n[TL_NUMBER_SIZE];

	for (int i = 0; i < DD_N_AGAIN; i++) {
		if (!why[i] || !all->gone[i])
			continue;
		run->unread += all->gone[i];
		tl_error("fingerprints decided %s time%s whether a text is near to an earlier one, as %s",
			 tl_write_count(all->gone[i], n), all->gone[i] == 1 ? "" : "s", why[i]);
	}
}

static void sum_up(struct run *run)
{
	char n[3][TL_NUMBER_SIZE];
	struct dd_output_counts counts;
	struct dd_counts all = { 0 };
	double seconds = tl_seconds() - run->started;

	dd_output_count(run->output, &counts);
	if (run->engine)
		dd_engine_count(run->engine, &all);
	if (run->engine && dd_texts_problem(dd_engine_texts(run->engine)))
		tl_notice("not all texts could be put aside, so fingerprints decided for some: %s",
			  dd_texts_problem(dd_engine_texts(run->engine)));
	tell_unread(run, &all);
	if (all.exhausted)
		tl_notice("%s document%s compared with the %d nearest in vain, and had more that may be near "
			  "(--all)",
			  tl_write_count(all.exhausted, n[0]), all.exhausted == 1 ? " was" : "s were",
			  DD_MOST_COMPARED);
	if (all.not_utf8)
		tl_notice("%s text%s not UTF-8", tl_write_count(all.not_utf8, n[0]),
			  all.not_utf8 == 1 ? " is" : "s are");
	tl_text_tell_lengths(all.empty, 0, 0);
	if (run->skipped)
		tl_notice("%s file%s and %s skipped (first: %s)", tl_write_count(run->skipped, n[0]),
			  run->skipped == 1 ? " is no text" : "s are no texts",
			  run->skipped == 1 ? "was" : "were",
			  run->first_skipped ? run->first_skipped : "?");
	dd_output_tell(run->output);
	tl_write_count(run->documents, n[0]);
	tl_write_count(counts.near, n[1]);
	if (run->options->pairs)
		tl_notice("%s document%s in %.1f s: %s pair%s", n[0], run->documents == 1 ? "" : "s",
			  seconds, n[1], counts.near == 1 ? "" : "s");
	else if (run->options->stream)
		tl_notice("%s document%s in %.1f s: %s new, %s near to others", n[0],
			  run->documents == 1 ? "" : "s", seconds,
			  tl_write_count(run->documents - counts.near - counts.known, n[2]), n[1]);
	else
		tl_notice("%s document%s in %.1f s: %s near to others, in %s group%s", n[0],
			  run->documents == 1 ? "" : "s", seconds, n[1],
			  tl_write_count(counts.groups, n[2]), counts.groups == 1 ? "" : "s");
}

/* ---- reading ---- */

/*
 * The input has nothing more for now. If that lasts, what has come is decided and written: somebody
 * may wait for it. Returns whether that failed, which ends the input.
 */
static int decide_in_pause(void *ctx, int fd)
{
	struct run *run = ctx;
	struct pollfd more = { fd, POLLIN, 0 };

	if (!run->engine || !run->options->stream || poll(&more, 1, PAUSE_MS) != 0)
		return 0;
	run->pause_code = dd_engine_flush(run->engine, 0);
	return run->pause_code != 0;
}

/* The first document says what all are. */
static int begin_engine(struct run *run, enum dd_kind kind)
{
	const struct dd_options *options = run->options;
	const char *of_texts = options->accept >= 0 ? "--accept" :
			       options->no_verify   ? "--no-verify" :
						      dd_comparing_option(options);

	run->kind = kind;
	if (kind == DD_TEXTS && options->radius >= 0 && !options->no_verify)
		return tl_usage_error("--radius is about fingerprints; for texts it goes with --no-verify");
	if (kind == DD_TEXTS && options->bits_given)
		return tl_usage_error("--bits is about bare fingerprints, and the inputs have texts");
	if (kind == DD_FINGERPRINTS && of_texts)
		return tl_usage_error("%s is about texts, and the inputs have fingerprints", of_texts);
	if (kind == DD_TEXTS && options->similarity < DD_SIMILARITY && options->accept < 0)
		tl_notice("some texts that are near may be missed: --accept %d, the default, suits a --similarity "
			  "of %.1f and more",
			  DD_ACCEPT, DD_SIMILARITY);
	run->engine = dd_engine_new(options, kind, run->files, dd_room_path(run->room),
				    &run->listener);
	if (!run->engine)
		return TL_TROUBLE;
	return dd_output_begin(run->output, run->engine, kind);
}

/* Early in a long run: that it is going to end for want of memory. */
static void check_memory(const struct run *run)
{
	const struct dd_options *options = run->options;
	uint64_t bytes = in_reader_bytes(&run->reader);
	char documents[TL_NUMBER_SIZE], least[TL_NUMBER_SIZE];
	double expected;

	if (run->documents != ESTIMATED_AFTER || options->total_bytes <= bytes ||
	    (options->stream && !options->dups))
		return;
	expected = (double)run->documents * (double)options->total_bytes / (double)bytes;
	if (expected * LEAST_MEMORY > (double)options->memory)
		tl_notice("--memory is too small: there are about %s documents, which need at least %sB",
			  tl_write_amount(expected, documents),
			  tl_write_amount(expected * LEAST_MEMORY, least));
}

static int take_row(struct run *run, const struct in_row *row, uint32_t file)
{
	struct in_reader *reader = &run->reader;
	struct dd_document document = { .file = file, .line = reader->line };
	enum dd_kind kind = row->kind == IN_TEXT ? DD_TEXTS : DD_FINGERPRINTS;
	int code = 0;

	if (row->kind == IN_FEATURES) {
		reject(run, in_reader_place(reader), "features, of which simidx-load makes an index");
		return 0;
	}
	if (run->engine && kind != run->kind) {
		reject(run, in_reader_place(reader), kind == DD_TEXTS ?
			       "a text, and the inputs before have fingerprints" :
			       "a fingerprint, and the inputs before have texts");
		return 0;
	}
	if (!run->engine)
		code = begin_engine(run, kind);
	if (code)
		return code;
	document.number = ++run->documents;
	check_memory(run);
	if (kind == DD_TEXTS) {
		document.is_text = 1;
		document.text = row->text;
		document.text_size = row->text_size;
		dd_texts_place(dd_engine_texts(run->engine), reader, row, file, &document.place);
	}
	document.fp = row->fp;
	document.label = row->label;
	document.label_size = row->label ? row->label_size : 0;
	if (run->options->stream && !reader->format->is_whole) {
		document.kept = reader->kept.bytes;
		document.kept_size = reader->kept_size;
	}
	return dd_engine_add(run->engine, &document);
}

static int read_rows(struct run *run, const struct in_file *input, uint32_t file)
{
	struct in_reader *reader = &run->reader;
	struct in_row row;
	int code = 0;

	while (!code && !tl_stop_requested()) {
		enum in_result rc = in_reader_next(reader, &row);

		if (run->pause_code)
			return run->pause_code;
		if (rc == IN_END || (rc == IN_FATAL && tl_stop_requested()))
			break;
		if (rc == IN_ROW)
			code = take_row(run, &row, file);
		else if (rc == IN_SKIPPED && input->is_found)
			skip(run, input->path);
		else
			reject(run, in_reader_place(reader), reader->reason);
		if (rc == IN_FATAL) /* what came before stays, and other inputs follow */
			break;
		show_progress(run);
	}
	return code;
}

static int read_input(struct run *run, const struct in_file *input)
{
	uint32_t file;
	enum in_result rc;

	if (!input->is_stdin && in_guard_is_output(input->path)) /* from a list */
		return 0;
	rc = in_reader_open(&run->reader, input->path, input->format, input->is_stdin);

	if (rc == IN_SKIPPED)
		reject(run, input->path, "is a directory (-r reads the files in one that is an INPUT)");
	else if (rc != IN_ROW)
		reject(run, input->path, run->reader.reason);
	if (rc != IN_ROW)
		return 0;
	switch (dd_files_meet(run->files, &run->reader, &file)) {
	case DD_MET_NEW:
		return read_rows(run, input, file);
	case DD_MET_AGAIN:
		return 0;
	default:
		return tl_error("out of memory");
	}
}

static int read_inputs(struct run *run, struct in_files *files)
{
	const struct in_files_options *inputs = &run->options->inputs;
	struct in_file input;
	uint64_t n = 0;
	int code = 0;

	for (; !code && !tl_stop_requested(); n++) {
		enum in_result rc = in_files_next(files, &input);

		if (rc == IN_END || (rc == IN_FATAL && tl_stop_requested()))
			break;
		if (rc == IN_FATAL)
			return tl_error("%s", in_files_reason(files));
		if (rc == IN_ROW)
			code = read_input(run, &input);
		else
			reject(run, "", in_files_reason(files));
	}
	if (!code && tl_stop_requested())
		code = tl_error("stopped by a signal");
	/* A list may be empty; who names a directory means what is in it. */
	if (!code && !n && inputs->n_operands && !inputs->lists.n)
		return tl_error("%s: no files were found%s", inputs->operands[0],
				inputs->hidden ? "" : " (--hidden reads those whose names begin "
						      "with a dot, too)");
	if (!code && run->engine)
		code = dd_engine_flush(run->engine, 1);
	return code;
}

/* ---- a run ---- */

static int begin(struct run *run)
{
	run->started = run->shown = tl_seconds();
	in_reader_init(&run->reader, run->options->bits);
	run->reader.columns = &run->options->inputs.columns;
	run->reader.keeps_lines = run->options->stream;
	in_reader_when_idle(&run->reader, decide_in_pause, run);
	run->files = dd_files_new();
	if (!run->files)
		return tl_error("out of memory");
	run->output = dd_output_new(run->options, run->files);
	if (!run->output)
		return TL_TROUBLE;
	dd_output_listener(run->output, &run->listener);
	run->room = dd_room_new(run->options->tmpdir);
	return run->room ? 0 : TL_TROUBLE;
}

int dd_run(const struct dd_options *options)
{
	struct run run = { .options = options };
	struct in_files *files = in_files_open(&options->inputs);
	struct dd_output_counts counts = { 0 };
	int code = begin(&run);

	if (!code)
		code = files ? read_inputs(&run, files) : tl_error("out of memory");
	tl_progress_clear();
	if (!code && run.engine && !options->stream && !options->pairs)
		code = dd_output_finish(run.output);
	if (!code) {
		fflush(stdout); /* results stand before the summary where both go to one file */
		sum_up(&run);
		dd_output_count(run.output, &counts);
	}
	dd_engine_free(run.engine);
	dd_room_free(run.room);
	dd_output_free(run.output);
	in_reader_free(&run.reader);
	in_files_close(files);
	free(run.first_skipped);
	dd_files_free(run.files);
	return !code && run.rejected + run.unread + counts.changed ? TL_PARTLY : code;
}
