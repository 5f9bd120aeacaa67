/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * A batch: threads take tasks of consecutive queries and deliver the answers themselves. The
 * caller's thread is one of them; the others have readers of their own.
 */

#include "search/sx_batch.h"

#include <stdlib.h>

#include "search/sx_search.h"
#include "util/sx_err.h"

#define TASK 256        /* queries that are handed out together where they are not sorted */
#define PIECE 65536     /* matches that are delivered together */

/* Hand the answer to query number i to the caller in pieces, and look up the labels of each. */
static int deliver(sx_batch *batch, simidx_reader *reader, size_t i, const simidx_results *found,
		   simidx_error *err)
{
	const simidx_batch_options *options = batch->options;
	simidx_results piece = *found;
	size_t at = 0;
	int rc;

	if (sx_pool_has_ended(&batch->pool))
		return SIMIDX_E_STOPPED;
	for (;;) {
		piece.n = found->n - at < PIECE ? found->n - at : PIECE;
		piece.more = at + piece.n < found->n;
		rc = sx_search_labels(reader, &batch->query[i], at, piece.n, err);
		if (!rc && options->deliver(options->ctx, i, &piece))
			rc = sx_fail(err, SIMIDX_E_STOPPED, "stopped by the caller");
		if (rc || !piece.more)
			return rc;
		at += piece.n;
		piece.matches = found->matches + at;
	}
}

static int search_one(sx_batch *batch, simidx_reader *reader, size_t i, simidx_results *out,
		      simidx_error *err)
{
	sx_query q;
	int rc = sx_query_init(&q, batch->index, &batch->query[i], err);

	*out = (simidx_results)SIMIDX_RESULTS_INIT;
	return rc ? rc : sx_search(reader, &q, out, err);
}

/* Answer queries [from, to) in their order. */
static int run_task(sx_batch *batch, simidx_reader *reader, void *bulk, size_t from, size_t to,
		    simidx_error *err)
{
	const sx_backend_bulk *calls = batch->index->backend->bulk;
	size_t begin = from, end = from;
	int is_together = bulk != NULL, rc = SIMIDX_OK;

	for (size_t i = from; !rc && i < to; i++) {
		simidx_results results = SIMIDX_RESULTS_INIT;

		if (is_together && i == end) {
			rc = calls->search(bulk, reader, batch->query + i, to - i, &end, err);
			is_together = end > 0;
			begin = i;
			end += i;
		}
		if (!rc)
			rc = is_together ? calls->answer(bulk, reader, i - begin, &results, err)
					 : search_one(batch, reader, i, &results, err);
		if (!rc)
			rc = deliver(batch, reader, i, &results, err);
	}
	return rc;
}

/* Answer tasks until there are none or the batch ends. The reader has a snapshot. */
static void work(sx_batch *batch, simidx_reader *reader)
{
	const sx_backend_bulk *calls = batch->index->backend->bulk;
	void *bulk = batch->together ? calls->create() : NULL;
	simidx_error err;
	int rc = SIMIDX_OK;

	sx_err_clear(&err);
	while (!rc && !sx_pool_has_ended(&batch->pool)) {
		size_t from = atomic_fetch_add(&batch->next, batch->task), to;

		if (from >= batch->n)
			break;
		to = batch->n - from < batch->task ? batch->n : from + batch->task;
		rc = run_task(batch, reader, bulk, from, to, &err);
	}
	calls->destroy(bulk);
	if (rc && sx_pool_fail(&batch->pool, rc, &err) && batch->options->stopped)
		batch->options->stopped(batch->options->ctx);
}

/*
 * The caller's thread has a reader. Another one that gets none, or no snapshot, leaves the queries
 * to the others.
 */
static void run_thread(void *opaque, unsigned number)
{
	sx_batch *batch = opaque;
	simidx_reader *reader;

	if (!number) {
		work(batch, batch->reader);
		return;
	}
	if (sx_reader_open(batch->index, &reader, NULL))
		return;
	if (!sx_view_renew(&reader->view, NULL))
		work(batch, reader);
	simidx_reader_close(reader);
}

/* Slices are as large as possible, because large ones share more, but there is one a thread. */
void sx_batch_divide(sx_batch *batch)
{
	size_t tasks, max = batch->index->tuning.batch_slice;

	/* Each has a reader slot, which other processes need too. */
	batch->threads = sx_pool_threads(batch->options->threads);
	batch->task = TASK;
	if (batch->together && batch->index->backend->bulk->most) {
		batch->task = batch->index->backend->bulk->most;
	} else if (batch->together) {
		tasks = (batch->n - 1) / max + 1;
		tasks += batch->threads - 1;
		tasks -= tasks % batch->threads;
		batch->task = (batch->n - 1) / tasks + 1;
	}
	tasks = (batch->n - 1) / batch->task + 1;
	if (batch->threads > tasks)
		batch->threads = (unsigned)tasks;
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

int simidx_reader_search_batch(simidx_reader *reader, const simidx_query *queries, size_t n,
			       const simidx_batch_options *options, simidx_error *err)
{
	sx_batch batch = { .query = queries, .n = n };
	simidx_query *converted = NULL;
	simidx_batch_options own;
	int rc;

	sx_err_clear(err);
	batch.options = sx_struct_read(options, SX_STRUCT_TO(simidx_batch_options, ctx), &own,
				       sizeof(own));
	if (!reader || (!queries && n) || !batch.options || !batch.options->deliver ||
	    (n && (queries->size < SX_QUERY_MIN || queries->size > SX_STRUCT_MAX)))
		return sx_fail(err, SIMIDX_E_ARG,
			       "simidx_reader_search_batch: bad reader, queries or options");
	if (n && queries->size != sizeof(*queries)) {
		converted = convert(queries, n);
		batch.query = converted;
		if (!converted)
			return sx_fail_nomem(err);
	}
	rc = sx_reader_begin(reader, err);
	if (rc) {
		free(converted);
		return rc;
	}
	if (n) {
		batch.index = sx_reader_index(reader);
		sx_view_expect(&reader->view, n);
		batch.together = batch.index->backend->bulk->is_worthwhile(reader, batch.query, n);
		sx_batch_divide(&batch);
		/* Other readers do not see what a writer's transaction has changed. */
		if (reader->writing)
			batch.threads = 1;
		batch.reader = reader;
		rc = sx_pool_run(&batch.pool, batch.threads, run_thread, &batch, err);
	}
	/* A child after fork() must not touch the parent's transaction. */
	if (!sx_index_check_fork(sx_reader_index(reader), NULL))
		sx_reader_end(reader);
	free(converted);
	return rc;
}
