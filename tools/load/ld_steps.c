/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "load/ld_steps.h"

#include "common/tl_msg.h"
#include "common/tl_number.h"
#include "load/ld_end.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>

/* More documents than these, and than one in so many of the index, are for a rebuild. */
#define INSERTED_ROWS 100000
#define INSERTED_SHARE 20

/* What tells how much is to come: the reader is ahead by a buffer, which must not matter. */
#define SAMPLE_ROWS 10000
#define SAMPLE_BYTES 4000000

/* A batch ends early when it has so many bytes of labels: LMDB keeps them in memory. */
#define BATCH_BYTES_APART ((uint64_t)16 << 20)

/* The clock is looked at after so many rows. */
#define CLOCK_ROWS 64

/* A writer commits after so many seconds. */
#define COMMIT_SECONDS 5

/* After so many milliseconds without input a writer commits what it has. */
#define PAUSE_MS 1000

/* A loader whose input comes in such pauses waits for somebody, not for a slow disk. */
#define TRICKLE_MS 200

/* Rows that are still to come, by what was read so far; 0 = not known. */
static uint64_t rows_left(const struct ld_run *run)
{
	uint64_t total = run->options->total_bytes, bytes = in_reader_bytes(&run->reader);

	if (!bytes || total <= bytes)
		return 0;
	return (uint64_t)((double)run->report.rows * (double)(total - bytes) / (double)bytes);
}

/* ---- commits, with a mark of how far the load has come ---- */

int ld_steps_is_due(const struct ld_run *run)
{
	return run->uncommitted >= run->options->commit || run->bytes_apart >= BATCH_BYTES_APART ||
	       (run->uncommitted && run->mark.total % CLOCK_ROWS == 0 &&
		tl_seconds() - run->committed_at >= COMMIT_SECONDS);
}

/*
 * What the next commit, or the loader if it is not NULL, has to store besides documents: how far
 * the load has come, or in the end the mark that a full dump has brought from its index.
 */
static int set_mark(struct ld_run *run, simidx_loader *loader, const struct ld_mark *mark)
{
	const struct ld_full *full = &run->full;
	simidx_writer *writer = run->target.writer;
	simidx_error err;
	int rc;

	if (mark->files != LD_MARK_COMPLETE || !full->mark_size)
		return ld_mark_set(run->options, writer, loader, mark);
	rc = loader ? simidx_loader_set_mark(loader, full->mark, full->mark_size, &err)
		    : simidx_writer_set_mark(writer, full->mark, full->mark_size, &err);
	return rc ? ld_end_fail(run, &err) : 0;
}

/*
 * With a mark, also if nothing else is to be stored. What was put is lost when a commit fails,
 * so only one without anything put can be tried again.
 */
static int commit(struct ld_run *run, const struct ld_mark *mark)
{
	struct ld_target *target = &run->target;
	uint64_t pending = simidx_writer_pending(target->writer);
	simidx_info info = SIMIDX_INFO_INIT;
	simidx_error err;
	int rc, goes_on;

	/* Others may have added and deleted some, but not since the writer has the lock. */
	if (pending && ld_target_grows(target) && simidx_get_info(target->index, &info, &err))
		return ld_end_fail(run, &err);
	do {
		rc = set_mark(run, NULL, mark);
		if (rc)
			return rc;
		if (mark->files == LD_MARK_COMPLETE)
			rc = ld_full_reserve(&run->full, target, &err);
		if (!rc)
			rc = simidx_writer_commit(target->writer, &err);
		/* Others were first each time: all but some rows are stored, and not the mark. */
		goes_on = rc == SIMIDX_E_BUSY && pending && target->rejudges;
		if (goes_on)
			pending = 0;
		else
			goes_on = !pending && ld_target_again(target, rc, &err);
	} while (goes_on);
	if (rc == SIMIDX_E_UNKNOWN && pending)
		run->is_unknown = 1;
	if (!rc) {
		ld_decided_end(&run->decided, run->options, &run->report);
		rc = ld_emit_flush(run->options);
		if (rc)
			return rc;
	}
	if (run->is_unknown && ld_target_grows(target)) {
		run->without = info.documents;
		run->with = run->without + pending - run->touched;
	}
	return rc ? ld_end_fail(run, &err) : 0;
}

/*
 * Before the first row: commit where the load begins. The mark of an earlier load must not be taken
 * for one of this load, even if this one is killed before its first commit.
 */
static int commit_start(struct ld_run *run)
{
	struct ld_mark begin = run->mark;

	begin.files = run->start.files;
	begin.rows = run->start.rows;
	begin.total = run->start.total;
	return commit(run, &begin);
}

