/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * simidx.Index as the module has it. Any thread may use it: calls that use its reader or writer
 * take turns, and close() waits for all.
 */

#ifndef PY_INDEX_H
#define PY_INDEX_H

#include "py_columns.h"

#include <simidx_info.h>
#include <simidx_text.h>

struct py_index {
	PyObject_HEAD
	simidx *index;         /* NULL: it is closed */
	simidx_writer *writer; /* NULL until it is needed */
	simidx_text *text;     /* NULL: it holds bare fingerprints */
	simidx_info info;      /* what it was when it was opened */
	char *path;            /* of its directory, from the root; NULL: an engine has it */
	pid_t pid;             /* that has opened it */
	struct py_walk *walks; /* that are open */
	unsigned n_users;      /* of Dedup; with the GIL. It is not closed meanwhile */
	unsigned n_closers;    /* that wait in close(), with the GIL: nobody becomes a user */
	int has_locks;
	pthread_rwlock_t life; /* read by each call, written by close() */
	pthread_mutex_t turn;  /* of the writer */
	pthread_mutex_t lock;  /* of the extractor, while it is cloned, and of the list */
};

/** A call begins: without the GIL, and nobody closes the index meanwhile. -1 with an exception. */
int py_index_begin(struct py_index *self, struct py_call *call);

/** It ends. As py_end(). */
int py_index_end(struct py_index *self, struct py_call *call, int rc, const simidx_error *err);

/** Within a call: the writer, with a transaction. Without an error py_index_finish() is due. */
int py_index_writer(struct py_index *self, simidx_error *err);

/** Commit, or after an error roll back, and let others write. Returns rc, or what failed. */
int py_index_finish(struct py_index *self, int rc, simidx_error *err);

/** Id, fingerprint, label and time, None where they are not known. Needs the GIL. */
PyObject *py_describe(const simidx_match *match);

/** Close all walks, while nobody else uses the index. */
void py_walks_close(struct py_index *self);

/** The index behind an object that Python has given. NULL with an exception. */
struct py_index *py_index_of(PyObject *object);

/** Documents or queries: fingerprints, or texts of which fingerprints are made. */
struct py_rows {
	struct py_numbers fps, ids;
	struct py_texts texts, labels;
	struct py_numbers times;
	size_t n;
	simidx_sketch *sketch; /* of each text; NULL where fingerprints were given */
	int is_text;
};

/** Take rows from: fingerprints, texts, ids, labels, times; or None. -1 with an exception. */
int py_rows_from(struct py_rows *rows, struct py_index *self, PyObject *columns);
void py_rows_free(struct py_rows *rows);

/** Within a call: make the sketches of texts, with several threads. */
int py_rows_sketch(struct py_rows *rows, struct py_index *self, unsigned threads,
		   simidx_error *err);

/** The query of row i: near to it, or with `if_new` what keeps it from being new. */
int py_rows_query(const struct py_rows *rows, const struct py_index *self, size_t i, int if_new,
		  long radius, simidx_query *query, simidx_error *err);

/** fingerprints(texts, extractor or None, threads): bytes, in a tuple. */
PyObject *py_fingerprints(PyObject *self, PyObject *args);

PyObject *py_index_search(PyObject *self, PyObject *args);
PyObject *py_index_get(PyObject *self, PyObject *args);
PyObject *py_index_pairs(PyObject *self, PyObject *args);
PyObject *py_index_clusters(PyObject *self, PyObject *args);
PyObject *py_index_walk(PyObject *self, PyObject *args);
PyObject *py_index_walk_next(PyObject *self, PyObject *walk);
PyObject *py_index_put(PyObject *self, PyObject *args);
PyObject *py_index_put_if_new(PyObject *self, PyObject *args);
PyObject *py_index_load(PyObject *self, PyObject *args);
PyObject *py_index_delete(PyObject *self, PyObject *args);
PyObject *py_index_delete_older(PyObject *self, PyObject *args);

/** Add types and functions. Return 0, or -1 with an exception. */
int py_index_add(PyObject *module);
int py_dedup_add(PyObject *module);

#endif /* PY_INDEX_H */
