/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Streams of Arrow arrays, mostly of rows: next_batch() reads a Batch of one, make_batch() makes
 * one of columns, and export_stream() makes a stream of an iterator of them.
 */

#include "py_arrow.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static PyTypeObject *batch_type;

/* ---- Batch ---- */

struct batch {
	PyObject_HEAD
	struct arrow_held *held;
};

int py_is_batch(PyObject *object)
{
	return PyObject_TypeCheck(object, batch_type);
}

static PyObject *new_batch(struct arrow_held *held)
{
	struct batch *batch;

	if (!held)
		return PyErr_NoMemory();
	batch = PyObject_New(struct batch, batch_type);
	if (batch)
		batch->held = held;
	else
		arrow_drop(held);
	return (PyObject *)batch;
}

/* Releasing may run Python code of the producer, and an exception may be on its way. */
static void batch_dealloc(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);
	PyObject *kind, *value, *trace;

	PyErr_Fetch(&kind, &value, &trace);
	arrow_drop(((struct batch *)self)->held);
	PyErr_Restore(kind, value, trace);
	PyObject_Free(self);
	Py_DECREF(type);
}

static Py_ssize_t batch_length(PyObject *self)
{
	return (Py_ssize_t)arrow_array(((struct batch *)self)->held)->length;
}

static PyObject *batch_capsules(PyObject *self, PyObject *args)
{
	(void)args; /* the schema that is asked for is but a wish */
	return arrow_capsules(((struct batch *)self)->held);
}

static PyObject *batch_take(PyObject *self, PyObject *args)
{
	struct arrow_held *held = ((struct batch *)self)->held;
	const struct ArrowArray *array = arrow_array(held);
	struct ArrowSchema schema;
	struct ArrowArray taken;
	Py_buffer keep;
	int64_t *rows, n = 0;
	char reason[160];
	int rc;

	if (!PyArg_ParseTuple(args, "y*", &keep))
		return NULL;
	if (keep.len != array->length) {
		PyBuffer_Release(&keep);
		return py_refuse("%lld bytes for %lld rows", (long long)keep.len,
				 (long long)array->length);
	}
	rows = malloc(((size_t)array->length + 1) * sizeof(*rows));
	for (int64_t i = 0; rows && i < array->length; i++)
		if (((const char *)keep.buf)[i])
			rows[n++] = i;
	PyBuffer_Release(&keep);
	if (rows && n == array->length) {
		free(rows);
		return new_batch(arrow_keep(held));
	}
	rc = rows ? arrow_copy_schema(arrow_schema(held), &schema) : -1;
	*reason = '\0';
	if (!rc && arrow_take(held, arrow_schema(held), array, rows, n, &taken, reason)) {
		schema.release(&schema);
		rc = -1;
	}
	free(rows);
	if (rc)
		return *reason ? py_refuse("%s", reason) : PyErr_NoMemory();
	return new_batch(arrow_hold(&schema, &taken));
}

static PyObject *batch_column(PyObject *self, PyObject *args)
{
	struct arrow_held *held = ((struct batch *)self)->held;
	const struct ArrowSchema *schema = arrow_schema(held);
	const struct ArrowArray *rows = arrow_array(held);
	struct ArrowSchema column;
	struct ArrowArray array;
	int64_t i = 0;
	const char *name;
	int is_optional = 0;

	if (!PyArg_ParseTuple(args, "s|p", &name, &is_optional))
		return NULL;
	if (strcmp(schema->format, "+s") != 0)
		return py_refuse("the Arrow stream has no rows of columns");
	while (i < schema->n_children &&
	       (!schema->children[i]->name || strcmp(schema->children[i]->name, name) != 0))
		i++;
	if (i == schema->n_children && is_optional)
		Py_RETURN_NONE;
	if (i == schema->n_children)
		return py_refuse("the stream has no column \"%.100s\"", name);
	if (arrow_copy_schema(schema->children[i], &column))
		return PyErr_NoMemory();
	if (arrow_share(held, rows->children[i], &array)) {
		column.release(&column);
		return PyErr_NoMemory();
	}
	if (array.length != rows->length && array.null_count)
		array.null_count = -1; /* not known */
	array.offset += rows->offset;
	array.length = rows->length;
	return new_batch(arrow_hold(&column, &array));
}

