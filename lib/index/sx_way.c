/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * How a query is looked up: which probes of which tables.
 */

#include <stdlib.h>
#include <string.h>

#include "index/sx_reader.h"
#include "plan/sx_options.h"
#include "util/sx_err.h"

/* Numbers of simidx_reader.even. */
enum { OF_TABLES, OF_FRESH };

/* The strategy for a radius where ranges are even, from memory if it is known. */
static const sx_strategy *even_strategy(simidx_reader *r, unsigned which, const sx_plan *plan,
					unsigned radius, uint64_t rows)
{
	sx_even *even = r->even[which];
	sx_request request = { .radius = radius };
	sx_sizes sizes = { .rows = rows };

	if (!even) {
		even = r->even[which] = sx_calloc(1, sizeof(*even));
		if (!even)
			return NULL;
	}
	if (!sx_way_is_about(rows, even->rows) || even->costs_version != r->costs_version) {
		even->rows = rows;
		even->costs_version = r->costs_version;
		even->known[0] = even->known[1] = 0;
	}
	if (!(even->known[radius / 64] >> radius % 64 & 1)) {
		sx_choose_strategy(plan, &request, &r->costs, &sizes,
				   &even->strategy[radius]);
		even->known[radius / 64] |= UINT64_C(1) << radius % 64;
	}
	return &even->strategy[radius];
}

/* A strategy counts errors, all of which cost the same. */
static sx_request request_of(const sx_query *q)
{
	sx_request request = { .radius = q->radius / q->unit, .ignore = q->ignore };

	return request;
}

/* The strategy for one query where ranges are even; kept in *own if it is for that alone. */
static const sx_strategy *choose_strategy(simidx_reader *r, const sx_query *q, unsigned which,
					  const sx_plan *plan, uint64_t rows, sx_strategy *own)
{
	sx_sizes sizes = { .rows = rows };
	sx_request request;

	if (!q->is_weighted)
		return even_strategy(r, which, plan, q->radius, rows);
	request = request_of(q);
	sx_choose_strategy(plan, &request, &r->costs, &sizes, own);
	return own;
}

/* Weights that differ, or not all that there is to find, are looked up by patterns. */
static int goes_by_patterns(const sx_query *q)
{
	return q->is_weighted && (!q->unit || q->asked->probes || q->asked->complete);
}

static int pattern_probes(const simidx_reader *r, const sx_query *q, const sx_plan *plan,
			  uint64_t rows, sx_probes *probes, sx_pattern_end *end,
			  simidx_error *err)
{
	unsigned distance = q->asked->complete;
	int rc;

	if (!distance || distance > q->radius)
		distance = q->radius;
	if (q->asked->probes)
		rc = sx_pattern_probes(plan, q->fp, q->asked->weights, q->asked->probes, probes,
				       end);
	else
		rc = sx_pattern_complete(plan, q->fp, q->asked->weights, distance,
					 &r->costs, rows, probes, end);
	return rc ? sx_fail_nomem(err) : SIMIDX_OK;
}

static int complete_to(const sx_pattern_end *end, unsigned radius)
{
	return (int)(end->complete_to < (int64_t)radius ? end->complete_to : (int64_t)radius);
}

/* The directory of a table for so many look-ups, or NULL. Most often the one that is held. */
static const sx_directory *directory_of(simidx_reader *r, unsigned t, uint64_t lookups)
{
	const sx_held *held = r->held[t];

	if (sx_held_fits(held, r->snapshot.header.table[t].generation,
			 sx_store_map_changes(r->index->store)))
		return held->directory;
	return sx_shelf_get(&r->snapshot, t, lookups, &r->held[t]);
}

