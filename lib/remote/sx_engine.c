/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "remote/sx_engine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "util/sx_alloc.h"
#include "util/sx_err.h"

#define MAX_ENGINES 16
#define MAX_SCHEME 31

/* ---- engines that are known ---- */

static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static const simidx_engine *registry[MAX_ENGINES];
static size_t n_registered;

size_t sx_engine_scheme(const char *path)
{
	size_t n = 0;

	if (!path || path[0] < 'a' || path[0] > 'z')
		return 0;
	while ((path[n] >= 'a' && path[n] <= 'z') || (path[n] >= '0' && path[n] <= '9') ||
	       path[n] == '-')
		n++;
	return strncmp(path + n, "://", 3) ? 0 : n;
}

static int has_all(const simidx_engine *e)
{
	return e->scheme && e->name && e->plans && e->plans[0] && e->open && e->close &&
	       e->info && e->scan && e->find_ids && e->find_labels && e->walk && e->begin &&
	       e->resume && e->write && e->reserve_ids && e->get_mark && e->check;
}

static int is_scheme(const char *scheme)
{
	char uri[MAX_SCHEME + 4];
	size_t n = strlen(scheme);

	if (n > MAX_SCHEME)
		return 0;
	memcpy(uri, scheme, n);
	memcpy(uri + n, "://", 4);
	return n && sx_engine_scheme(uri) == n;
}

static int add(const simidx_engine *engine, simidx_error *err)
{
	for (size_t i = 0; i < n_registered; i++) {
		if (registry[i] == engine)
			return SIMIDX_OK;
		if (!strcmp(registry[i]->scheme, engine->scheme))
			return sx_fail(err, SIMIDX_E_EXISTS,
				       "simidx_engine_add: %s:// has an engine", engine->scheme);
	}
	if (n_registered == MAX_ENGINES)
		return sx_fail(err, SIMIDX_E_RANGE, "simidx_engine_add: there are %d already",
			       MAX_ENGINES);
	registry[n_registered++] = engine;
	return SIMIDX_OK;
}

int simidx_engine_add(const simidx_engine *engine, simidx_error *err)
{
	int rc;

	sx_err_clear(err);
	if (!engine || engine->size < offsetof(simidx_engine, scheme))
		return sx_fail(err, SIMIDX_E_ARG,
			       "simidx_engine_add: no engine, or bad struct size");
	if (engine->version != SIMIDX_ENGINE_VERSION || engine->size < sizeof(*engine))
		return sx_fail(err, SIMIDX_E_VERSION,
			       "simidx_engine_add: the engine has version %u of the interface, "
			       "this library %d", engine->version, SIMIDX_ENGINE_VERSION);
	if (!has_all(engine) || !is_scheme(engine->scheme))
		return sx_fail(err, SIMIDX_E_ARG,
			       "simidx_engine_add: a function is missing, or a bad scheme");
	pthread_mutex_lock(&registry_lock);
	rc = add(engine, err);
	pthread_mutex_unlock(&registry_lock);
	return rc;
}

int sx_engine_find(const char *path, const simidx_engine **out, simidx_error *err)
{
	size_t n = sx_engine_scheme(path);

	*out = NULL;
	if (!n)
		return SIMIDX_OK;
	pthread_mutex_lock(&registry_lock);
	for (size_t i = 0; i < n_registered; i++)
		if (!strncmp(registry[i]->scheme, path, n) && !registry[i]->scheme[n])
			*out = registry[i];
	pthread_mutex_unlock(&registry_lock);
	if (*out)
		return SIMIDX_OK;
	return sx_fail(err, SIMIDX_E_UNSUPPORTED, "%.200s: this program has no engine for %.*s://",
		       path, n < MAX_SCHEME ? (int)n : MAX_SCHEME, path);
}

/* ---- errors ---- */

/* Codes that tell of a failure, whatever was called. Others would be taken for an answer. */
static int is_failure(int code)
{
	switch (code) {
	case SIMIDX_E_NOMEM:
	case SIMIDX_E_NOT_INDEX:
	case SIMIDX_E_VERSION:
	case SIMIDX_E_CORRUPT:
	case SIMIDX_E_IO:
	case SIMIDX_E_NO_SPACE:
	case SIMIDX_E_PERMISSION:
	case SIMIDX_E_RANGE:
	case SIMIDX_E_READ_ONLY:
	case SIMIDX_E_BUSY:
	case SIMIDX_E_MOVED:
	case SIMIDX_E_FORK:
	case SIMIDX_E_UNSUPPORTED:
		return 1;
	default:
		return 0;
	}
}

