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
	const sx_query *whole; /* of the nearest: what is asked; NULL = a query that does not grow */
	sx_query growing;      /* the same with a smaller radius: then q points here */
	int is_found;          /* its rows are there */
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
	unsigned n_growing; /* of these, that ask for the nearest and have too few rows yet */
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

/** Ask a query, of which there are no rows yet. The nearest begin with a small radius. */
void sx_engine_rows_ask(sx_engine_query *query, const sx_query *asked);

/**
 * Plan the queries, and set the rows of each to those that its probes, or a walk over all documents,
 * find to be near: each once, in the order in which their documents are wanted. As long as there are
 * too few for some that ask for the nearest, these are asked again together, with a larger radius. If
 * comparing with everything is the cheapest, it is done once, with the whole radius.
 *
 * @param round_trips  raised by what that takes
 */
int sx_engine_rows_find(sx_engine_search *search, uint64_t *round_trips, simidx_error *err);

/**
 * Let a query that asks for the nearest be asked again with a larger radius.
 *
 * @return whether it has to be: not with the whole radius, nor after it was cut
 */
int sx_engine_rows_grow(sx_engine_query *query);

/** What a callback has ended a call with (search->rc), or else what the call has returned. */
int sx_engine_outcome(const sx_engine_search *search, int rc, simidx_error *err);

/** The engine that is searched. */
sx_engine *sx_engine_of_search(const sx_engine_search *search);

#endif /* SX_ENGINE_ROWS_H */
