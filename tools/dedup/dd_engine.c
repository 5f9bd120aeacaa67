/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/dd_engine.h"

#include "common/tl_msg.h"
#include "common/tl_utf8.h"
#include "dedup/dd_pool.h"
#include "dedup/dd_shingles.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <simidx_sketch.h>

/* Most candidates of a document with which the threads compare it. */
#define MOST_AHEAD 256

/* A document that is kept and matches, and how similar it is. */
struct candidate {
	uint64_t id;
	unsigned distance;
	double similarity;
	int is_near;
};

struct item {
	struct dd_document document;
	char *bytes;             /* what the document points to */
	simidx_sketch sketch;
	simidx_query query;      /* not made for an empty text */
	uint64_t crowd;          /* of dd_kept_crowd() */
	struct dd_shingles set;
	int has_set, needs_set;
	struct candidate *found; /* what it was compared with in the index, in the order of ids */
	size_t n_found;
	int code;                /* of what went wrong, and */
	simidx_error err;
};

struct thread {
	simidx_text *text;
	simidx_reader *reader;
	struct dd_texts_reader *texts;
	struct dd_shingler *shingler;
	struct dd_shingles other;
	uint64_t n_empty, n_not_utf8, n_gone[DD_N_AGAIN];
};

/* What documents of a batch are told by that are candidates of each other. */
struct print {
	uint64_t fp, fp2;
	int is_empty;
};

struct dd_engine {
	const struct dd_options *options;
	enum dd_kind kind;
	int verifies;            /* texts are compared */
	const struct dd_listener *listener;
	struct dd_kept *kept;
	struct dd_texts *texts;
	struct dd_pool *pool;
	unsigned n_threads;
	struct thread *thread;
	struct item *item;
	struct print *print;     /* of each item: together, as all are compared with all */
	size_t n, most;          /* in the batch */
	uint64_t bytes, most_bytes;
	size_t *kept_at;         /* items of the batch that are kept, in their order */
	size_t n_kept;
	uint64_t n_before;       /* items that were kept before the batch */
	struct in_room pairs;    /* of one document: struct dd_near */
	struct dd_counts counts; /* without those of the threads */
};

/* ---- life ---- */

static int open_thread(struct dd_engine *engine, struct thread *thread)
{
	simidx_error err;

	if (dd_kept_thread(engine->kept, &thread->reader, &thread->text))
		return TL_TROUBLE;
	if (!engine->verifies)
		return 0;
	if (dd_shingler_open(&thread->shingler, &err))
		return tl_index_error(NULL, &err);
	thread->texts = dd_texts_reader_open(engine->texts);
	return thread->texts ? 0 : tl_error("out of memory");
}

struct dd_engine *dd_engine_new(const struct dd_options *options, enum dd_kind kind,
				const struct dd_memory *memory, struct dd_files *files,
				const char *dir, const struct dd_listener *listener)
{
	struct dd_texts_options how = { dir, options->spill, &options->inputs.columns };
	struct dd_engine *engine = calloc(1, sizeof(*engine));
	unsigned n = options->threads;
	int code = 0;

	if (!engine) {
		tl_error("out of memory");
		return NULL;
	}
	engine->options = options;
	engine->kind = kind;
	engine->verifies = kind == DD_TEXTS && !options->no_verify;
	engine->listener = listener;
	engine->n_threads = n;
	engine->most = memory->batch_documents;
	engine->most_bytes = memory->batch_bytes;
	engine->item = calloc(engine->most, sizeof(*engine->item));
	engine->print = calloc(engine->most, sizeof(*engine->print));
	engine->kept_at = calloc(engine->most, sizeof(*engine->kept_at));
	engine->thread = calloc(n, sizeof(*engine->thread));
	engine->texts = dd_texts_open(&how, files);
	if (!engine->item || !engine->print || !engine->kept_at || !engine->thread ||
	    !engine->texts)
		code = tl_error("out of memory");
	if (!code && !(engine->kept = dd_kept_open(options, kind, memory->index_rows, dir)))
		code = TL_TROUBLE;
	for (unsigned i = 0; !code && i < n; i++)
		code = open_thread(engine, &engine->thread[i]);
	if (!code)
		code = (engine->pool = dd_pool_new(n)) ? 0 : TL_TROUBLE;
	if (!code)
		return engine;
	dd_engine_free(engine);
	return NULL;
}

