/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/dd_run.h"

#include "common/tl_index.h"
#include "common/tl_msg.h"
#include "common/tl_output.h"
#include "common/tl_report.h"
#include "dedup/dd_again.h"
#include "dedup/dd_binary.h"
#include "dedup/dd_check.h"
#include "dedup/dd_header.h"
#include "dedup/dd_memory.h"
#include "dedup/dd_report.h"
#include "dedup/dd_resume.h"
#include "dedup/dd_room.h"
#include "dedup/dd_shards.h"
#include "input/in_guard.h"
#include "input/in_written.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* After so many milliseconds without input all that has come is decided. */
#define PAUSE_MS 1000

/* If the first so many rows are rejected, the others will be, too: it is a matter of options. */
#define HOPELESS 1000

struct run {
	struct dd_work work;
	struct dd_room room;
	struct dd_output *output;
	struct dd_again *again;
	struct dd_binary binary;
	struct in_room extra;     /* struct dd_extra of a row */
	struct in_reader reader;
	struct dd_header header;  /* of a filter of tables */
	struct dd_memory memory;
	uint64_t bytes;      /* that a document may need of it */
	/* where reading has ended, as the memory is used up; "" = it has not */
	char full[512];
	struct dd_mark last;   /* --resume: of the last run */
	int goes_on;           /* it is gone on with */
	int is_done;           /* it came to its end, so there is nothing to do */
	struct dd_inputs planned;
	struct dd_inputs read; /* those that were begun */
	uint64_t n_opened;     /* of these */
	uint64_t here;         /* digest of these, the last one without its size */
	struct dd_report report;
	int pause_code; /* of deciding while the input paused: 0, or the exit code */
};

/* ---- messages ---- */

/* An input or row that cannot be had. */
static void reject(struct run *run, const char *place, const char *reason)
{
	dd_report_reject(&run->report, place, reason);
}

/* ---- memory ---- */

/* Have memory for something that is known until the end; or note that reading ends before it. */
static int have_memory(struct run *run, uint64_t bytes, const char *place)
{
	simidx_dedup_counts counts = { .size = sizeof(counts) };

	simidx_dedup_count(run->work.dedup, &counts);
	if (dd_memory_has(&run->memory, bytes + counts.most_bytes)) {
		run->memory.charged += bytes;
		return 1;
	}
	snprintf(run->full, sizeof(run->full), "%s", place);
	return 0;
}

/* ---- deciding ---- */

static int hear_decided(void *ctx, const simidx_dedup_row *row, const simidx_dedup_near *near,
			size_t n)
{
	return dd_output_decided(((struct run *)ctx)->output, row, near, n);
}

static int write_mark(struct run *run, int is_complete)
{
	struct dd_mark mark = { .is_open = !is_complete, .kind = run->work.kind };

	dd_output_mark(run->output, &mark);
	mark.names = run->planned.names;
	if (is_complete)
		mark.at = (struct dd_position){ .inputs = run->read.n, .digest = run->read.digest };
	return dd_index_write_mark(run->work.index, &mark);
}

/* The marks tell how long the outputs are. */
static int hear_committing(void *ctx, int is_complete)
{
	struct run *run = ctx;
	int code = dd_output_committing(run->output, is_complete);

	dd_again_trim(run->again);
	return code || !run->work.options->index ? code : write_mark(run, is_complete);
}

static int read_text(void *ctx, unsigned thread, const simidx_dedup_place *place,
		     const char **text, size_t *size)
{
	return dd_again_read(((struct run *)ctx)->again, thread, place, text, size);
}

static int skips(void *ctx, uint64_t handle)
{
	return dd_output_skips(((struct run *)ctx)->output, handle);
}

/* What the library returned, or one of the calls above, which have told of it. */
static int tell(const struct run *run, int rc, simidx_error *err)
{
	const char *other = rc < 0 ? dd_against_blamed(run->work.against, err) : NULL;

	if (other)
		return tl_index_error(other, err);
	return rc < 0 ? dd_index_fail(run->work.index, err) : rc;
}

