/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "search/sx_access.h"

#include <stdlib.h>

#include "util/sx_err.h"

/* Documents that are compared in the time that a probe takes: see SIMIDX_QUERY_SCAN_SMALL. */
#define DOCUMENTS_A_PROBE 128

/* ---- covers ---- */

/* A cover counts errors, all of which cost the same. */
static sx_request request_of(const sx_query *q, uint64_t rows)
{
	return (sx_request){ .radius = q->radius / q->unit, .ignore = q->ignore, .rows = rows };
}

static void choose(const sx_access *a, const sx_plan *plan, const sx_request *request,
		   sx_template *out)
{
	sx_planner_choose(plan, request, &a->costs, &out->cover);
	out->of_0.n = 0;
}

static void free_even(sx_even_covers *even)
{
	for (unsigned k = 0; k <= SIMIDX_MAX_RADIUS; k++) {
		if (even->of[k])
			sx_template_free(even->of[k]);
		free(even->of[k]);
		even->of[k] = NULL;
	}
}

/*
 * The cover of a query where all ranges are equally full. Without weights it depends on the radius
 * and about the number of rows, and is kept. NULL when memory is short.
 */
static sx_template *even_cover(sx_access *a, sx_even_covers *even, sx_template *own,
			      const sx_plan *plan, uint64_t rows, const sx_query *q)
{
	sx_request request = request_of(q, rows);

	if (q->is_weighted) {
		choose(a, plan, &request, own);
		return own;
	}
	if (rows > even->rows + even->rows / 2 || even->rows > rows + rows / 2) {
		free_even(even);
		even->rows = rows;
	}
	if (!even->of[q->radius]) {
		even->of[q->radius] = sx_calloc(1, sizeof(*even->of[0]));
		if (even->of[q->radius])
			choose(a, plan, &request, even->of[q->radius]);
	}
	return even->of[q->radius];
}

/* Probe the tables by a cover. Where a look-up will begin is prefetched. */
static int probe_by_cover(sx_access *a, const sx_view *view, const sx_query *q, sx_template *cover,
			  simidx_error *err)
{
	a->cover = &cover->cover;
	a->complete_to = (int)q->radius;
	a->probes.n = 0;
	if (sx_template_probes(&sx_view_index(view)->schema->plan, cover, q->fp, q->max_bits, a->permuted,
			      &a->probes))
		return sx_fail_nomem(err);
	for (unsigned i = 0; i < a->cover->n; i++) {
		unsigned t = a->cover->part[i].table;

		if (view->table[t].blocks)
			sx_block_index_prefetch(view->table[t].blocks, a->permuted[t]);
	}
	return SIMIDX_OK;
}

/* ---- real sizes ---- */

static uint64_t real_size(void *ctx, unsigned table, uint64_t low, uint64_t high)
{
	const sx_view *view = ctx;
	const sx_block_index *b = view->table[table].blocks;
	unsigned bits = sx_view_index(view)->schema->plan.bits;
	double share = ((double)(high - low) + 1) / (double)(UINT64_C(1) << (bits - 1)) / 2;

	if (b)
		return sx_block_index_count(b, low, high);
	return (uint64_t)(share * (double)sx_view_snapshot(view)->header.table[table].rows);
}

uint64_t sx_access_candidates(const sx_access *a, const sx_view *view)
{
	uint64_t n = 0;

	for (size_t i = 0; i < a->probes.n; i++)
		n += real_size((void *)view, a->probes.at[i].table, a->probes.at[i].low,
			       a->probes.at[i].high);
	return n;
}

/* True if the block indexes show that the ranges are far fuller than the cover was chosen for. */
static int is_poor(const sx_access *a, const sx_view *view)
{
	uint64_t candidates = 0;

	for (size_t i = 0; i < a->probes.n; i++) {
		const sx_probe *p = &a->probes.at[i];
		const sx_block_index *b = view->table[p->table].blocks;

		if (b)
			candidates += sx_block_index_crowd(b, p->low, p->high);
	}
	return candidates && sx_cover_is_poor(a->cover, candidates);
}

