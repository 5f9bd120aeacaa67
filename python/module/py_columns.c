/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "py_columns.h"

#include <stdlib.h>
#include <string.h>

static int have_room(struct py_texts *texts, size_t n)
{
	texts->at = calloc(n + 1, sizeof(*texts->at));
	texts->n = n;
	if (!texts->at)
		PyErr_NoMemory();
	return texts->at ? 0 : -1;
}

static int take_item(struct py_text *text, PyObject *item, size_t i, const char *what)
{
	Py_ssize_t size = 0;
	char *bytes = NULL;

	if (item == Py_None)
		return 0;
	if (PyUnicode_Check(item)) {
		text->bytes = PyUnicode_AsUTF8AndSize(item, &size);
	} else if (PyBytes_Check(item)) {
		PyBytes_AsStringAndSize(item, &bytes, &size);
		text->bytes = bytes;
	} else {
		PyErr_Format(PyExc_TypeError, "%s: item %zu is neither str nor bytes", what, i);
	}
	text->size = (size_t)size;
	return text->bytes ? 0 : -1;
}

static int from_sequence(struct py_texts *texts, PyObject *object, const char *what)
{
	size_t n;

	if (PyUnicode_Check(object) || PyBytes_Check(object)) {
		PyErr_Format(PyExc_TypeError, "%s: one text where several are expected: put it "
					      "into a list", what);
		return -1;
	}
	texts->owner = PySequence_List(object);
	if (!texts->owner)
		return -1;
	n = (size_t)PyList_Size(texts->owner);
	if (have_room(texts, n))
		return -1;
	for (size_t i = 0; i < n; i++)
		if (take_item(&texts->at[i], PyList_GetItem(texts->owner, (Py_ssize_t)i), i, what))
			return -1;
	return 0;
}

/* A view: the length, and up to 12 bytes themselves, or 4 of them, a buffer and an offset. */
static void take_view(struct py_text *text, const struct ArrowArray *array, int64_t i)
{
	const char *view = (const char *)array->buffers[1] + 16 * i;
	int32_t size, buffer, offset;

	memcpy(&size, view, 4);
	memcpy(&buffer, view + 8, 4);
	memcpy(&offset, view + 12, 4);
	text->size = (size_t)size;
	text->bytes = size <= 12 ? view + 4 : (const char *)array->buffers[2 + buffer] + offset;
}

static void take_string(struct py_text *text, const struct ArrowArray *array, int is_large,
			int64_t i)
{
	int64_t first = is_large ? ((const int64_t *)array->buffers[1])[i]
				 : ((const int32_t *)array->buffers[1])[i];
	int64_t end = is_large ? ((const int64_t *)array->buffers[1])[i + 1]
			       : ((const int32_t *)array->buffers[1])[i + 1];

	text->size = (size_t)(end - first);
	text->bytes = text->size ? (const char *)array->buffers[2] + first : "";
}

/* At `to` is room for as many. */
static int from_array(struct py_text *to, const struct arrow_held *held, const char *what)
{
	const struct ArrowSchema *schema = arrow_schema(held);
	const struct ArrowArray *array = arrow_array(held);
	int64_t first = array->offset, n = array->length;
	const char *format = schema->format;
	int is_view = strcmp(format, "vu") == 0 || strcmp(format, "vz") == 0;
	int is_large = strcmp(format, "U") == 0 || strcmp(format, "Z") == 0;

	if (strcmp(format, "n") == 0) /* all are null */
		return 0;
	if (schema->dictionary ||
	    (!is_view && !is_large && strcmp(format, "u") != 0 && strcmp(format, "z") != 0)) {
		py_refuse("%s: strings are expected, and the Arrow type is \"%.40s\"%s: cast it",
			  what, format, schema->dictionary ? " with a dictionary" : "");
		return -1;
	}
	for (int64_t i = 0; i < n; i++) {
		if (array->null_count && !arrow_is_set(array->buffers[0], first + i))
			continue;
		if (is_view)
			take_view(&to[i], array, first + i);
		else
			take_string(&to[i], array, is_large, first + i);
	}
	return 0;
}

/* Chunks are of the class Batch: what their arrays hold lives as long as they do. */
static int is_chunks(PyObject *object)
{
	return PyTuple_Check(object) && (PyTuple_Size(object) == 0 ||
					  py_is_batch(PyTuple_GetItem(object, 0)));
}

static struct arrow_held *chunk(PyObject *chunks, Py_ssize_t i)
{
	PyObject *batch = PyTuple_GetItem(chunks, i);

	if (py_is_batch(batch))
		return arrow_of_object(batch);
	PyErr_SetString(PyExc_TypeError, "a chunk is no Batch");
	return NULL;
}

/* Rows of all chunks; -1 with an exception. */
static Py_ssize_t count(PyObject *chunks)
{
	Py_ssize_t all = 0;

	for (Py_ssize_t i = 0; i < PyTuple_Size(chunks); i++) {
		Py_ssize_t n = PyObject_Size(PyTuple_GetItem(chunks, i));

		if (n < 0)
			return -1;
		all += n;
	}
	return all;
}

