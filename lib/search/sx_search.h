/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * One search in the snapshot that a reader has.
 */

#ifndef SX_SEARCH_H
#define SX_SEARCH_H

#include "search/sx_reader.h"

/**
 * Search. reader->matches and `out`, whose counts begin at 0, are the answer, without labels.
 */
int sx_search(simidx_reader *reader, const sx_query *query, simidx_results *out,
	      simidx_error *err);

/**
 * The same where the tables need not be searched any more, in mode SIMIDX_ALL or _COUNT without
 * weights and max_candidates: finding->hits are what they have for this query, and finding->out
 * says what that took.
 *
 * @param is_fresh_found  nonzero: they have the fresh rows, too; then any query
 */
int sx_search_found(simidx_reader *reader, sx_finding *finding, int is_fresh_found,
		    simidx_error *err);

/** Add labels to the matches [from, from + n) of the last search, if the query asks for them. */
int sx_search_labels(simidx_reader *reader, const simidx_query *asked, size_t from, size_t n,
		     simidx_error *err);

#endif /* SX_SEARCH_H */
