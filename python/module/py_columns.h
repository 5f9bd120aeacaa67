/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Columns that Python gives: texts, labels and numbers, from buffers, Arrow arrays, chunks of these
 * (a tuple of Batch), and for texts also from sequences of str and bytes. Nothing is copied but
 * pointers, and numbers in chunks.
 */

#ifndef PY_COLUMNS_H
#define PY_COLUMNS_H

#include "py_arrow.h"

/** A text. */
struct py_text {
	const char *bytes; /* NULL = there is none */
	size_t size;
};

/** Texts; all zero = none were given. */
struct py_texts {
	struct py_text *at;
	size_t n;
	PyObject *owner;         /* whose bytes they are: a list, or chunks; NULL: an array's */
	struct arrow_held *held; /* that array */
};

/**
 * Take texts from a sequence, an Arrow array, or a tuple of these: chunks. None gives none.
 *
 * @param what  for errors
 * @return 0, or -1 with an exception
 */
int py_texts_from(struct py_texts *texts, PyObject *object, const char *what);

void py_texts_free(struct py_texts *texts);

/** Numbers; all zero = none were given. */
struct py_numbers {
	const void *at;
	size_t n;
	Py_buffer view;
	struct arrow_held *held;
	void *copy; /* of chunks */
};

/**
 * Take numbers of 4 or 8 bytes from a buffer of bytes, an Arrow array without nulls, or a tuple of
 * such arrays. None gives none.
 *
 * @param what  for errors
 */
int py_numbers_from(struct py_numbers *numbers, PyObject *object, size_t width, const char *what);

void py_numbers_free(struct py_numbers *numbers);

#endif /* PY_COLUMNS_H */
