/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/dd_run.h"

#include "common/tl_msg.h"
#include "common/tl_number.h"
#include "common/tl_report.h"
#include "common/tl_text_options.h"
#include "common/tl_utf8.h"
#include "dedup/dd_again.h"
#include "dedup/dd_check.h"
#include "dedup/dd_header.h"
#include "dedup/dd_index.h"
#include "dedup/dd_memory.h"
#include "dedup/dd_output.h"
#include "dedup/dd_report.h"
#include "dedup/dd_room.h"
#include "dedup/dd_summary.h"
#include "input/in_guard.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* After so many milliseconds without input all that has come is decided. */
#define PAUSE_MS 1000

/* Messages about single rows and files beyond this are only counted. */
#define MAX_REPORTED 20

/* If the first so many rows are rejected, the others will be, too: it is a matter of options. */
#define HOPELESS 1000

/* After so many rows it is estimated how many there are, and again after ten times as many. */
#define ESTIMATED_AFTER 10000

struct run {
	const struct dd_options *options;
	struct dd_room *room;
	struct dd_files *files;
	struct dd_output *output;
	struct dd_again *again;
	/* These are NULL until there is a document, the second also without other indexes. */
	struct dd_index *index;
	struct dd_against *against;
	simidx_dedup *dedup;
	enum simidx_dedup_kind kind;
	struct in_room extra;     /* struct dd_extra of a row */
	struct in_reader reader;
	struct dd_header header;  /* of a filter of tables */
	struct dd_memory memory;
	uint64_t bytes;      /* that a document may need of it */
	uint64_t estimated_at;
	/* where reading has ended, as the memory is used up; "" = it has not */
	char full[512];
	struct dd_summary all;
	struct dd_report report;
	int pause_code; /* of deciding while the input paused: 0, or the exit code */
	double started, shown;
};

/* ---- messages ---- */

/* An input or row that cannot be had. */
static void reject(struct run *run, const char *place, const char *reason)
{
	tl_report_reject(run->report.rejects, place, reason);
	if (++run->all.rejected <= MAX_REPORTED)
		tl_error("%s%s%s", place, *place ? ": " : "", reason);
	else if (run->all.rejected == MAX_REPORTED + 1)
		tl_error("more rejected rows are only counted");
}

/* A file that was found and is no text. */
static void skip(struct run *run, const char *path)
{
	if (!run->all.skipped++)
		run->all.first_skipped = strdup(path);
}

static void show_progress(struct run *run)
{
	char number[TL_NUMBER_SIZE], rate[TL_NUMBER_SIZE], near[TL_NUMBER_SIZE];
	char left[TL_NUMBER_SIZE], percent[24 + TL_NUMBER_SIZE] = "";
	uint64_t bytes = in_reader_bytes(&run->reader), total = run->options->total_bytes;
	struct dd_output_counts counts;
	double now, seconds;

	if (!tl_progress_wanted() || (now = tl_seconds()) - run->shown < TL_PROGRESS_SECONDS)
		return;
	run->shown = now;
	seconds = now - run->started;
	dd_output_count(run->output, &counts);
	if (bytes && total > bytes)
		snprintf(percent, sizeof(percent), "%.0f %%%s, ",
			 100.0 * (double)bytes / (double)total,
			 tl_write_left(seconds * (double)(total - bytes) / (double)bytes, left));
	tl_progress_show("%s%s document%s, %s/s, %s %s", percent,
			 tl_write_amount((double)run->all.documents, number),
			 run->all.documents == 1 ? "" : "s",
			 tl_write_amount((double)run->all.documents / seconds, rate),
			 tl_write_amount((double)counts.near, near),
			 run->options->pairs ? "pairs" : "near to others");
}

/* ---- memory ---- */