/* Directories of the tables that are going to be probed; NULL or anything for the others. */
static void take_directories(simidx_reader *r)
{
	uint64_t lookups[SX_MAX_TABLES] = { 0 };

	if (!r->way.by_patterns && r->way.strategy->single) {
		for (size_t i = 0; i < r->probes.n; i++) {
			unsigned t = r->probes.at[i].table;

			r->directory[t] = directory_of(r, t, 1);
			if (r->directory[t])
				sx_directory_hint(r->directory[t], r->probes.at[i].low);
		}
		return;
	}

	for (size_t i = 0; i < r->probes.n; i++)
		lookups[r->probes.at[i].table]++;
	for (unsigned t = 0; t < r->index->plan.n_tables; t++)
		r->directory[t] = lookups[t] ? directory_of(r, t, lookups[t]) : NULL;
}

/* The query in the order of a table. */
uint64_t sx_way_permuted(simidx_reader *r, const sx_query *q, unsigned t)
{
	if (!(r->way.permuted_known >> t & 1)) {
		r->way.permuted[t] = sx_permute(&r->index->plan.table[t], q->fp);
		r->way.permuted_known |= UINT64_C(1) << t;
	}
	return r->way.permuted[t];
}

/* One range a table: the common case, without detours. */
static int single_probes(simidx_reader *r, const sx_query *q)
{
	const sx_strategy *s = r->way.strategy;
	const sx_plan *plan = &r->index->plan;

	if (sx_probes_reserve(&r->probes, s->n))
		return -1;
	for (unsigned i = 0; i < s->n; i++) {
		unsigned t = s->order[i], bits = s->bits[t];

		sx_probes_add(&r->probes, plan, t,
			      sx_way_permuted(r, q, t) >> (plan->bits - bits), bits, 0);
	}
	return 0;
}

static int probe_by(simidx_reader *r, const sx_query *q, const sx_strategy *strategy,
		    simidx_error *err)
{
	r->way.strategy = strategy;
	r->way.complete_to = (int)q->radius;
	return (strategy->single
			? single_probes(r, q)
			: sx_strategy_probes(&r->index->plan, strategy, q->fp, &r->probes))
		       ? sx_fail_nomem(err)
		       : SIMIDX_OK;
}

static void begin_way(simidx_reader *r, int by_patterns)
{
	r->probes.n = 0;
	r->way.permuted_known = 0;
	r->way.by_patterns = by_patterns;
	r->way.by_sizes = 0;
}

static int make_probes(simidx_reader *r, const sx_query *q, simidx_error *err)
{
	const sx_plan *plan = &r->index->plan;
	uint64_t rows = r->snapshot.header.table[0].rows;
	const sx_strategy *strategy;
	sx_way *way = &r->way;
	int rc;

	sx_prices_take(r, rows);
	begin_way(r, goes_by_patterns(q));
	if (way->by_patterns) {
		rc = pattern_probes(r, q, plan, rows, &r->probes, &way->end, err);
		way->complete_to = complete_to(&way->end, q->radius);
		return rc;
	}
	strategy = choose_strategy(r, q, OF_TABLES, plan, rows, &way->own);
	/* One that is kept was chosen when there were a few more or less. */
	way->rows = q->is_weighted || !strategy ? rows : r->even[OF_TABLES]->rows;
	return strategy ? probe_by(r, q, strategy, err) : sx_fail_nomem(err);
}

int sx_way_force(simidx_reader *r, const sx_query *q, const sx_strategy *strategy,
		 simidx_error *err)
{
	int rc;

	begin_way(r, 0);
	rc = probe_by(r, q, strategy, err);
	if (!rc)
		take_directories(r);
	return rc;
}

/*
 * The time that a search is expected to take if it depends on what things cost; 0 = it does not.
 * Where no prefix is flipped and there is one family of tables, little speaks for another way.
 */
static double time_in_question(const simidx_reader *r, const sx_query *q)
{
	const sx_strategy *s = r->way.strategy;

	if (r->way.by_patterns)
		return q->asked->probes ? 0 : (double)r->probes.n * r->costs.probe;
	if (s->single && r->index->plan.table[0].n_leads == 1 &&
	    8 * s->ns < sx_scan_ns(&r->costs, r->snapshot.header.table[0].rows))
		return 0;
	return s->ns;
}

