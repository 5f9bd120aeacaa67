/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Engines that hold the tables of an index elsewhere (simidx_engine.h): those that this process
 * knows, and the open state of one. Its calls go through here, where an error gets a text and a
 * code that is known, whatever an engine returns.
 */

#ifndef SX_ENGINE_H
#define SX_ENGINE_H

#include <pthread.h>
#include <sys/types.h>

#include <simidx_engine.h>

#include "plan/sx_costs.h"

/** An open engine. */
typedef struct sx_engine {
	const simidx_engine *calls;
	void *state;
	char *uri;
	pid_t pid;             /* of the process that has opened it */
	sx_costs costs;        /* for the planner */
	unsigned capabilities; /* SIMIDX_ENGINE_ bits */
	unsigned text_probes;  /* of a query of a text; 0 = as many as of a local index */
	pthread_mutex_t lock;  /* of what follows */
	pthread_cond_t freed;
	int is_written;        /* a writer of this handle has a transaction */
	int is_ready;          /* begin() or resume() has been called, as the first one; only the
				  writer that has the transaction looks at it */
	/* a batch is, of which the last write has not said that it is stored */
	int is_unfinished;
	simidx_engine_info info;
	double info_time;      /* when it was read, in seconds; 0 = it is old */
} sx_engine;

/** Bytes before "://" of a URI; 0: it is a path. */
size_t sx_engine_scheme(const char *path);

/**
 * The engine of a URI.
 *
 * @return SIMIDX_OK, and NULL for a path; SIMIDX_E_UNSUPPORTED: no engine has the scheme
 */
int sx_engine_find(const char *path, const simidx_engine **out, simidx_error *err);

/** Open a URI; `how` has its size set here. */
int sx_engine_open(const simidx_engine *calls, const char *uri, simidx_engine_open *how,
		   sx_engine **out, simidx_error *err);

/** NULL is allowed. */
void sx_engine_close(sx_engine *engine);

/** SIMIDX_E_FORK in a child of the process that has opened it. */
int sx_engine_check_fork(const sx_engine *engine, simidx_error *err);

/** What it says of itself, as it was `max_age` seconds ago or later; 0 = asked now. */
int sx_engine_info(sx_engine *engine, double max_age, simidx_engine_info *out, simidx_error *err);

/** What was read is old from now on. */
void sx_engine_invalidate_info(sx_engine *engine);

/**
 * Let one writer of the handle have a transaction at a time, or one check be made.
 *
 * @param wait_ms  longest wait in milliseconds, -1 = without end
 * @return SIMIDX_OK; SIMIDX_E_BUSY
 */
int sx_engine_lock(sx_engine *engine, int wait_ms, simidx_error *err);

void sx_engine_unlock(sx_engine *engine);

/* ------------------------------------------------------------------------------------------
 * The calls of simidx_engine.h. `round_trips` is raised by what one took; it may be NULL.
 */

/** Prefixes to scan, and where their versions go; NULL: these are not wanted. */
typedef struct sx_engine_probes {
	const simidx_engine_probe *at;
	size_t n;
	uint64_t *version;
} sx_engine_probes;

int sx_engine_scan(sx_engine *engine, sx_engine_probes probes, simidx_engine_rows rows, void *ctx,
		   uint64_t *round_trips, simidx_error *err);

int sx_engine_find_ids(sx_engine *engine, const uint64_t *id, size_t n,
		       simidx_engine_document document, void *ctx, uint64_t *round_trips,
		       simidx_error *err);

int sx_engine_find_labels(sx_engine *engine, const simidx_engine_bytes *label, size_t n,
			  simidx_engine_document document, void *ctx, simidx_error *err);

int sx_engine_walk_page(sx_engine *engine, uint64_t from_id, size_t n,
			simidx_engine_document document, void *ctx, uint64_t *version,
			simidx_error *err);

/** Only where the engine has it. More than n ids, or others than there can be: SIMIDX_E_IO. */
int sx_engine_older(sx_engine *engine, uint32_t time, size_t n, uint64_t *id, size_t *found,
		    simidx_error *err);

/**
 * begin() or resume(), before the first transaction of the handle, and after a write that has
 * returned SIMIDX_E_UNKNOWN: have stored what is going to be stored, so that look-ups find it.
 * `resumes`: in any case, and shut out other writers that set marks.
 */
int sx_engine_begin(sx_engine *engine, int resumes, simidx_error *err);

/** Whether sx_engine_begin() has something to finish of this handle. Any thread. */
int sx_engine_is_unfinished(sx_engine *engine);

int sx_engine_write(sx_engine *engine, simidx_engine_batch *batch, simidx_error *err);

int sx_engine_reserve_ids(sx_engine *engine, uint64_t n, uint64_t at_least, uint64_t *first,
			  simidx_error *err);

int sx_engine_get_mark(sx_engine *engine, void **data, size_t *size, simidx_error *err);

int sx_engine_check(sx_engine *engine, simidx_engine_check *check, simidx_error *err);

int sx_engine_lease(sx_engine *engine, const simidx_engine_probe *prefix, size_t n, int wait_ms,
		    simidx_error *err);

int sx_engine_release(sx_engine *engine, simidx_error *err);

#endif /* SX_ENGINE_H */
