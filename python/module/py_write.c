/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Changes of an Index. Each call is one transaction: all of it is stored, or nothing.
 */

#include "py_index.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simidx_load.h>

/* Changes between two looks for signals. */
#define AT_ONCE 1024

static simidx_doc make_doc(const struct py_rows *rows, const struct py_index *self, size_t i)
{
	simidx_doc doc = SIMIDX_DOC_INIT;

	if (rows->ids.at)
		doc.id = ((const uint64_t *)rows->ids.at)[i];
	doc.fp = rows->sketch ? rows->sketch[i].fp : ((const uint64_t *)rows->fps.at)[i];
	if (rows->sketch && self->info.flags & SIMIDX_CREATE_FP2) {
		doc.fp2 = rows->sketch[i].fp2;
		doc.flags |= SIMIDX_DOC_FP2;
	}
	if (rows->labels.at && rows->labels.at[i].bytes) {
		doc.label = rows->labels.at[i].bytes;
		doc.label_size = rows->labels.at[i].size;
	}
	if (rows->times.at) {
		doc.time = ((const uint32_t *)rows->times.at)[i];
		doc.flags |= SIMIDX_DOC_TIME;
	}
	return doc;
}

static int stop(size_t i, simidx_error *err)
{
	if (i % AT_ONCE || !py_stop(NULL))
		return SIMIDX_OK;
	strcpy(err->text, "stopped");
	return err->code = SIMIDX_E_STOPPED;
}

static int put_all(struct py_index *self, struct py_rows *rows, int replaces, uint64_t *ids,
		   simidx_error *err)
{
	int rc = py_rows_sketch(rows, self, 0, err);

	if (!rc)
		rc = py_index_writer(self, err);
	if (rc)
		return rc;
	for (size_t i = 0; !rc && i < rows->n; i++) {
		simidx_doc doc = make_doc(rows, self, i);

		rc = stop(i, err);
		if (!rc)
			rc = replaces ? simidx_writer_replace(self->writer, &doc, &ids[i], err)
				      : simidx_writer_put(self->writer, &doc, &ids[i], err);
	}
	return py_index_finish(self, rc, err);
}

PyObject *py_index_put(PyObject *object, PyObject *args)
{
	struct py_index *self = (struct py_index *)object;
	PyObject *columns, *out = NULL;
	struct py_rows rows;
	struct py_call call;
	simidx_error err;
	int replaces, rc;
	void *at;

	if (!PyArg_ParseTuple(args, "pO", &replaces, &columns))
		return NULL;
	rc = py_rows_from(&rows, self, columns);
	out = rc ? NULL : py_new_columns(&(size_t){ rows.n * 8 }, 1, &at);
	if (out && !py_index_begin(self, &call)) {
		rc = put_all(self, &rows, replaces, at, &err);
		if (py_index_end(self, &call, rc, &err))
			Py_CLEAR(out);
	} else {
		Py_CLEAR(out);
	}
	py_rows_free(&rows);
	return out;
}

/* ---- only what is new ---- */

struct decisions {
	uint64_t *ids; /* of the document, or of what is near to it */
	uint32_t *distances;
	char *is_new;
	simidx_error *err;
};

static int note_decision(void *ctx, size_t i, const simidx_decision *decision)
{
	struct decisions *all = ctx;

	all->is_new[i] = decision->code == SIMIDX_OK;
	if (decision->code == SIMIDX_E_EXISTS) {
		all->ids[i] = decision->blocker.id;
		all->distances[i] = decision->blocker.weighted_distance;
	} else if (decision->code == SIMIDX_OK) {
		all->ids[i] = decision->id;
		all->distances[i] = UINT32_MAX;
	} else {
		*all->err = *decision->why;
		return 1;
	}
	return i % AT_ONCE == 0 && py_stop(NULL);
}

static int decide(struct py_index *self, struct py_rows *rows, long radius,
		  struct decisions *decisions, simidx_error *err)
{
	simidx_query *queries = calloc(rows->n + 1, sizeof(*queries));
	simidx_doc *docs = calloc(rows->n + 1, sizeof(*docs));
	simidx_error why = { .code = SIMIDX_OK };
	int rc = queries && docs ? SIMIDX_OK : SIMIDX_E_NOMEM;

