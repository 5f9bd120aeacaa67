/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * A batch in threads. Tasks are handed out in order; a worker copies its answers into chunks,
 * which the caller's thread delivers in the order of the queries. Memory is bounded: tasks are
 * only begun so far ahead of the one that is being delivered, and each has room for so many
 * chunks that wait.
 */

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "search/sx_batch.h"
#include "util/sx_err.h"

#define ANSWERS 256       /* of a chunk at most */
#define MATCHES 65536     /* with so many, or */
#define LABELS (1u << 22) /* so many bytes of labels, it is full too */
#define WAITING 4         /* chunks of a task */

/* Answers with all that they point to. */
struct chunk {
	size_t first, n;
	simidx_results answer[ANSWERS];
	simidx_match *match;
	size_t n_matches, match_cap;
	char *label;
	size_t n_label, label_cap;
};

/* A task under way. What is not its worker's is guarded by the crew's lock. */
struct slot {
	struct chunk *chunk[WAITING]; /* made when needed */
	unsigned filled, taken;       /* chunks so far */
	int done;                     /* there come no more, but perhaps an error: */
	int rc;
	simidx_error err;
};

struct crew {
	const sx_batch *batch;
	pthread_mutex_t lock;
	pthread_cond_t room, news;
	size_t n_tasks;
	size_t next;    /* task to be handed out */
	size_t current; /* task that is being delivered */
	int stop;
	size_t n_slots;
	struct slot *slot; /* of task t: t % n_slots */
};

struct member {
	struct crew *crew;
	sx_worker worker;
	struct slot *slot; /* of the task at hand */
	pthread_t thread;
};

/* ---- chunks ---- */

static void free_chunk(struct chunk *c)
{
	if (!c)
		return;
	free(c->match);
	free(c->label);
	free(c);
}

/* Copy the matches of an answer; labels follow one another, so that sizes tell where they are. */
static int add_matches(struct chunk *c, const simidx_results *results)
{
	if (sx_reserve(&c->match, &c->match_cap, c->n_matches + results->n, sizeof(*c->match)))
		return -1;
	if (results->n)
		memcpy(c->match + c->n_matches, results->matches,
		       results->n * sizeof(*c->match));
	for (size_t i = 0; i < results->n; i++) {
		const simidx_match *m = &results->matches[i];

		if (!(m->flags & SIMIDX_MATCH_LABEL))
			continue;
		if (sx_reserve(&c->label, &c->label_cap, c->n_label + m->label_size, 1))
			return -1;
		memcpy(c->label + c->n_label, m->label, m->label_size);
		c->n_label += m->label_size;
	}
	c->n_matches += results->n;
	return 0;
}

/* Nothing moves any more: let pointers point. */
static void seal(struct chunk *c)
{
	const simidx_match *match = c->match;
	const char *label = c->label;

	for (size_t i = 0; i < c->n_matches; i++)
		if (c->match[i].flags & SIMIDX_MATCH_LABEL) {
			c->match[i].label = label;
			label += c->match[i].label_size;
		}
	for (size_t i = 0; i < c->n; i++) {
		c->answer[i].matches = match;
		match += c->answer[i].n;
	}
}

/* ---- workers ---- */

/* The chunk of the task that is being filled; NULL when memory is short. */
static struct chunk *open_chunk(struct slot *slot)
{
	struct chunk **c = &slot->chunk[slot->filled % WAITING];

	if (!*c)
		*c = sx_calloc(1, sizeof(**c));
	return *c;
}

/* Hand over the chunk at hand and wait until there is room for another one. */
static int publish(struct member *m)
{
	struct crew *crew = m->crew;
	struct slot *slot = m->slot;
	int stop;

	seal(slot->chunk[slot->filled % WAITING]);
	pthread_mutex_lock(&crew->lock);
	slot->filled++;
	pthread_cond_signal(&crew->news);
	while (slot->filled - slot->taken == WAITING && !crew->stop)
		pthread_cond_wait(&crew->room, &crew->lock);
	stop = crew->stop;
	pthread_mutex_unlock(&crew->lock);
	return stop ? SIMIDX_E_STOPPED : SIMIDX_OK;
}

static int keep(void *ctx, size_t i, const simidx_results *results, simidx_error *err)
{
	struct member *m = ctx;
	struct chunk *c = open_chunk(m->slot);

	if (!c)
		return sx_fail_nomem(err);
	if (!c->n)
		c->first = i;
	if (add_matches(c, results))
		return sx_fail_nomem(err);
	c->answer[c->n++] = *results;
	return c->n == ANSWERS || c->n_matches >= MATCHES || c->n_label >= LABELS ? publish(m)
										  : SIMIDX_OK;
}

/* The next task, when it is time for it; SIZE_MAX: there is none. */
static size_t next_task(struct member *m)
{
	struct crew *crew = m->crew;
	size_t task = SIZE_MAX;

	pthread_mutex_lock(&crew->lock);
	while (!crew->stop && crew->next < crew->n_tasks &&
	       crew->next >= crew->current + crew->n_slots)
		pthread_cond_wait(&crew->room, &crew->lock);
	if (!crew->stop && crew->next < crew->n_tasks)
		task = crew->next++;
	pthread_mutex_unlock(&crew->lock);
	return task;
}