static sx_request request_by_sizes(const sx_view *view, const sx_query *q)
{
	sx_request request = request_of(q, sx_view_rows(view));

	request.size = real_size;
	request.ctx = (void *)view;
	request.fp = q->fp;
	return request;
}

static int access_by_cover(sx_access *a, const sx_view *view, const sx_query *q, simidx_error *err)
{
	const sx_plan *plan = &sx_view_index(view)->schema->plan;
	uint64_t rows = sx_view_rows(view);
	sx_request request = request_by_sizes(view, q);
	sx_template *cover = even_cover(a, &a->even, &a->own, plan, rows, q);
	int rc = cover ? probe_by_cover(a, view, q, cover, err) : sx_fail_nomem(err);

	if (rc || !is_poor(a, view))
		return rc;
	choose(a, plan, &request, &a->own);
	a->by_sizes = 1;
	return probe_by_cover(a, view, q, &a->own, err);
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
	       sx_view_snapshot(view)->header.documents <= (uint64_t)q->asked->probes * DOCUMENTS_A_PROBE;
}

/* Lowers *complete_to to what these probes are complete to. */
static int probe_by_patterns(const sx_access *a, const sx_view *view, const sx_query *q,
			     const sx_plan *plan, uint64_t rows, sx_probes *probes,
			     sx_patterns_end *end, int *complete_to, simidx_error *err)
{
	const sx_weighted query = { q->fp, q->asked->weights, &q->by_weight, q->radius,
				    q->max_bits };
	unsigned distance = q->asked->complete;
	int rc;

	probes->n = 0;
	if (!distance || distance > q->radius)
		distance = q->radius;
	if (scans_small(view, q))
		rc = sx_patterns_scan(plan, &query, probes, end);
	else if (q->asked->probes)
		rc = sx_patterns_cheapest(plan, &query, q->asked->probes, probes, end);
	else
		rc = sx_patterns_complete(plan, &query, distance, &a->costs, rows, probes, end);
	if (!rc && end->complete_to < *complete_to)
		*complete_to = (int)end->complete_to;
	return rc ? sx_fail_nomem(err) : SIMIDX_OK;
}

/*
 * Where only whole prefixes can be probed, a range of several of them takes as many probes. Bits of
 * weight 0 make such ranges, and many of them more than comparing with everything takes.
 */
static int is_split_too_much(const sx_access *a, const sx_view *view)
{
	const sx_plan *plan = &sx_view_index(view)->schema->plan;
	uint64_t rows = sx_view_rows(view);
	double n = 0;

	for (size_t i = 0; i < a->probes.n; i++)
		n += (double)(((a->probes.at[i].high - a->probes.at[i].low) >>
			       (plan->bits - plan->table[a->probes.at[i].table].prefix_bits)) + 1);
	return n > (double)SX_MAX_QUERY_PROBES ||
	       (n > (double)a->probes.n &&
		a->costs.query + sx_costs_probes(&a->costs, 0, n, 0) > sx_costs_scan(&a->costs, rows));
}

static int access_by_patterns(sx_access *a, const sx_view *view, const sx_query *q,
			      simidx_error *err)
{
	const sx_plan *plan = &sx_view_index(view)->schema->plan;

	const sx_weighted all = { q->fp, q->asked->weights, &q->by_weight, q->radius, q->max_bits };
	int rc;

	a->cover = NULL;
	a->complete_to = (int)q->radius;
	for (unsigned t = 0; t < plan->n_tables; t++)
		a->permuted[t] = sx_permute(&plan->table[t], q->fp);
	rc = probe_by_patterns(a, view, q, plan, sx_view_rows(view), &a->probes, &a->patterns,
			       &a->complete_to, err);
	if (rc || !a->costs.whole_prefixes || a->patterns.scan || !is_split_too_much(a, view))
		return rc;
	a->complete_to = (int)q->radius;
	a->probes.n = 0;
	return sx_patterns_scan(plan, &all, &a->probes, &a->patterns) ? sx_fail_nomem(err)
								      : SIMIDX_OK;
}

