/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "query/qr_command.h"

#include "common/tl_features.h"
#include "common/tl_msg.h"
#include "common/tl_options.h"
#include "common/tl_text_options.h"
#include "input/in_reader.h"
#include "query/qr_queue.h"

#include <stdio.h>
#include <string.h>

/* A search over many queries. */
struct search {
	struct qr_context *ctx;
	struct tl_text_options text_options;
	simidx_text *text;           /* NULL until the first text */
	const char *features_by;        /* NULL */
	const struct in_format *format; /* NULL: operands are fingerprints */
	struct in_columns columns;
	struct in_reader rows;
	struct qr_ask ask;
	int explains;
	struct qr_queue queue;
	uint64_t short_texts; /* among the queries */
	int malformed;        /* a query was not one */
};

/* A row is called by its label, else its id, else its fingerprint. */
static int add_query(struct search *search, const struct in_row *row, simidx_sketch *sketch)
{
	struct qr_query query = { .name = row->label, .name_size = row->label_size,
				  .has_fp = 1, .fp = sketch->fp, .show = search->ask.show,
				  .is_search = 1 };
	simidx_query ask;
	simidx_error err;
	char name[24];

	query.is_text = row->kind == IN_TEXT;
	query.is_short = (sketch->flags & SIMIDX_SKETCH_SHORT) != 0;
	query.n_tokens = sketch->n_tokens;
	if (!query.name_size) {
		query.name = name;
		query.name_size =
			row->label || row->id == SIMIDX_NO_ID ?
				qr_format_fingerprint(name, sketch->fp, search->ctx->info.bits) :
				(size_t)snprintf(name, sizeof(name), "%llu",
						 (unsigned long long)row->id);
	}
	if (qr_ask_query(&search->ask, search->ctx, row, sketch, &ask, &err))
		return qr_fail(search->ctx, &err);
	query.has_fp2 = (ask.flags & SIMIDX_QUERY_FP2) != 0;
	return qr_queue_add(&search->queue, &query, &ask);
}

/* Features that others made do not meet those that an extractor made of texts. */
static int features_fit(const struct search *search)
{
	const simidx_info *info = &search->ctx->info;

	if (!search->features_by && tl_features_is_text(info->profile))
		return tl_error("%s: holds texts by %.*s, so features do not fit",
				search->ctx->path, (int)strcspn(info->profile, " "),
				info->profile);
	return tl_features_fit(search->ctx->path, info, search->features_by);
}

/* For the texts among the queries. */
static int open_text(struct search *search)
{
	simidx_error err;
	int rc;

	do
		rc = tl_text_open_for(search->ctx->index, &search->text_options, &search->text,
				      &err);
	while (qr_queue_again(&search->queue, rc, &err));
	return rc ? qr_fail(search->ctx, &err) : 0;
}

static int search_row(struct search *search, const struct in_row *row)
{
	simidx_sketch sketch;
	simidx_error err;
	int rc;

	if (row->kind == IN_TEXT && !search->text && open_text(search))
		return TL_TROUBLE;
	if (row->kind == IN_FEATURES && features_fit(search))
		return TL_TROUBLE;
	rc = in_sketch_row(row, search->ctx->info.bits, search->text,
			   qr_ask_sketch_flags(&search->ask, &search->ctx->info), &sketch, &err);
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
	return add_query(search, row, &sketch);
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
		code = search->queue.code; /* of what was answered while it waited */
		if (rc == IN_END || code)
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
	struct in_row row = { .kind = IN_FINGERPRINT, .id = SIMIDX_NO_ID };
	char reason[256];

	if (search->format)
		return search_file(search, operand, search->format);
	if (strcmp(operand, "-") == 0)
		return search_file(search, operand, &in_format_lines);
	if (tl_parse_encoded(search->columns.encoding, operand, strlen(operand),
			     search->ctx->info.bits, "fingerprint", &row.fp,
			     reason, sizeof(reason))) {
		tl_error("%s: %s", operand, reason);
		search->malformed = 1;
		return 0;
	}
	row.has_fp2 = search->ask.fp2_text != NULL;
	row.fp2 = search->ask.fp2;
	return search_row(search, &row);
}

