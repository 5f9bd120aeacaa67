/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "load/ld_run.h"

#include "common/tl_msg.h"
#include "common/tl_number.h"
#include "common/tl_path.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Rows that are passed over between two looks at the clock. */
#define SKIPPED_AT_ONCE 1024

/* After so many milliseconds without input a writer commits what it has. */
#define PAUSE_MS 1000

/* A loader whose input comes in such pauses waits for somebody, not for a slow disk. */
#define TRICKLE_MS 200

/* ---- texts ---- */

static unsigned count_threads(const struct ld_options *options)
{
	long n = options->threads ? (long)options->threads : sysconf(_SC_NPROCESSORS_ONLN);

	return n < 1 ? 1 : n > TL_MAX_THREADS ? TL_MAX_THREADS : (unsigned)n;
}

/*
 * From the first text on, everything goes through the queue. For an engine everything does from the
 * start, as what a batch of it looks up is looked up together.
 */
static int start_queue(struct ld_run *run)
{
	unsigned i, n = count_threads(run->options);
	simidx_text **text = calloc(n, sizeof(*text));
	int code = text ? 0 : tl_error("out of memory");

	for (i = 0; !code && i < n && !ld_target_is_bare(run->target); i++)
		code = ld_target_extractor(run->target, &text[i]);
	if (!code) {
		run->queue = ld_queue_new(text, n, run->target->bits,
					  ld_change_sketch_flags(run->target),
					  ld_store_item, run);
		code = run->queue ? 0 : TL_TROUBLE;
	} else {
		while (text && i > 0)
			simidx_text_close(text[--i]);
	}
	if (!code && tl_path_is_uri(run->options->index))
		ld_queue_set_ahead(run->queue, ld_store_ahead);
	free(text);
	return code;
}

/*
 * Whether a row is of the kind that the index holds: else it is rejected, or the load ends if that
 * is going to be so with all rows.
 */
static int fit_kind(struct ld_run *run, struct ld_item *item)
{
	struct ld_target *target = run->target;
	enum in_kind kind = item->row.kind;
	char place[LD_PLACE_SIZE];

	if (kind == IN_TEXT && ld_target_is_bare(target)) {
		item->result = IN_REJECTED;
		item->reason = run->options->features_by ?
				       "a text, and the index holds features (--features-by)" :
				       "a text, and the index holds bare fingerprints";
	}
	if (kind == IN_FEATURES && target->state != LD_CLOSED && !ld_target_is_bare(target)) {
		item->result = IN_REJECTED;
		item->reason = "features, and the index holds texts";
	}
	if (kind == IN_FINGERPRINT && target->state == LD_CLOSED && target->index &&
	    target->flags & SIMIDX_CREATE_FP2 && !item->row.has_fp2 &&
	    !item->row.lacks_fp2) {
		in_write_place(item->path, item->line, place, sizeof(place));
		return tl_error("%s: a bare fingerprint does not fit: %s keeps a second one for "
				"each document, as indexes of texts do",
				place, run->options->index);
	}
	return 0;
}

/* The first row decides how the index is written; from then on it has a mark of this load. */
static int prepare(struct ld_run *run, const struct in_row *row)
{
	struct ld_target *target = run->target;
	int was_closed = target->state == LD_CLOSED;
	int code = ld_target_prepare(target, row);

	if (was_closed)
		run->committed_at = tl_seconds();
	if (!code && was_closed && target->state == LD_BUILDING)
		ld_report_build(&run->report, ld_target_others(target));
	if (code || !was_closed || target->state != LD_INSERTING)
		return code;
	/*
	 * Rows that were to be passed over have been read since the mark was, which may have taken
	 * long.
	 */
	if (run->resumes)
		code = ld_mark_check(target, &run->start, &run->failure);
	if (!code)
		code = ld_store_begin(run);
	return code;
}

/* The first line of a full dump decides how the index is made, before there is a row. */
static int begin_full(struct ld_run *run, const struct in_head *head)
{
	struct ld_target *target = run->target;
	const char *place = in_reader_place(&run->reader);
	int was_there = target->index != NULL;
	int code = ld_full_begin(&run->full, target, head, place);

	if (!code)
		code = prepare(run, NULL);
	/* Another load may have been quicker: then its index is there now. */
	if (!code && !was_there && target->index && !target->is_new)
		code = ld_full_begin(&run->full, target, head, place);
	run->reader.bits = target->bits;
	return code;
}

