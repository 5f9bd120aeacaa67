/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/sd_ahead.h"

#include <stdlib.h>

#include "dedup/sd_against.h"
#include "dedup/sd_compare.h"
#include "dedup/sd_remember.h"
#include "util/sx_alloc.h"
#include "util/sx_err.h"
#include "util/sx_pool.h"

/* Most candidates of a row with which the threads compare it. */
#define MOST_AHEAD 256

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

	return sx_pool_run(&job.pool, threads < most ? threads : (unsigned)most, work, &job, err);
}

/* The fingerprint and what asks for candidates. */
static int sketch(simidx_dedup *dedup, struct sd_thread *thread, struct sd_item *item,
		  simidx_error *err)
{
	const unsigned flags = SIMIDX_SKETCH_FP2 | SIMIDX_SKETCH_WEIGHTS;
	const simidx_dedup_row *row = &item->row;
	int rc = SIMIDX_OK;

	item->sketch.size = sizeof(item->sketch);
	if (dedup->options.kind == SIMIDX_DEDUP_TEXTS)
		rc = simidx_text_fingerprint(thread->text, row->text, row->text_size, flags,
					     &item->sketch, err);
	else if (dedup->options.kind == SIMIDX_DEDUP_FEATURES)
		rc = simidx_sketch_make(row->features, row->n_features, SIMIDX_DEFAULT_BITS, flags,
					&item->sketch, err);
	else
		item->sketch.fp = row->fp;
	thread->n_empty += sd_is_empty(item);
	if (!rc && sd_is_empty(item) && row->text_size)
		rc = sd_row_sketch_bytes(row, flags, &item->sketch, err);
	if (!rc && !sd_is_empty(item))
		rc = sd_kept_query(dedup->kept, NULL, &item->sketch, &item->query, err);
	return rc;
}

/*
 * Compare with candidates that were kept before the batch, until one is near. For pairs with all;
 * but of what a row may have, so that not even equal texts fill the memory, only with the nearest:
 * with the rest sd_decide() compares.
 */
static int search(simidx_dedup *dedup, struct sd_thread *thread, struct sd_item *item,
		  simidx_error *err)
{
	simidx_results results = SIMIDX_RESULTS_INIT;
	int rc = simidx_reader_search(thread->reader, &item->query, &results, err);
	int is_near = 0;
	size_t most;

	if (rc || !results.n)
		return rc;
	most = results.n < MOST_AHEAD ? results.n : MOST_AHEAD;
	item->found = sx_calloc(most, sizeof(*item->found));
	if (!item->found)
		return sx_fail_nomem(err);
	while (!rc && item->n_found < most &&
	       (!is_near || dedup->options.flags & SIMIDX_DEDUP_PAIRS)) {
		const simidx_match *match = &results.matches[item->n_found];
		struct sd_candidate *candidate = &item->found[item->n_found++];

		candidate->id = match->id;
		candidate->distance = match->weighted_distance;
		if (sd_stops(dedup))
			return sx_fail(err, SIMIDX_E_STOPPED, "stopped");
		rc = sd_compare_kept(dedup, thread, item, candidate, err);
		is_near = candidate->is_near;
	}
	item->is_out = is_near && !(dedup->options.flags & SIMIDX_DEDUP_PAIRS);
	qsort(item->found, item->n_found, sizeof(*item->found), sd_compare_ids);
	return rc;
}

static int step_search(simidx_dedup *dedup, unsigned number, size_t i, simidx_error *err)
{
	struct sd_thread *thread = &dedup->thread[number];
	struct sd_item *item = &dedup->item[i];
	int rc = sketch(dedup, thread, item, err);

	dedup->print[i] = (struct sd_print){ item->sketch.fp, item->sketch.fp2,
					     sd_is_empty(item) };
	if (!rc && !sd_is_empty(item))
		rc = sd_against_find(dedup, thread, item, err);
	if (!rc && !sd_is_empty(item) && !item->is_out && dedup->verifies)
		rc = search(dedup, thread, item, err);
	return rc;
}

/* Which rows of the batch are going to be compared with each other, if they are kept. */
static int step_beside(simidx_dedup *dedup, unsigned number, size_t i, simidx_error *err)
{
	struct sd_item *item = &dedup->item[i];
	unsigned distance;

	(void)number, (void)err;
	for (size_t k = 0; k < i && !sd_is_empty(item); k++) {
		const struct sd_print *other = &dedup->print[k];

		if (other->is_empty ||
		    !sd_kept_is_near(&item->query, other->fp, other->fp2, &distance))
			continue;
		__atomic_store_n(&item->needs_set, 1, __ATOMIC_RELAXED);
		__atomic_store_n(&dedup->item[k].needs_set, 1, __ATOMIC_RELAXED);
	}
	return SIMIDX_OK;
}

static int step_set(simidx_dedup *dedup, unsigned number, size_t i, simidx_error *err)
{
	struct sd_thread *thread = &dedup->thread[number];
	struct sd_item *item = &dedup->item[i];
	int rc = item->needs_set ? sd_make_set(thread, item, err) : SIMIDX_OK;

	return rc || item->is_out || sd_is_empty(item) ? rc :
							 sd_remember(dedup, thread, item, err);
}

int sd_ahead(simidx_dedup *dedup, simidx_error *err)
{
	int rc = run(dedup, step_search, err);

	if (!rc && dedup->verifies)
		rc = run(dedup, step_beside, err);
	if (!rc && dedup->verifies)
		rc = run(dedup, step_set, err);
	return rc;
}
