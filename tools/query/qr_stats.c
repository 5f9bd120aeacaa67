/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "common/tl_msg.h"
#include "common/tl_path.h"
#include "input/in_room.h"
#include "query/qr_json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simidx_info.h>

/* A sub-database; the name is a copy. */
struct table {
	char name[32];
	simidx_table_info info;
};

static const char *layout_name(const simidx_info *info)
{
	return info->layout == SIMIDX_LAYOUT_ROWS ? "rows" : "blocks";
}

static uint64_t unknown_fp2(const struct table *tables, size_t n)
{
	uint64_t unknown = 0;

	for (size_t i = 0; i < n; i++)
		unknown += tables[i].info.unknown_fp2;
	return unknown;
}

/*
 * Bytes of the file in use for each document, or -1 without documents, or where they are not known.
 */
static double bytes_per_document(const simidx_info *info)
{
	return info->documents && info->used_bytes
		       ? (double)info->used_bytes / (double)info->documents : -1;
}

/* Bytes of a sub-database's pages for each entry, or -1 without entries. */
static double bytes_per_entry(const simidx_table_info *table, uint64_t page_bytes)
{
	if (!table->entries)
		return -1;
	return (double)table->pages * (double)page_bytes / (double)table->entries;
}

/* Share of a sub-database's pages that its entries fill, 0..1, or -1 without pages. */
static double table_fill(const simidx_table_info *table, uint64_t page_bytes)
{
	if (!table->pages || !page_bytes)
		return -1;
	return (double)table->bytes_used / ((double)table->pages * (double)page_bytes);
}

/*
 * The information in a set of n distinct values of `bits` bits, log2(C(2^bits, n)) / n bits an
 * entry: no table of random fingerprints can be smaller. -1 for n = 0.
 *
 * ln C(M, n) = ln(M! / (M - n)!) - ln n!. With M = 2^64 the two factorials of the first term
 * agree in more digits than a double has, so Stirling's formula is applied to their quotient:
 * n ln M - (M - n + 1/2) ln(1 - n/M) - n, with a correction that matters only when M - n is
 * small.
 */
static double limit_bits(unsigned bits, uint64_t n)
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
static int read_tables(struct qr_context *ctx, struct table **out, size_t *n)
{
	struct in_room room = { NULL, 0 };
	simidx_table_info info = SIMIDX_TABLE_INFO_INIT;
	simidx_error err;
	int rc;

	*out = NULL;
	*n = 0;
	/* What an engine keeps has no sub-databases. */
	if (tl_path_is_uri(ctx->path))
		return 0;
	for (;;) {
		rc = simidx_get_table_info(ctx->index, (unsigned)*n, &info, &err);
		if (qr_again(ctx, rc, &err)) {
			*n = 0;
			continue;
		}
		if (rc)
			break;
		if (in_room_have(&room, (*n + 1) * sizeof(**out)))
			return tl_error("out of memory");
		*out = room.bytes;
		snprintf((*out)[*n].name, sizeof((*out)[*n].name), "%s", info.name);
		(*out)[(*n)++].info = info;
	}
	return rc == SIMIDX_E_END ? 0 : qr_fail(ctx, &err);
}

/* ---- for people ---- */

static void print_count(const char *name, uint64_t value)
{
	qr_print_word(name, tl_term_count(value));
}