/* Deal with an item in its turn. */
static int take(struct ld_run *run, struct ld_item *item)
{
	int code = item->result == IN_ROW ? fit_kind(run, item) : 0;

	if (!code && item->result == IN_ROW)
		code = prepare(run, &item->row);
	/* What an index that is made by this row holds is known now only. */
	if (!code && item->result == IN_ROW)
		code = fit_kind(run, item);
	if (!code && item->result == IN_ROW && !run->queue &&
	    (item->row.kind == IN_TEXT || tl_path_is_uri(run->options->index)))
		code = start_queue(run);
	if (code)
		return code;
	if (run->queue) {
		run->queued++;
		code = ld_queue_add(run->queue, item);
		/* A commit that is due is not put off by rows that could come. */
		if (!code && run->target->state == LD_INSERTING &&
		    run->queued + run->uncommitted >= run->options->commit)
			code = ld_queue_flush(run->queue);
		return code;
	}
	if (item->result == IN_ROW && item->row.kind == IN_FINGERPRINT) {
		item->fp = item->row.fp;
		item->fp2 = item->row.fp2;
	} else if (item->result == IN_ROW && item->row.kind == IN_FEATURES) {
		ld_item_sketch(item, NULL, run->target->bits,
			       ld_change_sketch_flags(run->target));
	}
	code = ld_store_item(run, item);
	ld_item_clear(item);
	return code;
}

/* ---- reading ---- */

/* Whether there is no input for so many milliseconds; a signal that asks to stop ends the wait. */
static int pauses(int fd, int milliseconds)
{
	struct pollfd more = { fd, POLLIN, 0 };
	int n;

	do
		n = poll(&more, 1, milliseconds);
	while (n < 0 && errno == EINTR && !tl_stop_requested());
	return n == 0;
}

/* Milliseconds until the next commit is due, but at least and at most so many. */
static int wait_for(const struct ld_run *run, int least, int most)
{
	double left = (LD_COMMIT_SECONDS - (tl_seconds() - run->committed_at)) * 1000;

	return left > most ? most : left > least ? (int)left + 1 : least;
}

/*
 * Whether a new index that is built of standard input becomes visible, and grows from then on: its
 * rows come slowly. An index that is to be replaced stays until the new one is complete.
 */
static int is_trickle(const struct ld_run *run, int fd)
{
	const struct ld_options *options = run->options;

	return run->target->state == LD_BUILDING && run->target->is_new && run->is_stdin &&
	       options->write == LD_WRITE_AUTO && options->create != LD_CREATE_TRUNCATE &&
	       !options->from.n && run->reader.format != &in_format_full &&
	       pauses(fd, wait_for(run, TRICKLE_MS, INT_MAX));
}

/*
 * The input has nothing more for now. If that lasts, or the last commit was long ago, what has come
 * is committed: others wait for the write lock, and somebody for the lines that --emit writes.
 * Returns whether that failed, which ends the input.
 */
static int commit_in_pause(void *ctx, int fd)
{
	struct ld_run *run = ctx;
	int inserts = run->target->state == LD_INSERTING;

	if (inserts ? !pauses(fd, wait_for(run, 0, PAUSE_MS)) : !is_trickle(run, fd))
		return 0;
	if (run->queue)
		run->pause_code = ld_queue_flush(run->queue);
	if (!run->pause_code && !inserts)
		run->pause_code = ld_store_insert(run);
	else if (!run->pause_code && run->uncommitted)
		run->pause_code = ld_store_commit(run);
	run->committed_at = tl_seconds();
	return run->pause_code != 0;
}

