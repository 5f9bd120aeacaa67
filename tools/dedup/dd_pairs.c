/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/dd_pairs.h"

#include "common/tl_escape.h"
#include "common/tl_msg.h"
#include "common/tl_term.h"
#include "dedup/dd_columns.h"

/* On a terminal columns have titles, and the widest of the first one is that of its title. */
static void put_similarity(struct dd_pairs *pairs, FILE *out, struct dd_similarity similarity)
{
	int is_shown = out == stdout && tl_term_is();

	if (is_shown && !pairs->is_begun)
		printf("%7s\tdocument\tnear to\n",
		       pairs->work->kind == SIMIDX_DEDUP_FINGERPRINTS ? "bits" : "percent");
	pairs->is_begun = 1;
	fprintf(out, "%*s", is_shown ? 7 : 0, dd_columns_similarity(pairs->work->kind, similarity));
}

/* The last columns are the labels of both rows, as far as they have some. */
static void put_labels(FILE *out, const struct dd_fact *row, const struct dd_fact *other)
{
	if (!row->label && !other->label)
		return;
	putc('\t', out);
	if (row->label)
		tl_put_escaped(out, row->label, row->label_size);
	if (!other->label)
		return;
	putc('\t', out);
	tl_put_escaped(out, other->label, other->label_size);
}

static void json_place(struct tl_json *json, const struct dd_pairs *pairs,
		       const struct dd_name *name, const char *path_key, const char *line_key)
{
	dd_columns_json_path(json, dd_files_path(pairs->work->files, name->file), name->line,
			     path_key, line_key);
}

static void json_pair(const struct dd_pairs *pairs, struct tl_json *json,
		      const struct dd_fact *row, const struct dd_keeper *keeper,
		      const struct dd_fact *other)
{
	json_place(json, pairs, &row->name, "path", "line");
	tl_json_bytes(json, "label", row->label, row->label_size);
	if (keeper->has_fact)
		json_place(json, pairs, &keeper->fact.name, "path2", "line2");
	tl_json_bytes(json, "label2", other->label, other->label_size);
	tl_json_bytes(json, "label2", keeper->label, keeper->label_size);
	if (!pairs->work->options->pairs)
		tl_json_unsigned(json, "id2", keeper->id);
	if (keeper->index)
		dd_columns_json_path(json, keeper->index, 0, "index2", NULL);
}

void dd_pairs_put(struct dd_pairs *pairs, FILE *out, const simidx_dedup_near *near,
		  const simidx_dedup_row *row, const struct dd_keeper *keeper)
{
	const struct dd_similarity similarity = { near->similarity, near->flags };
	struct dd_fact fact = dd_fact_of(row), other = keeper->fact;
	struct tl_json json;

	/* The label of a file is its path. */
	if (!fact.name.line)
		fact.label = NULL;
	if (!other.name.line)
		other.label = NULL;
	if (!pairs->work->options->json) {
		put_similarity(pairs, out, similarity);
		putc('\t', out);
		dd_columns_path(out, dd_files_path(pairs->work->files, fact.name.file),
				fact.name.line);
		putc('\t', out);
		dd_keepers_put(out, pairs->work->keepers, keeper);
		put_labels(out, &fact, &other);
		putc('\n', out);
		return;
	}
	json = tl_json_line(out);
	dd_columns_json_similarity(&json, pairs->work->kind, similarity);
	json_pair(pairs, &json, &fact, keeper, &other);
	tl_json_end(&json);
}
