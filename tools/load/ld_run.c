/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "load/ld_run.h"

#include "common/tl_msg.h"

#include <stdio.h>
#include <string.h>

/* Messages about single rows and files beyond this are only counted. */
#define MAX_TOLD 20

/* One load. */
struct run {
	const struct ld_options *options;
	struct ld_target *target;
	struct in_reader reader;
	uint64_t rows;           /* read, rejected ones included */
	uint64_t rows_committed; /* of these, those before the last commit */
	uint64_t stored;         /* documents committed */
	uint64_t rejected;
	uint64_t skipped;
	uint64_t short_texts;
	double started;
	double shown; /* when the progress line was last drawn */
};

static void show_progress(struct run *run)
{
	double now = tl_seconds();
	double seconds = now - run->started;
	uint64_t bytes = in_reader_bytes(&run->reader);
	char percent[16] = "";

	if (now - run->shown < TL_PROGRESS_SECONDS)
		return;
	run->shown = now;
	if (run->options->total_bytes)
		snprintf(percent, sizeof(percent), ", %.0f %%",
			 100.0 * (double)bytes / (double)run->options->total_bytes);
	tl_progress_show("%llu rows, %.0f rows/s, %.1f MB%s", (unsigned long long)run->rows,
			 seconds > 0 ? (double)run->rows / seconds : 0.0, (double)bytes / 1e6,
			 percent);
}

static void reject(struct run *run, const char *place, const char *reason)
{
	run->rejected++;
	if (run->rejected <= MAX_TOLD)
		tl_error("%s%s%s", place, *place ? ": " : "", reason);
	else if (run->rejected == MAX_TOLD + 1)
		tl_error("more rejected rows are only counted");
}

static void skip(struct run *run)
{
	run->skipped++;
	if (run->skipped <= MAX_TOLD)
		tl_notice("%s: skipped: %s", in_reader_place(&run->reader),
			  run->reader.reason);
	else if (run->skipped == MAX_TOLD + 1)
		tl_notice("more skipped files are only counted");
}

static int fail(const struct run *run, const simidx_error *err)
{
	return tl_index_error(run->options->index, err);
}

/* The number of the last transaction; 0 when it cannot be read. */
static uint64_t last_transaction(const struct run *run)
{
	simidx_info info = SIMIDX_INFO_INIT;

	if (simidx_get_info(run->target->index, &info, NULL))
		return 0;
	return info.snapshot;
}

static int commit(struct run *run)
{
	uint64_t pending = simidx_writer_pending(run->target->writer);
	uint64_t before = last_transaction(run);
	simidx_error err;
	int rc = simidx_commit(run->target->writer, &err);

	/* If only the merge failed that a commit may end with, the documents are stored. */
	if (!rc || (before && last_transaction(run) > before)) {
		run->stored += pending;
		run->rows_committed = run->rows;
	}
	return rc ? fail(run, &err) : 0;
}

/* Errors of simidx_put() that are about the document and leave the transaction as it was. */
static int is_rejection(int code)
{
	return code == SIMIDX_E_DUPLICATE || code == SIMIDX_E_RANGE ||
	       code == SIMIDX_E_MISMATCH;
}

static void fill_document(const struct run *run, const struct in_row *row,
			  const simidx_sketch *sketch, simidx_doc *doc)
{
	int wants_fp2 = (run->target->flags & SIMIDX_CREATE_FP2) != 0;
	int has_ids = (run->target->flags & SIMIDX_CREATE_NO_IDS) == 0;

	doc->id = row->id;
	doc->fp = sketch->fp;
	if (row->kind == IN_FINGERPRINT ? row->has_fp2 : wants_fp2) {
		doc->fp2 = sketch->fp2;
		doc->flags |= SIMIDX_DOC_FP2;
	}
	/* The path of a text file is our own idea of a label, so it may be dropped. */
	if (has_ids || row->label != run->reader.path) {
		doc->label = row->label;
		doc->label_size = row->label_size;
	}
}

/* Store one row. Returns 0, also when it was rejected, or TL_TROUBLE. */
static int store(struct run *run, const struct in_row *row)
{
	simidx_doc doc = SIMIDX_DOC_INIT;
	simidx_sketch sketch;
	simidx_error err;
	unsigned flags = 0;
	int rc = ld_target_prepare(run->target, row);

	if (rc)
		return rc;
	if (run->target->flags & SIMIDX_CREATE_FP2)
		flags |= SIMIDX_SKETCH_FP2;
	rc = in_sketch_row(row, run->target->bits, run->target->text, flags, &sketch, &err);
	if (rc == SIMIDX_E_RANGE) {
		reject(run, in_reader_place(&run->reader), err.text);
		return 0;
	}
	if (rc)
		return fail(run, &err);
	fill_document(run, row, &sketch, &doc);
	rc = simidx_put(run->target->writer, &doc, NULL, &err);
	if (is_rejection(rc)) {
		reject(run, in_reader_place(&run->reader), err.text);
		return 0;
	}
	if (rc)
		return fail(run, &err);
	if (sketch.flags & SIMIDX_SKETCH_SHORT)
		run->short_texts++;
	if (simidx_writer_pending(run->target->writer) >= LD_BATCH)
		return commit(run);
	return 0;
}

