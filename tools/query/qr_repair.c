/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include <simidx_repair.h>

#include "query/qr_command.h"

#include "common/tl_escape.h"
#include "common/tl_example.h"
#include "common/tl_index.h"
#include "common/tl_msg.h"
#include "common/tl_number.h"
#include "common/tl_path.h"
#include "query/qr_json.h"

#include <stdio.h>
#include <string.h>

#include <simidx_check.h>

#define MIN_MEMORY ((uint64_t)128 << 20)

static struct options {
	uint64_t memory;
	const char *tmpdir;
	int dry_run;
} options;

/* ---- what is told ---- */

static const char *const kinds[] = { [SIMIDX_LOSS_DAMAGE] = "damage",
				     [SIMIDX_LOSS_DOCUMENT] = "document",
				     [SIMIDX_LOSS_FP2] = "fp2",
				     [SIMIDX_LOSS_LABEL] = "label",
				     [SIMIDX_LOSS_DOUBT] = "doubt",
				     [SIMIDX_LOSS_RECORD] = "record",
				     [SIMIDX_LOSS_CHANGES] = "changes",
				     [SIMIDX_LOSS_TIME] = "time",
				     [SIMIDX_LOSS_NOTE] = "note" };

/* A terminal shows so many lines. */
#define MOST_SHOWN 20

/* What lines are printed with. */
struct printing {
	const struct qr_context *ctx;
	uint64_t n; /* lines so far */
};

static void print_loss(void *arg, const simidx_loss *loss)
{
	struct printing *printing = arg;

	tl_progress_clear();
	if (++printing->n > MOST_SHOWN && printing->ctx->width) {
		if (printing->n == MOST_SHOWN + 1)
			tl_error("a terminal shows %d lines; all of them: > FILE", MOST_SHOWN);
		return;
	}
	if (printing->ctx->json) {
		qr_json_loss(kinds[loss->kind], loss);
		return;
	}
	printf("%s\t%s\t", kinds[loss->kind], loss->table ? loss->table : "");
	qr_print_id(stdout, loss->id);
	putchar('\t');
	if (loss->flags & SIMIDX_LOSS_HAS_FP)
		qr_print_fingerprint(stdout, loss->fp, loss->bits);
	putchar('\t');
	if (loss->label)
		tl_put_escaped(stdout, loss->label, loss->label_size);
	putchar('\t');
	tl_put_escaped(stdout, loss->text, strlen(loss->text));
	putchar('\n');
}

/* Add "3 labels" to a list. */
static void list(char *out, size_t size, uint64_t n, const char *one, const char *many)
{
	size_t length = strlen(out);

	if (n)
		snprintf(out + length, size - length, "%s%s", length ? ", " : "",
			 tl_counted(n, one, many));
}

/* Returns the exit code. */
static int tell_report(const char *index, const char *path, const simidx_repair_report *report)
{
	char room[2][TL_PATH_WORD_SIZE];
	/* Documents that only their names show, where no header counts them. */
	uint64_t documents = report->documents_lost ? report->documents_lost : report->named;
	char lost[400] = "";

	list(lost, sizeof(lost), documents, "document", "documents");
	if (documents && report->header_lost)
		strcat(lost, " by what they left (some may count twice)");
	list(lost, sizeof(lost), report->unknown_fp2, "second fingerprint", "second fingerprints");
	list(lost, sizeof(lost), report->times_lost, "time", "times");
	list(lost, sizeof(lost), report->notes_lost, "note", "notes");
	list(lost, sizeof(lost), report->labels_lost, "label", "labels");
	list(lost, sizeof(lost), report->records_lost, "record", "records");
	list(lost, sizeof(lost), report->changes_lost, "change", "changes");
	if (report->header_lost)
		snprintf(lost + strlen(lost), sizeof(lost) - strlen(lost),
			 "%s, as the header that counts what there was is lost",
			 *lost ? ", and perhaps more" : "not known");
	/* A lost document may be known twice, by its label and by its fingerprint. */
	tl_notice("%s: made, with %s; lost: %s%s", path,
		  tl_counted(report->documents, "document", "documents"),
		  documents && (report->changes_lost || !report->documents_lost) &&
				  !report->header_lost ? "at most " : "",
		  *lost		  ? lost :
		  report->doubts ? "nothing that is known" :
		  "nothing");
	if (report->changes_lost)
		tl_notice("%s: documents that the lost changes deleted or replaced may be as they "
			  "were before", path);
	if (report->doubts)
		tl_notice("%s: %s not certain: the lines that begin with 'doubt'", path,
			  tl_counted(report->doubts, "thing is", "things are"));
	index = tl_path_word(index, room[0]);
	tl_notice("%s: takes the old one's place by: mv %s %s.damaged && mv %s %s", path, index,
		  index, tl_path_word(path, room[1]), index);
	return *lost || report->doubts ? TL_PARTLY : TL_OK;
}

