/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/sd_ahead.h"

#include <signal.h>
#include <stdlib.h>

#include "dedup/sd_against.h"
#include "dedup/sd_compare.h"
#include "dedup/sd_known.h"
#include "dedup/sd_remember.h"
#include "util/sx_alloc.h"
#include "util/sx_err.h"
#include "util/sx_pool.h"

/* Most candidates of a row that are noted, in the index and in the batch. */
#define MOST_AHEAD 256

/* As simidx_query says. */
#define DOCUMENTS_A_PROBE 128

/* Rows that a thread takes at once: few, as one long text may take as long as many others. */
#define ROWS_AT_ONCE 8

/* One step for each row of the batch. */
struct job {
	simidx_dedup *dedup;
	int (*step)(simidx_dedup *dedup, unsigned thread, size_t i, simidx_error *err);
	atomic_size_t next; /* the first row that nobody has taken */
	sx_pool pool;
};

static void work(void *ctx, unsigned number)
{
	struct job *job = ctx;
	simidx_dedup *dedup = job->dedup;
	simidx_error err = { 0 };
	int rc = SIMIDX_OK;

	while (!rc && !sx_pool_has_ended(&job->pool)) {
		size_t i = atomic_fetch_add(&job->next, ROWS_AT_ONCE), end = i + ROWS_AT_ONCE;

		if (i >= dedup->n)
			return;
		for (; !rc && i < end && i < dedup->n; i++)
			rc = sd_stops(dedup) ? sx_fail(&err, SIMIDX_E_STOPPED, "stopped") :
					       job->step(dedup, number, i, &err);
	}
	if (rc)
		sx_pool_fail(&job->pool, rc, &err);
}

