/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "query/qr_command.h"

#include "common/tl_example.h"
#include "common/tl_msg.h"
#include "common/tl_number.h"
#include "common/tl_path.h"
#include "common/tl_time.h"
#include "query/qr_json.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simidx_walk.h>

static struct options {
	const char *older_than;
	int id, label;
	int dry_run;
	int wait_ms;           /* for other writers, in milliseconds; -1 = without end */
} options = { .wait_ms = -1 };

/* A deletion under way. */
struct deletion {
	struct qr_context *ctx;
	int slice_ms;          /* of --wait, in one call */
	double waiting_since;  /* 0 = nobody is waited for */
	simidx_writer *writer; /* NULL until it is needed */
	uint32_t cut;          /* what is older goes, where no keys are given */
	/* documents that are deleted, and committed; set by the library, too */
	uint64_t n;
	uint64_t n_before;     /* others, by earlier calls */
	char **keys;           /* ids or labels of documents that go, as they were typed */
	simidx_doc *docs;      /* what they name */
	int *codes;            /* what came of each */
	size_t n_keys;
};

/* ---- writing ---- */

/* A moment at a time, so that a signal ends the waiting. */
#define WAIT_SLICE_MS 200

/* A commit on an engine found what others have changed, and decided a key again. */
static void note_rejudged(void *arg, const simidx_rejudged *outcome)
{
	struct deletion *d = arg;

	if (outcome->change < d->n_keys)
		d->codes[outcome->change] = outcome->code;
}

static int open_writer(struct deletion *d, simidx_error *err)
{
	simidx_writer_options how = SIMIDX_WRITER_OPTIONS_INIT;

	if (d->writer)
		return 0;
	how.wait_ms = d->slice_ms;
	if (options.wait_ms >= 0 && options.wait_ms < d->slice_ms)
		how.wait_ms = options.wait_ms;
	how.rejudged = note_rejudged;
	how.rejudged_ctx = d;
	return simidx_writer_open(d->ctx->index, &how, &d->writer, err);
}

static void close_writer(struct deletion *d)
{
	simidx_writer_close(d->writer);
	d->writer = NULL;
}

/* Whether to go on waiting for another writer. */
static int waits(struct deletion *d)
{
	double now = tl_seconds();

	if (!d->waiting_since)
		d->waiting_since = now;
	if (tl_progress_wanted())
		tl_progress_show("waiting for another writer: %.0f s", now - d->waiting_since);
	return !tl_stop_requested() &&
	       (options.wait_ms < 0 || (now - d->waiting_since) * 1000 < options.wait_ms);
}

/* Whether a call that returned rc is to be made once more: after a wait, or on another index. */
static int again(struct deletion *d, int rc, simidx_error *err)
{
	if (rc == SIMIDX_E_BUSY)
		return waits(d);
	d->waiting_since = 0;
	if (rc == SIMIDX_E_MOVED)
		close_writer(d);
	return qr_again(d->ctx, rc, err);
}

/* Begin a transaction, when others have ended theirs. */
static int begin(struct deletion *d, simidx_error *err)
{
	int rc;

	do {
		rc = open_writer(d, err);
		if (!rc)
			rc = simidx_writer_begin(d->writer, err);
	} while (again(d, rc, err));
	tl_progress_clear();
	return rc;
}

/* ---- what is old ---- */

/* A deletion failed. What is deleted is written anew without it, so a full disk is in the way. */
static int fail(const struct deletion *d, const simidx_error *err)
{
	char room[TL_PATH_WORD_SIZE];

	qr_fail(d->ctx, err);
	if (err->code == SIMIDX_E_NO_SPACE)
		tl_notice("%s: deleting needs room, too: make some, or write a smaller index to "
			  "another disk with 'simidx-query compact %s NEW'",
			  d->ctx->path, tl_path_word(d->ctx->path, room));
	return TL_TROUBLE;
}

