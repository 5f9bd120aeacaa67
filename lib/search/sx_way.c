/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * How a query is looked up: which probes of which tables.
 */

#include <stdlib.h>
#include <string.h>

#include "search/sx_reader.h"
#include "util/sx_err.h"

/* Numbers of simidx_reader.even. */
enum { OF_TABLES, OF_FRESH };

static uint64_t rows_of(const simidx_reader *r, unsigned which)
{
	const sx_header *h = &r->snapshot.header;

	return which == OF_TABLES ? h->table[0].rows : h->next_seq - h->first_seq;
}

/* Forget covers that were chosen for another size. */
static void check_even(sx_even *even, uint64_t rows)
{
	if (sx_way_is_about(rows, even->rows))
		return;
	even->rows = rows;
	even->known[0] = even->known[1] = 0;
}

/* Take the block indexes that the reader holds, as far as they are of this snapshot. */
static void take_held(simidx_reader *r, unsigned map_changes)
{
	r->missing = 0;
	for (unsigned t = 0; t < r->index->plan.n_tables; t++) {
		const sx_held *held = r->held[t];
		int fits = sx_held_fits(held, r->snapshot.header.table[t].generation, map_changes);

		r->blocks[t] = fits ? held->blocks : NULL;
		r->missing |= (uint32_t)!fits << t;
	}
}

/* Whether all is as it was when a snapshot was looked at last. */
static int is_seen(const simidx_reader *r)
{
	return r->seen == r->snapshot.id &&
	       r->seen_map == sx_store_map_changes(r->index->store);
}

/*
 * What depends on the snapshot alone, and not on the query, is looked at when there is a new one,
 * or when the map has moved.
 */
static void look_at_snapshot(simidx_reader *r)
{
	unsigned map_changes = sx_store_map_changes(r->index->store);

	if (is_seen(r))
		return;
	if (r->index->costs)
		r->costs = *r->index->costs;
	else
		sx_costs_typical(&r->index->plan, rows_of(r, OF_TABLES), &r->costs);
	for (unsigned which = OF_TABLES; which <= OF_FRESH; which++)
		if (r->even[which])
			check_even(r->even[which], rows_of(r, which));
	take_held(r, map_changes);
	r->seen = r->snapshot.id;
	r->seen_map = map_changes;
}

static void choose_cover(const sx_plan *plan, const sx_request *request, const sx_costs *costs,
			 sx_template *out)
{
	sx_planner_choose(plan, request, costs, &out->cover);
	out->of_0.n = 0;
}

static const sx_plan *plan_of(const simidx_reader *r, unsigned which)
{
	return which == OF_TABLES ? &r->index->plan : &r->index->fresh_plan;
}

/* The cover for a radius where ranges are even, which is not known yet. */
static sx_template *choose_even(simidx_reader *r, unsigned which, unsigned radius)
{
	sx_even *even = r->even[which];
	sx_request request = { .radius = radius, .rows = rows_of(r, which) };

	if (!even) {
		even = r->even[which] = sx_calloc(1, sizeof(*even));
		if (!even)
			return NULL;
		check_even(even, request.rows);
	}
	choose_cover(plan_of(r, which), &request, &r->costs, &even->template[radius]);
	even->known[radius / 64] |= UINT64_C(1) << radius % 64;
	return &even->template[radius];
}

/* A cover counts errors, all of which cost the same. */
static sx_request request_of(const sx_query *q, uint64_t rows)
{
	sx_request request = { .radius = q->radius / q->unit, .ignore = q->ignore, .rows = rows };

	return request;
}

/* The cover for this query alone, where ranges are even. */
static sx_template *choose_own(simidx_reader *r, const sx_query *q, unsigned which)
{
	sx_request request = request_of(q, rows_of(r, which));

	choose_cover(plan_of(r, which), &request, &r->costs, &r->way.own[which]);
	return &r->way.own[which];
}

static sx_template *template_of(simidx_reader *r, const sx_query *q, unsigned which)
{
	sx_even *even = r->even[which];

	if (q->is_weighted)
		return choose_own(r, q, which);
	return even && even->known[q->radius / 64] >> q->radius % 64 & 1
		       ? &even->template[q->radius]
		       : choose_even(r, which, q->radius);
}

/* Weights that differ, or not all that there is to find, are looked up by patterns. */
static int goes_by_patterns(const sx_query *q)
{
	return q->is_weighted && (!q->unit || q->asked->probes || q->asked->complete);
}