/* Empty the batch. */
static void clear(struct dd_engine *engine)
{
	for (struct item *item = engine->item; item < engine->item + engine->n; item++) {
		free(item->bytes);
		free(item->found);
		dd_shingles_free(&item->set);
		memset(item, 0, sizeof(*item));
	}
	engine->n_before += engine->n_kept;
	engine->n = engine->n_kept = 0;
	engine->bytes = 0;
}

void dd_engine_free(struct dd_engine *engine)
{
	if (!engine)
		return;
	dd_pool_free(engine->pool);
	clear(engine);
	for (unsigned i = 0; engine->thread && i < engine->n_threads; i++) {
		struct thread *thread = &engine->thread[i];

		simidx_text_close(thread->text);
		simidx_reader_close(thread->reader);
		dd_texts_reader_close(thread->texts);
		dd_shingler_close(thread->shingler);
		dd_shingles_free(&thread->other);
	}
	dd_texts_close(engine->texts);
	dd_kept_close(engine->kept);
	free(engine->item);
	free(engine->print);
	free(engine->kept_at);
	free(engine->thread);
	free(engine->pairs.bytes);
	free(engine);
}

struct dd_kept *dd_engine_kept(struct dd_engine *engine)
{
	return engine->kept;
}

struct dd_texts *dd_engine_texts(struct dd_engine *engine)
{
	return engine->texts;
}

void dd_engine_count(const struct dd_engine *engine, struct dd_counts *counts)
{
	*counts = engine->counts;
	for (unsigned i = 0; i < engine->n_threads; i++) {
		counts->empty += engine->thread[i].n_empty;
		counts->not_utf8 += engine->thread[i].n_not_utf8;
		for (int why = 0; why < DD_N_AGAIN; why++)
			counts->gone[why] += engine->thread[i].n_gone[why];
	}
}

uint64_t dd_engine_bytes_kept(const struct dd_engine *engine)
{
	return engine->verifies ? DD_TEXTS_BYTES : 0;
}

/* ---- one document, on any thread ---- */

static int is_empty(const struct item *item)
{
	return (item->sketch.flags & SIMIDX_SKETCH_EMPTY) != 0;
}

/* The fingerprint and what asks for candidates. */
static int sketch(struct dd_engine *engine, struct thread *thread, struct item *item)
{
	const unsigned flags = SIMIDX_SKETCH_FP2 | SIMIDX_SKETCH_WEIGHTS;
	const struct dd_document *document = &item->document;
	int rc = 0;

	item->sketch.size = sizeof(item->sketch);
	if (engine->kind == DD_TEXTS)
		rc = simidx_text_fingerprint(thread->text, document->text, document->text_size,
					     flags, &item->sketch, &item->err);
	else if (engine->kind == DD_FEATURES)
		rc = simidx_sketch_make(document->features, document->n_features,
					SIMIDX_DEFAULT_BITS, flags, &item->sketch, &item->err);
	else
		item->sketch.fp = document->fp;
	thread->n_empty += is_empty(item);
	if (!rc && is_empty(item) && document->text_size)
		rc = dd_document_sketch_bytes(document, flags, &item->sketch, &item->err);
	if (engine->kind == DD_TEXTS)
		thread->n_not_utf8 += tl_utf8_valid(document->text, document->text_size) <
				      document->text_size;
	if (!rc && !is_empty(item))
		rc = dd_kept_query(engine->kept, &item->sketch, &item->query, &item->err);
	return rc;
}

static int make_set(struct thread *thread, struct item *item)
{
	int rc = 0;

	if (!item->has_set)
		rc = dd_shingles_make(thread->shingler, item->document.text,
				      item->document.text_size, &item->set, &item->err);
	item->has_set = !rc;
	return rc;
}