/* Returns the exit code. */
static int tell_older(const struct deletion *d, uint64_t count, int is_dry)
{
	struct tl_json json;
	char cut[TL_TIME_SIZE];

	tl_time_write(d->cut, cut);
	if (!d->ctx->json) {
		tl_notice("%s: %s older than %s%s", d->ctx->path,
			  tl_counted(count, "document", "documents"), cut,
			  is_dry ? "; nothing has changed" : " deleted");
		return TL_OK;
	}
	json = tl_json_line(stdout);
	tl_json_string(&json, "older_than", cut);
	tl_json_unsigned(&json, is_dry ? "old" : "deleted", count);
	return qr_json_end(&json);
}

/* It was cut off. */
static void tell_part(const struct deletion *d)
{
	uint64_t count = d->n_before + d->n;

	tl_notice("%s: %s deleted; some may be left", d->ctx->path,
		  tl_counted(count, "old document was", "old documents were"));
}

/*
 * Where another writer was in the way the library begins with a new walk. So it may wait longer
 * each time, and comes to an end also beside one who writes all the time.
 */
static int delete_older(struct deletion *d)
{
	simidx_error err;
	int rc;

	do {
		d->n_before += d->n;
		d->n = 0;
		rc = begin(d, &err);
		if (rc)
			break;
		rc = simidx_writer_delete_older(d->writer, d->cut, tl_stop_wanted, NULL, &d->n,
						&err);
		if (rc == SIMIDX_E_BUSY) {
			close_writer(d);
			d->slice_ms = d->slice_ms < INT_MAX / 2 ? d->slice_ms * 2 : d->slice_ms;
		}
	} while (again(d, rc, &err));
	tl_progress_clear();
	if (!rc)
		return tell_older(d, d->n_before + d->n, 0);
	if (tl_stop_requested())
		tl_error("stopped by a signal");
	else
		fail(d, &err);
	if (tl_stop_requested() || d->n_before || d->n)
		tell_part(d);
	return TL_TROUBLE;
}

/* Only count, in one snapshot. */
static int count_older(struct deletion *d)
{
	simidx_walk *walk = NULL;
	simidx_match document;
	uint64_t count = 0, done = 0;
	simidx_error err;
	int rc;

	do
		rc = simidx_walk_open(d->ctx->index, &walk, &err);
	while (qr_again(d->ctx, rc, &err));
	while (!rc) {
		rc = simidx_walk_next(walk, &document, &err);
		count += !rc && document.flags & SIMIDX_MATCH_TIME && document.time < d->cut;
		if (++done % 1024 == 0)
			tl_progress_phase(NULL, "counting", done, d->ctx->info.documents);
	}
	simidx_walk_close(walk);
	tl_progress_clear();
	return rc == SIMIDX_E_END ? tell_older(d, count, 1) : qr_fail(d->ctx, &err);
}

/* ---- what is named ---- */

/* All that is named is read before anything is deleted. */
static int read_keys(struct deletion *d, char **operands, size_t n)
{
	static const simidx_doc none = SIMIDX_DOC_INIT;

	d->docs = malloc(n * sizeof(*d->docs));
	d->codes = malloc(n * sizeof(*d->codes));
	if (!d->docs || !d->codes)
		return tl_error("out of memory");
	for (size_t i = 0; i < n; i++) {
		const char *key = operands[i];
		size_t size = strlen(key);

		d->docs[i] = none;
		if (options.id && tl_parse_decimal(key, size, SIMIDX_MAX_ID, &d->docs[i].id))
			return tl_error("%s: expected an id, a decimal number in 0..%llu; several "
					"with blanks between; 'simidx-load --mode delete -F ids "
					"INDEX FILE' deletes what a list has", key,
					(unsigned long long)SIMIDX_MAX_ID);
		if (options.id)
			continue;
		if (size == 0 || size > SIMIDX_MAX_LABEL)
			return tl_error("expected a label of 1 to %u bytes, found one of %zu",
					(unsigned)SIMIDX_MAX_LABEL, size);
		d->docs[i].label = key;
		d->docs[i].label_size = size;
	}
	d->keys = operands;
	d->n_keys = n;
	return 0;
}