static int search_operands(struct search *search, char **operands, int n)
{
	int code = 0, i;

	in_reader_init(&search->rows, search->ctx->info.bits);
	search->rows.columns = &search->columns;
	search->rows.takes_weights = 1;
	qr_queue_init(&search->queue, search->ctx, &search->ask);
	search->queue.explains = search->explains;
	in_reader_when_idle(&search->rows, qr_queue_idle, &search->queue);
	for (i = 0; i < n && !code; i++)
		code = search_operand(search, operands[i]);
	if (!code)
		code = qr_queue_flush(&search->queue);
	if (qr_queue_tell_cut(&search->queue) && search->ask.strict)
		code = TL_TROUBLE;
	if (search->short_texts && search->text_options.short_texts != TL_SHORT_REJECT)
		tl_notice("%llu of the texts are shorter than %u tokens: one edit moves their "
			  "fingerprints far",
			  (unsigned long long)search->short_texts,
			  (unsigned)tl_text_min_tokens(&search->text_options));
	in_reader_free(&search->rows);
	simidx_text_close(search->text);
	qr_queue_free(&search->queue);
	if (code || search->malformed)
		return TL_TROUBLE;
	return search->queue.matched ? TL_OK : TL_PARTLY;
}

static int search_all(struct search *search, char **operands, int n)
{
	int code = qr_open(search->ctx);

	if (!code)
		code = qr_ask_prepare(&search->ask, search->ctx, search->columns.encoding);
	return code ? code : search_operands(search, operands, n);
}

/* What the queries may be, for checking the options. */
static unsigned kinds_of_rows(const struct search *search, char **operands, int n)
{
	if (search->format == &in_format_text || search->format == &in_format_features)
		return QR_MAY_BE_TEXT;
	if (search->format == &in_format_jsonl)
		return QR_MAY_BE_TEXT | QR_MAY_BE_FINGERPRINT | QR_MAY_HAVE_MORE;
	if (!search->format && n == 1 && strcmp(operands[0], "-") != 0)
		return QR_MAY_BE_FINGERPRINT | QR_IS_ONE;
	return QR_MAY_BE_FINGERPRINT;
}

