/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "query/qr_queue.h"

#include "common/tl_msg.h"
#include "common/tl_options.h"
#include "query/qr_explain.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * How many queries wait: many share more of what is read, but nobody wants to see nothing for
 * minutes where the answers are slow.
 */
#define FIRST_MOST ((size_t)1 << 10)
#define LEAST_MOST ((size_t)1 << 4)
#define MOST_MOST ((size_t)1 << 17)
#define MOST_BYTES ((size_t)32 << 20)
#define QUICK_SECONDS 0.2
#define SLOW_SECONDS 1.0

/*
 * A program that writes many queries fills the pipe again while they are searched; with so many
 * waiting, a moment for it is well spent.
 */
#define MANY_WAITING 256
#define MOMENT_MS 1

void qr_queue_init(struct qr_queue *queue, struct qr_context *ctx, const struct qr_ask *ask)
{
	memset(queue, 0, sizeof(*queue));
	queue->ctx = ctx;
	queue->ask = ask;
	queue->most = FIRST_MOST;
}

void qr_queue_free(struct qr_queue *queue)
{
	simidx_reader_close(queue->reader);
	free(queue->waiting);
	free(queue->queries);
	free(queue->bytes);
}

static int fail(struct qr_queue *queue)
{
	queue->code = TL_TROUBLE;
	return TL_TROUBLE;
}

/* Room for one more query and `n` bytes. */
static int make_room(struct qr_queue *queue, size_t n)
{
	size_t room = queue->room ? 2 * queue->room : LEAST_MOST;
	size_t bytes_room = 2 * queue->bytes_room + n;
	struct qr_waiting *waiting;
	simidx_query *queries;
	char *bytes;

	if (queue->n == queue->room) {
		waiting = realloc(queue->waiting, room * sizeof(*waiting));
		if (waiting)
			queue->waiting = waiting;
		queries = realloc(queue->queries, room * sizeof(*queries));
		if (queries)
			queue->queries = queries;
		if (!waiting || !queries)
			return -1;
		queue->room = room;
	}
	if (queue->n_bytes + n > queue->bytes_room) {
		bytes = realloc(queue->bytes, bytes_room);
		if (!bytes)
			return -1;
		queue->bytes = bytes;
		queue->bytes_room = bytes_room;
	}
	return 0;
}

/* Copy bytes to where make_room() made some. Returns where they are. */
static size_t keep(struct qr_queue *queue, const void *bytes, size_t n)
{
	size_t at = queue->n_bytes;

	if (n)
		memcpy(queue->bytes + at, bytes, n);
	queue->n_bytes += n;
	return at;
}

int qr_queue_add(struct qr_queue *queue, const struct qr_query *query, const simidx_query *ask)
{
	unsigned bits = queue->ctx->info.bits;
	size_t n = query->name_size + (ask->weights ? bits : 0) + (ask->weights2 ? 64 : 0);
	struct qr_waiting *waiting;

	if (queue->code)
		return queue->code;
	if (make_room(queue, n)) {
		tl_error("out of memory");
		return fail(queue);
	}
	waiting = &queue->waiting[queue->n];
	waiting->query = *query;
	queue->queries[queue->n++] = *ask;
	waiting->name_at = keep(queue, query->name, query->name_size);
	waiting->weights_at = keep(queue, ask->weights, ask->weights ? bits : 0);
	keep(queue, ask->weights2, ask->weights2 ? 64 : 0);
	if (queue->n >= queue->most || queue->n_bytes >= MOST_BYTES)
		return qr_queue_flush(queue);
	return 0;
}

/* The bytes may have moved since. */
static void point_to_bytes(struct qr_queue *queue)
{
	for (size_t i = 0; i < queue->n; i++) {
		struct qr_waiting *waiting = &queue->waiting[i];
		simidx_query *query = &queue->queries[i];

		if (waiting->query.name_size)
			waiting->query.name = queue->bytes + waiting->name_at;
		if (query->weights)
			query->weights = (const uint8_t *)queue->bytes + waiting->weights_at;
		if (query->weights2)
			query->weights2 = query->weights + queue->ctx->info.bits;
	}
}

/* Count an answer and give the query its name. Returns the query. */
static const struct qr_query *finish_query(struct qr_queue *queue, size_t i,
					   const simidx_results *results, char name[QR_FP_SIZE])
{
	struct qr_query *query = &queue->waiting[i].query;

	if (results->count)
		queue->matched = 1;
	if (results->truncated)
		queue->n_cut++;
	queue->cut |= results->truncated;
	if (!query->name_size) {
		query->name_size = qr_format_fingerprint(name, query->fp, queue->ctx->info.bits);
		query->name = name;
	}
	return query;
}

