/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "search/sx_finding.h"

#include <stdlib.h>
#include <string.h>

#include "index/sx_backend.h"
#include "util/sx_err.h"
#include "util/sx_order.h"

#define FEW 32 /* hits or matches that an insertion sort sorts faster than qsort() */

/* ---- hits ---- */

void sx_hits_free(sx_hits *hits)
{
	free(hits->at);
	free(hits->fresh.at);
	free(hits->rows.at);
	free(hits->rows.document);
}

void sx_hits_clear(sx_hits *hits)
{
	hits->n = hits->from = hits->fresh.n = 0;
	hits->rows.n = hits->rows.from = hits->rows.to = 0;
}

int sx_hits_add(sx_hits *hits, const sx_query *q, uint64_t fp, int in_tables, simidx_error *err)
{
	if (hits->n == hits->cap &&
	    sx_reserve(&hits->at, &hits->cap, hits->n + 1, sizeof(*hits->at)))
		return sx_fail_nomem(err);
	hits->at[hits->n++] = (sx_hit){ .fp = fp,
					.distance = sx_query_distance(q, fp),
					.in_tables = in_tables };
	return SIMIDX_OK;
}

size_t sx_finding_candidates(sx_finding *f, size_t n)
{
	if (n > f->left) {
		n = (size_t)f->left;
		f->out->truncated |= SIMIDX_CUT_CANDIDATES;
		f->done = 1;
	}
	f->left -= n;
	f->out->candidates += n;
	return n;
}

int sx_hits_ask_until(sx_finding *f, size_t from, simidx_error *err)
{
	if (!f->until || f->hits->n == from)
		return SIMIDX_OK;
	return f->until(f->ctx, f, from, err);
}

/* Whether documents with a fingerprint, which differs in few enough bits, can match. */
static int accepts_fresh(const void *ctx, uint64_t fp)
{
	const sx_finding *f = ctx;

	return sx_query_accepts_near(f->q, fp) &&
	       sx_access_has_fresh(f->access, f->view, f->q, fp);
}

static int find_fresh(sx_finding *f, simidx_error *err)
{
	sx_hits *hits = f->hits;
	const sx_snapshot *snapshot = &f->view->snapshot;
	sx_fresh_span span = sx_header_fresh(&snapshot->header);
	const sx_fresh_query query = { f->q->fp, f->q->max_bits,
				       &sx_access_fresh(f->access)->probes, accepts_fresh, f };
	size_t had = hits->n;
	int rc = sx_fresh_near(snapshot->index->fresh, snapshot->txn, &span, &query, &hits->fresh,
			       &f->out->candidates, err);

	for (size_t i = 0; !rc && i < hits->fresh.n; i++) {
		uint64_t fp = hits->fresh.at[i].fp;

		/* Rows with one fingerprint most often follow one another, and may be many. */
		if (hits->n == had || hits->at[hits->n - 1].fp != fp)
			rc = sx_hits_add(hits, f->q, fp, 0, err);
	}
	return rc ? rc : sx_hits_ask_until(f, had, err);
}

size_t sx_hits_beside(const sx_finding *f, const uint64_t *fps, size_t n, uint32_t *hit)
{
	const sx_kernel *kernel = f->view->snapshot.index->kernel;
	size_t near = kernel->near_u64(fps, n, f->q->fp, f->q->max_bits, hit), kept = 0;

	for (size_t i = 0; i < near; i++)
		if (accepts_fresh(f, fps[hit[i]]))
			hit[kept++] = hit[i];
	return kept;
}

/* Sort items. `one` has room for one of them. */
SX_INLINE void sort(void *items, size_t n, size_t size, void *one, sx_compare_fn *compare)
{
	unsigned char *at = items;

	if (n > FEW) {
		qsort(items, n, size, compare);
		return;
	}
	for (size_t i = 1; i < n; i++) {
		size_t j = i;

		memcpy(one, at + i * size, size);
		for (; j && compare(one, at + (j - 1) * size) < 0; j--)
			memcpy(at + j * size, at + (j - 1) * size, size);
		memcpy(at + j * size, one, size);
	}
}

