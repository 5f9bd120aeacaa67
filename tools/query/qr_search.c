/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "query/qr_command.h"

#include "common/tl_msg.h"
#include "common/tl_options.h"
#include "input/in_reader.h"
#include "query/qr_print.h"

#include <stdio.h>
#include <string.h>

/* A search over many queries. */
struct search {
	struct qr_context *ctx;
	simidx_reader *reader;
	struct tl_text_options text_options;
	struct tl_text *text;           /* NULL until the first text */
	const struct in_format *format; /* NULL: operands are fingerprints */
	struct in_columns columns;
	struct in_reader rows;
	unsigned radius;
	uint64_t limit;
	uint64_t truncated; /* answers that were cut */
	uint64_t short_texts; /* among the queries */
	int matched;        /* something was found */
	int malformed;      /* a query was not one */
};

/* One query. Returns 0, or TL_TROUBLE when the whole search must end. */
static int search_one(struct search *search, const struct qr_query *query)
{
	simidx_query ask = SIMIDX_QUERY_INIT;
	simidx_results results = SIMIDX_RESULTS_INIT;
	simidx_error err;

	ask.fp = query->fp;
	ask.radius = search->radius;
	ask.limit = search->limit;
	ask.flags = SIMIDX_QUERY_LABELS;
	if (simidx_search(search->reader, &ask, &results, &err))
		return qr_fail(search->ctx, &err);
	if (results.n)
		search->matched = 1;
	if (results.truncated)
		search->truncated++;
	return qr_print_matches(search->ctx, query, results.matches, results.n,
				results.truncated);
}

/* A query that is its fingerprint. */
static int search_fingerprint(struct search *search, uint64_t fp)
{
	struct qr_query query = { .has_fp = 1, .fp = fp };
	char text[QR_FP_SIZE];

	query.name_size = qr_format_fingerprint(text, fp, search->ctx->info.bits);
	query.name = text;
	return search_one(search, &query);
}

/* A row is called by its label, else its id, else its fingerprint. */
static int search_named(struct search *search, const struct in_row *row,
			const simidx_sketch *sketch)
{
	struct qr_query query = { row->label, row->label_size, 1, sketch->fp, 0, 0, 0 };
	char name[24];

	query.is_text = row->kind == IN_TEXT;
	query.is_short = (sketch->flags & SIMIDX_SKETCH_SHORT) != 0;
	query.n_tokens = sketch->n_tokens;
	if (!row->label) {
		query.name = name;
		query.name_size =
			row->id == SIMIDX_NO_ID ?
				qr_format_fingerprint(name, sketch->fp, search->ctx->info.bits) :
				(size_t)snprintf(name, sizeof(name), "%llu",
						 (unsigned long long)row->id);
	}
	return search_one(search, &query);
}

static int search_row(struct search *search, const struct in_row *row)
{
	simidx_sketch sketch;
	simidx_error err;
	int rc;

	if (row->kind == IN_TEXT && !search->text &&
	    tl_text_open_for(search->ctx->index, &search->text_options, &search->text, &err))
		return qr_fail(search->ctx, &err);
	rc = in_sketch_row(row, search->ctx->info.bits, search->text, 0, &sketch, &err);
	if (rc == SIMIDX_E_RANGE) {
		tl_error("%s: %s", in_reader_place(&search->rows), err.text);
		search->malformed = 1;
		return 0;
	}
	if (rc)
		return qr_fail(search->ctx, &err);
	if (sketch.flags & SIMIDX_SKETCH_SHORT) {
		search->short_texts++;
		if (search->text_options.short_texts == TL_SHORT_REJECT) {
			tl_error("%s: a text of fewer than %u tokens (--short)",
				 in_reader_place(&search->rows),
				 (unsigned)tl_text_min_tokens(&search->text_options));
			search->malformed = 1;
			return 0;
		}
	}
	return search_named(search, row, &sketch);
}