static int run(simidx_dedup *dedup,
	       int (*step)(simidx_dedup *dedup, unsigned thread, size_t i, simidx_error *err),
	       simidx_error *err)
{
	struct job job = { .dedup = dedup, .step = step };
	size_t most = (dedup->n + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE;
	unsigned threads = dedup->options.threads;

	threads = threads < most ? threads : (unsigned)most;
	for (unsigned i = 0; i < threads; i++)
		sd_compare_begin(dedup, &dedup->thread[i], threads, 1);
	return sx_pool_run(&job.pool, threads, work, &job, err);
}

/* Make the fingerprint and what asks for candidates. */
static int step_sketch(simidx_dedup *dedup, unsigned number, size_t i, simidx_error *err)
{
	const unsigned flags = SIMIDX_SKETCH_FP2 | SIMIDX_SKETCH_WEIGHTS;
	const unsigned text_flags = flags | (dedup->known.seen ? SIMIDX_SKETCH_LEAST : 0);
	struct sd_thread *thread = &dedup->thread[number];
	struct sd_item *item = &dedup->item[i];
	const simidx_dedup_row *row = &item->row;
	int rc = SIMIDX_OK;

	item->sketch.size = sizeof(item->sketch);
	simidx_text_limit(thread->text, (size_t)thread->bytes);
	if (dedup->options.kind == SIMIDX_DEDUP_TEXTS)
		rc = simidx_text_fingerprint(thread->text, row->text, row->text_size, text_flags,
					     &item->sketch, err);
	else if (dedup->options.kind == SIMIDX_DEDUP_FEATURES)
		rc = simidx_sketch_make(row->features, row->n_features, SIMIDX_DEFAULT_BITS, flags,
					&item->sketch, err);
	else
		item->sketch.fp = row->fp;
	thread->n_empty += sd_is_empty(item) && !sd_is_asked(item);
	if (!rc && sd_is_empty(item) && row->text_size)
		rc = sd_row_sketch_bytes(row, flags, &item->sketch, err);
	if (!rc && !sd_is_empty(item))
		rc = sd_kept_query(dedup->kept, NULL, &item->sketch, &item->query, err);
	dedup->fp[i] = item->sketch.fp;
	if (!rc && !sd_is_empty(item) && !sd_is_asked(item))
		rc = sd_against_find(dedup, thread, item, err);
	return rc;
}

/* Tell which rows are new, in their order, as each counts for those behind it. Rows that are left
   out later count, too: what is in them is in what they are near to. */
static int tell_new(simidx_dedup *dedup, simidx_error *err)
{
	int rc = SIMIDX_OK;

	for (size_t i = 0; !rc && i < dedup->n; i++) {
		struct sd_item *item = &dedup->item[i];

		if (sd_is_empty(item) || item->is_out)
			continue;
		item->is_new = sd_seen_is_new(dedup->known.seen, &item->sketch, &item->own_hash);
		if (sd_is_asked(item))
			continue;
		dedup->thread[0].n_unsearched += (unsigned)item->is_new;
		rc = sd_seen_add(dedup->known.seen, &item->sketch, err);
	}
	return rc;
}

/* Compare with what its hashes lead to. Where one of that is near, the row needs no search. */
static int compare_first(simidx_dedup *dedup, struct sd_thread *thread, struct sd_item *item,
			 simidx_error *err)
{
	struct sd_leads *leads = &item->leads;

	while (!item->is_out && sd_find_lead(dedup, item, leads)) {
		struct sd_candidate *candidate = &leads->of[leads->n];
		int rc = sd_compare_kept(dedup, thread, item, candidate, err);

		if (rc || candidate->is_later)
			return rc;
		item->is_out = candidate->is_near;
		leads->n++;
	}
	return SIMIDX_OK;
}

/* Compare with what was found, until one is near, or with all. */
static int compare(simidx_dedup *dedup, struct sd_thread *thread, struct sd_item *item,
		   simidx_error *err)
{
	int rc = SIMIDX_OK, is_near = 0;

	for (; !rc && item->n_compared < item->n_found && (!is_near || sd_tells_all(dedup, item));
	     item->n_compared++) {
		struct sd_candidate *candidate = &item->found[item->n_compared];

		if (sd_stops(dedup))
			return sx_fail(err, SIMIDX_E_STOPPED, "stopped");
		if (sd_skips(dedup, item, sd_kept_handle(dedup->kept, candidate->id)))
			continue;
		if (!sd_take_known(dedup, item, candidate))
			rc = sd_compare_kept(dedup, thread, item, candidate, err);
		is_near = candidate->is_near;
		if (candidate->is_later)
			break;
	}
	item->is_out = is_near && !sd_tells_all(dedup, item);
	return rc;
}

/* Note what was found in the index; of what a row may have, so that not even equal texts fill the
   memory, only the nearest. */
static int take_found(struct sd_item *item, const simidx_results *results, simidx_error *err)
{
	size_t n = results->n < MOST_AHEAD ? results->n : MOST_AHEAD;

	item->is_searched &= n == results->n;
	item->is_cut = results->truncated != 0;
	if (!n)
		return SIMIDX_OK;
	item->found = sx_calloc(n, sizeof(*item->found));
	if (!item->found)
		return sx_fail_nomem(err);
	for (; item->n_found < n; item->n_found++) {
		const simidx_match *match = &results->matches[item->n_found];
		struct sd_candidate *candidate = &item->found[item->n_found];

		candidate->id = match->id;
		candidate->distance = match->weighted_distance;
	}
	return SIMIDX_OK;
}

/*
 * Note which rows of the batch match, of the n that the first fingerprint lets through. They are
 * going to be compared if they are kept.
 */
static int take_beside(simidx_dedup *dedup, struct sd_item *item, const uint32_t *number, size_t n,
		       simidx_error *err)
{
	size_t room = 0;
	unsigned distance;

	for (size_t i = 0; i < n; i++) {
		struct sd_item *other = &dedup->item[number[i]];

		if (sd_is_empty(other) || sd_is_asked(other) ||
		    !sd_kept_is_near(&item->query, other->sketch.fp, other->sketch.fp2, &distance))
			continue;
		__atomic_store_n(&item->needs_set, 1, __ATOMIC_RELAXED);
		__atomic_store_n(&other->needs_set, 1, __ATOMIC_RELAXED);
		item->is_searched &= item->n_beside < MOST_AHEAD;
		if (!item->is_searched)
			continue;
		if (sx_reserve(&item->beside, &room, item->n_beside + 1, sizeof(*item->beside)))
			return sx_fail_nomem(err);
		item->beside[item->n_beside++] = (struct sd_beside){ number[i], distance };
	}
	return SIMIDX_OK;
}

/*
 * Whether a search in the turn of row number i looks at an index of about this size as one before
 * the batch does (simidx_query).
 */
static int is_size_known(const simidx_dedup *dedup, const simidx_query *query, size_t i)
{
	uint64_t small = (uint64_t)query->probes * DOCUMENTS_A_PROBE;

	return !(query->flags & SIMIDX_QUERY_SCAN_SMALL) || dedup->documents > small ||
	       dedup->documents + i <= small;
}

static int step_search(simidx_dedup *dedup, unsigned number, size_t i, simidx_error *err)
{
	struct sd_thread *thread = &dedup->thread[number];
	struct sd_item *item = &dedup->item[i];
	simidx_results results = SIMIDX_RESULTS_INIT;
	const uint32_t *beside;
	size_t n;
	int rc;

	item->is_searched = item->is_new;
	if (sd_is_empty(item) || item->is_out || item->is_new)
		return SIMIDX_OK;
	rc = compare_first(dedup, thread, item, err);
	if (rc || item->is_out)
		return rc;
	rc = simidx_reader_search_beside(thread->reader, &item->query, dedup->fp, i, &results,
					 &beside, &n, err);
	item->is_searched = !rc && is_size_known(dedup, &item->query, i);
	if (!rc)
		rc = take_beside(dedup, item, beside, n, err);
	if (!rc)
		rc = take_found(item, &results, err);
	return rc ? rc : compare(dedup, thread, item, err);
}

static int step_set(simidx_dedup *dedup, unsigned number, size_t i, simidx_error *err)
{
	struct sd_thread *thread = &dedup->thread[number];
	struct sd_item *item = &dedup->item[i];
	int rc = item->needs_set ? sd_make_set(thread, item, err) : SIMIDX_OK;

	return rc || item->is_out || sd_is_empty(item) || sd_is_asked(item) ?
		       rc :
		       sd_remember(dedup, thread, item, err);
}

static int run_all(simidx_dedup *dedup, simidx_error *err)
{
	int rc = run(dedup, step_sketch, err), has_others, has_less;

	if (rc || !dedup->verifies)
		return rc;
	rc = sd_kept_documents(dedup->kept, &dedup->documents, &has_others, &has_less, err);
	if (!rc && has_others)
		sd_known_forget(dedup);
	if (!rc && has_less)
		sd_known_forget_leads(dedup);
	if (!rc && dedup->known.seen)
		rc = tell_new(dedup, err);
	if (!rc)
		rc = run(dedup, step_search, err);
	return rc ? rc : run(dedup, step_set, err);
}

static void *lead(void *ctx)
{
	simidx_dedup *dedup = ctx;

	dedup->ahead.rc = run_all(dedup, &dedup->ahead.err);
	atomic_store(&dedup->ahead.is_done, 1);
	return NULL;
}

void sd_ahead_begin(simidx_dedup *dedup)
{
	struct sd_ahead *ahead = &dedup->ahead;
	sigset_t all, before;

	ahead->is_beside = 0;
	atomic_store(&ahead->is_done, 0);
	/* Of a lasting index others wait for the lock, and perhaps the caller for them. */
	if (dedup->options.threads == 1 || dedup->options.flags & SIMIDX_DEDUP_LASTING)
		return;
	/* Signals are for the caller's threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ahead->is_beside = !pthread_create(&ahead->thread, NULL, lead, dedup);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

int sd_ahead_end(simidx_dedup *dedup, simidx_error *err)
{
	struct sd_ahead *ahead = &dedup->ahead;

	if (!ahead->is_beside)
		return run_all(dedup, err);
	pthread_join(ahead->thread, NULL);
	ahead->is_beside = 0;
	if (ahead->rc && err)
		*err = ahead->err;
	return ahead->rc;
}
