/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "py_index.h"

#include <stdlib.h>
#include <string.h>

int py_rows_from(struct py_rows *rows, struct py_index *self, PyObject *columns)
{
	PyObject *fps, *texts, *ids, *labels, *times;

	memset(rows, 0, sizeof(*rows));
	if (!PyArg_ParseTuple(columns, "OOOOO", &fps, &texts, &ids, &labels, &times) ||
	    py_numbers_from(&rows->fps, fps, 8, "fingerprints") ||
	    py_texts_from(&rows->texts, texts, "texts") ||
	    py_numbers_from(&rows->ids, ids, 8, "ids") ||
	    py_texts_from(&rows->labels, labels, "labels") ||
	    py_numbers_from(&rows->times, times, 4, "times"))
		return -1;
	rows->is_text = texts != Py_None;
	rows->n = rows->is_text ? rows->texts.n : rows->fps.n;
	if ((rows->ids.at && rows->ids.n != rows->n) ||
	    (rows->labels.at && rows->labels.n != rows->n) ||
	    (rows->times.at && rows->times.n != rows->n)) {
		py_refuse("ids, labels and times must be as many as the %zu rows", rows->n);
		return -1;
	}
	if (!rows->is_text)
		return 0;
	if (!self->index) {
		py_raise(&(simidx_error){ .code = SIMIDX_E_STATE, .text = "the index is closed" });
		return -1;
	}
	if (!self->text) {
		py_refuse("the index holds no texts, or what made their fingerprints is not here");
		return -1;
	}
	for (size_t i = 0; i < rows->n; i++)
		if (!rows->texts.at[i].bytes) {
			py_refuse("text %zu is None", i);
			return -1;
		}
	rows->sketch = calloc(rows->n + 1, sizeof(*rows->sketch));
	if (!rows->sketch)
		PyErr_NoMemory();
	return rows->sketch ? 0 : -1;
}

void py_rows_free(struct py_rows *rows)
{
	py_numbers_free(&rows->fps);
	py_numbers_free(&rows->ids);
	py_numbers_free(&rows->times);
	py_texts_free(&rows->texts);
	py_texts_free(&rows->labels);
	free(rows->sketch);
}

/* Texts of which several threads make fingerprints, each with an extractor of its own. */
struct sketching {
	const struct py_texts *texts;
	simidx_sketch *sketch; /* of each text, or NULL, and then */
	uint64_t *fps;
	simidx_text *text[256];
};

static int sketch_some(void *ctx, unsigned thread, size_t from, size_t to, simidx_error *err)
{
	const unsigned flags = SIMIDX_SKETCH_FP2 | SIMIDX_SKETCH_WEIGHTS;
	struct sketching *all = ctx;
	int rc = SIMIDX_OK;

	for (size_t i = from; !rc && i < to; i++) {
		const struct py_text *text = &all->texts->at[i];
		simidx_sketch own = SIMIDX_SKETCH_INIT, *out = all->sketch ? &all->sketch[i] : &own;

		out->size = sizeof(*out);
		rc = simidx_text_fingerprint(all->text[thread], text->bytes, text->size,
					     all->sketch ? flags : 0, out, err);
		if (!all->sketch)
			all->fps[i] = out->fp;
	}
	return rc;
}

/* `lock` is of the extractor, or NULL. */
static int sketch_all(struct sketching *all, const simidx_text *extractor, pthread_mutex_t *lock,
		      unsigned threads, simidx_error *err)
{
	unsigned n = py_threads(all->texts->n, threads);
	int rc = SIMIDX_OK;

	if (lock)
		pthread_mutex_lock(lock);
	for (unsigned i = 0; !rc && i < n; i++)
		rc = simidx_text_clone(extractor, &all->text[i], err);
	if (lock)
		pthread_mutex_unlock(lock);
	if (!rc)
		rc = py_parallel(all->texts->n, n, sketch_some, all, err);
	for (unsigned i = 0; i < n; i++)
		simidx_text_close(all->text[i]);
	return rc;
}

int py_rows_sketch(struct py_rows *rows, struct py_index *self, unsigned threads,
		   simidx_error *err)
{
	struct sketching all = { .texts = &rows->texts, .sketch = rows->sketch };

	return rows->is_text ? sketch_all(&all, self->text, &self->lock, threads, err) : SIMIDX_OK;
}

PyObject *py_fingerprints(PyObject *self, PyObject *args)
{
	simidx_text_options options = SIMIDX_TEXT_OPTIONS_INIT;
	struct sketching all = { .sketch = NULL };
	simidx_text *extractor;
	struct py_texts texts;
	PyObject *object, *out;
	struct py_call call;
	simidx_error err;
	unsigned threads;
	int rc;

	(void)self;
	if (!PyArg_ParseTuple(args, "OzI", &object, &options.extractor, &threads) ||
	    py_texts_from(&texts, object, "texts"))
		return NULL;
	for (size_t i = 0; i < texts.n; i++) {
		if (!texts.at[i].bytes) {
			py_texts_free(&texts);
			return py_refuse("text %zu is None", i);
		}
	}
	all.texts = &texts;
	out = py_new_columns(&(size_t){ texts.n * 8 }, 1, (void **)&all.fps);
	if (out) {
		py_begin(&call);
		rc = simidx_text_open(&options, &extractor, &err);
		if (!rc)
			rc = sketch_all(&all, extractor, NULL, threads, &err);
		simidx_text_close(extractor);
		if (py_end(&call, rc, &err))
			Py_CLEAR(out);
	}
	py_texts_free(&texts);
	return out;
}

int py_rows_query(const struct py_rows *rows, const struct py_index *self, size_t i, int if_new,
		  long radius, simidx_query *query, simidx_error *err)
{
	const simidx_sketch *sketch = rows->sketch ? &rows->sketch[i] : NULL;
	int rc = SIMIDX_OK;

	*query = (simidx_query)SIMIDX_QUERY_INIT;
	if (sketch && radius < 0)
		rc = if_new ? simidx_sketch_query_if_new(self->index, sketch, query, err)
			    : simidx_sketch_query(self->index, sketch, query, err);
	else if (sketch) {
		query->fp = sketch->fp;
		query->fp2 = sketch->fp2;
		query->flags = SIMIDX_QUERY_TEXT;
	} else {
		query->fp = ((const uint64_t *)rows->fps.at)[i];
	}
	if (radius >= 0)
		query->radius = (unsigned)radius;
	return rc;
}
