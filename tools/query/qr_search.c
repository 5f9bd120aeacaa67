/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "query/qr_command.h"

#include "common/tl_features.h"
#include "common/tl_msg.h"
#include "common/tl_output.h"
#include "common/tl_path.h"
#include "common/tl_report.h"
#include "common/tl_text_options.h"
#include "common/tl_utf8.h"
#include "input/in_files.h"
#include "input/in_look.h"
#include "query/qr_queue.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* Bytes of a text that was given in place of a file, which a message shows. */
#define SHOWN_TEXT 40

/* A search over many queries. */
struct search {
	struct qr_context *ctx;
	struct tl_text_options text_options;
	simidx_text *text;           /* NULL until the first text */
	const char *features_by;        /* NULL */
	int texts;                      /* --text */
	int format_word;                /* --format: 1 + place in in_format_names; 0 = not given */
	const struct in_format *format; /* by these; NULL: by the operand */
	struct in_columns columns;
	struct in_reader rows;
	struct qr_ask ask;
	int explains;
	struct qr_queue queue;
	int has_weight;       /* as in struct qr_query */
	uint64_t n_queries;
	uint64_t empty_texts; /* among them: without words */
	uint64_t short_texts; /* other short ones */
	struct tl_remark not_utf8; /* texts that are something else */
	const char *few;      /* the last one of a few digits; or NULL */
	uint64_t malformed;   /* queries that were none */
	uint64_t n_rows;      /* of files */
};

/* A row is no query. */
static void refuse_row(struct search *search, const char *place, const char *reason)
{
	if (tl_report_tells(++search->malformed, "rows that are no queries", place, reason))
		tl_error("%s: %s", place, reason);
}

/* A row is called by its label, else its id, else its fingerprint. */
static int add_query(struct search *search, const struct in_row *row, simidx_sketch *sketch)
{
	struct qr_query query = { .name = row->label, .name_size = row->label_size,
				  .has_fp = 1, .fp = sketch->fp, .show = search->ask.show,
				  .is_search = 1 };
	simidx_query ask;
	simidx_error err;
	char name[24];

	query.is_next = search->n_queries++ > 0;
	query.has_weight = search->has_weight;
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
	if (rc)
		qr_fail(search->ctx, &err);
	if (rc && search->text_options.how.top)
		tl_error("--top is about features; --nearest N prints the N nearest");
	return rc ? TL_TROUBLE : 0;
}

/* Bytes that are no UTF-8 are searched as U+FFFD, which finds little; so do rows as one text. */
static void look_at_text(struct search *search, const struct in_row *row)
{
	size_t valid = tl_utf8_valid(row->text, row->text_size);
	const struct in_reader *rows = &search->rows;
	char place[4096], odd[IN_LOOK_SIZE];

	if (rows->format != &in_format_text || search->format_word)
		;
	else if (in_doubt_text(rows->path, row, search->ctx->info.bits) == IN_NAMED_ROWS)
		tl_notice("%s is searched as one text; without --text its rows are searched",
			  rows->path);
	else if (in_look_at(rows->path, rows->format, row->text, row->text_size, odd))
		tl_notice("%s: %s", rows->path, odd);
	if (valid == row->text_size)
		return;
	snprintf(place, sizeof(place), "%s, byte %zu", in_reader_place(&search->rows), valid + 1);
	tl_remark_add(&search->not_utf8, place);
}

static void tell_texts(const struct search *search)
{
	tl_remark_tell(&search->not_utf8, "text is not UTF-8", "texts are not UTF-8",
		       ": convert such files before, for example with iconv");
	if (search->text_options.short_texts != TL_SHORT_REJECT)
		tl_text_tell_lengths(search->empty_texts, search->short_texts,
				     tl_text_min_tokens(&search->text_options));
}

