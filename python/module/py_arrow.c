/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "py_arrow.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct arrow_held {
	atomic_int uses;
	struct ArrowSchema schema;
	struct ArrowArray array;
};

struct arrow_held *arrow_hold(struct ArrowSchema *schema, struct ArrowArray *array)
{
	struct arrow_held *held = calloc(1, sizeof(*held));

	if (held) {
		atomic_init(&held->uses, 1);
		held->schema = *schema;
		held->array = *array;
	} else {
		schema->release(schema);
		array->release(array);
	}
	schema->release = NULL;
	array->release = NULL;
	return held;
}

struct arrow_held *arrow_keep(struct arrow_held *held)
{
	atomic_fetch_add(&held->uses, 1);
	return held;
}

void arrow_drop(struct arrow_held *held)
{
	if (!held || atomic_fetch_sub(&held->uses, 1) > 1)
		return;
	if (held->schema.release)
		held->schema.release(&held->schema);
	if (held->array.release)
		held->array.release(&held->array);
	free(held);
}

const struct ArrowSchema *arrow_schema(const struct arrow_held *held)
{
	return &held->schema;
}

const struct ArrowArray *arrow_array(const struct arrow_held *held)
{
	return &held->array;
}

/* ---- copies ---- */

static void release_schema(struct ArrowSchema *schema)
{
	for (int64_t i = 0; schema->children && i < schema->n_children; i++) {
		if (schema->children[i] && schema->children[i]->release)
			schema->children[i]->release(schema->children[i]);
		free(schema->children[i]);
	}
	if (schema->dictionary && schema->dictionary->release)
		schema->dictionary->release(schema->dictionary);
	free(schema->dictionary);
	free(schema->children);
	free((char *)schema->format);
	free((char *)schema->name);
	free((char *)schema->metadata);
	schema->release = NULL;
}

/* Pairs of lengths and bytes, in the byte order of the machine. */
static size_t metadata_size(const char *metadata)
{
	size_t size = 4;
	int32_t n, length;

	memcpy(&n, metadata, 4);
	for (int32_t i = 0; i < 2 * n; i++) {
		memcpy(&length, metadata + size, 4);
		size += 4 + (size_t)length;
	}
	return size;
}

int arrow_copy_schema(const struct ArrowSchema *from, struct ArrowSchema *to)
{
	int rc = 0;

	*to = (struct ArrowSchema){ .flags = from->flags, .n_children = from->n_children,
				    .release = release_schema };
	to->format = strdup(from->format);
	to->name = strdup(from->name ? from->name : "");
	if (from->metadata) {
		size_t size = metadata_size(from->metadata);

		to->metadata = malloc(size);
		if (to->metadata)
			memcpy((char *)to->metadata, from->metadata, size);
	}
	to->children = calloc((size_t)from->n_children + 1, sizeof(*to->children));
	rc = to->format && to->name && to->children && !from->metadata == !to->metadata ? 0 : -1;
	for (int64_t i = 0; !rc && i < from->n_children; i++) {
		to->children[i] = calloc(1, sizeof(*to));
		rc = to->children[i] ? arrow_copy_schema(from->children[i], to->children[i]) : -1;
	}
	if (!rc && from->dictionary) {
		to->dictionary = calloc(1, sizeof(*to));
		rc = to->dictionary ? arrow_copy_schema(from->dictionary, to->dictionary) : -1;
	}
	if (rc)
		release_schema(to);
	return rc;
}

void arrow_release_children(struct ArrowArray *array)
{
	for (int64_t i = 0; array->children && i < array->n_children; i++) {
		if (array->children[i] && array->children[i]->release)
			array->children[i]->release(array->children[i]);
		free(array->children[i]);
	}
	if (array->dictionary && array->dictionary->release)
		array->dictionary->release(array->dictionary);
	free(array->dictionary);
	free(array->children);
	array->release = NULL;
}

static void release_shared(struct ArrowArray *array)
{
	arrow_release_children(array);
	arrow_drop(array->private_data);
}