/* What a document needs until the end, whether it is kept or not. */
static uint64_t most_bytes(const struct run *run)
{
	uint64_t kept, near;

	dd_output_bytes(run->output, &kept, &near);
	if (run->kind == SIMIDX_DEDUP_TEXTS && !run->options->no_verify)
		kept += SIMIDX_DEDUP_BYTES;
	return kept > near ? kept : near;
}

/* Have memory for something that is known until the end; or note that reading ends before it. */
static int have_memory(struct run *run, uint64_t bytes, const char *place)
{
	simidx_dedup_counts counts = { .size = sizeof(counts) };

	simidx_dedup_count(run->dedup, &counts);
	if (dd_memory_has(&run->memory, bytes + counts.most_bytes)) {
		run->memory.charged += bytes;
		return 1;
	}
	snprintf(run->full, sizeof(run->full), "%s", place);
	return 0;
}

/* Early in a long run: that it is likely to end for want of memory. */
static void estimate(struct run *run)
{
	const struct dd_options *options = run->options;
	const struct in_reader *reader = &run->reader;
	uint64_t bytes = reader->bytes + reader->row_begins;
	char documents[TL_NUMBER_SIZE];
	double expected, tables;

	if (run->all.documents != run->estimated_at)
		return;
	run->estimated_at *= 10;
	if (reader->lines.source.codec)
		bytes = in_reader_bytes(reader);
	if (options->total_bytes <= bytes)
		return;
	expected = (double)run->all.documents * (double)options->total_bytes / (double)bytes;
	tables = expected * (double)run->bytes;
	if (tables <= (double)run->memory.tables)
		return;
	tl_notice("--memory is likely to be too small: there are about %s documents, which may "
		  "need "
		  "--memory %" PRIu64 "M",
		  tl_write_amount(expected, documents),
		  dd_memory_megabytes((uint64_t)tables, options->threads));
	run->estimated_at = 0;
}

static int tell_full(const struct run *run)
{
	char n[TL_NUMBER_SIZE];

	return tl_error("--memory is used up by %s document%s: all before %s is decided, and "
			"nothing from there on was read",
			tl_write_count(run->all.documents, n), run->all.documents == 1 ? "" : "s",
			run->full);
}

/* ---- deciding ---- */

static int hear_decided(void *ctx, const simidx_dedup_row *row, const simidx_dedup_near *near,
			size_t n)
{
	return dd_output_decided(((struct run *)ctx)->output, row, near, n);
}

/* The marks tell how long the outputs are. */
static int hear_committing(void *ctx, int is_complete)
{
	struct run *run = ctx;
	int code = dd_output_committing(run->output);

	dd_again_trim(run->again);
	return code || !run->options->index ? code : dd_index_write_mark(run->index, is_complete);
}

static int read_text(void *ctx, unsigned thread, const simidx_dedup_place *place,
		     const char **text, size_t *size)
{
	return dd_again_read(((struct run *)ctx)->again, thread, place, text, size);
}

static int is_stopped(void *ctx)
{
	(void)ctx;
	return tl_stop_requested();
}

/* What the library returned, or one of the calls above, which have told of it. */
static int tell(const struct run *run, int rc, simidx_error *err)
{
	const char *other = rc < 0 ? dd_against_blamed(run->against, err) : NULL;

	if (other)
		return tl_index_error(other, err);
	return rc < 0 ? dd_index_fail(run->index, err) : rc;
}

static int flush(struct run *run, int is_complete)
{
	simidx_error err;

	return tell(run, simidx_dedup_flush(run->dedup, is_complete, &err), &err);
}