/* ---- both ---- */

/*
 * The memtable has a plan of its own. Where it is that of the index, the probes serve both; but not
 * a scan, which may be the cheapest for a few rows in the tables and not for many fresh ones.
 */
static int make_fresh(sx_access *a, const sx_view *view, const sx_query *q, simidx_error *err)
{
	const simidx *index = sx_view_index(view);
	const sx_plan *plan = &index->schema->fresh_plan;
	uint64_t rows = sx_view_fresh_rows(view), permuted[SX_MAX_TABLES];
	int serves_both = index->schema->fresh_plan_is_same && !(a->cover && a->cover->scan);
	sx_template *cover;

	a->fresh = serves_both ? &a->probes : &a->fresh_probes;
	if (serves_both || !rows)
		return SIMIDX_OK;
	if (!a->cover)
		return probe_by_patterns(a, view, q, plan, rows, &a->fresh_probes,
					 &a->fresh_patterns, &a->complete_to, err);
	a->fresh_probes.n = 0;
	cover = even_cover(a, &a->even_fresh, &a->own_fresh, plan, rows, q);
	return cover && !sx_template_probes(plan, cover, q->fp, q->max_bits, permuted,
					   &a->fresh_probes)
		       ? SIMIDX_OK
		       : sx_fail_nomem(err);
}

int sx_access_make(sx_access *a, const sx_view *view, const sx_query *q, simidx_error *err)
{
	const simidx *index = sx_view_index(view);
	int rc;

	if (index->costs)
		a->costs = *index->costs;
	else if (a->costs.query <= 0 || a->costs_rows != sx_view_rows(view))
		sx_costs_typical(&index->schema->plan, sx_view_rows(view), &a->costs);
	a->costs_rows = sx_view_rows(view);
	if (a->shared > 1)
		a->costs.scanned /= a->shared;
	if (a->shared != a->even_shared) {
		free_even(&a->even);
		free_even(&a->even_fresh);
		a->even_shared = a->shared;
	}
	a->by_sizes = 0;
	rc = goes_by_patterns(q) ? access_by_patterns(a, view, q, err)
				 : access_by_cover(a, view, q, err);
	return rc ? rc : make_fresh(a, view, q, err);
}

int sx_access_is_scan(const sx_access *a)
{
	return a->cover ? a->cover->scan : a->patterns.scan;
}

void sx_access_free(sx_access *a)
{
	free_even(&a->even);
	free_even(&a->even_fresh);
	sx_template_free(&a->own);
	sx_template_free(&a->own_fresh);
	sx_probes_free(&a->probes);
	sx_probes_free(&a->fresh_probes);
}

int sx_access_is_first(const sx_access *a, const sx_query *q, unsigned table, uint64_t fp)
{
	if (a->cover)
		return sx_cover_is_first(a->cover, table, fp ^ q->fp);
	return sx_patterns_is_first(&a->patterns, q->asked->weights, table, fp ^ q->fp);
}

int sx_access_has_fresh(const sx_access *a, const sx_view *view, const sx_query *q, uint64_t fp)
{
	const sx_patterns_end *end = a->fresh == &a->probes ? &a->patterns : &a->fresh_patterns;

	return a->cover || end->scan ||
	       !sx_patterns_is_first(end, q->asked->weights,
				     sx_view_index(view)->schema->fresh_plan.n_tables, fp ^ q->fp);
}

/* By what the choice was made: even ranges, or their real sizes. */
unsigned sx_access_others(const sx_access *a, const sx_view *view, const sx_query *q,
			  sx_cover out[SX_MAX_OTHERS])
{
	sx_request request = a->by_sizes ? request_by_sizes(view, q)
			     : request_of(q, q->is_weighted ? sx_view_rows(view) : a->even.rows);

	return sx_planner_others(&sx_view_index(view)->schema->plan, &request, &a->costs, a->cover, out);
}