/* What fingerprints alone say. */
static void trust(const struct dd_engine *engine, const struct item *item, struct candidate *c)
{
	c->similarity = engine->kind == DD_FINGERPRINTS ? c->distance : DD_BY_FP;
	c->is_near = !engine->verifies || c->distance <= dd_kept_trusted(&item->sketch);
}

/* Of an earlier text, `other`. Where there are no words to compare, bytes have to be equal. */
static void judge(const struct dd_engine *engine, struct candidate *candidate,
		  const struct item *item, const struct dd_shingles *other, const char *text,
		  size_t size)
{
	const struct dd_document *document = &item->document;

	candidate->similarity = dd_shingles_jaccard(&item->set, other);
	if (size == document->text_size && memcmp(text, document->text, size) == 0)
		candidate->similarity = 1;
	candidate->is_near = candidate->similarity >= engine->options->similarity;
}

static int fail_memory(simidx_error *err)
{
	*err = (simidx_error){ .code = SIMIDX_E_NOMEM, .text = "out of memory" };
	return err->code;
}

/* Compare with a document that was kept before. */
static int compare(struct dd_engine *engine, struct thread *thread, struct item *item,
		   struct candidate *candidate)
{
	uint64_t handle = dd_kept_handle(engine->kept, candidate->id);
	enum dd_again again = DD_GONE_NONE;
	const char *text;
	size_t size;
	int rc;

	candidate->is_near = 0;
	if (handle == DD_LEFT_OUT)
		return 0;
	if (engine->verifies && handle != DD_EARLIER) {
		again = dd_texts_get(thread->texts, handle, &text, &size);
		thread->n_gone[again]++;
	}
	if (again == DD_GONE_MEMORY)
		return fail_memory(&item->err);
	if (again != DD_AGAIN) {
		trust(engine, item, candidate);
		return 0;
	}
	rc = make_set(thread, item);
	if (!rc)
		rc = dd_shingles_make(thread->shingler, text, size, &thread->other, &item->err);
	if (!rc)
		judge(engine, candidate, item, &thread->other, text, size);
	return rc;
}