static int flush(struct run *run, int is_complete)
{
	simidx_error err;

	return tell(run, simidx_dedup_flush(run->work.dedup, is_complete, &err), &err);
}

static int open_dedup(struct run *run)
{
	simidx_dedup_options how = dd_index_options(run->work.index, run->work.kind);
	simidx_error err;

	how.batch_rows = run->memory.batch_documents;
	how.batch_bytes = run->memory.batch_bytes;
	how.unsearched_bytes = run->memory.unsearched;
	how.tmpdir = run->work.dir;
	how.calls = (simidx_dedup_calls){ run,	     hear_decided, hear_committing,
					  read_text, tl_stop_wanted, skips };
	if (run->work.against) {
		how.against = run->work.against->handle;
		how.n_against = run->work.options->against.n;
	}
	return tell(run, simidx_dedup_open(run->work.index->handle, run->work.index->writer, &how,
					   &run->work.dedup, &err), &err);
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

	if (!run->work.dedup || !run->work.options->stream || poll(&more, 1, PAUSE_MS) != 0)
		return 0;
	run->pause_code = flush(run, 0);
	return run->pause_code != 0;
}

/* The first document says what all are. */
static int begin_deciding(struct run *run, enum simidx_dedup_kind kind)
{
	const struct dd_options *options = run->work.options;
	int code;

	run->work.kind = kind;
	code = dd_check_kind(options, kind);
	if (code)
		return code;
	/* First the others: if one is refused, there is no new index. */
	if (options->against.n) {
		run->work.against = dd_against_open(options, kind);
		if (!run->work.against)
			return TL_TROUBLE;
	}
	run->work.index = dd_index_open(options, kind, &run->memory, run->work.dir,
				   DD_ROOM_INDEX);
	if (!run->work.index)
		return TL_TROUBLE;
	code = open_dedup(run);
	if (code)
		return code;
	run->bytes = dd_output_bytes(run->output,
				     kind == SIMIDX_DEDUP_TEXTS && !options->no_verify ?
					     SIMIDX_DEDUP_BYTES :
					     0);
	code = dd_output_begin(run->output, run->goes_on || !run->reader.format->is_whole);
	if (code || !options->index)
		return code;
	/* Of a run that is gone on with the mark is right. */
	if (run->goes_on)
		simidx_writer_rollback(run->work.index->writer);
	else if (write_mark(run, 0))
		return TL_TROUBLE;
	return run->goes_on ? 0 : dd_index_commit(run->work.index);
}

/* What comes back with the decision: where the row is and, of a filter of lines, its line. */
static int note_extra(struct run *run, simidx_dedup_row *row, const struct in_row *given,
		      uint32_t file)
{
	const struct in_reader *reader = &run->reader;
	int has_line = run->work.options->stream && !reader->format->is_whole;
	size_t size = has_line ? reader->kept_size : 0;
	struct dd_extra *extra;

	if (in_room_have(&run->extra, sizeof(*extra) + size))
		return tl_error("out of memory");
	extra = run->extra.bytes;
	extra->name = (struct dd_name){ run->report.documents, reader->line, file };
	extra->id = given->id;
	extra->key = dd_keep_key(&run->work.options->keep, given, run->work.files, file);
	extra->end = (struct dd_position){ run->read.n, run->here, in_lines_offset(&reader->lines),
					   reader->lines.line,
					   run->report.documents + run->last.at.rows };
	extra->line_size = size;
	if (size)
		memcpy(extra->line, reader->kept.bytes, size);
	row->extra = extra;
	row->extra_size = sizeof(*extra) + size;
	return 0;
}

/*
 * Count a document, for which so many bytes are needed besides what all need. Returns 0 or an exit
 * code; it is not to be taken if there is no memory, or the others are of another kind.
 */
static int count_document(struct run *run, enum simidx_dedup_kind kind, uint64_t bytes,
			  int *is_taken)
{
	const char *place = in_reader_place(&run->reader);
	char reason[64];
	int code = run->work.dedup ? 0 : begin_deciding(run, kind);

	*is_taken = 0;
	if (!code && dd_check_is_other(kind, run->work.kind, reason, sizeof(reason))) {
		reject(run, place, reason);
		return 0;
	}
	if (code || !have_memory(run, run->bytes + bytes, place))
		return code;
	run->report.documents++;
	*is_taken = 1;
	return 0;
}