	err->code = rc;
	decisions->err = &why;
	if (!rc)
		rc = py_rows_sketch(rows, self, 0, err);
	for (size_t i = 0; !rc && i < rows->n; i++) {
		docs[i] = make_doc(rows, self, i);
		rc = py_rows_query(rows, self, i, 1, radius, &queries[i], err);
	}
	if (!rc)
		rc = py_index_writer(self, err);
	if (!rc) {
		rc = simidx_writer_put_if_new_many(self->writer, docs, queries, rows->n,
						   note_decision, decisions, err);
		if (why.code)
			*err = why;
		rc = py_index_finish(self, why.code ? why.code : rc, err);
	}
	free(queries);
	free(docs);
	return rc;
}

PyObject *py_index_put_if_new(PyObject *object, PyObject *args)
{
	struct py_index *self = (struct py_index *)object;
	PyObject *columns, *out = NULL;
	struct decisions decisions;
	struct py_rows rows;
	struct py_call call;
	simidx_error err;
	void *at[3];
	long radius;
	int rc;

	if (!PyArg_ParseTuple(args, "Ol", &columns, &radius))
		return NULL;
	if (!py_rows_from(&rows, self, columns))
		out = py_new_columns((const size_t[]){ rows.n, rows.n * 8, rows.n * 4 }, 3, at);
	if (out && !py_index_begin(self, &call)) {
		decisions = (struct decisions){ .is_new = at[0], .ids = at[1], .distances = at[2] };
		rc = decide(self, &rows, radius, &decisions, &err);
		if (py_index_end(self, &call, rc, &err))
			Py_CLEAR(out);
	} else {
		Py_CLEAR(out);
	}
	py_rows_free(&rows);
	return out;
}

/* ---- deleting ---- */

static int delete_all(struct py_index *self, const struct py_rows *rows, unsigned long long *n,
		      simidx_error *err)
{
	size_t all = rows->ids.at ? rows->ids.n : rows->labels.n;
	int rc = py_index_writer(self, err);

	if (rc)
		return rc;
	for (size_t i = 0; !rc && i < all; i++) {
		const struct py_text *label = rows->labels.at ? &rows->labels.at[i] : NULL;

		rc = stop(i, err);
		if (!rc && label && !label->bytes) {
			rc = err->code = SIMIDX_E_ARG;
			snprintf(err->text, sizeof(err->text), "label %zu is None", i);
		} else if (!rc && label)
			rc = simidx_writer_delete_label(self->writer, label->bytes, label->size,
							err);
		else if (!rc)
			rc = simidx_writer_delete_id(self->writer,
						     ((const uint64_t *)rows->ids.at)[i], err);
		*n += !rc;
		if (rc == SIMIDX_E_NOT_FOUND)
			rc = SIMIDX_OK;
	}
	return py_index_finish(self, rc, err);
}

PyObject *py_index_delete(PyObject *object, PyObject *args)
{
	struct py_index *self = (struct py_index *)object;
	struct py_rows rows = { .n = 0 };
	unsigned long long n = 0;
	PyObject *ids, *labels;
	struct py_call call;
	simidx_error err;
	int rc;

	if (!PyArg_ParseTuple(args, "OO", &ids, &labels))
		return NULL;
	rc = py_numbers_from(&rows.ids, ids, 8, "ids") ||
	     py_texts_from(&rows.labels, labels, "labels") || py_index_begin(self, &call);
	if (!rc) {
		rc = delete_all(self, &rows, &n, &err);
		rc = py_index_end(self, &call, rc, &err);
	}
	py_rows_free(&rows);
	return rc ? NULL : PyLong_FromUnsignedLongLong(n);
}

PyObject *py_index_delete_older(PyObject *object, PyObject *args)
{
	struct py_index *self = (struct py_index *)object;
	struct py_call call;
	uint64_t n = 0;
	unsigned time;
	simidx_error err;
	int rc;

	if (!PyArg_ParseTuple(args, "I", &time) || py_index_begin(self, &call))
		return NULL;
	rc = py_index_writer(self, &err);
	if (!rc) {
		/* It has transactions of its own. */
		simidx_writer_rollback(self->writer);
		rc = simidx_writer_delete_older(self->writer, time, py_stop, NULL, &n, &err);
		rc = py_index_finish(self, rc, &err);
	}
	if (py_index_end(self, &call, rc, &err))
		return NULL;
	return PyLong_FromUnsignedLongLong(n);
}

