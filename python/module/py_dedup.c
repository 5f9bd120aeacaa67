/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * simidx._simidx.Dedup: rows in, decisions out, by libsimidx-dedup. It decides about batches of
 * its own, so the decisions of a row may come with a later call.
 */

#include "py_index.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <simidx_dedup.h>

#define MOST_AGAINST 64

/* By what a row was decided. Of an empty one, which is kept, too, nothing is a near-duplicate. */
enum rule { EMPTY = -1, KEPT, EQUAL, TEXT, SKETCH, FINGERPRINT };

/* What is told of a row: _dedup.py reads it as "dqQiiq". */
struct decision {
	double similarity;  /* 0 of a row that is kept, -1 where fingerprints decided */
	int64_t keeper;     /* which of the KEPT rows stays for it; -1: a document of an index */
	uint64_t id;        /* of that document */
	int32_t against;    /* which other index it is in; -1 = none */
	int32_t rule;       /* enum rule */
	int64_t label_size; /* 0: it has none */
};

struct py_dedup {
	PyObject_HEAD
	struct py_index *index; /* references */
	struct py_index *against[MOST_AGAINST];
	simidx *others[MOST_AGAINST]; /* the same, for the library */
	size_t n_against;
	simidx_writer *writer;
	int is_lasting;      /* the index is to remember; its commits do not merge */
	simidx_dedup *dedup; /* NULL: it is closed */
	struct decision *decided; /* since they were last taken */
	size_t n_decided, decided_room;
	char *labels; /* of them, one behind the other */
	size_t labels_size, labels_room;
};

/* Room for `n` items of a size. */
static int grow(void *at, size_t *room, size_t n, size_t size)
{
	size_t more = 2 * *room > n ? 2 * *room : n + 1024;
	void *grown;

	if (n <= *room)
		return 0;
	grown = realloc(*(void **)at, more * size);
	if (!grown)
		return SIMIDX_E_NOMEM;
	*(void **)at = grown;
	*room = more;
	return 0;
}

static enum rule rule_of(const simidx_dedup_near *near)
{
	return near->flags & SIMIDX_DEDUP_EQUAL	   ? EQUAL :
	       near->flags & SIMIDX_DEDUP_ESTIMATE ? SKETCH :
	       near->similarity < 0		   ? FINGERPRINT :
						     TEXT;
}

static int note_decided(void *ctx, const simidx_dedup_row *row, const simidx_dedup_near *near,
			size_t n)
{
	struct py_dedup *self = ctx;
	struct decision *decision;

	if (grow(&self->decided, &self->decided_room, self->n_decided + 1,
		 sizeof(*self->decided)) ||
	    grow(&self->labels, &self->labels_room, self->labels_size + row->label_size, 1))
		return SIMIDX_E_NOMEM;
	if (row->label_size)
		memcpy(self->labels + self->labels_size, row->label, row->label_size);
	self->labels_size += row->label_size;
	decision = &self->decided[self->n_decided++];
	*decision = (struct decision){ .keeper = -1, .against = -1,
				       .rule = row->flags & SIMIDX_DEDUP_EMPTY ? EMPTY : KEPT,
				       .label_size = (int64_t)row->label_size };
	if (!n)
		return 0;
	decision->rule = rule_of(near);
	decision->similarity = near->similarity;
	decision->id = near->id;
	if (near->keeper == SIMIDX_DEDUP_AGAINST)
		decision->against = (int32_t)near->against;
	else if (near->keeper != SIMIDX_DEDUP_EARLIER)
		decision->keeper = (int64_t)near->keeper;
	return 0;
}

static int begin(struct py_dedup *self, struct py_call *call)
{
	simidx_error err = { .code = SIMIDX_E_STATE, .text = "the deduplication has ended" };

	if (self->dedup)
		return py_index_begin(self->index, call);
	py_raise(&err);
	return -1;
}

/* ---- opening and closing ---- */

