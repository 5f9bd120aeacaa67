/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "query/qr_command.h"

#include "common/tl_msg.h"
#include "common/tl_number.h"
#include "common/tl_report.h"
#include "input/in_reader.h"
#include "query/qr_full.h"
#include "query/qr_hbase.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <simidx_info.h>
#include <simidx_walk.h>

/* One of the two tables: a directory with one file, as Import takes directories. */
struct part {
	const char *name;
	char dir[PATH_MAX], path[PATH_MAX + 16], unfinished[PATH_MAX + 16];
	FILE *out;
	struct qr_sequence file;
};

struct export {
	const char *dir;
	struct part index, documents;
	struct qr_hbase hbase;
};

enum format { HBASE_SEQUENCE };

static const char *const formats[] = { "hbase-sequence", NULL };

static struct options {
	int format; /* enum format */
	const char *plan;
} options;

/* ---- files ---- */

static int open_part(const struct export *export, struct part *part, const char *name)
{
	part->name = name;
	if (snprintf(part->dir, sizeof(part->dir), "%s/%s", export->dir, name) >=
	    (int)sizeof(part->dir))
		return tl_error("%s: too long a path", export->dir);
	snprintf(part->path, sizeof(part->path), "%s/part-00000", part->dir);
	/* Hadoop passes over names that begin so. */
	snprintf(part->unfinished, sizeof(part->unfinished), "%s/_part-00000", part->dir);
	if (mkdir(part->dir, 0777))
		return tl_error("%s: cannot be made: %s", part->dir, strerror(errno));
	part->out = fopen(part->unfinished, "wbxe");
	if (!part->out || qr_sequence_begin(&part->file, part->out))
		return tl_error("%s: cannot write: %s", part->unfinished, strerror(errno));
	return 0;
}

static int open_parts(struct export *export)
{
	int code;

	if (mkdir(export->dir, 0777))
		return errno == EEXIST
			       ? tl_error("%s: exists already; DIR is to be a new one", export->dir)
			       : tl_error("%s: cannot be made: %s%s", export->dir, strerror(errno),
				       tl_report_advise(errno));
	code = open_part(export, &export->index, "index");
	if (!code)
		code = open_part(export, &export->documents, "docs");
	export->hbase.index = &export->index.file;
	export->hbase.documents = &export->documents.file;
	return code;
}

/* Everything is on the disk, and has its name. */
static int end_part(struct part *part)
{
	int failed = fflush(part->out) || fdatasync(fileno(part->out));

	failed |= fclose(part->out) != 0;
	part->out = NULL;
	if (failed || rename(part->unfinished, part->path))
		return tl_error("%s: cannot write: %s", part->path, strerror(errno));
	return 0;
}

/* Half of an export is nothing. */
static void remove_part(struct part *part)
{
	if (!part->name)
		return;
	if (part->out)
		fclose(part->out);
	unlink(part->unfinished);
	unlink(part->path);
	rmdir(part->dir);
}

/* ---- documents ---- */

static int write_failed(const struct export *export)
{
	return ferror(export->index.out) || ferror(export->documents.out);
}

static int put_documents(struct qr_context *ctx, struct export *export, simidx_walk *walk)
{
	simidx_match document;
	simidx_error err;
	int rc = 0;

	while (!(rc = simidx_walk_next(walk, &document, &err))) {
		rc = qr_hbase_put(&export->hbase, &document, &err);
		if (rc || write_failed(export) || tl_stop_requested())
			break;
		if (export->hbase.count % 1024 == 0)
			qr_show_documents(ctx, "export", export->hbase.count);
	}
	tl_progress_clear();
	if (tl_stop_requested())
		return tl_error("stopped by a signal");
	if (rc && rc != SIMIDX_E_END)
		return qr_fail_damaged(ctx, &err);
	return write_failed(export) ? tl_error("%s: cannot write: %s", export->dir, strerror(errno))
				    : 0;
}

static int put_all(struct qr_context *ctx, struct export *export)
{
	simidx_info info = SIMIDX_INFO_INIT;
	struct qr_mark mark = { .size = 0 };
	simidx_walk *walk = NULL;
	simidx_error err;
	int rc, code;

	rc = qr_full_mark(ctx, &mark, &err);
	if (!rc)
		rc = simidx_walk_open(ctx->index, &walk, &err);
	if (!rc)
		rc = simidx_get_info(ctx->index, &info, &err);
	if (!rc)
		export->hbase.next_id = info.next_id;
	code = rc ? qr_fail_damaged(ctx, &err) : put_documents(ctx, export, walk);
	simidx_walk_close(walk);
	if (!code && qr_hbase_end(&export->hbase, mark.bytes, mark.size, &err))
		code = qr_fail(ctx, &err);
	if (!code)
		code = end_part(&export->index);
	if (!code)
		code = end_part(&export->documents);
	return code;
}

