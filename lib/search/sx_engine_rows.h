/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Rows of an engine that are near to queries, which are searched for together.
 */

#ifndef SX_ENGINE_ROWS_H
#define SX_ENGINE_ROWS_H

#include "search/sx_access.h"
#include "util/sx_arena.h"

#define SX_ENGINE_FILTERED 4096 /* rows that the kernel compares at once */

/** A row that is near. */
typedef struct sx_engine_row {
	uint64_t fp, id;
	unsigned distance;
} sx_engine_row;

/** The document of a row. */
typedef struct sx_engine_found {
	int is_there;
	uint64_t fp2;
	sx_slice label;
} sx_engine_found;

/** One query on its way. */
typedef struct sx_engine_query {
	const sx_query *q;
	sx_access *access;
	int rc;                /* why it cannot be answered, and */
	simidx_error err;
	int is_alone;          /* it is searched for by itself */
	int ended;             /* at max_candidates */
	uint64_t left;         /* candidates that it may still compare */
	sx_engine_row *row;       /* by fingerprint and id, then by distance and id */
	size_t n_rows, row_cap;
	sx_engine_found *document; /* of rows [from, to) */
	size_t document_cap, from, to;
	simidx_results results;
} sx_engine_query;

/** Searches of a reader, or of a thread of a batch, one after another. */
typedef struct sx_engine_search {
	simidx_reader *reader; /* for whom, in whose view */
	sx_view *view;
	sx_engine_query *query;
	size_t n, query_cap;
	sx_query *checked; /* of several queries: what query[].q points to, */
	sx_access *access; /* and query[].access */
	size_t prepared;   /* how many of them there is room for */
	simidx_engine_probe *probe;
	uint32_t *owner;   /* of each probe: a number of query[] */
	size_t n_probes, probe_cap, owner_cap;
	uint64_t *id;      /* that are asked for, and where they come from */
	struct sx_engine_origin {
		uint32_t query;
		uint32_t row; /* from query.from on */
	} *origin;
	size_t n_ids, id_cap, origin_cap;
	uint64_t walked_to; /* the next id of a walk */
	size_t n_walked;    /* documents of the last page */
	sx_arena labels;
	uint32_t near[SX_ENGINE_FILTERED];
	int rc;             /* what ended a call from within */
} sx_engine_search;

/** Queries that are asked together at most. */
#define SX_ENGINE_TOGETHER 100

/** NULL when memory is short. */
sx_engine_search *sx_engine_search_new(void);

/** NULL is allowed. */
void sx_engine_search_free(sx_engine_search *search);

/**
 * Plan the queries, and set the rows of each to those that its probes, or a walk over all documents,
 * find to be near: each once, in the order in which their documents are wanted.
 *
 * @param round_trips  raised by what that takes
 */
int sx_engine_rows_find(sx_engine_search *search, uint64_t *round_trips, simidx_error *err);

/** What a callback has ended a call with (search->rc), or else what the call has returned. */
int sx_engine_outcome(const sx_engine_search *search, int rc, simidx_error *err);

/** The engine that is searched. */
sx_engine *sx_engine_of_search(const sx_engine_search *search);

#endif /* SX_ENGINE_ROWS_H */