int arrow_share(struct arrow_held *held, const struct ArrowArray *from, struct ArrowArray *to)
{
	int rc;

	*to = *from;
	to->dictionary = NULL;
	to->release = release_shared;
	to->private_data = arrow_keep(held);
	to->children = calloc((size_t)from->n_children + 1, sizeof(*to->children));
	rc = to->children ? 0 : -1;
	for (int64_t i = 0; !rc && i < from->n_children; i++) {
		to->children[i] = calloc(1, sizeof(*to));
		rc = to->children[i] ? arrow_share(held, from->children[i], to->children[i]) : -1;
	}
	if (!rc && from->dictionary) {
		to->dictionary = calloc(1, sizeof(*to));
		rc = to->dictionary ? arrow_share(held, from->dictionary, to->dictionary) : -1;
	}
	if (rc)
		release_shared(to);
	return rc;
}

/* ---- capsules ---- */

ARROW_CAPSULE(free_schema_capsule, struct ArrowSchema, "arrow_schema")
ARROW_CAPSULE(free_array_capsule, struct ArrowArray, "arrow_array")

PyObject *arrow_capsules(struct arrow_held *held)
{
	struct ArrowSchema *schema = calloc(1, sizeof(*schema));
	struct ArrowArray *array = calloc(1, sizeof(*array));
	PyObject *a = NULL, *b = NULL, *both = NULL;

	if (!schema || !array || arrow_copy_schema(&held->schema, schema) ||
	    arrow_share(held, &held->array, array)) {
		if (schema && schema->release)
			schema->release(schema);
		free(schema);
		free(array);
		return PyErr_NoMemory();
	}
	a = PyCapsule_New(schema, "arrow_schema", free_schema_capsule);
	b = PyCapsule_New(array, "arrow_array", free_array_capsule);
	if (a && b)
		both = PyTuple_Pack(2, a, b);
	Py_XDECREF(a);
	Py_XDECREF(b);
	return both;
}

static struct arrow_held *hold_capsules(PyObject *both)
{
	struct ArrowSchema *schema;
	struct ArrowArray *array;
	struct arrow_held *held;

	if (!PyTuple_Check(both) || PyTuple_Size(both) != 2) {
		py_refuse("__arrow_c_array__() did not return two capsules");
		return NULL;
	}
	schema = PyCapsule_GetPointer(PyTuple_GetItem(both, 0), "arrow_schema");
	array = schema ? PyCapsule_GetPointer(PyTuple_GetItem(both, 1), "arrow_array") : NULL;
	if (!array)
		return NULL;
	if (!schema->release || !array->release) {
		py_refuse("an Arrow array that was used before");
		return NULL;
	}
	held = arrow_hold(schema, array);
	if (!held)
		PyErr_NoMemory();
	return held;
}

struct arrow_held *arrow_of_object(PyObject *object)
{
	PyObject *method = PyObject_GetAttrString(object, "__arrow_c_array__"), *both;
	struct arrow_held *held;

	if (!method) {
		PyErr_Clear();
		return NULL;
	}
	both = PyObject_CallNoArgs(method);
	Py_DECREF(method);
	held = both ? hold_capsules(both) : NULL;
	Py_XDECREF(both);
	return held;
}

PyObject *py_arrow_format(PyObject *self, PyObject *object)
{
	struct arrow_held *held;
	PyObject *format;

	(void)self;
	if (PyTuple_Check(object) && PyTuple_Size(object) == 0)
		Py_RETURN_NONE;
	held = arrow_of_object(PyTuple_Check(object) ? PyTuple_GetItem(object, 0) : object);
	if (!held && !PyErr_Occurred())
		PyErr_SetString(PyExc_TypeError, "no Arrow array");
	if (!held)
		return NULL;
	format = PyUnicode_FromString(held->schema.dictionary ? "dictionary" : held->schema.format);
	arrow_drop(held);
	return format;
}