static PyMethodDef batch_methods[] = {
	{ "__arrow_c_array__", batch_capsules, METH_VARARGS,
	  "The rows, for other libraries that know Arrow." },
	{ "column", batch_column, METH_VARARGS,
	  "column(name, optional=False): one column, as an Arrow array; or None without it." },
	{ "take", batch_take, METH_VARARGS, "take(keep): the rows whose byte in `keep` is not 0." },
	{ NULL, NULL, 0, NULL },
};

static PyType_Slot batch_slots[] = {
	{ Py_tp_dealloc, batch_dealloc },
	{ Py_sq_length, batch_length },
	{ Py_tp_methods, batch_methods },
	{ Py_tp_doc, (char *)"Rows of an Arrow stream." },
	{ 0, NULL },
};

static PyType_Spec batch_spec = { "simidx.Batch", sizeof(struct batch), 0,
				  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
				  batch_slots };

/* ---- a batch of buffers of Python ---- */

#define MOST_COLUMNS 16
#define MOST_BUFFERS 3

/* What such a batch is made of. */
struct made {
	struct ArrowSchema schema[MOST_COLUMNS], *schemas[MOST_COLUMNS];
	struct ArrowArray array[MOST_COLUMNS], *arrays[MOST_COLUMNS];
	const void *bytes[MOST_COLUMNS][MOST_BUFFERS], *none;
	Py_buffer view[MOST_COLUMNS][MOST_BUFFERS];
	PyObject *columns; /* has the names and formats */
};

static void free_made(struct made *made)
{
	for (size_t i = 0; i < MOST_COLUMNS; i++)
		for (size_t k = 0; k < MOST_BUFFERS; k++)
			PyBuffer_Release(&made->view[i][k]);
	Py_DECREF(made->columns);
	free(made);
}

/* Any thread may drop the last reference. */
static void release_made(struct ArrowArray *array)
{
	PyGILState_STATE state = PyGILState_Ensure();

	free_made(array->private_data);
	PyGILState_Release(state);
	array->release = NULL;
}

/* It lies in what the array has, which lives longer. */
static void release_nothing(struct ArrowSchema *schema)
{
	schema->release = NULL;
}

/* (name, format, nulls, (bitmap or None, buffer, ...)) */
static int take_column(struct made *made, size_t i, PyObject *column, int64_t n)
{
	struct ArrowSchema *schema = made->schemas[i] = &made->schema[i];
	struct ArrowArray *array = made->arrays[i] = &made->array[i];
	long long nulls;
	PyObject *buffers;

	if (!PyArg_ParseTuple(column, "ssLO!", &schema->name, &schema->format, &nulls,
			      &PyTuple_Type, &buffers))
		return -1;
	if (PyTuple_Size(buffers) > MOST_BUFFERS) {
		py_refuse("more than %d buffers", MOST_BUFFERS);
		return -1;
	}
	schema->flags = ARROW_FLAG_NULLABLE;
	array->length = n;
	array->null_count = nulls;
	array->buffers = made->bytes[i];
	array->n_buffers = PyTuple_Size(buffers);
	for (Py_ssize_t k = 0; k < array->n_buffers; k++) {
		PyObject *buffer = PyTuple_GetItem(buffers, k);

		if (buffer == Py_None)
			continue;
		if (PyObject_GetBuffer(buffer, &made->view[i][k], PyBUF_SIMPLE))
			return -1;
		made->bytes[i][k] = made->view[i][k].buf;
	}
	return 0;
}