/* All rows of the input that the reader is at. Returns 0 or TL_TROUBLE. */
static int load_input(struct run *run)
{
	const int wants_progress = tl_progress_wanted();
	struct in_row row;
	enum in_result rc;
	int code = 0;

	while (!code && !tl_stop_requested()) {
		rc = in_reader_next(&run->reader, &row);
		if (rc == IN_END || (rc == IN_FATAL && tl_stop_requested()))
			break;
		if (rc == IN_FATAL)
			return tl_error("%s: %s", in_reader_place(&run->reader),
					run->reader.reason);
		run->rows++;
		if (rc == IN_ROW)
			code = store(run, &row);
		else if (rc == IN_REJECTED)
			reject(run, in_reader_place(&run->reader), run->reader.reason);
		else
			skip(run);
		if (wants_progress)
			show_progress(run);
	}
	return code;
}

static int load_files(struct run *run, struct in_files *files)
{
	struct in_file file;
	enum in_result rc = IN_ROW;
	int code = 0;

	while (!code && !tl_stop_requested()) {
		rc = in_files_next(files, &file);
		if (rc == IN_END || (rc == IN_FATAL && tl_stop_requested()))
			break;
		if (rc == IN_FATAL)
			return tl_error("%s", in_files_reason(files));
		if (rc == IN_ROW) {
			rc = in_reader_open(&run->reader, file.path, file.format,
					    file.is_stdin);
			if (rc == IN_ROW)
				code = load_input(run);
			else
				reject(run, file.path, run->reader.reason);
		} else {
			reject(run, "", in_files_reason(files));
		}
	}
	return code;
}

/* After the last row: an empty input makes an empty index, and then all is committed. */
static int finish(struct run *run)
{
	enum ld_merge merge = run->options->merge;
	simidx_error err;
	int code;

	if (!run->target->index && run->rejected > 0)
		return 0;
	code = ld_target_prepare(run->target, NULL);
	if (!code)
		code = commit(run);
	if (code)
		return code;
	if (merge == LD_MERGE_NEVER || (merge == LD_MERGE_AUTO && !run->target->created))
		return 0;
	if (simidx_merge(run->target->writer, &err))
		return fail(run, &err);
	return 0;
}

/* What a load that did not finish leaves behind. Without an index, nothing. */
static void tell_failure(const struct run *run)
{
	simidx_info info = SIMIDX_INFO_INIT;

	if (tl_stop_requested())
		tl_error("stopped by a signal");
	if (run->target->index && !simidx_get_info(run->target->index, &info, NULL))
		tl_error("%s: holds %llu documents; of this input %llu rows were committed",
			 run->options->index, (unsigned long long)info.documents,
			 (unsigned long long)run->rows_committed);
}

static void tell_summary(const struct run *run)
{
	double seconds = tl_seconds() - run->started;

	if (run->short_texts)
		tl_notice("%llu texts are shorter than %d words: one edit moves their "
			  "fingerprints far",
			  (unsigned long long)run->short_texts, SIMIDX_SHORT_TOKENS);
	tl_notice("%llu documents stored, %llu rows rejected, %llu files skipped, %.2f s, "
		  "%.0f rows/s",
		  (unsigned long long)run->stored, (unsigned long long)run->rejected,
		  (unsigned long long)run->skipped, seconds,
		  seconds > 0 ? (double)run->rows / seconds : 0.0);
}

int ld_run(const struct ld_options *options, struct ld_target *target)
{
	struct in_files *files = in_files_open(&options->inputs);
	struct run run;
	int code;

	memset(&run, 0, sizeof(run));
	run.options = options;
	run.target = target;
	run.started = run.shown = tl_seconds();
	in_reader_init(&run.reader, target->bits);
	run.reader.columns = &options->inputs.columns;
	code = files ? load_files(&run, files) : tl_error("out of memory");
	if (!code && tl_stop_requested())
		code = TL_TROUBLE;
	if (!code)
		code = finish(&run);
	if (target->writer)
		simidx_rollback(target->writer);
	tl_progress_clear();
	if (code)
		tell_failure(&run);
	else
		tell_summary(&run);
	in_reader_free(&run.reader);
	in_files_close(files);
	if (!code && run.rejected)
		code = TL_PARTLY;
	return code;
}
