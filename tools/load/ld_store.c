/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "load/ld_store.h"

#include "common/tl_msg.h"
#include "load/ld_change.h"
#include "load/ld_end.h"
#include "load/ld_steps.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* A load whose first so many rows are all rejected stops. */
#define HOPELESS 1000

static int reject(struct ld_run *run, const struct ld_item *item, const char *reason,
		  int is_duplicate)
{
	struct ld_report *report = &run->report;
	uint64_t known;

	ld_report_reject(report, ld_item_place(item), reason, is_duplicate);
	/* A stream that is asked whether it is new may begin with what is there. */
	known = run->options->mode == LD_IF_NEW ? report->duplicates : 0;
	if (ld_report_too_many(report))
		return ld_end_too_many(run);
	if (report->rejected - known != HOPELESS || run->mark.total != HOPELESS)
		return 0;
	in_causes_tell(&run->reader.causes, run->report.rows);
	return tl_error("the first 1,000 rows were all rejected, the last one because: %s; "
			"nothing was stored", reason);
}

const char *ld_store_refuses(const struct ld_options *options, const struct ld_item *item)
{
	static char reason[80];

	if (item->flags & SIMIDX_SKETCH_SHORT && options->text.short_texts == TL_SHORT_REJECT) {
		snprintf(reason, sizeof(reason), "a text of fewer than %u tokens (--short)",
			 (unsigned)tl_text_min_tokens(&options->text));
		return reason;
	}
	if ((options->mode == LD_REPLACE || options->mode == LD_DELETE) &&
	    item->row.id == SIMIDX_NO_ID && !item->row.label)
		return "it has no id and no label, and --mode replace and delete need one"
		       "; --label-field names a member that is one";
	return NULL;
}