/* make_batch(rows, columns): it holds the buffers, and copies none. */
static PyObject *make_batch(PyObject *self, PyObject *args)
{
	struct ArrowSchema schema = { .format = "+s", .release = release_nothing };
	struct ArrowArray array = { .n_buffers = 1, .release = release_made };
	struct made *made = calloc(1, sizeof(*made));
	PyObject *columns;
	long long n;
	int rc = 0;

	(void)self;
	if (!made)
		return PyErr_NoMemory();
	if (!PyArg_ParseTuple(args, "LO!", &n, &PyTuple_Type, &columns)) {
		free(made);
		return NULL;
	}
	made->columns = Py_NewRef(columns);
	array.length = n;
	array.n_children = schema.n_children = PyTuple_Size(columns);
	if (schema.n_children > MOST_COLUMNS) {
		py_refuse("more than %d columns", MOST_COLUMNS);
		rc = -1;
	}
	for (Py_ssize_t i = 0; !rc && i < schema.n_children; i++)
		rc = take_column(made, (size_t)i, PyTuple_GetItem(columns, i), n);
	if (rc) {
		free_made(made);
		return NULL;
	}
	schema.children = made->schemas;
	array.children = made->arrays;
	array.buffers = &made->none;
	array.private_data = made;
	return new_batch(arrow_hold(&schema, &array));
}

/* ---- an iterator as a stream ---- */

/* Batches are made by Python, so each call takes the GIL. */
struct source {
	PyObject *batches; /* an iterator */
	PyObject *input;   /* the capsule that they come from, or a Batch: with such columns */
	PyObject *type, *value, *trace; /* the exception that has ended them; or NULL */
	char error[512];                /* the same, for other libraries */
};

static void forget_error(struct source *source)
{
	Py_CLEAR(source->type);
	Py_CLEAR(source->value);
	Py_CLEAR(source->trace);
}

static void note_error(struct source *source)
{
	PyObject *text, *name;
	const char *utf8, *utf8_name;

	forget_error(source);
	PyErr_Fetch(&source->type, &source->value, &source->trace);
	name = PyObject_GetAttrString(source->type, "__name__");
	text = source->value ? PyObject_Str(source->value) : NULL;
	utf8_name = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
	utf8 = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
	/* Ctrl-C has no message. */
	snprintf(source->error, sizeof(source->error), "%s",
		 utf8 && *utf8 ? utf8 : utf8_name ? utf8_name : "no message");
	PyErr_Clear();
	Py_XDECREF(text);
	Py_XDECREF(name);
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
	struct source *source = stream->private_data;
	struct ArrowArrayStream *input;

	if (py_is_batch(source->input))
		return arrow_copy_schema(arrow_schema(((struct batch *)source->input)->held), out)
			       ? ENOMEM
			       : 0;
	input = PyCapsule_GetPointer(source->input, "arrow_array_stream");
	return input->get_schema(input, out);
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
	struct source *source = stream->private_data;
	PyGILState_STATE state = PyGILState_Ensure();
	PyObject *batch = PyIter_Next(source->batches);
	struct arrow_held *held;
	int rc = 0;

	*out = (struct ArrowArray){ .release = NULL };
	if (batch && py_is_batch(batch)) {
		held = ((struct batch *)batch)->held;
		rc = arrow_share(held, arrow_array(held), out) ? ENOMEM : 0;
	} else if (batch) {
		PyErr_SetString(PyExc_TypeError, "no Batch");
	}
	if (PyErr_Occurred()) {
		note_error(source);
		rc = EIO;
	}
	Py_XDECREF(batch);
	PyGILState_Release(state);
	return rc;
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
	const struct source *source = stream->private_data;

	return *source->error ? source->error : NULL;
}

static void release_stream(struct ArrowArrayStream *stream)
{
	struct source *source = stream->private_data;
	PyGILState_STATE state = PyGILState_Ensure();

	Py_DECREF(source->batches);
	Py_DECREF(source->input);
	forget_error(source);
	PyGILState_Release(state);
	free(source);
	stream->release = NULL;
}