static void *work(void *opaque)
{
	struct member *m = opaque;
	struct crew *crew = m->crew;
	size_t task;
	int rc = SIMIDX_OK;

	while (!rc && (task = next_task(m)) != SIZE_MAX) {
		simidx_error err;
		const struct chunk *last;
		struct slot *slot = m->slot = &crew->slot[task % crew->n_slots];

		sx_err_clear(&err);
		rc = sx_worker_run(&m->worker, crew->batch, task, keep, m, &err);
		last = slot->chunk[slot->filled % WAITING];
		if (rc != SIMIDX_E_STOPPED && last && last->n)
			(void)publish(m); /* What was answered before a failure counts. */
		pthread_mutex_lock(&crew->lock);
		slot->rc = rc;
		slot->err = err;
		slot->done = 1;
		pthread_cond_signal(&crew->news);
		pthread_mutex_unlock(&crew->lock);
	}
	return NULL;
}

/* ---- the caller's thread ---- */

/* The next chunk of the task at hand; NULL: it has no more. */
static struct chunk *next_chunk(struct crew *crew, struct slot *slot)
{
	struct chunk *c = NULL;

	pthread_mutex_lock(&crew->lock);
	while (slot->filled == slot->taken && !slot->done)
		pthread_cond_wait(&crew->news, &crew->lock);
	if (slot->filled != slot->taken)
		c = slot->chunk[slot->taken % WAITING];
	pthread_mutex_unlock(&crew->lock);
	return c;
}

static void give_back(struct crew *crew, struct slot *slot, struct chunk *c)
{
	c->n = c->n_matches = c->n_label = 0;
	pthread_mutex_lock(&crew->lock);
	slot->taken++;
	pthread_cond_broadcast(&crew->room);
	pthread_mutex_unlock(&crew->lock);
}

static int deliver_task(struct crew *crew, struct slot *slot, simidx_error *err)
{
	struct chunk *c;
	int rc = SIMIDX_OK;

	while (!rc && (c = next_chunk(crew, slot))) {
		for (size_t i = 0; !rc && i < c->n; i++)
			rc = sx_batch_deliver(crew->batch, c->first + i, &c->answer[i], err);
		give_back(crew, slot, c);
	}
	if (!rc && slot->rc) {
		rc = slot->rc;
		if (err)
			*err = slot->err;
	}
	return rc;
}

static int deliver_all(struct crew *crew, simidx_error *err)
{
	int rc = SIMIDX_OK;

	for (size_t t = 0; !rc && t < crew->n_tasks; t++) {
		struct slot *slot = &crew->slot[t % crew->n_slots];

		rc = deliver_task(crew, slot, err);
		pthread_mutex_lock(&crew->lock);
		if (!rc) {
			slot->done = 0;
			crew->current++;
		}
		crew->stop = rc != SIMIDX_OK;
		pthread_cond_broadcast(&crew->room);
		pthread_mutex_unlock(&crew->lock);
	}
	return rc;
}

/*
 * Signals are the business of the threads that were there before. Returns how many were started;
 * with fewer it takes longer.
 */
static unsigned start(struct member *member, unsigned n)
{
	sigset_t all, before;
	unsigned started = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (started < n &&
	       !pthread_create(&member[started].thread, NULL, work, &member[started]))
		started++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return started;
}

/* Readers for all but the first member, as far as there are slots for them. */
static unsigned recruit(struct crew *crew, struct member *member, sx_worker *first)
{
	unsigned n = 1;

	member[0].crew = crew;
	member[0].worker = *first;
	memset(first, 0, sizeof(*first));
	for (; n < crew->batch->threads; n++) {
		member[n].crew = crew;
		if (sx_worker_init(&member[n].worker, crew->batch, NULL))
			break;
	}
	return n;
}

static int run(struct crew *crew, struct member *member, sx_worker *first, simidx_error *err)
{
	unsigned n = start(member, recruit(crew, member, first));
	int rc = n ? deliver_all(crew, err)
		   : sx_batch_alone(&member[0].worker, crew->batch, err);

	for (unsigned i = 0; i < n; i++)
		pthread_join(member[i].thread, NULL);
	for (unsigned i = 0; i < crew->batch->threads; i++)
		sx_worker_free(&member[i].worker);
	return rc;
}

static int init_locks(struct crew *crew)
{
	if (pthread_mutex_init(&crew->lock, NULL))
		return -1;
	if (!pthread_cond_init(&crew->room, NULL)) {
		if (!pthread_cond_init(&crew->news, NULL))
			return 0;
		pthread_cond_destroy(&crew->room);
	}
	pthread_mutex_destroy(&crew->lock);
	return -1;
}

static void free_locks(struct crew *crew)
{
	pthread_cond_destroy(&crew->news);
	pthread_cond_destroy(&crew->room);
	pthread_mutex_destroy(&crew->lock);
}

int sx_batch_crew(sx_worker *first, const sx_batch *batch, simidx_error *err)
{
	struct crew crew = { .batch = batch, .n_slots = 2 * (size_t)batch->threads };
	struct member *member;
	int rc;

	if (init_locks(&crew))
		return sx_fail_nomem(err);
	crew.n_tasks = (batch->n - 1) / batch->task + 1;
	crew.slot = sx_calloc(crew.n_slots, sizeof(*crew.slot));
	member = sx_calloc(batch->threads, sizeof(*member));
	rc = crew.slot && member ? run(&crew, member, first, err) : sx_fail_nomem(err);
	for (size_t i = 0; crew.slot && i < crew.n_slots; i++)
		for (unsigned c = 0; c < WAITING; c++)
			free_chunk(crew.slot[i].chunk[c]);
	free(crew.slot);
	free(member);
	free_locks(&crew);
	return rc;
}
