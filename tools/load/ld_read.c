/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "load/ld_read.h"

#include "common/tl_index.h"
#include "common/tl_msg.h"
#include "common/tl_path.h"
#include "input/in_guard.h"
#include "input/in_written.h"
#include "load/ld_change.h"
#include "load/ld_steps.h"
#include "load/ld_store.h"

/* Rows that are passed over between two looks at the clock. */
#define SKIPPED_AT_ONCE 1024

/* ---- texts ---- */

/*
 * From the first text on, everything goes through the queue. For an engine everything does from the
 * start, as what a batch of it looks up is looked up together.
 */
static int start_queue(struct ld_run *run)
{
	run->queue = ld_queue_new(&run->target, ld_change_sketch_flags(&run->target),
				  ld_store_item,
				  tl_path_is_uri(run->options->index) ? ld_store_ahead : NULL, run);
	return run->queue ? 0 : TL_TROUBLE;
}

/*
 * Whether a row is of the kind that the index holds: else it is rejected, or the load ends if that
 * is going to be so with all rows.
 */
static int fit_kind(struct ld_run *run, struct ld_item *item)
{
	struct ld_target *target = &run->target;
	enum in_kind kind = item->row.kind;

	if (kind == IN_TEXT && ld_target_is_bare(target)) {
		item->result = IN_REJECTED;
		item->reason = run->options->features_by ?
				       "a text, and the index holds features (--features-by)" :
				       "a text, and the index holds bare fingerprints; name "
				       "another INDEX for it";
	}
	if (kind == IN_FEATURES && target->state != LD_CLOSED && !ld_target_is_bare(target)) {
		item->result = IN_REJECTED;
		item->reason = "features, and the index holds texts";
	}
	if (kind == IN_FINGERPRINT && target->state == LD_CLOSED && target->index &&
	    target->flags & SIMIDX_CREATE_FP2 && !item->row.has_fp2 &&
	    !item->row.lacks_fp2)
		return tl_error("%s: a bare fingerprint does not fit: %s keeps a second one for "
				"each document, as indexes of texts do; name another INDEX for "
				"it", ld_item_place(item), run->options->index);
	return 0;
}

/*
 * What is rejected whatever the index has is rejected before a row makes one: with --create
 * truncate nothing but a row that can be stored shall replace what is there.
 */
static int look_at_first(struct ld_run *run, struct ld_item *item)
{
	const struct ld_options *options = run->options;
	struct ld_target *target = &run->target;
	simidx_error err;

	if (target->state != LD_CLOSED || target->index || options->from.n)
		return 0;
	if (options->text.short_texts == TL_SHORT_REJECT && item->row.kind == IN_TEXT) {
		if (!target->text &&
		    tl_text_open(&options->text, target->bits, &target->text, &err))
			return tl_index_error(NULL, &err);
		ld_item_sketch(item, target->text, target->bits, 0);
		ld_item_clear(item);
	}
	item->reason = ld_store_refuses(options, item);
	if (item->reason)
		item->result = IN_REJECTED;
	return 0;
}

/* The first line of a full dump decides how the index is made, before there is a row. */
static int begin_full(struct ld_run *run, const struct in_head *head)
{
	struct ld_target *target = &run->target;
	const char *place = in_reader_place(&run->reader);
	int was_there = target->index != NULL;
	int code = ld_full_begin(&run->full, target, head, place);

	if (!code)
		code = ld_steps_before_row(run, NULL);
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
		code = look_at_first(run, item);
	if (!code && item->result == IN_ROW)
		code = ld_steps_before_row(run, &item->row);
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
		if (!code && run->target.state == LD_INSERTING &&
		    run->queued + run->uncommitted >= run->options->commit)
			code = ld_queue_flush(run->queue);
		return code;
	}
	if (item->result == IN_ROW && item->row.kind == IN_FINGERPRINT) {
		item->fp = item->row.fp;
		item->fp2 = item->row.fp2;
	} else if (item->result == IN_ROW && item->row.kind == IN_FEATURES) {
		ld_item_sketch(item, NULL, run->target.bits,
			       ld_change_sketch_flags(&run->target));
	}
	code = ld_store_item(run, item);
	ld_item_clear(item);
	return code;
}

/* ---- reading ---- */

/*
 * The input has nothing more for now. If that lasts, or the last commit was long ago, what has come
 * is stored: others wait for the write lock, and somebody for the lines that --emit writes. Returns
 * whether that failed, which ends the input.
 */
static int store_in_pause(void *ctx, int fd)
{
	struct ld_run *run = ctx;

	if (!ld_steps_pauses(run, fd))
		return 0;
	if (run->queue)
		run->pause_code = ld_queue_flush(run->queue);
	if (!run->pause_code)
		run->pause_code = ld_steps_pause(run);
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
	/* What was told of these rows is not told again; nor what they alone may have. */
	if (rows)
		run->reader.causes = (struct in_causes){ .unseen_of = run->reader.columns };
	return 0;
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
		if (item.result == IN_ROW)
			item.doubt = in_doubt(&run->reader, &item.row,
					      run->options->inputs.format != NULL);
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
	if (!file->is_stdin && in_written_is_met(file->path))
		return TL_TROUBLE;
	if (!file->is_stdin && in_guard_is_output(file->path)) /* from a list */
		return 0;
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

int ld_read_files(struct ld_run *run, struct in_files *files)
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
			return tl_error("%s", files->reason);
		if (number < run->start.files)
			continue;
		if (rc == IN_ROW)
			code = load_file(run, number, &file);
		else
			code = leave_out(run, number, "", rc, files->reason);
	}
	/* A list may be empty, as nothing is new; who names a directory means what is in it. */
	if (!code && !number && inputs->n_operands && !inputs->lists.n && !tl_stop_requested())
		return in_files_refuse_none(inputs);
	if (!code && run->queue && !tl_stop_requested())
		code = ld_queue_flush(run->queue);
	return code;
}

void ld_read_begin(struct ld_run *run)
{
	in_reader_init(&run->reader, run->target.bits);
	run->reader.names_tell = !run->options->inputs.format;
	run->reader.columns = &run->options->inputs.columns;
	run->reader.keeps_lines = run->options->emit == LD_EMIT_NEW;
	in_reader_when_idle(&run->reader, store_in_pause, run);
}

void ld_read_end(struct ld_run *run)
{
	ld_queue_free(run->queue);
	ld_full_free(&run->full);
	in_reader_free(&run->reader);
}
