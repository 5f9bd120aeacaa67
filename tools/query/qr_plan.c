/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "common/tl_example.h"
#include "common/tl_index.h"
#include "common/tl_msg.h"
#include "query/qr_json.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What is asked: the options, and what an index says instead. */
static struct request {
	const char *plan;    /* of the index; NULL = none was given */
	uint64_t documents;  /* 0 until it is known */
	unsigned bits;       /* likewise */
	unsigned radius;
} request = { .radius = SIMIDX_DEFAULT_RADIUS };

/* Whether it is about the plan that the index has. */
static int is_of_index(const simidx_prediction *one)
{
	return request.plan && strcmp(request.plan, one->plan) == 0;
}

/* A number of bytes in a unit that leaves few digits. */
static void print_bytes(double bytes, int width)
{
	static const char *const units[] = { "B", "kB", "MB", "GB", "TB", "PB" };
	size_t i = 0;

	for (; bytes >= 999.95 && i + 1 < sizeof(units) / sizeof(units[0]); i++)
		bytes /= 1000;
	printf(" %*.1f %-2s", width - 3, bytes, units[i]);
}

static void print_prediction(const simidx_prediction *one)
{
	printf("%-6s %6u %8.1f %8.1f", one->plan, one->n_tables, one->table_bytes, one->bytes);
	print_bytes(one->bytes * (double)request.documents, 9);
	printf(" %8s %13s %10.2f%s%s\n", tl_term_count((uint64_t)one->probes),
	       tl_term_count((uint64_t)(one->candidates + 0.5)), one->microseconds,
	       is_of_index(one) ? " *" : "", one->is_auto ? " +" : "");
}

static void print_header(void)
{
	printf("%s documents of %u bits, radius %u\n\n", tl_term_count(request.documents),
	       request.bits, request.radius);
	printf("%31s\n%-6s %6s %8s %8s %9s %8s %13s %10s\n", "bytes a document", "plan", "tables",
	       "tables", "all", "in all", "probes", "candidates", "us a query");
}

static void print_notes(void)
{
	putchar('\n');
	if (request.plan)
		puts("*  The plan of this index.");
	puts("+  What '--plan auto' takes for this many documents.\n"
	     "\n"
	     "Labels are not counted: each takes its length and about 45 bytes. Predicted for\n"
	     "fingerprints that are spread evenly, everything in memory, and a server of 2024\n"
	     "(Zen 4): on other machines times differ, but the plans compare alike.");
}

static int print_json(const simidx_prediction *one)
{
	struct tl_json json = tl_json_line(stdout);

	tl_json_string(&json, "plan", one->plan);
	tl_json_unsigned(&json, "documents", request.documents);
	tl_json_unsigned(&json, "bits", request.bits);
	tl_json_unsigned(&json, "radius", request.radius);
	tl_json_unsigned(&json, "tables", one->n_tables);
	tl_json_real(&json, "table_bytes", one->table_bytes);
	tl_json_real(&json, "bytes", one->bytes);
	tl_json_real(&json, "bytes_in_all", one->bytes * (double)request.documents);
	tl_json_real(&json, "probes", one->probes);
	tl_json_real(&json, "candidates", one->candidates);
	tl_json_real(&json, "microseconds", one->microseconds);
	tl_json_bool(&json, "auto", one->is_auto != 0);
	if (request.plan)
		tl_json_bool(&json, "of_index", is_of_index(one));
	return qr_json_end(&json);
}

static int plan(const struct qr_context *ctx)
{
	simidx_prediction one = SIMIDX_PREDICTION_INIT;
	simidx_error err;
	int rc, code = 0;

	for (unsigned i = 0; !code; i++) {
		rc = simidx_plan_predict(i, request.bits, request.documents, request.radius,
					 &one, &err);
		if (rc == SIMIDX_E_END)
			break;
		if (rc)
			return tl_index_error(NULL, &err);
		if (!i && !ctx->json)
			print_header();
		if (ctx->json)
			code = print_json(&one);
		else
			print_prediction(&one);
	}
	if (!ctx->json)
		print_notes();
	return code;
}

/* What an index has is not asked for again. */
static int take_from_index(struct qr_context *ctx, const char *path)
{
	if (qr_set_index(ctx, path) || qr_open(ctx))
		return TL_TROUBLE;
	if (!request.documents)
		request.documents = ctx->info.documents;
	if (!request.bits)
		request.bits = ctx->info.bits;
	request.plan = ctx->info.plan;
	return 0;
}

static int run_plan(struct qr_context *ctx)
{
	const char *path = ctx->operands[0];

	if (path && strchr("123456789", *path) && *path && access(path, F_OK))
		return tl_usage_error("plan: --documents %s says how many there are", path);
	if (path && take_from_index(ctx, path))
		return TL_TROUBLE;
	if (!request.bits)
		request.bits = SIMIDX_DEFAULT_BITS;
	if (!request.documents) {
		tl_example_complete();
		return tl_usage_error("plan: expected --documents N or an INDEX that has some");
	}
	if (request.radius > request.bits)
		return tl_usage_error("--radius: expected a number in 0..%u, found '%u'",
				      request.bits, request.radius);
	return plan(ctx);
}

static const struct tl_option rows[] = {
	{ 0, "documents", "N", TL_COUNT(struct request, documents, 1, SIMIDX_MAX_ID),
	  .otherwise = "those of INDEX", .help = "how many documents, such as 20M",
	  .more = "How many documents there will be, such as 20M." },
	{ 'k', "radius", "K", TL_NUMBER(struct request, radius, 0, SIMIDX_MAX_RADIUS),
	  .otherwise = TL_STRING(SIMIDX_DEFAULT_RADIUS),
	  .help = "queries allow K bits to differ, 0..64" },
	{ 0, "bits", "F",
	  TL_NUMBER(struct request, bits, SIMIDX_MIN_BITS, SIMIDX_MAX_BITS),
	  .otherwise = "those of INDEX, else " TL_STRING(SIMIDX_DEFAULT_BITS),
	  .help = "bits of a fingerprint, 16..64" },
	{ TL_SECTION("Output") },
	{ TL_PARAGRAPH("A line for each plan: its tables, the bytes of these and of all but labels "
		       "for each document, the bytes of all documents, and for a query its probes, "
		       "candidates and microseconds. An asterisk marks the plan of INDEX, a plus "
		       "sign what --plan auto takes.\n"
		       "With --json: an object for each plan with the members plan, documents, "
		       "bits, radius, tables, table_bytes and bytes (for each document), "
		       "bytes_in_all, probes, candidates, microseconds, auto and, of an INDEX, "
		       "of_index.") },
	{ TL_SECTION("Exit status") },
	{ TL_PARAGRAPH("0: printed. 2: anything else.") },
	{ TL_SECTION("Examples") },
	{ TL_EXAMPLE("simidx-query plan --documents 100M",
		     "Compare the plans for 100,000,000 documents, before anything is loaded.") },
	{ TL_EXAMPLE("simidx-query plan -k 7 index", "What each plan would need for this index.") },
	{ 0 },
};

const struct qr_command qr_plan = {
	.line = { .name = "plan", .operands = "[INDEX]", .most = 1,
		  .shortest = "--documents 1M",
		  .summary = "predict the size and speed of each plan",
		  .about = "Predict what each plan needs for N documents: its tables, the bytes of "
			   "these and of everything for each document; and for a query of radius K "
			   "the ranges that are looked up, the fingerprints that are compared, and "
			   "the time, with everything in memory.",
		  .options = rows, .program = &qr_program },
	.options = &request, .run = run_plan,
};
