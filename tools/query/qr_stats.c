/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "query/qr_stats.h"

#include "common/tl_escape.h"
#include "common/tl_msg.h"
#include "common/tl_options.h"
#include "common/tl_term.h"
#include "query/qr_json.h"
#include "query/qr_skew.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *qr_layout_name(const simidx_info *info)
{
	return info->layout == SIMIDX_LAYOUT_ROWS ? "rows" : "blocks";
}

uint64_t qr_unknown_fp2(const struct qr_table *tables, size_t n)
{
	uint64_t unknown = 0;

	for (size_t i = 0; i < n; i++)
		unknown += tables[i].info.unknown_fp2;
	return unknown;
}

double qr_bytes_per_document(const simidx_info *info)
{
	return info->documents ? (double)info->used_bytes / (double)info->documents : -1;
}

double qr_bytes_per_entry(const simidx_table_info *table, uint64_t page_bytes)
{
	if (!table->entries)
		return -1;
	return (double)table->pages * (double)page_bytes / (double)table->entries;
}

double qr_table_fill(const simidx_table_info *table, uint64_t page_bytes)
{
	if (!table->pages || !page_bytes)
		return -1;
	return (double)table->bytes_used / ((double)table->pages * (double)page_bytes);
}

/*
 * ln C(M, n) = ln(M! / (M - n)!) - ln n!. With M = 2^64 the two factorials of the first term
 * agree in more digits than a double has, so Stirling's formula is applied to their quotient:
 * n ln M - (M - n + 1/2) ln(1 - n/M) - n, with a correction that matters only when M - n is
 * small.
 */
double qr_limit_bits(unsigned bits, uint64_t n)
{
	double m = ldexp(1.0, (int)bits), count = (double)n, rest = m - count, nats;

	if (n == 0)
		return -1;
	if (rest < 1)
		return 0;
	nats = count * log(m) - (rest + 0.5) * log1p(-count / m) - count + 1 / (12 * m) -
	       1 / (12 * rest) - lgamma(count + 1);
	return nats / log(2.0) / count;
}

/* All sub-databases; *out is for free(). Returns 0 or TL_TROUBLE. */
static int read_tables(struct qr_context *ctx, struct qr_table **out, size_t *n)
{
	struct qr_table *tables = NULL, *larger;
	simidx_table_info info = SIMIDX_TABLE_INFO_INIT;
	simidx_error err;
	int rc;

	*out = NULL;
	*n = 0;
	for (;;) {
		rc = simidx_get_table_info(ctx->index, (unsigned)*n, &info, &err);
		if (qr_again(ctx, rc, &err)) {
			*n = 0;
			continue;
		}
		if (rc)
			break;
		larger = realloc(tables, (*n + 1) * sizeof(*tables));
		if (!larger) {
			free(tables);
			return tl_error("out of memory");
		}
		tables = larger;
		snprintf(tables[*n].name, sizeof(tables[*n].name), "%s", info.name);
		tables[(*n)++].info = info;
	}
	if (rc != SIMIDX_E_END) {
		free(tables);
		return qr_fail(ctx, &err);
	}
	*out = tables;
	return 0;
}

/* ---- for people ---- */

static void print_count(const char *name, uint64_t value)
{
	char text[TL_NUMBER_SIZE];

	printf("%-20s  %s\n", name, tl_term_count(text, value));
}

static void print_size(const char *name, uint64_t bytes)
{
	char text[TL_NUMBER_SIZE];

	printf("%-20s  %s\n", name, tl_term_bytes(text, bytes));
}

static void print_word(const char *name, const char *value)
{
	printf("%-20s  ", name);
	tl_put_escaped(stdout, value, strlen(value));
	putchar('\n');
}

static void print_info(const struct qr_context *ctx, uint64_t unknown_fp2)
{
	const simidx_info *info = &ctx->info;
	double bytes = qr_bytes_per_document(info);

	print_word("index", ctx->path);
	print_count("documents", info->documents);
	print_count("distinct in tables", info->distinct);
	print_count("fresh rows", info->fresh_rows);
	print_count("labels", info->labels);
	print_count("next id", info->next_id);
	print_count("bits", info->bits);
	print_word("plan", info->plan);
	print_word("layout", qr_layout_name(info));
	printf("%-20s  %u %%\n", "fill of merges", info->fill);
	print_word("ids", info->flags & SIMIDX_CREATE_NO_IDS ? "no" : "yes");
	print_word("second fingerprints", info->flags & SIMIDX_CREATE_FP2 ? "yes" : "no");
	if (unknown_fp2)
		print_count("of them not known", unknown_fp2);
	print_word("texts by", *info->profile ? info->profile : "-");
	printf("%-20s  %u.%u\n", "format", info->format_major, info->format_minor);
	print_size(ctx->width ? "file" : "file bytes", info->file_bytes);
	print_size(ctx->width ? "used" : "used bytes", info->used_bytes);
	if (bytes >= 0)
		printf("%-20s  %.2f\n", "bytes per document", bytes);
}

static void print_figure(double value, double factor, int width)
{
	if (value < 0)
		printf("  %*s", width, "-");
	else
		printf("  %*.2f", width, value * factor);
}