static int search_row(struct search *search, const struct in_row *row)
{
	simidx_sketch sketch;
	simidx_error err;
	char reason[64];
	int rc;

	if (row->kind == IN_TEXT && !search->text && open_text(search))
		return TL_TROUBLE;
	if (row->kind == IN_FEATURES && features_fit(search))
		return TL_TROUBLE;
	rc = in_sketch_row(row, search->ctx->info.bits, search->text,
			   qr_ask_sketch_flags(&search->ask, &search->ctx->info), &sketch, &err);
	if (rc == SIMIDX_E_RANGE) {
		refuse_row(search, in_reader_place(&search->rows), err.text);
		return 0;
	}
	if (rc)
		return qr_fail(search->ctx, &err);
	if (row->kind == IN_TEXT)
		look_at_text(search, row);
	if (sketch.flags & SIMIDX_SKETCH_EMPTY)
		search->empty_texts++;
	else if (sketch.flags & SIMIDX_SKETCH_SHORT)
		search->short_texts++;
	if (sketch.flags & SIMIDX_SKETCH_SHORT &&
	    search->text_options.short_texts == TL_SHORT_REJECT) {
		snprintf(reason, sizeof(reason), "a text of fewer than %u tokens (--short)",
			 (unsigned)tl_text_min_tokens(&search->text_options));
		refuse_row(search, in_reader_place(&search->rows), reason);
		return 0;
	}
	return add_query(search, row, &sketch);
}

/* A query that is a directory, and what to name instead. */
static const char *advise_directory(const char *path)
{
	return !tl_path_is_directory(path) ? "" :
	       tl_path_is_index(path) ?
		       " and an index; 'simidx-query pairs INDEX OTHER' compares two" :
		       "; name the files in it: --text DIR/*";
}

/* A file could not be opened, and its name may be the text that was meant. */
static void tell_unopened(const struct search *search, const char *path)
{
	const char *reason = search->rows.reason;
	size_t n = strlen(path);

	if (n > SHOWN_TEXT)
		for (n = SHOWN_TEXT; n && ((unsigned char)path[n] & 0xc0) == 0x80; n--)
			;
	if (search->texts && strchr(path, ' ') && access(path, F_OK))
		tl_error("%.*s%s: no such file; a text goes through standard input: printf '%%s' "
			 "TEXT | simidx-query search INDEX --text -",
			 (int)n, path, path[n] ? "..." : "");
	else
		tl_error("%s: %s%s%s%s", path, reason, advise_directory(path),
			 search->format_word && !path[strspn(path, "0123456789abcdefABCDEF")] ?
				 "; -F is the format of a file of queries, and --json prints "
				 "objects" : "",
			 search->texts && access(path, F_OK) && !strpbrk(path, "./*") ?
				 "; if it is the text: echo TEXT | ... --text -" : "");
}

/* All rows of a file. A query that means nothing is told and passed over. */
static int search_file(struct search *search, const char *path, const struct in_format *format)
{
	struct in_row row;
	enum in_result rc;
	int code = 0;

	rc = in_reader_open(&search->rows, path, format, strcmp(path, "-") == 0);
	if (rc != IN_ROW) {
		tell_unopened(search, path);
		search->malformed++;
		return rc == IN_FATAL ? TL_TROUBLE : 0;
	}
	while (!code) {
		rc = in_reader_next(&search->rows, &row);
		code = search->queue.code; /* of what was answered while it waited */
		if (rc == IN_END || code)
			break;
		search->n_rows++;
		if (rc == IN_ROW) {
			code = search_row(search, &row);
		} else if (rc == IN_SKIPPED) {
			refuse_row(search, path, search->rows.reason);
		} else {
			refuse_row(search, in_reader_place(&search->rows), search->rows.reason);
			if (rc == IN_FATAL && in_reader_lacks_memory(&search->rows))
				code = TL_TROUBLE;
			if (rc == IN_FATAL)
				break;
		}
	}
	return code;
}

/* What an operand is: a file of this format, or NULL for a fingerprint. */
static const struct in_format *format_of(const struct search *search, const char *operand)
{
	const struct in_format *format;

	if (search->format)
		return search->format;
	if (strcmp(operand, "-") == 0)
		return &in_format_lines;
	/* No fingerprint ends so, in whatever encoding; as texts, any name would do. */
	format = in_format_of_path(operand, NULL);
	return format == &in_format_text ? NULL : format;
}

/* Tell why an operand is no fingerprint, and what else it may be meant to be. */
static void refuse_operand(const struct search *search, const char *operand, const char *reason)
{
	const char *profile = search->ctx->info.profile;
	int has_texts = *profile && tl_features_is_text(profile);

	if (!tl_report_tells(search->malformed, "malformed queries", operand, reason))
		return;
	if (*advise_directory(operand))
		tl_error("%s: is a directory%s", operand, advise_directory(operand));
	else if (access(operand, F_OK) == 0)
		tl_error("%s: %s; to read this file: %s", operand, reason,
			 has_texts ? "--text, or -F lines if it has fingerprints" : "-F lines");
	else if (strlen(operand) > 15 && strpbrk(operand, " :-h") &&
		 !operand[strspn(operand, "0123456789abcdefABCDEF :-h")])
		tl_error("%s: %s; the digits stand alone", operand, reason);
	else if (has_texts)
		tl_error("%s: %s; for texts: --text FILE; of a label: simidx-query get --label",
			 operand, reason);
	else
		tl_error("%s: %s; of a %s", operand, reason,
			 operand[strspn(operand, "0123456789")] ?
				 "label: simidx-query get --label" :
				 "decimal number: --fp-encoding dec");
}

