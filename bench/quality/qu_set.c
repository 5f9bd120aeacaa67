/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "quality/qu_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <zstd.h>

#include "bn_util.h"

#define MAX_BYTES ((size_t)1 << 32)

struct bytes {
	char *at;
	size_t n, room;
};

static void append(struct bytes *to, const void *from, size_t n)
{
	if (to->room - to->n < n + 1) {
		to->room = 2 * to->room + n + 1;
		to->at = realloc(to->at, to->room);
		if (!to->at || to->n > MAX_BYTES)
			bn_die("a file is too large");
	}
	memcpy(to->at + to->n, from, n);
	to->n += n;
	to->at[to->n] = 0;
}

static void decompress(FILE *file, const char *path, struct bytes *to)
{
	ZSTD_DStream *stream = ZSTD_createDStream();
	char in[1 << 16], out[1 << 16];
	size_t n, rc = 0;

	if (!stream)
		bn_die("out of memory");
	while ((n = fread(in, 1, sizeof(in), file)) > 0) {
		ZSTD_inBuffer from = { in, n, 0 };

		while (from.pos < from.size) {
			ZSTD_outBuffer into = { out, sizeof(out), 0 };

			rc = ZSTD_decompressStream(stream, &into, &from);
			if (ZSTD_isError(rc))
				bn_die("%s: %s", path, ZSTD_getErrorName(rc));
			append(to, out, into.pos);
		}
	}
	/* What did not fit into `out` is still to come when the input ends with it. */
	while (rc) {
		ZSTD_inBuffer from = { in, 0, 0 };
		ZSTD_outBuffer into = { out, sizeof(out), 0 };

		rc = ZSTD_decompressStream(stream, &into, &from);
		if (ZSTD_isError(rc) || !into.pos)
			bn_die("%s: cut short", path);
		append(to, out, into.pos);
	}
	ZSTD_freeDStream(stream);
}

static void read_whole(const char *prefix, const char *suffix, struct bytes *to)
{
	char path[4096], in[1 << 16];
	FILE *file;
	size_t n;

	append(to, "", 0);
	snprintf(path, sizeof(path), "%s%s.zst", prefix, suffix);
	file = fopen(path, "rb");
	if (file) {
		decompress(file, path, to);
	} else {
		snprintf(path, sizeof(path), "%s%s", prefix, suffix);
		file = fopen(path, "rb");
		if (!file)
			bn_die("neither %s.zst nor %s can be opened", path, path);
		while ((n = fread(in, 1, sizeof(in), file)) > 0)
			append(to, in, n);
	}
	if (ferror(file))
		bn_die("%s cannot be read", path);
	fclose(file);
}

char *qu_file_read(const char *prefix, const char *suffix, size_t *size)
{
	struct bytes file = { 0 };

	read_whole(prefix, suffix, &file);
	*size = file.n;
	return file.at;
}

/* The next line without its end, or NULL. */
static char *next_line(char **rest)
{
	char *line = *rest, *end;

	if (!*line)
		return NULL;
	end = line + strcspn(line, "\n");
	*rest = *end ? end + 1 : end;
	*end = 0;
	return line;
}

/* A name for a document: its member "id", or the number of its line. */
static char *read_id(const json_t *row, size_t number)
{
	const json_t *id = json_object_get(row, "id");
	char text[24];

	snprintf(text, sizeof(text), "%lld",
		 json_is_integer(id) ? (long long)json_integer_value(id) : (long long)number);
	return strdup(json_is_string(id) ? json_string_value(id) : text);
}

static void read_doc(struct qu_doc *doc, const char *line, size_t number, const char *text_field)
{
	json_error_t err;
	json_t *row = json_loads(line, JSON_ALLOW_NUL, &err);
	json_t *text = json_object_get(row, text_field);

	if (!row)
		bn_die("line %zu: %s", number, err.text);
	if (!json_is_string(text))
		bn_die("line %zu: expected an object with a string \"%s\"", number, text_field);
	doc->id = read_id(row, number);
	if (!doc->id)
		bn_die("out of memory");
	if (strpbrk(doc->id, "\t\n"))
		bn_die("line %zu: an id has a tab or a newline", number);
	doc->size = json_string_length(text);
	doc->text = bn_alloc(doc->size + 1, 1);
	memcpy(doc->text, json_string_value(text), doc->size);
	json_decref(row);
}

static void read_docs(struct qu_set *set, const char *prefix, const char *text_field)
{
	struct bytes file = { 0 };
	size_t room = 0;
	char *rest, *line;

	read_whole(prefix, ".jsonl", &file);
	for (rest = file.at; (line = next_line(&rest));) {
		if (set->n == room) {
			room = 2 * room + 64;
			set->docs = realloc(set->docs, room * sizeof(*set->docs));
			if (!set->docs)
				bn_die("out of memory");
		}
		read_doc(&set->docs[set->n], line, set->n + 1, text_field);
		set->n++;
	}
	if (!set->n)
		bn_die("%s.jsonl has no documents", prefix);
	free(file.at);
}

