/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/* The library as a contestant of bench/bn_write. */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <simidx_info.h>
#include <simidx_load.h>
#include <simidx_sketch.h>

#include "bn_own.h"
#include "bn_util.h"
#include "bn_write.h"

#define COPIED_AT_ONCE ((size_t)1 << 30)
#define FIRST_WAITING 1024
#define FILL_ROWS 10000 /* a commit, where the fresh tier is filled first */

struct own {
	const struct bn_write *write;
	char dir[4200];
	simidx *index;
	simidx_writer *writer;
	uint64_t changed;     /* in this transaction */
	int is_single;        /* documents are put, if they are new, by a call each */
	simidx_doc *docs;     /* those that are to be decided together, and their queries */
	simidx_query *queries;
	size_t waiting, cap;
	uint64_t fresh;       /* rows that wait for a merge */
	uint64_t merges;
	uint64_t waits; /* commits that waited, as merges had fallen behind */
	/* of the thread that merges, with the lock of all that is below it */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	int is_due, is_over;
	uint64_t merged; /* merges of the thread so far */
};

void bn_write_base(const char *dir, uint64_t documents, enum bn_op op)
{
	simidx_create_options how = SIMIDX_CREATE_OPTIONS_INIT;
	simidx_loader_options loading = SIMIDX_LOADER_OPTIONS_INIT;
	simidx_doc doc = SIMIDX_DOC_INIT;
	simidx_loader *loader;
	char label[BN_LABEL];
	simidx_error err;

	how.plan = "4x16";
	how.flags = op == BN_IF_NEW_TEXT ? SIMIDX_CREATE_FP2 : 0;
	doc.flags = op == BN_IF_NEW_TEXT ? SIMIDX_DOC_FP2 : 0;
	bn_check(simidx_loader_open(dir, &how, &loading, &loader, &err), &err, "loader");
	for (uint64_t i = 0; i < documents; i++) {
		doc.fp = bn_write_fp(i);
		if (doc.flags)
			doc.fp2 = bn_write_fp2(doc.fp);
		if (bn_write_has_labels(op)) {
			doc.label = label;
			doc.label_size = bn_write_label(i, label);
		}
		bn_check(simidx_loader_put(loader, &doc, NULL, &err), &err, "put");
	}
	bn_check(simidx_loader_finish(loader, NULL, &err), &err, "finish");
	simidx_loader_close(loader);
}

/* ---- the thread that merges ---- */

static void *merge(void *opaque)
{
	struct own *own = opaque;
	simidx_writer *writer;
	simidx_error err;

	bn_check(simidx_writer_open(own->index, NULL, &writer, &err), &err, "writer");
	pthread_mutex_lock(&own->lock);
	for (;;) {
		while (!own->is_due && !own->is_over)
			pthread_cond_wait(&own->wake, &own->lock);
		if (!own->is_due)
			break;
		pthread_mutex_unlock(&own->lock);
		bn_check(simidx_writer_merge(writer, &err), &err, "merge");
		pthread_mutex_lock(&own->lock);
		own->is_due = 0;
		own->merged++;
		pthread_cond_broadcast(&own->wake);
	}
	pthread_mutex_unlock(&own->lock);
	simidx_writer_close(writer);
	return NULL;
}

/* After a commit: count the merge, or have the thread merge, unless it is at it. */
static void note_commit(struct own *own)
{
	unsigned state = simidx_writer_merge_state(own->writer);

	own->waits += state & SIMIDX_MERGE_WAITED ? 1 : 0;
	if (!own->write->background) {
		own->merges += own->fresh > own->write->threshold;
		if (own->fresh > own->write->threshold)
			own->fresh = 0;
		return;
	}
	pthread_mutex_lock(&own->lock);
	if (!own->is_due && state & SIMIDX_MERGE_DUE) {
		own->is_due = 1;
		pthread_cond_broadcast(&own->wake);
	}
	own->merges = own->merged;
	pthread_mutex_unlock(&own->lock);
}

/* ---- the contestant ---- */

/* As many fresh rows as there may be, and all of them in memory. */
static void fill(struct own *own)
{
	simidx_doc doc = SIMIDX_DOC_INIT;
	simidx_reader *reader;
	simidx_error err;

	doc.flags = SIMIDX_DOC_FP2;
	for (uint64_t i = 1; i <= own->write->threshold; i++) {
		doc.fp = bn_write_fp(UINT64_MAX / 2 + i);
		doc.fp2 = bn_write_fp2(doc.fp);
		bn_check(simidx_writer_put(own->writer, &doc, NULL, &err), &err, "put");
		if (i % FILL_ROWS == 0 || i == own->write->threshold)
			bn_check(simidx_writer_commit(own->writer, &err), &err, "commit");
	}
	bn_check(simidx_writer_reader(own->writer, &reader, &err), &err, "reader");
	bn_check(simidx_writer_begin(own->writer, &err), &err, "begin");
	simidx_writer_rollback(own->writer);
}