static int pattern_probes(const simidx_reader *r, const sx_query *q, const sx_plan *plan,
			  uint64_t rows, sx_probes *probes, sx_patterns_end *end,
			  simidx_error *err)
{
	const sx_weighted query = { q->fp, q->asked->weights, &q->by_weight, q->radius,
				    q->most_bits };
	unsigned distance = q->asked->complete;
	int rc;

	if (!distance || distance > q->radius)
		distance = q->radius;
	if (q->asked->probes)
		rc = sx_patterns_cheapest(plan, &query, q->asked->probes, probes, end);
	else
		rc = sx_patterns_complete(plan, &query, distance, &r->costs, rows, probes, end);
	return rc ? sx_fail_nomem(err) : SIMIDX_OK;
}

static int complete_to(const sx_patterns_end *end, unsigned radius)
{
	return (int)(end->complete_to < (int64_t)radius ? end->complete_to : (int64_t)radius);
}

/* A block index may have been made meanwhile, or be made for so many look-ups. */
static void take_block_index(simidx_reader *r, unsigned t, uint64_t lookups)
{
	r->blocks[t] = sx_shelf_get(&r->snapshot, t, lookups, &r->held[t]);
	if (r->blocks[t])
		r->missing &= ~(UINT32_C(1) << t);
}

/* Directories of the tables that are going to be probed and have none yet. */
static void take_missing(simidx_reader *r)
{
	uint64_t lookups[SX_MAX_TABLES] = { 0 };

	for (size_t i = 0; i < r->probes.n; i++)
		lookups[r->probes.at[i].table]++;
	for (unsigned t = 0; t < r->index->plan.n_tables; t++)
		if (r->missing >> t & 1 && lookups[t])
			take_block_index(r, t, lookups[t]);
}

static int probe_by(simidx_reader *r, const sx_query *q, sx_template *template, simidx_error *err)
{
	sx_way *way = &r->way;

	way->cover = &template->cover;
	way->complete_to = (int)q->radius;
	if (sx_template_probes(&r->index->plan, template, q->fp, q->most_bits, way->permuted,
			      &r->probes))
		return sx_fail_nomem(err);
	/* The look-up begins at about these slots: they are on their way until then. */
	for (unsigned i = 0; i < way->cover->n; i++) {
		unsigned t = way->cover->part[i].table;

		if (r->blocks[t])
			sx_block_index_hint(r->blocks[t], way->permuted[t]);
	}
	return SIMIDX_OK;
}

static void begin_way(simidx_reader *r, int by_patterns)
{
	r->probes.n = 0;
	r->way.by_patterns = by_patterns;
	r->way.by_sizes = 0;
}

static int make_probes(simidx_reader *r, const sx_query *q, simidx_error *err)
{
	const sx_plan *plan = &r->index->plan;
	uint64_t rows = rows_of(r, OF_TABLES);
	sx_template *template;
	sx_way *way = &r->way;
	int rc;

	begin_way(r, !r->forced && goes_by_patterns(q));
	way->rows = rows;
	if (r->forced)
		return probe_by(r, q, r->forced, err);
	if (way->by_patterns) {
		rc = pattern_probes(r, q, plan, rows, &r->probes, &way->end, err);
		if (rc)
			return rc;
		way->complete_to = complete_to(&way->end, q->radius);
		for (unsigned t = 0; t < plan->n_tables; t++)
			way->permuted[t] = sx_permute(&plan->table[t], q->fp);
		return SIMIDX_OK;
	}
	template = template_of(r, q, OF_TABLES);
	/* One that is kept was chosen when there were a few more or less. */
	if (!q->is_weighted && template)
		way->rows = r->even[OF_TABLES]->rows;
	return template ? probe_by(r, q, template, err) : sx_fail_nomem(err);
}

/* The memtable has a plan of its own; where it is the same, so are the probes. */
static int make_fresh_probes(simidx_reader *r, const sx_query *q, simidx_error *err)
{
	const sx_plan *plan = &r->index->fresh_plan;
	uint64_t rows = rows_of(r, OF_FRESH);
	uint64_t permuted[SX_MAX_TABLES];
	sx_template *template;
	sx_patterns_end end;
	int rc, complete;

	r->fresh_probes.n = 0;
	if (!rows || r->index->fresh_plan_is_same)
		return SIMIDX_OK;
	if (r->way.by_patterns) {
		rc = pattern_probes(r, q, plan, rows, &r->fresh_probes, &end, err);
		complete = rc ? -1 : complete_to(&end, q->radius);
		if (complete < r->way.complete_to)
			r->way.complete_to = complete;
		return rc;
	}
	template = template_of(r, q, OF_FRESH);
	return !template || sx_template_probes(plan, template, q->fp, q->most_bits, permuted,
					       &r->fresh_probes)
		       ? sx_fail_nomem(err)
		       : SIMIDX_OK;
}

