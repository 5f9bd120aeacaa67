/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * A search: checked query -> access -> hits -> matches, as the mode of the query wants them.
 */

#include <stdlib.h>
#include <string.h>

#include "search/sx_search.h"
#include "util/sx_err.h"
#include "util/sx_struct.h"

/* The end of the hits that have the same distance as hit number `from`. */
static size_t end_of_distance(const sx_hits *hits, size_t from)
{
	size_t to = from + 1;

	while (to < hits->n && hits->at[to].distance == hits->at[from].distance)
		to++;
	return to;
}

/*
 * Read documents in order, until there is one more than the limit allows, or the first one.
 * Distance after distance, so that none is read that the limit cuts off.
 */
static int read_in_order(simidx_reader *r, sx_finding *f, simidx_error *err)
{
	const sx_query *q = f->q;
	int first = q->asked->mode == SIMIDX_FIRST;
	uint64_t limit = first ? 1 : q->asked->limit, stop = sx_query_enough(q);
	sx_matches *m = &r->matches;
	sx_taking taking = sx_taking_of(f, m);
	simidx_results *out = f->out;
	int rc = SIMIDX_OK;

	for (size_t from = 0, to; !rc && from < f->hits->n && !(stop && m->n >= stop); from = to) {
		to = stop ? end_of_distance(f->hits, from) : f->hits->n;
		taking.max = stop ? stop - m->n : 0;
		rc = sx_matches_read(r->search, f, taking, from, to, err);
	}
	out->count = first && m->n ? 1 : m->n;
	if (limit && m->n > limit) {
		m->n = (size_t)limit;
		/* To the other modes the limit is what they ask for. */
		if (q->asked->mode == SIMIDX_ALL)
			out->truncated |= SIMIDX_CUT_LIMIT;
	}
	return rc;
}

/* The documents of all hits, or their number. */
static int read_documents(simidx_reader *r, sx_finding *f, simidx_error *err)
{
	sx_taking counting = sx_taking_of(f, &r->matches);

	counting.count = &f->out->count;
	r->matches.n = 0;
	return f->q->asked->mode == SIMIDX_COUNT
		       ? sx_matches_read(r->search, f, counting, 0, f->hits->n, err)
		       : read_in_order(r, f, err);
}

/* What SIMIDX_FIRST asks: whether the new hits have a document that matches. */
static int until_first(void *ctx, sx_finding *f, size_t from, simidx_error *err)
{
	simidx_reader *r = ctx;
	sx_taking taking = sx_taking_of(f, &r->matches);
	int rc;

	taking.max = 1;
	r->matches.n = 0;
	rc = sx_matches_read(r->search, f, taking, from, f->hits->n, err);
	f->done |= r->matches.n > 0;
	return rc;
}

static int search_within_radius(simidx_reader *r, sx_finding *f, simidx_error *err)
{
	int rc = sx_access_make(f->access, &r->covers, f->view, f->q, 0, err);

	if (!rc)
		rc = sx_hits_find(r->search, &f, 1, &f->out->round_trips, err);
	return rc ? rc : read_documents(r, f, err);
}

/*
 * The nearest by a radius that grows: each costs several times as much as the one before, so the
 * earlier ones add little. Where a scan is the cheapest access there is no use in growing. Hits
 * of a smaller radius stay: a search that is cut may miss them.
 */
static int search_nearest(simidx_reader *r, sx_finding *f, simidx_error *err)
{
	const sx_query *query = f->q;
	unsigned step = sx_reader_index(r)->backend->nearest_step;
	sx_query q = *query;
	int rc;

	f->q = &q;
	for (unsigned radius = step - 1;; radius += step) {
		sx_query_narrow(&q, query, radius);
		rc = sx_access_make(f->access, &r->covers, f->view, &q, 0, err);
		if (!rc && q.radius < query->radius && sx_access_is_scan(f->access)) {
			sx_query_narrow(&q, query, query->radius);
			rc = sx_access_make(f->access, &r->covers, f->view, &q, 0, err);
		}
		if (!rc)
			rc = sx_hits_find(r->search, &f, 1, &f->out->round_trips, err);
		if (!rc && (f->hits->most >= q.asked->limit || q.radius == query->radius ||
			    f->out->truncated))
			rc = read_documents(r, f, err);
		if (rc || f->out->truncated || q.radius == query->radius ||
		    r->matches.n >= q.asked->limit)
			return rc;
	}
}

/* What the caller sees, if all went well. Labels that are added later do not move it. */
static int finish(simidx_reader *r, int rc, simidx_results *out)
{
	if (rc)
		r->matches.n = 0;
	out->matches = r->matches.at;
	out->n = r->matches.n;
	return rc;
}