/* All rows of a file. A query that means nothing is told and passed over. */
static int search_file(struct search *search, const char *path, const struct in_format *format)
{
	struct in_row row;
	enum in_result rc;
	int code = 0;

	rc = in_reader_open(&search->rows, path, format, strcmp(path, "-") == 0);
	if (rc != IN_ROW) {
		tl_error("%s: %s", path, search->rows.reason);
		search->malformed = 1;
		return 0;
	}
	while (!code) {
		rc = in_reader_next(&search->rows, &row);
		if (rc == IN_END)
			break;
		if (rc == IN_ROW) {
			code = search_row(search, &row);
		} else if (rc == IN_SKIPPED) {
			tl_notice("%s: skipped: %s", path, search->rows.reason);
		} else {
			tl_error("%s: %s", in_reader_place(&search->rows),
				 search->rows.reason);
			search->malformed = 1;
			if (rc == IN_FATAL)
				break;
		}
	}
	return code;
}

static int search_operand(struct search *search, const char *operand)
{
	char reason[256];
	uint64_t fp;

	if (search->format)
		return search_file(search, operand, search->format);
	if (strcmp(operand, "-") == 0)
		return search_file(search, operand, &in_format_lines);
	if (tl_parse_encoded(search->columns.encoding, operand, strlen(operand),
			     search->ctx->info.bits, "fingerprint", &fp, reason,
			     sizeof(reason))) {
		tl_error("%s: %s", operand, reason);
		search->malformed = 1;
		return 0;
	}
	return search_fingerprint(search, fp);
}

static int search_all(struct search *search, char **operands, int n)
{
	simidx_error err;
	int code = 0, i;

	if (qr_open(search->ctx))
		return TL_TROUBLE;
	if (simidx_reader_open(search->ctx->index, &search->reader, &err))
		return qr_fail(search->ctx, &err);
	in_reader_init(&search->rows, search->ctx->info.bits);
	search->rows.columns = &search->columns;
	for (i = 0; i < n && !code; i++)
		code = search_operand(search, operands[i]);
	if (search->truncated)
		tl_error("%llu answers were cut at %llu matches",
			 (unsigned long long)search->truncated,
			 (unsigned long long)search->limit);
	if (search->short_texts && search->text_options.short_texts != TL_SHORT_REJECT)
		tl_notice("%llu of the texts are shorter than %u tokens: one edit moves their "
			  "fingerprints far",
			  (unsigned long long)search->short_texts,
			  (unsigned)tl_text_min_tokens(&search->text_options));
	in_reader_free(&search->rows);
	tl_text_close(search->text);
	simidx_reader_close(search->reader);
	if (code || search->malformed)
		return TL_TROUBLE;
	return search->matched ? TL_OK : TL_PARTLY;
}

static int set_format(struct search *search, const char *name)
{
	const struct in_format *format;

	if (tl_option_word("--format", name, in_format_names) < 0)
		return TL_TROUBLE;
	format = in_format_named(name);
	if (search->format && search->format != format)
		return tl_usage_error("more than one format given");
	if (in_format_missing(format))
		return tl_error("%s", in_format_missing(format));
	search->format = format;
	return 0;
}

/* Options without a letter. */
enum long_option { OPT_HELP = TL_LONG_OPTION, OPT_LIMIT, OPT_TEXT };

static int take_option(struct search *search, int c)
{
	uint64_t number;
	int rc = in_columns_take(&search->columns, c, optarg);

	if (rc > 0)
		rc = tl_text_take(&search->text_options, c, optarg);
	if (rc <= 0)
		return rc ? TL_TROUBLE : 0;

	switch (c) {
	case 'k':
		if (tl_option_number("--radius", optarg, 0, SIMIDX_MAX_RADIUS, &number))
			return TL_TROUBLE;
		search->radius = (unsigned)number;
		return 0;
	case OPT_LIMIT:
		return tl_option_number("--limit", optarg, 1, UINT64_MAX, &search->limit)
			       ? TL_TROUBLE
			       : 0;
	case OPT_TEXT:
		return set_format(search, "text");
	case 'F':
		return set_format(search, optarg);
	default:
		return TL_TROUBLE;
	}
}