ARROW_CAPSULE(free_stream_capsule, struct ArrowArrayStream, "arrow_array_stream")

static struct ArrowArrayStream *stream_of(PyObject *capsule)
{
	struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");

	if (stream && !stream->release) {
		py_refuse("an Arrow stream that was used before");
		return NULL;
	}
	return stream;
}

static PyObject *export_stream(PyObject *self, PyObject *args)
{
	struct ArrowArrayStream *stream;
	struct source *source;
	PyObject *batches, *input, *capsule;

	(void)self;
	if (!PyArg_ParseTuple(args, "OO", &batches, &input))
		return NULL;
	if (!py_is_batch(input) && !stream_of(input))
		return NULL;
	stream = calloc(1, sizeof(*stream));
	source = calloc(1, sizeof(*source));
	capsule = stream && source ? PyCapsule_New(stream, "arrow_array_stream",
						   free_stream_capsule)
				   : PyErr_NoMemory();
	if (!capsule) {
		free(stream);
		free(source);
		return NULL;
	}
	Py_INCREF(batches);
	Py_INCREF(input);
	*source = (struct source){ .batches = batches, .input = input };
	*stream = (struct ArrowArrayStream){ get_schema, get_next, get_last_error, release_stream,
					     source };
	return capsule;
}

/* ---- reading a stream ---- */

/* Of a stream that is one of ours: raise what has ended it. Returns whether there is something. */
static int raise_again(struct ArrowArrayStream *stream)
{
	struct source *source = stream->private_data;

	if (stream->get_next != get_next || !source->type)
		return 0;
	PyErr_Restore(source->type, source->value, source->trace);
	source->type = source->value = source->trace = NULL;
	return 1;
}

static PyObject *fail(struct ArrowArrayStream *stream, int rc)
{
	const char *text;

	/* One of our own has the exception itself, and one that is made in Python may have it. */
	if (raise_again(stream) || PyErr_Occurred())
		return NULL;
	text = stream->get_last_error(stream);
	return py_refuse("the Arrow stream has failed: %.300s", text ? text : strerror(rc));
}

/* next_batch(capsule): a Batch, or None at the end. */
static PyObject *next_batch(PyObject *self, PyObject *capsule)
{
	struct ArrowArrayStream *stream = stream_of(capsule);
	struct ArrowSchema schema = { .release = NULL };
	struct ArrowArray array = { .release = NULL };
	int rc;

	(void)self;
	if (!stream)
		return NULL;
	/* The producer takes the GIL by itself if it needs it. */
	Py_BEGIN_ALLOW_THREADS
	rc = stream->get_schema(stream, &schema);
	if (!rc)
		rc = stream->get_next(stream, &array);
	Py_END_ALLOW_THREADS
	if (!rc && array.release)
		return new_batch(arrow_hold(&schema, &array));
	if (schema.release)
		schema.release(&schema);
	if (rc)
		return fail(stream, rc);
	Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
	{ "export_stream", export_stream, METH_VARARGS,
	  "export_stream(batches, like): an iterator of Batch, with the columns of a stream's "
	  "capsule or of a Batch, as a capsule for __arrow_c_stream__()." },
	{ "next_batch", next_batch, METH_O, NULL },
	{ "arrow_format", py_arrow_format, METH_O, NULL },
	{ "make_batch", make_batch, METH_VARARGS,
	  "make_batch(rows, ((name, format, nulls, (bitmap, buffer, ...)), ...)): a Batch." },
	{ NULL, NULL, 0, NULL },
};

int py_stream_add(PyObject *module)
{
	batch_type = (PyTypeObject *)PyType_FromSpec(&batch_spec);
	if (!batch_type || PyModule_AddObjectRef(module, "Batch", (PyObject *)batch_type))
		return -1;
	return PyModule_AddFunctions(module, functions);
}