/* In one transaction. Returns 0, SIMIDX_E_STOPPED, or the code in err. */
static int delete_all(struct deletion *d, simidx_error *err)
{
	int rc = begin(d, err);

	if (!rc)
		rc = simidx_writer_prefetch(d->writer, d->docs, d->n_keys, err);
	for (size_t i = 0; !rc && i < d->n_keys; i++) {
		const simidx_doc *doc = &d->docs[i];

		if (tl_stop_requested())
			return SIMIDX_E_STOPPED;
		rc = doc->label ? simidx_writer_delete_label(d->writer, doc->label, doc->label_size,
							     err)
				: simidx_writer_delete_id(d->writer, doc->id, err);
		d->codes[i] = rc;
		if (rc == SIMIDX_E_NOT_FOUND)
			rc = 0;
	}
	return rc ? rc : simidx_writer_commit(d->writer, err);
}

/* Of the widest fingerprint. */
#define FP_DIGITS 16

#define LIST_ADVICE "'simidx-load --mode delete -F labels INDEX FILE' deletes what a list has"

static int tell_keys(const struct deletion *d)
{
	struct tl_json json;
	uint64_t missing = 0, deleted;

	for (size_t i = 0; i < d->n_keys; i++) {
		if (d->codes[i] != SIMIDX_E_NOT_FOUND)
			continue;
		missing++;
		tl_notice("%s: not found%s", d->keys[i],
			  !d->docs[i].label ? "" :
			  strcmp(d->keys[i], "-") == 0 ? "; " LIST_ADVICE :
			  strchr(d->keys[i], ',') ?
				  "; several labels stand with blanks between" :
				  "; labels are compared whole, and dump lists them");
	}
	deleted = d->n_keys - missing;
	if (d->ctx->json) {
		json = tl_json_line(stdout);
		tl_json_unsigned(&json, "deleted", deleted);
		tl_json_unsigned(&json, "missing", missing);
		if (qr_json_end(&json))
			return TL_TROUBLE;
	} else {
		tl_notice("%s: %s deleted", d->ctx->path,
			  tl_counted(deleted, "document", "documents"));
	}
	return missing ? TL_PARTLY : TL_OK;
}

static int delete_keys(struct deletion *d)
{
	simidx_error err;
	uint64_t stored;
	int rc;

	do
		rc = delete_all(d, &err);
	while (rc == SIMIDX_E_MOVED && again(d, rc, &err));
	tl_progress_clear();
	if (!rc)
		return tell_keys(d);
	if (rc == SIMIDX_E_STOPPED || (rc == SIMIDX_E_BUSY && tl_stop_requested()))
		return tl_error("stopped by a signal; nothing has changed");
	fail(d, &err);
	stored = simidx_writer_stored(d->writer);
	if (stored)
		tl_notice("%s: %s deleted all the same", d->ctx->path,
			  tl_counted(stored, "document", "documents"));
	return TL_TROUBLE;
}

/* ---- the command ---- */

/* What is asked for, and whether the operands fit. */
static int check(const struct qr_context *ctx)
{
	int n = ctx->n_operands;

	if (!n && !options.id && !options.label && !options.older_than)
		tl_example_is("simidx-query delete INDEX --label LABEL");
	if (options.id + options.label + (options.older_than != NULL) != 1)
		return tl_usage_error("one of --older-than, --id and --label says what is deleted; "
				      "'rm -r INDEX' deletes all, " LIST_ADVICE "%s",
				      n && strlen(ctx->operands[0]) == FP_DIGITS ?
				      "; 'simidx-query get INDEX FP' shows ids" : "");
	if (options.older_than && n)
		return tl_usage_error("--older-than DATE is all that is asked for, such as 30d; "
				      "'%s' does not fit", ctx->operands[0]);
	if (!options.older_than && !n)
		return tl_usage_error("KEY is missing");
	if (!options.older_than && options.dry_run)
		return tl_usage_error("--dry-run goes with --older-than");
	if (ctx->is_static && !options.dry_run)
		return tl_usage_error("--static: to delete is to write");
	return 0;
}

static int run(struct deletion *d)
{
	struct qr_context *ctx = d->ctx;

	if (options.older_than && qr_read_cut("--older-than", options.older_than, &d->cut))
		return TL_TROUBLE;
	if (!options.older_than && read_keys(d, ctx->operands, (size_t)ctx->n_operands))
		return TL_TROUBLE;
	ctx->writes = !options.dry_run;
	if (qr_open(ctx))
		return TL_TROUBLE;
	if (!options.older_than)
		return delete_keys(d);
	if (qr_need_times(ctx, "--older-than"))
		return TL_TROUBLE;
	return options.dry_run ? count_older(d) : delete_older(d);
}