static int open_dedup(struct run *run)
{
	const struct dd_options *options = run->options;
	simidx_dedup_options how = SIMIDX_DEDUP_OPTIONS_INIT;
	simidx_error err;

	how.kind = (int)run->kind;
	how.flags = (options->no_verify ? SIMIDX_DEDUP_NO_VERIFY : 0) |
		    (options->compare_all ? SIMIDX_DEDUP_COMPARE_ALL : 0) |
		    (options->pairs ? SIMIDX_DEDUP_PAIRS : 0) |
		    (options->index ? SIMIDX_DEDUP_LASTING : 0) |
		    (options->near_misses ? SIMIDX_DEDUP_NEAREST : 0);
	how.similarity = options->similarity;
	how.max_weight = options->accept;
	how.max_bits = options->radius;
	how.threads = options->threads;
	how.batch_rows = run->memory.batch_documents;
	how.batch_bytes = run->memory.batch_bytes;
	how.tmpdir = dd_room_path(run->room);
	how.spill_bytes = options->spill;
	how.calls = (simidx_dedup_calls){ run, hear_decided, hear_committing, read_text,
					  is_stopped };
	how.remember = dd_index_remember(run->index);
	if (run->against) {
		how.against = dd_against_handles(run->against);
		how.n_against = options->against.n;
	}
	return tell(run, simidx_dedup_open(dd_index_handle(run->index),
					   dd_index_writer(run->index), &how, &run->dedup, &err),
		    &err);
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

	if (!run->dedup || !run->options->stream || poll(&more, 1, PAUSE_MS) != 0)
		return 0;
	run->pause_code = flush(run, 0);
	return run->pause_code != 0;
}

/* What a row has, and what others have. */
static const char *const singular[] = { "a text", "features", "a fingerprint" };
static const char *const plural[] = { "texts", "features", "fingerprints" };

/* The first document says what all are. */
static int begin_deciding(struct run *run, enum simidx_dedup_kind kind)
{
	const struct dd_options *options = run->options;
	const char *comparing = dd_comparing_option(options);
	const char *of_texts = options->accept >= 0 ? "--accept" :
			       options->no_verify   ? "--no-verify" :
						      comparing;
	struct dd_decider decider;
	int code;

	run->kind = kind;
	if (kind == SIMIDX_DEDUP_FEATURES && comparing)
		return tl_usage_error("%s is about texts, and the inputs have features", comparing);
	if (kind == SIMIDX_DEDUP_TEXTS && options->radius >= 0 && !options->no_verify)
		return tl_usage_error(
			"--radius is about fingerprints; for texts it goes with --no-verify");
	if (kind != SIMIDX_DEDUP_FINGERPRINTS && options->bits_given)
		return tl_usage_error("--bits is about bare fingerprints, and the inputs have %s",
				      plural[kind]);
	if (kind == SIMIDX_DEDUP_FINGERPRINTS && of_texts)
		return tl_usage_error("%s is about texts, and the inputs have fingerprints",
				      of_texts);
	/* First the others: if one is refused, there is no new index. */
	if (options->against.n) {
		run->against = dd_against_open(options, kind);
		if (!run->against)
			return TL_TROUBLE;
	}
	run->index = dd_index_open(options, kind, run->memory.index_rows, dd_room_path(run->room));
	if (!run->index)
		return TL_TROUBLE;
	code = open_dedup(run);
	if (code)
		return code;
	run->bytes = most_bytes(run);
	decider = (struct dd_decider){ run->index, run->against, run->dedup, kind };
	return dd_output_begin(run->output, &decider, !run->reader.format->is_whole);
}

/* What comes back with the decision: where the row is and, of a filter of lines, its line. */
static int note_extra(struct run *run, simidx_dedup_row *row, const struct in_row *given,
		      uint32_t file)
{
	const struct in_reader *reader = &run->reader;
	int has_line = run->options->stream && !reader->format->is_whole;
	size_t size = has_line ? reader->kept_size : 0;
	struct dd_extra *extra;

	if (in_room_have(&run->extra, sizeof(*extra) + size))
		return tl_error("out of memory");
	extra = run->extra.bytes;
	extra->name = (struct dd_name){ run->all.documents, reader->line, file, 0 };
	extra->id = given->id;
	extra->key = dd_keep_key(&run->options->keep, given, run->files, file);
	extra->line_size = size;
	if (size)
		memcpy(extra->line, reader->kept.bytes, size);
	row->extra = extra;
	row->extra_size = sizeof(*extra) + size;
	return 0;
}

