/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "load/ld_commit.h"

#include "common/tl_msg.h"
#include "load/ld_emit.h"
#include "load/ld_end.h"

/* A batch ends early when it has so many bytes of labels: LMDB keeps them in memory. */
#define BATCH_BYTES_APART ((uint64_t)16 << 20)

/* The clock is looked at after so many rows. */
#define CLOCK_ROWS 64

int ld_commit_is_due(const struct ld_run *run)
{
	return run->uncommitted >= run->options->commit || run->bytes_apart >= BATCH_BYTES_APART ||
	       (run->uncommitted && run->mark.total % CLOCK_ROWS == 0 &&
		tl_seconds() - run->committed_at >= LD_COMMIT_SECONDS);
}

int ld_commit_mark(struct ld_run *run, simidx_loader *loader, const struct ld_mark *mark)
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
		rc = ld_commit_mark(run, NULL, mark);
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

int ld_commit_start(struct ld_run *run)
{
	struct ld_mark begin = run->mark;

	begin.files = run->start.files;
	begin.rows = run->start.rows;
	begin.total = run->start.total;
	return commit(run, &begin);
}

int ld_commit(struct ld_run *run)
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
