/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * A search: checked query -> access -> hits -> matches, as the mode of the query wants them.
 */

#include <stdlib.h>
#include <string.h>

#include "search/sx_engine_search.h"
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
 * Read documents in order, until there is one more than the limit allows, or the one that is asked
 * for. Distance after distance, so that none is read that the limit cuts off; but with second
 * fingerprints the order is known only when all have been read.
 */
static int read_in_order(simidx_reader *r, const sx_query *q, const sx_doc *known,
			 simidx_results *out, simidx_error *err)
{
	int first = q->asked->mode == SIMIDX_FIRST;
	uint64_t limit = first ? 1 : q->asked->limit;
	uint64_t stop = first || !limit || limit == UINT64_MAX ? limit : limit + 1;
	sx_matches *m = &r->matches;
	int rc = SIMIDX_OK;

	for (size_t from = 0, to; !rc && from < r->hits.n && !(stop && m->n >= stop); from = to) {
		to = q->has_fp2 || !limit ? r->hits.n : end_of_distance(&r->hits, from);
		rc = sx_matches_read(m, &r->view, q, &r->hits, from, to, known,
				     stop && !q->has_fp2 ? stop - m->n : 0, NULL, err);
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
static int read_documents(simidx_reader *r, const sx_query *q, const sx_doc *known,
			  simidx_results *out, simidx_error *err)
{
	r->matches.n = 0;
	if (q->asked->mode == SIMIDX_COUNT)
		return sx_matches_read(&r->matches, &r->view, q, &r->hits, 0, r->hits.n, known, 0,
				       &out->count, err);
	return read_in_order(r, q, known, out, err);
}

/* What SIMIDX_FIRST asks: whether the new hits have a document that matches. */
struct first {
	simidx_reader *r;
	const sx_query *q;
};

static int until_first(void *ctx, size_t from, int *done, simidx_error *err)
{
	const struct first *f = ctx;
	sx_matches *m = &f->r->matches;
	int rc;

	m->n = 0;
	rc = sx_matches_read(m, &f->r->view, f->q, &f->r->hits, from, f->r->hits.n, NULL, 1, NULL,
			     err);
	*done = m->n > 0;
	return rc;
}

static int search_within_radius(simidx_reader *r, const sx_query *q, simidx_results *out,
				simidx_error *err)
{
	struct first first = { r, q };
	sx_hits_until until = q->asked->mode == SIMIDX_FIRST ? until_first : NULL;
	int rc;

	if (r->engine)
		return sx_engine_search_one(r->engine, r, q, out, err);
	rc = sx_access_make(&r->access, &r->view, q, err);
	if (!rc)
		rc = sx_hits_find(&r->hits, &r->view, &r->access, q, until, &first, out, err);
	return rc ? rc : read_documents(r, q, NULL, out, err);
}

static void swap_matches(simidx_reader *r)
{
	sx_matches *a = &r->matches, *b = &r->nearer;
	simidx_match *at = a->at;
	size_t n = a->n, cap = a->cap;

	a->at = b->at;
	a->n = b->n;
	a->cap = b->cap;
	b->at = at;
	b->n = n;
	b->cap = cap;
}

/*
 * A search that was cut may have missed what the ones before it had found: that is in
 * reader->nearer, all within less than `next`.
 */
static int add_nearer(simidx_reader *r, const sx_query *q, unsigned next, simidx_results *out,
		      simidx_error *err)
{
	int rc = SIMIDX_OK;

	for (size_t i = 0; !rc && i < r->matches.n; i++)
		if (r->matches.at[i].weighted_distance >= next)
			rc = sx_matches_push(&r->nearer, &r->matches.at[i], err);
	swap_matches(r);
	out->count = r->matches.n;
	if (r->matches.n > q->asked->limit)
		r->matches.n = (size_t)q->asked->limit;
	return rc;
}

/*
 * The nearest by radius 0, 1, 2, ...: each costs several times as much as the one before, so the
 * earlier ones add little. Where a scan is the cheapest access there is no use in growing.
 */
static int search_nearest(simidx_reader *r, const sx_query *query, simidx_results *out,
			  simidx_error *err)
{
	sx_query q = *query;
	int is_last = 0, rc;

	/* Where the order is not that of the radius, a later one may hold nearer ones. */
	if (q.is_weighted || q.has_fp2 || r->engine)
		return search_within_radius(r, query, out, err);
	for (unsigned next = 0;; next = q.radius + 1) {
		is_last = is_last || next >= query->radius;
		q.radius = is_last ? query->radius : next;
		q.max_bits = q.radius < query->max_bits ? q.radius : query->max_bits;
		swap_matches(r);
		rc = search_within_radius(r, &q, out, err);
		if (!rc && out->truncated)
			return add_nearer(r, query, next, out, err);
		if (rc || is_last || r->matches.n >= q.asked->limit)
			return rc;
		is_last = r->access.cover->scan;
	}
}

/* What the caller sees, if all went well. */
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
	int rc;

	r->matches.n = 0;
	r->hits.left = q->asked->max_candidates ? q->asked->max_candidates : UINT64_MAX;
	if (r->engine)
		sx_engine_search_begin(r->engine);
	if (q->is_empty) {
		/* Nothing is looked up; the access is what could be explained. */
		out->complete_to = (int)q->radius;
		return finish(r, sx_access_make(&r->access, &r->view, q, err), out);
	}
	rc = q->asked->mode == SIMIDX_NEAREST ? search_nearest(r, q, out, err)
					      : search_within_radius(r, q, out, err);
	return finish(r, rc, out);
}

int sx_search_found(simidx_reader *r, const sx_query *q, const sx_doc *known,
		    simidx_results *out, simidx_error *err)
{
	int rc = SIMIDX_OK;

	/* The memtable may look up the probes of the tables. */
	if (sx_view_fresh_rows(&r->view))
		rc = sx_access_make(&r->access, &r->view, q, err);
	if (!rc)
		rc = sx_hits_find_fresh(&r->hits, &r->view, &r->access, q, out, err);
	if (!rc)
		rc = read_documents(r, q, known, out, err);
	return finish(r, rc, out);
}

int sx_search_labels(simidx_reader *r, const simidx_query *asked, size_t from, size_t n,
		     simidx_error *err)
{
	/* An engine delivers documents with their labels. */
	if (!(asked->flags & SIMIDX_QUERY_LABELS) || !sx_has_ids(sx_reader_index(r)) || r->engine)
		return SIMIDX_OK;
	return sx_matches_add_labels(&r->matches, sx_reader_snapshot(r), from, n,
				     sx_reader_index(r)->checks, err);
}

int simidx_reader_search(simidx_reader *r, const simidx_query *query, simidx_results *out,
			 simidx_error *err)
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
	rc = sx_query_init(&q, sx_reader_index(r), query, err);
	if (!rc)
		rc = sx_reader_begin(r, err);
	if (rc)
		return rc;
	rc = sx_search(r, &q, results, err);
	if (!rc)
		rc = sx_search_labels(r, query, 0, r->matches.n, err);
	sx_reader_end(r);
	rc = finish(r, rc, results);
	sx_struct_end(out, results, sizeof(*results));
	return rc;
}