/*
 * What a call has returned: a failure, or one of two codes that it may return besides, with a text.
 */
static int check_code(const sx_engine *engine, int rc, int also, int or, const char *what,
		    simidx_error *err)
{
	if (!rc)
		return SIMIDX_OK;
	if (!is_failure(rc) && rc != also && rc != or) {
		char text[sizeof(err->text)] = "";

		/* Its own text says more than a code that has no meaning here. */
		if (err)
			snprintf(text, sizeof(text), "%.200s", err->text);
		sx_err_clear(err);
		return sx_fail(err, SIMIDX_E_IO, "%s: %s: it returned %d, %s%s%s", engine->uri,
			       what, rc, simidx_strerror(rc), text[0] ? ": " : "", text);
	}
	if (err && !err->text[0])
		err->code = SIMIDX_OK;
	sx_fail(err, rc, "%s: %s: %s", engine->uri, what, simidx_strerror(rc));
	if (err)
		err->code = rc;
	return rc;
}

/* The code of a call that reads: what is none of these is SIMIDX_E_IO. */
static int check_answer(const sx_engine *engine, int rc, const char *what, simidx_error *err)
{
	return check_code(engine, rc, SIMIDX_E_IO, SIMIDX_E_IO, what, err);
}

/* ---- opening ---- */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* A cost that is no number, or negative, would spoil every choice. */
static double nanoseconds(double microseconds, double otherwise)
{
	return (microseconds > 0 && microseconds < 1e12 ? microseconds : otherwise) * 1000;
}

/* A search takes two round trips: one for its probes, one for its documents. */
static void set_costs(sx_engine *engine)
{
	const simidx_engine_info *info = &engine->info;

	engine->costs.query = 2 * nanoseconds(info->round_trip, 500);
	engine->costs.probe = nanoseconds(info->probe, 50);
	engine->costs.candidate = nanoseconds(info->row, 1);
	engine->costs.scanned = nanoseconds(info->scan_row, 2);
	engine->costs.table = 0;
	engine->costs.whole_prefixes = 1;
	engine->capabilities = info->capabilities;
	if (!engine->calls->lease || !engine->calls->release)
		engine->capabilities &= ~SIMIDX_ENGINE_LEASES;
	if (engine->capabilities & SIMIDX_ENGINE_CONDITIONS)
		engine->capabilities &= ~SIMIDX_ENGINE_LEASES;
	engine->text_probes = info->text_probes;
}

static sx_engine *make(const simidx_engine *calls, const char *uri)
{
	sx_engine *engine = sx_calloc(1, sizeof(*engine));
	pthread_condattr_t attr;

	if (!engine)
		return NULL;
	engine->calls = calls;
	engine->pid = getpid();
	engine->uri = strdup(uri);
	if (!engine->uri || pthread_mutex_init(&engine->lock, NULL)) {
		free(engine->uri);
		free(engine);
		return NULL;
	}
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&engine->freed, &attr);
	pthread_condattr_destroy(&attr);
	return engine;
}

static void free_handle(sx_engine *engine)
{
	pthread_cond_destroy(&engine->freed);
	pthread_mutex_destroy(&engine->lock);
	free(engine->uri);
	free(engine);
}

int sx_engine_open(const simidx_engine *calls, const char *uri, simidx_engine_open *how,
		   sx_engine **out, simidx_error *err)
{
	sx_engine *engine = make(calls, uri);
	simidx_engine_info info;
	int rc;

	*out = NULL;
	if (!engine)
		return sx_fail_nomem(err);
	how->size = sizeof(*how);
	rc = calls->open(uri, how, &engine->state, err);
	rc = check_code(engine, rc, SIMIDX_E_ARG,
		      rc == SIMIDX_E_EXISTS ? SIMIDX_E_EXISTS : SIMIDX_E_NOT_FOUND, "open", err);
	if (rc) {
		free_handle(engine);
		return rc;
	}
	rc = sx_engine_info(engine, 0, &info, err);
	if (rc) {
		sx_engine_close(engine);
		return rc;
	}
	set_costs(engine);
	*out = engine;
	return SIMIDX_OK;
}