static int compare_hits(const void *a, const void *b)
{
	const sx_hit *x = a, *y = b;

	if (x->distance != y->distance)
		return x->distance < y->distance ? -1 : 1;
	if (x->fp != y->fp)
		return x->fp < y->fp ? -1 : 1;
	return y->in_tables - x->in_tables;
}

/* Sort the hits and drop copies; that of the tables stays. */
static void sort_hits(sx_hits *hits)
{
	size_t n = 0;
	sx_hit hit;

	sort(hits->at, hits->n, sizeof(hit), &hit, compare_hits);
	for (size_t i = 0; i < hits->n; i++)
		if (!n || hits->at[i].fp != hits->at[n - 1].fp)
			hits->at[n++] = hits->at[i];
	hits->n = n;
}

/* All are there: what they come to. */
static void end(const sx_finding *f, int complete_to)
{
	sort_hits(f->hits);
	f->out->fingerprints = f->hits->n;
	f->out->complete_to = complete_to;
}

int sx_hits_find(void *search, sx_finding *const *finding, size_t n, uint64_t *round_trips,
		 simidx_error *err)
{
	const sx_view *view = n ? finding[0]->view : NULL;
	const simidx *index = n ? view->snapshot.index : NULL;
	int rc = SIMIDX_OK;

	for (size_t i = 0; i < n; i++) {
		sx_finding *f = finding[i];
		sx_fresh_span span = sx_header_fresh(&view->snapshot.header);

		f->done = 0;
		f->hits->from = f->hits->n;
		f->hits->fresh.n = 0;
		f->hits->most = UINT64_MAX;
		if (sx_view_fresh_rows(f->view))
			sx_fresh_prefetch(index->fresh, &span, &sx_access_fresh(f->access)->probes);
	}
	if (n)
		rc = index->backend->near(search, finding, n, round_trips, err);
	for (size_t i = 0; !rc && i < n; i++) {
		sx_finding *f = finding[i];

		if (!f->done && sx_view_fresh_rows(f->view))
			rc = find_fresh(f, err);
		if (f->hits->most != UINT64_MAX)
			f->hits->most += f->hits->fresh.n;
		if (!rc)
			end(f, f->access->complete_to);
	}
	return rc;
}

int sx_hits_find_fresh(sx_finding *f, simidx_error *err)
{
	int rc = SIMIDX_OK;

	f->hits->fresh.n = 0;
	if (sx_view_fresh_rows(f->view))
		rc = find_fresh(f, err);
	if (!rc)
		end(f, f->access->complete_to);
	return rc;
}

/* ---- matches ---- */

void sx_matches_free(sx_matches *m)
{
	free(m->at);
	free(m->labels);
}

simidx_match sx_match_of(const simidx *index, const sx_doc *doc)
{
	simidx_match match = { .id = doc->id, .fp = doc->fp };

	sx_match_set_values(index, &match, doc->values);
	return match;
}

int sx_matches_push(sx_matches *m, const simidx_match *match, simidx_error *err)
{
	if (m->n == m->cap && sx_reserve(&m->at, &m->cap, m->n + 1, sizeof(*m->at)))
		return sx_fail_nomem(err);
	m->at[m->n++] = *match;
	return SIMIDX_OK;
}

/* ---- documents of a fingerprint ---- */

int sx_taking_is_full(const sx_taking *t)
{
	return t->max && t->had >= t->max;
}

