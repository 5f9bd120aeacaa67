/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "query/qr_queue.h"

#include "common/tl_msg.h"
#include "common/tl_number.h"
#include "common/tl_output.h"
#include "input/in_room.h"
#include "query/qr_explain.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simidx_batch.h>

/*
 * How many queries wait: many share more of what is read, but a user should see answers soon where
 * they are slow.
 */
#define FIRST_MAX ((size_t)1 << 10)
#define LOWEST_MAX ((size_t)1 << 4)
#define HIGHEST_MAX ((size_t)1 << 17)
#define MAX_BYTES (IN_MAX_LINE + 4096) /* a name and weights fit, as a name is part of a line */
#define MAX_TEXT ((size_t)32 << 20)
#define QUICK_SECONDS 0.2
#define SLOW_SECONDS 1.0

/*
 * A program that writes many queries fills the pipe again while they are searched; with so many
 * waiting, a moment for it is well spent.
 */
#define MANY_WAITING 256
#define MOMENT_MS 1

/* What a stream writes into memory. open_memstream() would not tell that something is missing. */
struct text {
	struct in_room room;
	size_t size;
};

static int fail(struct qr_queue *queue)
{
	queue->code = TL_TROUBLE;
	return TL_TROUBLE;
}

/* All that there may ever be: what is not used takes no memory, and nothing moves. */
void qr_queue_init(struct qr_queue *queue, struct qr_context *ctx, const struct qr_ask *ask)
{
	memset(queue, 0, sizeof(*queue));
	queue->ctx = ctx;
	queue->ask = ask;
	queue->max = FIRST_MAX;
	queue->started = tl_seconds();
	queue->shows_progress = tl_progress_wanted() && !ctx->width;
	pthread_mutex_init(&queue->lock, NULL);
	pthread_cond_init(&queue->turn, NULL);
	queue->waiting = malloc(HIGHEST_MAX * sizeof(*queue->waiting));
	queue->queries = malloc(HIGHEST_MAX * sizeof(*queue->queries));
	queue->bytes = malloc(MAX_BYTES);
	if (!queue->waiting || !queue->queries || !queue->bytes) {
		tl_error("out of memory");
		fail(queue);
	}
}

/* Forget answers that were found before their turn. */
static void forget_answers(struct qr_queue *queue)
{
	for (size_t i = queue->answered; i < queue->n; i++) {
		free(queue->waiting[i].text);
		queue->waiting[i].text = NULL;
	}
	queue->n_text = 0;
}

void qr_queue_free(struct qr_queue *queue)
{
	forget_answers(queue);
	simidx_reader_close(queue->reader);
	free(queue->waiting);
	free(queue->queries);
	free(queue->bytes);
	pthread_cond_destroy(&queue->turn);
	pthread_mutex_destroy(&queue->lock);
}

/* Copy bytes to the end of those of the queue. Returns where they are. */
static void *keep(struct qr_queue *queue, const void *bytes, size_t n)
{
	char *at = queue->bytes + queue->n_bytes;

	queue->n_bytes += n;
	return memcpy(at, bytes, n);
}

int qr_queue_add(struct qr_queue *queue, const struct qr_query *query, const simidx_query *ask)
{
	size_t bits = queue->ctx->info.bits, n = query->name_size + bits + 64;
	struct qr_waiting *waiting;
	simidx_query *kept;

	if (n > MAX_BYTES - queue->n_bytes && qr_queue_flush(queue))
		return queue->code;
	if (queue->code)
		return queue->code;
	waiting = &queue->waiting[queue->n];
	kept = &queue->queries[queue->n++];
	*waiting = (struct qr_waiting){ .query = *query };
	*kept = *ask;
	waiting->query.name = keep(queue, query->name, query->name_size);
	if (ask->weights)
		kept->weights = keep(queue, ask->weights, bits);
	if (ask->weights2)
		kept->weights2 = keep(queue, ask->weights2, 64);
	return queue->n >= queue->max ? qr_queue_flush(queue) : 0;
}

/* ---- answers, in order ---- */

/* Where answers go elsewhere, somebody who waits for many sees how many there are. */
static void show_progress(struct qr_queue *queue)
{
	double seconds = tl_seconds() - queue->started;

	if (seconds < SLOW_SECONDS || !tl_progress_due(&queue->shown))
		return;
	tl_progress_show("searching: %s queries answered, %s/s", tl_count(queue->n_answers),
			 tl_count((uint64_t)((double)queue->n_answers / seconds)));
}

/*
 * Matches that an answer, or a piece of one, prints; a search that ends at a limit has seen more.
 */
