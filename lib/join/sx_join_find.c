/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "join/sx_join_find.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "join/sx_join_large.h"
#include "kernel/sx_bits.h"
#include "util/sx_alloc.h"
#include "util/sx_bytes.h"
#include "util/sx_err.h"
#include "util/sx_pool.h"
#include "util/sx_u64s.h"

#define PIECE_BITS 6   /* threads take 2^6 pieces of a part in turn */
#define CHUNK 4096     /* fingerprints of a scan that are compared at once: in the nearest cache */
#define ENTRY_BYTES 48 /* of memory for an entry of a bucket: itself, its groups, hits */
#define MOST_ENTRIES ((size_t)1 << 31)

/*
 * What the threads share. Sorters, the caller's functions and what is read for all are used under
 * the lock.
 */
struct find {
	sx_join_task *task;
	pthread_mutex_t lock;
	pthread_mutex_t store; /* of the store; where both are held, this is the second */
	sx_sorter *pairs;
	sx_join_source source[2];
	sx_join_stream stream[2]; /* where one is read for all: */
	int is_shared;
	/* of the part at hand */
	const sx_join_part *part;
	sx_join_constraint constraint;
	size_t max; /* entries of a bucket */
	atomic_uint next; /* of 2^piece_bits pieces of the part, by its first bits */
	unsigned piece_bits;
	/* of a scan: the fingerprints that all after the first of them are compared with */
	sx_join_batch scanned;
	uint64_t done, total; /* for progress */
	sx_pool pool;
};

/* One thread. */
struct worker {
	struct find *f;
	sx_joiner *joiner;
	sx_join_stream stream[2]; /* over a piece of the part */
	sx_join_batch batch;
	uint64_t pair[2 * 512]; /* of a scan */
	size_t n_pairs;
	simidx_error err;
};

/* ---- threads ---- */

static int pause_work(void *ctx)
{
	struct worker *w = ctx;
	int rc;

	if (sx_pool_has_ended(&w->f->pool))
		return SIMIDX_E_STOPPED;
	pthread_mutex_lock(&w->f->lock);
	rc = sx_join_ask(w->f->task, &w->err);
	pthread_mutex_unlock(&w->f->lock);
	return rc;
}

static int add_pairs(struct worker *w, uint64_t *pair, size_t n)
{
	int rc;

	for (size_t i = 0; i < n; i++) {
		uint64_t a = pair[2 * i], b = pair[2 * i + 1];

		pair[2 * i] = a < b ? a : b;
		pair[2 * i + 1] = a < b ? b : a;
	}
	pthread_mutex_lock(&w->f->lock);
	rc = sx_sorter_add_some(w->f->pairs, pair, n, &w->err);
	pthread_mutex_unlock(&w->f->lock);
	return rc;
}

/* Read the next batch, and tell how far that is. No thread reads on once one has failed. */
static int read_batch(struct worker *w, unsigned shift, size_t max)
{
	struct find *f = w->f;
	const sx_join_task *task = f->task;
	int rc = SIMIDX_OK;

	if (!f->is_shared)
		rc = sx_join_batch_read(&w->batch, w->stream, task->n_inputs, shift, max, &w->err);
	if (rc)
		return rc;
	pthread_mutex_lock(&f->lock);
	rc = sx_join_ask(task, &w->err);
	if (!rc && f->is_shared)
		rc = sx_join_batch_read(&w->batch, f->stream, task->n_inputs, shift, max, &w->err);
	f->done += w->batch.n;
	if (!rc && task->progress)
		task->progress(task->ctx, "finding pairs", f->done < f->total ? f->done : f->total,
			       f->total);
	pthread_mutex_unlock(&f->lock);
	return rc;
}

static int tell_sorting(void *ctx, uint64_t done, uint64_t total, simidx_error *err)
{
	const sx_join_task *task = ctx;

	if (task->progress)
		task->progress(task->ctx, "sorting fingerprints", done < total ? done : total, total);
	return sx_join_ask(task, err);
}