static int from_chunks(struct py_texts *texts, PyObject *chunks, const char *what)
{
	Py_ssize_t all = count(chunks);
	size_t at = 0;
	int rc = all < 0 || have_room(texts, (size_t)all) ? -1 : 0;

	texts->owner = Py_NewRef(chunks);
	for (Py_ssize_t i = 0; !rc && i < PyTuple_Size(chunks); i++) {
		struct arrow_held *held = chunk(chunks, i);

		rc = held ? from_array(texts->at + at, held, what) : -1;
		at += held ? (size_t)arrow_array(held)->length : 0;
		arrow_drop(held);
	}
	return rc;
}

int py_texts_from(struct py_texts *texts, PyObject *object, const char *what)
{
	int rc = -1;

	memset(texts, 0, sizeof(*texts));
	if (object == Py_None)
		return 0;
	if (is_chunks(object)) {
		rc = from_chunks(texts, object, what);
	} else {
		texts->held = arrow_of_object(object);
		if (texts->held)
			rc = have_room(texts, (size_t)arrow_array(texts->held)->length) ||
			     from_array(texts->at, texts->held, what);
		else if (!PyErr_Occurred())
			rc = from_sequence(texts, object, what);
	}
	if (rc)
		py_texts_free(texts);
	return rc;
}

void py_texts_free(struct py_texts *texts)
{
	free(texts->at);
	Py_XDECREF(texts->owner);
	arrow_drop(texts->held);
	memset(texts, 0, sizeof(*texts));
}

/* ---- numbers ---- */

static int has_nulls(const struct ArrowArray *array)
{
	int64_t i = 0;

	if (array->null_count >= 0)
		return array->null_count > 0;
	while (i < array->length && arrow_is_set(array->buffers[0], array->offset + i))
		i++;
	return i < array->length;
}

/* Where the numbers of an array are. NULL with an exception. */
static const void *numbers_of(const struct arrow_held *held, size_t width, const char *what)
{
	const struct ArrowArray *array = arrow_array(held);
	const struct ArrowSchema *schema = arrow_schema(held);
	const char *format = schema->format;
	/* Of a dictionary these are numbers of its values, which nobody means. */
	int fits = format[0] && !format[1] && strchr(width == 8 ? "lL" : "iI", format[0]) &&
		   !schema->dictionary;

	if (fits && !has_nulls(array))
		return array->length ? (const char *)array->buffers[1] +
					       (size_t)array->offset * width
				     : "";
	py_refuse("%s: an Arrow array of %zu-bit integers without nulls is expected, not one of "
		  "type \"%.40s\"%s", what, 8 * width, format,
		  schema->dictionary ? " with a dictionary" : fits ? " with nulls" : "");
	return NULL;
}

static int numbers_of_chunks(struct py_numbers *numbers, PyObject *chunks, size_t width,
			     const char *what)
{
	Py_ssize_t all = count(chunks);
	int rc = all < 0 ? -1 : 0;

	numbers->copy = malloc(((size_t)(rc ? 0 : all) + 1) * width);
	if (!numbers->copy) {
		PyErr_NoMemory();
		return -1;
	}
	numbers->at = numbers->copy;
	for (Py_ssize_t i = 0; !rc && i < PyTuple_Size(chunks); i++) {
		struct arrow_held *held = chunk(chunks, i);
		const void *at = held ? numbers_of(held, width, what) : NULL;
		size_t n = held ? (size_t)arrow_array(held)->length : 0;

		rc = at ? 0 : -1;
		if (at)
			memcpy((char *)numbers->copy + numbers->n * width, at, n * width);
		numbers->n += n;
		arrow_drop(held);
	}
	return rc;
}

int py_numbers_from(struct py_numbers *numbers, PyObject *object, size_t width, const char *what)
{
	int rc = -1;

	memset(numbers, 0, sizeof(*numbers));
	if (object == Py_None)
		return 0;
	if (PyObject_CheckBuffer(object)) {
		rc = PyObject_GetBuffer(object, &numbers->view, PyBUF_SIMPLE);
		numbers->at = numbers->view.buf;
		numbers->n = rc ? 0 : (size_t)numbers->view.len / width;
	} else if (is_chunks(object)) {
		rc = numbers_of_chunks(numbers, object, width, what);
	} else {
		numbers->held = arrow_of_object(object);
		if (numbers->held) {
			numbers->at = numbers_of(numbers->held, width, what);
			numbers->n = (size_t)arrow_array(numbers->held)->length;
			rc = numbers->at ? 0 : -1;
		} else if (!PyErr_Occurred())
			PyErr_Format(PyExc_TypeError, "%s: neither a buffer nor an Arrow array",
				     what);
	}
	if (rc)
		py_numbers_free(numbers);
	return rc;
}

void py_numbers_free(struct py_numbers *numbers)
{
	if (numbers->view.obj)
		PyBuffer_Release(&numbers->view);
	arrow_drop(numbers->held);
	free(numbers->copy);
	memset(numbers, 0, sizeof(*numbers));
}
