/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "load/ld_run.h"

#include "common/tl_msg.h"
#include "common/tl_number.h"
#include "load/ld_end.h"
#include "load/ld_read.h"
#include "load/ld_steps.h"

/* ---- what the index tells while it works ---- */

static void hear_rejected(void *ctx, uint64_t row, const char *reason)
{
	struct ld_run *run = ctx;

	ld_places_reject(&run->places, row, reason);
}

static void hear_progress(void *ctx, const char *phase, uint64_t done, uint64_t total)
{
	struct ld_run *run = ctx;

	ld_report_work(&run->report, phase, done, total);
}

static int wants_stop(void *ctx)
{
	const struct ld_run *run = ctx;

	return tl_stop_requested() || run->report.rejected + run->places.n_late >
					      run->options->max_errors;
}

static void listen(struct ld_run *run)
{
	run->target.how.rejected = hear_rejected;
	run->target.how.progress = hear_progress;
	run->target.how.stop = wants_stop;
	run->target.how.ctx = run;
	run->target.rejudged = ld_decided_again;
	run->target.rejudged_ctx = &run->decided;
}

/* ---- a load ---- */

/* Where in the inputs the load begins: with --resume where the last one of them has ended. */
static int find_start(struct ld_run *run)
{
	const struct ld_options *options = run->options;
	int code;

	if (run->target.index && options->mode == LD_ADD)
		ld_mark_tell_dedup(&run->target);
	if (!options->resume || !run->target.index)
		return ld_mark_begin(options, run->target.bits, &run->mark);
	code = ld_mark_get(&run->target, &run->start);
	if (code)
		return code;
	run->resumes = 1;
	run->mark = run->start;
	run->rows_committed = run->report.resumed = run->start.total;
	if (run->start.total)
		tl_notice("%s: going on after row %s of this input", options->index,
			  tl_count(run->start.total));
	else
		tl_notice("%s: nothing of this input is stored yet: beginning", options->index);
	return 0;
}

/* Every row to where it belongs, and the index complete. */
static int read_and_finish(struct ld_run *run, struct in_files *files)
{
	int code = find_start(run);

	if (!code)
		code = ld_read_files(run, files);
	if (!code && tl_stop_requested())
		code = TL_TROUBLE;
	run->report.bytes = in_reader_bytes(&run->reader);
	return code ? code : ld_steps_finish(run);
}

/* Close what is open, and tell what came of it. */
static int tell(struct ld_run *run, const struct in_files *files, int code)
{
	struct ld_target *target = &run->target;
	struct ld_report *report = &run->report;
	int is_measured;

	if (target->writer)
		simidx_writer_rollback(target->writer);
	tl_progress_clear();
	if (target->state != LD_DONE || !target->loader)
		report->stored = ld_target_stored(target) - report->touched;
	report->way = ld_target_way(target);
	is_measured = ld_end_measure(run, code != 0);
	if (code) {
		ld_end_tell(run, is_measured);
		return code;
	}
	in_causes_tell(&run->reader.causes, report->rows);
	in_files_tell(files);
	ld_report_success(report);
	return report->rejected + report->skipped_named + report->missing + report->undecided ?
		       TL_PARTLY :
		       0;
}

static int run_inputs(struct ld_run *run)
{
	struct in_files files = { .options = &run->options->inputs };
	int code;

	ld_read_begin(run);
	ld_emit_begin(run->options);
	code = read_and_finish(run, &files);
	code = tell(run, &files, code);
	ld_read_end(run);
	in_files_close(&files);
	return code;
}

/* --merge-only: nothing is stored, so the mark of the last load stays. */
static int run_merge(struct ld_run *run)
{
	int code = ld_steps_merge(run);

	tl_progress_clear();
	run->report.way = "merge";
	if (!code && ld_end_measure(run, 0))
		ld_report_success(&run->report);
	return code;
}

int ld_run(const struct ld_options *options)
{
	struct ld_run run = { .options = options, .places.report = &run.report };
	int code = ld_report_begin(&run.report, options);

	if (code)
		return ld_report_end(&run.report, code);
	code = ld_target_open(&run.target, options);
	listen(&run);
	if (!code)
		code = options->merge_only ? run_merge(&run) : run_inputs(&run);
	ld_target_close(&run.target);
	/* It may have waited for the lock that a loader had. */
	ld_merger_end(&run.merger);
	ld_places_free(&run.places);
	ld_decided_clear(&run.decided);
	return ld_report_end(&run.report, code);
}