/* A file that is no text. */
static int take_binary(struct run *run, const struct in_file *input, uint32_t file)
{
	int is_file = dd_files_can_seek(run->work.files, file), is_taken, code;

	if (is_file)
		dd_report_binary(&run->report, input->path);
	if (!is_file || !run->work.options->binary) {
		if (input->is_found)
			tl_remark_add(&run->report.skipped, input->path);
		else
			reject(run, in_reader_place(&run->reader), run->reader.reason);
		return 0;
	}
	code = count_document(run, SIMIDX_DEDUP_TEXTS, dd_binary_bytes(), &is_taken);
	if (code || !is_taken)
		return code;
	run->report.binary++;
	return dd_binary_add(&run->binary, file, run->report.documents);
}

static int take_row(struct run *run, const struct in_row *given, uint32_t file)
{
	const struct in_reader *reader = &run->reader;
	simidx_dedup_row row = SIMIDX_DEDUP_ROW_INIT;
	enum simidx_dedup_kind kind = dd_check_kind_of(given);
	simidx_error err;
	int is_taken, code = count_document(run, kind, 0, &is_taken);

	if (code || !is_taken)
		return code;
	dd_report_estimate(&run->report, reader->lines.source.codec ?
			    in_reader_bytes(reader) : reader->bytes + reader->row_begins,
			    run->bytes, run->memory.tables);
	if (kind == SIMIDX_DEDUP_TEXTS) {
		row.text = given->text;
		row.text_size = given->text_size;
		row.flags = dd_again_place(run->work.files, reader, given, file, &row.place);
		dd_report_text(&run->report, reader, given);
	}
	row.fp = given->fp;
	if (kind == SIMIDX_DEDUP_FEATURES) {
		row.features = given->features;
		row.n_features = given->n_features;
	}
	row.label = given->label;
	row.label_size = given->label ? given->label_size : 0;
	code = note_extra(run, &row, given, file);
	simidx_dedup_limit(run->work.dedup, dd_memory_work(&run->memory, row.text_size,
						      run->reader.format->is_whole));
	return code ? code : tell(run, simidx_dedup_add(run->work.dedup, &row, &err), &err);
}

/* Of a filter: an input has begun with a header. Returns as dd_header_meet(), which it calls. */
static int take_header(struct run *run, uint32_t file)
{
	const struct in_reader *reader = &run->reader;
	char reason[1024];
	int code;

	if (run->work.options->output_dir)
		return dd_output_head(run->output, file, reader->head.bytes, reader->head_size);
	code = dd_header_meet(&run->header, reader, dd_files_path(run->work.files, file),
			      dd_output_kept(run->output));
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
		/* Before a header is written. */
		if (rc == IN_ROW && !run->work.dedup &&
		    (code = dd_check_kind(run->work.options, dd_check_kind_of(&row))))
			return code;
		if (reader->row == 1 && reader->head_size && (code = take_header(run, file)))
			return code == DD_HEADER_IS_OTHER ? 0 : code;
		if (rc == IN_END || (rc == IN_FATAL && tl_stop_requested()))
			break;
		if (rc == IN_ROW)
			code = take_row(run, &row, file);
		else if (rc == IN_SKIPPED)
			code = take_binary(run, input, file);
		else if (rc == IN_FATAL && in_reader_lacks_memory(reader))
			return tl_error("%s: %s", in_reader_place(reader), reader->reason);
		else {
			reject(run, in_reader_place(reader), reader->reason);
			code = dd_output_unread(run->output, &row);
		}
		if (run->report.rejected == HOPELESS && !run->report.documents) {
			in_causes_tell(&reader->causes, run->report.rejected);
			return tl_error("the first 1,000 rows were all rejected, the last one "
					"because: %s", reader->reason);
		}
		if (rc == IN_FATAL) /* what came before stays, and other inputs follow */
			break;
		dd_report_progress(&run->report, in_reader_bytes(reader), run->output);
	}
	return code;
}