/* Commit what the writer has. */
static int commit_rows(struct ld_run *run)
{
	uint64_t stored = ld_target_stored(&run->target);
	int rc = ld_emit_flush(run->options);

	if (!rc)
		rc = commit(run, &run->mark);
	/* If only the merge failed that a commit may end with, the documents are stored. */
	if (!rc || ld_target_stored(&run->target) > stored) {
		run->rows_committed = run->mark.total;
		run->report.touched += run->touched;
	}
	run->touched = 0;
	run->bytes_apart = 0;
	run->uncommitted = 0;
	run->committed_at = tl_seconds();
	return rc;
}

/* ---- begin: CLOSED to INSERTING or BUILDING ---- */

static int begin(struct ld_run *run, int is_text)
{
	const struct ld_options *options = run->options;
	struct ld_target *target = &run->target;
	int code = 0;

	if (!target->index)
		code = ld_target_create(target, is_text || tl_text_is_given(&options->text));
	if (!code && !target->is_new &&
	    (options->write == LD_WRITE_REBUILD || options->from.n))
		code = ld_target_rebuild(target, ld_from_documents(&target->from));
	if (!code && !target->loader)
		code = ld_target_insert(target);
	run->committed_at = tl_seconds();
	if (!code && target->loader)
		ld_report_build(&run->report, ld_target_others(target));
	return code;
}

int ld_steps_before_row(struct ld_run *run, const struct in_row *row)
{
	struct ld_target *target = &run->target;
	int is_text = row && row->kind == IN_TEXT, was_closed = target->state == LD_CLOSED;
	int code;

	target->has_fp2 |= was_closed && row && row->has_fp2;
	code = was_closed ? begin(run, is_text) : 0;
	if (!code && is_text && !target->text)
		code = ld_target_extractor(target, &target->text);
	if (code || !was_closed || target->state != LD_INSERTING)
		return code;
	/*
	 * Rows that were to be passed over have been read since the mark was, which may have taken
	 * long.
	 */
	if (run->resumes)
		code = ld_mark_check(target, &run->start, &run->failure);
	return code ? code : commit_start(run);
}

/* ---- rebuild: INSERTING to BUILDING ---- */

/* With nothing pending. */
static int is_too_much(const struct ld_run *run)
{
	const struct ld_target *target = &run->target;

	return target->state == LD_INSERTING && run->put >= INSERTED_ROWS && !target->is_new &&
	       run->options->write == LD_WRITE_AUTO && run->options->merge != LD_MERGE_NEVER &&
	       run->put > target->documents / INSERTED_SHARE &&
	       simidx_writer_pending(target->writer) == 0;
}

static int rebuild(struct ld_run *run)
{
	int code = ld_target_rebuild(&run->target, rows_left(run));

	run->space_checked = 1;
	if (!code)
		ld_report_build(&run->report, ld_target_others(&run->target));
	return code;
}

/*
 * Once enough was read to tell from it how much is to come: whether it will fit. Later rows may
 * be shorter than the first ones, so only what will not fit by far ends the load here; a loader
 * looks again when all is known.
 */
static int check_space(struct ld_run *run)
{
	uint64_t in_loader = run->put - ld_target_stored(&run->target), documents;
	simidx_error err;

	if (run->space_checked || run->target.state != LD_BUILDING || in_loader < SAMPLE_ROWS ||
	    in_reader_bytes(&run->reader) < SAMPLE_BYTES)
		return 0;
	run->space_checked = 1;
	documents = in_loader + rows_left(run) / 3 * 2;
	if (simidx_loader_expect(run->target.loader, documents,
				 run->all_bytes_apart / in_loader * documents, &err))
		return ld_end_fail(run, &err);
	return 0;
}

int ld_steps_before_put(struct ld_run *run)
{
	return is_too_much(run) ? rebuild(run) : check_space(run);
}

int ld_steps_commit(struct ld_run *run)
{
	int code = commit_rows(run);

	if (!code && run->options->merge == LD_MERGE_BESIDE && !is_too_much(run) &&
	    simidx_writer_merge_state(run->target.writer) & SIMIDX_MERGE_DUE)
		ld_merger_begin(&run->merger, run->options);
	return code;
}

/* ---- show: BUILDING to INSERTING ---- */

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
	double left = (COMMIT_SECONDS - (tl_seconds() - run->committed_at)) * 1000;

	return left > most ? most : left > least ? (int)left + 1 : least;
}

/*
 * Whether a new index that is built of standard input may become visible, and grow from then on.
 * One that is to be replaced stays until the new one is complete.
 */
static int may_show(const struct ld_run *run)
{
	const struct ld_options *options = run->options;

	return run->target.state == LD_BUILDING && run->target.is_new && run->is_stdin &&
	       options->write == LD_WRITE_AUTO && options->create != LD_CREATE_TRUNCATE &&
	       !options->from.n && run->reader.format != &in_format_full;
}

int ld_steps_pauses(const struct ld_run *run, int fd)
{
	if (run->target.state == LD_INSERTING)
		return pauses(fd, wait_for(run, 0, PAUSE_MS));
	return may_show(run) && pauses(fd, wait_for(run, TRICKLE_MS, INT_MAX));
}