/* Pass over the rows of an input that were stored before. */
static int skip_rows(struct ld_run *run, uint64_t rows)
{
	struct in_row row;

	for (uint64_t i = 0; i < rows && !tl_stop_requested(); i++) {
		enum in_result rc = in_reader_next(&run->reader, &row);

		if (rc == IN_ROW && row.kind == IN_HEAD && begin_full(run, row.head))
			return TL_TROUBLE;

		if (rc == IN_FATAL && tl_stop_requested())
			return 0;
		if (rc == IN_FATAL && in_reader_lacks_memory(&run->reader))
			return tl_error("%s: %s", in_reader_place(&run->reader),
					run->reader.reason);
		if (rc == IN_FATAL || rc == IN_END)
			return tl_error("%s: --resume: it has fewer rows than were read before",
					run->reader.path);
		if (i % SKIPPED_AT_ONCE == 0)
			ld_report_work(&run->report, "skip", i, rows);
	}
	run->report.passed = in_reader_bytes(&run->reader);
	run->reader.causes = (struct in_causes){ 0 };
	return 0;
}

/* Whether a file that was taken for one text by its name alone may be none. */
static enum in_doubt doubt_row(const struct ld_run *run, const struct ld_item *item)
{
	if (item->result != IN_ROW || run->reader.format != &in_format_text ||
	    run->options->inputs.format)
		return IN_NO_DOUBT;
	return in_doubt_text(run->reader.path, &item->row, run->target->bits);
}

/* All rows of the input that the reader is at. Returns 0 or an exit code. */
static int load_input(struct ld_run *run, uint64_t number, const struct in_file *file,
		      uint64_t skipped)
{
	int code = skip_rows(run, skipped);

	for (uint64_t rows = skipped + 1; !code && !tl_stop_requested(); rows++) {
		struct ld_item item = { .path = run->reader.path, .file = number,
					.is_found = file->is_found, .rows = rows };

		item.result = in_reader_next(&run->reader, &item.row);
		if (run->pause_code)
			return run->pause_code;
		if (item.result == IN_END || (item.result == IN_FATAL && tl_stop_requested()))
			break;
		if (item.result == IN_FATAL)
			return tl_error("%s: %s", in_reader_place(&run->reader),
					run->reader.reason);
		if (item.result == IN_ROW && item.row.kind == IN_HEAD) {
			code = begin_full(run, item.row.head);
			continue;
		}
		run->report.rows++;
		run->report.texts += item.result == IN_ROW && item.row.kind == IN_TEXT;
		item.line = run->reader.line;
		item.reason = run->reader.reason;
		item.kept = run->reader.kept.bytes;
		item.kept_size = run->reader.format->is_whole ? 0 : run->reader.kept_size;
		item.is_path_label = item.row.label == run->reader.path;
		item.doubt = doubt_row(run, &item);
		code = take(run, &item);
		ld_report_progress(&run->report, in_reader_bytes(&run->reader));
	}
	return code;
}

/* An input that cannot be had is one rejected row, or skipped. */
static int leave_out(struct ld_run *run, uint64_t file, const char *path, enum in_result result,
		     const char *reason)
{
	struct ld_item item = { .result = result, .path = path, .reason = reason, .file = file };

	return take(run, &item);
}

static int load_file(struct ld_run *run, uint64_t number, const struct in_file *file)
{
	uint64_t skipped = number == run->start.files ? run->start.rows : 0;
	enum in_result rc;

	run->is_stdin = file->is_stdin;
	rc = in_reader_open(&run->reader, file->path, file->format, file->is_stdin);

	/* What is an operand was looked at before: this one comes from a list. */
	if (rc == IN_SKIPPED)
		return leave_out(run, number, file->path, rc,
				 "is a directory (-r loads the files in one that is an INPUT)");
	if (rc == IN_FATAL)
		return tl_error("%s: %s", file->path, run->reader.reason);
	if (rc != IN_ROW)
		return leave_out(run, number, file->path, rc, run->reader.reason);
	return load_input(run, number, file, skipped);
}

