/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What was put becomes visible: a loader builds the index, in the end or so that a writer goes on,
 * or a writer commits for the last time and merges.
 */

#include "load/ld_run.h"

#include "common/tl_msg.h"
#include "common/tl_number.h"

#include <stdlib.h>
#include <string.h>

/* Rows that a loader has rejected are told in order, as far as so many of them go. */
#define MAX_LATE 100000

static int fail(struct ld_run *run, const simidx_error *err)
{
	return ld_store_fail(run, err);
}


static void tell_rejected(struct ld_run *run, uint64_t row, const char *reason)
{
	char place[LD_PLACE_SIZE];

	ld_places_get(run->places, row, place, sizeof(place));
	ld_report_reject(&run->report, place, reason, 1);
}

static int compare_rows(const void *a, const void *b)
{
	const struct ld_late *x = a, *y = b;

	return x->row < y->row ? -1 : x->row > y->row;
}

/* Tell the rows that are kept in the order of the input. */
static void tell_late(struct ld_run *run)
{
	if (run->n_late)
		qsort(run->late, run->n_late, sizeof(*run->late), compare_rows);
	for (size_t i = 0; i < run->n_late; i++) {
		tell_rejected(run, run->late[i].row, run->late[i].reason);
		free(run->late[i].reason);
	}
	run->n_late = 0;
}

/*
 * A loader rejects rows when everything has been put, in an order of its own: they are kept until
 * they can be told in the order of the input, and of very many that many at a time.
 */
static void hear_rejected(void *ctx, uint64_t row, const char *reason)
{
	struct ld_run *run = ctx;
	char *copy = strdup(reason);

	if (run->n_late == MAX_LATE)
		tell_late(run);
	if (!run->late)
		run->late = malloc(MAX_LATE * sizeof(*run->late));
	if (copy && run->late) {
		run->late[run->n_late++] = (struct ld_late){ row, copy };
	} else {
		tell_rejected(run, row, reason); /* out of order, but told */
		free(copy);
	}
}

static void hear_progress(void *ctx, const char *phase, uint64_t done, uint64_t total)
{
	struct ld_run *run = ctx;

	ld_report_work(&run->report, phase, done, total);
}

static int wants_stop(void *ctx)
{
	const struct ld_run *run = ctx;

	return tl_stop_requested() ||
	       run->report.rejected + run->n_late > run->options->max_errors;
}

void ld_store_listen(struct ld_run *run)
{
	run->target->how.rejected = hear_rejected;
	run->target->how.progress = hear_progress;
	run->target->how.stop = wants_stop;
	run->target->how.ctx = run;
	run->target->rejudged = ld_decided_again;
	run->target->rejudged_ctx = &run->decided;
}

/* Documents of other indexes, not rows: they have no place that could be told. */
static void tell_left_out(struct ld_run *run, uint64_t duplicates, uint64_t told)
{
	char count[TL_NUMBER_SIZE];

	if (run->options->duplicates != SIMIDX_DUPLICATES_REJECT || duplicates <= told)
		return;
	tl_error("%s of the documents that are taken over %s left out, as their ids or labels are "
		 "in use (--on-duplicate first does so without an error)",
		 tl_write_count(duplicates - told, count), duplicates - told == 1 ? "was" : "were");
	run->report.rejected += duplicates - told;
}

/*
 * Have the loader build the index and put it in its place. Of all inputs that were read the mark
 * says so; without one, what the index says of its own stays.
 */
static int build(struct ld_run *run, simidx_loader_report *report)
{
	simidx_error err;
	int rc = 0;

	if (ld_has_inputs(run->options))
		rc = ld_store_mark(run, run->target->loader, &run->mark);
	if (rc)
		return rc;
	rc = ld_full_reserve(&run->full, run->target, &err);
	if (!rc)
		rc = simidx_loader_finish(run->target->loader, report, &err);
	tl_progress_clear();
	tell_late(run);
	if (rc == SIMIDX_E_STOPPED && !tl_stop_requested())
		return ld_store_too_many(run);
	if (rc == SIMIDX_E_STOPPED)
		return TL_TROUBLE;
	if (rc == SIMIDX_E_EXISTS && run->target->is_new &&
	    run->options->create != LD_CREATE_TRUNCATE)
		return tl_error("%s: another process has made it meanwhile; nothing was stored, "
				"run the load again to add to it",
				run->options->index);
	run->is_unknown = rc == SIMIDX_E_UNKNOWN;
	return rc ? fail(run, &err) : 0;
}

/* What a loader has left out is an error of each row, or of none. */
static void add_duplicates(struct ld_run *run, uint64_t n)
{
	run->report.duplicates += n;
	if (run->options->duplicates == SIMIDX_DUPLICATES_FIRST)
		run->report.there += n;
}

static int finish_loader(struct ld_run *run)
{
	simidx_loader_report report = SIMIDX_LOADER_REPORT_INIT;
	uint64_t rejected = run->report.rejected, others = run->target->documents;
	int code = build(run, &report);

	if (code)
		return code;
	run->target->state = LD_DONE;
	tell_left_out(run, report.duplicates, run->report.rejected - rejected);
	add_duplicates(run, report.duplicates);
	run->report.stored = run->put - report.left_out;
	/* And what came from other indexes and stayed. */
	if (run->options->from.n && report.documents > others + run->report.stored)
		run->report.stored = report.documents - others;
	return 0;
}

int ld_store_insert(struct ld_run *run)
{
	simidx_loader_report report = SIMIDX_LOADER_REPORT_INIT;
	int code = build(run, &report);

	if (code)
		return code;
	add_duplicates(run, report.duplicates);
	run->rows_committed = run->mark.total;
	run->committed_at = tl_seconds();
	return ld_target_insert(run->target, run->put - report.left_out);
}

int ld_store_merge(struct ld_run *run)
{
	simidx_error err;
	int rc;

	ld_report_phase(&run->report, "merge");
	do
		rc = simidx_writer_merge(run->target->writer, &err);
	while (ld_target_again(run->target, rc, &err));
	return rc ? fail(run, &err) : 0;
}

static int finish_writer(struct ld_run *run)
{
	enum ld_merge merge = run->options->merge;
	int code = ld_store_commit(run);

	if (!code && ld_merger_end(&run->merger))
		code = fail(run, &run->merger.err);
	if (!code && merge != LD_MERGE_NEVER &&
	    (merge == LD_MERGE_ALWAYS || run->target->is_new))
		code = ld_store_merge(run);
	if (!code)
		run->target->state = LD_DONE;
	return code;
}

int ld_store_finish(struct ld_run *run)
{
	struct ld_target *target = run->target;
	int code;

	/* Without a row that can be stored, nothing is made; an empty input is another matter. */
	if (!target->index && !run->put && !run->options->from.n &&
	    run->report.rejected + run->report.skipped > 0) {
		simidx_loader_close(target->loader);
		target->loader = NULL;
		return 0;
	}
	code = ld_target_prepare(target, NULL);
	if (code)
		return code;
	run->mark.files = LD_MARK_COMPLETE;
	run->mark.rows = 0;
	return target->loader ? finish_loader(run) : finish_writer(run);
}
