/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Looking up documents: calls of simidx_engine.h, and the walk that they share.
 */

#ifndef RD_READ_H
#define RD_READ_H

#include "rd_index.h"

/** An answer that no index has: SIMIDX_E_CORRUPT. */
int rd_damaged(const struct rd_index *x, simidx_error *err, const char *what);

/* What a callback has ended a call with; beside SIMIDX_OK and errors. */
#define RD_ENDED 1

/** rd_read() of n commands, none of which may fail. */
int rd_read_all(struct rd_index *x, size_t n,
		int (*add)(void *ctx, struct rd_link *link, size_t i, simidx_error *err),
		int (*take)(void *ctx, size_t i, const redisReply *reply, simidx_error *err),
		void *ctx, simidx_error *err);

int rd_find_ids(void *state, const uint64_t *id, size_t n, simidx_engine_document document,
		void *ctx, simidx_engine_cost *cost, simidx_error *err);
int rd_find_labels(void *state, const simidx_engine_bytes *label, size_t n,
		   simidx_engine_document document, void *ctx, simidx_engine_cost *cost,
		   simidx_error *err);
int rd_walk(void *state, uint64_t from_id, size_t n, simidx_engine_document document, void *ctx,
	    uint64_t *version, simidx_error *err);
int rd_older(void *state, uint32_t time, size_t n, uint64_t *id, size_t *found, simidx_error *err);

int rd_get_mark(void *state, void **data, size_t *size, simidx_error *err);

/** Hears of a record, which may be damaged; another value than SIMIDX_OK ends the walk. */
typedef int (*rd_record_fn)(void *ctx, uint64_t id, const char *data, size_t size,
			    simidx_error *err);

/**
 * The first n records from id *from on, as walk() of an engine. *from: where the next page begins;
 * SIMIDX_NO_ID after the last one.
 */
int rd_walk_records(struct rd_index *x, uint64_t *from, size_t n, rd_record_fn record, void *ctx,
		    uint64_t *version, simidx_error *err);

#endif /* RD_READ_H */