static int run_search(struct qr_context *ctx, int argc, char **argv)
{
	static const struct option options[] = {
		{ "format", required_argument, NULL, 'F' },
		{ "help", no_argument, NULL, OPT_HELP },
		{ "limit", required_argument, NULL, OPT_LIMIT },
		{ "radius", required_argument, NULL, 'k' },
		{ "text", no_argument, NULL, OPT_TEXT },
		{ "within", required_argument, NULL, 'k' },
		IN_COLUMNS_OPTIONS,
		TL_TEXT_OPTIONS,
		{ NULL, 0, NULL, 0 },
	};
	struct search search = { .ctx = ctx, .radius = SIMIDX_DEFAULT_RADIUS };
	const char *misfit;
	int c, code = 0;

	while ((c = tl_next_option(argc, argv, ":F:k:", options)) != TL_OPTION_END) {
		if (c == OPT_HELP)
			return qr_print_help(&qr_search);
		code = take_option(&search, c);
		if (code)
			break;
	}
	if (!code && optind == argc)
		code = tl_usage_error("search: no queries given");
	misfit = in_format_misfit(search.format ? search.format : &in_format_lines,
				  &search.columns);
	if (!code && misfit)
		code = tl_usage_error("%s", misfit);
	if (!code)
		code = search_all(&search, argv + optind, argc - optind);
	tl_text_options_free(&search.text_options);
	return code;
}

static const char *const help[] = {
	"Print all documents whose fingerprints differ from a query's in at most K bits.",
	"",
	"Queries are fingerprints, in hexadecimal; '-' for fingerprints on standard",
	"input, one a line; or, with one of these options, files, '-' being standard",
	"input:",
	"  --text               each file is a UTF-8 text",
	"  -F, --format FORMAT  text, lines, tsv, csv, jsonl, bin, npy, dump or features;",
	"                       these, compression and the next options as in",
	"                       simidx-load --help",
	"  --fp hex|dec|sdec|base64",
	"                       how fingerprints are written, here as well as in files",
	"  --header, --id-field NAME, --fp-field NAME, --label-field NAME",
	"                       columns of files",
	"",
	"Texts become fingerprints as those of the index did. What it does not hold must",
	"be given again: --stop FILE, --words FILE and --idf FILE. Other options about",
	"texts (simidx-load --help) are checked against it. About the queries:",
	"  --min-tokens N       a text with fewer tokens is short (default 64)",
	"  --short flag|reject  tell how many are short (default), or answer none of them",
	"",
	"  -k, --radius K       at most K bits differ, 0..3 (default 3); also --within K",
	"  --limit N            no more than the N nearest documents for each query",
	"  --help               print this and stop",
	"",
	"Output: a line for each match with the columns query, id, fingerprint, distance",
	"and label, separated by tabs; queries in the order of the input, the matches of",
	"a query by distance and id. A query is called by its fingerprint, the path of a",
	"text, or the label of a row, else its id. Queries and labels have the escapes",
	"\\t \\n \\r \\\\ \\xHH. With --json: a line for each query, an object with members",
	"query, fingerprint, matches (a list of objects with id, fp, distance, label) and",
	"truncated, of texts also tokens and short; names that are not UTF-8 are",
	"hexadecimal in query_hex and label_hex.",
	"",
	"Exit status: 0 something matched; 1 nothing matched; 2 trouble, also with only",
	"one query, which is told with its file and line while the others are answered.",
	NULL
};

const struct qr_command qr_search = {
	"search", "[OPTION]... QUERY...",
	"documents near to fingerprints or texts", run_search, help
};