/* Not by simidx_backup(), which reads everything once more. */
static void copy_base(const struct bn_write *write, const char *dir)
{
	char name[4300];
	int from, to;
	ssize_t n;

	snprintf(name, sizeof(name), "%s/data.mdb", write->base);
	from = open(name, O_RDONLY | O_CLOEXEC);
	snprintf(name, sizeof(name), "%s/data.mdb", dir);
	to = mkdir(dir, 0700) ? -1 : open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (from < 0 || to < 0)
		bn_die("%s: %s", name, strerror(errno));
	while ((n = copy_file_range(from, NULL, to, NULL, COPIED_AT_ONCE, 0)) > 0)
		;
	if (n || fsync(to) || close(to) || close(from))
		bn_die("%s: %s", name, strerror(errno));
}

static void *own_open(const struct bn_write *write)
{
	simidx_writer_options how = SIMIDX_WRITER_OPTIONS_INIT;
	struct own *own = bn_alloc(1, sizeof(*own));
	simidx_error err;

	own->write = write;
	snprintf(own->dir, sizeof(own->dir), "%s/simidx", write->dir);
	copy_base(write, own->dir);
	bn_own_open(own->dir, NULL, &own->index);
	how.durability = write->normal ? SIMIDX_DURABILITY_NORMAL : SIMIDX_DURABILITY_FULL;
	how.merge_threshold = write->threshold;
	if (write->background)
		how.merge = SIMIDX_MERGE_BESIDE;
	if (write->op == BN_IF_NEW_TEXT)
		how.merge = SIMIDX_MERGE_NEVER;
	bn_check(simidx_writer_open(own->index, &how, &own->writer, &err), &err, "writer");
	if (write->op == BN_IF_NEW_TEXT)
		fill(own);
	pthread_mutex_init(&own->lock, NULL);
	pthread_cond_init(&own->wake, NULL);
	if (write->background && pthread_create(&own->thread, NULL, merge, own))
		bn_die("no thread");
	return own;
}

static void *single_open(const struct bn_write *write)
{
	struct own *own = own_open(write);

	own->is_single = 1;
	return own;
}

static void own_begin(void *opaque)
{
	struct own *own = opaque;
	simidx_error err;

	bn_check(simidx_writer_begin(own->writer, &err), &err, "begin");
}

/* A document, and what is too near to it. */
static void make_document(const struct own *own, const struct bn_change *change, simidx_doc *doc,
			  simidx_query *query)
{
	simidx_sketch sketch = SIMIDX_SKETCH_INIT;
	simidx_error err;

	*doc = (simidx_doc)SIMIDX_DOC_INIT;
	*query = (simidx_query)SIMIDX_QUERY_INIT;
	doc->fp = query->fp = change->fp;
	if (own->write->op != BN_IF_NEW_TEXT)
		return;
	doc->fp2 = change->fp2;
	doc->flags = SIMIDX_DOC_FP2;
	sketch.bits = 64;
	sketch.flags = SIMIDX_SKETCH_FP2 | SIMIDX_SKETCH_WEIGHTS;
	sketch.fp = change->fp;
	sketch.fp2 = change->fp2;
	memcpy(sketch.weights, change->weights, 64);
	memcpy(sketch.weights2, change->weights2, 64);
	bn_check(simidx_sketch_query_if_new(own->index, &sketch, query, &err), &err, "query");
	query->weights = change->weights;
	query->weights2 = change->weights2;
}

static void put_if_new(struct own *own, const struct bn_change *change)
{
	simidx_query query;
	simidx_doc doc;
	simidx_error err;
	int rc;

	make_document(own, change, &doc, &query);
	rc = simidx_writer_put_if_new(own->writer, &doc, &query, NULL, NULL, &err);
	if (rc != SIMIDX_E_EXISTS)
		bn_check(rc, &err, "change");
	own->changed += !rc;
}

/* It is decided with the others of the transaction. */
static void keep(struct own *own, const struct bn_change *change)
{
	if (own->waiting == own->cap) {
		own->cap = own->cap ? 2 * own->cap : FIRST_WAITING;
		own->docs = realloc(own->docs, own->cap * sizeof(*own->docs));
		own->queries = realloc(own->queries, own->cap * sizeof(*own->queries));
		if (!own->docs || !own->queries)
			bn_die("out of memory");
	}
	make_document(own, change, &own->docs[own->waiting], &own->queries[own->waiting]);
	own->waiting++;
}