/* Answers come in order, each once. */
static int deliver(void *ctx, size_t i, const simidx_results *results)
{
	struct qr_queue *queue = ctx;
	char name[QR_FP_SIZE];
	const struct qr_query *query = finish_query(queue, queue->answered++, results, name);

	(void)i;
	if (qr_print_results(queue->ctx, query, results))
		return fail(queue);
	return 0;
}

/* Those that are not answered yet. Returns 0 or the code in err. */
static int search_all(struct qr_queue *queue, simidx_error *err)
{
	simidx_batch_options options = SIMIDX_BATCH_OPTIONS_INIT;

	options.threads = queue->ctx->threads;
	options.deliver = deliver;
	options.ctx = queue;
	return simidx_search_batch(queue->ctx->index, queue->queries + queue->answered,
				   queue->n - queue->answered, &options, err);
}

static int explain(struct qr_queue *queue, simidx_error *err)
{
	size_t i = queue->answered;
	simidx_explanation found = SIMIDX_EXPLANATION_INIT;
	char name[QR_FP_SIZE];
	int rc = 0;

	if (!queue->reader)
		rc = simidx_reader_open(queue->ctx->index, &queue->reader, err);
	if (!rc)
		rc = simidx_reader_explain(queue->reader, &queue->queries[i], &found, err);
	if (rc)
		return rc;
	queue->answered++;
	if (qr_print_explanation(queue->ctx, finish_query(queue, i, found.results, name), &found))
		fail(queue);
	return 0;
}

static int explain_all(struct qr_queue *queue, simidx_error *err)
{
	int rc = 0;

	while (!rc && queue->answered < queue->n && !queue->code)
		rc = explain(queue, err);
	return rc;
}

int qr_queue_again(struct qr_queue *queue, int rc, simidx_error *err)
{
	if (rc != SIMIDX_E_MOVED)
		return 0;
	simidx_reader_close(queue->reader);
	queue->reader = NULL;
	return qr_again(queue->ctx, rc, err);
}

/* Whatever is at the path: an index that is exchanged for another one is left for that. */
static void answer(struct qr_queue *queue)
{
	simidx_error err;
	int rc;

	queue->answered = 0;
	do
		rc = queue->explains ? explain_all(queue, &err) : search_all(queue, &err);
	while (!queue->code && qr_queue_again(queue, rc, &err));
	if (rc && !queue->code) {
		qr_fail(queue->ctx, &err);
		fail(queue);
	}
}

int qr_queue_flush(struct qr_queue *queue)
{
	double start = tl_seconds(), seconds;
	int is_full = queue->n >= queue->most;

	if (!queue->n || queue->code)
		return queue->code;
	point_to_bytes(queue);
	answer(queue);
	queue->n = queue->n_bytes = 0;
	seconds = tl_seconds() - start;
	if (is_full && seconds < QUICK_SECONDS && queue->most < MOST_MOST)
		queue->most *= 2;
	else if (seconds > SLOW_SECONDS && queue->most > LEAST_MOST)
		queue->most /= 2;
	return queue->code;
}

int qr_queue_tell_cut(const struct qr_queue *queue)
{
	unsigned long long limit = queue->ask->limit, candidates = queue->ask->max_candidates;
	unsigned long long n = queue->n_cut;
	const char *answers = n == 1 ? "answer was" : "answers were";

	if (queue->cut == SIMIDX_CUT_LIMIT)
		tl_error("%llu %s cut at %llu match%s", n, answers, limit,
			 limit == 1 ? "" : "es");
	else if (queue->cut == SIMIDX_CUT_CANDIDATES)
		tl_error("%llu %s cut at %llu candidate%s", n, answers, candidates,
			 candidates == 1 ? "" : "s");
	else if (queue->cut)
		tl_error("%llu %s cut at %llu match%s or %llu candidate%s", n, answers, limit,
			 limit == 1 ? "" : "es", candidates, candidates == 1 ? "" : "s");
	return queue->cut != 0;
}

int qr_queue_idle(void *ctx, int fd)
{
	struct qr_queue *queue = ctx;
	struct pollfd more = { fd, POLLIN, 0 };

	if (queue->n >= MANY_WAITING && poll(&more, 1, MOMENT_MS) != 0)
		return 0;
	if (qr_queue_flush(queue))
		return queue->code;
	fflush(stdout);
	return tl_output_failed() ? fail(queue) : 0;
}
