/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "search/sx_access.h"

#include <stdlib.h>

#include "util/sx_alloc.h"
#include "util/sx_err.h"

/* Documents that are compared in the time that a probe takes: see SIMIDX_QUERY_SCAN_SMALL. */
#define DOCUMENTS_A_PROBE 128

/* ---- covers that are kept ---- */

static void free_uniform(sx_uniform_covers *uniform)
{
	for (unsigned k = 0; k <= SIMIDX_MAX_RADIUS; k++) {
		if (uniform->of[k])
			sx_template_free(uniform->of[k]);
		free(uniform->of[k]);
		uniform->of[k] = NULL;
	}
}

void sx_cover_cache_free(sx_cover_cache *cache)
{
	free_uniform(&cache->tables);
	free_uniform(&cache->fresh);
	sx_template_free(&cache->own);
}

/* Set the costs for a number of rows. What was chosen by others is forgotten. */
static void set_costs(sx_cover_cache *cache, const simidx *index, uint64_t rows,
			      unsigned scan_shared)
{
	if (scan_shared != cache->scan_shared) {
		free_uniform(&cache->tables);
		free_uniform(&cache->fresh);
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

/* A cover counts errors, all of which cost the same. */
static sx_request request_of(const sx_query *q, uint64_t rows)
{
	return (sx_request){ .radius = q->radius / q->unit, .ignore = q->ignore, .rows = rows };
}

static void choose(const sx_cover_cache *cache, const sx_plan *plan, const sx_request *request,
		   sx_template *out)
{
	sx_planner_choose(plan, request, &cache->costs, &out->cover);
	out->of_0.n = 0;
}

/* Choose one for a query alone. Valid until the next one. */
static sx_template *choose_own(sx_cover_cache *cache, const sx_plan *plan,
				   const sx_request *request)
{
	choose(cache, plan, request, &cache->own);
	return &cache->own;
}

/*
 * The cover of a query where all ranges are equally full. Without weights it depends on the radius
 * and about the number of rows, and is kept until that changes. NULL when memory is short.
 */
static sx_template *uniform_cover(sx_cover_cache *cache, sx_uniform_covers *uniform,
				  const sx_plan *plan, uint64_t rows, const sx_query *q)
{
	sx_request request = request_of(q, rows);

	if (q->is_weighted)
		return choose_own(cache, plan, &request);
	if (rows > uniform->rows + uniform->rows / 2 || uniform->rows > rows + rows / 2) {
		free_uniform(uniform);
		uniform->rows = rows;
	}
	if (!uniform->of[q->radius]) {
		uniform->of[q->radius] = sx_calloc(1, sizeof(*uniform->of[0]));
		if (uniform->of[q->radius])
			choose(cache, plan, &request, uniform->of[q->radius]);
	}
	return uniform->of[q->radius];
}

/* ---- covers ---- */

/* Probe the tables by a cover. Where a look-up will begin is prefetched. */
static int probe_by_cover(sx_access *a, const sx_view *view, const sx_query *q, sx_template *cover,
			  simidx_error *err)
{
	a->cover = &cover->cover;
	a->complete_to = (int)q->radius;
	a->tables.probes.n = 0;
	if (sx_template_probes(&view->snapshot.index->schema->plan, cover, q->fp, q->max_bits,
			       a->permuted, &a->tables.probes))
		return sx_fail_nomem(err);
	return SIMIDX_OK;
}

/* ---- real sizes ---- */

static uint64_t real_size(void *ctx, unsigned table, uint64_t low, uint64_t high)
{
	const sx_view *view = ctx;
	const sx_block_index *b = view->table[table].blocks;
	unsigned bits = view->snapshot.index->schema->plan.bits;
	double share = ((double)(high - low) + 1) / (double)(UINT64_C(1) << (bits - 1)) / 2;

	if (b)
		return sx_block_index_count(b, low, high);
	return (uint64_t)(share * (double)view->snapshot.header.table[table].rows);
}

uint64_t sx_access_candidates(const sx_access *a, const sx_view *view)
{
	uint64_t n = 0;

	for (size_t i = 0; i < a->tables.probes.n; i++)
		n += real_size((void *)view, a->tables.probes.at[i].table,
			       a->tables.probes.at[i].low, a->tables.probes.at[i].high);
	return n;
}

/* True if the block indexes show that the ranges are far fuller than the cover was chosen for. */
static int needs_replan(const sx_access *a, const sx_view *view)
{
	uint64_t candidates = 0;

	for (size_t i = 0; i < a->tables.probes.n; i++) {
		const sx_probe *p = &a->tables.probes.at[i];
		const sx_block_index *b = view->table[p->table].blocks;

		if (b)
			candidates += sx_block_index_count_if_large(b, p->low, p->high);
	}
	return candidates && sx_cover_needs_replan(a->cover, candidates);
}

static sx_request request_by_sizes(const sx_view *view, const sx_query *q)
{
	sx_request request = request_of(q, sx_view_rows(view));

	request.size = real_size;
	request.ctx = (void *)view;
	request.fp = q->fp;
	return request;
}

/* One that was chosen for this query alone: the next one takes its place in the cache. */
static int probe_by_own(sx_access *a, const sx_view *view, const sx_query *q, sx_template *cover,
			simidx_error *err)
{
	int rc = probe_by_cover(a, view, q, cover, err);

	a->own = cover->cover;
	a->cover = &a->own;
	return rc;
}

static int access_by_cover(sx_access *a, sx_cover_cache *covers, const sx_view *view,
			   const sx_query *q, simidx_error *err)
{
	const sx_plan *plan = &view->snapshot.index->schema->plan;
	sx_request request = request_by_sizes(view, q);
	sx_template *cover = uniform_cover(covers, &covers->tables, plan, sx_view_rows(view), q);
	int rc;

	if (!cover)
		return sx_fail_nomem(err);
	rc = q->is_weighted ? probe_by_own(a, view, q, cover, err)
			    : probe_by_cover(a, view, q, cover, err);
	if (rc || !needs_replan(a, view))
		return rc;
	a->by_sizes = 1;
	return probe_by_own(a, view, q, choose_own(covers, plan, &request), err);
}

/* ---- patterns of the weights ---- */

/* Weights that differ, or not all that there is to find, are looked up by patterns. */
static int goes_by_patterns(const sx_query *q)
{
	return q->is_weighted && (!q->unit || q->asked->probes || q->asked->complete);
}

/* By what no merge, layout or machine changes, so that neither do answers. */
static int scans_small(const sx_view *view, const sx_query *q)
{
	return q->asked->flags & SIMIDX_QUERY_SCAN_SMALL &&
	       view->snapshot.header.documents <= (uint64_t)q->asked->probes * DOCUMENTS_A_PROBE;
}

/* Tables that are probed: their plan, and what reading them costs. */
struct target {
	const sx_plan *plan;
	const sx_costs *costs;
	uint64_t rows;
};

/* Lowers a->complete_to to what these probes are complete to. */
static int probe_by_patterns(sx_access *a, sx_access_part *part, const struct target *target,
			     const sx_view *view, const sx_query *q, simidx_error *err)
{
	const sx_plan *plan = target->plan;
	const sx_weighted query = { q->fp, q->asked->weights, &q->by_weight, q->radius,
				    q->max_bits };
	unsigned distance = q->asked->complete;
	int rc;

	part->probes.n = 0;
	if (!distance || distance > q->radius)
		distance = q->radius;
	if (scans_small(view, q))
		rc = sx_patterns_scan(plan, &query, &part->probes, &part->end);
	else if (q->asked->probes)
		rc = sx_patterns_cheapest(plan, &query, q->asked->probes, &part->probes,
					  &part->end);
	else
		rc = sx_patterns_complete(plan, &query, distance, target->costs, target->rows,
					  &part->probes, &part->end);
	if (!rc && part->end.complete_to < a->complete_to)
		a->complete_to = (int)part->end.complete_to;
	return rc ? sx_fail_nomem(err) : SIMIDX_OK;
}

/*
 * Where only whole prefixes can be probed, a range of several of them takes as many probes. Bits of
 * weight 0 make such ranges, and many of them more than comparing with everything takes.
 */
static int is_split_too_much(const sx_access *a, const sx_costs *costs, const sx_view *view)
{
	const sx_plan *plan = &view->snapshot.index->schema->plan;
	uint64_t rows = sx_view_rows(view);
	double n = 0;

	for (size_t i = 0; i < a->tables.probes.n; i++)
		n += (double)(((a->tables.probes.at[i].high - a->tables.probes.at[i].low) >>
			       (plan->bits -
				plan->table[a->tables.probes.at[i].table].prefix_bits)) +
			      1);
	return n > (double)SX_MAX_QUERY_PROBES ||
	       (n > (double)a->tables.probes.n &&
		costs->query + sx_costs_probes(costs, 0, n, 0) > sx_costs_scan(costs, rows));
}

static int access_by_patterns(sx_access *a, const sx_costs *costs, const sx_view *view,
			      const sx_query *q, simidx_error *err)
{
	const sx_plan *plan = &view->snapshot.index->schema->plan;
	const sx_weighted all = { q->fp, q->asked->weights, &q->by_weight, q->radius, q->max_bits };
	const struct target target = { plan, costs, sx_view_rows(view) };
	int rc;

	a->cover = NULL;
	a->complete_to = (int)q->radius;
	for (unsigned t = 0; t < plan->n_tables; t++)
		a->permuted[t] = sx_permute(&plan->table[t], q->fp);
	rc = probe_by_patterns(a, &a->tables, &target, view, q, err);
	if (rc || !costs->whole_prefixes || a->tables.end.scan ||
	    !is_split_too_much(a, costs, view))
		return rc;
	a->complete_to = (int)q->radius;
	a->tables.probes.n = 0;
	return sx_patterns_scan(plan, &all, &a->tables.probes, &a->tables.end) ? sx_fail_nomem(err)
									       : SIMIDX_OK;
}

/* ---- both ---- */

/*
 * The memtable has a plan of its own. Where it is that of the index, the probes serve both; but not
 * a scan, which may be the cheapest for a few rows in the tables and not for many fresh ones.
 */
static int make_fresh(sx_access *a, sx_cover_cache *covers, const sx_view *view, const sx_query *q,
		      simidx_error *err)
{
	const sx_schema *schema = view->snapshot.index->schema;
	const sx_plan *plan = &schema->fresh_plan;
	uint64_t rows = sx_view_fresh_rows(view), permuted[SX_MAX_TABLES];
	const struct target target = { plan, &covers->costs, rows };
	sx_template *cover;

	a->fresh_is_tables = schema->fresh_plan_is_same && !(a->cover && a->cover->scan);
	if (a->fresh_is_tables || !rows)
		return SIMIDX_OK;
	if (!a->cover)
		return probe_by_patterns(a, &a->fresh, &target, view, q, err);
	a->fresh.probes.n = 0;
	cover = uniform_cover(covers, &covers->fresh, plan, rows, q);
	return cover && !sx_template_probes(plan, cover, q->fp, q->max_bits, permuted,
					    &a->fresh.probes)
		       ? SIMIDX_OK
		       : sx_fail_nomem(err);
}

int sx_access_make_beside(sx_access *a, const sx_cover_cache *covers, const sx_view *view,
			  const sx_query *q, simidx_error *err)
{
	const struct target target = { &view->snapshot.index->schema->fresh_plan, &covers->costs,
				       0 };

	/* A cover is exact: whatever is near enough is looked for. */
	return a->cover || a->fresh_is_tables || sx_view_fresh_rows(view)
		       ? SIMIDX_OK
		       : probe_by_patterns(a, &a->fresh, &target, view, q, err);
}

int sx_access_make_fresh(sx_access *a, sx_cover_cache *covers, const sx_view *view,
			 const sx_query *q, simidx_error *err)
{
	const sx_plan *plan = &view->snapshot.index->schema->fresh_plan;
	uint64_t permuted[SX_MAX_TABLES];
	sx_template *cover;

	set_costs(covers, view->snapshot.index, sx_view_rows(view), 0);
	a->by_sizes = 0;
	if (!a->cover)
		return make_fresh(a, covers, view, q, err);
	cover = uniform_cover(covers, &covers->fresh, plan, sx_view_fresh_rows(view), q);
	a->fresh_is_tables = 0;
	a->fresh.probes.n = 0;
	a->complete_to = (int)q->radius;
	if (!cover ||
	    sx_template_probes(plan, cover, q->fp, q->max_bits, permuted, &a->fresh.probes))
		return sx_fail_nomem(err);
	a->cover = &cover->cover;
	return SIMIDX_OK;
}

int sx_access_make(sx_access *a, sx_cover_cache *covers, const sx_view *view, const sx_query *q,
		   unsigned scan_shared, simidx_error *err)
{
	int rc;

	set_costs(covers, view->snapshot.index, sx_view_rows(view), scan_shared);
	a->by_sizes = 0;
	rc = goes_by_patterns(q) ? access_by_patterns(a, &covers->costs, view, q, err)
				 : access_by_cover(a, covers, view, q, err);
	return rc ? rc : make_fresh(a, covers, view, q, err);
}

int sx_access_is_scan(const sx_access *a)
{
	return a->cover ? a->cover->scan : a->tables.end.scan;
}

void sx_access_free(sx_access *a)
{
	sx_probes_free(&a->tables.probes);
	sx_probes_free(&a->fresh.probes);
}

int sx_access_is_first(const sx_access *a, const sx_query *q, unsigned table, uint64_t fp)
{
	if (a->cover)
		return sx_cover_is_first(a->cover, table, fp ^ q->fp);
	return sx_patterns_is_first(&a->tables.end, q->asked->weights, table, fp ^ q->fp);
}

int sx_access_has_fresh(const sx_access *a, const sx_view *view, const sx_query *q, uint64_t fp)
{
	const sx_patterns_end *end = &sx_access_fresh(a)->end;

	return a->cover || end->scan ||
	       !sx_patterns_is_first(end, q->asked->weights,
				     view->snapshot.index->schema->fresh_plan.n_tables, fp ^ q->fp);
}

/* By what the choice was made: ranges of uniform size, or their real sizes. */
unsigned sx_access_others(const sx_access *a, const sx_cover_cache *covers, const sx_view *view,
			  const sx_query *q, sx_cover out[SX_MAX_OTHERS])
{
	uint64_t rows = q->is_weighted ? sx_view_rows(view) : covers->tables.rows;
	sx_request request = a->by_sizes ? request_by_sizes(view, q) : request_of(q, rows);

	return sx_planner_others(&view->snapshot.index->schema->plan, &request, &covers->costs,
				 a->cover, out);
}