/* Begin what is read, for all threads by one stream, or by streams of their own where that can be. */
static int begin_sources(struct find *f, const sx_perm *perm, int is_shared, simidx_error *err)
{
	sx_join_space space = f->task->space;
	int rc = SIMIDX_OK;

	space.memory /= 4;
	space.sorting = tell_sorting;
	space.ctx = f->task;
	f->is_shared = is_shared;
	for (unsigned s = 0; !rc && s < f->task->n_inputs; s++) {
		rc = sx_join_source_begin(&f->source[s], &f->task->input[s], perm, &space, &f->store,
					  err);
		f->is_shared |= f->source[s].sorter != NULL;
	}
	for (unsigned s = 0; !rc && f->is_shared && s < f->task->n_inputs; s++)
		rc = sx_join_stream_begin(&f->stream[s], &f->source[s], 0, UINT64_MAX, err);
	return rc;
}

static void end_sources(struct find *f)
{
	for (unsigned s = 0; s < 2; s++) {
		sx_join_stream_end(&f->stream[s]);
		sx_join_stream_free(&f->stream[s]);
		sx_join_source_end(&f->source[s]);
	}
}

/* ---- part by part ---- */

static int take_permuted(void *ctx, const uint64_t *pairs, size_t n)
{
	struct worker *w = ctx;
	const sx_perm *perm = &w->f->part->perm;
	uint64_t some[2 * 256];

	while (n) {
		size_t now = n < 256 ? n : 256;
		int rc;

		for (size_t i = 0; i < 2 * now; i++)
			some[i] = sx_unpermute(perm, pairs[i]);
		rc = add_pairs(w, some, now);
		if (rc)
			return rc;
		pairs += 2 * now;
		n -= now;
	}
	return SIMIDX_OK;
}

static int join_batch(struct worker *w)
{
	const sx_join_batch *b = &w->batch;

	return sx_joiner_run(w->joiner, b->v, w->f->task->n_inputs == 2 ? b->inputs : NULL, b->n);
}

static int begin_range(struct worker *w, uint64_t from, uint64_t last)
{
	int rc = SIMIDX_OK;

	for (unsigned s = 0; s < w->f->task->n_inputs; s++) {
		sx_join_stream_end(&w->stream[s]);
		if (!rc)
			rc = sx_join_stream_begin(&w->stream[s], &w->f->source[s], from, last, &w->err);
	}
	return rc;
}

/* Join the bucket that the batch has left out. */
static int join_large(struct worker *w)
{
	struct find *f = w->f;
	unsigned shift = f->constraint.bits - f->part->width;
	uint64_t from = w->batch.large >> shift << shift;
	sx_join_large large = {
		.source = f->is_shared ? w->batch.spilled : f->source, .n_inputs = f->task->n_inputs,
		.from = from, .last = from | sx_low_bits(shift), .constraint = &f->constraint,
		.joiner = w->joiner, .room = &w->batch, .max = f->max, .pause = pause_work, .ctx = w,
	};
	int rc = sx_join_large_run(&large, &w->err);

	sx_joiner_begin(w->joiner, &f->constraint);
	return rc;
}

/* Join the buckets that can be read now, up to one that is too large. */
static int join_batches(struct worker *w)
{
	struct find *f = w->f;
	const sx_join_batch *b = &w->batch;

	while (!sx_pool_has_ended(&f->pool)) {
		int rc = read_batch(w, f->constraint.bits - f->part->width, f->max);

		if (!rc && b->n)
			rc = join_batch(w);
		if (rc || !b->n || b->has_large)
			return rc;
	}
	return SIMIDX_OK;
}

/* The same piece by piece, with streams of this thread. */
static int join_pieces(struct worker *w)
{
	struct find *f = w->f;
	unsigned shift = f->constraint.bits - f->part->width, bits = f->constraint.bits - f->piece_bits;
	int rc = SIMIDX_OK;

	while (!rc && !sx_pool_has_ended(&f->pool)) {
		uint64_t piece = atomic_fetch_add(&f->next, 1), from = 0, last = UINT64_MAX;

		if (piece >> f->piece_bits)
			break;
		if (f->piece_bits) {
			from = piece << bits;
			last = from | sx_low_bits(bits);
		}
		do {
			rc = begin_range(w, from, last);
			if (!rc)
				rc = join_batches(w);
			if (rc || !w->batch.has_large)
				break;
			from = (w->batch.large | sx_low_bits(shift)) + 1;
			rc = join_large(w);
		} while (!rc && from && from <= last && !sx_pool_has_ended(&f->pool));
		sx_join_stream_end(&w->stream[0]);
		sx_join_stream_end(&w->stream[1]);
	}
	sx_join_stream_free(&w->stream[0]);
	sx_join_stream_free(&w->stream[1]);
	return rc;
}

