/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Pairs and clusters of an Index, as columns.
 */

#include "py_index.h"

#include <stdlib.h>
#include <string.h>

#include <simidx_join.h>

#define MOST_COLUMNS 5

/* What a join has given so far. */
struct columns {
	const size_t *width; /* bytes of an item of each column, then 0 */
	void *at[MOST_COLUMNS];
	size_t n, room;
	int rc; /* SIMIDX_E_NOMEM: memory was short */
};

static int have_room(struct columns *all, size_t n)
{
	size_t room = 2 * all->room > all->n + n ? 2 * all->room : all->n + n;

	if (all->n + n <= all->room)
		return 0;
	for (size_t i = 0; all->width[i]; i++) {
		void *more = realloc(all->at[i], room * all->width[i]);

		if (!more)
			return all->rc = SIMIDX_E_NOMEM;
		all->at[i] = more;
	}
	all->room = room;
	return 0;
}

static int take_pairs(void *ctx, const simidx_pair *pairs, size_t n)
{
	struct columns *all = ctx;

	if (have_room(all, n))
		return 1;
	for (size_t i = 0; i < n; i++, all->n++) {
		((uint64_t *)all->at[0])[all->n] = pairs[i].id_a;
		((uint64_t *)all->at[1])[all->n] = pairs[i].id_b;
		((uint32_t *)all->at[2])[all->n] = pairs[i].distance;
	}
	return 0;
}

static int take_members(void *ctx, const simidx_member *members, size_t n)
{
	struct columns *all = ctx;

	if (have_room(all, n))
		return 1;
	for (size_t i = 0; i < n; i++, all->n++) {
		((uint64_t *)all->at[0])[all->n] = members[i].cluster;
		((uint64_t *)all->at[1])[all->n] = members[i].id;
		((uint64_t *)all->at[2])[all->n] = members[i].fp;
		((uint32_t *)all->at[3])[all->n] = members[i].distance;
		((uint8_t *)all->at[4])[all->n] = (uint8_t)members[i].is_keeper;
	}
	return 0;
}

static PyObject *give(const struct columns *all)
{
	size_t sizes[MOST_COLUMNS], n = 0;
	void *column[MOST_COLUMNS];
	PyObject *out;

	for (; all->width[n]; n++)
		sizes[n] = all->n * all->width[n];
	out = py_new_columns(sizes, n, column);
	for (size_t i = 0; out && all->n && i < n; i++)
		memcpy(column[i], all->at[i], sizes[i]);
	return out;
}

/* Pairs, or with `clusters` these. */
static PyObject *join(struct py_index *self, long radius, unsigned threads,
		      const simidx_clusters_options *clusters, struct columns *all)
{
	simidx_join_options how = SIMIDX_JOIN_OPTIONS_INIT;
	simidx_pairs_taker taker = SIMIDX_PAIRS_TAKER_INIT;
	PyObject *out = NULL;
	struct py_call call;
	simidx_error err;
	int rc;

	if (py_index_begin(self, &call))
		return NULL;
	how.threads = threads;
	how.radius = radius < 0 ? SIMIDX_JOIN_DEFAULT_RADIUS : (unsigned)radius;
	if (self->text)
		how.flags = SIMIDX_JOIN_TEXT | (self->info.flags & SIMIDX_CREATE_FP2 ?
						SIMIDX_JOIN_FP2 : 0);
	how.stop = py_stop;
	how.ctx = all;
	taker.pairs = take_pairs;
	rc = clusters ? simidx_clusters(self->index, &how, clusters, take_members, &err)
		      : simidx_pairs(self->index, NULL, &how, &taker, &err);
	if (rc == SIMIDX_E_STOPPED && all->rc)
		rc = err.code = all->rc;
	if (!py_index_end(self, &call, rc, &err))
		out = give(all);
	for (size_t i = 0; i < MOST_COLUMNS; i++)
		free(all->at[i]);
	return out;
}

PyObject *py_index_pairs(PyObject *object, PyObject *args)
{
	struct columns all = { .width = (const size_t[]){ 8, 8, 4, 0 } };
	unsigned threads;
	long radius;

	if (!PyArg_ParseTuple(args, "lI", &radius, &threads))
		return NULL;
	return join((struct py_index *)object, radius, threads, NULL, &all);
}

PyObject *py_index_clusters(PyObject *object, PyObject *args)
{
	struct columns all = { .width = (const size_t[]){ 8, 8, 8, 4, 1, 0 } };
	simidx_clusters_options how = SIMIDX_CLUSTERS_OPTIONS_INIT;
	unsigned long long max_size;
	unsigned threads;
	long radius;

	if (!PyArg_ParseTuple(args, "lIIIK", &radius, &threads, &how.link, &how.keep, &max_size))
		return NULL;
	how.max_size = max_size;
	return join((struct py_index *)object, radius, threads, &how, &all);
}
