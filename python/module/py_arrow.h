/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Arrow's C data interface: arrays and streams that other libraries give and take without a copy.
 * The structs are those of https://arrow.apache.org/docs/format/CDataInterface.html and
 * CStreamInterface.html; the functions, and their capsules, of CDataInterface/PyCapsuleInterface.
 *
 * A batch of rows is a struct array: a column is a child.
 */

#ifndef PY_ARROW_H
#define PY_ARROW_H

#include "py.h"

#define ARROW_FLAG_NULLABLE 2

struct ArrowSchema {
	const char *format, *name, *metadata;
	int64_t flags, n_children;
	struct ArrowSchema **children, *dictionary;
	void (*release)(struct ArrowSchema *);
	void *private_data;
};

struct ArrowArray {
	int64_t length, null_count, offset, n_buffers, n_children;
	const void **buffers;
	struct ArrowArray **children, *dictionary;
	void (*release)(struct ArrowArray *);
	void *private_data;
};

struct ArrowArrayStream {
	int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
	int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
	const char *(*get_last_error)(struct ArrowArrayStream *);
	void (*release)(struct ArrowArrayStream *);
	void *private_data;
};

/** A schema and an array that others may still use: freed with the last reference. */
struct arrow_held;

/** Take over what was given; both are then released. NULL when memory is short: they are freed. */
struct arrow_held *arrow_hold(struct ArrowSchema *schema, struct ArrowArray *array);

struct arrow_held *arrow_keep(struct arrow_held *held);
void arrow_drop(struct arrow_held *held); /**< NULL is allowed */

const struct ArrowSchema *arrow_schema(const struct arrow_held *held);
const struct ArrowArray *arrow_array(const struct arrow_held *held);

/** Copies for others, which share the buffers. Return 0, or -1 when memory is short. */
int arrow_copy_schema(const struct ArrowSchema *from, struct ArrowSchema *to);
int arrow_share(struct arrow_held *held, const struct ArrowArray *from, struct ArrowArray *to);

/** A function to free a capsule with a struct that was not taken out of it. */
#define ARROW_CAPSULE(function, type, name)                         \
	static void function(PyObject *capsule)                     \
	{                                                           \
		type *inner = PyCapsule_GetPointer(capsule, name);  \
                                                                    \
		if (inner && inner->release)                        \
			inner->release(inner);                      \
		free(inner);                                        \
	}

/** For release(): free the children and the dictionary. */
void arrow_release_children(struct ArrowArray *array);

/**
 * The rows of an array, copied.
 *
 * @param rows   numbers of rows of `from`, from 0
 * @param reason set if a type cannot be copied
 * @return 0, or -1
 */
int arrow_take(struct arrow_held *held, const struct ArrowSchema *schema,
	       const struct ArrowArray *from, const int64_t *rows, int64_t n,
	       struct ArrowArray *to, char reason[160]);

/**
 * What an object with __arrow_c_array__() gives. NULL with an exception; Py_None's NULL without
 * one: it has no such method.
 */
struct arrow_held *arrow_of_object(PyObject *object);

/** Capsules of a schema and an array, a tuple: what __arrow_c_array__() returns. */
PyObject *arrow_capsules(struct arrow_held *held);

/**
 * arrow_format(array or tuple of chunks): the format of its type, "dictionary", or None of no
 * chunks.
 */
PyObject *py_arrow_format(PyObject *self, PyObject *object);

/** Whether bit `i` of a bitmap is set; NULL = all are. */
static inline int arrow_is_set(const void *bitmap, int64_t i)
{
	return !bitmap || ((const uint8_t *)bitmap)[i / 8] >> (i % 8) & 1;
}

/** Whether it is a simidx.Batch. */
int py_is_batch(PyObject *object);

/** simidx.Batch, and functions of streams. Return 0, or -1 with an exception. */
int py_stream_add(PyObject *module);

#endif /* PY_ARROW_H */
