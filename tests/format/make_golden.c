/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * make_golden DIR: makes the golden indexes in an existing directory.
 * make_golden --check DIR: opens them with the library and compares what they hold.
 */

#include <stdlib.h>
#include <unistd.h>

#include <simidx_check.h>
#include <simidx_walk.h>

#include "golden.h"

static simidx_error err;

static void must(int ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "make_golden: %s: %s\n", what, err.text);
	exit(EXIT_FAILURE);
}

static void path_of(char *out, size_t size, const char *dir, const char *name, const char *suffix)
{
	must((size_t)snprintf(out, size, "%s/%s%s", dir, name, suffix) < size, "path too long");
}

static void put_part(simidx *index, const struct golden *g, unsigned from, unsigned to)
{
	simidx_writer *writer;

	must(!simidx_writer_open(index, NULL, &writer, &err), "open a writer");
	for (unsigned i = from; i < to; i++) {
		simidx_doc doc = SIMIDX_DOC_INIT;
		struct golden_doc d;

		golden_doc(g, i, &d);
		doc.id = d.id;
		doc.fp = d.fp;
		doc.fp2 = d.fp2;
		doc.time = d.time;
		doc.flags = (g->flags & GOLDEN_FP2 ? SIMIDX_DOC_FP2 : 0) |
			    (g->flags & GOLDEN_TIMES ? SIMIDX_DOC_TIME : 0);
		if (d.label_size) {
			doc.label = d.label;
			doc.label_size = d.label_size;
		}
		doc.note = d.note_size ? d.note : NULL;
		doc.note_size = d.note_size;
		must(!simidx_writer_put(writer, &doc, NULL, &err), "put");
	}
	must(!simidx_writer_commit(writer, &err), "commit");
	if (to < g->part[2])
		must(!simidx_writer_merge(writer, &err), "merge");
	simidx_writer_close(writer);
}

static void delete_some(simidx *index, const struct golden *g)
{
	simidx_writer *writer;

	must(!simidx_writer_open(index, NULL, &writer, &err), "open a writer");
	for (unsigned i = 0; i < g->part[2]; i++) {
		struct golden_doc d;

		if (!golden_is_deleted(g, i))
			continue;
		golden_doc(g, i, &d);
		must(d.label_size ? !simidx_writer_delete_label(writer, d.label, d.label_size, &err)
				  : !simidx_writer_delete_id(writer, d.id, &err), "delete");
	}
	must(!simidx_writer_commit(writer, &err), "commit");
	simidx_writer_close(writer);
}

static void remove_made(const char *made)
{
	static const char *const names[] = { "data.mdb", "lock.mdb", "write.lock" };
	char file[4096];

	for (unsigned i = 0; i < 3; i++) {
		path_of(file, sizeof(file), made, names[i], "");
		must(!unlink(file), file);
	}
	must(!rmdir(made), made);
}

/* Made under another name and copied, so that the file has no free pages. */
static void make(const struct golden *g, const char *dir)
{
	simidx_create_options o = SIMIDX_CREATE_OPTIONS_INIT;
	char path[4096], made[4096];
	uint64_t check_fps[64];
	simidx *index;

	path_of(path, sizeof(path), dir, g->name, "");
	path_of(made, sizeof(made), dir, g->name, ".made");
	for (unsigned i = 0; i < g->n_check_fps; i++)
		check_fps[i] = golden_check_fp(i);
	o.plan = g->plan;
	o.bits = g->bits;
	o.layout = g->is_rows ? SIMIDX_LAYOUT_ROWS : SIMIDX_LAYOUT_BLOCKS;
	o.flags = (g->flags & GOLDEN_NO_IDS ? SIMIDX_CREATE_NO_IDS : 0) |
		  (g->flags & GOLDEN_FP2 ? SIMIDX_CREATE_FP2 : 0) |
		  (g->flags & GOLDEN_TIMES ? SIMIDX_CREATE_TIMES : 0) |
		  (g->flags & GOLDEN_NOTES ? SIMIDX_CREATE_NOTES : 0);
	o.fill = g->fill;
	o.profile = g->profile;
	o.check_fps = check_fps;
	o.n_check_fps = g->n_check_fps;
	must(!simidx_create(made, &o, &index, &err), made);
	put_part(index, g, 0, g->part[0]);
	put_part(index, g, g->part[0], g->part[1]);
	put_part(index, g, g->part[1], g->part[2]);
	if (g->has_deleted)
		delete_some(index, g);
	must(!simidx_verify(index, NULL, NULL, NULL, &err), "verify");
	must(!simidx_backup(index, path, &err), path);
	simidx_close(index);
	remove_made(made);
}

