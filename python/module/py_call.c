/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "py.h"

#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include <simidx_check.h>

/* Milliseconds to the first look for signals, and between two of them. */
#define FIRST_MS 10
#define LOOK_MS 50

#define MOST_THREADS 256
#define ITEMS_AT_ONCE 64

/* The call that this thread is in. */
static _Thread_local struct py_call *current;

/* Calls that signal handlers interrupt now. */
static _Thread_local unsigned interrupted;

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now); /* asked once a query, so it is the fast one */
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void py_begin(struct py_call *call)
{
	call->outer = current;
	call->looked = now_ms() - LOOK_MS + FIRST_MS;
	call->has_raised = 0;
	simidx_set_stop(py_stop, NULL);
	py_resume(call);
}

void py_pause(struct py_call *call)
{
	PyEval_RestoreThread(call->state);
	current = call->outer;
}

void py_resume(struct py_call *call)
{
	current = call;
	call->state = PyEval_SaveThread();
}

int py_stop(void *ctx)
{
	struct py_call *call = current;
	int64_t now;

	(void)ctx;
	if (!call)
		return 0;
	now = now_ms();
	if (call->has_raised || now - call->looked < LOOK_MS)
		return call->has_raised;
	call->looked = now;
	py_pause(call);
	interrupted++;
	call->has_raised = PyErr_CheckSignals() != 0;
	interrupted--;
	py_resume(call);
	return call->has_raised;
}

int py_has_interrupted(void)
{
	return interrupted > 0;
}

const struct timespec *py_soon(struct timespec *at)
{
	clock_gettime(CLOCK_REALTIME, at); /* as locks have it */
	at->tv_nsec += LOOK_MS * 1000000;
	at->tv_sec += at->tv_nsec / 1000000000;
	at->tv_nsec %= 1000000000;
	return at;
}

int py_end(struct py_call *call, int rc, const simidx_error *err)
{
	py_pause(call);
	if (call->has_raised) /* its exception is set */
		return -1;
	if (rc)
		py_raise(err);
	return rc ? -1 : 0;
}

struct job {
	size_t n;
	int (*work)(void *ctx, unsigned thread, size_t from, size_t to, simidx_error *err);
	void *ctx;
	atomic_size_t next;
	atomic_int rc;
	pthread_mutex_t lock; /* of err */
	simidx_error *err;
};

struct worker {
	struct job *job;
	unsigned number;
	pthread_t thread;
};

static void fail(struct job *job, int rc, const simidx_error *err)
{
	pthread_mutex_lock(&job->lock);
	if (!atomic_load(&job->rc)) {
		*job->err = *err;
		atomic_store(&job->rc, rc);
	}
	pthread_mutex_unlock(&job->lock);
}

static void *run(void *ctx)
{
	struct worker *worker = ctx;
	struct job *job = worker->job;
	simidx_error err = { 0 };

	while (!atomic_load(&job->rc)) {
		size_t from = atomic_fetch_add(&job->next, ITEMS_AT_ONCE);
		size_t to = from + ITEMS_AT_ONCE < job->n ? from + ITEMS_AT_ONCE : job->n;
		int rc;

		if (from >= job->n)
			break;
		rc = job->work(job->ctx, worker->number, from, to, &err);
		if (!rc && py_stop(NULL)) {
			rc = err.code = SIMIDX_E_STOPPED;
			strcpy(err.text, "stopped");
		}
		if (rc)
			fail(job, rc, &err);
	}
	return NULL;
}

unsigned py_threads(size_t n, unsigned threads)
{
	long cores = threads ? (long)threads : sysconf(_SC_NPROCESSORS_ONLN);
	size_t most = (n + ITEMS_AT_ONCE - 1) / ITEMS_AT_ONCE;

	threads = cores < 1 ? 1 : cores > MOST_THREADS ? MOST_THREADS : (unsigned)cores;
	return threads < most ? threads : most ? (unsigned)most : 1;
}

int py_parallel(size_t n, unsigned threads,
		int (*work)(void *ctx, unsigned thread, size_t from, size_t to, simidx_error *err),
		void *ctx, simidx_error *err)
{
	struct job job = { .n = n, .work = work, .ctx = ctx, .lock = PTHREAD_MUTEX_INITIALIZER,
			   .err = err };
	struct worker worker[MOST_THREADS];
	unsigned started = 1;

	threads = py_threads(n, threads);
	for (unsigned i = 0; i < threads; i++)
		worker[i] = (struct worker){ .job = &job, .number = i };
	/* One that cannot be started leaves the work to the others. */
	while (started < threads &&
	       !pthread_create(&worker[started].thread, NULL, run, &worker[started]))
		started++;
	run(&worker[0]);
	while (started-- > 1)
		pthread_join(worker[started].thread, NULL);
	pthread_mutex_destroy(&job.lock);
	return atomic_load(&job.rc);
}

PyObject *py_new_columns(const size_t *sizes, size_t n, void **at)
{
	PyObject *columns = PyTuple_New((Py_ssize_t)n);

	for (size_t i = 0; columns && i < n; i++) {
		PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)sizes[i]);

		at[i] = bytes ? PyBytes_AsString(bytes) : NULL;
		if (!bytes || PyTuple_SetItem(columns, (Py_ssize_t)i, bytes))
			Py_CLEAR(columns);
	}
	return columns;
}
