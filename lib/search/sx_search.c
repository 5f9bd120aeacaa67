/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Fingerprints that were found -> documents, as the mode of the query wants them.
 */

#include <stdlib.h>
#include <string.h>

#include "search/sx_reader.h"
#include "util/sx_err.h"

/* Without ids a document is a fingerprint, and a copy in both tiers is one. */
static int take_fingerprints(simidx_reader *r, const sx_query *q, size_t from, size_t to,
			     uint64_t *count, simidx_error *err)
{
	int rc = SIMIDX_OK;

	if (count)
		*count += to - from;
	for (size_t i = from; !rc && !count && i < to; i++) {
		simidx_match match = sx_match_of(r->index, SIMIDX_NO_ID, r->hits.at[i].fp, 0);

		sx_query_judge(q, &match);
		rc = sx_matches_push(&r->matches, &match, err);
	}
	return rc;
}

/* Documents of hits [from, to), in order; `most` of each fingerprint are enough (0 = all). */
static int read_documents(simidx_reader *r, const sx_query *q, size_t from, size_t to,
			  uint64_t most, simidx_error *err)
{
	size_t first = r->matches.n;
	int rc;

	if (!sx_has_ids(r->index))
		return take_fingerprints(r, q, from, to, NULL, err);
	rc = sx_postings_read(r, q, from, to, most, NULL, err);
	/* Those of one fingerprint come from postings by id, and all are as far off. */
	if (!rc && (to - from > 1 || r->fresh.n || q->has_fp2))
		sx_matches_sort(&r->matches, first);
	return rc;
}

/* The end of the hits that have the same distance as hit number `from`. */
static size_t end_of_distance(const simidx_reader *r, size_t from)
{
	size_t to = from + 1;

	while (to < r->hits.n && r->hits.at[to].distance == r->hits.at[from].distance)
		to++;
	return to;
}

/*
 * Documents in order, until there is one more than the limit allows, or the one that is asked
 * for. Distance after distance, so that none is read that the limit cuts off; but with second
 * fingerprints the order is known only when all have been read.
 */
static int deliver_documents(simidx_reader *r, const sx_query *q, simidx_results *out,
			     simidx_error *err)
{
	int first = q->asked->mode == SIMIDX_FIRST;
	uint64_t limit = first ? 1 : q->asked->limit;
	uint64_t stop = first || !limit || limit == UINT64_MAX ? limit : limit + 1;
	size_t from = 0;
	int rc = SIMIDX_OK;

	r->matches.n = 0;
	while (!rc && from < r->hits.n && !(stop && r->matches.n >= stop)) {
		size_t to = q->has_fp2 || !limit ? r->hits.n : end_of_distance(r, from);

		rc = read_documents(r, q, from, to, stop && !q->has_fp2 ? stop - r->matches.n : 0, err);
		from = to;
	}
	out->count = first && r->matches.n ? 1 : r->matches.n;
	if (limit && r->matches.n > limit) {
		r->matches.n = (size_t)limit;
		/* To the other modes the limit is what they ask for. */
		if (q->asked->mode == SIMIDX_ALL)
			out->truncated |= SIMIDX_CUT_LIMIT;
	}
	return rc;
}

static int count_documents(simidx_reader *r, const sx_query *q, simidx_results *out,
			   simidx_error *err)
{
	r->matches.n = 0;
	if (!sx_has_ids(r->index))
		return take_fingerprints(r, q, 0, r->hits.n, &out->count, err);
	return sx_postings_read(r, q, 0, r->hits.n, 0, &out->count, err);
}

/* Whether the new hits have a document that matches: those before them had none. */
static int has_document(simidx_reader *r, const sx_query *q, size_t from, simidx_error *err)
{
	int rc;

	r->matches.n = 0;
	rc = read_documents(r, q, from, r->hits.n, 1, err);
	return rc ? rc : r->matches.n > 0;
}

