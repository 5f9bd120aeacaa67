/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Documents into the index: by a writer that commits now and then, or by a loader that builds
 * the index whole.
 */

#include "load/ld_run.h"

#include "common/tl_msg.h"
#include "common/tl_number.h"
#include "common/tl_path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* More documents than a batch, and than one in so many of the index, are for a rebuild. */
#define INSERTED_SHARE 20

/* What tells how much is to come: the reader is ahead by a buffer, which must not matter. */
#define SAMPLE_ROWS 10000
#define SAMPLE_BYTES 4000000

/* A batch ends early when it has so many bytes of labels: LMDB keeps them in memory. */
#define BATCH_BYTES_APART ((uint64_t)16 << 20)

/* The clock is looked at after so many rows. */
#define CLOCK_ROWS 64

int ld_store_fail(struct ld_run *run, const simidx_error *err)
{
	run->failure = err->code;
	return tl_index_error(ld_from_blamed(run->options, err), err);
}

int ld_store_too_many(const struct ld_run *run)
{
	char count[TL_NUMBER_SIZE];

	return tl_error("more than %s row%s rejected (--max-errors)",
			tl_write_count(run->options->max_errors, count),
			run->options->max_errors == 1 ? " was" : "s were");
}

static int reject(struct ld_run *run, const struct ld_item *item, const char *reason,
		  int is_duplicate)
{
	struct ld_report *report = &run->report;
	char place[LD_PLACE_SIZE];
	uint64_t known;

	in_write_place(item->path, item->line, place, sizeof(place));
	ld_report_reject(report, place, reason, is_duplicate);
	/* A stream that is asked whether it is new may begin with what is there. */
	known = run->options->mode == LD_IF_NEW ? report->duplicates : 0;
	if (ld_report_too_many(report))
		return ld_store_too_many(run);
	if (report->rejected - known != LD_HOPELESS || run->mark.total != LD_HOPELESS)
		return 0;
	in_causes_tell(&run->reader.causes, run->report.rows);
	return tl_error("the first 1,000 rows were all rejected, the last one because: %s; "
			"nothing was stored", reason);
}

int ld_store_mark(struct ld_run *run, simidx_loader *loader, const struct ld_mark *mark)
{
	const struct ld_full *full = &run->full;
	simidx_writer *writer = run->target->writer;
	simidx_error err;
	int rc;

	if (mark->files != LD_MARK_COMPLETE || !full->mark_size)
		return ld_mark_set(run->options, writer, loader, mark);
	rc = loader ? simidx_loader_set_mark(loader, full->mark, full->mark_size, &err)
		    : simidx_writer_set_mark(writer, full->mark, full->mark_size, &err);
	return rc ? ld_store_fail(run, &err) : 0;
}

/* ---- the writer ---- */

/*
 * With a mark, also if nothing else is to be stored. What was put is lost when a commit fails,
 * so only one without anything put can be tried again.
 */