/*
 * Have the loader build the index and put it in its place. Of all inputs that were read the mark
 * says so; without one, what the index says of its own stays.
 */
static int build(struct ld_run *run, simidx_loader_report *report)
{
	struct ld_target *target = &run->target;
	simidx_error err;
	int rc = 0;

	if (ld_has_inputs(run->options))
		rc = set_mark(run, target->loader, &run->mark);
	if (rc)
		return rc;
	rc = ld_full_reserve(&run->full, target, &err);
	if (!rc)
		rc = simidx_loader_finish(target->loader, report, &err);
	tl_progress_clear();
	ld_places_tell(&run->places);
	if (rc == SIMIDX_E_STOPPED && !tl_stop_requested())
		return ld_end_too_many(run);
	if (rc == SIMIDX_E_STOPPED)
		return TL_TROUBLE;
	if (rc == SIMIDX_E_EXISTS && target->is_new && run->options->create != LD_CREATE_TRUNCATE)
		return tl_error("%s: another process has made it meanwhile; nothing was stored, "
				"run the load again to add to it",
				run->options->index);
	run->is_unknown = rc == SIMIDX_E_UNKNOWN;
	if (rc)
		return ld_end_fail(run, &err);
	/* What a loader has left out is an error of each row, or of none. */
	run->report.duplicates += report->duplicates;
	if (run->options->duplicates == SIMIDX_DUPLICATES_FIRST)
		run->report.there += report->duplicates;
	return 0;
}

static int show(struct ld_run *run)
{
	simidx_loader_report report = SIMIDX_LOADER_REPORT_INIT;
	int code = build(run, &report);

	if (code)
		return code;
	run->rows_committed = run->mark.total;
	run->uncommitted = 0;
	return ld_target_show(&run->target, run->put - report.left_out);
}

int ld_steps_pause(struct ld_run *run)
{
	int code = 0;

	if (may_show(run))
		code = show(run);
	else if (run->target.state == LD_INSERTING && run->uncommitted)
		code = ld_steps_commit(run);
	run->committed_at = tl_seconds();
	return code;
}

/* ---- finish: INSERTING or BUILDING to DONE ---- */

/* Documents of other indexes, not rows: they have no place that could be told. */
static void tell_left_out(struct ld_run *run, uint64_t n)
{
	if (run->options->duplicates != SIMIDX_DUPLICATES_REJECT || !n)
		return;
	tl_error("%s of the documents that are taken over %s left out, as their ids or labels are "
		 "in use (--on-duplicate first does so without an error)", tl_count(n),
		 n == 1 ? "was" : "were");
	run->report.rejected += n;
}

static int finish_loader(struct ld_run *run)
{
	simidx_loader_report report = SIMIDX_LOADER_REPORT_INIT;
	uint64_t rejected = run->report.rejected, others = run->target.documents, told;
	int code = build(run, &report);

	if (code)
		return code;
	told = run->report.rejected - rejected;
	tell_left_out(run, report.duplicates > told ? report.duplicates - told : 0);
	run->report.stored = run->put - report.left_out;
	/* And what came from other indexes and stayed. */
	if (run->options->from.n && report.documents > others + run->report.stored)
		run->report.stored = report.documents - others;
	return 0;
}

static int merge(struct ld_run *run)
{
	simidx_error err;
	int rc;

	ld_report_phase(&run->report, "merge");
	do
		rc = simidx_writer_merge(run->target.writer, &err);
	while (ld_target_again(&run->target, rc, &err));
	return rc ? ld_end_fail(run, &err) : 0;
}

static int finish_writer(struct ld_run *run)
{
	enum ld_merge when = run->options->merge;
	int code = ld_steps_commit(run);

	if (!code && ld_merger_end(&run->merger))
		code = ld_end_fail(run, &run->merger.err);
	if (!code && when != LD_MERGE_NEVER && (when == LD_MERGE_ALWAYS || run->target.is_new))
		code = merge(run);
	return code;
}

int ld_steps_finish(struct ld_run *run)
{
	struct ld_target *target = &run->target;
	int code = 0;

	/* Without a row that can be stored, nothing is made; an empty input is another matter. */
	if (!target->index && !run->put && !run->options->from.n &&
	    run->report.rejected + run->report.skipped > 0) {
		simidx_loader_close(target->loader);
		target->loader = NULL;
		return 0;
	}
	if (target->state == LD_CLOSED)
		code = begin(run, 0);
	if (code)
		return code;
	run->mark.files = LD_MARK_COMPLETE;
	run->mark.rows = 0;
	code = target->state == LD_BUILDING ? finish_loader(run) : finish_writer(run);
	if (!code)
		target->state = LD_DONE;
	return code;
}

int ld_steps_merge(struct ld_run *run)
{
	int code = begin(run, 0);

	return code ? code : merge(run);
}