/* ---- the command ---- */

static int check(const struct qr_context *ctx, struct export *export)
{
	if (ctx->info.flags & SIMIDX_CREATE_NO_IDS)
		return tl_error("%s: has no ids, and rows in HBase need them", ctx->path);
	if (ctx->info.flags & SIMIDX_CREATE_TIMES)
		return tl_error("%s: keeps times, and an index in HBase keeps no times", ctx->path);
	if (ctx->info.flags & SIMIDX_CREATE_NOTES)
		return tl_error("%s: keeps notes, and an index in HBase keeps no notes", ctx->path);
	export->hbase.plan = options.plan ? options.plan : ctx->info.plan;
	if (qr_hbase_has_plan(export->hbase.plan))
		return 0;
	return tl_usage_error("the plan %s is none for HBase: --plan "
			      "%s", export->hbase.plan, QR_HBASE_PLANS);
}

static void tell(const struct export *export)
{
	tl_notice("%s: %s documents for HBase: %s rows for the table that is searched, %s for that "
		  "of the documents", export->dir, tl_count(export->hbase.count),
		  tl_count(export->hbase.n_index), tl_count(export->hbase.n_documents));
}

static int run_export(struct qr_context *ctx)
{
	static struct export export;
	struct timespec now;
	int code;

	export.dir = ctx->operands[0];
	if (access(export.dir, F_OK) && in_format_of_path(export.dir, NULL) != &in_format_text)
		return tl_usage_error("%s: is a name of rows, and DIR a directory for HBase; "
				      "'simidx-query dump INDEX' prints rows", export.dir);
	code = qr_open(ctx);
	if (!code)
		code = check(ctx, &export);
	if (code)
		return code;
	clock_gettime(CLOCK_REALTIME, &now);
	export.hbase.timestamp = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
	export.hbase.bits = ctx->info.bits;
	export.hbase.has_fp2 = (ctx->info.flags & SIMIDX_CREATE_FP2) != 0;
	tl_stop_on_signals();
	code = open_parts(&export);
	if (!code)
		code = put_all(ctx, &export);
	if (!code) {
		tell(&export);
		return TL_OK;
	}
	remove_part(&export.index);
	remove_part(&export.documents);
	if (export.index.name)
		rmdir(export.dir);
	return code;
}

static const struct tl_option rows[] = {
	{ 0, "format", "hbase-sequence", TL_WORD(struct options, format, formats),
	  .standard = "hbase-sequence", .help = "for which program",
	  .more = "For which program. hbase-sequence: SequenceFiles in the form of HBase's Export, "
		  "for its Import: DIR/index for the table that is searched, DIR/docs for that of "
		  "the documents. doc/hbase-load.md has the commands." },
	{ 0, "plan", "PLAN", TL_TEXT(struct options, plan),
	  .otherwise = "that of the index", .help = "of the index in HBase: " QR_HBASE_PLANS,
	  .more = "The plan of the index in HBase, which decides how many rows a document has: "
		  QR_HBASE_PLANS "." },
	{ TL_SECTION("Examples") },
	{ TL_EXAMPLE("simidx-query export index /tmp/rows",
		     "All rows of the index in HBase, for a bulk load of many documents.") },
	{ TL_SECTION("Exit status") },
	{ TL_PARAGRAPH("0: exported. 1: damage was found, and nothing is left at DIR. 2: anything "
		       "else, and nothing is left at DIR.") },
	{ 0 },
};

const struct qr_command qr_export = {
	.line = { .name = "export", .operands = "INDEX DIR", .least = 2, .most = 2,
		  .shortest = "INDEX DIR",
		  .summary = "write an index as files for the bulk load of a database",
		  .about = "Write one snapshot of the index, which may be in use, as files that "
			   "other programs load into a database at once. DIR is made, and must not "
			   "exist. An index with times or notes is refused, as one in HBase keeps "
			   "neither.",
		  .options = rows, .program = &qr_program },
	.options = &options, .run = run_export,
};
