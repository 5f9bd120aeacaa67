/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "search/sx_cover_cache.h"

#include <stdlib.h>

#include "util/sx_alloc.h"

static void free_even(sx_even_covers *even)
{
	for (unsigned k = 0; k <= SIMIDX_MAX_RADIUS; k++) {
		if (even->of[k])
			sx_template_free(even->of[k]);
		free(even->of[k]);
		even->of[k] = NULL;
	}
}

void sx_cover_cache_free(sx_cover_cache *cache)
{
	free_even(&cache->tables);
	free_even(&cache->fresh);
	sx_template_free(&cache->own);
}

void sx_cover_cache_set_costs(sx_cover_cache *cache, const simidx *index, uint64_t rows,
			      unsigned scan_shared)
{
	if (scan_shared != cache->scan_shared) {
		free_even(&cache->tables);
		free_even(&cache->fresh);
	}
	if (index->costs)
		cache->costs = *index->costs;
	else if (cache->costs.query <= 0 || cache->costs_rows != rows ||
		 scan_shared != cache->scan_shared)
		sx_costs_typical(&index->schema->plan, rows, &cache->costs);
	else
		return;
	cache->costs_rows = rows;
	cache->scan_shared = scan_shared;
	if (scan_shared > 1)
		cache->costs.scanned /= scan_shared;
}

sx_request sx_cover_cache_request(const sx_query *q, uint64_t rows)
{
	return (sx_request){ .radius = q->radius / q->unit, .ignore = q->ignore, .rows = rows };
}

static void choose(const sx_cover_cache *cache, const sx_plan *plan, const sx_request *request,
		   sx_template *out)
{
	sx_planner_choose(plan, request, &cache->costs, &out->cover);
	out->of_0.n = 0;
}

sx_template *sx_cover_cache_choose(sx_cover_cache *cache, const sx_plan *plan,
				   const sx_request *request)
{
	choose(cache, plan, request, &cache->own);
	return &cache->own;
}

sx_template *sx_cover_cache_even(sx_cover_cache *cache, sx_even_covers *even, const sx_plan *plan,
				 uint64_t rows, const sx_query *q)
{
	sx_request request = sx_cover_cache_request(q, rows);

	if (q->is_weighted)
		return sx_cover_cache_choose(cache, plan, &request);
	if (rows > even->rows + even->rows / 2 || even->rows > rows + rows / 2) {
		free_even(even);
		even->rows = rows;
	}
	if (!even->of[q->radius]) {
		even->of[q->radius] = sx_calloc(1, sizeof(*even->of[0]));
		if (even->of[q->radius])
			choose(cache, plan, &request, even->of[q->radius]);
	}
	return even->of[q->radius];
}
