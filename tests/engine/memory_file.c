/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * An index of the engine in memory whose URI has an absolute path, memory:///tmp/x, is kept in this
 * file from one process to the next: so the tools can be tested.
 */

#include "engine/memory_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *path_of(const struct store *s)
{
	const char *path = s->uri + strlen("memory://");

	return *path == '/' ? path : NULL;
}

static void put(FILE *file, const void *data, size_t size)
{
	sxt_must(!size || fwrite(data, size, 1, file) == 1);
}

static void put_sized(FILE *file, const void *data, size_t size)
{
	put(file, &size, sizeof(size));
	put(file, data, size);
}

static void get(FILE *file, void *data, size_t size)
{
	sxt_must(!size || fread(data, size, 1, file) == 1);
}

static void *get_sized(FILE *file, size_t *size)
{
	void *data;

	get(file, size, sizeof(*size));
	data = memory_grown(NULL, *size, 1);
	get(file, data, *size);
	return data;
}

void memory_save(const struct store *s)
{
	FILE *file = path_of(s) ? fopen(path_of(s), "wb") : NULL;

	sxt_must(file || !path_of(s));
	if (!file)
		return;
	put_sized(file, s->description, s->description_size);
	put(file, &s->n_tables, sizeof(s->n_tables));
	put(file, &s->next_id, sizeof(s->next_id));
	put_sized(file, s->mark, s->mark_size);
	for (unsigned t = 0; t < s->n_tables; t++)
		put_sized(file, s->table[t].at, s->table[t].n * sizeof(*s->table[t].at));
	put(file, &s->n_docs, sizeof(s->n_docs));
	for (size_t i = 0; i < s->n_docs; i++) {
		put(file, &s->doc[i], sizeof(s->doc[i]));
		put(file, s->doc[i].label, s->doc[i].label ? s->doc[i].label_size : 0);
	}
	sxt_must(fclose(file) == 0);
}

static void get_docs(FILE *file, struct store *s)
{
	get(file, &s->n_docs, sizeof(s->n_docs));
	s->cap_docs = s->n_docs;
	s->doc = memory_grown(NULL, s->n_docs, sizeof(*s->doc));
	for (size_t i = 0; i < s->n_docs; i++) {
		struct doc *doc = &s->doc[i];
		int has_label;

		get(file, doc, sizeof(*doc));
		has_label = doc->label != NULL; /* of the process that has written it */
		doc->label = has_label ? memory_grown(NULL, doc->label_size, 1) : NULL;
		get(file, doc->label, has_label ? doc->label_size : 0);
	}
}

int memory_load(struct store *s)
{
	FILE *file = path_of(s) ? fopen(path_of(s), "rb") : NULL;

	if (!file)
		return 0;
	s->description = get_sized(file, &s->description_size);
	get(file, &s->n_tables, sizeof(s->n_tables));
	get(file, &s->next_id, sizeof(s->next_id));
	s->mark = get_sized(file, &s->mark_size);
	if (!s->mark_size) {
		free(s->mark);
		s->mark = NULL;
	}
	for (unsigned t = 0; t < s->n_tables; t++) {
		size_t size;

		s->table[t].at = get_sized(file, &size);
		s->table[t].n = s->table[t].cap = size / sizeof(*s->table[t].at);
	}
	get_docs(file, s);
	sxt_must(fclose(file) == 0);
	return 1;
}