/* Options about texts or features where the queries are something else. */
static int check_kinds(const struct search *search)
{
	const struct in_format *format = search->format;
	const char *kind = format == &in_format_text	   ? "texts"
			   : format == &in_format_features ? "features"
							   : "fingerprints";

	if (format == &in_format_jsonl)
		return 0;
	if (search->text_options.given && format != &in_format_text)
		return tl_usage_error("%s goes with texts, and the queries are %s",
				      search->text_options.given, kind);
	if (search->features_by && format != &in_format_features)
		return tl_usage_error("--features-by goes with features, and the queries are %s",
				      kind);
	return 0;
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
enum long_option { OPT_EXPLAIN = TL_LONG_OPTION, OPT_FEATURES_BY, OPT_HELP, OPT_TEXT };

static int take_option(struct search *search, int c)
{
	int rc = in_columns_take(&search->columns, c, optarg);

	if (rc > 0)
		rc = tl_text_take(&search->text_options, c, optarg);
	if (rc > 0)
		rc = qr_ask_take(&search->ask, c, optarg);
	if (rc <= 0)
		return rc ? TL_TROUBLE : 0;
	switch (c) {
	case OPT_EXPLAIN:
		search->explains = 1;
		return 0;
	case OPT_FEATURES_BY:
		search->features_by = optarg;
		return tl_features_check(optarg);
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
		{ "explain", no_argument, NULL, OPT_EXPLAIN },
		{ "features-by", required_argument, NULL, OPT_FEATURES_BY },
		{ "format", required_argument, NULL, 'F' },
		{ "help", no_argument, NULL, OPT_HELP },
		{ "text", no_argument, NULL, OPT_TEXT },
		IN_COLUMNS_OPTIONS,
		TL_TEXT_OPTIONS,
		QR_ASK_OPTIONS,
		{ NULL, 0, NULL, 0 },
	};
	struct search search = { .ctx = ctx };
	const char *misfit;
	unsigned kinds;
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
	kinds = kinds_of_rows(&search, argv + optind, argc - optind);
	if (!code && (check_kinds(&search) || qr_ask_check(&search.ask, kinds)))
		code = TL_TROUBLE;
	if (!code)
		code = search_all(&search, argv + optind, argc - optind);
	tl_text_options_free(&search.text_options);
	return code;
}

static const char *const help[] = {
	"Print the documents that are near to each query.",
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
	"  --features-by NAME   who made features of -F features or jsonl, if the index",
	"                       was told",
	"  --min-tokens N       a text with fewer tokens is short (default 64)",
	"  --short flag|reject  tell how many are short (default), or answer none of them",
	"",
	"Near to a fingerprint is what differs from it in few bits:",
	"  -k, --radius K       in at most K, 0..64 (default 3); also --within K",
	"  --ignore MASK        the bits of a hexadecimal MASK may differ",
	"  --fp2 FP             its second fingerprint (in jsonl a member fp2), where the",
	"                       index has them: both together differ in at most 16 bits,",
	"                       or as --accept says",
	"Near to a text is what differs in bits that hardly matter for it. Each bit has a",
	"weight, 32 times how far the features of the text outvote each other in it; the",
	"distance is the sum of the weights of the bits that differ, in both fingerprints",
	"where the index has two. At most 16 bits of the first may differ, not counting",
	"those of weight 0:",
	"  --accept A           distances up to A are near, a whole number (default 144",
	"                       with second fingerprints, else 59)",
	"  --probes P           look up the P likeliest ranges of the tables (default 32,",
	"                       with plan 3x22 128), and judge what is there",
	"  --complete R         or so many that nothing near within distance R is missed",
	"  -k, --radius K       as for fingerprints instead",
	"  --bit-weights FILE   search fingerprints so, too: a weight in 0..255 for each",
	"                       bit, the lowest first, and 64 more for the second",
	"                       fingerprint; in jsonl lists, weights and weights2",
	"",
	"How much of it:",
	"  --limit N            no more than the N nearest documents for each query",
	"  --nearest N          the same, at any distance unless -k says how far; for",
	"                       texts among those that are near",
	"  --first              one document, whichever is found first",
	"  --count, --exists    only how many there are; only 1 or 0",
	"  --max-candidates N   stop after comparing N fingerprints",
	"  --strict             exit status 2 if an answer was cut",
	"  --explain            in place of an answer: how each query is looked up, and",
	"                       what that took. Ranges are thought to be equally full",
	"                       until one that is read turns out to be far from it",
	"  --help               print this and stop",
	"",
	"Output: a line for each match with the columns query, id, fingerprint, distance",
	"(bits that differ, whatever their weights) and label, separated by tabs; with",
	"--count or --exists the query and the number. Queries come in the order of the",
	"input, the matches of a query nearest first, then by id. A query is called by",
	"its fingerprint, the path of a text, or the label of a row, else its id. Queries",
	"and labels have the escapes \\t \\n \\r \\\\ \\xHH. With --json: a line for each",
	"query, an object with members query, fingerprint, matches (a list of objects",
	"with id, fp, distance, weight, perhaps distance2, label) or count or exists,",
	"truncated, and complete_to: nothing near within this distance was missed (-1:",
	"not even at distance 0 is that sure); of texts also tokens and short. Names that",
	"are not UTF-8 are hexadecimal in query_hex and label_hex.",
	"",
	"Queries are answered many at once, but never wait for one that has not come yet.",
	"",
	"Exit status: 0 something matched; 1 nothing matched; 2 trouble, also with only",
	"one query, which is told with its file and line while the others are answered.",
	"That answers were cut by --limit or --max-candidates is told, too.",
	NULL
};

const struct qr_command qr_search = {
	"search", "[OPTION]... QUERY...",
	"documents near to fingerprints or texts", run_search, help
};
