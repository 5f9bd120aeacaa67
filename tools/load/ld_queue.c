/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "load/ld_queue.h"

#include "common/tl_msg.h"
#include "common/tl_utf8.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* A batch is handed over when it has LD_MOST_AHEAD items or so many bytes; a larger item is one of
 * its own. */
#define BATCH_BYTES ((size_t)256 << 10)

/* Of features, which are structs. */
#define ALIGNMENT 16

/* Texts that wait, in bytes; one is always taken, however large. */
#define MAX_WAITING ((size_t)64 << 20)

struct batch {
	int is_done; /* by a worker; guarded by the queue's mutex */
	struct ld_item item[LD_MOST_AHEAD];
	size_t n;
	char *bytes; /* what the items point to */
	size_t used, room;
	const char *path; /* the copy of the last item's path */
	uint64_t file;
};

struct worker {
	struct ld_queue *queue;
	simidx_text *text;
	pthread_t thread;
};

struct ld_queue {
	struct worker *worker;
	unsigned n_workers, n_started;
	unsigned bits, flags;
	ld_take *take;
	ld_ahead *ahead; /* or NULL */
	void *ctx;
	/* A ring: of `n` batches those from `oldest` on are in use, the last one being filled. */
	struct batch *batch;
	size_t n, oldest, in_use;
	int filling;    /* the last one is: it is not the workers' yet */
	size_t waiting; /* bytes in them */
	pthread_mutex_t mutex;
	pthread_cond_t work, done;
	size_t next_work, n_ready; /* what the workers have not taken yet; guarded, as ending */
	int ending;
};

void ld_item_sketch(struct ld_item *item, simidx_text *text, unsigned bits, unsigned flags)
{
	simidx_sketch sketch;
	simidx_error err;
	size_t valid;

	item->code = in_sketch_row(&item->row, bits, text, flags, &sketch, &err);
	item->fp = sketch.fp;
	item->fp2 = sketch.fp2;
	item->flags = sketch.flags;
	if (flags & SIMIDX_SKETCH_WEIGHTS) {
		memcpy(item->weights, sketch.weights, sizeof(item->weights));
		memcpy(item->weights2, sketch.weights2, sizeof(item->weights2));
	}
	item->error = item->code ? strdup(err.text) : NULL;
	if (item->row.kind == IN_TEXT) {
		valid = tl_utf8_valid(item->row.text, item->row.text_size);
		item->bad_utf8 = valid < item->row.text_size ? valid + 1 : 0;
	}
}

const char *ld_item_place(const struct ld_item *item)
{
	static char place[LD_PLACE_SIZE];

	in_write_place(item->path, item->line, place, sizeof(place));
	return place;
}

void ld_item_clear(struct ld_item *item)
{
	free(item->error);
	item->error = NULL;
}

/* ---- the threads ---- */

static void *run_worker(void *ctx)
{
	struct worker *worker = ctx;
	struct ld_queue *queue = worker->queue;

	pthread_mutex_lock(&queue->mutex);
	for (;;) {
		struct batch *batch;

		while (!queue->n_ready && !queue->ending)
			pthread_cond_wait(&queue->work, &queue->mutex);
		if (queue->ending)
			break;
		batch = &queue->batch[queue->next_work];
		queue->next_work = (queue->next_work + 1) % queue->n;
		queue->n_ready--;
		pthread_mutex_unlock(&queue->mutex);
		for (size_t i = 0; i < batch->n; i++)
			if (batch->item[i].result == IN_ROW)
				ld_item_sketch(&batch->item[i], worker->text, queue->bits,
					       queue->flags);
		pthread_mutex_lock(&queue->mutex);
		batch->is_done = 1;
		pthread_cond_signal(&queue->done);
	}
	pthread_mutex_unlock(&queue->mutex);
	return NULL;
}

