/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/dd_largest.h"

#include "common/tl_msg.h"
#include "common/tl_number.h"
#include "common/tl_utf8.h"

#include <stdlib.h>

/* Groups of which fewer were left out are no news. */
#define LEAST_LEFT_OUT 10

/* Above both there is a warning: documents, and percent of all. */
#define MANY 1000
#define MANY_PERCENT 1

/* Characters of an excerpt. */
#define EXCERPT 60

/* A line: how many, for what, and how that begins. */
static void put_group(FILE *out, const struct dd_work *work, struct dd_texts *texts,
		      const struct dd_large *group)
{
	struct dd_text is = { NULL, 0 };
	const char *text;
	size_t size, shown;

	fprintf(out, "%9s  ", tl_count(group->n));
	dd_keepers_put_large(out, work->keepers, group);
	if (group->has_fact ? dd_texts_get(texts, 0, &group->fact, &group->near, &is) != 0 :
			      simidx_dedup_text(work->dedup, &group->near, &is.bytes, &is.size,
						NULL))
		return;
	text = is.bytes;
	size = text ? is.size : 0;
	if (!size)
		return;
	shown = tl_utf8_forward(text, size, 0, EXCERPT);
	fputs("  ", out);
	/* The message escapes what is no text; here only what would cut it short. */
	for (size_t i = 0; i < shown; i++)
		putc(text[i] == '\n' || text[i] == '\r' || text[i] == '\t' || !text[i] ? ' ' :
											 text[i],
		     out);
	fputs(shown < size ? "..." : "", out);
}

static void warn(const struct dd_work *work, const struct dd_large *group, uint64_t documents)
{
	char *name = NULL;
	size_t size;
	FILE *out = open_memstream(&name, &size);

	if (out) {
		dd_keepers_put_large(out, work->keepers, group);
		fclose(out);
	}
	tl_error("warning: %s of all documents (%.1f %%) are left out for one, %s: if that is a "
		 "template, they may be no copies (--evidence shows them%s)",
		 tl_count(group->n), 100.0 * (double)group->n / (double)documents,
		 name ? name : "?", !work->options->index && dd_keepers_is_own(group) ?
					    ", --max-group keeps them" :
					    "");
	free(name);
}

void dd_largest_tell(const struct dd_work *work, struct dd_texts *texts,
		     const struct dd_large *group, size_t n, uint64_t documents)
{
	for (size_t i = 0; i < n && group[i].n >= LEAST_LEFT_OUT; i++) {
		char *line = NULL;
		size_t size;
		FILE *out = open_memstream(&line, &size);

		if (!out)
			return;
		put_group(out, work, texts, &group[i]);
		fclose(out);
		if (!i)
			tl_notice("the largest groups, by how many are left out for one document:");
		tl_notice("%s", line);
		free(line);
	}
	for (size_t i = 0; i < n; i++)
		if (group[i].n > MANY && group[i].n * 100 > documents * MANY_PERCENT)
			warn(work, &group[i], documents);
}
