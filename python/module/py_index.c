/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "py_index.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <simidx_check.h>

static PyTypeObject *index_type;

/* A child of fork() may not touch what its parent has opened. */
static int is_of_parent(const struct py_index *self)
{
	return self->pid != getpid();
}

int py_index_begin(struct py_index *self, struct py_call *call)
{
	simidx_error err = { .code = SIMIDX_E_FORK };

	if (is_of_parent(self)) {
		strcpy(err.text, "the index was opened before fork(): open it again here");
		py_raise(&err);
		return -1;
	}
	py_begin(call);
	pthread_rwlock_rdlock(&self->life);
	if (self->index)
		return 0;
	pthread_rwlock_unlock(&self->life);
	err.code = SIMIDX_E_STATE;
	strcpy(err.text, "the index is closed");
	return py_end(call, err.code, &err);
}

int py_index_end(struct py_index *self, struct py_call *call, int rc, const simidx_error *err)
{
	pthread_rwlock_unlock(&self->life);
	return py_end(call, rc, err);
}

int py_index_writer(struct py_index *self, simidx_error *err)
{
	int rc = SIMIDX_OK;

	while (pthread_mutex_timedlock(&self->turn, py_soon(&(struct timespec){ 0 })))
		if (py_stop(NULL))
			return err->code = SIMIDX_E_STOPPED;
	if (!self->writer)
		rc = simidx_writer_open(self->index, NULL, &self->writer, err);
	if (!rc)
		rc = simidx_writer_begin(self->writer, err);
	if (rc)
		pthread_mutex_unlock(&self->turn);
	return rc;
}

int py_index_finish(struct py_index *self, int rc, simidx_error *err)
{
	if (rc)
		simidx_writer_rollback(self->writer);
	else
		rc = simidx_writer_commit(self->writer, err);
	pthread_mutex_unlock(&self->turn);
	return rc;
}

struct py_index *py_index_of(PyObject *object)
{
	if (PyObject_TypeCheck(object, index_type))
		return (struct py_index *)object;
	PyErr_SetString(PyExc_TypeError, "no Index");
	return NULL;
}

/* ---- opening and closing ---- */

/* What is made where nothing is. */
static int open_index(struct py_index *self, const char *path, simidx_open_options *how,
		      simidx_create_options *create, const char *extractor, simidx_error *err)
{
	simidx_text_options options = SIMIDX_TEXT_OPTIONS_INIT;
	simidx_text *text = NULL;
	int rc = SIMIDX_OK;

	if (extractor) {
		options.extractor = *extractor ? extractor : NULL;
		options.bits = create->bits;
		rc = simidx_text_open(&options, &text, err);
		create->profile = rc ? NULL : simidx_text_profile(text);
		create->check_fps = rc ? NULL : simidx_text_check_fps(text, &create->n_check_fps);
		create->flags |= SIMIDX_CREATE_FP2;
	}
	if (how->flags & SIMIDX_OPEN_CREATE)
		how->create = create;
	if (!rc)
		rc = simidx_open(path, how, &self->index, err);
	simidx_text_close(text);
	if (!rc && !strstr(path, "://"))
		self->path = realpath(path, NULL);
	if (!rc)
		rc = simidx_get_info(self->index, &self->info, err);
	if (!rc && *self->info.profile)
		rc = simidx_text_open_for(self->index, NULL, &self->text, err);
	return rc == SIMIDX_E_MISMATCH && self->index && !self->text ? SIMIDX_OK : rc;
}