static int compare_ids(const void *a, const void *b)
{
	return strcmp((*(const struct qu_doc *const *)a)->id,
		      (*(const struct qu_doc *const *)b)->id);
}

static int compare_pairs(const void *a, const void *b)
{
	const struct qu_pair *x = a, *y = b;

	if (x->later != y->later)
		return x->later < y->later ? -1 : 1;
	return x->earlier < y->earlier ? -1 : x->earlier > y->earlier;
}

static uint32_t number_of(const struct qu_set *set, struct qu_doc **by_id, char *id)
{
	struct qu_doc wanted = { id, NULL, 0 }, *key = &wanted;
	struct qu_doc **found = bsearch(&key, by_id, set->n, sizeof(*by_id), compare_ids);

	if (!found)
		bn_die("%s: a pair names %s, which is no document", set->name, id);
	return (uint32_t)(*found - set->docs);
}

static unsigned number_of_kind(struct qu_set *set, const char *kind)
{
	unsigned i;

	for (i = 0; i < set->n_kinds; i++)
		if (!strcmp(set->kinds[i], kind))
			return i;
	if (i == QU_MAX_KINDS || strlen(kind) >= QU_MAX_KIND)
		bn_die("%s: too many kinds of edits, or too long a name: %s", set->name, kind);
	strcpy(set->kinds[set->n_kinds++], kind);
	return i;
}

static void read_label(struct qu_set *set, struct qu_pair *pair, const char *label)
{
	const char *kind = strchr(label, ':');
	size_t n = kind ? (size_t)(kind - label) : strlen(label);

	pair->kind = QU_MAX_KINDS;
	if (n == 4 && !strncmp(label, "edit", 4) && kind) {
		pair->label = QU_EDIT;
		set->is_of_edits = 1;
	} else if (n == 4 && !strncmp(label, "near", 4)) {
		pair->label = QU_NEAR;
		set->n_near++;
	} else if (!strcmp(label, "grey")) {
		pair->label = QU_GREY;
	} else if (strcmp(label, "not")) {
		bn_die("%s: %s is no label", set->name, label);
	}
	if (kind) {
		pair->kind = number_of_kind(set, kind + 1);
		set->edits[pair->kind]++;
	}
}

static void read_pair(struct qu_set *set, struct qu_doc **by_id, char *line)
{
	struct qu_pair *pair = &set->pairs[set->n_pairs++];
	char *column[3];
	uint32_t a, b;

	for (unsigned i = 0; i < 3; i++) {
		column[i] = strsep(&line, "\t");
		if (!column[i])
			bn_die("%s: a pair lacks id1, id2 or label", set->name);
	}
	a = number_of(set, by_id, column[0]);
	b = number_of(set, by_id, column[1]);
	if (a == b)
		bn_die("%s: %s is paired with itself", set->name, column[0]);
	pair->later = a > b ? a : b;
	pair->earlier = a > b ? b : a;
	read_label(set, pair, column[2]);
}

static void read_pairs(struct qu_set *set, const char *prefix)
{
	struct qu_doc **by_id = bn_alloc(set->n, sizeof(*by_id));
	struct bytes file = { 0 };
	size_t i, room = 1;
	char *rest, *line;

	for (i = 0; i < set->n; i++)
		by_id[i] = &set->docs[i];
	qsort(by_id, set->n, sizeof(*by_id), compare_ids);
	read_whole(prefix, ".pairs.tsv", &file);
	for (i = 0; i < file.n; i++)
		room += file.at[i] == '\n';
	set->pairs = bn_alloc(room, sizeof(*set->pairs));
	for (rest = file.at; (line = next_line(&rest));)
		if (*line != '#')
			read_pair(set, by_id, line);
	qsort(set->pairs, set->n_pairs, sizeof(*set->pairs), compare_pairs);
	for (i = 1; i < set->n_pairs; i++)
		if (!compare_pairs(&set->pairs[i - 1], &set->pairs[i]))
			bn_die("%s: a pair is there twice", set->name);
	free(file.at);
	free(by_id);
}

void qu_set_read_docs(struct qu_set *set, const char *prefix, const char *text_field)
{
	const char *slash = strrchr(prefix, '/');

	memset(set, 0, sizeof(*set));
	snprintf(set->name, sizeof(set->name), "%s", slash ? slash + 1 : prefix);
	read_docs(set, prefix, text_field ? text_field : "text");
}

void qu_set_read(struct qu_set *set, const char *prefix, const char *text_field)
{
	qu_set_read_docs(set, prefix, text_field);
	read_pairs(set, prefix);
}

void qu_set_free(struct qu_set *set)
{
	for (size_t i = 0; i < set->n; i++) {
		free(set->docs[i].id);
		free(set->docs[i].text);
	}
	free(set->docs);
	free(set->pairs);
}

const struct qu_pair *qu_set_find(const struct qu_set *set, size_t later, size_t earlier)
{
	struct qu_pair wanted = { (uint32_t)later, (uint32_t)earlier, 0, 0 };

	return bsearch(&wanted, set->pairs, set->n_pairs, sizeof(wanted), compare_pairs);
}
