/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Walks through the documents of an index, in lists of some: capsules. close() of the index ends
 * them.
 */

#include "py_index.h"

#include <stdlib.h>

#include <simidx_walk.h>

/* Documents of a list. */
#define AT_ONCE 1024

#define NAME "simidx walk"

struct py_walk {
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

static void free_walk(PyObject *capsule)
{
	struct py_walk *self = PyCapsule_GetPointer(capsule, NAME);
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
	free(self);
}

/* walk_next(walk): a list of documents, empty at the end */
PyObject *py_index_walk_next(PyObject *object, PyObject *capsule)
{
	struct py_walk *self = PyCapsule_GetPointer(capsule, NAME);
	PyObject *list = PyList_New(0);
	struct py_call call;
	simidx_match match;
	simidx_error err;
	int rc = SIMIDX_OK;

	(void)object;
	if (!self || !list || py_index_begin(self->index, &call)) {
		Py_XDECREF(list);
		return NULL;
	}
	py_pause(&call);
	for (size_t i = 0; !rc && self->walk && i < AT_ONCE; i++) {
		PyObject *document = NULL;

		rc = simidx_walk_next(self->walk, &match, &err);
		if (!rc)
			document = py_describe(&match);
		if (!rc && (!document || PyList_Append(list, document)))
			i = AT_ONCE;
		Py_XDECREF(document);
	}
	py_resume(&call);
	if (rc)
		end(self);
	if (!py_index_end(self->index, &call, rc == SIMIDX_E_END ? SIMIDX_OK : rc, &err) &&
	    !PyErr_Occurred())
		return list;
	Py_DECREF(list);
	return NULL;
}

PyObject *py_index_walk(PyObject *object, PyObject *args)
{
	struct py_index *index = (struct py_index *)object;
	struct py_walk *self = calloc(1, sizeof(*self));
	PyObject *capsule = self ? PyCapsule_New(self, NAME, free_walk) : PyErr_NoMemory();
	struct py_call call;
	simidx_error err;
	int rc;

	(void)args;
	if (!capsule) {
		free(self);
		return NULL;
	}
	self->index = (struct py_index *)Py_NewRef(object);
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
		return capsule;
	Py_DECREF(capsule);
	return NULL;
}
