/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "search/sx_hits.h"

#include <stdlib.h>

#include "util/sx_err.h"

#define FEW 32 /* hits that an insertion sort sorts faster than qsort() */

void sx_hits_free(sx_hits *hits)
{
	free(hits->at);
	free(hits->fresh.at);
	free(hits->rows.at);
	free(hits->rows.document);
}

void sx_hits_clear(sx_hits *hits)
{
	hits->n = hits->fresh.n = 0;
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

int sx_hits_ask_until(sx_finding *f, size_t from, simidx_error *err)
{
	if (!f->until || f->hits->n == from)
		return SIMIDX_OK;
	return f->until(f->ctx, f, from, err);
}

static int find_fresh(sx_finding *f, simidx_error *err)
{
	sx_hits *hits = f->hits;
	const sx_snapshot *snapshot = &f->view->snapshot;
	sx_fresh_span span = sx_header_fresh(&snapshot->header);
	size_t had = hits->n, kept = 0;
	int rc;

	rc = sx_fresh_near(snapshot->index->fresh, snapshot->txn, &span, &sx_access_fresh(f->access)->probes, f->q->fp,
			   f->q->max_bits, &hits->fresh, &f->out->candidates, err);
	for (size_t i = 0; !rc && i < hits->fresh.n; i++) {
		sx_fresh_row row = hits->fresh.at[i];

		if (!sx_query_accepts(f->q, row.fp) ||
		    !sx_access_has_fresh(f->access, f->view, f->q, row.fp))
			continue;
		/* Rows with one fingerprint most often follow one another, and may be many. */
		if (hits->n == had || hits->at[hits->n - 1].fp != row.fp)
			rc = sx_hits_add(hits, f->q, row.fp, 0, err);
		hits->fresh.at[kept++] = row;
	}
	hits->fresh.n = kept;
	return rc ? rc : sx_hits_ask_until(f, had, err);
}

static int compare(const void *a, const void *b)
{
	const sx_hit *x = a, *y = b;

	if (x->distance != y->distance)
		return x->distance < y->distance ? -1 : 1;
	if (x->fp != y->fp)
		return x->fp < y->fp ? -1 : 1;
	return y->in_tables - x->in_tables;
}

/* Sort the hits and drop copies; that of the tables stays. */
static void sort(sx_hits *hits)
{
	size_t n = 0;

	if (hits->n > FEW)
		qsort(hits->at, hits->n, sizeof(*hits->at), compare);
	else
		for (size_t i = 1; i < hits->n; i++) {
			sx_hit hit = hits->at[i];
			size_t j = i;

			for (; j && compare(&hit, &hits->at[j - 1]) < 0; j--)
				hits->at[j] = hits->at[j - 1];
			hits->at[j] = hit;
		}
	for (size_t i = 0; i < hits->n; i++)
		if (!n || hits->at[i].fp != hits->at[n - 1].fp)
			hits->at[n++] = hits->at[i];
	hits->n = n;
}

/* All are there: what they come to. */
static void end(const sx_finding *f, int complete_to)
{
	sort(f->hits);
	f->out->fingerprints = f->hits->n;
	f->out->complete_to = complete_to;
}

int sx_hits_find(void *search, sx_finding *const *finding, size_t n, uint64_t *round_trips,
		 simidx_error *err)
{
	const simidx *index = n ? sx_view_index(finding[0]->view) : NULL;
	int rc = SIMIDX_OK;

	for (size_t i = 0; i < n; i++) {
		sx_finding *f = finding[i];
		sx_fresh_span span = sx_header_fresh(&sx_view_snapshot(f->view)->header);

		f->done = 0;
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
		end(f, (int)f->q->radius);
	return rc;
}
