/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "query/qr_command.h"

#include "common/tl_msg.h"
#include "common/tl_number.h"
#include "query/qr_print.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

/* What the operands are. */
enum get_by { BY_FINGERPRINT, BY_ID, BY_LABEL };

/* A look-up: the operand as the query, and what it found. */
struct look_up {
	struct qr_query query;
	char fp_text[QR_FP_SIZE];
	simidx_match match;
	simidx_results found;
};

static int by_fingerprint(const struct qr_context *ctx, simidx_reader *reader,
			  struct look_up *look, simidx_error *err)
{
	simidx_query query = SIMIDX_QUERY_INIT;
	int rc;

	query.fp = look->query.fp;
	query.radius = 0;
	query.flags = SIMIDX_QUERY_LABELS;
	rc = simidx_reader_search(reader, &query, &look->found, err);
	look->query.name_size = qr_format_fingerprint(look->fp_text, query.fp, ctx->info.bits);
	look->query.name = look->fp_text;
	return !rc && look->found.n == 0 ? SIMIDX_E_NOT_FOUND : rc;
}

/* Tell what is wrong with an operand. Returns whether it is one that can be looked up. */
static int read_operand(const struct qr_context *ctx, enum get_by by, const char *operand,
			uint64_t *number)
{
	char reason[256];
	size_t size = strlen(operand);

	if (by == BY_ID && tl_parse_decimal(operand, size, SIMIDX_MAX_ID, number)) {
		tl_error("%s: expected an id, a decimal number in 0..%llu; several with blanks "
			 "between; %s", operand, (unsigned long long)SIMIDX_MAX_ID,
			 strcmp(operand, "-") && access(operand, F_OK) ? "a label: --label" :
			 "xargs simidx-query get --id INDEX reads a list");
		return 0;
	}
	if (by == BY_FINGERPRINT &&
	    tl_parse_fingerprint(operand, size, ctx->info.bits, "fingerprint", number, reason,
				 sizeof(reason))) {
		tl_error("%s: %s (a label: --label; an id: --id)", operand, reason);
		return 0;
	}
	return 1;
}

static int find(const struct qr_context *ctx, simidx_reader *reader, enum get_by by,
		uint64_t number, struct look_up *look, simidx_error *err)
{
	const struct qr_query *query = &look->query;

	if (by == BY_ID)
		return simidx_reader_find_id(reader, number, &look->match, err);
	if (by == BY_LABEL)
		return simidx_reader_find_label(reader, query->name, query->name_size, &look->match,
					err);
	return by_fingerprint(ctx, reader, look, err);
}

/* In the index that is at the path now, with a reader of it. */
static int look_up(struct qr_context *ctx, simidx_reader **reader, enum get_by by,
		   uint64_t number, struct look_up *look, simidx_error *err)
{
	int rc;

	do {
		rc = *reader ? 0 : simidx_reader_open(ctx->index, reader, err);
		if (!rc)
			rc = find(ctx, *reader, by, number, look, err);
		if (rc == SIMIDX_E_MOVED) {
			simidx_reader_close(*reader);
			*reader = NULL;
		}
	} while (qr_again(ctx, rc, err));
	return rc;
}

static int has_times(const struct qr_context *ctx)
{
	return (ctx->info.flags & SIMIDX_CREATE_TIMES) != 0;
}

/* Look up one operand and print it. Returns an exit code as far as this operand goes. */
static int get_one(struct qr_context *ctx, simidx_reader **reader, enum get_by by,
		   const char *operand, int *stop)
{
	struct look_up look = { .query = { .name = operand, .name_size = strlen(operand) },
				.found = SIMIDX_RESULTS_INIT };
	simidx_error err;
	uint64_t number = 0;
	int rc;

	if (!read_operand(ctx, by, operand, &number))
		return TL_TROUBLE;
	look.query.has_time = has_times(ctx);
	look.query.has_fp = by == BY_FINGERPRINT;
	look.query.fp = number;
	rc = look_up(ctx, reader, by, number, &look, &err);
	if (!rc && by != BY_FINGERPRINT) {
		look.found.matches = &look.match;
		look.found.n = 1;
	}
	if (rc == SIMIDX_E_NOT_FOUND) {
		tl_notice("%s: not found%s", operand,
			  by == BY_FINGERPRINT && !tl_parse_decimal(operand, strlen(operand),
								    SIMIDX_MAX_ID, &number) ?
				  " as a fingerprint; --id reads it as an id" :
			  by == BY_FINGERPRINT ? " as a fingerprint; --label reads it as a label" :
			  by == BY_LABEL ? "; labels are compared whole, and dump lists them" :
				   "; dump lists all ids");
	} else if (rc) {
		*stop = 1;
		return qr_fail(ctx, &err);
	}
	*stop = qr_print_results(stdout, ctx, &look.query, &look.found, 0);
	return look.found.n ? TL_OK : TL_PARTLY;
}

static int get_all(struct qr_context *ctx, enum get_by by)
{
	simidx_reader *reader = NULL;
	int code = TL_OK, stop = 0, one, i;

	if (qr_open(ctx))
		return TL_TROUBLE;
	qr_print_header(ctx, &(struct qr_query){ .show = QR_SHOW_MATCHES,
						 .has_time = has_times(ctx) });
	for (i = 0; i < ctx->n_operands && !stop; i++) {
		one = get_one(ctx, &reader, by, ctx->operands[i], &stop);
		if (one > code)
			code = one;
	}
	simidx_reader_close(reader);
	return code;
}

/* ---- the command ---- */

static struct options {
	int id;
	int label;
} options;

static int run_get(struct qr_context *ctx)
{
	if (options.id && options.label)
		return tl_usage_error("--id and --label exclude each other");
	return get_all(ctx, options.id ? BY_ID : options.label ? BY_LABEL : BY_FINGERPRINT);
}

static const struct tl_option rows[] = {
	{ TL_SECTION("What the arguments are") },
	{ 0, "id", NULL, TL_FLAG(struct options, id), .help = "ids" },
	{ 0, "label", NULL, TL_FLAG(struct options, label), .help = "labels",
	  .more = "Labels, compared byte by byte." },
	{ TL_SECTION("Output") },
	{ TL_PARAGRAPH("As for search: query, id, fingerprint, distance (0) and label. In an index "
		       "with times a sixth column has the time, such as 2026-11-26T08:15:00Z; it "
		       "is empty where it is not known, and JSON has no member time then.") },
	{ TL_SECTION("Examples") },
	{ TL_EXAMPLE("simidx-query get index --label articles/1.txt",
		     "The document of this label.") },
	{ TL_EXAMPLE("simidx-query get index 91b7584a2265b1f5",
		     "All documents with exactly this fingerprint.") },
	{ TL_SECTION("Exit status") },
	{ TL_PARAGRAPH("0: all were found. 1: something was not found. 2: error.") },
	{ 0 },
};

const struct qr_command qr_get = {
	.line = { .name = "get", .operands = "INDEX KEY...", .least = 2, .most = INT_MAX,
		  .shortest = "INDEX --id 0",
		  .summary = "print documents by fingerprint, id or label",
		  .about = "Print the documents that have exactly these fingerprints or, with an "
			   "option, these ids or labels. What an argument is, is never guessed.",
		  .options = rows, .program = &qr_program },
	.options = &options, .run = run_get,
};