/* The mini-index has a plan of its own; where it is the same, so are the probes. */
static int make_fresh_probes(simidx_reader *r, const sx_query *q, simidx_error *err)
{
	const sx_plan *plan = &r->index->fresh_plan;
	uint64_t rows = r->snapshot.header.next_seq - r->snapshot.header.first_seq;
	const sx_strategy *strategy;
	sx_strategy own;
	sx_pattern_end end;
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
	strategy = choose_strategy(r, q, OF_FRESH, plan, rows, &own);
	return !strategy || sx_strategy_probes(plan, strategy, q->fp, &r->fresh_probes)
		       ? sx_fail_nomem(err)
		       : SIMIDX_OK;
}

static int choose(simidx_reader *r, const sx_query *q, simidx_error *err)
{
	int rc = make_probes(r, q, err);

	if (!rc)
		rc = make_fresh_probes(r, q, err);
	if (!rc)
		take_directories(r);
	return rc;
}

int sx_way_choose(simidx_reader *r, const sx_query *q, simidx_error *err)
{
	int rc = choose(r, q, err);
	double question;

	if (rc)
		return rc;
	question = time_in_question(r, q);
	return question > 0 && sx_prices_owe(r, question) ? choose(r, q, err) : SIMIDX_OK;
}

/* ---- real sizes ---- */

static uint64_t real_size(void *ctx, unsigned table, uint64_t low, uint64_t high)
{
	const simidx_reader *r = ctx;
	const sx_directory *d = r->directory[table];
	const sx_plan *plan = &r->index->plan;
	double share = ((double)(high - low) + 1) / (double)(UINT64_C(1) << (plan->bits - 1)) / 2;

	if (d)
		return sx_directory_count(d, low, high);
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

/* All tables' directories that are there: the planner may step round to other ones. */
static void take_all_directories(simidx_reader *r)
{
	for (unsigned t = 0; t < r->index->plan.n_tables; t++)
		r->directory[t] = sx_shelf_get(&r->snapshot, t, 1, &r->held[t]);
}

int sx_way_reconsider(simidx_reader *r, const sx_query *q, simidx_error *err)
{
	sx_sizes sizes = { r->snapshot.header.table[0].rows, real_size, r, q->fp };
	sx_request request;

	if (r->way.by_patterns || !sx_strategy_is_poor(r->way.strategy, sx_way_candidates(r)))
		return 0;
	request = request_of(q);
	take_all_directories(r);
	sx_choose_strategy(&r->index->plan, &request, &r->costs, &sizes, &r->way.own);
	r->way.strategy = &r->way.own;
	r->way.rows = sizes.rows;
	r->way.by_sizes = 1;
	r->probes.n = 0;
	if (sx_strategy_probes(&r->index->plan, &r->way.own, q->fp, &r->probes))
		return sx_fail_nomem(err);
	take_directories(r);
	return 1;
}

void sx_way_others(simidx_reader *r, const sx_query *q, sx_choice *out)
{
	sx_sizes sizes = { r->way.rows, r->way.by_sizes ? real_size : NULL, r, q->fp };
	sx_request request = request_of(q);

	if (r->way.by_sizes)
		take_all_directories(r);
	sx_other_strategies(&r->index->plan, &request, &r->costs, &sizes, r->way.strategy, out);
}

int sx_way_is_first(const simidx_reader *r, const sx_query *q, const sx_probe *p, uint64_t fp)
{
	const sx_way *way = &r->way;

	if (way->by_patterns)
		return way->end.scan || sx_pattern_is_first(&way->end, q->asked->weights, p->table,
							    fp ^ q->fp);
	return sx_strategy_is_first(way->strategy, p->table, fp ^ q->fp);
}