static int run_delete(struct qr_context *ctx)
{
	struct deletion d = { .ctx = ctx, .slice_ms = WAIT_SLICE_MS };
	int code;

	if (check(ctx))
		return TL_TROUBLE;
	if (!options.dry_run)
		tl_stop_on_signals();
	code = run(&d);
	close_writer(&d);
	free(d.docs);
	free(d.codes);
	return code;
}

static const struct tl_option rows[] = {
	{ TL_SECTION("What is deleted") },
	{ TL_PARAGRAPH("One of these says it:") },
	{ 0, "older-than", "DATE", TL_TEXT(struct options, older_than),
	  .help = "what has an older time: 30d, or 2026-11-26",
	  .more = "All documents whose time is before DATE, in an index that keeps times "
		  "(simidx-load "
		  "--times). DATE is " TL_TIME_CUT_FORMS "; 30d is 30 days before now, and there "
		  "are w, d, h, m and s; 2026-11-26 is its midnight in UTC, when the day begins. "
		  "Documents whose time is not known stay." },
	{ 0, "id", NULL, TL_FLAG(struct options, id), .help = "each KEY is an id" },
	{ 0, "label", NULL, TL_FLAG(struct options, label), .help = "each KEY is a label",
	  .more = "Each KEY is a label, compared byte by byte." },
	{ TL_SECTION("How") },
	{ 0, "dry-run", NULL, TL_FLAG(struct options, dry_run),
	  .help = "only count what --older-than would delete",
	  .more = "Only count what --older-than would delete, and change nothing. This reads all "
		  "documents and their labels, so it is no cheaper than the deletion." },
	{ 0, "wait", "MS", TL_NUMBER(struct options, wait_ms, 0, INT_MAX),
	  .otherwise = "no limit", .help = "longest wait for another writer",
	  .more = "The longest wait, in milliseconds, for another process that writes the "
		  "index." },
	{ TL_SECTION("What happens") },
	{ TL_PARAGRAPH("Documents that are named by a KEY are deleted in one commit. With "
		       "--older-than there are many, and others may write in between: whatever "
		       "ends the command, what it has deleted so far stays deleted, and the same "
		       "command deletes the rest. The bytes of what is deleted stay in the file "
		       "until their place is needed; 'simidx-query compact' removes them.") },
	{ TL_PARAGRAPH("An index in HBase keeps no times. 'simidx-load --mode delete' reads many "
		       "keys from files.") },
	{ TL_SECTION("Output") },
	{ TL_PARAGRAPH("A line on standard error with the number of documents, and with "
		       "--older-than the time it stands for. A KEY that is not found is listed "
		       "first. With --json an object on standard output: deleted and missing "
		       "are numbers of documents and of keys; with --older-than it has "
		       "older_than, a time such as 2026-11-26T08:15:00Z, and deleted, or with "
		       "--dry-run old. Where a deletion fails or is stopped there is no "
		       "object, but a line on standard error says how many were deleted.") },
	{ TL_SECTION("Examples") },
	{ TL_EXAMPLE("simidx-query delete pages --older-than 30d",
		     "Forget pages that were not seen for 30 days.") },
	{ TL_EXAMPLE("simidx-query delete articles.index --label articles/3.txt articles/7.txt",
		     "Delete two documents by their labels.") },
	{ TL_SECTION("Exit status") },
	{ TL_PARAGRAPH("0: all was deleted, also where nothing was old. 1: a KEY was not found; "
		       "the others were deleted. 2: error.") },
	{ 0 },
};

const struct qr_command qr_delete = {
	.line = { .name = "delete", .operands = "INDEX [KEY...]", .least = 1, .most = INT_MAX,
		  .shortest = "INDEX --label LABEL",
		  .summary = "delete documents by age, id or label",
		  .about = "Delete the documents that are older than a date, or that have these "
			   "ids or labels.",
		  .options = rows, .program = &qr_program },
	.options = &options, .run = run_delete,
};