int sx_matches_take(sx_taking *t, uint64_t fp, const uint64_t *id, const sx_value_arrays *values,
		    size_t n, simidx_error *err)
{
	sx_matches *m = t->matches;
	simidx_match match = { .fp = fp };
	size_t had = m->n;
	int judges = sx_query_judges(t->q, fp);
	int has_values = values && t->index->schema->columns.n;

	if (!n)
		return SIMIDX_OK;
	if (t->count && !judges) {
		*t->count += n;
		return SIMIDX_OK;
	}
	sx_query_judge(t->q, &match);
	if (sx_reserve(&m->at, &m->cap, m->n + n, sizeof(*m->at)))
		return sx_fail_nomem(err);
	/* All match, and the callers have seen to max. */
	if (!judges) {
		simidx_match *to = m->at + m->n, like = match; /* one that stays in registers */

		for (size_t i = 0; i < n; i++) {
			like.id = id[i];
			to[i] = like;
		}
		for (size_t i = 0; has_values && i < n; i++)
			sx_match_set_values(t->index, &to[i], sx_value_arrays_at(values, i));
		m->n += n;
		t->had += n;
		return SIMIDX_OK;
	}
	for (size_t i = 0; i < n && !sx_taking_is_full(t); i++) {
		match = (simidx_match){ .id = id[i], .fp = fp };
		if (has_values)
			sx_match_set_values(t->index, &match, sx_value_arrays_at(values, i));
		if (!sx_query_judge(t->q, &match))
			continue;
		m->at[m->n++] = match;
		t->had++;
	}
	if (t->count) {
		*t->count += m->n - had;
		m->n = had;
	}
	return SIMIDX_OK;
}

int sx_matches_take_one(sx_taking *t, const sx_doc *doc, simidx_error *err)
{
	sx_value_arrays values = sx_value_arrays_of(&doc->values);

	return sx_matches_take(t, doc->fp, &doc->id, &values, 1, err);
}

/*
 * Fresh rows of hits [from, to): those of their distances, as hits of one distance come together.
 */
static int take_fresh(sx_taking *t, const sx_hits *hits, size_t from, size_t to,
		      simidx_error *err)
{
	unsigned low = hits->at[from].distance, high = hits->at[to - 1].distance;
	int rc = SIMIDX_OK;

	for (size_t i = 0; !rc && i < hits->fresh.n; i++) {
		const sx_fresh_row *row = &hits->fresh.at[i];
		unsigned distance = sx_query_distance(t->q, row->fp);

		t->had = 0;
		if (distance >= low && distance <= high)
			rc = sx_matches_take_one(
				t, &(sx_doc){ row->id, row->fp, row->values }, err);
	}
	return rc;
}

/* ---- order ---- */

static int compare_matches(const void *a, const void *b)
{
	const simidx_match *x = a, *y = b;

	if (x->weighted_distance != y->weighted_distance)
		return x->weighted_distance < y->weighted_distance ? -1 : 1;
	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->fp < y->fp ? -1 : x->fp > y->fp;
}

/* Sort matches [from, n). */
static void sort_matches(sx_matches *m, size_t from)
{
	size_t n = m->n - from, i = 1;
	simidx_match *at = n ? m->at + from : NULL, match;

	while (i < n && compare_matches(&at[i - 1], &at[i]) < 0)
		i++;
	if (i < n)
		sort(at, n, sizeof(match), &match, compare_matches);
}

sx_taking sx_taking_of(const sx_finding *f, sx_matches *matches)
{
	return (sx_taking){ .matches = matches, .index = f->view->snapshot.index, .q = f->q };
}

int sx_matches_read(void *search, sx_finding *f, sx_taking taking, size_t from, size_t to,
		    simidx_error *err)
{
	const simidx *index = taking.index;
	size_t had = taking.matches->n;
	int rc;

	if (from == to)
		return SIMIDX_OK;
	rc = index->backend->documents(search, f, &taking, from, to, err);
	if (!rc && f->hits->fresh.n && index->schema->has_ids)
		rc = take_fresh(&taking, f->hits, from, to, err);
	/* Those of one fingerprint in postings come in order, and may be millions. */
	if (!rc && (to - from > 1 || f->hits->fresh.n || f->q->has_fp2))
		sort_matches(taking.matches, had);
	return rc;
}