/* ---- the command ---- */

static int fail(const struct qr_context *ctx, const char *destination, const simidx_error *err)
{
	if (err->code == SIMIDX_E_CORRUPT) {
		tl_error("%s: cannot be repaired: %s", ctx->path, err->text);
		tl_notice("%s: restore a backup, or load the documents again", ctx->path);
		return TL_TROUBLE;
	}
	if (err->code == SIMIDX_E_EXISTS)
		return tl_error("%s: exists already; the new index needs another name",
				destination);
	if (tl_begins_with_path(err, ctx->path))
		return tl_index_error(ctx->path, err);
	if (tl_begins_with_path(err, destination))
		return tl_index_error(NULL, err);
	tl_error("%s: cannot be repaired to %s: %s", ctx->path, destination, err->text);
	tl_advise_parent(destination, err);
	return TL_TROUBLE;
}

/* In place, what an engine holds. */
static int mend(struct qr_context *ctx)
{
	simidx_verify_report report = SIMIDX_VERIFY_REPORT_INIT;
	simidx_open_options how = SIMIDX_OPEN_OPTIONS_INIT;
	simidx_error err;
	int rc;

	if (tl_path_open(ctx->path, &how, &ctx->index, &ctx->info, &err))
		return qr_fail(ctx, &err);
	if (tl_progress_wanted())
		simidx_set_progress(ctx->index, tl_progress_phase, NULL);
	rc = simidx_mend(ctx->index, options.dry_run ? SIMIDX_MEND_DRY_RUN : 0, qr_print_problem,
			 ctx, &report, &err);
	tl_progress_clear();
	if (rc && rc != SIMIDX_E_CORRUPT)
		return qr_fail(ctx, &err);
	tl_notice("%s: %s, %s", ctx->path, tl_counted(report.problems, "problem", "problems"),
		  options.dry_run ? "and nothing has changed"
		  : report.problems == report.mended ? "all mended" : "not all mended");
	return rc ? TL_PARTLY : TL_OK;
}

/* Which kind of repair it is follows from INDEX. */
static int check_operands(const struct qr_context *ctx, int has_new)
{
	if (!tl_path_is_uri(ctx->path) && options.dry_run)
		return tl_usage_error(
			"--dry-run: a directory is only read anyway, and NEW is made");
	if (!tl_path_is_uri(ctx->path) && !has_new) {
		tl_example_complete();
		return tl_usage_error("NEW is missing");
	}
	if (tl_path_is_uri(ctx->path) && has_new)
		return tl_usage_error("%s is mended in place, so there is no NEW", ctx->path);
	return TL_OK;
}

static int run_repair(struct qr_context *ctx)
{
	simidx_repair_options how = SIMIDX_REPAIR_OPTIONS_INIT;
	simidx_repair_report report = SIMIDX_REPAIR_REPORT_INIT;
	struct printing printing = { ctx, 0 };
	const char *new = ctx->operands[0];
	simidx_error err;
	int rc;

	if (check_operands(ctx, new != NULL))
		return TL_TROUBLE;
	if (tl_path_is_uri(ctx->path))
		return mend(ctx);
	/* Before the damage is told. */
	if (!tl_path_is_missing(new, &err))
		return fail(ctx, new, &(simidx_error){ .code = SIMIDX_E_EXISTS });
	tl_stop_on_signals();
	how.memory = options.memory;
	how.tmpdir = tl_path_temporary(options.tmpdir, NULL);
	how.threads = ctx->threads;
	how.flags = qr_open_flags(ctx);
	how.progress = tl_progress_wanted() ? tl_progress_phase : NULL;
	how.stop = tl_stop_wanted;
	rc = simidx_repair(ctx->path, new, &how, print_loss, &printing, &report, &err);
	return rc ? fail(ctx, new, &err) : tell_report(ctx->path, new, &report);
}