static int take_row(struct run *run, const struct in_row *given, uint32_t file)
{
	const struct in_reader *reader = &run->reader;
	simidx_dedup_row row = SIMIDX_DEDUP_ROW_INIT;
	enum simidx_dedup_kind kind = given->kind == IN_TEXT	 ? SIMIDX_DEDUP_TEXTS :
				      given->kind == IN_FEATURES ? SIMIDX_DEDUP_FEATURES :
								   SIMIDX_DEDUP_FINGERPRINTS;
	simidx_error err;
	char reason[64];
	int code = 0;

	if (run->dedup && kind != run->kind) {
		snprintf(reason, sizeof(reason), "%s, and the inputs before have %s",
			 singular[kind], plural[run->kind]);
		reject(run, in_reader_place(reader), reason);
		return 0;
	}
	if (!run->dedup)
		code = begin_deciding(run, kind);
	if (code)
		return code;
	if (!have_memory(run, run->bytes, in_reader_place(reader)))
		return 0;
	run->all.documents++;
	estimate(run);
	if (kind == SIMIDX_DEDUP_TEXTS) {
		row.text = given->text;
		row.text_size = given->text_size;
		row.flags = dd_again_place(run->files, reader, given, file, &row.place);
		run->all.not_utf8 += !tl_is_utf8(given->text, given->text_size);
	}
	row.fp = given->fp;
	if (kind == SIMIDX_DEDUP_FEATURES) {
		row.features = given->features;
		row.n_features = given->n_features;
	}
	row.label = given->label;
	row.label_size = given->label ? given->label_size : 0;
	code = note_extra(run, &row, given, file);
	simidx_dedup_limit(run->dedup, dd_memory_work(&run->memory, row.text_size,
						      run->reader.format->is_whole));
	return code ? code : tell(run, simidx_dedup_add(run->dedup, &row, &err), &err);
}

/* Of a filter: an input has begun with a header. Returns as dd_header_meet(), which it calls. */
static int take_header(struct run *run, uint32_t file)
{
	int code = dd_header_meet(&run->header, &run->reader, dd_files_path(run->files, file));
	char reason[1024];

	if (code != DD_HEADER_IS_OTHER)
		return code;
	snprintf(reason, sizeof(reason), "its header is not that of %s, so its rows do not fit "
		 "below that", run->header.path);
	reject(run, run->reader.path, reason);
	return code;
}