/* Signals are for the thread that reads: its read() is to return. */
static int start_workers(struct ld_queue *queue)
{
	sigset_t all, before;
	unsigned i;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (i = 0; i < queue->n_workers; i++) {
		if (pthread_create(&queue->worker[i].thread, NULL, run_worker,
				   &queue->worker[i]))
			break;
		queue->n_started++;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return queue->n_started ? 0 : -1;
}

struct ld_queue *ld_queue_new(struct ld_target *target, unsigned flags, ld_take *take,
			      ld_ahead *ahead, void *ctx)
{
	unsigned n = tl_threads(target->options->threads);
	struct ld_queue *queue = tl_alloc(sizeof(*queue));
	int code = 0;

	if (!queue)
		return NULL;
	queue->n_workers = n;
	queue->n = 2 * n + 2;
	queue->bits = target->bits;
	queue->flags = flags;
	queue->take = take;
	queue->ahead = ahead;
	queue->ctx = ctx;
	pthread_mutex_init(&queue->mutex, NULL);
	pthread_cond_init(&queue->work, NULL);
	pthread_cond_init(&queue->done, NULL);
	queue->worker = calloc(n, sizeof(*queue->worker));
	queue->batch = calloc(queue->n, sizeof(*queue->batch));
	if (!queue->worker || !queue->batch)
		code = tl_error("out of memory");
	for (unsigned i = 0; !code && i < n; i++) {
		queue->worker[i].queue = queue;
		if (!ld_target_is_bare(target))
			code = ld_target_extractor(target, &queue->worker[i].text);
	}
	if (!code && start_workers(queue))
		code = tl_error("cannot start a thread");
	if (!code)
		return queue;
	ld_queue_free(queue);
	return NULL;
}

void ld_queue_free(struct ld_queue *queue)
{
	if (!queue)
		return;
	pthread_mutex_lock(&queue->mutex);
	queue->ending = 1;
	pthread_cond_broadcast(&queue->work);
	pthread_mutex_unlock(&queue->mutex);
	for (unsigned i = 0; i < queue->n_started; i++)
		pthread_join(queue->worker[i].thread, NULL);
	for (unsigned i = 0; queue->worker && i < queue->n_workers; i++)
		simidx_text_close(queue->worker[i].text);
	for (size_t i = 0; queue->batch && i < queue->n; i++) {
		for (size_t k = 0; k < queue->batch[i].n; k++)
			ld_item_clear(&queue->batch[i].item[k]);
		free(queue->batch[i].bytes);
	}
	pthread_mutex_destroy(&queue->mutex);
	pthread_cond_destroy(&queue->work);
	pthread_cond_destroy(&queue->done);
	free(queue->batch);
	free(queue->worker);
	free(queue);
}

/* ---- handing on ---- */

static void reset(struct ld_queue *queue, struct batch *batch)
{
	queue->waiting -= batch->used;
	batch->n = batch->used = 0;
	batch->path = NULL;
	batch->is_done = 0;
	/* What one large text needed is not kept. */
	if (batch->room > BATCH_BYTES) {
		free(batch->bytes);
		batch->bytes = NULL;
		batch->room = 0;
	}
}

/* The oldest batch, waiting until it is done. */
static int hand_on_oldest(struct ld_queue *queue)
{
	struct batch *batch = &queue->batch[queue->oldest];
	int code = 0;

	pthread_mutex_lock(&queue->mutex);
	while (!batch->is_done)
		pthread_cond_wait(&queue->done, &queue->mutex);
	pthread_mutex_unlock(&queue->mutex);
	if (queue->ahead)
		code = queue->ahead(queue->ctx, batch->item, batch->n);
	for (size_t i = 0; i < batch->n; i++) {
		if (!code)
			code = queue->take(queue->ctx, &batch->item[i]);
		ld_item_clear(&batch->item[i]);
	}
	reset(queue, batch);
	queue->oldest = (queue->oldest + 1) % queue->n;
	queue->in_use--;
	return code;
}

static int oldest_is_done(struct ld_queue *queue)
{
	int done;

	pthread_mutex_lock(&queue->mutex);
	done = queue->batch[queue->oldest].is_done;
	pthread_mutex_unlock(&queue->mutex);
	return done;
}

static struct batch *newest(struct ld_queue *queue)
{
	return &queue->batch[(queue->oldest + queue->in_use - 1) % queue->n];
}

/* Give the batch that is being filled to the workers. */
static void submit(struct ld_queue *queue)
{
	pthread_mutex_lock(&queue->mutex);
	queue->filling = 0;
	queue->n_ready++;
	pthread_cond_signal(&queue->work);
	pthread_mutex_unlock(&queue->mutex);
}

int ld_queue_flush(struct ld_queue *queue)
{
	int code = 0;

	if (queue->filling)
		submit(queue);
	while (!code && queue->in_use > 0)
		code = hand_on_oldest(queue);
	return code;
}

/* ---- adding ---- */

static size_t bytes_of(const struct ld_item *item)
{
	size_t n = strlen(item->path) + 1;

	if (item->result != IN_ROW)
		return n + strlen(item->reason) + 1;
	n += item->kept_size;
	n += item->row.label ? item->row.label_size : 0;
	n += item->row.note ? item->row.note_size : 0;
	if (item->row.kind == IN_TEXT)
		n += item->row.text_size;
	if (item->row.kind == IN_FEATURES)
		n += item->row.n_features * sizeof(*item->row.features) + ALIGNMENT;
	return n;
}

static const char *copy(struct batch *batch, const void *data, size_t size)
{
	char *to = batch->bytes + batch->used;

	if (size)
		memcpy(to, data, size);
	batch->used += size;
	return to;
}

static void append(struct batch *batch, const struct ld_item *item)
{
	struct ld_item *own = &batch->item[batch->n++];

	*own = *item;
	if (!batch->path || batch->file != item->file) {
		batch->path = copy(batch, item->path, strlen(item->path) + 1);
		batch->file = item->file;
	}
	own->path = batch->path;
	if (item->result != IN_ROW) {
		own->reason = copy(batch, item->reason, strlen(item->reason) + 1);
		return;
	}
	own->kept = copy(batch, item->kept, item->kept_size);
	if (item->row.label)
		own->row.label = copy(batch, item->row.label, item->row.label_size);
	if (item->row.note)
		own->row.note = copy(batch, item->row.note, item->row.note_size);
	if (item->row.kind == IN_TEXT)
		own->row.text = copy(batch, item->row.text, item->row.text_size);
	if (item->row.kind == IN_FEATURES) {
		batch->used += ALIGNMENT - batch->used % ALIGNMENT;
		own->row.features = (const simidx_feature *)(const void *)copy(
			batch, item->row.features,
			item->row.n_features * sizeof(*item->row.features));
	}
}

/* A batch that is empty or has room for `need` bytes, to fill. */
static int find_room(struct ld_queue *queue, size_t need)
{
	int code = 0;

	if (queue->filling && newest(queue)->n < LD_MOST_AHEAD &&
	    newest(queue)->used + need <= newest(queue)->room)
		return 0;
	if (queue->filling)
		submit(queue);
	while (!code && queue->in_use > 0 &&
	       (queue->in_use == queue->n || queue->waiting + need > MAX_WAITING ||
		oldest_is_done(queue)))
		code = hand_on_oldest(queue);
	queue->in_use++;
	queue->filling = 1;
	return code;
}

int ld_queue_add(struct ld_queue *queue, const struct ld_item *item)
{
	size_t before, need = bytes_of(item);
	struct batch *batch;
	int code = find_room(queue, need);

	if (code)
		return code;
	batch = newest(queue);
	if (batch->used + need > batch->room) {
		size_t room = need > BATCH_BYTES ? need : BATCH_BYTES;
		char *bytes = realloc(batch->bytes, room);

		if (!bytes)
			return tl_error("out of memory");
		batch->bytes = bytes;
		batch->room = room;
	}
	before = batch->used;
	append(batch, item);
	queue->waiting += batch->used - before;
	return 0;
}