static uint64_t n_printed(const struct qr_query *query, const simidx_results *results)
{
	return query->show == QR_SHOW_MATCHES ? results->n :
	       query->show == QR_SHOW_EXISTS ? results->count != 0 : results->count;
}

/* The answer whose turn it is has been printed. */
static void finish_answer(struct qr_queue *queue, unsigned truncated)
{
	queue->answered++;
	queue->begun = 0;
	queue->n_answers++;
	if (queue->shows_progress)
		show_progress(queue);
	queue->n_cut += truncated != 0;
	queue->cut |= truncated;
}

/* Print the answers whose turn has come. */
static void print_ready(struct qr_queue *queue)
{
	struct qr_waiting *waiting = &queue->waiting[queue->answered];

	for (; queue->answered < queue->n && waiting->text && !tl_output_failed(); waiting++) {
		fwrite(waiting->text, 1, waiting->text_size, stdout);
		queue->n_text -= waiting->text_size;
		free(waiting->text);
		waiting->text = NULL;
		queue->n_matches += waiting->n_matches;
		finish_answer(queue, waiting->truncated);
	}
	if (tl_output_failed())
		fail(queue);
	pthread_cond_broadcast(&queue->turn);
}

/* A write to it; 0 is an error. */
static ssize_t append(void *ctx, const char *bytes, size_t n)
{
	struct text *text = ctx;

	if (in_room_have(&text->room, text->size + n))
		return 0;
	memcpy((char *)text->room.bytes + text->size, bytes, n);
	text->size += n;
	return (ssize_t)n;
}

/* Print an answer into memory. Returns it, for free(), or NULL. */
static char *print_text(const struct qr_queue *queue, const struct qr_query *query,
			const simidx_results *results, size_t *size)
{
	struct text text = { .size = 0 };
	FILE *out = fopencookie(&text, "w", (cookie_io_functions_t){ .write = append });
	int failed = !out || in_room_have(&text.room, 1) ||
		     qr_print_results(out, queue->ctx, query, results, 0);

	if (out && fclose(out))
		failed = 1;
	*size = text.size;
	if (!failed)
		return text.room.bytes;
	free(text.room.bytes);
	return NULL;
}

/* Print an answer into memory, for its turn; which may have come when that is done. */
static int keep_answer(struct qr_queue *queue, size_t i, const simidx_results *results)
{
	struct qr_waiting *waiting = &queue->waiting[i];
	size_t size;
	char *text = print_text(queue, &waiting->query, results, &size);

	if (!text)
		return tl_error("out of memory");
	pthread_mutex_lock(&queue->lock);
	waiting->text = text;
	waiting->text_size = size;
	waiting->truncated = results->truncated;
	waiting->n_matches = n_printed(&waiting->query, results);
	queue->n_text += size;
	if (queue->answered == i)
		print_ready(queue);
	pthread_mutex_unlock(&queue->lock);
	return 0;
}

/*
 * Print an answer, or a piece of one, whose turn it is. What is in it has been found, also where
 * nobody reads it to its end.
 */
static int print_answer(struct qr_queue *queue, size_t i, const simidx_results *results)
{
	const struct qr_query *query = &queue->waiting[i].query;

	queue->n_matches += n_printed(query, results);
	if (qr_print_results(stdout, queue->ctx, query, results, queue->begun))
		return -1;
	queue->begun = 1;
	if (results->more)
		return 0;
	pthread_mutex_lock(&queue->lock);
	finish_answer(queue, results->truncated);
	print_ready(queue);
	pthread_mutex_unlock(&queue->lock);
	return 0;
}

/*
 * From any thread of the batch. The query whose turn it is never waits, as its thread has answered
 * those before it of the same task and tasks are begun in order.
 */
static int deliver(void *ctx, size_t i, const simidx_results *results)
{
	struct qr_queue *queue = ctx;
	int keeps, stopped, rc;

	i += queue->first;
	pthread_mutex_lock(&queue->lock);
	keeps = i != queue->answered && !results->more && queue->n_text < MAX_TEXT;
	while (!keeps && i != queue->answered && !queue->stopped)
		pthread_cond_wait(&queue->turn, &queue->lock);
	stopped = queue->code || (i != queue->answered && queue->stopped);
	pthread_mutex_unlock(&queue->lock);
	if (stopped)
		return -1;
	rc = keeps ? keep_answer(queue, i, results) : print_answer(queue, i, results);
	if (!rc)
		return 0;
	pthread_mutex_lock(&queue->lock);
	fail(queue);
	pthread_mutex_unlock(&queue->lock);
	return rc;
}

