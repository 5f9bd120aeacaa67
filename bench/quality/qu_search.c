/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "quality/qu_search.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <simidx_load.h>
#include <simidx_text.h>

#include "bn_util.h"

/* An index, and its reader. */
struct place {
	char path[4096];
	int local;
	simidx *index;
	simidx_reader *reader;
};

static simidx_doc document(const struct qu_fp *fps, size_t i)
{
	simidx_doc doc = SIMIDX_DOC_INIT;

	doc.id = i;
	doc.fp = fps[i].fp;
	doc.fp2 = fps[i].fp2;
	doc.flags = SIMIDX_DOC_FP2;
	return doc;
}

static void make_local(const char *path, const simidx_create_options *create,
		       const struct qu_fp *fps, size_t n)
{
	simidx_loader *loader = NULL;
	simidx_error err;

	bn_check(simidx_loader_open(path, create, NULL, &loader, &err), &err, path);
	for (size_t i = 0; i < n; i++) {
		simidx_doc doc = document(fps, i);

		bn_check(simidx_loader_put(loader, &doc, NULL, &err), &err, path);
	}
	bn_check(simidx_loader_finish(loader, NULL, &err), &err, path);
	simidx_loader_close(loader);
}

static void make_engine(const char *uri, simidx_create_options *create, const struct qu_fp *fps,
			size_t n)
{
	simidx_writer *writer = NULL;
	simidx *index = NULL;
	simidx_error err;

	create->flags |= SIMIDX_CREATE_TRUNCATE;
	bn_check(simidx_create(uri, create, &index, &err), &err, uri);
	bn_check(simidx_writer_open(index, NULL, &writer, &err), &err, uri);
	for (size_t i = 0; i < n; i++) {
		simidx_doc doc = document(fps, i);

		bn_check(simidx_writer_put(writer, &doc, NULL, &err), &err, uri);
	}
	bn_check(simidx_writer_commit(writer, &err), &err, uri);
	simidx_writer_close(writer);
	simidx_close(index);
}

/* Where FOLDER has the scheme of an engine, its index stays until the next one takes its place. */
static void open_place(struct place *place, const char *folder, const char *name,
		       const char *plan, const struct qu_fp *fps, size_t n)
{
	simidx_create_options create = SIMIDX_CREATE_OPTIONS_INIT;
	simidx_error err;

	place->local = !strstr(folder, "://");
	snprintf(place->path, sizeof(place->path), place->local ? "%s/%s" : "%s_%s", folder,
		 name);
	create.flags = SIMIDX_CREATE_FP2;
	create.plan = plan;
	if (place->local)
		make_local(place->path, &create, fps, n);
	else
		make_engine(place->path, &create, fps, n);
	bn_check(simidx_open(place->path, NULL, &place->index, &err), &err, place->path);
	bn_check(simidx_reader_open(place->index, &place->reader, &err), &err, place->path);
}

static void close_place(struct place *place)
{
	struct dirent *entry;
	DIR *list;

	simidx_reader_close(place->reader);
	simidx_close(place->index);
	if (!place->local)
		return;
	list = opendir(place->path);
	if (!list)
		bn_die("%s cannot be listed", place->path);
	while ((entry = readdir(list)))
		if (entry->d_name[0] != '.' && unlinkat(dirfd(list), entry->d_name, 0))
			bn_die("%s/%s cannot be removed", place->path, entry->d_name);
	closedir(list);
	if (rmdir(place->path))
		bn_die("%s cannot be removed", place->path);
}

/* As simidx-query asks, but for the limit and the number of probes; by weights with a sketch. */
static void ask(const struct qu_rule *rule, const simidx *index, unsigned probes,
		const struct qu_fp *by, simidx_sketch *sketch, simidx_query *out)
{
	static const simidx_query empty = SIMIDX_QUERY_INIT;
	simidx_error err;

	*out = empty;
	sketch->fp = by->fp;
	sketch->fp2 = by->fp2;
	sketch->bits = 64;
	sketch->flags = by->flags;
	if (rule->kind == QU_PLAIN)
		sketch->flags &= ~SIMIDX_SKETCH_WEIGHTS;
	if (rule->kind != QU_WEIGHTS_FP2)
		sketch->flags &= ~SIMIDX_SKETCH_FP2;
	memcpy(sketch->weights, by->weights, sizeof(sketch->weights));
	memcpy(sketch->weights2, by->weights2, sizeof(sketch->weights2));
	bn_check(simidx_sketch_query(index, sketch, out, &err), &err, "query");
	out->radius = rule->limit;
	if (rule->kind == QU_WEIGHTS_FP2)
		out->radius2 = rule->limit;
	if (rule->kind == QU_PLAIN || probes == QU_USUAL)
		return;
	out->flags &= ~SIMIDX_QUERY_SCAN_SMALL;
	out->probes = probes;
}