static PyObject *index_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
	simidx_open_options how = SIMIDX_OPEN_OPTIONS_INIT;
	simidx_create_options create = SIMIDX_CREATE_OPTIONS_INIT;
	simidx_info none = SIMIDX_INFO_INIT;
	unsigned long long expect;
	const char *extractor;
	pthread_rwlockattr_t prefers;
	struct py_index *self;
	struct py_call call;
	simidx_error err;
	PyObject *path;
	int rc;

	(void)kwargs;
	if (!PyArg_ParseTuple(args, "O&IIIzKz", PyUnicode_FSConverter, &path, &how.flags,
			      &create.flags, &create.bits, &create.plan, &expect, &extractor))
		return NULL;
	create.expect = expect;
	self = (struct py_index *)PyType_GenericAlloc(type, 0);
	if (!self) {
		Py_DECREF(path);
		return NULL;
	}
	self->info = none;
	self->pid = getpid();
	/* Or threads that search without a pause would keep close() waiting. */
	pthread_rwlockattr_init(&prefers);
	pthread_rwlockattr_setkind_np(&prefers, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	self->has_locks = !pthread_rwlock_init(&self->life, &prefers) &&
			  !pthread_mutex_init(&self->turn, NULL) &&
			  !pthread_mutex_init(&self->lock, NULL);
	py_begin(&call);
	rc = open_index(self, PyBytes_AsString(path), &how, &create, extractor, &err);
	rc = py_end(&call, rc, &err);
	Py_DECREF(path);
	if (!rc)
		return (PyObject *)self;
	Py_DECREF(self);
	return NULL;
}

/* With its lock, and without the GIL. */
static void free_all(struct py_index *self)
{
	py_walks_close(self);
	simidx_writer_close(self->writer);
	simidx_text_close(self->text);
	simidx_close(self->index);
	self->index = NULL;
	self->writer = NULL;
	self->text = NULL;
}

static void index_dealloc(PyObject *object)
{
	struct py_index *self = (struct py_index *)object;
	PyTypeObject *type = Py_TYPE(object);

	if (self->has_locks && !is_of_parent(self)) {
		Py_BEGIN_ALLOW_THREADS
		free_all(self);
		Py_END_ALLOW_THREADS
		pthread_rwlock_destroy(&self->life);
		pthread_mutex_destroy(&self->turn);
		pthread_mutex_destroy(&self->lock);
	}
	free(self->path);
	PyObject_Free(object);
	Py_DECREF(type);
}

/* Other calls end first, unless Ctrl-C ends the wait. */
static PyObject *index_close(PyObject *object, PyObject *args)
{
	simidx_error err = { .code = SIMIDX_E_STATE, .text = "a deduplication uses the index" };
	struct py_index *self = (struct py_index *)object;
	struct py_call call;
	int rc = 0;

	(void)args;
	if (is_of_parent(self))
		Py_RETURN_NONE;
	if (self->n_users)
		return py_raise(&err);
	self->n_closers++;
	py_begin(&call);
	while (!rc && pthread_rwlock_timedwrlock(&self->life, py_soon(&(struct timespec){ 0 }))) {
		rc = py_stop(NULL);
		if (rc || !py_has_interrupted())
			continue;
		rc = err.code;
		strcpy(err.text, "a call that this signal handler has interrupted uses the index: "
				 "raise an exception, and close it afterwards");
	}
	if (!rc) {
		free_all(self);
		pthread_rwlock_unlock(&self->life);
	}
	rc = py_end(&call, rc, &err);
	self->n_closers--;
	if (rc)
		return NULL;
	Py_RETURN_NONE;
}

/* ---- what it is, and whether it is sound ---- */

static PyObject *index_info(PyObject *object, PyObject *args)
{
	struct py_index *self = (struct py_index *)object;
	simidx_info info = SIMIDX_INFO_INIT;
	struct py_call call;
	simidx_error err;
	PyObject *out;
	int rc;

	(void)args;
	if (py_index_begin(self, &call))
		return NULL;
	rc = simidx_get_info(self->index, &info, &err);
	if (rc) {
		py_index_end(self, &call, rc, &err);
		return NULL;
	}
	/* Its strings live as long as the index. */
	py_pause(&call);
	out = Py_BuildValue("{sssIsssIsIsKsKsKsKsKsKsK}", "plan", info.plan, "bits", info.bits,
			    "profile", info.profile, "flags", info.flags, "layout", info.layout,
			    "documents", (unsigned long long)info.documents, "distinct",
			    (unsigned long long)info.distinct, "fresh_rows",
			    (unsigned long long)info.fresh_rows, "next_id",
			    (unsigned long long)info.next_id, "labels",
			    (unsigned long long)info.labels, "file_bytes",
			    (unsigned long long)info.file_bytes, "notes",
			    (unsigned long long)info.notes);
	py_resume(&call);
	if (!py_index_end(self, &call, 0, NULL))
		return out;
	Py_XDECREF(out);
	return NULL;
}