static int take_against(struct py_dedup *self, PyObject *list)
{
	Py_ssize_t n = PyList_Size(list);

	if (n > MOST_AGAINST) {
		py_refuse("more than %d indexes", MOST_AGAINST);
		return -1;
	}
	for (Py_ssize_t i = 0; i < n; i++) {
		struct py_index *index = py_index_of(PyList_GetItem(list, i));

		if (!index)
			return -1;
		if (index->n_closers || !index->index) {
			py_refuse("index %zd of `against` is closed", i);
			return -1;
		}
		self->against[self->n_against++] = (struct py_index *)Py_NewRef((PyObject *)index);
		index->n_users++;
	}
	return 0;
}

static int open_dedup(struct py_dedup *self, simidx_dedup_options *how, simidx_error *err)
{
	simidx_writer_options writer = SIMIDX_WRITER_OPTIONS_INIT;
	char seen_file[PATH_MAX];
	int rc;

	for (size_t i = 0; i < self->n_against; i++)
		self->others[i] = self->against[i]->index;
	how->against = self->others;
	how->n_against = self->n_against;
	how->calls = (simidx_dedup_calls){ .ctx = self, .decided = note_decided, .stop = py_stop };
	self->is_lasting = (how->flags & SIMIDX_DEDUP_LASTING) != 0;
	if (self->is_lasting)
		writer.merge = SIMIDX_MERGE_NEVER;
	if (self->is_lasting && self->index->path &&
	    snprintf(seen_file, sizeof(seen_file), "%s/%s", self->index->path,
		     SIMIDX_DEDUP_SEEN_NAME) < (int)sizeof(seen_file))
		how->seen_file = seen_file;
	rc = simidx_writer_open(self->index->index, &writer, &self->writer, err);
	if (!rc)
		rc = simidx_dedup_open(self->index->index, self->writer, how, &self->dedup, err);
	return rc;
}

static void close_dedup(struct py_dedup *self)
{
	struct py_index *index = self->index;
	simidx_dedup *dedup = self->dedup;
	simidx_writer *writer = self->writer;

	if (!index)
		return;
	/* Another thread that closes it meanwhile finds it closed. */
	self->index = NULL;
	self->dedup = NULL;
	self->writer = NULL;
	if (index->pid == getpid()) {
		Py_BEGIN_ALLOW_THREADS
		simidx_dedup_close(dedup);
		simidx_writer_close(writer);
		Py_END_ALLOW_THREADS
	}
	for (size_t i = 0; i < self->n_against; i++) {
		self->against[i]->n_users--;
		Py_DECREF((PyObject *)self->against[i]);
	}
	self->n_against = 0;
	index->n_users--;
	Py_DECREF((PyObject *)index);
}

static void dedup_dealloc(PyObject *object)
{
	struct py_dedup *self = (struct py_dedup *)object;
	PyTypeObject *type = Py_TYPE(object);

	close_dedup(self);
	free(self->decided);
	free(self->labels);
	PyObject_Free(object);
	Py_DECREF(type);
}

static PyObject *dedup_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
	simidx_dedup_options how = SIMIDX_DEDUP_OPTIONS_INIT;
	PyObject *index, *against;
	struct py_dedup *self;
	struct py_call call;
	simidx_error err;
	int rc;

	(void)kwargs;
	if (!PyArg_ParseTuple(args, "OO!dIIiz", &index, &PyList_Type, &against, &how.similarity,
			      &how.flags, &how.threads, &how.remember, &how.tmpdir))
		return NULL;
	if (!py_index_of(index))
		return NULL;
	/* Who closes it may wait for other calls only. */
	if (((struct py_index *)index)->n_closers) {
		err = (simidx_error){ .code = SIMIDX_E_STATE, .text = "the index is closed" };
		return py_raise(&err);
	}
	self = (struct py_dedup *)PyType_GenericAlloc(type, 0);
	if (!self)
		return NULL;
	self->index = (struct py_index *)Py_NewRef(index);
	self->index->n_users++;
	rc = take_against(self, against);
	how.threads = how.threads ? how.threads : py_threads(SIZE_MAX / 2, 0);
	if (!rc)
		rc = py_index_begin(self->index, &call);
	if (!rc)
		rc = py_index_end(self->index, &call, open_dedup(self, &how, &err), &err);
	if (!rc)
		return (PyObject *)self;
	Py_DECREF((PyObject *)self);
	return NULL;
}

