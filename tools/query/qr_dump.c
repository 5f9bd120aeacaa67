/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "query/qr_command.h"

#include "common/tl_escape.h"
#include "common/tl_msg.h"
#include "common/tl_options.h"
#include "query/qr_json.h"

#include <stdio.h>

static void print_tsv(const struct qr_context *ctx, const simidx_match *document)
{
	qr_print_id(stdout, document->id);
	putchar('\t');
	qr_print_fingerprint(stdout, document->fp, ctx->info.bits);
	putchar('\t');
	if (document->label)
		tl_put_escaped(stdout, document->label, document->label_size);
	putchar('\n');
}

static int dump(struct qr_context *ctx, int json)
{
	simidx_match document;
	simidx_error err;
	simidx_walk *walk;
	int rc, code = 0;

	if (qr_open(ctx))
		return TL_TROUBLE;
	do
		rc = simidx_walk_open(ctx->index, &walk, &err);
	while (qr_again(ctx, rc, &err));
	if (rc)
		return qr_fail(ctx, &err);
	while (!code && !tl_output_failed()) {
		rc = simidx_walk_next(walk, &document, &err);
		if (rc == SIMIDX_E_END)
			break;
		if (rc)
			code = qr_fail(ctx, &err);
		else if (json)
			code = qr_json_document(ctx, &document);
		else
			print_tsv(ctx, &document);
	}
	simidx_walk_close(walk);
	return code;
}

/* Options without a letter. */
enum long_option { OPT_FORMAT = TL_LONG_OPTION, OPT_HELP };

static int run_dump(struct qr_context *ctx, int argc, char **argv)
{
	static const struct option options[] = {
		{ "format", required_argument, NULL, OPT_FORMAT },
		{ "help", no_argument, NULL, OPT_HELP },
		{ NULL, 0, NULL, 0 },
	};
	static const char *const formats[] = { "tsv", "jsonl", NULL };
	int json = ctx->json;
	int c;

	while ((c = tl_next_option(argc, argv, ":", options)) != TL_OPTION_END) {
		if (c == OPT_HELP)
			return qr_print_help(&qr_dump);
		if (c == TL_OPTION_BAD)
			return TL_TROUBLE;
		json = tl_option_word("--format", optarg, formats);
		if (json < 0)
			return TL_TROUBLE;
	}
	if (optind != argc)
		return tl_usage_error("dump takes no arguments, found %d", argc - optind);
	return dump(ctx, json);
}

static const char *const help[] = {
	"Print all documents of one snapshot by ascending id, in a form that simidx-load",
	"takes back. An index without ids gives its distinct fingerprints, ascending.",
	"",
	"  --format tsv    id, fingerprint, label, separated by tabs; the label has the",
	"                  escapes \\t \\n \\r \\\\ \\xHH (default, except with --json)",
	"  --format jsonl  objects with id, label, fp, and fp2 where the index has it; a",
	"                  label that is not UTF-8 is hexadecimal in label_hex",
	"  --help          print this and stop",
	NULL
};

const struct qr_command qr_dump = { "dump", "[--format tsv|jsonl]",
				    "all documents, to be loaded again", run_dump, help };