int sx_search(simidx_reader *r, const sx_query *q, simidx_results *out, simidx_error *err)
{
	sx_finding f = { .view = &r->view, .q = q, .access = &r->access, .hits = &r->hits,
			 .left = sx_query_candidates(q), .labels = &r->labels, .out = out,
			 .conditions = r->conditions };
	int rc;

	r->matches.n = 0;
	sx_hits_clear(&r->hits);
	if (r->labels.last)
		sx_arena_clear(&r->labels);
	if (q->is_empty) {
		/* Nothing is looked up; the access is what could be explained. */
		out->complete_to = (int)q->radius;
		return finish(r, sx_access_make(&r->access, &r->covers, &r->view, q, 0, err), out);
	}
	if (q->asked->mode == SIMIDX_FIRST) {
		f.until = until_first;
		f.ctx = r;
	}
	rc = sx_query_grows(q) ? search_nearest(r, &f, err) : search_within_radius(r, &f, err);
	return finish(r, rc, out);
}

int sx_search_found(simidx_reader *r, sx_finding *f, int is_fresh_found, simidx_error *err)
{
	int rc = SIMIDX_OK;

	if (!is_fresh_found && sx_view_fresh_rows(f->view))
		rc = sx_access_make_fresh(f->access, &r->covers, f->view, f->q, err);
	if (!rc && !is_fresh_found)
		rc = sx_hits_find_fresh(f, err);
	if (!rc)
		rc = read_documents(r, f, err);
	return finish(r, rc, f->out);
}

int sx_search_labels(simidx_reader *r, const simidx_query *asked, size_t from, size_t n,
		     simidx_error *err)
{
	const simidx *index = sx_reader_index(r);

	if (!(asked->flags & SIMIDX_QUERY_LABELS))
		return SIMIDX_OK;
	return index->backend->labels(&r->matches, sx_reader_snapshot(r), from, n,
				      index->checks, err);
}

/* Fingerprints that are not in the index, and which of them are found. */
struct beside {
	const uint64_t *fps;
	size_t n;
	const uint32_t **found;
	size_t *n_found;
};

/* After the search of the query, with its access. */
static int find_beside(simidx_reader *r, const sx_query *q, const struct beside *beside,
		       simidx_error *err)
{
	const sx_finding f = { .view = &r->view, .q = q, .access = &r->access };
	int rc;

	if (q->is_empty)
		return SIMIDX_OK;
	rc = sx_access_make_beside(&r->access, &r->covers, &r->view, q, err);
	if (!rc && sx_reserve(&r->beside, &r->beside_room, beside->n, sizeof(*r->beside)))
		rc = sx_fail_nomem(err);
	if (rc)
		return rc;
	*beside->n_found = sx_hits_beside(&f, beside->fps, beside->n, r->beside);
	*beside->found = r->beside;
	return SIMIDX_OK;
}

/* `beside`: or NULL. */
static int search(simidx_reader *r, const simidx_query *query, simidx_results *out,
		  const struct beside *beside, simidx_error *err)
{
	simidx_results own_results, *results;
	simidx_query own_query;
	sx_query q;
	int rc;

	sx_err_clear(err);
	results = sx_struct_begin(out, SX_STRUCT_TO(simidx_results, n), &own_results,
				  sizeof(own_results));
	query = sx_struct_read(query, SX_QUERY_MIN, &own_query, sizeof(own_query));
	if (!r || !query || !results)
		return sx_fail(err, SIMIDX_E_ARG,
			       "simidx_reader_search: no reader, or bad struct size");
	if (beside && (query->mode != SIMIDX_ALL || query->max_candidates || query->complete))
		return sx_fail(err, SIMIDX_E_ARG,
			       "simidx_reader_search_beside: not with this mode, or limits");
	rc = sx_query_init(&q, sx_reader_index(r), query, err);
	if (!rc)
		rc = sx_reader_begin(r, err);
	if (rc)
		return rc;
	rc = sx_search(r, &q, results, err);
	if (!rc)
		rc = sx_search_labels(r, query, 0, r->matches.n, err);
	if (!rc && beside)
		rc = find_beside(r, &q, beside, err);
	if (rc)
		results->n = 0;
	sx_reader_end(r);
	sx_struct_end(out, results, sizeof(*results));
	return rc;
}

int simidx_reader_search(simidx_reader *r, const simidx_query *query, simidx_results *out,
			 simidx_error *err)
{
	return search(r, query, out, NULL, err);
}

int simidx_reader_search_beside(simidx_reader *r, const simidx_query *query, const uint64_t *fps,
				size_t n, simidx_results *out, const uint32_t **found,
				size_t *n_found, simidx_error *err)
{
	const struct beside beside = { fps, n, found, n_found };

	if (!found || !n_found || (n && !fps) || n > UINT32_MAX) {
		sx_err_clear(err);
		return sx_fail(err, SIMIDX_E_ARG,
			       "simidx_reader_search_beside: no fingerprints, or no place for them");
	}
	*found = NULL;
	*n_found = 0;
	return search(r, query, out, &beside, err);
}
