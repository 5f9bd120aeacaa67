/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What a whole query must return, weights, second fingerprints and modes included, by a linear
 * scan over the model.
 */

#ifndef SXT_QUERY_H
#define SXT_QUERY_H

#include "support/sxt_model.h"

/** A document that matches. */
typedef struct sxt_found {
	const sxt_doc *doc;
	unsigned first; /* weighted distance of the first fingerprint */
	unsigned weighted_distance, distance, distance2; /* as in simidx_match */
} sxt_found;

/**
 * All documents among the first `n` that match, in order; mode, limit, probes and
 * max_candidates do not count. Freed by the caller.
 */
sxt_found *sxt_model_find(const sxt_model *model, size_t n, const simidx_query *query,
			  size_t *n_found);

/**
 * Search and compare: every match is one of these, in order and with all that belongs to it;
 * all up to results.complete_to are there; and where that is the radius, in mode _ALL without
 * cuts, it is exactly these.
 *
 * @param out  if not NULL: the results
 */
void sxt_check_query(const sxt_model *model, size_t n, simidx_reader *reader,
		     const simidx_query *query, simidx_results *out);

/** The same against what is already known. */
void sxt_check_found(const sxt_found *found, size_t n_found, simidx_reader *reader,
		     const simidx_query *query, simidx_results *out);

#endif /* SXT_QUERY_H */