static int compare_ids(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

/*
 * Compare with candidates that were kept before the batch, until one is near. For pairs with all;
 * but of what a document may have, so that not even equal texts fill the memory, only with the
 * nearest: with the rest find_near() compares.
 */
static int search(struct dd_engine *engine, struct thread *thread, struct item *item)
{
	simidx_results results = SIMIDX_RESULTS_INIT;
	int rc = simidx_reader_search(thread->reader, &item->query, &results, &item->err);
	int is_near = 0;
	size_t most;

	if (rc || !results.n)
		return rc;
	most = results.n < MOST_AHEAD ? results.n : MOST_AHEAD;
	item->found = calloc(most, sizeof(*item->found));
	if (!item->found)
		return fail_memory(&item->err);
	while (!rc && item->n_found < most && (!is_near || engine->options->pairs) &&
	       !tl_stop_requested()) {
		const simidx_match *match = &results.matches[item->n_found];
		struct candidate *candidate = &item->found[item->n_found++];

		candidate->id = match->id;
		candidate->distance = match->weighted_distance;
		rc = compare(engine, thread, item, candidate);
		is_near = candidate->is_near;
	}
	qsort(item->found, item->n_found, sizeof(*item->found), compare_ids);
	return rc;
}

static void step_search(void *ctx, unsigned number, size_t i)
{
	struct dd_engine *engine = ctx;
	struct thread *thread = &engine->thread[number];
	struct item *item = &engine->item[i];

	if (tl_stop_requested())
		return;
	item->code = sketch(engine, thread, item);
	engine->print[i] = (struct print){ item->sketch.fp, item->sketch.fp2, is_empty(item) };
	if (!item->code && !is_empty(item) && engine->verifies)
		item->code = search(engine, thread, item);
}

/* Which documents of the batch are going to be compared with each other, if they are kept. */
static void step_beside(void *ctx, unsigned number, size_t i)
{
	struct dd_engine *engine = ctx;
	struct item *item = &engine->item[i];
	unsigned distance;

	(void)number;
	for (size_t k = 0; k < i && !is_empty(item); k++) {
		const struct print *other = &engine->print[k];

		if (other->is_empty ||
		    !dd_kept_is_near(&item->query, other->fp, other->fp2, &distance))
			continue;
		__atomic_store_n(&item->needs_set, 1, __ATOMIC_RELAXED);
		__atomic_store_n(&engine->item[k].needs_set, 1, __ATOMIC_RELAXED);
	}
}

static void step_set(void *ctx, unsigned number, size_t i)
{
	struct dd_engine *engine = ctx;
	struct item *item = &engine->item[i];

	if (item->needs_set && !tl_stop_requested())
		item->code = make_set(&engine->thread[number], item);
}

/* ---- one by one ---- */

static int add_pair(struct dd_engine *engine, const struct candidate *candidate, size_t n)
{
	struct dd_near *near;

	if (in_room_have(&engine->pairs, (n + 1) * sizeof(*near)))
		return tl_error("out of memory");
	near = &((struct dd_near *)engine->pairs.bytes)[n];
	near->id = candidate->id;
	near->handle = dd_kept_handle(engine->kept, near->id);
	near->distance = candidate->distance;
	near->similarity = candidate->similarity;
	return 0;
}

/* How similar a document is to a candidate: mostly that is known, or both are in the batch. But
   once texts may be gone, those of the batch are got as later batches would get them. */
static int judge_match(struct dd_engine *engine, struct item *item, const simidx_match *match,
		       struct candidate *candidate)
{
	struct thread *thread = &engine->thread[0];
	uint64_t handle = dd_kept_handle(engine->kept, match->id);
	const struct candidate *known;
	struct item *other;
	int rc;

	candidate->id = match->id;
	candidate->distance = match->weighted_distance;
	known = item->n_found ? bsearch(candidate, item->found, item->n_found, sizeof(*known),
					compare_ids) : NULL;
	if (known) {
		*candidate = *known;
		return 0;
	}
	if (!engine->verifies || handle >= DD_LEFT_OUT || handle < engine->n_before ||
	    dd_texts_problem(engine->texts)) {
		rc = compare(engine, thread, item, candidate);
	} else {
		other = &engine->item[engine->kept_at[handle - engine->n_before]];
		rc = make_set(thread, item);
		if (!rc && (rc = make_set(thread, other)))
			item->err = other->err;
		if (!rc)
			judge(engine, candidate, item, &other->set, other->document.text,
			      other->document.text_size);
	}
	return rc ? tl_index_error(engine->options->index, &item->err) : 0;
}

/* Search a document among all that are kept, those of the batch included, and compare it with what
   is found, the nearest first. Those to which it is near are in engine->pairs. */
static int find_near(struct dd_engine *engine, struct item *item, size_t *n)
{
	simidx_results results = SIMIDX_RESULTS_INIT;
	struct candidate candidate;
	simidx_reader *reader;
	simidx_match match;
	simidx_error err;
	uint64_t bytes;
	int code = 0;

	*n = 0;
	if (is_empty(item))
		return 0;
	if (dd_kept_reader(engine->kept, &reader))
		return TL_TROUBLE;
	if (simidx_reader_search(reader, &item->query, &results, &err))
		return tl_index_error(engine->options->index, &err);
	item->crowd = dd_kept_crowd(&item->query, &results, item->document.text,
				    item->document.text_size);
	for (size_t i = 0; !code && (!*n || engine->options->pairs) &&
			   dd_kept_candidate(engine->kept, &results, item->crowd, i, &match); i++) {
		if (tl_stop_requested())
			return tl_error("stopped by a signal");
		code = judge_match(engine, item, &match, &candidate);
		if (!code && candidate.is_near)
			code = add_pair(engine, &candidate, (*n)++);
	}
	engine->counts.exhausted += engine->verifies && results.truncated && !*n;
	bytes = results.n * sizeof(*results.matches) + engine->pairs.size +
		dd_kept_bytes(engine->kept);
	if (bytes > engine->counts.most_bytes)
		engine->counts.most_bytes = bytes;
	return code;
}

static int keep(struct dd_engine *engine, struct item *item)
{
	const struct dd_document *document = &item->document;
	uint64_t id, handle;

	if (is_empty(item))
		return 0;
	if (engine->verifies && dd_texts_keep(engine->texts, &document->place, document->text,
					      document->text_size, &handle))
		return tl_error("out of memory");
	engine->kept_at[engine->n_kept++] = (size_t)(item - engine->item);
	if (dd_kept_put(engine->kept, &item->sketch, document->label, document->label_size, &id))
		return TL_TROUBLE;
	return dd_kept_note(engine->kept, item->crowd, id);
}

static int compare_handles(const void *a, const void *b)
{
	const struct dd_near *x = a, *y = b;

	return x->handle < y->handle ? -1 : x->handle > y->handle;
}

static int decide(struct dd_engine *engine, struct item *item)
{
	const struct dd_listener *listener = engine->listener;
	struct dd_near *near;
	size_t n;
	int code = find_near(engine, item, &n);

	item->document.is_empty = is_empty(item);
	if (!code && (!n || engine->options->pairs))
		code = keep(engine, item);
	near = n ? engine->pairs.bytes : NULL;
	/* A later run would not take it for near by its fingerprints. */
	if (!code && near && engine->options->index && engine->verifies &&
	    near->distance > dd_kept_trusted(&item->sketch))
		code = dd_kept_remember(engine->kept, &item->sketch);
	if (code)
		return code;
	if (!engine->options->pairs)
		return listener->decided(listener->ctx, &item->document, near);
	if (n)
		qsort(near, n, sizeof(*near), compare_handles);
	return listener->paired(listener->ctx, &item->document, near, n);
}

/* ---- batches ---- */

/* What went wrong on the threads, which leave work undone if a signal has asked to stop. */
static int check(const struct dd_engine *engine)
{
	if (tl_stop_requested())
		return tl_error("stopped by a signal");
	for (size_t i = 0; i < engine->n; i++)
		if (engine->item[i].code)
			return tl_index_error(engine->options->index, &engine->item[i].err);
	return 0;
}

/* Nobody knows yet which documents are going to be kept: all of them may be. */
static int expect(struct dd_engine *engine)
{
	simidx_doc *doc = engine->options->index ? calloc(engine->n + 1, sizeof(*doc)) : NULL;
	size_t n = 0;
	int code;

	if (!engine->options->index)
		return 0;
	if (!doc)
		return tl_error("out of memory");
	for (size_t i = 0; i < engine->n; i++) {
		const struct item *item = &engine->item[i];

		if (is_empty(item))
			continue;
		doc[n] = (simidx_doc)SIMIDX_DOC_INIT;
		doc[n].label = item->document.label_size ? item->document.label : NULL;
		doc[n++].label_size = item->document.label_size;
	}
	code = dd_kept_expect(engine->kept, doc, n);
	free(doc);
	return code;
}

int dd_engine_flush(struct dd_engine *engine, int is_complete)
{
	int code = dd_kept_begin(engine->kept);

	if (!code) {
		dd_pool_run(engine->pool, step_search, engine, engine->n);
		code = check(engine);
	}
	if (!code && engine->verifies) {
		dd_pool_run(engine->pool, step_beside, engine, engine->n);
		dd_pool_run(engine->pool, step_set, engine, engine->n);
		code = check(engine);
	}
	if (!code)
		code = expect(engine);
	for (size_t i = 0; !code && i < engine->n; i++)
		code = decide(engine, &engine->item[i]);
	if (!code)
		code = engine->listener->decided_all(engine->listener->ctx);
	if (!code)
		code = dd_kept_commit(engine->kept, is_complete);
	clear(engine);
	return code;
}

int dd_engine_add(struct dd_engine *engine, const struct dd_document *document)
{
	size_t size = dd_document_bytes(document);
	struct item *item;
	int code = 0;

	if (engine->n == engine->most ||
	    (engine->n && engine->bytes + size > engine->most_bytes))
		code = dd_engine_flush(engine, 0);
	if (code)
		return code;
	item = &engine->item[engine->n];
	item->bytes = dd_document_copy(&item->document, document);
	if (!item->bytes)
		return tl_error("out of memory");
	engine->n++;
	engine->bytes += size;
	return 0;
}