/* All threads read the same streams, once. */
static int join_shared(struct worker *w)
{
	int rc;

	do {
		rc = join_batches(w);
		if (rc || !w->batch.has_large)
			break;
		rc = join_large(w);
	} while (!rc && !sx_pool_has_ended(&w->f->pool));
	return rc;
}

static void run_part(void *ctx, unsigned number)
{
	struct find *f = ctx;
	struct worker w = { .f = f };
	const sx_join_sink sink = { take_permuted, pause_work, &w };
	int rc;

	(void)number;
	sx_err_clear(&w.err);
	w.joiner = sx_joiner_new(sx_join_kernel(f->task), sx_join_tuned(f->task), &sink);
	rc = w.joiner ? SIMIDX_OK : SIMIDX_E_NOMEM;
	if (!rc) {
		sx_joiner_begin(w.joiner, &f->constraint);
		rc = f->is_shared ? join_shared(&w) : join_pieces(&w);
	}
	if (!rc)
		rc = sx_joiner_flush(w.joiner);
	if (rc == SIMIDX_E_NOMEM)
		sx_fail_nomem(&w.err); /* unless it is said already of what */
	if (rc)
		sx_pool_fail(&f->pool, rc, &w.err);
	sx_join_batch_free(&w.batch);
	sx_joiner_free(w.joiner);
}

static int find_by_parts(struct find *f, int by_leads, simidx_error *err)
{
	sx_join_part parts[SX_JOIN_MAX_PARTS];
	unsigned n = sx_join_cut(sx_join_plan(f->task), f->task->k, by_leads, parts);
	int rc = SIMIDX_OK;

	f->total *= n;
	for (unsigned p = 0; !rc && p < n; p++) {
		f->part = &parts[p];
		f->max = f->task->space.memory / 2 / ENTRY_BYTES / f->task->threads;
		if (f->max > MOST_ENTRIES)
			f->max = MOST_ENTRIES;
		f->constraint = sx_join_constraint_of(parts, n, p, f->task->k);
		f->piece_bits = parts[p].width < PIECE_BITS ? parts[p].width : PIECE_BITS;
		if (f->task->threads == 1)
			f->piece_bits = 0;
		atomic_store(&f->next, 0);
		rc = begin_sources(f, &parts[p].perm, 0, err);
		if (sx_join_tuned(f->task)->bucket_entries)
			f->max = sx_join_tuned(f->task)->bucket_entries;
		if (!rc)
			rc = sx_pool_run(&f->pool, f->task->threads, run_part, f, err);
		end_sources(f);
	}
	return rc;
}

/* ---- a scan ---- */

static int push_pair(struct worker *w, uint64_t a, uint64_t b)
{
	w->pair[2 * w->n_pairs] = a;
	w->pair[2 * w->n_pairs + 1] = b;
	if (++w->n_pairs < sizeof(w->pair) / 2 / sizeof(*w->pair))
		return SIMIDX_OK;
	w->n_pairs = 0;
	return add_pairs(w, w->pair, sizeof(w->pair) / 2 / sizeof(*w->pair));
}

/* Compare each of a batch with those of a chunk of the scanned that come before it. */
static int compare_chunk(struct worker *w, size_t from, uint32_t *hits)
{
	const struct find *f = w->f;
	const sx_join_batch *scanned = &f->scanned, *b = &w->batch;
	const sx_kernel *kernel = sx_join_kernel(f->task);
	int has_inputs = f->task->n_inputs == 2, rc = SIMIDX_OK;

	for (size_t i = 0; !rc && i < b->n; i++) {
		size_t n = sx_u64s_below(scanned->v, scanned->n, b->v[i]), found;

		n = n < from ? 0 : n - from < CHUNK ? n - from : CHUNK;
		found = kernel->near_u64(scanned->v + from, n, b->v[i], f->task->k, hits);
		for (size_t h = 0; !rc && h < found; h++) {
			size_t at = from + hits[h];
			unsigned x = has_inputs ? scanned->inputs[at] : 3, y = has_inputs ? b->inputs[i] : 3;

			if ((x & 1 && y & 2) || (x & 2 && y & 1))
				rc = push_pair(w, scanned->v[at], b->v[i]);
		}
	}
	return rc;
}