void sx_engine_close(sx_engine *engine)
{
	if (!engine)
		return;
	engine->calls->close(engine->state);
	free_handle(engine);
}

int sx_engine_check_fork(const sx_engine *engine, simidx_error *err)
{
	if (engine->pid == getpid())
		return SIMIDX_OK;
	return sx_fail(err, SIMIDX_E_FORK, "%s: opened before fork()", engine->uri);
}

/* ---- what it says of itself ---- */

int sx_engine_info(sx_engine *engine, double max_age, simidx_engine_info *out, simidx_error *err)
{
	simidx_engine_info info = { .size = sizeof(info) };
	double time = now();
	int is_known, rc = sx_engine_check_fork(engine, err);

	if (rc)
		return rc;
	pthread_mutex_lock(&engine->lock);
	is_known = engine->info_time > 0 && time - engine->info_time < max_age;
	*out = engine->info;
	pthread_mutex_unlock(&engine->lock);
	if (is_known)
		return SIMIDX_OK;
	rc = check_answer(engine, engine->calls->info(engine->state, &info, err), "info", err);
	if (rc)
		return rc;
	if (info.next_id > SIMIDX_MAX_ID + 1)
		return sx_fail(err, SIMIDX_E_CORRUPT, "%s: the next id is above the largest one",
			       engine->uri);
	pthread_mutex_lock(&engine->lock);
	engine->info = info;
	engine->info_time = time;
	pthread_mutex_unlock(&engine->lock);
	*out = info;
	return SIMIDX_OK;
}

void sx_engine_invalidate_info(sx_engine *engine)
{
	pthread_mutex_lock(&engine->lock);
	engine->info_time = 0;
	pthread_mutex_unlock(&engine->lock);
}

/* ---- one writer at a time ---- */

int sx_engine_lock(sx_engine *engine, int wait_ms, simidx_error *err)
{
	struct timespec until;
	int waited = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += wait_ms / 1000;
	until.tv_nsec += (long)(wait_ms % 1000) * 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	pthread_mutex_lock(&engine->lock);
	while (engine->is_written && waited != ETIMEDOUT)
		waited = wait_ms < 0
				 ? pthread_cond_wait(&engine->freed, &engine->lock)
				 : pthread_cond_timedwait(&engine->freed, &engine->lock, &until);
	if (engine->is_written) {
		pthread_mutex_unlock(&engine->lock);
		return sx_fail(err, SIMIDX_E_BUSY,
			       "%s: a writer of this handle is at work, or a check", engine->uri);
	}
	engine->is_written = 1;
	pthread_mutex_unlock(&engine->lock);
	return SIMIDX_OK;
}

void sx_engine_unlock(sx_engine *engine)
{
	pthread_mutex_lock(&engine->lock);
	engine->is_written = 0;
	pthread_cond_signal(&engine->freed);
	pthread_mutex_unlock(&engine->lock);
}

/* ---- calls ---- */

static void add_cost(const simidx_engine_cost *cost, uint64_t *round_trips)
{
	if (round_trips)
		*round_trips += cost->round_trips;
}

int sx_engine_scan(sx_engine *e, sx_engine_probes probes, simidx_engine_rows rows, void *ctx,
		   uint64_t *round_trips, simidx_error *err)
{
	simidx_engine_cost cost = { 0 };
	int rc = e->calls->scan(e->state, probes.at, probes.n, rows, ctx, probes.version, &cost,
				err);

	add_cost(&cost, round_trips);
	return check_answer(e, rc, "scan", err);
}

int sx_engine_find_ids(sx_engine *e, const uint64_t *id, size_t n, simidx_engine_document document,
		       void *ctx, uint64_t *round_trips, simidx_error *err)
{
	simidx_engine_cost cost = { 0 };
	int rc = e->calls->find_ids(e->state, id, n, document, ctx, &cost, err);

	add_cost(&cost, round_trips);
	return check_answer(e, rc, "find ids", err);
}

int sx_engine_find_labels(sx_engine *e, const simidx_engine_bytes *label, size_t n,
			  simidx_engine_document document, void *ctx, simidx_error *err)
{
	simidx_engine_cost cost = { 0 };

	return check_answer(e, e->calls->find_labels(e->state, label, n, document, ctx, &cost, err),
		     "find labels", err);
}

