/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "query/qr_command.h"

#include "common/tl_escape.h"
#include "common/tl_msg.h"
#include "common/tl_output.h"
#include "query/qr_full.h"
#include "query/qr_json.h"

#include <stdio.h>

#include <simidx_info.h>
#include <simidx_walk.h>

enum format { TSV, JSONL, FULL };

static const char *const formats[] = { "tsv", "jsonl", "full", NULL };

static struct options {
	int format; /* enum format; -1 = not given */
} options = { .format = -1 };

static void print_tsv(const struct qr_context *ctx, const simidx_match *document)
{
	qr_print_id(stdout, document->id);
	putchar('\t');
	qr_print_fingerprint(stdout, document->fp, ctx->info.bits);
	putchar('\t');
	if (document->label)
		tl_put_escaped(stdout, document->label, document->label_size);
	if (ctx->info.flags & SIMIDX_CREATE_TIMES) {
		putchar('\t');
		qr_print_time(stdout, document);
	}
	putchar('\n');
}

/*
 * Begin a walk; of a full dump print the first line. Documents that come meanwhile do no harm: the
 * next id is read after the walk has begun, so that it is above all ids in it, and the mark before.
 */
static int begin(struct qr_context *ctx, int is_full, simidx_walk **walk, simidx_error *err)
{
	struct qr_mark mark;
	simidx_info info;
	int rc;

	do {
		mark.size = 0;
		info = (simidx_info)SIMIDX_INFO_INIT;
		rc = is_full ? qr_full_mark(ctx, &mark, err) : 0;
		if (!rc)
			rc = simidx_walk_open(ctx->index, walk, err);
		if (!rc && is_full)
			rc = simidx_get_info(ctx->index, &info, err);
		if (rc) {
			simidx_walk_close(*walk);
			*walk = NULL;
		}
	} while (qr_again(ctx, rc, err));
	if (!rc && is_full)
		qr_full_first(&info, &mark);
	return rc;
}

static int dump(struct qr_context *ctx, enum format format)
{
	double started = tl_seconds();
	simidx_walk *walk = NULL;
	simidx_match document;
	simidx_error err;
	uint64_t done = 0;
	const void *note = NULL;
	size_t note_size = 0;
	int rc, code = 0;

	rc = qr_try_open(ctx, &err);
	if (!rc)
		rc = begin(ctx, format == FULL, &walk, &err);
	if (rc)
		return qr_fail_damaged(ctx, &err);
	if (ctx->width && format == TSV)
		printf("id\tfingerprint\tlabel%s\n",
		       ctx->info.flags & SIMIDX_CREATE_TIMES ? "\ttime" : "");
	while (!code && !tl_output_failed()) {
		rc = simidx_walk_next(walk, &document, &err);
		if (rc == SIMIDX_E_END)
			break;
		if (!rc && format == FULL && ctx->info.flags & SIMIDX_CREATE_NOTES)
			rc = simidx_walk_note(walk, &note, &note_size, &err);
		if (rc)
			code = qr_fail_damaged(ctx, &err);
		else if (format != TSV)
			code = qr_json_document(ctx, &document, note, note_size);
		else
			print_tsv(ctx, &document);
		done += !rc;
		/* For somebody who waits while the documents go elsewhere. */
		if (!ctx->width && done % 1024 == 0 && tl_seconds() - started >= 1)
			qr_show_documents(ctx, "dump", done);
	}
	simidx_walk_close(walk);
	if (!code && rc == SIMIDX_E_END && format == FULL)
		code = qr_full_last(done);
	return code;
}

static int run_dump(struct qr_context *ctx)
{
	if (ctx->json && options.format == TSV)
		return tl_usage_error("--json and --format tsv exclude each other");
	if (options.format < 0)
		options.format = ctx->json ? JSONL : TSV;
	return dump(ctx, (enum format)options.format);
}

static const struct tl_option rows[] = {
	{ 0, "format", "tsv|jsonl|full", TL_WORD(struct options, format, formats),
	  .otherwise = "tsv, with --json jsonl", .help = "how rows are written",
	  .more = "How rows are written. tsv: id, fingerprint "
		  "and label, separated by tabs; the label has the escapes \\t \\n \\r \\\\ "
		  "\\xHH. An index with times has a fourth column, time, such as "
		  "2026-11-26T08:15:00Z, empty where it is not known. jsonl: objects with the "
		  "members id, label, fp, fp2 where the index has it (null where repair has "
		  "not found it), and time where it is known; a label that is not UTF-8 is "
		  "hexadecimal in label_hex. full: a first line with all that the index is "
		  "besides its documents: bits, profile, next_id, the mark of a program and "
		  "more; the documents as in jsonl; and a last line with their number." },
	{ TL_SECTION("Examples") },
	{ TL_EXAMPLE("simidx-query dump index | simidx-load -F dump copy -",
		     "Build another index of the same documents.") },
	{ TL_EXAMPLE("simidx-query dump --format full index | simidx-load -F full copy -",
		     "The same with all that the index is: profile, second fingerprints, times, "
		     "notes, next id.") },
	{ TL_EXAMPLE("simidx-query dump index | simidx-query search -F dump index -",
		     "All near documents of each document of the index.") },
	{ TL_SECTION("Exit status") },
	{ TL_PARAGRAPH("0: all documents are printed, and what was read of them is sound. 1: "
		       "damage was found, and only a part is printed, or nothing; that damage of "
		       "labels is found after the last document. 2: anything else.") },
	{ 0 },
};

const struct qr_command qr_dump = {
	.line = { .name = "dump", .operands = "INDEX", .least = 1, .most = 1,
		  .shortest = "INDEX",
		  .summary = "print all documents, to be loaded again",
		  .about = "Print all documents of one snapshot by ascending id, in a form that "
			   "simidx-load takes back: with --format full as the same index, "
			   "otherwise as one of bare fingerprints, in which no texts can be "
			   "searched. An index without ids gives its distinct fingerprints, "
			   "ascending.",
		  .options = rows, .program = &qr_program },
	.options = &options, .run = run_dump,
};
