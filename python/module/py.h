/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What all parts of the Python module share: errors, and long calls.
 *
 * A call that may take long runs without the GIL, between py_begin() and py_end(). Its stop() is
 * py_stop(), which looks for Ctrl-C now and then, in the thread that has called only. The library
 * asks it in all that has no stop() of its own, too.
 */

#ifndef PY_H
#define PY_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000 /* Python 3.11: from there on buffers are in it */
#include <Python.h>

#include <pthread.h>
#include <stdint.h>
#include <time.h>

#include <simidx.h>

/** Add the codes and set_errors() to the module. Returns 0, or -1 with an exception. */
int py_errors_add(PyObject *module);

/** Raise what an error says: a class for each kind, with the library's message. Returns NULL. */
PyObject *py_raise(const simidx_error *err);

/** Raise simidx.ArgumentError with a text. Returns NULL. */
PyObject *py_refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** A call without the GIL. */
struct py_call {
	PyThreadState *state;
	struct py_call *outer; /* that a signal handler has interrupted */
	int64_t looked;  /* when it was last looked for signals, in ms */
	int has_raised;  /* a signal handler has raised an exception */
};

/** Give the GIL back. */
void py_begin(struct py_call *call);

/** Take the GIL for some lines, and give it back. py_stop() says no meanwhile. */
void py_pause(struct py_call *call);
void py_resume(struct py_call *call);

/** Whether a signal handler has called that has interrupted another call of this thread. */
int py_has_interrupted(void);

/** For stop(): whether Ctrl-C was pressed. Any thread may ask; `ctx` does not matter. */
int py_stop(void *ctx);

/** For waits: a time after which py_stop() is to be asked. Returns `at`. */
const struct timespec *py_soon(struct timespec *at);

/** Take the GIL again. Returns 0 if rc is 0; otherwise -1 with an exception. */
int py_end(struct py_call *call, int rc, const simidx_error *err);

/**
 * Do something for `n` items, some at a time, by several threads.
 *
 * @param threads  0 = one a core
 * @param work     returns 0 or a code with an error; `thread` is below the number of threads
 * @return 0, or the code of one that has failed
 */
int py_parallel(size_t n, unsigned threads,
		int (*work)(void *ctx, unsigned thread, size_t from, size_t to, simidx_error *err),
		void *ctx, simidx_error *err);

/** How many threads py_parallel() uses for so many items. */
unsigned py_threads(size_t n, unsigned threads);

/** A tuple of `n` new bytes of some sizes, to be filled at at[i]. NULL with an exception. */
PyObject *py_new_columns(const size_t *sizes, size_t n, void **at);

#endif /* PY_H */