int sx_engine_walk_page(sx_engine *e, uint64_t from_id, size_t n,
			simidx_engine_document document, void *ctx, uint64_t *version,
			simidx_error *err)
{
	return check_answer(e, e->calls->walk(e->state, from_id, n, document, ctx, version, err),
			    "walk", err);
}

int sx_engine_older(sx_engine *e, uint32_t time, size_t n, uint64_t *id, size_t *found,
		    simidx_error *err)
{
	int rc;

	*found = 0;
	rc = check_answer(e, e->calls->older(e->state, time, n, id, found, err),
			  "find old documents", err);
	for (size_t i = 0; !rc && i < *found && *found <= n; i++)
		if (id[i] > SIMIDX_MAX_ID)
			*found = n + 1;
	return rc || *found <= n ? rc :
				   sx_fail(err, SIMIDX_E_IO, "%s: it sent something else than it "
					   "was asked for", e->uri);
}

int sx_engine_is_unfinished(sx_engine *e)
{
	int is_unfinished;

	pthread_mutex_lock(&e->lock);
	is_unfinished = e->is_unfinished;
	pthread_mutex_unlock(&e->lock);
	return is_unfinished;
}

static void set_unfinished(sx_engine *e, int is_unfinished)
{
	pthread_mutex_lock(&e->lock);
	e->is_unfinished = is_unfinished;
	pthread_mutex_unlock(&e->lock);
}

int sx_engine_begin(sx_engine *e, int resumes, simidx_error *err)
{
	int rc;

	if (e->is_ready && !resumes && !sx_engine_is_unfinished(e))
		return SIMIDX_OK;
	rc = check_answer(e, (resumes ? e->calls->resume : e->calls->begin)(e->state, err),
		   resumes ? "resume" : "begin", err);
	if (rc)
		return rc;
	set_unfinished(e, 0);
	e->is_ready = 1;
	return SIMIDX_OK;
}

int sx_engine_write(sx_engine *e, simidx_engine_batch *batch, simidx_error *err)
{
	int rc;

	batch->size = sizeof(*batch);
	rc = check_code(e, e->calls->write(e->state, batch, err), SIMIDX_E_UNKNOWN, SIMIDX_E_STATE,
		      "write", err);
	if (!rc || rc == SIMIDX_E_UNKNOWN)
		set_unfinished(e, rc != SIMIDX_OK);
	return rc;
}

int sx_engine_reserve_ids(sx_engine *e, uint64_t n, uint64_t at_least, uint64_t *first,
			  simidx_error *err)
{
	int rc = check_code(e, e->calls->reserve_ids(e->state, n, at_least, first, err),
			  SIMIDX_E_RANGE, SIMIDX_E_RANGE, "reserve ids", err);

	if (!rc && (*first < at_least || *first > SIMIDX_MAX_ID + 1 ||
		    n > SIMIDX_MAX_ID + 1 - *first))
		return sx_fail(err, SIMIDX_E_RANGE, "%s: there is no id above the largest one",
			       e->uri);
	return rc;
}

int sx_engine_get_mark(sx_engine *e, void **data, size_t *size, simidx_error *err)
{
	*data = NULL;
	*size = 0;
	return check_answer(e, e->calls->get_mark(e->state, data, size, err), "get mark", err);
}

int sx_engine_check(sx_engine *e, simidx_engine_check *check, simidx_error *err)
{
	check->size = sizeof(*check);
	return check_code(e, e->calls->check(e->state, check, err), SIMIDX_E_UNKNOWN,
			  SIMIDX_E_UNKNOWN, "check", err);
}

int sx_engine_lease(sx_engine *e, const simidx_engine_probe *prefix, size_t n, int wait_ms,
		    simidx_error *err)
{
	return check_code(e, e->calls->lease(e->state, prefix, n, wait_ms, err), SIMIDX_E_STATE,
			  SIMIDX_E_STATE, "lease", err);
}

int sx_engine_release(sx_engine *e, simidx_error *err)
{
	return check_code(e, e->calls->release(e->state, err), SIMIDX_E_STATE, SIMIDX_E_STATE,
			  "release", err);
}