/* The first problems, each with a zero behind it. */
struct problems {
	char text[4096];
	size_t size;
};

static void note_problem(void *ctx, const simidx_problem *problem)
{
	struct problems *problems = ctx;
	size_t size = strlen(problem->text) + 1;

	if (problems->size + size > sizeof(problems->text))
		return;
	memcpy(problems->text + problems->size, problem->text, size);
	problems->size += size;
}

static PyObject *index_verify(PyObject *object, PyObject *args)
{
	struct py_index *self = (struct py_index *)object;
	struct problems problems = { .size = 0 };
	struct py_call call;
	simidx_error err;
	int rc;

	(void)args;
	if (py_index_begin(self, &call))
		return NULL;
	rc = simidx_verify(self->index, note_problem, &problems, NULL, &err);
	if (rc == SIMIDX_E_CORRUPT && problems.size)
		rc = SIMIDX_OK;
	if (py_index_end(self, &call, rc, &err))
		return NULL;
	return PyBytes_FromStringAndSize(problems.text, (Py_ssize_t)problems.size);
}

static PyObject *index_backup(PyObject *object, PyObject *args)
{
	struct py_index *self = (struct py_index *)object;
	struct py_call call;
	simidx_error err;
	PyObject *path;
	int rc;

	if (!PyArg_ParseTuple(args, "O&", PyUnicode_FSConverter, &path))
		return NULL;
	rc = py_index_begin(self, &call);
	if (!rc) {
		rc = simidx_backup(self->index, PyBytes_AsString(path), &err);
		rc = py_index_end(self, &call, rc, &err);
	}
	Py_DECREF(path);
	if (rc)
		return NULL;
	Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
	{ "close", index_close, METH_NOARGS, NULL },
	{ "info", index_info, METH_NOARGS, NULL },
	{ "verify", index_verify, METH_NOARGS, NULL },
	{ "backup", index_backup, METH_VARARGS, NULL },
	{ "search", py_index_search, METH_VARARGS, NULL },
	{ "get", py_index_get, METH_VARARGS, NULL },
	{ "pairs", py_index_pairs, METH_VARARGS, NULL },
	{ "clusters", py_index_clusters, METH_VARARGS, NULL },
	{ "walk", py_index_walk, METH_NOARGS, NULL },
	{ "walk_next", py_index_walk_next, METH_O, NULL },
	{ "put", py_index_put, METH_VARARGS, NULL },
	{ "put_if_new", py_index_put_if_new, METH_VARARGS, NULL },
	{ "load", py_index_load, METH_VARARGS, NULL },
	{ "delete", py_index_delete, METH_VARARGS, NULL },
	{ "delete_older", py_index_delete_older, METH_VARARGS, NULL },
	{ NULL, NULL, 0, NULL },
};

static PyType_Slot slots[] = {
	{ Py_tp_new, index_new },
	{ Py_tp_dealloc, index_dealloc },
	{ Py_tp_methods, methods },
	{ 0, NULL },
};

static PyType_Spec spec = { "simidx._simidx.Index", sizeof(struct py_index), 0,
			    Py_TPFLAGS_DEFAULT, slots };

int py_index_add(PyObject *module)
{
	index_type = (PyTypeObject *)PyType_FromSpec(&spec);
	return index_type ? PyModule_AddObjectRef(module, "Index", (PyObject *)index_type) : -1;
}
