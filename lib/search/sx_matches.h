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
	sx_probes probes; /* of postings */
	sx_lookup lookup;
	sx_rows rows;          /* of one slice */
	sx_u64s fps;           /* of hits that the tables have; only where rows delete documents */
	sx_fresh_rows deleted; /* documents of these that postings have no more */
	unsigned char *labels; /* that matches point to */
	size_t labels_cap;
} sx_matches;

/** 0, or -1 when memory is short. */
int sx_matches_init(sx_matches *matches, const simidx *index);

/** One that is all zero is allowed. */
void sx_matches_free(sx_matches *matches);

/** A document as a match at distance 0. */
simidx_match sx_match_of(const simidx *index, uint64_t id, uint64_t fp, uint64_t fp2);

/** Append one. */
int sx_matches_push(sx_matches *matches, const simidx_match *match, simidx_error *err);

/** Append a document if it matches, or count it: then *count is raised. SIMIDX_E_NOMEM. */
int sx_matches_take(sx_matches *matches, const simidx *index, const sx_query *query,
		    const sx_doc *doc, uint64_t *count, simidx_error *err);

/** Bring the matches from number `from` on into their order. */
void sx_matches_sort(sx_matches *matches, size_t from);

/**
 * Append the documents of hits [from, to) that match, by (weighted_distance, id, fingerprint), or count
 * them. Without ids a document is a fingerprint.
 *
 * @param known  documents that hits were read with beforehand; NULL = none were
 * @param max    documents of each fingerprint are enough; 0 = all
 * @param count  not NULL: add their number to it and append none
 * @return SIMIDX_OK; SIMIDX_E_CORRUPT, SIMIDX_E_NOMEM
 */
int sx_matches_read(sx_matches *matches, sx_view *view, const sx_query *query,
		    const sx_hits *hits, size_t from, size_t to, const sx_doc *known,
		    uint64_t max, uint64_t *count, simidx_error *err);

/**
 * Add the labels of matches [from, from + n). They are valid until the next call.
 *
 * @param checks  nonzero: compare each with the hash that is kept of it, which takes a look-up more
 */
int sx_matches_add_labels(sx_matches *matches, const sx_snapshot *snapshot, size_t from,
			  size_t n, int checks, simidx_error *err);

/** The columns of a slice of postings: appended to rows, of which they are the only ones. */
int sx_postings_decode(const sx_lookup *lookup, const sx_lookup_task *task,
		       const sx_block_slice *slice, size_t n, sx_rows *rows, simidx_error *err);

#endif /* SX_MATCHES_H */
