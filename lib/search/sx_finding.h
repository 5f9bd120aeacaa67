/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What a query finds, in two steps. Its hits are the distinct fingerprints that it accepts, of
 * the tables and of the fresh rows. Its matches are their documents, in the form that the caller
 * sees, as copying millions of them into another one would take longer than all else.
 */

#ifndef SX_FINDING_H
#define SX_FINDING_H

#include "search/sx_access.h"
#include "util/sx_arena.h"

/* ------------------------------------------------------------------------------------------
 * Hits
 */

typedef struct sx_hit {
	uint64_t fp;
	unsigned distance;
	int in_tables;
} sx_hit;

/** The row of a document in a table, where probes deliver documents and not fingerprints alone. */
typedef struct sx_row {
	uint64_t fp, id;
	unsigned distance;
} sx_row;

/** What else such a document has. */
typedef struct sx_row_document {
	int is_there;
	sx_values values;
	sx_slice label;
} sx_row_document;

/**
 * The rows of hits, by distance and id, and the documents that were looked up of rows [from, to).
 */
typedef struct sx_hit_rows {
	sx_row *at;
	size_t n, cap;
	sx_row_document *document;
	size_t from, to, document_cap;
	int is_mixed; /* an engine has sent a document before and after a change */
} sx_hit_rows;

typedef struct sx_hits {
	sx_hit *at; /* nearest first */
	size_t n, cap;
	size_t from;         /* those before are of a smaller radius, and are found once more */
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
	sx_hits *hits;
	sx_arena *labels;    /* of documents that come with them */
	simidx_results *out; /* what it took */
	int done;            /* nothing more is to be looked up */
	sx_conditions *conditions; /* gets those by which the answer holds; NULL: not wanted */
} sx_finding;

/** One that is all zero is allowed. */
void sx_hits_free(sx_hits *hits);

/** Forget all. */
void sx_hits_clear(sx_hits *hits);

/** Append one. Its distance is set. */
int sx_hits_add(sx_hits *hits, const sx_query *query, uint64_t fp, int in_tables,
		simidx_error *err);

/** How many of n further fingerprints of the tables it may compare: they count as candidates. */
size_t sx_finding_candidates(sx_finding *finding, size_t n);

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

/**
 * Write the numbers of those of n fingerprints that it would find among fresh rows, ascending;
 * returns how many.
 *
 * @param access  of the finding, after sx_access_make_beside()
 * @param hit     room for n
 */
size_t sx_hits_beside(const sx_finding *finding, const uint64_t *fps, size_t n, uint32_t *hit);

/* ------------------------------------------------------------------------------------------
 * Matches
 */

typedef struct sx_matches {
	simidx_match *at;
	size_t n, cap;
	unsigned char *labels; /* that matches point to, where they were looked up after them */
	size_t labels_cap;
} sx_matches;

/** Where the documents of hits go, and how many are enough. */
typedef struct sx_taking {
	sx_matches *matches;
	const simidx *index;
	const sx_query *q;
	uint64_t max;    /* documents of what is at hand that are enough; 0 = all */
	uint64_t *count; /* not NULL: raised by their number, and none is appended */
	uint64_t had;    /* documents of what is at hand */
} sx_taking;

/** One that is all zero is allowed. */
void sx_matches_free(sx_matches *matches);

/** A document as a match at distance 0. */
simidx_match sx_match_of(const simidx *index, const sx_doc *doc);

/** Append one. */
int sx_matches_push(sx_matches *matches, const simidx_match *match, simidx_error *err);

/** All documents of what a query finds, to be appended. */
sx_taking sx_taking_of(const sx_finding *finding, sx_matches *matches);

/** Whether it has as many as are enough. */
int sx_taking_is_full(const sx_taking *taking);

/**
 * Take those of n documents of one fingerprint that match.
 *
 * @param values  of each; NULL: there are none
 * @return SIMIDX_OK; SIMIDX_E_NOMEM
 */
int sx_matches_take(sx_taking *taking, uint64_t fp, const uint64_t *id,
		    const sx_value_arrays *values, size_t n, simidx_error *err);

/** Take one document, if it matches. */
int sx_matches_take_one(sx_taking *taking, const sx_doc *doc, simidx_error *err);

/**
 * Append the documents of hits [from, to) that match, by (weighted_distance, id, fingerprint), or
 * count them. Without ids a document is a fingerprint.
 *
 * @param search  scratch memory of the searches
 * @param taking  its `max`: so many documents are enough; more of other fingerprints may come
 * @return SIMIDX_OK; SIMIDX_E_CORRUPT, SIMIDX_E_NOMEM; codes of an engine
 */
int sx_matches_read(void *search, sx_finding *finding, sx_taking taking, size_t from, size_t to,
		    simidx_error *err);

#endif /* SX_FINDING_H */