static int is_doc(const simidx_match *match, const struct golden_doc *d)
{
	return match->id == d->id && match->fp == d->fp && match->fp2 == d->fp2 &&
	       match->time == d->time &&
	       match->label_size == d->label_size &&
	       (!d->label_size || !memcmp(match->label, d->label, d->label_size));
}

static void check_note(simidx_reader *reader, const struct golden_doc *d)
{
	const void *note;
	size_t size;

	must(!simidx_reader_note(reader, d->id, &note, &size, &err), "note");
	must(size == d->note_size && (!size || !memcmp(note, d->note, size)), "another note");
}

/*
 * Every document that is there is found by its fingerprint, and no other one; the walk has as many
 * as there are.
 */
static void check(const struct golden *g, const char *dir)
{
	simidx_open_options o = SIMIDX_OPEN_OPTIONS_INIT;
	int bare = (g->flags & GOLDEN_NO_IDS) != 0;
	simidx_reader *reader;
	unsigned walked = 0, missing = 0;
	simidx_match match;
	char path[4096];
	simidx_walk *walk;
	simidx *index;

	path_of(path, sizeof(path), dir, g->name, "");
	o.flags = SIMIDX_OPEN_STATIC;
	must(!simidx_open(path, &o, &index, &err), path);
	must(!simidx_verify(index, NULL, NULL, NULL, &err), path);
	must(!simidx_reader_open(index, &reader, &err), path);
	for (unsigned i = 0; i < g->part[2]; i++) {
		simidx_results results = SIMIDX_RESULTS_INIT;
		simidx_query query = SIMIDX_QUERY_INIT;
		struct golden_doc d;
		size_t at = 0;

		golden_doc(g, i, &d);
		query.fp = d.fp;
		query.radius = 0;
		query.flags = SIMIDX_QUERY_LABELS;
		must(!simidx_reader_search(reader, &query, &results, &err), path);
		while (at < results.n && !is_doc(&results.matches[at], &d))
			at++;
		must((at == results.n) == golden_is_deleted(g, i),
		     "a document is missing, or one that was deleted is there");
		if (g->flags & GOLDEN_NOTES && !golden_is_deleted(g, i))
			check_note(reader, &d);
		missing += golden_is_deleted(g, i) || (bare && i > 4 && i % 5 == 4);
	}
	simidx_reader_close(reader);
	must(!simidx_walk_open(index, &walk, &err), path);
	while (!simidx_walk_next(walk, &match, &err))
		walked++;
	must(err.code == SIMIDX_E_END, path);
	must(walked == g->part[2] - missing, "the walk has another number of documents");
	simidx_walk_close(walk);
	simidx_close(index);
}

int main(int argc, char **argv)
{
	int checking = argc == 3 && !strcmp(argv[1], "--check");

	if (argc != 2 + checking) {
		fprintf(stderr, "usage: make_golden [--check] DIR\n");
		return 2;
	}
	for (size_t i = 0; i < N_GOLDENS; i++) {
		if (checking)
			check(&goldens[i], argv[2]);
		else
			make(&goldens[i], argv[1]);
	}
	return 0;
}