static int choose(simidx_reader *r, const sx_query *q, simidx_error *err)
{
	int rc;

	look_at_snapshot(r);
	rc = make_probes(r, q, err);
	if (!rc && !r->forced)
		rc = make_fresh_probes(r, q, err);
	if (!rc && r->missing)
		take_missing(r);
	return rc;
}

int sx_way_ahead(simidx_reader *r, const sx_query *q)
{
	if (!r->seen || r->seen != r->snapshot.id || r->missing || r->forced)
		return -1;
	return make_probes(r, q, NULL) || make_fresh_probes(r, q, NULL) ? -1 : 0;
}

int sx_way_choose(simidx_reader *r, const sx_query *q, simidx_error *err)
{
	r->ahead = r->ahead && is_seen(r);
	return r->ahead ? SIMIDX_OK : choose(r, q, err);
}

/* ---- real sizes ---- */

static uint64_t real_size(void *ctx, unsigned table, uint64_t low, uint64_t high)
{
	const simidx_reader *r = ctx;
	const sx_block_index *d = r->blocks[table];
	const sx_plan *plan = &r->index->plan;
	double share = ((double)(high - low) + 1) / (double)(UINT64_C(1) << (plan->bits - 1)) / 2;

	if (d)
		return sx_block_index_count(d, low, high);
	return (uint64_t)(share * (double)r->snapshot.header.table[table].rows);
}

uint64_t sx_way_candidates(simidx_reader *r)
{
	uint64_t n = 0;

	for (size_t i = 0; i < r->probes.n; i++)
		n += real_size(r, r->probes.at[i].table, r->probes.at[i].low,
			       r->probes.at[i].high);
	return n;
}

/* All tables' block indexes that are there: the planner may step round to other ones. */
static void take_all_directories(simidx_reader *r)
{
	for (unsigned t = 0; t < r->index->plan.n_tables; t++)
		take_block_index(r, t, 1);
}

int sx_way_reconsider(simidx_reader *r, const sx_query *q, simidx_error *err)
{
	sx_request request;
	int rc;

	if (r->way.by_patterns || !sx_cover_is_poor(r->way.cover, sx_way_candidates(r)))
		return 0;
	request = request_of(q, rows_of(r, OF_TABLES));
	request.size = real_size;
	request.ctx = r;
	request.fp = q->fp;
	take_all_directories(r);
	choose_cover(&r->index->plan, &request, &r->costs, &r->way.own[OF_TABLES]);
	begin_way(r, 0);
	r->way.rows = request.rows;
	r->way.by_sizes = 1;
	rc = probe_by(r, q, &r->way.own[OF_TABLES], err);
	if (rc)
		return rc;
	if (r->missing)
		take_missing(r);
	return 1;
}

unsigned sx_way_others(simidx_reader *r, const sx_query *q, sx_cover out[SX_MAX_OTHERS])
{
	sx_request request = request_of(q, r->way.rows);

	request.size = r->way.by_sizes ? real_size : NULL;
	request.ctx = r;
	request.fp = q->fp;
	if (r->way.by_sizes)
		take_all_directories(r);
	return sx_planner_others(&r->index->plan, &request, &r->costs, r->way.cover, out);
}

int sx_way_is_first(const simidx_reader *r, const sx_query *q, const sx_probe *p, uint64_t fp)
{
	const sx_way *way = &r->way;

	if (way->by_patterns)
		return way->end.scan || sx_patterns_is_first(&way->end, q->asked->weights, p->table,
							    fp ^ q->fp);
	return sx_cover_is_first(way->cover, p->table, fp ^ q->fp);
}

int sx_way_left(const simidx_reader *r, const sx_probe *p, unsigned width)
{
	/* Low bytes may reach into the bits that are probed. */
	uint64_t pattern = (p->low ^ r->way.permuted[p->table]) & ~(p->low ^ p->high) &
			   sx_low_bits(8 * width);

	return p->rest < 0 ? -1 : p->rest + __builtin_popcountll(pattern);
}

void sx_way_free(simidx_reader *r)
{
	for (unsigned which = 0; which < 2; which++) {
		sx_even *even = r->even[which];

		sx_template_free(&r->way.own[which]);
		for (unsigned k = 0; even && k <= SIMIDX_MAX_RADIUS; k++)
			sx_template_free(&even->template[k]);
		free(even);
	}
}