/* What has not all digits may have lost some; a few digits are meant so. */
static void look_at_length(struct search *search, const char *operand, uint64_t fp)
{
	unsigned bits = search->ctx->info.bits, width = tl_hex_width(bits);
	size_t n = strlen(operand) - (strncasecmp(operand, "0x", 2) ? 0 : 2);
	char text[QR_FP_SIZE];
	int size;

	if (search->columns.encoding == TL_HEX && n <= 4 && n < width)
		search->few = operand;
	if (search->columns.encoding != TL_HEX || n <= 4 || n >= width)
		return;
	size = (int)qr_format_fingerprint(text, fp, bits);
	tl_notice("%s has %zu of %u digits: searched as %.*s", operand, n, width, size, text);
}

static int search_operand(struct search *search, const char *operand)
{
	const struct in_format *format = format_of(search, operand);
	struct in_row row = { .kind = IN_FINGERPRINT, .id = SIMIDX_NO_ID };
	char reason[256];

	if (format)
		return search_file(search, operand, format);
	if (tl_parse_encoded(search->columns.encoding, operand, strlen(operand),
			     search->ctx->info.bits, "fingerprint", &row.fp,
			     reason, sizeof(reason))) {
		search->malformed++;
		refuse_operand(search, operand, reason);
		return 0;
	}
	look_at_length(search, operand, row.fp);
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
	if (!search->explains)
		qr_print_header(search->ctx, &(struct qr_query){ .show = search->ask.show,
			.is_search = 1, .has_weight = search->has_weight });
	for (i = 0; i < n && !code; i++)
		code = search_operand(search, operands[i]);
	if (!code)
		code = qr_queue_flush(&search->queue);
	if (qr_queue_tell_cut(&search->queue) && search->ask.strict)
		code = TL_TROUBLE;
	if (!code)
		qr_queue_tell_sums(&search->queue);
	tell_texts(search);
	if (!code && search->few && !search->queue.n_matches)
		tl_notice("%s is taken as a fingerprint with zeros before it; an id: simidx-query "
			  "get --id", search->few);
	if (search->malformed)
		in_causes_tell(&search->rows.causes, search->n_rows);
	free(search->not_utf8.first);
	in_reader_free(&search->rows);
	simidx_text_close(search->text);
	qr_queue_free(&search->queue);
	if ((code && !tl_output_closed()) || search->malformed)
		return TL_TROUBLE;
	return search->queue.n_matches ? TL_OK : TL_PARTLY;
}

/* What the queries may be, for checking the options. */
static unsigned kinds_of_rows(const struct search *search, char **operands, int n)
{
	const struct in_format *format = NULL;
	unsigned kinds = 0;

	for (int i = 0; i < n; i++) {
		format = format_of(search, operands[i]);
		if (format == &in_format_text || format == &in_format_features)
			kinds |= QR_MAY_BE_TEXT;
		else if (format == &in_format_jsonl)
			kinds |= QR_MAY_BE_TEXT | QR_MAY_BE_FINGERPRINT | QR_MAY_HAVE_MORE;
		else if (format && in_format_may_have_texts(format, &search->columns))
			kinds |= QR_MAY_BE_TEXT |
				 (search->columns.text ? 0 : QR_MAY_BE_FINGERPRINT);
		else
			kinds |= QR_MAY_BE_FINGERPRINT;
	}
	return n == 1 && !format ? kinds | QR_IS_ONE : kinds;
}

