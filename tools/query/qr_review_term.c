/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "query/qr_review.h"

#include "common/tl_escape.h"
#include "common/tl_msg.h"
#include "common/tl_output.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_WIDTH 80
#define LEAST_WIDTH 40
#define INDENT 4

/* Words on their way to lines of a width. */
struct lines {
	size_t width, column; /* 0 = a line has nothing yet */
	int colors;
	enum qr_whose whose;  /* of the words before */
};

static const char *const colors[] = {
	[QR_BOTH] = "", [QR_OLD] = TL_STRUCK, [QR_NEW] = TL_GREEN, [QR_GAP] = "",
};

/* What marks words where there are no colours. */
static const char *const openings[] = {
	[QR_BOTH] = "", [QR_OLD] = "[-", [QR_NEW] = "{+", [QR_GAP] = "",
};

static const char *const endings[] = {
	[QR_BOTH] = "", [QR_OLD] = "-]", [QR_NEW] = "+}", [QR_GAP] = "",
};

/* Write a word, escaped, that takes `columns`, in a new line if it does not fit. */
static void put_word(struct lines *lines, const char *text, size_t columns, int has_blank,
		     enum qr_whose whose)
{
	int blank = lines->column && has_blank;
	const char *color = lines->colors ? colors[whose] : "";

	if (lines->column + (size_t)blank + columns > lines->width && lines->column) {
		putchar('\n');
		lines->column = 0;
		blank = 0;
	}
	if (!lines->column)
		printf("%*s", INDENT, "");
	printf("%s%s%s%s", blank ? " " : "", color, text, *color ? TL_PLAIN : "");
	lines->column += (lines->column ? 0 : INDENT) + (size_t)blank + columns;
}

static void show(void *ctx, const struct qr_shown *shown)
{
	struct lines *lines = ctx;
	char *text = NULL, number[64];
	size_t n = 0;
	FILE *memory;

	if (shown->whose == QR_GAP) {
		if (shown->n)
			snprintf(number, sizeof(number), "... (%zu word%s) ...", shown->n,
				 shown->n == 1 ? "" : "s");
		else
			snprintf(number, sizeof(number), "... (more differences)");
		put_word(lines, number, strlen(number), 1, QR_GAP);
		return;
	}
	memory = open_memstream(&text, &n);
	if (!memory)
		return;
	if (!lines->colors && shown->begins)
		fputs(openings[shown->whose], memory);
	tl_put_message(memory, shown->text, shown->size);
	if (!lines->colors && shown->ends)
		fputs(endings[shown->whose], memory);
	/* What is removed and what is added are told apart by a blank. */
	if (!fclose(memory))
		put_word(lines, text, tl_term_columns(text, n),
			 shown->has_blank || (shown->begins && lines->whose != shown->whose &&
					      lines->whose != QR_BOTH),
			 shown->whose);
	lines->whose = shown->whose;
	free(text);
}

/* A row: what marks its words, where it is and what it is called. */
static void put_side(const struct in_side *side, char mark, size_t width)
{
	const char *trouble = qr_review_trouble(side);
	char number[32] = "";
	size_t taken;

	if (side->path && side->line)
		snprintf(number, sizeof(number), ":%" PRIu64, side->line);
	printf("  %c ", mark);
	taken = INDENT + strlen(number);
	if (side->path)
		tl_term_put(stdout, side->path, side->path_size, width - taken);
	else if (side->label)
		tl_term_put(stdout, side->label, side->label_size, width - taken);
	else
		printf("id %" PRIu64, side->id);
	puts(number);
	if (side->path && qr_review_has_name(side)) {
		printf("%*s", INDENT, "");
		tl_term_put(stdout, side->label, side->label_size, width - INDENT);
		putchar('\n');
	}
	if (side->index) {
		printf("%*sin ", INDENT, "");
		tl_term_put(stdout, side->index, side->index_size, width - INDENT - 3);
		putchar('\n');
	}
	if (trouble)
		printf("%*s(%s)\n", INDENT, "", trouble);
}

static int put_pair(const struct qr_context *ctx, const struct qr_review *review, size_t i,
		    size_t width)
{
	const struct in_pair *pair = &review->sample.pair[i];
	struct lines lines = { .width = width, .colors = ctx->colors };
	char similarity[QR_SIMILARITY_SIZE];
	const char *note;

	printf("\n%s%zu of %zu: %s, %s (", ctx->colors ? TL_BOLD : "", i + 1,
	       review->sample.n_pairs, qr_review_similarity(pair, similarity),
	       qr_review_fate(pair));
	tl_put_message(stdout, pair->rule, strlen(pair->rule));
	printf(")%s\n", ctx->colors ? TL_PLAIN : "");
	put_side(&pair->side[1], '-', width);
	put_side(&pair->side[0], '+', width);
	if (qr_review_words(pair, show, &lines, &note))
		return tl_error("out of memory");
	if (lines.column)
		putchar('\n');
	if (note)
		printf("%*s(%s)\n", INDENT, "", note);
	return 0;
}

static void put_head(const struct qr_context *ctx, const struct qr_review *review, size_t width)
{
	const struct qr_kind_lines *kind = review->sample.kind;
	const char *old = "only in the row that is kept", *new = "only in the other row";

	tl_term_put(stdout, review->path, strlen(review->path), width - 2);
	puts(":");
	for (int i = 0; i < QR_KINDS; i++)
		if (kind[i].met)
			printf("%9" PRIu64 "  %s, %zu shown\n", kind[i].met, qr_kind_names[i],
			       kind[i].drawn);
	if (!review->sample.n_pairs)
		puts("    nothing");
	else if (ctx->colors)
		printf(TL_STRUCK "%s" TL_PLAIN "  " TL_GREEN "%s" TL_PLAIN "\n", old, new);
	else
		printf("[-%s-]  {+%s+}\n", old, new);
}

int qr_review_term(const struct qr_context *ctx, const struct qr_review *review)
{
	size_t width = ctx->width ? ctx->width : DEFAULT_WIDTH;
	int code = 0;

	if (width < LEAST_WIDTH)
		width = LEAST_WIDTH;
	put_head(ctx, review, width);
	for (size_t i = 0; !code && i < review->sample.n_pairs && !tl_output_failed(); i++)
		code = tl_stop_requested() ? tl_error("stopped by a signal") :
					     put_pair(ctx, review, i, width);
	return code ? code : tl_output_failed() ? TL_TROUBLE : 0;
}
