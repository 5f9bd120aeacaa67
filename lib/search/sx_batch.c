/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Many queries at once: who does what.
 */

#include "search/sx_batch.h"

#include <stdlib.h>
#include <unistd.h>

#include "util/sx_err.h"

#define TASK 256         /* queries that are handed out together where they are not sorted */
#define MOST_THREADS 256 /* each has a reader slot, which other processes need too */

/* Opening a reader, and all that it does first, takes longer than ten searches. */
static int get_reader(simidx *index, simidx_reader **out, simidx_error *err)
{
	int rc;

	*out = __atomic_exchange_n(&index->spare, NULL, __ATOMIC_ACQUIRE);
	if (*out)
		return SIMIDX_OK;
	rc = simidx_reader_open(index, out, err);
	/* Or a short batch would spend more time on looking than on searching. */
	if (!rc)
		(*out)->watch = 1;
	return rc;
}

int sx_worker_init(sx_worker *w, const sx_batch *batch, simidx_error *err)
{
	int rc = get_reader(batch->index, &w->reader, err);

	if (!rc)
		rc = sx_snapshot_renew(&w->reader->snapshot, err);
	if (rc) {
		simidx_reader_close(w->reader);
		w->reader = NULL;
	}
	return rc;
}

void sx_worker_free(sx_worker *w)
{
	sx_sorted_free(w->sorted);
	if (!w->reader)
		return;
	/* A child after fork() must not touch the parent's transaction. */
	if (!sx_store_check_fork(w->reader->index->store, NULL))
		sx_snapshot_reset(&w->reader->snapshot);
	simidx_reader_close(
		__atomic_exchange_n(&w->reader->index->spare, w->reader, __ATOMIC_ACQ_REL));
}

int sx_batch_plain(simidx_reader *reader, const sx_batch *batch, size_t from, size_t to,
		   sx_take take, void *ctx, simidx_error *err)
{
	int rc = SIMIDX_OK;

	for (size_t i = from; !rc && i < to; i++) {
		simidx_results results;

		rc = sx_search(reader, &batch->query[i], &results, err);
		if (!rc)
			rc = take(ctx, i, &results, err);
	}
	return rc;
}

int sx_worker_run(sx_worker *w, const sx_batch *batch, size_t task, sx_take take, void *ctx,
		  simidx_error *err)
{
	size_t from = task * batch->task;
	size_t to = batch->n - from < batch->task ? batch->n : from + batch->task;

	if (batch->sorted && !w->sorted)
		w->sorted = sx_sorted_new();
	return w->sorted ? sx_sorted_run(w->sorted, w->reader, batch, from, to, take, ctx, err)
			 : sx_batch_plain(w->reader, batch, from, to, take, ctx, err);
}

int sx_batch_deliver(const sx_batch *batch, size_t i, const simidx_results *results,
		     simidx_error *err)
{
	return batch->options->deliver(batch->options->ctx, i, results)
		       ? sx_fail(err, SIMIDX_E_STOPPED, "stopped by the caller")
		       : SIMIDX_OK;
}

static int deliver(void *ctx, size_t i, const simidx_results *results, simidx_error *err)
{
	return sx_batch_deliver(*(const sx_batch *const *)ctx, i, results, err);
}

int sx_batch_alone(sx_worker *w, const sx_batch *batch, simidx_error *err)
{
	int rc = SIMIDX_OK;

	for (size_t t = 0; !rc && t * batch->task < batch->n; t++)
		rc = sx_worker_run(w, batch, t, deliver, &batch, err);
	return rc;
}

static unsigned cores(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n > 0 ? (unsigned)n : 1;
}

/* Slices are as large as may be, as they share the more, but at least one a thread. */
void sx_batch_divide(sx_batch *batch)
{
	size_t tasks, most = batch->index->batch_slice;

	if (!batch->options->threads)
		batch->threads = cores();
	if (batch->threads > MOST_THREADS)
		batch->threads = MOST_THREADS;
	batch->task = TASK;
	if (batch->sorted) {
		tasks = (batch->n - 1) / most + 1;
		tasks += batch->threads - 1;
		tasks -= tasks % batch->threads;
		batch->task = (batch->n - 1) / tasks + 1;
	}
	tasks = (batch->n - 1) / batch->task + 1;
	if (batch->threads > tasks)
		batch->threads = (unsigned)tasks;
}

static int run(sx_batch *batch, sx_worker *w, simidx_error *err)
{
	batch->sorted = sx_batch_can_sort(batch, w->reader);
	sx_batch_divide(batch);
	return batch->threads > 1 ? sx_batch_crew(w, batch, err)
				  : sx_batch_alone(w, batch, err);
}

/*
 * Queries of another version of the struct, as ours. They lie as far apart as the first one's size
 * says. One that cannot be read gets no size: it fails when its turn comes.
 */
static simidx_query *convert(const simidx_query *queries, size_t n)
{
	size_t stride = queries->size;
	simidx_query *query = sx_calloc(n, sizeof(*query));

	for (size_t i = 0; query && i < n; i++) {
		const void *at = (const char *)queries + i * stride;
		const simidx_query *read = NULL;

		if (sx_struct_size(at) == stride)
			read = sx_struct_read(at, SX_QUERY_MIN, &query[i], sizeof(*query));
		if (!read)
			query[i].size = 0;
	}
	return query;
}

int simidx_search_batch(simidx *index, const simidx_query *queries, size_t n,
			const simidx_batch_options *options, simidx_error *err)
{
	sx_batch batch = { .index = index, .query = queries, .n = n };
	simidx_query *converted = NULL;
	simidx_batch_options own;
	sx_worker worker = { 0 };
	int rc;

	sx_err_clear(err);
	batch.options = sx_struct_read(options, SX_STRUCT_TO(simidx_batch_options, ctx), &own,
				       sizeof(own));
	if (!index || (!queries && n) || !batch.options || !batch.options->deliver ||
	    (n && (queries->size < SX_QUERY_MIN || queries->size > SX_STRUCT_MAX)))
		return sx_fail(err, SIMIDX_E_ARG,
			       "simidx_search_batch: bad index, queries or options");
	if (n && queries->size != sizeof(*queries)) {
		converted = convert(queries, n);
		batch.query = converted;
		if (!converted)
			return sx_fail_nomem(err);
	}
	batch.threads = batch.options->threads;
	rc = sx_worker_init(&worker, &batch, err);
	if (!rc && n)
		rc = run(&batch, &worker, err);
	sx_worker_free(&worker);
	free(converted);
	return rc;
}