static void print_table(const struct qr_context *ctx, const struct qr_table *table)
{
	const simidx_table_info *info = &table->info;
	char text[TL_NUMBER_SIZE];

	printf("%-8s  ", table->name);
	if (info->prefix_bits)
		printf("%6u", info->prefix_bits);
	else
		printf("%6s", "-");
	printf("  %13s", tl_term_count(text, info->entries));
	printf("  %11s", tl_term_count(text, info->keys));
	printf("  %11s", tl_term_count(text, info->pages));
	print_figure(qr_bytes_per_entry(info, ctx->info.page_bytes), 1, 11);
	print_figure(qr_table_fill(info, ctx->info.page_bytes), 100, 7);
	putchar('\n');
}

static void print_stats(const struct qr_context *ctx, const struct qr_table *tables, size_t n)
{
	double least = qr_limit_bits(ctx->info.bits, ctx->info.distinct) / 8;

	print_info(ctx, qr_unknown_fp2(tables, n));
	printf("\n%-8s  %6s  %13s  %11s  %11s  %11s  %7s\n", "table", "prefix", "entries", "keys",
	       "pages", "bytes/entry", "fill, %");
	for (size_t i = 0; i < n; i++)
		print_table(ctx, &tables[i]);
	if (least >= 0)
		printf("\nNo table t.. of random fingerprints can be smaller than %.2f bytes an "
		       "entry.\n",
		       least);
}

static void print_skew(const struct qr_context *ctx, const struct qr_skew *skew,
		       const struct qr_table *tables, size_t n)
{
	int digits = (int)(ctx->info.bits + 3) / 4;
	char text[TL_NUMBER_SIZE];

	printf("\nThe fullest fingerprint, and the fullest range of each table:\n");
	if (!skew->distinct)
		printf("none\n");
	else
		printf("%-8s  %0*" PRIx64 "  %s document%s\n", "-", digits, skew->fingerprint.fp,
		       tl_term_count(text, skew->fingerprint.n),
		       skew->fingerprint.n == 1 ? "" : "s");
	for (size_t i = 0; i < n; i++) {
		if (!skew->range[i].n)
			continue;
		printf("%-8s  %0*" PRIx64 "  %s fingerprint%s", tables[i].name, digits,
		       skew->range[i].fp, tl_term_count(text, skew->range[i].n),
		       skew->range[i].n == 1 ? "" : "s");
		printf(", evenly spread %.3g\n",
		       ldexp((double)skew->distinct, -(int)tables[i].info.prefix_bits));
	}
}

/* ---- the command ---- */

struct options {
	int skew;
};

static int run_stats(struct qr_context *ctx, int argc, char **argv)
{
	struct qr_table *tables = NULL;
	struct options options = { 0 };
	struct qr_skew skew = { 0 };
	size_t n = 0;
	int code = qr_parse(&qr_stats, ctx, &options, argc, argv);

	if (code != TL_PROCEED)
		return code;
	code = qr_open(ctx);
	if (!code)
		code = read_tables(ctx, &tables, &n);
	if (!code && options.skew)
		code = qr_skew_read(ctx, tables, n, &skew);
	if (!code && ctx->json) {
		code = qr_json_stats(ctx, tables, n, options.skew ? &skew : NULL);
	} else if (!code) {
		print_stats(ctx, tables, n);
		if (options.skew)
			print_skew(ctx, &skew, tables, n);
	}
	qr_skew_close(&skew);
	free(tables);
	return code;
}

static const struct tl_option rows[] = {
	{ 0, "skew", NULL, TL_FLAG(struct options, skew),
	  .help = "where most documents are: read all of them",
	  .more = "Also print the fingerprint that most documents have and, for each table, the prefix "
		  "that most different fingerprints have, beside how many that would be if all were "
		  "spread evenly. A search reads all that shares a prefix with its query, so crowded "
		  "ranges make searches slow. This reads all documents and takes 16 bytes of memory "
		  "for each." },
	{ TL_SECTION("JSON") },
	{ TL_PARAGRAPH("With --json: one object. Its members are documents, distinct (different "
		       "fingerprints in the tables), fresh_rows (changes that a merge has not yet "
		       "moved into the tables; every search finds them), labels, next_id, bits, plan, "
		       "layout, fill, ids, fp2, unknown_fp2 (documents whose second fingerprint "
		       "repair has not found), profile (how texts become fingerprints), format, "
		       "file_bytes, used_bytes, page_bytes, bytes_per_document, limit_bits and "
		       "tables. Each of the tables has table (its name), prefix_bits, entries, keys, "
		       "pages, overflow_pages, bytes_used, bytes_per_entry, fill and digest. With --skew there is a member "
		       "fullest with fp and documents, and each table with a prefix has fullest with "
		       "fp and fingerprints.") },
	{ 0 },
};

const struct qr_command qr_stats = {
	.line = { .name = "stats", .operands = "INDEX", .least = 1, .most = 1,
		  .summary = "print what an index is and holds, and how large that is",
		  .about = "Print what the index is and holds: its documents and, for each table in "
			   "it, its entries, LMDB keys (each stands for a block of entries, or for one "
			   "entry in the layout rows), pages, bytes of pages for each entry, and how "
			   "much of the pages the entries fill. Fresh rows are changes that a merge "
			   "has not yet moved into the tables; every search finds them.",
		  .options = rows, .program = &qr_program },
	.takes_index = 1,
	.run = run_stats,
};