/* ---- loading ---- */

struct loading {
	simidx_loader *loader;
	struct py_call *call;
	uint64_t n; /* rows that were put */
	char refused[400]; /* why the first row was that may not be left out */
};

static void note_rejected(void *ctx, uint64_t row, const char *reason)
{
	struct loading *all = ctx;

	if (!*all->refused)
		snprintf(all->refused, sizeof(all->refused), "row %llu: %s",
			 (unsigned long long)row, reason);
}

static int stop_loading(void *ctx)
{
	struct loading *all = ctx;

	return *all->refused || py_stop(NULL);
}

/* A batch: columns as put() takes them. */
static int load_some(struct py_index *self, struct loading *all, PyObject *columns)
{
	struct py_rows rows;
	simidx_error err;
	int rc = py_rows_from(&rows, self, columns) || py_index_begin(self, all->call);

	if (!rc) {
		rc = py_rows_sketch(&rows, self, 0, &err);
		for (size_t i = 0; !rc && i < rows.n; i++) {
			simidx_doc doc = make_doc(&rows, self, i);

			rc = stop(i, &err);
			if (!rc)
				rc = simidx_loader_put(all->loader, &doc, NULL, &err);
		}
		all->n += rows.n;
		rc = py_index_end(self, all->call, rc, &err);
	}
	py_rows_free(&rows);
	return rc;
}

static int load_all(struct py_index *self, struct loading *all, const char *path,
		    const simidx_loader_options *how, PyObject *batches,
		    simidx_loader_report *report)
{
	PyObject *columns;
	simidx_error err;
	int rc;

	if (py_index_begin(self, all->call))
		return -1;
	rc = simidx_loader_open(path, NULL, how, &all->loader, &err);
	rc = py_index_end(self, all->call, rc, &err);
	while (!rc && (columns = PyIter_Next(batches))) {
		rc = load_some(self, all, columns);
		Py_DECREF(columns);
	}
	if (rc || PyErr_Occurred() || py_index_begin(self, all->call))
		return -1;
	rc = simidx_loader_finish(all->loader, report, &err);
	if (rc == SIMIDX_E_STOPPED && *all->refused) {
		rc = err.code = SIMIDX_E_DUPLICATE;
		strcpy(err.text, all->refused);
	}
	return py_index_end(self, all->call, rc, &err);
}

/* load(batches, path, duplicates, flags, threads, memory, tmpdir): how many rows are in it. */
PyObject *py_index_load(PyObject *object, PyObject *args)
{
	struct py_index *self = (struct py_index *)object;
	simidx_loader_options how = SIMIDX_LOADER_OPTIONS_INIT;
	simidx_loader_report report = SIMIDX_LOADER_REPORT_INIT;
	struct py_call call;
	struct loading all = { .call = &call };
	unsigned long long memory;
	PyObject *batches, *path;
	simidx_error err = { .code = SIMIDX_E_STATE, .text = "a deduplication uses the index" };
	int rc;

	/* It would wait for the loader's lock, and the loader perhaps for its rows. */
	if (self->n_users)
		return py_raise(&err);
	if (!PyArg_ParseTuple(args, "OO&IIIKz", &batches, PyUnicode_FSConverter, &path,
			      &how.duplicates, &how.flags, &how.threads, &memory, &how.tmpdir))
		return NULL;
	how.memory = memory;
	how.rejected = note_rejected;
	how.stop = stop_loading;
	how.ctx = &all;
	rc = load_all(self, &all, PyBytes_AsString(path), &how, batches, &report);
	Py_BEGIN_ALLOW_THREADS
	simidx_loader_close(all.loader);
	Py_END_ALLOW_THREADS
	Py_DECREF(path);
	return rc ? NULL : PyLong_FromUnsignedLongLong(all.n - report.left_out);
}
