/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "join/sx_join_find.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "join/sx_join_bucket.h"
#include "join/sx_join_documents.h"
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
#define PAIRS_AT_ONCE 512

/*
 * What the threads share. The sorter, the caller's functions and `stream` are used under the lock.
 */
struct find {
	const sx_join *join;
	pthread_mutex_t lock;
	pthread_mutex_t store; /* of the store; where both are held, this is the second */
	sx_sorter *pairs;
	sx_join_source source;
	int is_shared;          /* it is read by one stream for all: */
	sx_join_stream stream;
	uint64_t done, total;   /* for progress */
	sx_pool pool;
};

/* One thread. */
struct worker {
	struct find *f;
	sx_join_batch batch;
	uint64_t pair[2 * PAIRS_AT_ONCE]; /* that are not in the sorter yet */
	size_t n_pairs;
	simidx_error err;
};

/* ---- what is read ---- */

/* Begin it: one stream for all threads from `from` on, or one for each where that can be. */
static int begin_source(struct find *f, const sx_perm *perm, int is_shared, uint64_t from,
			simidx_error *err)
{
	int rc = sx_join_source_begin(&f->source, f->join, perm, &f->store, err);

	f->is_shared = is_shared || f->source.is_read_once;
	if (!rc && f->is_shared)
		rc = sx_join_stream_begin(&f->stream, &f->source, from, UINT64_MAX, err);
	return rc;
}

static void end_source(struct find *f)
{
	sx_join_stream_free(&f->stream);
	sx_join_source_end(&f->source);
}

/* Read the next batch, and tell how far that is. `own` is not read where one stream is shared. */
static int read_batch(struct worker *w, sx_join_stream *own, unsigned shift, size_t max)
{
	struct find *f = w->f;
	int rc = SIMIDX_OK;

	if (!f->is_shared)
		rc = sx_join_batch_read(&w->batch, own, shift, max, &w->err);
	if (rc)
		return rc;
	pthread_mutex_lock(&f->lock);
	if (f->is_shared)
		rc = sx_join_batch_read(&w->batch, &f->stream, shift, max, &w->err);
	f->done += w->batch.n;
	if (!rc)
		rc = sx_join_tell(f->join, "finding pairs", f->done, f->total, &w->err);
	pthread_mutex_unlock(&f->lock);
	return rc;
}

/* ---- what is found ---- */

static int hand_over(struct worker *w)
{
	int rc;

	pthread_mutex_lock(&w->f->lock);
	rc = sx_sorter_add_some(w->f->pairs, w->pair, w->n_pairs, &w->err);
	pthread_mutex_unlock(&w->f->lock);
	w->n_pairs = 0;
	return rc;
}

static int push_pair(struct worker *w, uint64_t a, uint64_t b)
{
	w->pair[2 * w->n_pairs] = a < b ? a : b;
	w->pair[2 * w->n_pairs + 1] = a < b ? b : a;
	return ++w->n_pairs < PAIRS_AT_ONCE ? SIMIDX_OK : hand_over(w);
}

/* Between two batches, and in large ones: whether to go on. */
static int pause_work(void *ctx)
{
	struct worker *w = ctx;
	int rc;

	if (sx_pool_has_ended(&w->f->pool))
		return SIMIDX_E_STOPPED;
	pthread_mutex_lock(&w->f->lock);
	rc = sx_join_ask(w->f->join, &w->err);
	pthread_mutex_unlock(&w->f->lock);
	return rc;
}

/* The end of a thread: what it has found is handed over, or all threads end. */
static void end_worker(struct worker *w, int rc)
{
	if (!rc && w->n_pairs)
		rc = hand_over(w);
	if (rc == SIMIDX_E_NOMEM)
		sx_fail_nomem(&w->err); /* unless it is said already of what */
	if (rc)
		sx_pool_fail(&w->f->pool, rc, &w->err);
	sx_join_batch_free(&w->batch);
}

/* ---- fingerprints that make a pair with themselves ---- */

static int add_equal(struct find *f, uint64_t fp, simidx_error *err)
{
	uint64_t pair[2] = { fp, fp };

	return sx_sorter_add(f->pairs, pair, err);
}