/* Options about texts, features or columns where a query is something else. */
static int check_operand(const struct search *search, const char *operand)
{
	const struct in_format *format = format_of(search, operand);
	const char *kind = format == &in_format_text	   ? "texts"
			   : format == &in_format_features ? "features"
							   : "fingerprints";
	const char *misfit;

	if (format && in_format_missing(format))
		return tl_error("%s: %s", operand, in_format_missing(format));
	misfit = in_format_misfit(format ? format : &in_format_lines, &search->columns);
	if (misfit)
		return tl_usage_error("%s", misfit);
	if (format && format->takes & IN_TAKES_TEXT_FIELD &&
	    in_format_may_have_texts(format, &search->columns))
		return 0;
	if (search->text_options.given && format != &in_format_text)
		return tl_usage_error("--%s goes with texts, and the queries are %s%s",
				      search->text_options.given, kind,
				      strcmp(search->text_options.given, "top") ?
					      "" : "; --nearest N prints the N nearest");
	if (search->features_by && format != &in_format_features)
		return tl_usage_error("--features-by goes with features, and the queries are %s",
				      kind);
	return 0;
}

static int check_options(struct search *search, char **operands, int n)
{
	int code = 0;

	if (search->texts && search->format_word)
		return tl_usage_error("--text and --format exclude each other");
	search->format = search->texts ? &in_format_text : in_format_at(search->format_word);
	if (search->features_by && tl_features_check(search->features_by))
		return TL_TROUBLE;
	if (in_files_n_stdin(operands, (size_t)n) > 1)
		return tl_usage_error("standard input cannot be read twice");
	for (int i = 0; i < n && !code; i++)
		code = check_operand(search, operands[i]);
	if (code)
		return code;
	search->has_weight = qr_ask_has_weight(&search->ask, kinds_of_rows(search, operands, n));
	return qr_ask_check(&search->ask, kinds_of_rows(search, operands, n));
}

/* ---- the command ---- */

