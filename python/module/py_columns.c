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

static int take_item(struct py_text *text, PyObject *item, size_t i)
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
		PyErr_Format(PyExc_TypeError, "item %zu is neither str nor bytes", i);
	}
	text->size = (size_t)size;
	return text->bytes ? 0 : -1;
}

static int from_sequence(struct py_texts *texts, PyObject *object)
{
	size_t n;

	if (PyUnicode_Check(object) || PyBytes_Check(object)) {
		PyErr_SetString(PyExc_TypeError, "one text where several are expected: put it into "
						 "a list");
		return -1;
	}
	texts->list = PySequence_List(object);
	if (!texts->list)
		return -1;
	n = (size_t)PyList_Size(texts->list);
	if (have_room(texts, n))
		return -1;
	for (size_t i = 0; i < n; i++)
		if (take_item(&texts->at[i], PyList_GetItem(texts->list, (Py_ssize_t)i), i))
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

static int from_array(struct py_texts *texts, const struct ArrowSchema *schema,
		      const struct ArrowArray *array)
{
	int64_t first = array->offset, n = array->length;
	const char *format = schema->format;
	int is_view = strcmp(format, "vu") == 0 || strcmp(format, "vz") == 0;
	int is_large = strcmp(format, "U") == 0 || strcmp(format, "Z") == 0;

	if (schema->dictionary ||
	    (!is_view && !is_large && strcmp(format, "u") != 0 && strcmp(format, "z") != 0)) {
		py_refuse("texts are expected, and the column has the Arrow type \"%.40s\"%s",
			  format, schema->dictionary ? " with a dictionary: cast it to strings"
						     : "");
		return -1;
	}
	if (have_room(texts, (size_t)n))
		return -1;
	for (int64_t i = 0; i < n; i++) {
		if (array->null_count && !arrow_is_set(array->buffers[0], first + i))
			continue;
		if (is_view)
			take_view(&texts->at[i], array, first + i);
		else
			take_string(&texts->at[i], array, is_large, first + i);
	}
	return 0;
}

int py_texts_from(struct py_texts *texts, PyObject *object)
{
	int rc = -1;

	memset(texts, 0, sizeof(*texts));
	if (object == Py_None)
		return 0;
	texts->held = arrow_of_object(object);
	if (texts->held)
		rc = from_array(texts, arrow_schema(texts->held), arrow_array(texts->held));
	else if (!PyErr_Occurred())
		rc = from_sequence(texts, object);
	if (rc)
		py_texts_free(texts);
	return rc;
}

void py_texts_free(struct py_texts *texts)
{
	free(texts->at);
	Py_XDECREF(texts->list);
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

static int numbers_of_array(struct py_numbers *numbers, size_t width, const char *what)
{
	const struct ArrowArray *array = arrow_array(numbers->held);
	const char *format = arrow_schema(numbers->held)->format;

	if (!format[0] || format[1] || !strchr(width == 8 ? "lL" : "iI", format[0]) ||
	    has_nulls(array)) {
		py_refuse("%s: an Arrow array of %zu-bit integers without nulls is expected, not "
			  "of type \"%.40s\"",
			  what, 8 * width, format);
		return -1;
	}
	numbers->at = (const char *)array->buffers[1] + (size_t)array->offset * width;
	numbers->n = (size_t)array->length;
	return 0;
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
	} else {
		numbers->held = arrow_of_object(object);
		if (numbers->held)
			rc = numbers_of_array(numbers, width, what);
		else if (!PyErr_Occurred())
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
	memset(numbers, 0, sizeof(*numbers));
}