/* Count an input. Returns whether it is before, at (0) or behind the place where a run goes on. */
static int begin_input(struct run *run, const struct in_file *input)
{
	uint64_t size = input->is_stdin ? 0 : dd_resume_size(input->path);

	run->read.n++;
	run->here = dd_resume_digest(run->read.digest, input->path, 0);
	run->read.digest = dd_resume_digest(run->read.digest, input->path, size);
	return !run->goes_on || run->read.n > run->last.at.inputs ? 1 :
	       run->read.n < run->last.at.inputs		  ? -1 :
								    0;
}

/* It is the one in which the run goes on. */
static int go_on(struct run *run, const struct in_file *input, uint32_t file)
{
	if (dd_output_go_on(run->output, file))
		return TL_TROUBLE;
	if (input->format->is_whole)
		return 0;
	return dd_resume_pass(&run->reader, &run->last.at) ? TL_TROUBLE :
							     read_rows(run, input, file);
}

static int read_input(struct run *run, const struct in_file *input)
{
	uint32_t file;
	enum in_result rc;
	int place;

	if (!input->is_stdin && in_written_is_met(input->path))
		return TL_TROUBLE;
	if (!input->is_stdin && in_guard_is_output(input->path)) /* from a list */
		return 0;
	place = begin_input(run, input);
	if (place == 0 && run->here != run->last.at.digest)
		return tl_error("%s: --resume: this input or those before it are not what was read "
				"before: names, order or sizes differ", input->path);
	/* Of a pipe that was read before nothing is left. */
	if (place < 0 && (input->is_stdin || !dd_resume_size(input->path)))
		return 0;
	rc = in_reader_open(&run->reader, input->path, input->format, input->is_stdin);

	if (rc == IN_FATAL || (rc != IN_ROW && place == 0))
		return tl_error("%s: %s", input->path, run->reader.reason);
	if (rc == IN_SKIPPED)
		reject(run, input->path,
		       "is a directory (-r reads the files in one that is an INPUT)");
	else if (rc != IN_ROW)
		reject(run, input->path, run->reader.reason);
	run->n_opened += rc == IN_ROW;
	if (rc != IN_ROW || !have_memory(run, dd_files_bytes(input->path), input->path))
		return 0;
	switch (dd_files_meet(run->work.files, &run->reader, input->below, &file)) {
	case DD_MET_NEW:
		return place < 0  ? 0 :
		       place == 0 ? go_on(run, input, file) :
				    read_rows(run, input, file);
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
	const struct in_files_options *inputs = &run->work.options->inputs;
	struct in_file input;
	uint64_t n = 0;
	int code = 0;

	for (; !code && !*run->full && !tl_stop_requested(); n++) {
		enum in_result rc = in_files_next(files, &input);

		if (rc == IN_END || (rc == IN_FATAL && tl_stop_requested()))
			break;
		if (rc == IN_FATAL)
			return tl_error("%s", files->reason);
		if (rc == IN_ROW)
			code = read_input(run, &input);
		else
			reject(run, "", files->reason);
	}
	if (!code && tl_stop_requested())
		code = tl_error("stopped by a signal");
	/* A list may be empty; who names a directory means what is in it. */
	if (!code && !n && inputs->n_operands && !inputs->lists.n)
		return in_files_refuse_none(inputs);
	if (!code && run->goes_on && run->read.n < run->last.at.inputs)
		code = tl_error("%s: --resume: there are fewer inputs than were read before",
				run->work.options->index);
	if (code)
		return code;
	if (*run->full)
		dd_output_unread(run->output, NULL);
	/* What is not read for want of memory can be resumed with more. */
	return run->work.dedup ? flush(run, !*run->full) : dd_output_committing(run->output, 1);
}

/* ---- a run ---- */

static int begin(struct run *run)
{
	const struct dd_mark *last = &run->last;

	dd_memory_begin();
	run->report.started = run->report.shown = tl_seconds();
	dd_memory_divide(&run->memory, run->work.options->memory, run->work.options->threads);
	in_reader_init(&run->reader, run->work.options->bits);
	run->reader.names_tell = !run->work.options->inputs.format;
	run->reader.columns = &run->work.options->inputs.columns;
	run->reader.keeps_lines = run->work.options->stream;
	run->reader.packs_stay = run->work.options->identical;
	in_reader_when_idle(&run->reader, decide_in_pause, run);
	run->work.files = dd_files_new();
	if (run->work.files)
		run->again = dd_again_open(run->work.files, &run->work.options->inputs.columns,
					   run->work.options->threads);
	run->binary.work = &run->work;
	run->binary.report = &run->report;
	if (!run->again)
		return tl_error("out of memory");
	if (run->work.options->resume && dd_resume_read(run->work.options, &run->last))
		return TL_TROUBLE;
	run->output = dd_output_new(&run->work,
				    last->is_open && last->has_position ? last : NULL);
	if (!run->output || dd_report_begin(&run->report))
		return TL_TROUBLE;
	if (dd_room_make(&run->room, run->work.options->tmpdir))
		return TL_TROUBLE;
	run->work.dir = run->room.path;
	in_guard_add(run->work.dir); /* it may be in a directory of inputs */
	return 0;
}

/* Look at all inputs, and go on with the last run if that is wanted and possible. */
static int check(struct run *run)
{
	int code = dd_check_inputs(run->work.options, run->memory.tables, &run->planned);

	if (!code && run->work.options->resume)
		code = dd_resume_check(run->work.options, &run->last, &run->planned, &run->goes_on,
				       &run->is_done);
	if (!run->goes_on)
		run->last = (struct dd_mark){ 0 };
	if (!code && run->work.options->output_dir && !run->is_done)
		code = dd_shards_check(run->work.options, run->goes_on);
	return code || !run->goes_on ? code :
				       begin_deciding(run, (enum simidx_dedup_kind)run->last.kind);
}

int dd_run(const struct dd_options *options)
{
	struct run run = { .work.options = options, .report.options = options };
	struct in_files files = { .options = &options->inputs };
	const struct dd_counts *counts;
	uint64_t unread = 0;
	int code = begin(&run);

	if (!code)
		code = check(&run);
	if (!code && !run.is_done)
		code = read_inputs(&run, &files);
	if (!code && run.work.dedup)
		code = dd_binary_find(&run.binary, run.output);
	tl_progress_clear();
	if (!code && run.work.dedup)
		code = dd_output_finish(run.output, dd_memory_left(&run.memory));
	if (!code && !run.is_done) {
		/* Results stand before the summary where both go to one file. */
		if (fflush(stdout))
			tl_output_failed();
		in_causes_tell(&run.reader.causes, run.report.documents + run.report.rejected);
		in_files_tell(&files);
		run.report.seconds = tl_seconds() - run.report.started;
		unread = dd_report_tell(&run.report, &run.work, run.again, run.output);
		if (*run.full)
			code = dd_report_full(&run.report, run.full);
	}
	if (code == TL_TROUBLE && run.work.dedup && options->stream)
		dd_report_partial(&run.report);
	counts = !code ? dd_output_counts(run.output) : NULL;
	if (counts && run.report.rejected + unread + counts->changed + counts->broken)
		code = run.n_opened || run.is_done ? TL_PARTLY : TL_TROUBLE;
	run.report.seconds = tl_seconds() - run.report.started;
	code = dd_report_end(&run.report, code, &run.work, run.output,
			     in_reader_bytes(&run.reader));
	simidx_dedup_close(run.work.dedup);
	dd_against_close(run.work.against);
	dd_index_close(run.work.index);
	dd_again_close(run.again);
	dd_binary_free(&run.binary);
	free(run.extra.bytes);
	free(run.header.line);
	dd_room_remove(&run.room);
	dd_output_free(run.output);
	in_reader_free(&run.reader);
	in_files_close(&files);
	dd_files_free(run.work.files);
	return code;
}