static const struct tl_option rows[] = {
	{ TL_SECTION("What the queries are") },
	{ TL_PARAGRAPH("Fingerprints, in hexadecimal; '-' for fingerprints on standard input, one "
		       "a line; files with an ending that tells a format (.jsonl, .ndjson, .tsv, "
		       ".csv, .npy, also with .gz or .zst after it); or, with one of these "
		       "options, files, '-' being standard input:") },
	{ 0, "text", NULL, TL_FLAG(struct search, texts),
	  .help = "each QUERY is a file with a UTF-8 text" },
	{ 'F', "format", "FORMAT", TL_WORD_FROM(struct search, format_word, in_format_names, 1),
	  .help = "each QUERY is a file of this format",
	  .more = "Each QUERY is a file of this format. simidx-load --help describes formats, "
		  "compression and the next options." },
	{ TL_GROUP(in_columns_rows, struct search, columns) },
	{ 0, "features-by", "NAME", TL_TEXT(struct search, features_by),
	  .help = "who made the features of the queries",
	  .more = "Who made features of -F features or jsonl, if the index has a name for that." },
	{ TL_GROUP(qr_ask_rows, struct search, ask) },
	{ 0, "explain", NULL, TL_FLAG(struct search, explains),
	  .help = "how each query is looked up, and what that took",
	  .more = "In place of an answer: how each query is looked up, and what that took. See "
		  "Explanations below." },
	{ TL_SECTION("How texts become fingerprints") },
	{ TL_PARAGRAPH("As those of the index did. It does not hold the files of --stop, --words "
		       "and --idf, so these must be given again. The other options are checked "
		       "against it, but --min-tokens and --short are about the queries: with "
		       "--short reject those that are short are not answered.") },
	{ TL_GROUP(tl_text_rows, struct search, text_options) },
	{ TL_SECTION("Output") },
	{ TL_PARAGRAPH("A line for each match with columns that are separated by tabs: query, id, "
		       "fingerprint, distance (bits that differ, whatever their weights) and "
		       "label. Searches of texts have a sixth one, weight: that of the bits that "
		       "differ, in the units of --accept, by which matches are ordered. So have "
		       "other searches whose order is not that of the distance: with --ignore, "
		       "--second, --bit-weights or jsonl. With --count or --exists: the query and "
		       "the number. Queries come in the order of the input, the matches of a query "
		       "nearest first, then by id. A query is called by its label, which of a text "
		       "in a file is the path; without one by its id; without both, as on the "
		       "command line and in the formats lines and npy, by its fingerprint in "
		       "hexadecimal, however that was written. Queries and labels have the escapes "
		       "\\t \\n \\r \\\\ \\xHH.\n"
		       "On a terminal: a table with the matches below each query, the digits that "
		       "differ from its fingerprint in colour (--color). Long labels lose their "
		       "beginning.\n"
		       "Queries are answered many at once, but never wait for one that has not "
		       "come yet.") },
	{ TL_SECTION("JSON") },
	{ TL_PARAGRAPH("With --json: a line for each query, an object with these members. Names "
		       "that are not UTF-8 are hexadecimal in query_hex and label_hex instead.") },
	{ TL_TERM("query", "What the query is called, as in the first column.") },
	{ TL_TERM("fingerprint", "Its fingerprint.") },
	{ TL_TERM("tokens, short", "Of texts: how many tokens it has, and whether that is few.") },
	{ TL_TERM("matches", "A list of objects with id, fp, distance (bits), weight (of the bits "
			     "that differ, in units of --accept; without weights the same as "
			     "distance), label, with second fingerprints distance2 (null where "
			     "that of the document is not known), and in an index with times time, "
			     "such as 2026-11-26T08:15:00Z, where it is known.") },
	{ TL_TERM("count, exists", "Instead of matches, with these options.") },
	{ TL_TERM("truncated", "Whether the answer was cut.") },
	{ TL_TERM("complete_to", "Nothing near within this distance was missed; -1: not even at "
				 "distance 0 is that sure.") },
	{ TL_SECTION("Explanations") },
	{ TL_PARAGRAPH("--explain prints how a query was looked up, its access, then the best of "
		       "those that were rejected. An access is a list of tables such as "
		       "\"t01<=1/16 t02<=0/16\": in table t01 those ranges are read whose 16 "
		       "leading bits differ from the query's in at most 1, in t02 the one in which "
		       "none differs. An \"m\" at the end (t01<=1/16m): ranges that differ only in "
		       "the last bits lie side by side and are read as one. \"scan of t01\": the "
		       "whole table is read. By weights it is a number of patterns, each of which "
		       "flips the bits of a prefix that hardly matter. Probes are ranges, "
		       "candidates the entries in them, both as predicted, with the time. What it "
		       "took is counted: probes, blocks that were read, candidates that were "
		       "compared, fingerprints that were near, their documents. The measured time "
		       "is that of the same search after it, when all that it reads is in memory, "
		       "as predictions have it. Complete to a distance: nothing near within it was "
		       "missed. The kernel is the instruction set that compares fingerprints; a "
		       "block index is a table of contents, in memory. Ranges are thought to be "
		       "equally full until one that is read turns out to be far from it.") },
	{ TL_PARAGRAPH("With --json an object has query, fingerprint, chosen and rejected (with "
		       "access, probes, candidates and microseconds), looked_up (whether "
		       "predictions are by how full the ranges really are), probes, blocks, "
		       "candidates, fingerprints, count, truncated, complete_to, microseconds "
		       "(measured), kernel and block_indexes (tables that were looked up through "
		       "one).") },
	{ TL_SECTION("Examples") },
	{ TL_EXAMPLE("simidx-query search index 91b7584a2265b1f5",
		     "Documents whose fingerprints differ from this one in at most 3 bits.") },
	{ TL_EXAMPLE("simidx-query search index --text article.txt", "Documents near to a text.") },
	{ TL_EXAMPLE("simidx-query search index -k 7 --count -F lines hashes.txt",
		     "How many documents there are within 7 bits of each line of a file.") },
	{ TL_EXAMPLE("simidx-query dump index | simidx-query search -F dump index -",
		     "All near documents of each document of the index.") },
	{ TL_SECTION("Exit status") },
	{ TL_PARAGRAPH("0: something matched. 1: nothing matched. 2: error, even if with "
		       "one query alone; the message names its file and line, and the others are "
		       "answered.") },
	{ 0 },
};

static struct search the_search = { .ask = QR_ASK_INIT };

static int run_search(struct qr_context *ctx)
{
	struct search *search = &the_search;
	int n = ctx->n_operands;

	search->ctx = ctx;
	if (check_options(search, ctx->operands, n) || qr_open(ctx) ||
	    qr_ask_prepare(&search->ask, ctx, search->columns.encoding))
		return TL_TROUBLE;
	return search_operands(search, ctx->operands, n);
}

const struct qr_command qr_search = {
	.line = { .name = "search", .operands = "INDEX QUERY...", .least = 2, .most = INT_MAX,
		  .shortest = "INDEX --text FILE",
		  .tasks = "INDEX --text FILE: what is near to a text; INDEX FP: to a fingerprint; "
			   "-F FORMAT INDEX FILE: to each row; --radius K and --accept A: how "
			   "near; --nearest N: the N nearest; --explain: how it was found",
		  .summary = "find the documents near to fingerprints or texts",
		  .about = "Print the documents that are near to each query.",
		  .options = rows, .program = &qr_program },
	.options = &the_search, .run = run_search,
};
