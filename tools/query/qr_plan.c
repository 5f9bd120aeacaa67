/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "query/qr_plan.h"

#include "common/tl_msg.h"
#include "common/tl_options.h"
#include "query/qr_command.h"
#include "query/qr_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A number of bytes in a unit that leaves few digits. */
static void print_bytes(double bytes, int width)
{
	static const char *const units[] = { "B", "kB", "MB", "GB", "TB", "PB" };
	size_t i = 0;

	for (; bytes >= 999.95 && i + 1 < sizeof(units) / sizeof(units[0]); i++)
		bytes /= 1000;
	printf("  %*.1f %-2s", width - 3, bytes, units[i]);
}

static void print_predictions(const simidx_prediction *of, size_t n,
			      const struct qr_plan_request *request)
{
	size_t i;

	printf("%llu documents of %u bits, radius %u\n\n", (unsigned long long)request->documents,
	       request->bits, request->radius);
	printf("%-6s  %6s  %14s  %12s  %10s  %10s  %14s  %12s\n", "plan", "tables", "bytes, tables",
	       "bytes, all", "in all", "probes", "candidates", "us a query");
	for (i = 0; i < n; i++) {
		printf("%-6s  %6u  %14.1f  %12.1f", of[i].plan, of[i].n_tables, of[i].table_bytes,
		       of[i].bytes);
		print_bytes(of[i].bytes * (double)request->documents, 10);
		printf("  %10.0f  %14.0f  %12.2f\n", of[i].probes, of[i].candidates,
		       of[i].microseconds);
	}
	puts("\nBytes are those of a document. Predicted for fingerprints that are spread evenly,\n"
	     "everything in memory, and a server of 2024 (Zen 4): other machines take longer or\n"
	     "less, but the plans compare alike.");
}

/* All predictions; *out is for free(). Returns 0 or TL_TROUBLE. */
static int predict(const struct qr_plan_request *request, simidx_prediction **out, size_t *n)
{
	simidx_prediction one = SIMIDX_PREDICTION_INIT, *all = NULL, *larger;
	simidx_error err;
	int rc;

	*out = NULL;
	*n = 0;
	while (!(rc = simidx_plan_predict((unsigned)*n, request->bits, request->documents,
				     request->radius, &one, &err))) {
		larger = realloc(all, (*n + 1) * sizeof(*all));
		if (!larger) {
			free(all);
			return tl_error("out of memory");
		}
		all = larger;
		all[(*n)++] = one;
	}
	*out = all;
	return rc == SIMIDX_E_END ? 0 : tl_error("%s", err.text);
}

static int plan(struct qr_context *ctx, const struct qr_plan_request *request)
{
	simidx_prediction *all;
	size_t n;
	int code = predict(request, &all, &n);

	if (!code && ctx->json)
		code = qr_json_predictions(request, all, n);
	else if (!code)
		print_predictions(all, n, request);
	free(all);
	return code;
}

/* What an index has is not asked for again. */
static int take_from_index(struct qr_context *ctx, struct qr_plan_request *request)
{
	if (strcmp(ctx->path, "-") == 0)
		return 0;
	if (qr_open(ctx))
		return TL_TROUBLE;
	if (!request->documents)
		request->documents = ctx->info.documents;
	if (!request->bits)
		request->bits = ctx->info.bits;
	return 0;
}

/* Options without a letter. */
enum long_option { OPT_BITS = TL_LONG_OPTION, OPT_DOCUMENTS, OPT_HELP };

static int take_option(struct qr_plan_request *request, int c)
{
	uint64_t number = 0;
	int rc = -1;

	switch (c) {
	case 'k':
		rc = tl_option_number("--radius", optarg, 0, SIMIDX_MAX_RADIUS, &number);
		request->radius = (unsigned)number;
		break;
	case OPT_BITS:
		rc = tl_option_number("--bits", optarg, SIMIDX_MIN_BITS, SIMIDX_MAX_BITS, &number);
		request->bits = (unsigned)number;
		break;
	case OPT_DOCUMENTS:
		rc = tl_option_number("--documents", optarg, 1, SIMIDX_MAX_ID,
				      &request->documents);
		break;
	}
	return rc ? TL_TROUBLE : 0;
}

static int run_plan(struct qr_context *ctx, int argc, char **argv)
{
	static const struct option options[] = {
		{ "bits", required_argument, NULL, OPT_BITS },
		{ "documents", required_argument, NULL, OPT_DOCUMENTS },
		{ "help", no_argument, NULL, OPT_HELP },
		{ "radius", required_argument, NULL, 'k' },
		{ "within", required_argument, NULL, 'k' },
		{ NULL, 0, NULL, 0 },
	};
	struct qr_plan_request request = { 0, 0, SIMIDX_DEFAULT_RADIUS };
	int c;

	while ((c = tl_next_option(argc, argv, ":k:", options)) != TL_OPTION_END) {
		if (c == OPT_HELP)
			return qr_print_help(&qr_plan);
		if (take_option(&request, c))
			return TL_TROUBLE;
	}
	if (optind != argc)
		return tl_usage_error("plan takes no arguments, found %d", argc - optind);
	if (take_from_index(ctx, &request))
		return TL_TROUBLE;
	if (!request.bits)
		request.bits = SIMIDX_DEFAULT_BITS;
	if (!request.documents)
		return tl_usage_error("plan: expected --documents N");
	if (request.radius > request.bits)
		return tl_usage_error("--radius: expected a number in 0..%u, found '%u'",
				      request.bits, request.radius);
	return plan(ctx, &request);
}

static const char *const help[] = {
	"Tell what each plan would take for N documents: its tables, the bytes of these",
	"and of everything for each document, and for a query of radius K the ranges that",
	"are looked up, the fingerprints that are compared, and the time, with everything",
	"in memory. INDEX is '-', or an index, whose size and bits are taken then.",
	"",
	"  --documents N    how many documents",
	"  -k, --radius K   of the queries, 0..64 (default 3); also --within K",
	"  --bits F         of the fingerprints, 16..64 (default 64)",
	"  --help           print this and stop",
	"",
	"With --json: an object for each plan with the members plan, documents, bits,",
	"radius, tables, table_bytes and bytes (for each document), bytes_in_all, probes,",
	"candidates and microseconds.",
	NULL
};

const struct qr_command qr_plan = { "plan", "[--documents N] [-k K] [--bits F]",
				    "what each plan would take and give", run_plan, help };