/* Both inputs have them. */
static int find_common(struct find *f, simidx_error *err)
{
	sx_join_batch batch = { 0 };
	int rc = begin_source(f, NULL, 1, 0, err);

	while (!rc && !(rc = sx_join_batch_read(&batch, &f->stream, 64, SIZE_MAX, err)) &&
	       batch.n) {
		for (size_t i = 0; !rc && i < batch.n; i++)
			if (batch.inputs[i] == 3)
				rc = add_equal(f, batch.v[i], err);
		if (!rc)
			rc = sx_join_ask(f->join, err);
	}
	sx_join_batch_free(&batch);
	end_source(f);
	return rc;
}

/* Several documents have them. */
static int find_repeated(struct find *f, simidx_error *err)
{
	const sx_join_input *input = &f->join->input[0];
	const sx_header *h = &input->snapshot.header;
	sx_join_documents d = { 0 };
	int rc = SIMIDX_OK;

	if (!input->index->schema->has_ids ||
	    (!input->n_touched && h->documents == h->table[0].rows))
		return SIMIDX_OK;
	sx_join_documents_begin(&d, f->join, 0);
	for (unsigned seen = 1; !rc; seen++) {
		rc = sx_join_documents_repeated(&d, err);
		if (!rc && d.n > 1)
			rc = add_equal(f, d.fp, err);
		/* Fingerprints of one document are passed, some thousands at once. */
		if (!rc && !(seen & 0x3f))
			rc = sx_join_ask(f->join, err);
	}
	sx_join_documents_end(&d);
	return rc == SIMIDX_E_END ? SIMIDX_OK : rc;
}

/* ---- part by part ---- */

/* The part at hand. */
struct part {
	struct find *f;
	const sx_perm *perm;
	sx_join_constraint constraint;
	unsigned shift;   /* the part is the bits from here on up */
	size_t max;       /* entries of a bucket that has room */
	atomic_uint next; /* of 2^piece_bits pieces, by its first bits */
	unsigned piece_bits;
};

/* One thread, with a stream over a piece of the part. */
struct part_worker {
	struct worker w; /* first: pause_work() takes either */
	struct part *p;
	sx_joiner *joiner;
	sx_join_stream stream;
};

static int take_permuted(void *ctx, const uint64_t *pairs, size_t n)
{
	struct part_worker *t = ctx;
	const sx_perm *perm = t->p->perm;
	int rc = SIMIDX_OK;

	for (size_t i = 0; !rc && i < n; i++)
		rc = push_pair(&t->w, sx_unpermute(perm, pairs[2 * i]),
			       sx_unpermute(perm, pairs[2 * i + 1]));
	return rc;
}

/* Join the bucket that the batch has left out. */
static int join_large(struct part_worker *t)
{
	struct part *p = t->p;
	int rc = sx_join_large(&p->f->source, &t->w.batch, &p->constraint, p->max, t->joiner,
			       &t->w.err);

	sx_joiner_begin(t->joiner, &p->constraint);
	return rc;
}

/* Join the buckets that can be read now, up to one that is too large. */
static int join_batches(struct part_worker *t)
{
	struct find *f = t->p->f;
	const sx_join_batch *b = &t->w.batch;
	int has_inputs = f->join->n_inputs == 2;

	while (!sx_pool_has_ended(&f->pool)) {
		int rc = read_batch(&t->w, &t->stream, t->p->shift, t->p->max);

		if (!rc && b->n)
			rc = sx_joiner_run(t->joiner, b->v, has_inputs ? b->inputs : NULL, b->n);
		if (rc || !b->n || b->has_large)
			return rc;
	}
	return SIMIDX_OK;
}

/*
 * The buckets in a range. After a large one the thread's stream begins anew; one that all threads
 * share goes on.
 */
static int join_range(struct part_worker *t, uint64_t from, uint64_t last)
{
	struct find *f = t->p->f;
	int rc = SIMIDX_OK;

	do {
		if (!f->is_shared) {
			sx_join_stream_end(&t->stream);
			rc = sx_join_stream_begin(&t->stream, &f->source, from, last, &t->w.err);
		}
		if (!rc)
			rc = join_batches(t);
		if (rc || !t->w.batch.has_large)
			break;
		from = (t->w.batch.large | sx_low_bits(t->p->shift)) + 1;
		rc = join_large(t);
	} while (!rc && from && from <= last && !sx_pool_has_ended(&f->pool));
	return rc;
}