static void search(struct place *place, const simidx_query *query, simidx_results *out)
{
	static const simidx_results empty = SIMIDX_RESULTS_INIT;
	simidx_error err;

	*out = empty;
	bn_check(simidx_reader_search(place->reader, query, out, &err), &err, "search");
}

/* The later document of a pair is the one that asks, so that each pair is judged once. */
static void judge(const struct qu_set *set, size_t asks, const simidx_results *results,
		  struct qu_found *found)
{
	for (size_t i = 0; i < results->n; i++) {
		const struct qu_pair *pair;

		if (results->matches[i].id >= asks)
			continue;
		pair = qu_set_find(set, asks, results->matches[i].id);
		if (!pair || pair->label == QU_NOT)
			found->wrong++;
		else if (pair->label == QU_NEAR)
			found->near++;
		else if (pair->label == QU_GREY)
			found->grey++;
		if (pair && pair->kind < QU_MAX_KINDS)
			found->kinds[pair->kind]++;
	}
}

/*
 * Fingerprints of random bits with the weights of the real ones. They tell how many candidates
 * uniform bits would have, whatever the planner does: a query that is not in their index meets
 * strangers only, one that is meets itself besides.
 */
static struct qu_fp *randomized(const struct qu_fp *fps, size_t n, uint64_t *state)
{
	struct qu_fp *made = bn_alloc(n, sizeof(*made));

	for (size_t i = 0; i < n; i++) {
		made[i] = fps[i];
		made[i].fp = bn_random(state);
		made[i].fp2 = bn_random(state);
	}
	return made;
}

struct places {
	struct place real, uniform;
	const struct qu_fp *fps;
	struct qu_fp *stored, *strangers; /* of random bits: in the index, and not */
	unsigned probes;
};

static void run_rule(const struct qu_set *set, struct places *at, const struct qu_rule *rule,
		     struct qu_found *found)
{
	double real = 0, own = 0, strange = 0, n = (double)set->n;
	simidx_sketch sketch = SIMIDX_SKETCH_INIT;

	memset(found, 0, sizeof(*found));
	for (size_t i = 0; i < set->n; i++) {
		simidx_results results;
		simidx_query query;

		ask(rule, at->real.index, at->probes, &at->fps[i], &sketch, &query);
		search(&at->real, &query, &results);
		judge(set, i, &results, found);
		real += (double)results.candidates / n;
		query.fp = at->stored[i].fp;
		search(&at->uniform, &query, &results);
		own += (double)results.candidates / n;
		query.fp = at->strangers[i].fp;
		search(&at->uniform, &query, &results);
		strange += (double)results.candidates / n;
	}
	found->missed = (double)set->n_near - found->near;
	found->candidates = real - (own - strange);
	found->uniform = strange;
}

void qu_search(const struct qu_set *set, const struct qu_fp *fps, const char *dir,
	       const char *plan, unsigned probes, const struct qu_rule *rules, size_t n_rules,
	       struct qu_found *found)
{
	struct places at = { .fps = fps, .probes = probes };
	int local = !strstr(dir, "://");
	char folder[2048];
	uint64_t state = 1;

	at.stored = randomized(fps, set->n, &state);
	at.strangers = randomized(fps, set->n, &state);
	if (snprintf(folder, sizeof(folder), local ? "%s/quality-XXXXXX" : "%s", dir) >=
		    (int)sizeof(folder) ||
	    (local && !mkdtemp(folder)))
		bn_die("no folder can be made in %s", dir);
	open_place(&at.real, folder, "real", plan, fps, set->n);
	open_place(&at.uniform, folder, "uniform", plan, at.stored, set->n);
	for (size_t i = 0; i < n_rules; i++)
		run_rule(set, &at, &rules[i], &found[i]);
	close_place(&at.real);
	close_place(&at.uniform);
	if (local && rmdir(folder))
		bn_die("%s cannot be removed", folder);
	free(at.stored);
	free(at.strangers);
}