static int search_first(simidx_reader *r, const sx_query *q, simidx_results *out,
			simidx_error *err)
{
	int rc = sx_collect(r, q, has_document, out, err);

	return rc ? rc : deliver_documents(r, q, out, err);
}

/* The documents of all hits. */
static int answer(simidx_reader *r, const sx_query *q, simidx_results *out, simidx_error *err)
{
	return q->asked->mode == SIMIDX_COUNT ? count_documents(r, q, out, err)
					      : deliver_documents(r, q, out, err);
}

static int search_all(simidx_reader *r, const sx_query *q, simidx_results *out, simidx_error *err)
{
	int rc = sx_collect(r, q, NULL, out, err);

	return rc ? rc : answer(r, q, out, err);
}

static void swap_matches(simidx_reader *r)
{
	sx_matches matches = r->matches;

	r->matches = r->nearer;
	r->nearer = matches;
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
 * earlier ones add little. Where a scan is the cheapest way there is no use in growing.
 */
static int search_nearest(simidx_reader *r, const sx_query *query, simidx_results *out,
			  simidx_error *err)
{
	sx_query q = *query;
	unsigned next = 0;
	int all, rc;

	/* Where the order is not that of the radius, a later one may hold nearer ones. */
	if (q.is_weighted || q.has_fp2)
		return search_all(r, query, out, err);
	r->way.cover = NULL;
	for (;; next = q.radius + 1) {
		all = next >= query->radius || (r->way.cover && r->way.cover->scan);
		q.radius = all ? query->radius : next;
		q.most_bits = q.radius < query->most_bits ? q.radius : query->most_bits;
		swap_matches(r);
		rc = search_all(r, &q, out, err);
		if (!rc && out->truncated)
			return add_nearer(r, query, next, out, err);
		if (rc || all || r->matches.n >= q.asked->limit)
			return rc;
	}
}

static int search(simidx_reader *r, const sx_query *q, simidx_results *out, simidx_error *err)
{
	r->matches.n = 0;
	r->fresh_candidates = 0;
	switch (q->asked->mode) {
	case SIMIDX_FIRST:
		return search_first(r, q, out, err);
	case SIMIDX_NEAREST:
		return search_nearest(r, q, out, err);
	default:
		return search_all(r, q, out, err);
	}
}

/* What the caller sees, if all went well. */
static int finish(simidx_reader *r, int rc, simidx_results *out)
{
	out->size = sizeof(*out);
	if (rc) {
		r->matches.n = 0;
		return rc;
	}
	out->matches = r->matches.at;
	out->n = r->matches.n;
	return SIMIDX_OK;
}

int sx_search(simidx_reader *r, const simidx_query *asked, simidx_results *out,
	      simidx_error *err)
{
	sx_query q;
	int rc;

	memset(out, 0, sizeof(*out));
	rc = sx_query_init(&q, r->index, asked, err);
	if (!rc)
		rc = search(r, &q, out, err);
	return finish(r, rc, out);
}

int sx_search_found(simidx_reader *r, const simidx_query *asked, simidx_results *out,
		    simidx_error *err)
{
	sx_query q;
	int rc = sx_query_init(&q, r->index, asked, err);

	if (!rc)
		rc = sx_collect_found(r, &q, out, err);
	if (!rc)
		rc = answer(r, &q, out, err);
	return finish(r, rc, out);
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
	rc = sx_query_init(&q, r->index, query, err);
	if (rc)
		return rc;
	sx_collect_ahead(r, &q);
	rc = sx_snapshot_renew(&r->snapshot, err);
	if (rc) {
		r->ahead = 0;
		return rc;
	}
	rc = search(r, &q, results, err);
	if (!rc && q.asked->flags & SIMIDX_QUERY_LABELS && sx_has_ids(r->index))
		rc = sx_reader_add_labels(r, 0, r->matches.n, err);
	rc = finish(r, rc, results);
	sx_snapshot_reset(&r->snapshot);
	sx_struct_end(out, results, sizeof(*results));
	return rc;
}