static int count_decision(void *opaque, size_t i, const simidx_decision *decision)
{
	struct own *own = opaque;

	(void)i;
	if (decision->code != SIMIDX_E_EXISTS)
		bn_check(decision->code, decision->why, "change");
	own->changed += !decision->code;
	return 0;
}

static void own_decide(void *opaque)
{
	struct own *own = opaque;
	simidx_error err;

	bn_check(simidx_writer_put_if_new_many(own->writer, own->docs, own->queries, own->waiting,
					       count_decision, own, &err),
		 &err, "changes");
	own->waiting = 0;
}

static void own_change(void *opaque, const struct bn_change *change)
{
	struct own *own = opaque;
	enum bn_op op = own->write->op;
	simidx_doc doc = SIMIDX_DOC_INIT;
	char label[BN_LABEL];
	simidx_error err;
	int rc;

	if (op == BN_IF_NEW || op == BN_IF_NEW_TEXT) {
		if (own->is_single)
			put_if_new(own, change);
		else
			keep(own, change);
		return;
	}
	doc.fp = change->fp;
	if (bn_write_has_labels(op)) {
		doc.label = label;
		doc.label_size = bn_write_label(change->id, label);
	} else if (op == BN_REPLACE) {
		doc.id = change->id;
	}
	if (op == BN_INSERT)
		rc = simidx_writer_put(own->writer, &doc, NULL, &err);
	else if (op == BN_DELETE)
		rc = simidx_writer_delete_id(own->writer, change->id, &err);
	else if (op == BN_DELETE_LABEL)
		rc = simidx_writer_delete_label(own->writer, doc.label, doc.label_size, &err);
	else
		rc = simidx_writer_replace(own->writer, &doc, NULL, &err);
	bn_check(rc, &err, "change");
	own->changed++;
}

static uint64_t own_commit(void *opaque)
{
	struct own *own = opaque;
	uint64_t changed = own->changed;
	simidx_error err;

	bn_check(simidx_writer_commit(own->writer, &err), &err, "commit");
	own->fresh += own->write->op == BN_REPLACE || own->write->op == BN_REPLACE_LABEL
			      ? 2 * changed : changed;
	own->changed = 0;
	if (own->write->op != BN_IF_NEW_TEXT)
		note_commit(own);
	return changed;
}

static uint64_t own_merges(void *opaque)
{
	return ((struct own *)opaque)->merges;
}

/* Wait for the merge that goes on, if there is one. */
static void own_finish(void *opaque)
{
	struct own *own = opaque;

	pthread_mutex_lock(&own->lock);
	while (own->is_due)
		pthread_cond_wait(&own->wake, &own->lock);
	if (own->write->background)
		own->merges = own->merged;
	pthread_mutex_unlock(&own->lock);
}

static uint64_t own_waits(void *opaque)
{
	return ((struct own *)opaque)->waits;
}

static uint64_t own_left(void *opaque)
{
	struct own *own = opaque;
	simidx_info info = SIMIDX_INFO_INIT;
	simidx_error err;

	bn_check(simidx_get_info(own->index, &info, &err), &err, "info");
	return info.fresh_rows;
}

static uint64_t own_count(void *opaque)
{
	struct own *own = opaque;
	simidx_info info = SIMIDX_INFO_INIT;
	simidx_error err;

	bn_check(simidx_get_info(own->index, &info, &err), &err, "info");
	return info.documents;
}

static void own_close(void *opaque)
{
	struct own *own = opaque;

	if (own->write->background) {
		pthread_mutex_lock(&own->lock);
		own->is_over = 1;
		pthread_cond_broadcast(&own->wake);
		pthread_mutex_unlock(&own->lock);
		pthread_join(own->thread, NULL);
	}
	pthread_cond_destroy(&own->wake);
	pthread_mutex_destroy(&own->lock);
	simidx_writer_close(own->writer);
	simidx_close(own->index);
	bn_own_remove(own->dir);
	free(own->docs);
	free(own->queries);
	free(own);
}

const struct bn_writer bn_write_own = {
	.name = "simidx",
	.ops = (1u << BN_OPS) - 1,
	.open = own_open,
	.begin = own_begin,
	.change = own_change,
	.decide = own_decide,
	.commit = own_commit,
	.merges = own_merges,
	.finish = own_finish,
	.waits = own_waits,
	.left = own_left,
	.count = own_count,
	.close = own_close,
};

const struct bn_writer bn_write_single = {
	.name = "single",
	.ops = 1u << BN_IF_NEW | 1u << BN_IF_NEW_TEXT,
	.open = single_open,
	.begin = own_begin,
	.change = own_change,
	.commit = own_commit,
	.merges = own_merges,
	.finish = own_finish,
	.waits = own_waits,
	.left = own_left,
	.count = own_count,
	.close = own_close,
};
