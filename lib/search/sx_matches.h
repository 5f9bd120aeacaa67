/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The matches of a query: the documents of its hits, in the form that the caller sees, as copying
 * millions of them into another one would take longer than all else.
 */

#ifndef SX_MATCHES_H
#define SX_MATCHES_H

#include "search/sx_hits.h"

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
simidx_match sx_match_of(const simidx *index, uint64_t id, uint64_t fp, uint64_t fp2);

/** Append one. */
int sx_matches_push(sx_matches *matches, const simidx_match *match, simidx_error *err);

/** Whether it has as many as are enough. */
int sx_taking_is_full(const sx_taking *taking);

/**
 * Take those of n documents of one fingerprint that match.
 *
 * @param fp2  of each; NULL = there are none
 * @return SIMIDX_OK; SIMIDX_E_NOMEM
 */
int sx_matches_take(sx_taking *taking, uint64_t fp, const uint64_t *id, const uint64_t *fp2, size_t n,
		    simidx_error *err);

/**
 * Append the documents of hits [from, to) that match, by (weighted_distance, id, fingerprint), or count
 * them. Without ids a document is a fingerprint.
 *
 * @param search  scratch memory of the searches
 * @param max     so many documents are enough; more of other fingerprints may come; 0 = all
 * @param count   not NULL: add their number to it and append none
 * @return SIMIDX_OK; SIMIDX_E_CORRUPT, SIMIDX_E_NOMEM; codes of an engine
 */
int sx_matches_read(sx_matches *matches, void *search, sx_finding *finding, size_t from, size_t to,
		    uint64_t max, uint64_t *count, simidx_error *err);

#endif /* SX_MATCHES_H */
