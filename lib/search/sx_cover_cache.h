/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What choosing a cover costs is paid once: covers where all ranges are equally full are kept by radius,
 * with the costs by which they were chosen.
 */

#ifndef SX_COVER_CACHE_H
#define SX_COVER_CACHE_H

#include "index/sx_index.h"
#include "search/sx_query.h"

/** The covers of a plan where all ranges are equally full, by radius; made when first needed. */
typedef struct sx_even_covers {
	uint64_t rows; /* they are for about this number of rows */
	sx_template *of[SIMIDX_MAX_RADIUS + 1];
} sx_even_covers;

/** All zero is an empty one. */
typedef struct sx_cover_cache {
	sx_costs costs;
	uint64_t costs_rows;           /* rows that the costs are for */
	unsigned scan_shared;          /* queries that one scan serves, by the costs; 0 = one */
	sx_even_covers tables, fresh;  /* of the plan of the index, and of the memtable's */
	sx_template own;               /* the last one that was chosen for one query alone */
} sx_cover_cache;

/**
 * Set the costs for a number of rows. What was chosen by others is forgotten.
 *
 * @param scan_shared  queries that one scan would serve; 0 = one
 */
void sx_cover_cache_set_costs(sx_cover_cache *cache, const simidx *index, uint64_t rows,
			      unsigned scan_shared);

/** A cover counts errors, all of which cost the same. */
sx_request sx_cover_cache_request(const sx_query *query, uint64_t rows);

/** Choose one for a query alone. Valid until the next one. */
sx_template *sx_cover_cache_choose(sx_cover_cache *cache, const sx_plan *plan,
				   const sx_request *request);

/**
 * The cover of a query where all ranges are equally full. Without weights it depends on the radius
 * and about the number of rows, and is kept until that changes.
 *
 * @param even  cache->tables or cache->fresh
 * @return NULL when memory is short
 */
sx_template *sx_cover_cache_even(sx_cover_cache *cache, sx_even_covers *even, const sx_plan *plan,
				 uint64_t rows, const sx_query *query);

void sx_cover_cache_free(sx_cover_cache *cache);

#endif /* SX_COVER_CACHE_H */