static PyObject *dedup_close(PyObject *object, PyObject *args)
{
	(void)args;
	close_dedup((struct py_dedup *)object);
	Py_RETURN_NONE;
}

/* ---- rows ---- */

static int add_all(struct py_dedup *self, const struct py_texts *texts,
		   const struct py_texts *labels, simidx_error *err)
{
	int rc = SIMIDX_OK;

	for (size_t i = 0; !rc && i < texts->n; i++) {
		simidx_dedup_row row = SIMIDX_DEDUP_ROW_INIT;

		row.text = texts->at[i].bytes ? texts->at[i].bytes : "";
		row.text_size = texts->at[i].size;
		if (labels->n) {
			row.label = labels->at[i].bytes;
			row.label_size = labels->at[i].size;
		}
		rc = simidx_dedup_add(self->dedup, &row, err);
	}
	return rc;
}

/* add(texts, labels or None) */
static PyObject *dedup_add(PyObject *object, PyObject *args)
{
	struct py_dedup *self = (struct py_dedup *)object;
	struct py_texts texts, labels = { .n = 0 };
	PyObject *given, *given_labels;
	struct py_call call;
	simidx_error err;
	int rc;

	if (!PyArg_ParseTuple(args, "OO", &given, &given_labels) || 
	    py_texts_from(&texts, given, "texts"))
		return NULL;
	rc = py_texts_from(&labels, given_labels, "ids") || begin(self, &call);
	if (!rc)
		rc = py_index_end(self->index, &call, add_all(self, &texts, &labels, &err), &err);
	py_texts_free(&texts);
	py_texts_free(&labels);
	if (rc)
		return NULL;
	Py_RETURN_NONE;
}

/* flush(merge): decide about all rows; or merge what commits have left, if it is time. That is done
   when the decisions are given, so that Ctrl-C loses none. */
static PyObject *dedup_flush(PyObject *object, PyObject *args)
{
	struct py_dedup *self = (struct py_dedup *)object;
	int merges, rc = SIMIDX_OK;
	struct py_call call;
	simidx_error err;

	if (!PyArg_ParseTuple(args, "p", &merges) || begin(self, &call))
		return NULL;
	if (!merges)
		rc = simidx_dedup_flush(self->dedup, 1, &err);
	else if (self->is_lasting && simidx_writer_merge_state(self->writer) & SIMIDX_MERGE_DUE)
		rc = simidx_writer_merge(self->writer, &err);
	if (py_index_end(self->index, &call, rc, &err))
		return NULL;
	Py_RETURN_NONE;
}

/* The decisions that were not taken yet, as they are, and their labels. */
static PyObject *dedup_take(PyObject *object, PyObject *args)
{
	struct py_dedup *self = (struct py_dedup *)object;
	size_t n = self->n_decided, size = self->labels_size;

	(void)args;
	self->n_decided = self->labels_size = 0;
	return Py_BuildValue("y#y#", n ? (const char *)self->decided : "",
			     (Py_ssize_t)(n * sizeof(*self->decided)), size ? self->labels : "",
			     (Py_ssize_t)size);
}

static PyMethodDef methods[] = {
	{ "add", dedup_add, METH_VARARGS, NULL },
	{ "flush", dedup_flush, METH_VARARGS, NULL },
	{ "take", dedup_take, METH_NOARGS, NULL },
	{ "close", dedup_close, METH_NOARGS, NULL },
	{ NULL, NULL, 0, NULL },
};

static PyType_Slot slots[] = {
	{ Py_tp_new, dedup_new },
	{ Py_tp_dealloc, dedup_dealloc },
	{ Py_tp_methods, methods },
	{ 0, NULL },
};

static PyType_Spec spec = { "simidx._simidx.Dedup", sizeof(struct py_dedup), 0,
			    Py_TPFLAGS_DEFAULT, slots };

int py_dedup_add(PyObject *module)
{
	PyObject *type = PyType_FromSpec(&spec);

	return type ? PyModule_AddObjectRef(module, "Dedup", type) : -1;
}
