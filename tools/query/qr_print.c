/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "query/qr_print.h"

#include "common/tl_escape.h"
#include "common/tl_msg.h"
#include "common/tl_number.h"
#include "common/tl_output.h"
#include "common/tl_term.h"
#include "common/tl_time.h"
#include "query/qr_json.h"

#include <string.h>

int qr_print_failed(FILE *out)
{
	return (out == stdout ? tl_output_failed() : ferror(out)) ? TL_TROUBLE : 0;
}

void qr_print_problem(void *arg, const simidx_problem *problem)
{
	const struct qr_context *ctx = arg;

	tl_progress_clear();
	if (ctx->json) {
		qr_json_problem(problem);
		return;
	}
	tl_put_escaped(stdout, problem->table, strlen(problem->table));
	putchar('\t');
	tl_put_escaped(stdout, problem->text, strlen(problem->text));
	putchar('\n');
	tl_output_failed();
}

void qr_print_word(const char *name, const char *value)
{
	printf("%-20s  ", name);
	tl_put_escaped(stdout, value, strlen(value));
	putchar('\n');
}

void qr_print_id(FILE *out, uint64_t id)
{
	if (id != SIMIDX_NO_ID)
		fprintf(out, "%llu", (unsigned long long)id);
}

void qr_print_time(FILE *out, const simidx_match *match)
{
	char text[TL_TIME_SIZE];

	if (match->flags & SIMIDX_MATCH_TIME)
		fputs(tl_time_write(match->time, text), out);
}

size_t qr_format_fingerprint(char out[QR_FP_SIZE], uint64_t fp, unsigned bits)
{
	return (size_t)snprintf(out, QR_FP_SIZE, "%0*llx", (int)tl_hex_width(bits),
				(unsigned long long)fp);
}

void qr_print_fingerprint(FILE *out, uint64_t fp, unsigned bits)
{
	char text[QR_FP_SIZE];

	fwrite(text, 1, qr_format_fingerprint(text, fp, bits), out);
}

void qr_print_compared(const struct qr_context *ctx, FILE *out, uint64_t fp, uint64_t with,
		       unsigned bits)
{
	char text[QR_FP_SIZE];
	unsigned digits = (unsigned)qr_format_fingerprint(text, fp, bits);
	int red = 0, differs;

	if (!ctx->colors) {
		fwrite(text, 1, digits, out);
		return;
	}
	for (unsigned i = 0; i < digits; i++) {
		differs = ((fp ^ with) >> 4 * (digits - 1 - i) & 15) != 0;
		if (differs != red)
			fputs(differs ? TL_RED : TL_PLAIN, out);
		red = differs;
		putc(text[i], out);
	}
	fputs(red ? TL_PLAIN : "", out);
}

static void print_match_fingerprint(FILE *out, const struct qr_context *ctx,
				    const struct qr_query *query, const simidx_match *match)
{
	qr_print_compared(ctx, out, match->fp, query->has_fp ? query->fp : match->fp,
			  ctx->info.bits);
}

/* ---- columns separated by tabs ---- */

static void print_name(FILE *out, const struct qr_query *query)
{
	tl_put_escaped(out, query->name, query->name_size);
	putc('\t', out);
}

static void print_row(FILE *out, const struct qr_context *ctx, const struct qr_query *query,
		      const simidx_match *match)
{
	print_name(out, query);
	qr_print_id(out, match->id);
	putc('\t', out);
	print_match_fingerprint(out, ctx, query, match);
	fprintf(out, "\t%u\t", match->distance);
	if (match->label)
		tl_put_escaped(out, match->label, match->label_size);
	if (query->has_weight)
		fprintf(out, "\t%u", match->weighted_distance);
	if (query->has_time) {
		putc('\t', out);
		qr_print_time(out, match);
	}
	putc('\n', out);
}

/* ---- tables on a terminal ---- */

#define GAP 2
#define DISTANCE_WIDTH 8
#define WEIGHT_WIDTH 6
#define TIME_WIDTH 20
#define NUMBER_WIDTH 13
#define LEAST_WIDTH 16 /* of names and labels, however narrow the terminal is */

/* Ids count up from 0 unless a user gives others; a wider one moves its line only. */
static int id_width(const struct qr_context *ctx)
{
	int width;

	if (ctx->info.flags & SIMIDX_CREATE_NO_IDS)
		return 0;
	width = (int)strlen(tl_count(ctx->info.next_id));
	return width < 2 ? 2 : width;
}

static int fingerprint_width(const struct qr_context *ctx)
{
	int width = (int)tl_hex_width(ctx->info.bits), least = (int)strlen("fingerprint");

	return width < least ? least : width;
}

/* Columns that are left for names and labels at the end of a line. */
static size_t rest_width(const struct qr_context *ctx, const struct qr_query *query)
{
	int used = id_width(ctx) + GAP + fingerprint_width(ctx) + GAP;

	used += query->is_search ? DISTANCE_WIDTH + GAP : 0;
	used += query->has_weight ? WEIGHT_WIDTH + GAP : 0;
	used += query->has_time ? TIME_WIDTH + GAP : 0;
	used = query->show == QR_SHOW_MATCHES ? used : NUMBER_WIDTH + GAP;
	return ctx->width < (unsigned)used + LEAST_WIDTH ? LEAST_WIDTH
							 : ctx->width - (unsigned)used;
}

