/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "py_index.h"

#include <stdlib.h>
#include <string.h>

int py_rows_from(struct py_rows *rows, struct py_index *self, PyObject *fps, PyObject *texts)
{
	memset(rows, 0, sizeof(*rows));
	if (py_numbers_from(&rows->fps, fps, 8, "fingerprints") ||
	    py_texts_from(&rows->texts, texts))
		return -1;
	rows->is_text = texts != Py_None;
	rows->n = rows->is_text ? rows->texts.n : rows->fps.n;
	if (rows->is_text && !self->text) {
		py_refuse("the index holds no texts, or what made their fingerprints is not here");
		return -1;
	}
	for (size_t i = 0; rows->is_text && i < rows->n; i++)
		if (!rows->texts.at[i].bytes) {
			py_refuse("text %zu is None", i);
			return -1;
		}
	if (!rows->is_text)
		return 0;
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

struct sketching {
	struct py_rows *rows;
	simidx_text *text[256];
};

static int sketch_some(void *ctx, unsigned thread, size_t from, size_t to, simidx_error *err)
{
	struct sketching *all = ctx;
	int rc = SIMIDX_OK;

	for (size_t i = from; !rc && i < to; i++) {
		simidx_sketch *sketch = &all->rows->sketch[i];
		const struct py_text *text = &all->rows->texts.at[i];

		sketch->size = sizeof(*sketch);
		rc = simidx_text_fingerprint(all->text[thread], text->bytes, text->size,
					     SIMIDX_SKETCH_FP2 | SIMIDX_SKETCH_WEIGHTS, sketch,
					     err);
	}
	return rc;
}

int py_rows_sketch(struct py_rows *rows, struct py_index *self, unsigned threads,
		   simidx_error *err)
{
	struct sketching all = { .rows = rows };
	unsigned n = py_threads(rows->n, threads);
	int rc = SIMIDX_OK;

	if (!rows->is_text)
		return SIMIDX_OK;
	pthread_mutex_lock(&self->lock);
	for (unsigned i = 0; !rc && i < n; i++)
		rc = simidx_text_clone(self->text, &all.text[i], err);
	pthread_mutex_unlock(&self->lock);
	if (!rc)
		rc = py_parallel(rows->n, n, sketch_some, &all, err);
	for (unsigned i = 0; i < n; i++)
		simidx_text_close(all.text[i]);
	return rc;
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