/* Each thread takes piece by piece. */
static int join_pieces(struct part_worker *t)
{
	struct part *p = t->p;
	unsigned bits = p->constraint.bits - p->piece_bits;
	int rc = SIMIDX_OK;

	while (!rc && !sx_pool_has_ended(&p->f->pool)) {
		uint64_t piece = atomic_fetch_add(&p->next, 1);
		uint64_t from = bits < 64 ? piece << bits : 0;

		if (piece >> p->piece_bits)
			break;
		rc = p->piece_bits ? join_range(t, from, from | sx_low_bits(bits))
				   : join_range(t, 0, UINT64_MAX);
	}
	sx_join_stream_free(&t->stream);
	return rc;
}

static void run_part(void *ctx, unsigned number)
{
	struct part *p = ctx;
	const sx_join *join = p->f->join;
	struct part_worker t = { .w.f = p->f, .p = p };
	const sx_join_sink sink = { take_permuted, pause_work, &t };
	int rc;

	(void)number;
	sx_err_clear(&t.w.err);
	t.joiner = sx_joiner_new(sx_join_kernel(join), sx_join_tuned(join), &sink);
	rc = t.joiner ? SIMIDX_OK : SIMIDX_E_NOMEM;
	if (!rc) {
		sx_joiner_begin(t.joiner, &p->constraint);
		rc = p->f->is_shared ? join_range(&t, 0, UINT64_MAX) : join_pieces(&t);
	}
	if (!rc)
		rc = sx_joiner_flush(t.joiner);
	end_worker(&t.w, rc);
	sx_joiner_free(t.joiner);
}

static size_t room_for_bucket(const sx_join *join)
{
	size_t max = (size_t)join->options.memory / 2 / ENTRY_BYTES / join->info.threads;

	if (sx_join_tuned(join)->bucket_entries)
		return sx_join_tuned(join)->bucket_entries;
	return max < MOST_ENTRIES ? max : MOST_ENTRIES;
}

static int find_by_parts(struct find *f, simidx_error *err)
{
	const sx_join_method *m = &f->join->method;
	unsigned threads = f->join->info.threads;
	int rc = SIMIDX_OK;

	f->total *= m->n_parts;
	for (unsigned i = 0; !rc && i < m->n_parts; i++) {
		const sx_join_part *part = &m->part[i];
		struct part p = { .f = f, .perm = &part->perm, .max = room_for_bucket(f->join) };

		p.constraint = sx_join_constraint_of(m->part, m->n_parts, i, f->join->info.radius);
		p.shift = p.constraint.bits - part->width;
		if (threads > 1)
			p.piece_bits = part->width < PIECE_BITS ? part->width : PIECE_BITS;
		rc = begin_source(f, p.perm, 0, 0, err);
		if (!rc)
			rc = sx_pool_run(&f->pool, threads, run_part, &p, err);
		end_source(f);
	}
	return rc;
}

/* ---- a scan ---- */

/* As many fingerprints as there is room for. All that come after are compared with each of them. */
struct scan {
	struct find *f;
	sx_join_batch scanned;
};

/* Compare each of a batch with those of a chunk of the scanned that come before it. */
static int compare_chunk(struct worker *w, const sx_join_batch *scanned, size_t from,
			 uint32_t *hits)
{
	const sx_join *join = w->f->join;
	const sx_kernel *kernel = sx_join_kernel(join);
	const sx_join_batch *b = &w->batch;
	int has_inputs = join->n_inputs == 2, rc = SIMIDX_OK;

	for (size_t i = 0; !rc && i < b->n; i++) {
		size_t n = sx_u64s_below(scanned->v, scanned->n, b->v[i]), found;

		n = n < from ? 0 : n - from < CHUNK ? n - from : CHUNK;
		found = kernel->near_u64(scanned->v + from, n, b->v[i], join->info.radius, hits);
		for (size_t h = 0; !rc && h < found; h++) {
			size_t at = from + hits[h];
			unsigned x = has_inputs ? scanned->inputs[at] : 3,
				 y = has_inputs ? b->inputs[i] : 3;

			if ((x & 1 && y & 2) || (x & 2 && y & 1))
				rc = push_pair(w, scanned->v[at], b->v[i]);
		}
	}
	return rc;
}