void qr_print_header(const struct qr_context *ctx, const struct qr_query *query)
{
	if (!ctx->width || ctx->json)
		return;
	if (query->show != QR_SHOW_MATCHES) {
		printf("%*s  query\n", NUMBER_WIDTH,
		       query->show == QR_SHOW_COUNT ? "documents" : "exists");
		return;
	}
	if (id_width(ctx))
		printf("%*s  ", id_width(ctx), "id");
	printf("%-*s", fingerprint_width(ctx), "fingerprint");
	if (query->is_search)
		printf("  %*s", DISTANCE_WIDTH, "distance");
	if (query->has_weight)
		printf("  %*s", WEIGHT_WIDTH, "weight");
	if (query->has_time)
		printf("  %-*s", ctx->info.labels ? TIME_WIDTH : 0, "time");
	puts(ctx->info.labels ? "  label" : "");
}

/* The columns before the label; `distance` is a word or a number. */
static void print_cells(FILE *out, const struct qr_context *ctx, const struct qr_query *query,
			const char *distance, const simidx_match *match)
{
	const char *id = match && match->id != SIMIDX_NO_ID ? tl_count(match->id) : "";
	int rest = fingerprint_width(ctx) - (int)tl_hex_width(ctx->info.bits);

	if (id_width(ctx))
		fprintf(out, "%*s  ", id_width(ctx), id);
	if (match)
		print_match_fingerprint(out, ctx, query, match);
	else if (query->has_fp)
		qr_print_fingerprint(out, query->fp, ctx->info.bits);
	else
		rest = fingerprint_width(ctx);
	fprintf(out, "%*s", rest, "");
	if (query->is_search)
		fprintf(out, "  %*s", DISTANCE_WIDTH, distance);
	if (query->has_weight && match)
		fprintf(out, "  %*u", WEIGHT_WIDTH, match->weighted_distance);
	else if (query->has_weight)
		fprintf(out, "  %*s", WEIGHT_WIDTH, "");
	if (query->has_time && match) {
		fputs("  ", out);
		qr_print_time(out, match);
		if (match->label && !(match->flags & SIMIDX_MATCH_TIME))
			fprintf(out, "%*s", TIME_WIDTH, "");
	}
}

/* The query itself, in the columns of its matches, so that fingerprints stand below each other. */
static void print_query(FILE *out, const struct qr_context *ctx, const struct qr_query *query)
{
	char fp[QR_FP_SIZE];
	size_t size = qr_format_fingerprint(fp, query->fp, ctx->info.bits);

	fputs(query->is_next ? "\n" : "", out);
	fputs(ctx->colors ? TL_BOLD : "", out);
	print_cells(out, ctx, query, "query", NULL);
	if (!query->has_fp || size != query->name_size || memcmp(fp, query->name, size) != 0) {
		fputs("  ", out);
		tl_term_put(out, query->name, query->name_size, rest_width(ctx, query));
	}
	fputs(ctx->colors ? TL_PLAIN "\n" : "\n", out);
}

static void print_line(FILE *out, const struct qr_context *ctx, const struct qr_query *query,
		       const simidx_match *match)
{
	char distance[16];

	snprintf(distance, sizeof(distance), "%u", match->distance);
	print_cells(out, ctx, query, distance, match);
	if (match->label) {
		fputs("  ", out);
		tl_term_put(out, match->label, match->label_size, rest_width(ctx, query));
	}
	putc('\n', out);
}

static void print_number(FILE *out, const struct qr_context *ctx, const struct qr_query *query,
			 uint64_t number)
{
	const char *shown = query->show != QR_SHOW_EXISTS ? tl_count(number) :
			    number			  ? "yes" : "no";

	if (!ctx->width) {
		print_name(out, query);
		fprintf(out, "%llu\n", (unsigned long long)number);
		return;
	}
	fprintf(out, "%*s  ", NUMBER_WIDTH, shown);
	tl_term_put(out, query->name, query->name_size, rest_width(ctx, query));
	putc('\n', out);
}

/* ---- answers ---- */

int qr_print_results(FILE *out, const struct qr_context *ctx, const struct qr_query *query,
		     const simidx_results *results, int begun)
{
	uint64_t count = query->show == QR_SHOW_EXISTS ? results->count != 0 : results->count;

	if (ctx->json)
		return qr_json_results(out, ctx, query, results, begun);
	if (query->show != QR_SHOW_MATCHES) {
		print_number(out, ctx, query, count);
		return qr_print_failed(out);
	}
	if (ctx->width && query->is_search && !begun)
		print_query(out, ctx, query);
	for (size_t i = 0; i < results->n && !qr_print_failed(out); i++) {
		if (ctx->width)
			print_line(out, ctx, query, &results->matches[i]);
		else
			print_row(out, ctx, query, &results->matches[i]);
	}
	if (ctx->width && query->is_search && !begun && !results->n) {
		print_cells(out, ctx, &(struct qr_query){ .is_search = 1 }, "none", NULL);
		putc('\n', out);
	}
	return qr_print_failed(out);
}