static int load_files(struct ld_run *run, struct in_files *files)
{
	const struct in_files_options *inputs = &run->options->inputs;
	struct in_file file;
	uint64_t number;
	int code = 0;

	for (number = 0; !code && !tl_stop_requested(); number++) {
		enum in_result rc = in_files_next(files, &file);

		if (rc == IN_END || (rc == IN_FATAL && tl_stop_requested()))
			break;
		if (rc == IN_FATAL)
			return tl_error("%s", in_files_reason(files));
		if (number < run->start.files)
			continue;
		if (rc == IN_ROW)
			code = load_file(run, number, &file);
		else
			code = leave_out(run, number, "", rc, in_files_reason(files));
	}
	/* A list may be empty, as nothing is new; who names a directory means what is in it. */
	if (!code && !number && inputs->n_operands && !inputs->lists.n && !tl_stop_requested())
		return tl_error("%s: no files were found%s", inputs->operands[0],
				inputs->hidden ? "" : " (--hidden reads those whose names begin "
						      "with a dot, too)");
	if (!code && run->queue && !tl_stop_requested())
		code = ld_queue_flush(run->queue);
	return code;
}

/* ---- the end ---- */

/*
 * What the index holds now. A loader has put another one in the place of the one that is open, and
 * after a failure that one may answer nothing any more. Returns whether it could be had.
 */
static int measure(struct ld_run *run, int has_failed)
{
	struct ld_target *target = run->target;
	int is_anew = has_failed || (target->state == LD_DONE && target->loader);
	simidx_open_options how = SIMIDX_OPEN_OPTIONS_INIT;
	simidx_info info = SIMIDX_INFO_INIT;
	simidx *index = target->index;
	int is_silent = run->failure == SIMIDX_E_IO || run->failure == SIMIDX_E_UNKNOWN, is_there;

	how.flags = SIMIDX_OPEN_READ_ONLY | ld_open_flags(run->options);
	if (has_failed)
		ld_target_release(target);
	/* A gateway that hangs is not to be waited for again, least of all after a signal. */
	if (has_failed && (is_silent || tl_stop_requested()) && tl_path_is_uri(run->options->index))
		return 0;
	if (is_anew && simidx_open(run->options->index, &how, &index, NULL))
		return 0;
	is_there = index && !simidx_get_info(index, &info, NULL);
	run->report.is_unmeasured = index && !is_there;
	if (is_there) {
		run->report.index_bytes = info.file_bytes;
		run->report.documents = info.documents;
	}
	if (is_anew)
		simidx_close(index);
	return is_there;
}

/* How to find out whether the last of it is stored: only the disk knows. */
static void advise_unknown(const struct ld_run *run, int is_measured)
{
	const char *path = run->options->index;
	char room[TL_PATH_WORD_SIZE];
	const char *word = tl_path_word(path, room);
	const char *resume = ld_has_inputs(run->options) ?
				     "; 'simidx-load --resume' with the same inputs stores what is "
				     "missing" : "";
	char n[2][TL_NUMBER_SIZE];

	if (run->with)
		tl_error("%s: 'simidx-query stats %s' shows %s documents if it is stored, %s if "
			 "not, as long as nobody else changes the "
			 "index%s", path, word, tl_write_count(run->with, n[0]),
			 tl_write_count(run->without, n[1]), resume);
	else if (is_measured && (run->options->mode == LD_ADD || run->options->mode == LD_IF_NEW))
		tl_error("%s: 'simidx-query stats %s' shows %s documents as long as it is "
			 "there%s", path,
			 word, tl_write_count(run->report.documents, n[0]), resume);
	else
		tl_error("%s: 'simidx-query stats %s' shows what is stored%s", path, word, resume);
}

/* What a load that did not finish leaves, and how to go on. */
static void report_failure(const struct ld_run *run, int is_measured)
{
	const struct ld_target *target = run->target;
	const char *path = run->options->index;
	char documents[TL_NUMBER_SIZE], rows[TL_NUMBER_SIZE];
	int is_one = run->rows_committed == 1;
	const char *were = is_one ? "row was" : "rows were", *resume = "";

	if (tl_stop_requested())
		tl_error("stopped by a signal");
	if (target->state == LD_DONE)
		return;
	tl_write_count(run->rows_committed, rows);
	/* It would only meet the same damage again. */
	if (run->rows_committed && run->failure != SIMIDX_E_CORRUPT)
		resume = run->failure == SIMIDX_E_STATE
				 ? "; --resume goes on, unless another load does so"
			 : is_one ? "; --resume goes on after it"
				  : "; --resume goes on after them";
	if (run->is_unknown)
		advise_unknown(run, is_measured);
	else if (target->has_inserted && is_measured)
		tl_error("%s: holds %s document%s; of this input %s %s committed%s", path,
			 tl_write_count(run->report.documents, documents),
			 run->report.documents == 1 ? "" : "s", rows, were, resume);
	else if (target->has_inserted)
		tl_error("%s: of this input %s %s committed%s", path, rows, were, resume);
	else if (tl_stop_requested())
		tl_error("%s: nothing has changed; run the load again", path);
	else if (run->put)
		tl_error("%s: nothing has changed", path);
}