static int commit(struct ld_run *run, const struct ld_mark *mark)
{
	struct ld_target *target = run->target;
	uint64_t pending = simidx_writer_pending(target->writer);
	simidx_info info = SIMIDX_INFO_INIT;
	simidx_error err;
	int rc, goes_on;

	/* Others may have added and deleted some, but not since the writer has the lock. */
	if (pending && ld_target_grows(target) && simidx_get_info(target->index, &info, &err))
		return ld_store_fail(run, &err);
	do {
		rc = ld_store_mark(run, NULL, mark);
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
	return rc ? ld_store_fail(run, &err) : 0;
}

/* Whether the writer, with nothing pending, was given so much that the rest is for a loader. */
static int is_too_much(const struct ld_run *run)
{
	const struct ld_target *target = run->target;

	return target->state == LD_INSERTING && run->put >= LD_BATCH && !target->is_new &&
	       run->options->write == LD_WRITE_AUTO && run->options->merge != LD_MERGE_NEVER &&
	       run->put > target->documents / INSERTED_SHARE &&
	       simidx_writer_pending(target->writer) == 0;
}

int ld_store_commit(struct ld_run *run)
{
	uint64_t stored = ld_target_stored(run->target);
	int rc = ld_emit_flush(run->options);

	if (!rc)
		rc = commit(run, &run->mark);

	/* If only the merge failed that a commit may end with, the documents are stored. */
	if (!rc && run->options->merge == LD_MERGE_BESIDE && !is_too_much(run) &&
	    simidx_writer_merge_state(run->target->writer) & SIMIDX_MERGE_DUE)
		ld_merger_begin(&run->merger, run->options);
	if (!rc || ld_target_stored(run->target) > stored) {
		run->rows_committed = run->mark.total;
		run->report.touched += run->touched;
	}
	run->touched = 0;
	run->bytes_apart = 0;
	run->uncommitted = 0;
	run->committed_at = tl_seconds();
	return rc;
}

/* Rows that are still to come, by what was read so far; 0 = not known. */
static uint64_t rows_left(const struct ld_run *run)
{
	uint64_t total = run->options->total_bytes, bytes = in_reader_bytes(&run->reader);

	if (!bytes || total <= bytes)
		return 0;
	return (uint64_t)((double)run->report.rows * (double)(total - bytes) / (double)bytes);
}

/*
 * Once enough was read to tell from it how much is to come: whether it will fit. Later rows may
 * be shorter than the first ones, so only what will not fit by far ends the load here; a loader
 * looks again when all is known.
 */
static int check_space(struct ld_run *run)
{
	uint64_t in_loader = run->put - ld_target_stored(run->target), documents;
	simidx_error err;

	if (run->space_checked || run->target->state != LD_BUILDING || in_loader < SAMPLE_ROWS ||
	    in_reader_bytes(&run->reader) < SAMPLE_BYTES)
		return 0;
	run->space_checked = 1;
	documents = in_loader + rows_left(run) / 3 * 2;
	if (simidx_loader_expect(run->target->loader, documents,
				 run->all_bytes_apart / in_loader * documents, &err))
		return ld_store_fail(run, &err);
	return 0;
}

/* From inserting to building. */
static int go_over(struct ld_run *run)
{
	int code = ld_target_rebuild(run->target, rows_left(run));

	run->space_checked = 1;
	if (!code)
		ld_report_build(&run->report, ld_target_others(run->target));
	return code;
}

/* ---- one row ---- */

static void fill_document(const struct ld_run *run, const struct ld_item *item, simidx_doc *doc)
{
	unsigned flags = run->target->flags;
	int wants_fp2 = item->row.kind == IN_FINGERPRINT ? item->row.has_fp2
							 : (flags & SIMIDX_CREATE_FP2) != 0;

	doc->id = item->row.id;
	doc->fp = item->fp;
	if (wants_fp2) {
		doc->fp2 = item->fp2;
		doc->flags |= SIMIDX_DOC_FP2;
	} else if (item->row.lacks_fp2) {
		doc->flags |= SIMIDX_DOC_FP2_UNKNOWN;
	}
	/* A dump has times also where the index is to have none. */
	if (item->row.has_time && flags & SIMIDX_CREATE_TIMES) {
		doc->time = item->row.time;
		doc->flags |= SIMIDX_DOC_TIME;
	}
	/* The path of a text file is our own idea of a label, so it may be dropped. */
	if (!(flags & SIMIDX_CREATE_NO_IDS) || !item->is_path_label) {
		doc->label = item->row.label;
		doc->label_size = item->row.label_size;
	}
	doc->note = item->row.note;
	doc->note_size = item->row.note_size;
}

/* Errors of a put that are about the document and leave everything else as it was. */
static int is_rejection(int code)
{
	return code == SIMIDX_E_RANGE || code == SIMIDX_E_MISMATCH;
}

/* A loader tells of rows by their number. */
static int note_place(struct ld_run *run, const struct ld_item *item)
{
	char parent[LD_PLACE_SIZE];

	if (run->target->state != LD_BUILDING)
		return 0;
	if (!run->places) {
		tl_path_parent(run->options->index, parent, sizeof(parent));
		run->places = ld_places_new(run->options->tmpdir ? run->options->tmpdir : parent);
	}
	return run->places ? ld_places_add(run->places, item->file, item->path, item->line)
			   : TL_TROUBLE;
}

int ld_store_begin(struct ld_run *run)
{
	struct ld_mark begin = run->mark;

	begin.files = run->start.files;
	begin.rows = run->start.rows;
	begin.total = run->start.total;
	run->committed_at = tl_seconds();
	/* The mark of an earlier load must not be taken for one of this load, even if this one is
	 * killed before its first commit. */
	return commit(run, &begin);
}

/* What is worth a word about a row that was put. */
static void remark(struct ld_run *run, const struct ld_item *item)
{
	static const enum ld_remark doubts[IN_N_DOUBTS] = {
		[IN_NAMED_JSON] = LD_NAMED_JSON,
		[IN_NAMED_ROWS] = LD_NAMED_ROWS,
		[IN_LISTS_FPS] = LD_LISTS_FPS,
	};
	struct ld_report *report = &run->report;
	char place[LD_PLACE_SIZE];
	int is_future;

	if (item->flags & SIMIDX_SKETCH_EMPTY)
		report->empty_texts++;
	else if (item->flags & SIMIDX_SKETCH_SHORT)
		report->short_texts++;
	is_future = item->row.time && run->target->flags & SIMIDX_CREATE_TIMES &&
		    item->row.time > time(NULL);
	if (!item->bad_utf8 && !item->doubt && !is_future)
		return;
	in_write_place(item->path, item->line, place, sizeof(place) - 40);
	if (is_future)
		ld_report_remark(report, LD_FUTURE, place);
	if (item->doubt)
		ld_report_remark(report, doubts[item->doubt], place);
	if (!item->bad_utf8)
		return;
	sprintf(place + strlen(place), ", byte %llu", (unsigned long long)item->bad_utf8);
	ld_report_remark(report, LD_NOT_UTF8, place);
}

static int mode_needs_key(const struct ld_run *run)
{
	return run->options->mode == LD_REPLACE || run->options->mode == LD_DELETE;
}

static void note_missing(struct ld_run *run, const struct ld_item *item)
{
	char place[LD_PLACE_SIZE];

	in_write_place(item->path, item->line, place, sizeof(place));
	ld_report_missing(&run->report, place);
}

/* Commit what comes before the row that is at hand. */
static int commit_before(struct ld_run *run)
{
	struct ld_mark here = run->mark;
	int code;

	run->mark = run->before;
	code = ld_store_commit(run);
	run->mark = here;
	return code;
}

/* A row is left out, and a document that is near, or its own one, was seen again. */
static int touch(struct ld_run *run, const struct ld_item *item, const simidx_match *seen)
{
	simidx_error err;
	int touched;

	if (ld_change_touch(run->target, item, seen, &touched, &err))
		return ld_store_fail(run, &err);
	run->touched += (unsigned)touched;
	return 0;
}

/*
 * A row whose id or label is in use: of its own document, which may have been seen again, or not.
 */
static int leave_out(struct ld_run *run, const struct ld_item *item, const simidx_doc *doc,
		     const char *reason)
{
	simidx_match own;
	simidx_error err;
	int rc = SIMIDX_E_NOT_FOUND;

	run->report.duplicates++;
	if (run->options->touch)
		rc = ld_change_find_own(run->target, doc, &own, &err);
	if (rc && rc != SIMIDX_E_NOT_FOUND)
		return ld_store_fail(run, &err);
	if (rc && run->options->duplicates != SIMIDX_DUPLICATES_FIRST)
		return reject(run, item, reason, 1);
	run->report.there++;
	if (rc)
		return 0;
	remark(run, item);
	return touch(run, item, &own);
}

/* What stands beside the rows of a document. */
static size_t bytes_apart(const simidx_doc *doc)
{
	return (doc->label ? doc->label_size : 0) + (doc->note ? doc->note_size : 0);
}

static int put(struct ld_run *run, const struct ld_item *item)
{
	simidx_doc doc = SIMIDX_DOC_INIT;
	char reason[80];
	struct ld_change change;
	simidx_error err;
	int rc = is_too_much(run) ? go_over(run) : check_space(run);

	if (rc)
		return rc;
	if (item->flags & SIMIDX_SKETCH_SHORT &&
	    run->options->text.short_texts == TL_SHORT_REJECT) {
		snprintf(reason, sizeof(reason), "a text of fewer than %u tokens (--short)",
			 (unsigned)tl_text_min_tokens(&run->options->text));
		return reject(run, item, reason, 0);
	}
	/* Of what is put only, as the loader counts no other rows. */
	rc = note_place(run, item);
	if (rc)
		return rc;
	fill_document(run, item, &doc);
	if (mode_needs_key(run) && doc.id == SIMIDX_NO_ID && !doc.label)
		return reject(run, item, "it has no id and no label, and --mode replace and delete "
			      "need one", 0);
	rc = ld_change_make(run->target, item, &doc, !run->uncommitted, &change, &err);
	if (rc == SIMIDX_E_BUSY && run->uncommitted) {
		if (commit_before(run))
			return TL_TROUBLE;
		rc = ld_change_make(run->target, item, &doc, 1, &change, &err);
	}
	/* Also where nothing comes of it: the lock was taken to find out. */
	run->uncommitted++;
	if (rc == SIMIDX_E_DUPLICATE)
		return leave_out(run, item, &doc, err.text);
	if (is_rejection(rc))
		return reject(run, item, err.text, 0);
	run->report.near += rc == SIMIDX_E_EXISTS;
	if (rc == SIMIDX_E_NOT_FOUND)
		note_missing(run, item);
	if (rc && rc != SIMIDX_E_EXISTS && rc != SIMIDX_E_NOT_FOUND)
		return ld_store_fail(run, &err);
	if (!run->target->rejudges)
		ld_emit_row(run->options, item, !rc, &change);
	else if (ld_decided_add(&run->decided, item, run->target->changes - 1, rc, &change))
		return TL_TROUBLE;
	remark(run, item);
	if (rc == SIMIDX_E_EXISTS && run->options->touch)
		return touch(run, item, &change.blocker);
	if (rc)
		return 0;
	run->put++;
	if (run->target->state == LD_INSERTING)
		run->bytes_apart += bytes_apart(&doc);
	else
		run->all_bytes_apart += bytes_apart(&doc);
	return 0;
}

/* Have the writer look up what is ahead. */
static int look_ahead(struct ld_run *run)
{
	simidx_doc *docs = calloc(run->n_ahead + 1, sizeof(*docs));
	const struct ld_item **items = calloc(run->n_ahead + 1, sizeof(*items));
	simidx_error err;
	size_t n = 0;
	int rc = 0;

	if (!docs || !items) {
		free(docs);
		free(items);
		return tl_error("out of memory");
	}
	for (size_t i = 0; i < run->n_ahead; i++) {
		const struct ld_item *item = &run->ahead[i];

		if (item->result != IN_ROW || item->code)
			continue;
		docs[n] = (simidx_doc)SIMIDX_DOC_INIT;
		items[n] = item;
		fill_document(run, item, &docs[n++]);
	}
	do
		rc = n ? ld_change_look_ahead(run->target, items, docs, n, &err) : 0;
	while (ld_target_again(run->target, rc, &err));
	free(docs);
	free(items);
	return rc ? ld_store_fail(run, &err) : 0;
}

int ld_store_ahead(void *ctx, const struct ld_item *items, size_t n)
{
	struct ld_run *run = ctx;

	run->ahead = items;
	run->n_ahead = n;
	return run->target->state == LD_INSERTING ? look_ahead(run) : 0;
}

/*
 * Whether the writer has had what it has for long enough, so that others see it and get their turn.
 */
static int is_due(const struct ld_run *run)
{
	return run->uncommitted >= run->options->commit || run->bytes_apart >= BATCH_BYTES_APART ||
	       (run->uncommitted && run->mark.total % CLOCK_ROWS == 0 &&
		tl_seconds() - run->committed_at >= LD_COMMIT_SECONDS);
}

/* Items are stored in their order, and one that is stored is ahead no more. */
static void pass_ahead(struct ld_run *run)
{
	if (!run->n_ahead)
		return;
	run->ahead++;
	run->n_ahead--;
}

int ld_store_item(void *ctx, const struct ld_item *item)
{
	struct ld_run *run = ctx;
	char place[LD_PLACE_SIZE];
	int code = 0;

	pass_ahead(run);
	run->queued -= run->queued > 0;
	run->before = run->mark;
	/* First of all: a commit or a rebuild that this row causes comes after it. */
	run->mark.files = item->rows ? item->file : item->file + 1;
	run->mark.rows = item->rows;
	run->mark.total++;
	if (item->result == IN_SKIPPED) {
		in_write_place(item->path, item->line, place, sizeof(place));
		if (item->is_found)
			ld_report_remark(&run->report, LD_SKIPPED, place);
		else
			ld_report_skip(&run->report, place, item->reason);
	} else if (item->result == IN_REJECTED) {
		code = reject(run, item, item->reason, 0);
	} else if (item->code == SIMIDX_E_RANGE) {
		code = reject(run, item, item->error ? item->error : "out of range", 0);
	} else if (item->code) {
		code = tl_error("%s: %s", run->options->index,
				item->error ? item->error : simidx_strerror(item->code));
	} else {
		code = put(run, item);
		if (!code && run->target->state == LD_INSERTING && is_due(run)) {
			code = ld_store_commit(run);
			/* What was looked up counted for the transaction that has ended. */
			if (!code && run->n_ahead)
				code = look_ahead(run);
		}
	}
	return code;
}
