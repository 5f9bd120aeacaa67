/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Searches and look-ups of an Index.
 */

#include "py_index.h"

#include <stdlib.h>
#include <string.h>

#include <simidx_batch.h>

/* A match, and whose it is. */
struct found {
	uint64_t id, fp;
	size_t query;
	uint32_t bits, distance;
};

/* As they come: those of one query in their order, those of several mixed. */
struct answers {
	pthread_mutex_t lock;
	struct found *at;
	size_t n, room;
	int rc; /* SIMIDX_E_NOMEM: memory was short */
};

static int have_room(struct answers *all, size_t n)
{
	size_t room = 2 * all->room > n ? 2 * all->room : n + 1024;
	struct found *more;

	if (n <= all->room)
		return 0;
	more = realloc(all->at, room * sizeof(*more));
	if (!more)
		return all->rc = SIMIDX_E_NOMEM;
	all->at = more;
	all->room = room;
	return 0;
}

static int deliver(void *ctx, size_t i, const simidx_results *results)
{
	struct answers *all = ctx;
	int rc;

	if (py_stop(NULL))
		return 1;
	if (!results->n)
		return 0;
	pthread_mutex_lock(&all->lock);
	rc = have_room(all, all->n + results->n);
	for (size_t k = 0; !rc && k < results->n; k++) {
		const simidx_match *match = &results->matches[k];

		all->at[all->n++] = (struct found){ match->id, match->fp, i, match->distance,
						    match->weighted_distance };
	}
	pthread_mutex_unlock(&all->lock);
	return rc != 0;
}

static int search_all(struct py_index *self, struct py_rows *rows, long radius,
		      unsigned long long limit, unsigned threads, struct answers *answers,
		      simidx_error *err)
{
	simidx_batch_options how = SIMIDX_BATCH_OPTIONS_INIT;
	simidx_query *queries = calloc(rows->n + 1, sizeof(*queries));
	simidx_reader *reader = NULL;
	int rc = queries ? SIMIDX_OK : SIMIDX_E_NOMEM;

	err->code = rc;
	if (!rc)
		rc = py_rows_sketch(rows, self, threads, err);
	for (size_t i = 0; !rc && i < rows->n; i++) {
		rc = py_rows_query(rows, self, i, 0, radius, &queries[i], err);
		queries[i].limit = limit;
	}
	if (!rc)
		rc = simidx_reader_open(self->index, &reader, err);
	how.threads = threads;
	how.deliver = deliver;
	how.ctx = answers;
	if (!rc)
		rc = simidx_reader_search_batch(reader, queries, rows->n, &how, err);
	if (rc == SIMIDX_E_STOPPED && answers->rc)
		rc = err->code = answers->rc;
	simidx_reader_close(reader);
	free(queries);
	return rc;
}

/* Offsets, ids, fingerprints, bits that differ, and the distance that decided, of n queries. */
static PyObject *put_together(const struct answers *answers, size_t n)
{
	const size_t all = answers->n;
	const size_t sizes[] = { (n + 1) * 8, all * 8, all * 8, all * 4, all * 4 };
	uint64_t *offsets, *ids, *fps, at = 0;
	uint32_t *bits, *distances;
	void *column[5];
	PyObject *out = py_new_columns(sizes, 5, column);

	if (!out)
		return NULL;
	offsets = column[0];
	ids = column[1];
	fps = column[2];
	bits = column[3];
	distances = column[4];
	memset(offsets, 0, (n + 1) * sizeof(*offsets));
	for (size_t k = 0; k < all; k++)
		offsets[answers->at[k].query]++;
	for (size_t i = 0; i < n; i++) {
		uint64_t count = offsets[i];

		offsets[i] = at;
		at += count;
	}
	for (size_t k = 0; k < all; k++) {
		const struct found *found = &answers->at[k];

		at = offsets[found->query]++;
		ids[at] = found->id;
		fps[at] = found->fp;
		bits[at] = found->bits;
		distances[at] = found->distance;
	}
	/* Each is now where the next one begins. */
	memmove(offsets + 1, offsets, n * sizeof(*offsets));
	offsets[0] = 0;
	return out;
}

PyObject *py_index_search(PyObject *object, PyObject *args)
{
	struct answers answers = { .lock = PTHREAD_MUTEX_INITIALIZER };
	struct py_index *self = (struct py_index *)object;
	unsigned long long limit;
	PyObject *columns, *out = NULL;
	struct py_call call;
	struct py_rows rows;
	unsigned threads;
	simidx_error err;
	long radius;
	int rc;

	if (!PyArg_ParseTuple(args, "OlKI", &columns, &radius, &limit, &threads))
		return NULL;
	if (py_rows_from(&rows, self, columns) || py_index_begin(self, &call)) {
		py_rows_free(&rows);
		return NULL;
	}
	rc = search_all(self, &rows, radius, limit, threads, &answers, &err);
	if (!py_index_end(self, &call, rc, &err))
		out = put_together(&answers, rows.n);
	free(answers.at);
	py_rows_free(&rows);
	return out;
}

static PyObject *number_or_none(int is_known, uint64_t number)
{
	return is_known ? PyLong_FromUnsignedLongLong(number) : Py_NewRef(Py_None);
}

PyObject *py_describe(const simidx_match *match)
{
	return Py_BuildValue("(NKy#N)", number_or_none(match->id != SIMIDX_NO_ID, match->id),
			     (unsigned long long)match->fp, match->label,
			     (Py_ssize_t)match->label_size,
			     number_or_none(match->flags & SIMIDX_MATCH_TIME, match->time));
}

PyObject *py_index_get(PyObject *object, PyObject *args)
{
	struct py_index *self = (struct py_index *)object;
	unsigned long long id;
	simidx_reader *reader = NULL;
	PyObject *out = NULL;
	struct py_call call;
	simidx_match match;
	const char *label;
	Py_ssize_t size;
	simidx_error err;
	int rc;

	if (!PyArg_ParseTuple(args, "Kz#", &id, &label, &size) || py_index_begin(self, &call))
		return NULL;
	rc = simidx_reader_open(self->index, &reader, &err);
	if (!rc && label)
		rc = simidx_reader_find_label(reader, label, (size_t)size, &match, &err);
	else if (!rc)
		rc = simidx_reader_find_id(reader, id, &match, &err);
	py_pause(&call);
	if (!rc)
		out = py_describe(&match);
	py_resume(&call);
	simidx_reader_close(reader);
	if (!py_index_end(self, &call, rc == SIMIDX_E_NOT_FOUND ? SIMIDX_OK : rc, &err))
		return rc ? Py_NewRef(Py_None) : out;
	Py_XDECREF(out);
	return NULL;
}