static int begin(struct ld_run *run)
{
	const struct ld_options *options = run->options;
	struct ld_target *target = run->target;
	int resumes = options->resume && target->index;
	char row[TL_NUMBER_SIZE];
	int code;

	in_reader_init(&run->reader, target->bits);
	run->reader.columns = &options->inputs.columns;
	run->reader.keeps_lines = options->emit == LD_EMIT_NEW;
	in_reader_when_idle(&run->reader, commit_in_pause, run);
	ld_emit_begin(options);
	if (resumes)
		code = ld_mark_get(target, &run->start);
	else
		code = ld_mark_begin(options, target->bits, &run->mark);
	if (code || !resumes)
		return code;
	run->resumes = 1;
	run->mark = run->start;
	run->rows_committed = run->report.resumed = run->start.total;
	if (run->start.total)
		tl_notice("%s: going on after row %s of this input", options->index,
			  tl_write_count(run->start.total, row));
	else
		tl_notice("%s: nothing of this input is stored yet: beginning", options->index);
	return 0;
}

static void end(struct ld_run *run)
{
	ld_queue_free(run->queue);
	ld_full_free(&run->full);
	ld_places_free(run->places);
	free(run->late);
	in_reader_free(&run->reader);
}

static int run_inputs(struct ld_run *run)
{
	struct in_files *files = in_files_open(&run->options->inputs);
	struct ld_target *target = run->target;
	int code = begin(run), is_measured;

	if (!code)
		code = files ? load_files(run, files) : tl_error("out of memory");
	if (!code && tl_stop_requested())
		code = TL_TROUBLE;
	run->report.bytes = in_reader_bytes(&run->reader);
	if (!code)
		code = ld_store_finish(run);
	if (target->writer)
		simidx_writer_rollback(target->writer);
	tl_progress_clear();
	if (target->state != LD_DONE || !target->loader)
		run->report.stored = ld_target_stored(target) - run->report.touched;
	run->report.way = ld_target_way(target);
	is_measured = measure(run, code != 0);
	if (code) {
		report_failure(run, is_measured);
	} else {
		in_causes_tell(&run->reader.causes, run->report.rows);
		in_files_tell(files);
		ld_report_success(&run->report);
	}
	end(run);
	in_files_close(files);
	return !code && run->report.rejected + run->report.skipped_named + run->report.missing +
				      run->report.undecided ?
		       TL_PARTLY :
		       code;
}

/* --merge-only: nothing is stored, so the mark of the last load stays. */
static int run_merge(struct ld_run *run)
{
	int code = ld_target_prepare(run->target, NULL);

	if (!code)
		code = ld_store_merge(run);
	tl_progress_clear();
	run->report.way = "merge";
	if (!code && measure(run, 0))
		ld_report_success(&run->report);
	return code;
}

int ld_run(const struct ld_options *options)
{
	struct ld_target target;
	struct ld_run run;
	int code;

	memset(&run, 0, sizeof(run));
	run.options = options;
	run.target = &target;
	code = ld_report_begin(&run.report, options);
	if (!code) {
		code = ld_target_open(&target, options);
		ld_store_listen(&run);
		if (!code)
			code = options->merge_only ? run_merge(&run) : run_inputs(&run);
		ld_target_close(&target);
		/* It may have waited for the lock that a loader had. */
		ld_merger_end(&run.merger);
	}
	ld_decided_clear(&run.decided);
	return ld_report_end(&run.report, code);
}