static void fill_document(const struct ld_run *run, const struct ld_item *item, simidx_doc *doc)
{
	unsigned flags = run->target.flags;
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

/* What is worth a word about a row that was put. */
static void remark(struct ld_run *run, const struct ld_item *item)
{
	struct ld_report *report = &run->report;
	char place[LD_PLACE_SIZE + 40];
	int is_future;

	if (item->flags & SIMIDX_SKETCH_EMPTY)
		report->empty_texts++;
	else if (item->flags & SIMIDX_SKETCH_SHORT)
		report->short_texts++;
	is_future = item->row.time && run->target.flags & SIMIDX_CREATE_TIMES &&
		    item->row.time > time(NULL);
	if (is_future)
		ld_report_remark(report, LD_FUTURE, ld_item_place(item));
	if (item->doubt)
		tl_remark_add(&report->doubts[item->doubt], ld_item_place(item));
	if (!item->bad_utf8)
		return;
	snprintf(place, sizeof(place), "%s, byte %llu", ld_item_place(item),
		 (unsigned long long)item->bad_utf8);
	ld_report_remark(report, LD_NOT_UTF8, place);
}

/* Commit what comes before the row that is at hand. */
static int commit_before(struct ld_run *run)
{
	struct ld_mark here = run->mark;
	int code;

	run->mark = run->before;
	code = ld_steps_commit(run);
	run->mark = here;
	return code;
}

/* A row is left out, and a document that is near, or its own one, was seen again. */
static int touch(struct ld_run *run, const struct ld_item *item, const simidx_match *seen)
{
	simidx_error err;
	int touched;

	if (ld_change_touch(&run->target, item, seen, &touched, &err))
		return ld_end_fail(run, &err);
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
		rc = ld_change_find_own(&run->target, doc, &own, &err);
	if (rc && rc != SIMIDX_E_NOT_FOUND)
		return ld_end_fail(run, &err);
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

/* Give the row to the writer or the loader. Returns as ld_change_make(), or TL_TROUBLE. */
static int change(struct ld_run *run, const struct ld_item *item, const simidx_doc *doc,
		  struct ld_change *out, simidx_error *err)
{
	int rc = ld_change_make(&run->target, item, doc, !run->uncommitted, out, err);

	if (rc == SIMIDX_E_BUSY && run->uncommitted) {
		if (commit_before(run))
			return TL_TROUBLE;
		rc = ld_change_make(&run->target, item, doc, 1, out, err);
	}
	/* Also where nothing comes of it: the lock was taken to find out. */
	run->uncommitted++;
	return rc;
}

/* Tell of a row that was stored, or near to a document, or not there to be deleted. */
static int tell(struct ld_run *run, const struct ld_item *item, int rc,
		const struct ld_change *change)
{
	run->report.near += rc == SIMIDX_E_EXISTS;
	if (rc == SIMIDX_E_NOT_FOUND)
		ld_report_missing(&run->report, ld_item_place(item));
	if (!run->target.rejudges)
		ld_emit_row(run->options, item, !rc, change);
	else if (ld_decided_add(&run->decided, item, run->target.changes - 1, rc, change))
		return TL_TROUBLE;
	remark(run, item);
	return 0;
}

static void count_put(struct ld_run *run, const simidx_doc *doc)
{
	run->put++;
	if (run->target.state == LD_INSERTING)
		run->bytes_apart += bytes_apart(doc);
	else
		run->all_bytes_apart += bytes_apart(doc);
}

static int put(struct ld_run *run, const struct ld_item *item)
{
	simidx_doc doc = SIMIDX_DOC_INIT;
	struct ld_change out;
	simidx_error err;
	const char *reason = ld_store_refuses(run->options, item);
	int rc = ld_steps_before_put(run);

	if (rc)
		return rc;
	fill_document(run, item, &doc);
	if (reason)
		return reject(run, item, reason, 0);
	/* A loader tells of rows by their number; of what is put only, as it counts no others. */
	if (run->target.state == LD_BUILDING &&
	    ld_places_add(&run->places, item->file, item->path, item->line))
		return TL_TROUBLE;
	rc = change(run, item, &doc, &out, &err);
	if (rc == SIMIDX_E_DUPLICATE)
		return leave_out(run, item, &doc, err.text);
	/* These are about the document, and leave everything else as it was. */
	if (rc == SIMIDX_E_RANGE || rc == SIMIDX_E_MISMATCH)
		return reject(run, item, err.text, 0);
	if (rc && rc != SIMIDX_E_EXISTS && rc != SIMIDX_E_NOT_FOUND)
		return rc == TL_TROUBLE ? rc : ld_end_fail(run, &err);
	if (tell(run, item, rc, &out))
		return TL_TROUBLE;
	if (rc == SIMIDX_E_EXISTS && run->options->touch)
		return touch(run, item, &out.blocker);
	if (!rc)
		count_put(run, &doc);
	return 0;
}

/* Have the writer look up what is ahead. */
static int look_ahead(struct ld_run *run)
{
	static simidx_doc docs[LD_MOST_AHEAD];
	static const struct ld_item *items[LD_MOST_AHEAD];
	simidx_error err;
	size_t n = 0;
	int rc = 0;

	for (size_t i = 0; i < run->n_ahead; i++) {
		const struct ld_item *item = &run->ahead[i];

		if (item->result != IN_ROW || item->code)
			continue;
		docs[n] = (simidx_doc)SIMIDX_DOC_INIT;
		items[n] = item;
		fill_document(run, item, &docs[n++]);
	}
	do
		rc = n ? ld_change_look_ahead(&run->target, items, docs, n, &err) : 0;
	/* Rows that are told and not committed would be missing in another index. */
	while (!(rc == SIMIDX_E_MOVED && run->uncommitted) &&
	       ld_target_again(&run->target, rc, &err));
	return rc ? ld_end_fail(run, &err) : 0;
}

int ld_store_ahead(void *ctx, const struct ld_item *items, size_t n)
{
	struct ld_run *run = ctx;

	run->ahead = items;
	run->n_ahead = n;
	return run->target.state == LD_INSERTING ? look_ahead(run) : 0;
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
	int code = 0;

	pass_ahead(run);
	run->queued -= run->queued > 0;
	run->before = run->mark;
	/* First of all: a commit or a rebuild that this row causes comes after it. */
	run->mark.files = item->rows ? item->file : item->file + 1;
	run->mark.rows = item->rows;
	run->mark.total++;
	if (item->result == IN_SKIPPED) {
		if (item->is_found)
			ld_report_remark(&run->report, LD_SKIPPED, ld_item_place(item));
		else
			ld_report_skip(&run->report, ld_item_place(item), item->reason);
	} else if (item->result == IN_REJECTED) {
		code = reject(run, item, item->reason, 0);
	} else if (item->code == SIMIDX_E_RANGE) {
		code = reject(run, item, item->error ? item->error : "out of range", 0);
	} else if (item->code) {
		code = tl_error("%s: %s", run->options->index,
				item->error ? item->error : simidx_strerror(item->code));
	} else {
		code = put(run, item);
		if (!code && run->target.state == LD_INSERTING && ld_steps_is_due(run)) {
			code = ld_steps_commit(run);
			/* What was looked up counted for the transaction that has ended. */
			if (!code && run->n_ahead)
				code = look_ahead(run);
		}
	}
	return code;
}