static void print_info(const struct qr_context *ctx, uint64_t unknown)
{
	const simidx_info *info = &ctx->info;
	double bytes = bytes_per_document(info);
	char path[4096];

	snprintf(path, sizeof(path), "%s", ctx->path);
	tl_path_hide_passwords(path);
	qr_print_word("index", path);
	print_count("documents", info->documents);
	if (!tl_path_is_uri(ctx->path)) {
		print_count("distinct in tables", info->distinct);
		print_count("fresh rows", info->fresh_rows);
	}
	print_count("labels", info->labels);
	qr_print_word("next id",
		      info->next_id > SIMIDX_MAX_ID ? "-" : tl_term_count(info->next_id));
	print_count("bits", info->bits);
	qr_print_word("plan", info->plan);
	if (!tl_path_is_uri(ctx->path)) {
		qr_print_word("layout", layout_name(info));
		printf("%-20s  %u %%\n", "fill of merges", info->fill);
	}
	qr_print_word("ids", info->flags & SIMIDX_CREATE_NO_IDS ? "no" : "yes");
	qr_print_word("second fingerprints", info->flags & SIMIDX_CREATE_FP2 ? "yes" : "no");
	if (unknown)
		print_count("of them not known", unknown);
	if (info->flags & SIMIDX_CREATE_TIMES)
		qr_print_word("times", "yes");
	if (info->flags & SIMIDX_CREATE_NOTES)
		print_count("notes", info->notes);
	qr_print_word("texts by", *info->profile ? info->profile : "-");
	if (info->durability)
		qr_print_word("durability", info->durability);
	if (!tl_path_is_uri(ctx->path)) {
		printf("%-20s  %u.%u\n", "format", info->format_major, info->format_minor);
		qr_print_word(ctx->width ? "file" : "file bytes", tl_term_bytes(info->file_bytes));
	}
	if (info->used_bytes || !tl_path_is_uri(ctx->path))
		qr_print_word(ctx->width ? "used" : "used bytes", tl_term_bytes(info->used_bytes));
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

static void print_table(const struct qr_context *ctx, const struct table *table)
{
	const simidx_table_info *info = &table->info;

	printf("%-8s  ", table->name);
	if (info->prefix_bits)
		printf("%6u", info->prefix_bits);
	else
		printf("%6s", "-");
	printf("  %13s", tl_term_count(info->entries));
	printf("  %11s", tl_term_count(info->keys));
	printf("  %11s", tl_term_count(info->pages));
	print_figure(bytes_per_entry(info, ctx->info.page_bytes), 1, 11);
	print_figure(table_fill(info, ctx->info.page_bytes), 100, 7);
	putchar('\n');
}

static void print_stats(const struct qr_context *ctx, const struct table *tables, size_t n)
{
	double least = limit_bits(ctx->info.bits, ctx->info.distinct) / 8;

	print_info(ctx, unknown_fp2(tables, n));
	if (!n)
		return;
	printf("\n%-8s  %6s  %13s  %11s  %11s  %11s  %7s\n", "table", "prefix", "entries", "keys",
	       "pages", "bytes/entry", "fill, %");
	for (size_t i = 0; i < n; i++)
		print_table(ctx, &tables[i]);
	if (least >= 0)
		printf("\nNo table t.. of random fingerprints can be smaller than %.2f bytes an "
		       "entry.\n",
		       least);
}

/* ---- for programs ---- */

static void put_file(struct tl_json *json, const simidx_info *info)
{
	char format[32];

	snprintf(format, sizeof(format), "%u.%u", info->format_major, info->format_minor);
	tl_json_string(json, "format", format);
	tl_json_unsigned(json, "file_bytes", info->file_bytes);
	tl_json_unsigned(json, "used_bytes", info->used_bytes);
	tl_json_unsigned(json, "page_bytes", info->page_bytes);
}

/* What an engine holds has no file: what is about one is left out. */
static void put_info(struct tl_json *json, const simidx_info *info, int has_file)
{
	tl_json_unsigned(json, "documents", info->documents);
	if (has_file) {
		tl_json_unsigned(json, "distinct", info->distinct);
		tl_json_unsigned(json, "fresh_rows", info->fresh_rows);
	}
	tl_json_unsigned(json, "labels", info->labels);
	qr_json_next_id(json, info);
	tl_json_unsigned(json, "bits", info->bits);
	tl_json_string(json, "plan", info->plan);
	if (has_file) {
		tl_json_string(json, "layout", layout_name(info));
		tl_json_unsigned(json, "fill", info->fill);
	}
	tl_json_bool(json, "ids", !(info->flags & SIMIDX_CREATE_NO_IDS));
	tl_json_bool(json, "fp2", (info->flags & SIMIDX_CREATE_FP2) != 0);
	if (info->flags & SIMIDX_CREATE_TIMES)
		tl_json_bool(json, "times", 1);
	if (info->flags & SIMIDX_CREATE_NOTES)
		tl_json_unsigned(json, "notes", info->notes);
	tl_json_bytes(json, "profile", info->profile, strlen(info->profile));
	if (info->durability)
		tl_json_bytes(json, "durability", info->durability, strlen(info->durability));
	if (has_file)
		put_file(json, info);
	else if (info->used_bytes)
		tl_json_unsigned(json, "used_bytes", info->used_bytes);
}

/* A figure that is not known (nothing stored) is left out. */
static void put_figure(struct tl_json *json, const char *key, double value)
{
	if (value >= 0)
		tl_json_real(json, key, value);
}

static void put_table(struct tl_json *json, const struct table *table, const simidx_info *index)
{
	uint64_t page_bytes = index->page_bytes;
	const simidx_table_info *info = &table->info;

	tl_json_open(json, NULL, '{');
	tl_json_bytes(json, "table", table->name, strlen(table->name));
	if (info->prefix_bits)
		tl_json_unsigned(json, "prefix_bits", info->prefix_bits);
	tl_json_unsigned(json, "entries", info->entries);
	tl_json_unsigned(json, "keys", info->keys);
	tl_json_unsigned(json, "pages", info->pages);
	tl_json_unsigned(json, "overflow_pages", info->overflow_pages);
	tl_json_unsigned(json, "bytes_used", info->bytes_used);
	put_figure(json, "bytes_per_entry", bytes_per_entry(info, page_bytes));
	put_figure(json, "fill", table_fill(info, page_bytes));
	qr_json_fingerprint(json, "digest", info->digest, 64);
	tl_json_close(json, '}');
}

static int print_json(const struct qr_context *ctx, const struct table *tables, size_t n)
{
	struct tl_json json = tl_json_line(stdout);

	put_info(&json, &ctx->info, n > 0);
	if (n && ctx->info.flags & SIMIDX_CREATE_FP2)
		tl_json_unsigned(&json, "unknown_fp2", unknown_fp2(tables, n));
	put_figure(&json, "bytes_per_document", bytes_per_document(&ctx->info));
	put_figure(&json, "limit_bits", limit_bits(ctx->info.bits, ctx->info.distinct));
	tl_json_open(&json, "tables", '[');
	for (size_t i = 0; i < n; i++)
		put_table(&json, &tables[i], &ctx->info);
	tl_json_close(&json, ']');
	return qr_json_end(&json);
}

/* ---- the command ---- */

/*
 * Count what a search finds: the first look-up may complete what a writer that was killed has left
 * in an engine. An index in a directory has nothing of that kind. Returns 0 or what the program
 * ends with.
 */
static int look_up_first(struct qr_context *ctx)
{
	simidx_match match;
	simidx_reader *reader;
	simidx_error err;
	int rc;

	if (!tl_path_is_uri(ctx->path))
		return 0;
	do {
		rc = simidx_reader_open(ctx->index, &reader, &err);
		if (!rc) {
			rc = simidx_reader_find_id(reader, SIMIDX_MAX_ID, &match, &err);
			simidx_reader_close(reader);
		}
		if (!rc || rc == SIMIDX_E_NOT_FOUND || rc == SIMIDX_E_CORRUPT)
			rc = simidx_get_info(ctx->index, &ctx->info, &err);
	} while (qr_again(ctx, rc, &err));
	return rc ? qr_fail(ctx, &err) : 0;
}

static int run_stats(struct qr_context *ctx)
{
	struct table *tables = NULL;
	size_t n = 0;
	int code = qr_open(ctx);

	if (!code)
		code = look_up_first(ctx);
	if (!code)
		code = read_tables(ctx, &tables, &n);
	if (!code && ctx->json)
		code = print_json(ctx, tables, n);
	else if (!code)
		print_stats(ctx, tables, n);
	free(tables);
	return code;
}

static const struct tl_option rows[] = {
	{ TL_SECTION("JSON") },
	{ TL_PARAGRAPH("With --json: one object. Its members are documents, distinct (different "
		       "fingerprints in the tables), fresh_rows (changes that a merge has not yet "
		       "moved into the tables; every search finds them), labels, next_id (null "
		       "where no id is left; without ids there is none), bits, plan, layout, "
		       "fill, ids, fp2, times (true where documents have times), notes "
		       "(documents with a note, in an index that keeps notes), unknown_fp2 "
		       "(documents whose second fingerprint repair has not found), profile (how "
		       "texts become fingerprints), durability (the setting of a server by which "
		       "what is stored lasts, where it tells one), format, file_bytes, used_bytes, "
		       "page_bytes, bytes_per_document, limit_bits and tables. Each of the tables "
		       "has table (its name), prefix_bits, entries, keys, pages, overflow_pages, "
		       "bytes_used, bytes_per_entry, fill and digest.") },
	{ TL_SECTION("Exit status") },
	{ TL_PARAGRAPH("0: printed. 2: anything else.") },
	{ 0 },
};

const struct qr_command qr_stats = {
	.line = { .name = "stats", .operands = "INDEX", .least = 1, .most = 1,
		  .shortest = "INDEX",
		  .summary = "print what an index is and holds, and how large that is",
		  .about = "Print what the index is and holds: its documents and, for each table "
			   "in it, its entries, LMDB keys (each stands for a block of entries, or "
			   "for one entry in the layout rows), pages, bytes of pages for each "
			   "entry, and how much of the pages the entries fill. Fresh rows are "
			   "changes that a merge has not yet moved into the tables; every search "
			   "finds them.",
		  .options = rows, .program = &qr_program },
	.run = run_stats,
};