static const struct tl_option rows[] = {
	{ 0, "memory", "SIZE", TL_SIZE(struct options, memory, MIN_MEMORY, SIZE_MAX / 2),
	  .standard = "1G", .help = "memory to work in, at least 128M",
	  .more = "Memory to work in, at least 128M; K, M, G and T are binary." },
	{ 0, "tmpdir", "DIR", TL_TEXT(struct options, tmpdir),
	  .otherwise = "$TMPDIR, or beside NEW",
	  .help = "where temporary files are made" },
	{ 0, "dry-run", NULL, TL_FLAG(struct options, dry_run),
	  .help = "with the URI of an engine: change nothing" },
	{ TL_SECTION("Of an engine") },
	{ TL_PARAGRAPH("Where INDEX is the URI of an index that an engine holds, such as "
		       "hbase://..., it is mended in place, and there is no NEW: each document "
		       "becomes what it was before a commit that was cut off, or what the commit "
		       "would have made it. A document whose own row is damaged is made again "
		       "without its label, if its fingerprint is in all tables, and else removed; "
		       "then repair ends with 1. A line is printed for each problem, as verify "
		       "does.") },
	{ TL_SECTION("What is kept") },
	{ TL_PARAGRAPH("Each block or row is judged by itself, and what sound ones say is joined: "
		       "a document is lost only if it is damaged wherever it stands. A document "
		       "whose second fingerprint is lost is marked, and searches judge it by the "
		       "first one alone. The new index has the plan, layout, profile, mark and "
		       "next id of INDEX, which is only read. If the header that has the next id "
		       "is lost, which is told, ids that were given may be given again.") },
	{ TL_PARAGRAPH("In an index with times a document whose time is lost has none: it is kept, "
		       "and 'simidx-query delete --older-than' never deletes it, until simidx-load "
		       "--touch or --mode replace gives it one.") },
	{ TL_PARAGRAPH("What lies below a damaged page of the file's trees is found, too. Of a "
		       "file that was cut short all is taken that lies before the cut. If the list "
		       "of free pages is lost with the rest, documents that were deleted may be "
		       "there again, and others may be as they were before; a doubt says so. "
		       "Labels are left out then where nothing is left to check them by.") },
	{ TL_SECTION("Output") },
	{ TL_PARAGRAPH("A line for each thing that is damaged, lost or not certain, with columns "
		       "separated by tabs: what it is, the table, the id, the fingerprint, the "
		       "label and a sentence; columns that are not known are empty. A "
		       "terminal shows 20 lines. Only what is "
		       "needed is read: where one table says all that there is, damage in others "
		       "is not listed, but verify lists it. What it is:") },
	{ TL_TERM("damage", "A block, row or record was passed over.") },
	{ TL_TERM("document", "A document is lost. It may come twice, once with its fingerprint "
			      "and once with its id or label.") },
	{ TL_TERM("fp2", "The second fingerprint of a document is lost.") },
	{ TL_TERM("time", "The time of a document is lost.") },
	{ TL_TERM("note", "The note of a document is lost; without an id, several are.") },
	{ TL_TERM("label", "The label of a document is lost. Without an id: labels are lost, and "
			   "it is not known of which documents; the sentence says how many.") },
	{ TL_TERM("doubt", "Something of a document is kept, but not certain. Without an id: it is "
			   "not known of which documents, or of all.") },
	{ TL_TERM("record", "The profile or the mark of the index is lost.") },
	{ TL_TERM("changes", "Changes are lost that were not merged into the tables yet; the "
			     "sentence says how many. Documents that they added are lost. Those "
			     "that they deleted or replaced may be as they were before: deleted "
			     "ones may be there again, those that were touched may have an older "
			     "time, and nothing tells which.") },
	{ TL_PARAGRAPH("With --json an object each, with the members kind, table, id, fp, label "
		       "(or label_hex) and text; what is not known is left out.") },
	{ TL_SECTION("Examples") },
	{ TL_EXAMPLE("simidx-query repair index saved >lost.tsv",
		     "Save what is sound, and keep a list of what is not.") },
	{ TL_EXAMPLE("mv index index.damaged && mv saved index",
		     "Then use it under the old name. The file dedup.seen, which simidx-dedup "
		     "keeps beside an index, is not in it: it saved time only.") },
	{ TL_SECTION("Exit status") },
	{ TL_PARAGRAPH("Of an engine, 0: sound, or all mended; 1: something is wrong; 2: could not "
		       "be checked.") },
	{ TL_PARAGRAPH("0: NEW was made, and nothing is lost. 1: NEW was made, and something is "
		       "lost or not certain. 2: NEW was not made; or it was, as a message says "
		       "then, but the disk did not confirm that it stays there after a power "
		       "cut.") },
	{ 0 },
};

const struct qr_command qr_repair = {
	.line = { .name = "repair", .operands = "INDEX [NEW]", .least = 1, .most = 2,
		  .shortest = "INDEX NEW",
		  .summary = "make a new index of what is sound in a damaged one",
		  .about = "Make the new index NEW of all that is sound in the damaged INDEX, and "
			   "list what is lost. NEW must not exist or be an empty directory, and "
			   "appears only when it is complete.",
		  .options = rows, .program = &qr_program },
	.options = &options, .run = run_repair,
};