static void run_scan(void *ctx, unsigned number)
{
	const struct scan *s = ctx;
	struct worker w = { .f = s->f };
	uint32_t *hits = sx_realloc(NULL, CHUNK, sizeof(*hits));
	int rc = hits ? SIMIDX_OK : SIMIDX_E_NOMEM;

	(void)number;
	sx_err_clear(&w.err);
	while (!rc && !sx_pool_has_ended(&s->f->pool) &&
	       !(rc = read_batch(&w, NULL, 64, SIZE_MAX)) && w.batch.n)
		for (size_t from = 0; !rc && from < s->scanned.n; from += CHUNK) {
			rc = compare_chunk(&w, &s->scanned, from, hits);
			if (!rc && from / CHUNK % 64 == 63)
				rc = pause_work(&w);
		}
	end_worker(&w, rc);
	free(hits);
}

/* Fill the scanned with the next `max` fingerprints. */
static int fill_scanned(struct scan *s, size_t max, simidx_error *err)
{
	sx_join_batch *to = &s->scanned, some = { 0 };
	int has_inputs = s->f->join->n_inputs == 2, rc = SIMIDX_OK;

	to->n = 0;
	while (!rc && to->n < max &&
	       !(rc = sx_join_batch_read(&some, &s->f->stream, 64, SIZE_MAX, err)) && some.n) {
		size_t n = some.n < max - to->n ? some.n : max - to->n;

		if (sx_reserve(&to->v, &to->v_cap, to->n + n, sizeof(*to->v)) ||
		    sx_reserve(&to->inputs, &to->inputs_cap, has_inputs ? to->n + n : 0, 1)) {
			rc = sx_fail_nomem(err);
			break;
		}
		memcpy(to->v + to->n, some.v, n * sizeof(*to->v));
		if (has_inputs)
			memcpy(to->inputs + to->n, some.inputs, n);
		to->n += n;
	}
	sx_join_batch_free(&some);
	return rc;
}

static int find_by_scan(struct find *f, simidx_error *err)
{
	size_t tuned = sx_join_tuned(f->join)->scanned;
	size_t max = tuned ? tuned : (size_t)f->join->options.memory / 2 / 9;
	struct scan s = { .f = f };
	uint64_t from = 0;
	int rc;

	f->total *= f->total / max + 1;
	do {
		rc = begin_source(f, NULL, 1, from, err);
		if (!rc)
			rc = fill_scanned(&s, max, err);
		end_source(f);
		if (rc || !s.scanned.n)
			break;
		from = s.scanned.v[s.scanned.n - 1] + 1;
		rc = begin_source(f, NULL, 1, 0, err);
		if (!rc)
			rc = sx_pool_run(&f->pool, f->join->info.threads, run_scan, &s, err);
		end_source(f);
	} while (!rc && s.scanned.n == max && from);
	sx_join_batch_free(&s.scanned);
	return rc;
}

int sx_join_find(sx_join *join, sx_sorter **pairs, simidx_error *err)
{
	struct find f = { .join = join };
	int rc = sx_join_sorter(join, 2, 2, pairs, err);

	if (rc)
		return rc;
	if (pthread_mutex_init(&f.lock, NULL) || pthread_mutex_init(&f.store, NULL))
		return sx_fail_nomem(err);
	f.pairs = *pairs;
	for (unsigned i = 0; i < join->n_inputs; i++)
		f.total += sx_join_rows(&join->input[i]);
	rc = join->n_inputs == 2 ? find_common(&f, err) : find_repeated(&f, err);
	if (!rc)
		rc = join->method.scans ? find_by_scan(&f, err) : find_by_parts(&f, err);
	if (!rc)
		rc = sx_join_sorted(join, *pairs, err);
	if (!rc)
		join->info.fingerprint_pairs = sx_sorter_count(*pairs);
	pthread_mutex_destroy(&f.lock);
	pthread_mutex_destroy(&f.store);
	return rc;
}
