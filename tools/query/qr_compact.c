/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "query/qr_command.h"

#include "common/tl_index.h"
#include "common/tl_msg.h"
#include "common/tl_number.h"
#include "common/tl_path.h"
#include "query/qr_json.h"

#include <limits.h>
#include <stdio.h>

#include <simidx_check.h>

#define MIN_MEMORY ((uint64_t)64 << 20)

static struct options {
	const char *plan;
	unsigned fill;
	uint64_t memory;
	const char *tmpdir;
	int wait_ms;
} options = { .wait_ms = -1 };

static int print_report(const struct qr_context *ctx, const char *path,
			const simidx_compact_report *report)
{
	struct tl_json json;

	if (!ctx->json) {
		tl_notice("%s: compacted: %s bytes before, %s bytes now, %s%s", path,
			  tl_count(report->old_bytes), tl_count(report->new_bytes),
			  tl_counted(report->documents, "document", "documents"),
			  report->new_bytes > report->old_bytes ?
				  "; it is larger, as all documents are in sorted tables now" : "");
		return TL_OK;
	}
	json = tl_json_line(stdout);
	tl_json_unsigned(&json, "documents", report->documents);
	tl_json_unsigned(&json, "old_bytes", report->old_bytes);
	tl_json_unsigned(&json, "new_bytes", report->new_bytes);
	return qr_json_end(&json);
}

static int fail(const struct qr_context *ctx, const char *new, const simidx_error *err)
{
	char word[TL_PATH_WORD_SIZE];

	if (err->code == SIMIDX_E_STOPPED)
		return tl_error("stopped by a signal; nothing has changed");
	if (new && err->code == SIMIDX_E_EXISTS)
		return tl_error("%s: exists already; without NEW an index is compacted in its "
				"place", new);
	if (new && tl_begins_with_path(err, new))
		return tl_error("%s", err->text);
	qr_fail(ctx, err);
	if (err->code == SIMIDX_E_UNKNOWN && !new)
		tl_notice("%s: the old index is still beside it; 'simidx-query compact %s' removes "
			  "it",
			  ctx->path, tl_path_word(ctx->path, word));
	if (err->code == SIMIDX_E_NO_SPACE || err->code == SIMIDX_E_IO ||
	    err->code == SIMIDX_E_NOMEM)
		tl_notice("%s: nothing has changed", ctx->path);
	return TL_TROUBLE;
}

static int run_compact(struct qr_context *ctx)
{
	simidx_compact_options how = SIMIDX_COMPACT_OPTIONS_INIT;
	simidx_compact_report report = SIMIDX_COMPACT_REPORT_INIT;
	const char *new = ctx->operands[0]; /* NULL: in place */
	simidx_error err;
	int rc;

	if (ctx->is_static && !new)
		return tl_usage_error("--static: to compact in place is to write; name a NEW");
	tl_stop_on_signals();
	how.plan = options.plan;
	how.fill = options.fill;
	how.memory = options.memory;
	how.tmpdir = tl_path_temporary(options.tmpdir, NULL);
	how.threads = ctx->threads;
	how.wait_ms = options.wait_ms;
	how.flags = qr_open_flags(ctx);
	how.progress = tl_progress_wanted() ? tl_progress_phase : NULL;
	how.stop = tl_stop_wanted;
	/*
	 * While NEW is made, another index may take the place of INDEX: then that one is compacted.
	 */
	do
		rc = simidx_compact(ctx->path, new, &how, &report, &err);
	while (rc == SIMIDX_E_MOVED && new && !tl_stop_requested());
	tl_progress_clear();
	return rc ? fail(ctx, new, &err) : print_report(ctx, new ? new : ctx->path, &report);
}

static const struct tl_option rows[] = {
	{ 0, "plan", "PLAN", TL_TEXT(struct options, plan),
	  .help = "change it: 4x16, 10x26, 16x28, 20x31, 3x22, 2x32, auto",
	  .more = "Change which sorted tables the index has: 4x16, 10x26, 16x28, 20x31, 3x22, "
		  "2x32, or auto: by the number of documents. 'simidx-query plan' compares them." },
	{ 0, "fill", "PERCENT", TL_NUMBER(struct options, fill, 50, 100),
	  .help = "change how full blocks are made, 50..100" },
	{ 0, "memory", "SIZE", TL_SIZE(struct options, memory, MIN_MEMORY, SIZE_MAX / 2),
	  .standard = "1G", .help = "memory to work in, at least 64M",
	  .more = "Memory to work in, at least 64M; K, M, G and T are binary." },
	{ 0, "tmpdir", "DIR", TL_TEXT(struct options, tmpdir),
	  .otherwise = "$TMPDIR, or beside NEW",
	  .help = "where temporary files are made" },
	{ 0, "wait", "MS", TL_NUMBER(struct options, wait_ms, 0, INT_MAX),
	  .otherwise = "no limit", .help = "longest wait for another writer",
	  .more = "The longest wait, in milliseconds, for another process that writes the "
		  "index." },
	{ TL_SECTION("What happens") },
	{ TL_PARAGRAPH("A new index is built from the documents of INDEX, with everything merged. "
		       "The bytes of documents that were deleted or replaced can still stand in "
		       "the file of INDEX, in pages that are free; they are not in the new one. "
		       "Ids, labels, times, notes, the next id, the profile, the mark of "
		       "simidx-load --resume, the layout and the permissions stay.") },
	{ TL_PARAGRAPH("Without NEW the new index takes the place of the old one in one step, and "
		       "the old files are removed. Programs that read go on; programs that write "
		       "wait, or get an error that the index is locked. If the command is killed, "
		       "INDEX is the old index or the new one. Beside INDEX there must be room for "
		       "the new index and for temporary files.") },
	{ TL_PARAGRAPH("With NEW the index INDEX is only read. NEW must not exist or be an empty "
		       "directory, and appears only when it is complete.") },
	{ TL_PARAGRAPH("The index is verified before, and the new one before it is put in its "
		       "place: of a damaged index nothing is made. The disk may keep the bytes of "
		       "removed files until it needs their place, and backups are left alone.") },
	{ TL_SECTION("Output") },
	{ TL_PARAGRAPH("A line on standard error with the size of the file before and after. With "
		       "--json an object on standard output, with the members documents, old_bytes "
		       "and new_bytes.") },
	{ TL_SECTION("Examples") },
	{ TL_EXAMPLE("simidx-query compact index", "Remove what was deleted from the file.") },
	{ TL_EXAMPLE("simidx-query compact index --plan 3x22 --fill 100 archive",
		     "Make a smaller copy for an archive.") },
	{ TL_SECTION("Exit status") },
	{ TL_PARAGRAPH("0: compacted. 2: not compacted, and INDEX is as it was; or compacted, as a "
		       "message says then, but the disk did not confirm that the new index stays "
		       "there after a power cut.") },
	{ 0 },
};

const struct qr_command qr_compact = {
	.line = { .name = "compact", .operands = "INDEX [NEW]", .least = 1, .most = 2,
		  .shortest = "INDEX",
		  .summary = "build an index anew, without what was deleted",
		  .about = "Build the index anew from its documents, so that nothing of deleted "
			   "ones is left in its file. In place, or as the new index NEW.",
		  .options = rows, .program = &qr_program },
	.options = &options, .run = run_compact,
};
