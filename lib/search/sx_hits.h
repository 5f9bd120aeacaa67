/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The hits of a query: the distinct fingerprints that it accepts, of the tables and of the fresh
 * rows.
 */

#ifndef SX_HITS_H
#define SX_HITS_H

#include "search/sx_access.h"
#include "util/sx_arena.h"

typedef struct sx_hit {
	uint64_t fp;
	unsigned distance;
	int in_tables;
	uint32_t docs, n_docs; /* its documents that were read beforehand, by a batch; else
	                          n_docs is SX_NOT_READ */
} sx_hit;

#define SX_NOT_READ UINT32_MAX

/** The row of a document in a table, where probes deliver documents and not fingerprints alone. */
typedef struct sx_row {
	uint64_t fp, id;
	unsigned distance;
} sx_row;

/** What else such a document has. */
typedef struct sx_row_document {
	int is_there;
	uint64_t fp2;
	sx_slice label;
} sx_row_document;

/** The rows of hits, by distance and id, and the documents that were looked up of rows [from, to). */
typedef struct sx_hit_rows {
	sx_row *at;
	size_t n, cap;
	sx_row_document *document;
	size_t from, to, document_cap;
} sx_hit_rows;

typedef struct sx_hits {
	sx_hit *at; /* nearest first */
	size_t n, cap;
	sx_fresh_rows fresh; /* the fresh rows that have one of the fingerprints */
	sx_hit_rows rows;    /* of those in tables, as far as near() has delivered them */
	uint64_t most;       /* documents that they have at most, as far as that is known */
} sx_hits;

struct sx_finding;

/**
 * Asked when hits from number `from` on were added: sets finding->done to end the search. SIMIDX_OK
 * or an error.
 */
typedef int (*sx_hits_until)(void *ctx, struct sx_finding *finding, size_t from, simidx_error *err);

/** A query that is being looked up: what is asked, and what was found. */
typedef struct sx_finding {
	sx_view *view;
	const sx_query *q;
	sx_access *access;   /* of the query */
	uint64_t left;       /* fingerprints of the tables that it may still compare */
	sx_hits_until until; /* NULL: it is not to end early */
	void *ctx;
	const sx_doc *known; /* documents that hits were read with beforehand; NULL = none were */
	sx_hits *hits;
	sx_arena *labels;    /* of documents that come with them */
	simidx_results *out; /* what it took */
	int done;            /* nothing more is to be looked up */
	sx_conditions *conditions; /* gets those by which the answer holds; NULL: nobody asks */
} sx_finding;

/** One that is all zero is allowed. */
void sx_hits_free(sx_hits *hits);

/** Forget all. */
void sx_hits_clear(sx_hits *hits);

/** Append one. Its distance is set. */
int sx_hits_add(sx_hits *hits, const sx_query *query, uint64_t fp, int in_tables,
		simidx_error *err);

/** Ask `until`, if there is one and hits from number `from` on were added. */
int sx_hits_ask_until(sx_finding *finding, size_t from, simidx_error *err);

/**
 * Add the hits of n queries to those that each has, by their accesses.
 *
 * @param search       scratch memory of the searches
 * @param round_trips  raised by the waits for an answer
 * @return SIMIDX_OK; SIMIDX_E_CORRUPT, SIMIDX_E_NOMEM; what `until` returned; codes of an engine
 */
int sx_hits_find(void *search, sx_finding *const *finding, size_t n, uint64_t *round_trips,
		 simidx_error *err);

/** The same where the hits of the tables are there already, of a query without weights. */
int sx_hits_find_fresh(sx_finding *finding, simidx_error *err);

#endif /* SX_HITS_H */