static int read_rows(struct run *run, const struct in_file *input, uint32_t file)
{
	struct in_reader *reader = &run->reader;
	struct in_row row;
	int code = 0;

	while (!code && !*run->full && !tl_stop_requested()) {
		enum in_result rc;

		reader->lines.most = dd_memory_longest(&run->memory, reader->format->is_whole);
		rc = in_reader_next(reader, &row);

		if (run->pause_code)
			return run->pause_code;
		if (reader->row == 1 && reader->head_size && (code = take_header(run, file)))
			return code == DD_HEADER_IS_OTHER ? 0 : code;
		if (rc == IN_END || (rc == IN_FATAL && tl_stop_requested()))
			break;
		if (rc == IN_ROW)
			code = take_row(run, &row, file);
		else if (rc == IN_SKIPPED && input->is_found)
			skip(run, input->path);
		else if (rc == IN_FATAL && in_reader_lacks_memory(reader))
			return tl_error("%s: %s", in_reader_place(reader), reader->reason);
		else
			reject(run, in_reader_place(reader), reader->reason);
		if (run->all.rejected == HOPELESS && !run->all.documents) {
			in_causes_tell(&reader->causes);
			return tl_error("the first 1,000 rows were all rejected, the last one "
					"because: %s", reader->reason);
		}
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

	if (!input->is_stdin && dd_check_is_written(input->path))
		return TL_TROUBLE;
	if (!input->is_stdin && in_guard_is_output(input->path)) /* from a list */
		return 0;
	rc = in_reader_open(&run->reader, input->path, input->format, input->is_stdin);

	if (rc == IN_FATAL)
		return tl_error("%s: %s", input->path, run->reader.reason);
	if (rc == IN_SKIPPED)
		reject(run, input->path,
		       "is a directory (-r reads the files in one that is an INPUT)");
	else if (rc != IN_ROW)
		reject(run, input->path, run->reader.reason);
	if (rc != IN_ROW || !have_memory(run, dd_files_bytes(input->path), input->path))
		return 0;
	switch (dd_files_meet(run->files, &run->reader, &file)) {
	case DD_MET_NEW:
		return read_rows(run, input, file);
	case DD_MET_AGAIN:
		return 0;
	case DD_MET_KNOWN:
		run->memory.charged -= dd_files_bytes(input->path);
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

	for (; !code && !*run->full && !tl_stop_requested(); n++) {
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
	if (!code && run->dedup)
		code = flush(run, 1);
	return code;
}

/* ---- a run ---- */

static int begin(struct run *run)
{
	dd_memory_begin();
	run->started = run->shown = tl_seconds();
	run->estimated_at = ESTIMATED_AFTER;
	dd_memory_divide(&run->memory, run->options->memory, run->options->threads);
	in_reader_init(&run->reader, run->options->bits);
	run->reader.columns = &run->options->inputs.columns;
	run->reader.keeps_lines = run->options->stream;
	in_reader_when_idle(&run->reader, decide_in_pause, run);
	run->files = dd_files_new();
	if (run->files)
		run->again = dd_again_open(run->files, &run->options->inputs.columns,
					   run->options->threads);
	if (!run->again)
		return tl_error("out of memory");
	run->output = dd_output_new(run->options, run->files);
	if (!run->output || dd_report_begin(&run->report, run->options))
		return TL_TROUBLE;
	run->room = dd_room_new(run->options->tmpdir);
	if (!run->room)
		return TL_TROUBLE;
	in_guard_add(dd_room_path(run->room)); /* it may be in a directory of inputs */
	return 0;
}

int dd_run(const struct dd_options *options)
{
	struct run run = { .options = options };
	struct in_files *files = in_files_open(&options->inputs);
	struct dd_output_counts counts = { 0 };
	uint64_t unread = 0;
	int code = begin(&run);

	if (!code)
		code = dd_check_inputs(options, run.memory.tables);
	if (!code)
		code = files ? read_inputs(&run, files) : tl_error("out of memory");
	tl_progress_clear();
	if (!code && run.dedup)
		code = dd_output_finish(run.output, dd_memory_left(&run.memory));
	if (!code) {
		/* Results stand before the summary where both go to one file. */
		if (fflush(stdout))
			tl_output_failed();
		in_causes_tell(&run.reader.causes);
		in_files_tell(files);
		run.all.seconds = tl_seconds() - run.started;
		unread = dd_summary_tell(&run.all, options, run.dedup, run.again, run.output,
					 run.index ? dd_index_remember(run.index) : 0);
		dd_output_count(run.output, &counts);
		if (*run.full)
			code = tell_full(&run);
	}
	if (!code && run.all.rejected + unread + counts.changed + counts.broken)
		code = TL_PARTLY;
	run.all.seconds = tl_seconds() - run.started;
	code = dd_report_end(&run.report, code, &run.all, run.output, run.dedup,
			     in_reader_bytes(&run.reader));
	simidx_dedup_close(run.dedup);
	dd_against_close(run.against);
	dd_index_close(run.index);
	dd_again_close(run.again);
	free(run.extra.bytes);
	free(run.header.line);
	dd_room_free(run.room);
	dd_output_free(run.output);
	in_reader_free(&run.reader);
	in_files_close(files);
	free(run.all.first_skipped);
	dd_files_free(run.files);
	return code;
}
