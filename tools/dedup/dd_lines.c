/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/dd_lines.h"

#include "common/tl_escape.h"
#include "common/tl_term.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* The label is the last column; of a document of an index it stands for the path. */
static void put_place(const struct dd_where *place)
{
	if (place->index) {
		dd_columns_document(stdout, place->label, place->label_size, place->id);
		putchar('\t');
		dd_columns_path(stdout, place->index, 0);
		return;
	}
	dd_columns_path(stdout, place->path, place->line);
	if (!place->label)
		return;
	putchar('\t');
	tl_put_escaped(stdout, place->label, place->label_size);
}

static void json_place(struct tl_json *json, const struct dd_where *place)
{
	if (!place->index)
		dd_columns_json_path(json, place->path, place->line, "path", "line");
	tl_json_bytes(json, "label", place->label, place->label_size);
	if (!place->index)
		return;
	tl_json_unsigned(json, "id", place->id);
	dd_columns_json_path(json, place->index, 0, "index", NULL);
}

/* Whether FILE:LINE, or the path of a file, is what another row has as its label. */
static int is_taken(const struct dd_labels *labels, const struct dd_where *place)
{
	char name[PATH_MAX + 32];
	int n;

	if (!place->line)
		return dd_labels_count(labels, place->path, strlen(place->path)) > 1;
	n = snprintf(name, sizeof(name), "%s:%" PRIu64, place->path, place->line);
	return n >= (int)sizeof(name) || dd_labels_count(labels, name, (size_t)n) > 0;
}

/*
 * For a list whose reader may remove what it names: a name with a line end would be two, and "-"
 * may be a file. A row has its label as its name, if that stands for no other row.
 */
static void put_removable(struct dd_lines *lines, const struct dd_where *place)
{
	int is_single = place->label && dd_labels_is_single(lines->labels, place->label,
							     place->label_size);
	int end = lines->work->options->inputs.nul_lists ? '\0' : '\n';
	const char *name = is_single ? place->label : place->path;
	size_t size = is_single ? place->label_size : strlen(place->path);

	if (!place->line && strcmp(place->path, "-") == 0)
		return;
	if (memchr(name, end, size)) {
		lines->n_broken++;
		return;
	}
	if (!is_single && is_taken(lines->labels, place)) {
		lines->n_taken++;
		return;
	}
	fwrite(name, 1, size, stdout);
	if (place->line && !is_single)
		printf(":%" PRIu64, place->line);
	lines->n_shared += place->label && !is_single;
	putchar(end);
}

static void put_json(const struct dd_lines *lines, uint64_t group,
		     struct dd_similarity similarity, int is_kept, const struct dd_where *place)
{
	struct tl_json json = tl_json_line(stdout);

	tl_json_unsigned(&json, "group", group);
	dd_columns_json_similarity(&json, lines->work->kind, similarity);
	tl_json_bool(&json, "keep", is_kept);
	json_place(&json, place);
	tl_json_end(&json);
}

/* A line; for a person in columns of the same width, with titles. */
static void put_columns(const struct dd_lines *lines, uint64_t group,
			struct dd_similarity similarity, int is_kept,
			const struct dd_where *place)
{
	int is_shown = tl_term_is();

	if (is_shown && !lines->is_begun)
		printf("    group  %7s        document\n",
		       lines->work->kind == SIMIDX_DEDUP_FINGERPRINTS ? "bits" : "percent");
	printf(is_shown ? "%9s  %7s  %s  " : "%s\t%s\t%s\t", tl_term_count(group),
	       dd_columns_similarity(lines->work->kind, similarity), is_kept ? "keep" : "drop");
	put_place(place);
	putchar('\n');
}

void dd_lines_put(struct dd_lines *lines, uint64_t group, struct dd_similarity similarity,
		  int is_kept, const struct dd_where *place)
{
	if (lines->work->options->drop_list) {
		if (!is_kept)
			put_removable(lines, place);
	} else if (lines->work->options->json) {
		put_json(lines, group, similarity, is_kept, place);
	} else {
		put_columns(lines, group, similarity, is_kept, place);
	}
	lines->is_begun = 1;
}
