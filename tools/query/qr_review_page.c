/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "query/qr_review.h"

#include "common/tl_escape.h"
#include "common/tl_msg.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*
 * The page has no scripts and asks for nothing: its policy forbids that to whatever a text might
 * smuggle in.
 */
static const char head[] =
	"<!DOCTYPE html>\n"
	"<html lang=\"en\">\n"
	"<head>\n"
	"<meta charset=\"utf-8\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	"style-src 'unsafe-inline'\">\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	"<meta name=\"color-scheme\" content=\"light dark\">\n"
	"<title>Pairs of near rows</title>\n"
	"<style>\n"
	":root { --back: #fff; --card: #f6f7f9; --line: #d5d9e0; --text: #1b1f27; --dim: #5a6270;\n"
	"  --old: #ffdcd8; --old-text: #8a1c10; --new: #d3f2d6; --new-text: #0c5a1e; }\n"
	"@media (prefers-color-scheme: dark) {\n"
	"  :root { --back: #14171c; --card: #1d2128; --line: #363c47; --text: #e6e9ee;\n"
	"    --dim: #a0a8b5; --old: #57231e; --old-text: #ffc9c2; --new: #1c4526;\n"
	"    --new-text: #bdf0c6; }\n"
	"}\n"
	"body { margin: 0 auto; max-width: 60rem; padding: 1.5rem; background: var(--back);\n"
	"  color: var(--text); font: 16px/1.55 system-ui, sans-serif; }\n"
	"h1 { font-size: 1.4rem; }\n"
	"h2 { font-size: 1rem; margin: 0 0 .5rem; }\n"
	"table { border-collapse: collapse; }\n"
	"td { padding: .1rem 1rem .1rem 0; }\n"
	"td.n { text-align: right; font-variant-numeric: tabular-nums; }\n"
	"section { background: var(--card); border: 1px solid var(--line); border-radius: .5rem;\n"
	"  margin: 1.2rem 0; padding: 1rem 1.2rem; }\n"
	"p { margin: .5rem 0 0; overflow-wrap: anywhere; }\n"
	".side, .note { color: var(--dim); font-size: .9rem; margin: .1rem 0; }\n"
	".text { unicode-bidi: isolate; }\n"
	"del { background: var(--old); color: var(--old-text); }\n"
	"ins { background: var(--new); color: var(--new-text); text-decoration: underline; }\n"
	"del, ins { border-radius: .2rem; padding: 0 .15rem; }\n"
	".gap { color: var(--dim); }\n"
	"</style>\n"
	"</head>\n"
	"<body>\n";

/* Text: what is not seen is escaped, and what HTML would take for its own. */
static void put_text(FILE *out, const char *text, size_t size)
{
	char *shown = NULL;
	size_t n = 0;
	FILE *memory = open_memstream(&shown, &n);

	if (!memory)
		return;
	tl_put_message(memory, text, size);
	if (fclose(memory)) {
		free(shown);
		return;
	}
	for (size_t i = 0; i < n; i++)
		switch (shown[i]) {
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '&':
			fputs("&amp;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		case '\'':
			fputs("&#39;", out);
			break;
		default:
			putc(shown[i], out);
		}
	free(shown);
}

static void show(void *ctx, const struct qr_shown *shown)
{
	static const char *const tag[] = { [QR_OLD] = "del", [QR_NEW] = "ins" };
	FILE *out = ctx;
	int is_marked = shown->whose == QR_OLD || shown->whose == QR_NEW;

	if (shown->has_blank || (is_marked && shown->begins))
		putc(' ', out);
	if (shown->whose == QR_GAP && !shown->n) {
		fputs("<span class=\"gap\">… more differences</span>", out);
		return;
	}
	if (shown->whose == QR_GAP) {
		fprintf(out, "<span class=\"gap\">… %zu word%s …</span>", shown->n,
			shown->n == 1 ? "" : "s");
		return;
	}
	if (is_marked && shown->begins)
		fprintf(out, "<%s>", tag[shown->whose]);
	put_text(out, shown->text, shown->size);
	if (is_marked && shown->ends)
		fprintf(out, "</%s>", tag[shown->whose]);
}

static void put_side(FILE *out, const struct in_side *side, const char *what)
{
	const char *trouble = qr_review_trouble(side);

	fprintf(out, "<p class=\"side\">%s: ", what);
	if (side->path)
		put_text(out, side->path, side->path_size);
	if (side->path && side->line)
		fprintf(out, ":%" PRIu64, side->line);
	if (qr_review_has_name(side)) {
		fputs(side->path ? " (" : "", out);
		put_text(out, side->label, side->label_size);
		fputs(side->path ? ")" : "", out);
	} else if (!side->path) {
		fprintf(out, "id %" PRIu64, side->id);
	}
	if (side->index) {
		fputs(" in ", out);
		put_text(out, side->index, side->index_size);
	}
	if (trouble)
		fprintf(out, " – <strong>%s</strong>", trouble);
	fputs("</p>\n", out);
}

static int put_pair(FILE *out, const struct qr_review *review, size_t i)
{
	const struct in_pair *pair = &review->sample.pair[i];
	char similarity[QR_SIMILARITY_SIZE];
	const char *note;

	fprintf(out, "<section>\n<h2>%zu of %zu: %s, %s (", i + 1, review->sample.n_pairs,
		qr_review_similarity(pair, similarity), qr_review_fate(pair));
	put_text(out, pair->rule, strlen(pair->rule));
	fputs(")</h2>\n", out);
	put_side(out, &pair->side[1], "kept");
	put_side(out, &pair->side[0], pair->is_kept ? "kept, too" : "left out");
	fputs("<p class=\"text\" dir=\"auto\">", out);
	if (qr_review_words(pair, show, out, &note))
		return -1;
	fputs("</p>\n", out);
	if (note)
		fprintf(out, "<p class=\"note\">%s</p>\n", note);
	fputs("</section>\n", out);
	return 0;
}

int qr_review_page(FILE *out, const struct qr_review *review)
{
	const struct qr_kind_lines *kind = review->sample.kind;
	int rc = 0;

	fputs(head, out);
	fputs("<h1>Pairs of near rows in ", out);
	put_text(out, review->path, strlen(review->path));
	fputs("</h1>\n<table>\n", out);
	for (int i = 0; i < QR_KINDS; i++)
		if (kind[i].met)
			fprintf(out,
				"<tr><td class=\"n\">%" PRIu64 "</td><td>%s</td>"
				"<td>%zu shown</td></tr>\n",
				kind[i].met, qr_kind_names[i], kind[i].drawn);
	fputs("</table>\n<p><del>only in the row that is kept</del> <ins>only in the other row"
	      "</ins></p>\n",
	      out);
	for (size_t i = 0; !rc && i < review->sample.n_pairs && !tl_stop_requested(); i++)
		rc = put_pair(out, review, i);
	fputs("</body>\n</html>\n", out);
	return rc;
}
