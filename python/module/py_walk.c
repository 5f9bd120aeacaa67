/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * An iterator of the documents of an index, in lists of some. close() of the index ends it.
 */

#include "py_index.h"

#include <simidx_walk.h>

/* Documents of a list. */
#define AT_ONCE 1024

static PyTypeObject *walk_type;

struct py_walk {
	PyObject_HEAD
	struct py_index *index; /* a reference */
	simidx_walk *walk;      /* NULL: it has ended */
	struct py_walk *next;   /* of the index */
};

void py_walks_close(struct py_index *self)
{
	for (struct py_walk *walk = self->walks; walk; walk = walk->next) {
		simidx_walk_close(walk->walk);
		walk->walk = NULL;
	}
	self->walks = NULL;
}

/* Take it from the list, and close it. */
static void end(struct py_walk *self)
{
	struct py_walk **at;

	pthread_mutex_lock(&self->index->lock);
	for (at = &self->index->walks; *at && *at != self; at = &(*at)->next)
		;
	if (*at)
		*at = self->next;
	simidx_walk_close(self->walk);
	self->walk = NULL;
	pthread_mutex_unlock(&self->index->lock);
}

static void walk_dealloc(PyObject *object)
{
	struct py_walk *self = (struct py_walk *)object;
	PyTypeObject *type = Py_TYPE(object);
	PyObject *kind, *value, *trace;
	struct py_call call;

	PyErr_Fetch(&kind, &value, &trace); /* one may be on its way */
	/* Where it fails, close() has ended all walks, and touches none any more. */
	if (!py_index_begin(self->index, &call)) {
		if (self->walk)
			end(self);
		py_index_end(self->index, &call, 0, NULL);
	}
	PyErr_Restore(kind, value, trace);
	Py_DECREF((PyObject *)self->index);
	PyObject_Free(object);
	Py_DECREF(type);
}

static PyObject *walk_next(PyObject *object)
{
	struct py_walk *self = (struct py_walk *)object;
	PyObject *list = PyList_New(0);
	struct py_call call;
	simidx_match match;
	simidx_error err;
	int rc = SIMIDX_OK;

	if (!list || py_index_begin(self->index, &call)) {
		Py_XDECREF(list);
		return NULL;
	}
	PyEval_RestoreThread(call.state);
	for (size_t i = 0; !rc && self->walk && i < AT_ONCE; i++) {
		PyObject *document = NULL;

		rc = simidx_walk_next(self->walk, &match, &err);
		if (!rc)
			document = py_describe(&match);
		if (!rc && (!document || PyList_Append(list, document)))
			i = AT_ONCE;
		Py_XDECREF(document);
	}
	call.state = PyEval_SaveThread();
	if (rc)
		end(self);
	if (!py_index_end(self->index, &call, rc == SIMIDX_E_END ? SIMIDX_OK : rc, &err) &&
	    !PyErr_Occurred() && PyList_Size(list))
		return list;
	Py_DECREF(list);
	return NULL;
}

PyObject *py_index_walk(PyObject *object, PyObject *args)
{
	struct py_index *index = (struct py_index *)object;
	struct py_walk *self = PyObject_New(struct py_walk, walk_type);
	struct py_call call;
	simidx_error err;
	int rc;

	(void)args;
	if (!self)
		return NULL;
	self->index = (struct py_index *)Py_NewRef(object);
	self->walk = NULL;
	rc = py_index_begin(index, &call);
	if (!rc) {
		pthread_mutex_lock(&index->lock);
		rc = simidx_walk_open(index->index, &self->walk, &err);
		self->next = index->walks;
		if (!rc)
			index->walks = self;
		pthread_mutex_unlock(&index->lock);
		rc = py_index_end(index, &call, rc, &err);
	}
	if (!rc)
		return (PyObject *)self;
	Py_DECREF((PyObject *)self);
	return NULL;
}

static PyType_Slot slots[] = {
	{ Py_tp_dealloc, walk_dealloc },
	{ Py_tp_iter, PyObject_SelfIter },
	{ Py_tp_iternext, walk_next },
	{ 0, NULL },
};

static PyType_Spec spec = { "simidx._simidx.Walk", sizeof(struct py_walk), 0,
			    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots };

int py_walk_add(PyObject *module)
{
	(void)module;
	walk_type = (PyTypeObject *)PyType_FromSpec(&spec);
	return walk_type ? 0 : -1;
}