static void run_scan(void *ctx, unsigned number)
{
	struct find *f = ctx;
	struct worker w = { .f = f };
	uint32_t *hits = sx_realloc(NULL, CHUNK, sizeof(*hits));
	int rc = SIMIDX_OK;

	(void)number;
	sx_err_clear(&w.err);
	if (!hits)
		rc = sx_fail_nomem(&w.err);
	while (!rc && !sx_pool_has_ended(&f->pool)) {
		rc = read_batch(&w, 64, SIZE_MAX);
		if (rc || !w.batch.n)
			break;
		for (size_t from = 0; !rc && from < f->scanned.n; from += CHUNK) {
			rc = compare_chunk(&w, from, hits);
			if (!rc && from / CHUNK % 64 == 63)
				rc = pause_work(&w);
		}
	}
	if (!rc && w.n_pairs)
		rc = add_pairs(&w, w.pair, w.n_pairs);
	if (rc)
		sx_pool_fail(&f->pool, rc, &w.err);
	sx_join_batch_free(&w.batch);
	free(hits);
}

/* Fill the scanned with the next `max` fingerprints after `*last`, all if it is NULL. */
static int fill_scanned(struct find *f, const uint64_t *last, size_t max, simidx_error *err)
{
	sx_join_batch *scanned = &f->scanned, some = { 0 };
	unsigned n_inputs = f->task->n_inputs;
	int rc = SIMIDX_OK;

	scanned->n = 0;
	while (!rc && scanned->n < max) {
		rc = sx_join_batch_read(&some, f->stream, n_inputs, 64, SIZE_MAX, err);
		if (rc || !some.n)
			break;
		if (sx_reserve(&scanned->v, &scanned->v_cap, scanned->n + some.n, sizeof(*scanned->v)) ||
		    (n_inputs == 2 &&
		     sx_reserve(&scanned->inputs, &scanned->inputs_cap, scanned->n + some.n, 1))) {
			rc = sx_fail_nomem(err);
			break;
		}
		for (size_t i = 0; i < some.n && scanned->n < max; i++) {
			if (last && some.v[i] <= *last)
				continue;
			if (n_inputs == 2)
				scanned->inputs[scanned->n] = some.inputs[i];
			scanned->v[scanned->n++] = some.v[i];
		}
	}
	sx_join_batch_free(&some);
	return rc;
}

/* As many as there is room for are compared with all that come after each of them; then the next. */
static int find_by_scan(struct find *f, simidx_error *err)
{
	size_t tuned = sx_join_tuned(f->task)->scanned;
	size_t max = tuned ? tuned : f->task->space.memory / 2 / 9;
	uint64_t last = 0;
	int is_first = 1, rc;

	f->total *= f->total / max + 1;
	do {
		static const sx_perm identity;

		rc = begin_sources(f, &identity, 1, err);
		if (!rc)
			rc = fill_scanned(f, is_first ? NULL : &last, max, err);
		end_sources(f);
		if (rc || !f->scanned.n)
			break;
		last = f->scanned.v[f->scanned.n - 1];
		is_first = 0;
		rc = begin_sources(f, &identity, 1, err);
		if (!rc)
			rc = sx_pool_run(&f->pool, f->task->threads, run_scan, f, err);
		end_sources(f);
	} while (!rc && f->scanned.n == max);
	sx_join_batch_free(&f->scanned);
	return rc;
}

int sx_join_find(sx_join_task *task, const sx_join_method *method, sx_sorter *pairs,
		 simidx_error *err)
{
	struct find f = { .task = task, .pairs = pairs };
	int rc;

	if (!task->k)
		return SIMIDX_OK;
	for (unsigned s = 0; s < task->n_inputs; s++)
		f.total += sx_join_rows(&task->input[s]);
	if (pthread_mutex_init(&f.lock, NULL) || pthread_mutex_init(&f.store, NULL))
		return sx_fail_nomem(err);
	rc = method->scans ? find_by_scan(&f, err) : find_by_parts(&f, method->by_leads, err);
	pthread_mutex_destroy(&f.lock);
	pthread_mutex_destroy(&f.store);
	return rc;
}