static void stop(void *ctx)
{
	struct qr_queue *queue = ctx;

	pthread_mutex_lock(&queue->lock);
	queue->stopped = 1;
	pthread_cond_broadcast(&queue->turn);
	pthread_mutex_unlock(&queue->lock);
}

/* ---- searching ---- */

/* Those that are not answered yet. Returns 0 or the code in err. */
static int search_all(struct qr_queue *queue, unsigned threads, simidx_error *err)
{
	simidx_batch_options options = SIMIDX_BATCH_OPTIONS_INIT;

	options.threads = threads;
	options.deliver = deliver;
	options.stopped = stop;
	options.ctx = queue;
	queue->first = queue->answered;
	queue->stopped = 0;
	return simidx_reader_search_batch(queue->reader, queue->queries + queue->first,
					  queue->n - queue->first, &options, err);
}

static int explain_all(struct qr_queue *queue, simidx_error *err)
{
	simidx_results found;
	int rc = 0;

	while (!rc && queue->answered < queue->n && !queue->code) {
		rc = qr_explain(queue->ctx, queue->reader, &queue->waiting[queue->answered].query,
				&queue->queries[queue->answered], &found, err);
		if (tl_output_failed())
			fail(queue);
		if (rc)
			continue;
		queue->n_matches += found.count;
		finish_answer(queue, found.truncated);
	}
	return rc;
}

/* Answer what is not answered yet. Returns 0 or the code in err. */
static int answer(struct qr_queue *queue, unsigned threads, simidx_error *err)
{
	int rc = queue->reader ? 0 : simidx_reader_open(queue->ctx->index, &queue->reader, err);

	if (rc)
		return rc;
	forget_answers(queue);
	return queue->explains ? explain_all(queue, err) : search_all(queue, threads, err);
}

int qr_queue_again(struct qr_queue *queue, int rc, simidx_error *err)
{
	if (rc != SIMIDX_E_MOVED)
		return 0;
	simidx_reader_close(queue->reader);
	queue->reader = NULL;
	return qr_again(queue->ctx, rc, err);
}

/*
 * Whatever is at the path: an index that is exchanged for another one is left for that. After a
 * failure in threads the rest is asked in order, so that the answers before the query that fails
 * are printed, and what is told is wrong with that one.
 */
static void answer_all(struct qr_queue *queue)
{
	simidx_error err;
	int rc;

	do {
		rc = answer(queue, queue->ctx->threads, &err);
		if (rc && !queue->code && !queue->begun)
			rc = answer(queue, 1, &err);
	} while (!queue->code && qr_queue_again(queue, rc, &err));
	if (rc && !queue->code) {
		qr_fail(queue->ctx, &err);
		fail(queue);
	}
}

int qr_queue_flush(struct qr_queue *queue)
{
	double start = tl_seconds(), seconds;
	int is_full = queue->n >= queue->max;

	if (!queue->n || queue->code)
		return queue->code;
	answer_all(queue);
	forget_answers(queue);
	queue->n = queue->n_bytes = queue->answered = 0;
	seconds = tl_seconds() - start;
	if (is_full && seconds < QUICK_SECONDS && queue->max < HIGHEST_MAX)
		queue->max *= 2;
	else if (seconds > SLOW_SECONDS && queue->max > LOWEST_MAX)
		queue->max /= 2;
	return queue->code;
}

int qr_queue_tell_cut(const struct qr_queue *queue)
{
	unsigned long long limit = queue->ask->limit, candidates = queue->ask->max_candidates;
	char at[2][48] = { "", "" };

	/* Who gives a limit knows that there may be more. */
	if (!queue->cut || (queue->cut == SIMIDX_CUT_LIMIT && !queue->ask->strict))
		return queue->cut != 0;
	if (queue->cut & SIMIDX_CUT_LIMIT)
		snprintf(at[0], sizeof(at[0]), "%llu match%s", limit, limit == 1 ? "" : "es");
	if (queue->cut & SIMIDX_CUT_CANDIDATES)
		snprintf(at[1], sizeof(at[1]), "%llu candidate%s", candidates,
			 candidates == 1 ? "" : "s");
	tl_error("%llu %s cut at %s%s%s", (unsigned long long)queue->n_cut,
		 queue->n_cut == 1 ? "answer was" : "answers were", at[0],
		 *at[0] && *at[1] ? " or " : "", at[1]);
	return 1;
}

void qr_queue_tell_sums(const struct qr_queue *queue)
{
	if (queue->n_answers > 1 && !queue->explains && tl_progress_wanted())
		tl_notice("%s queries, %s", tl_count(queue->n_answers),
			  tl_counted(queue->n_matches, "match", "matches"));
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
