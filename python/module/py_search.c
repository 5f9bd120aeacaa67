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
	uint64_t *offsets, *ids, *fps, at = 0;
	size_t all = answers->n;
	uint32_t *bits, *distances;
	PyObject *out[5];

	out[0] = py_new_bytes((n + 1) * 8, &offsets);
	out[1] = py_new_bytes(all * 8, &ids);
	out[2] = py_new_bytes(all * 8, &fps);
	out[3] = py_new_bytes(all * 4, &bits);
	out[4] = py_new_bytes(all * 4, &distances);
	for (size_t i = 0; i < 5; i++)
		if (!out[i]) {
			for (i = 0; i < 5; i++)
				Py_XDECREF(out[i]);
			return NULL;
		}
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
	return Py_BuildValue("(NNNNN)", out[0], out[1], out[2], out[3], out[4]);
}

PyObject *py_index_search(PyObject *object, PyObject *args)
{
	struct answers answers = { .lock = PTHREAD_MUTEX_INITIALIZER };
	struct py_index *self = (struct py_index *)object;
	unsigned long long limit;
	PyObject *fps, *texts, *out = NULL;
	struct py_call call;
	struct py_rows rows;
	unsigned threads;
	simidx_error err;
	long radius;
	int rc;

	if (!PyArg_ParseTuple(args, "OOlKI", &fps, &texts, &radius, &limit, &threads))
		return NULL;
	if (py_rows_from(&rows, self, fps, texts) || py_index_begin(self, &call)) {
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

PyObject *py_describe(const simidx_match *match)
{
	PyObject *label = Py_None, *time = Py_None, *id = Py_None;

	if (match->id != SIMIDX_NO_ID)
		id = PyLong_FromUnsignedLongLong(match->id);
	if (match->label)
		label = PyBytes_FromStringAndSize(match->label, (Py_ssize_t)match->label_size);
	if (match->flags & SIMIDX_MATCH_TIME)
		time = PyLong_FromUnsignedLong(match->time);
	return id && label && time ?
		       Py_BuildValue("(NKNN)", id == Py_None ? Py_NewRef(id) : id,
				     (unsigned long long)match->fp,
				     label == Py_None ? Py_NewRef(label) : label,
				     time == Py_None ? Py_NewRef(time) : time) :
		       NULL;
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
	PyEval_RestoreThread(call.state);
	if (!rc)
		out = py_describe(&match);
	call.state = PyEval_SaveThread();
	simidx_reader_close(reader);
	if (!py_index_end(self, &call, rc == SIMIDX_E_NOT_FOUND ? SIMIDX_OK : rc, &err))
		return rc ? Py_NewRef(Py_None) : out;
	Py_XDECREF(out);
	return NULL;
}
