/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "search/sx_engine_rows.h"

#include <stdlib.h>

#include "util/sx_bytes.h"
#include "util/sx_err.h"

#define FILTERED SX_ENGINE_FILTERED
#define WALKED 4096 /* documents that a walk delivers at once */
#define STEP 4      /* a wait for an answer costs more than the probes of some bits more */

sx_engine_search *sx_engine_search_new(void)
{
	return sx_calloc(1, sizeof(sx_engine_search));
}

static void free_query(sx_engine_query *q)
{
	free(q->row);
	free(q->document);
}

void sx_engine_search_free(sx_engine_search *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->query_cap; i++)
		free_query(&s->query[i]);
	for (size_t i = 0; i < s->prepared; i++)
		sx_access_free(&s->access[i]);
	free(s->query);
	free(s->checked);
	free(s->access);
	free(s->probe);
	free(s->owner);
	free(s->id);
	free(s->origin);
	sx_arena_free(&s->labels);
	free(s);
}

sx_engine *sx_engine_of_search(const sx_engine_search *s)
{
	return s->view->snapshot.index->engine;
}

int sx_engine_outcome(const sx_engine_search *s, int rc, simidx_error *err)
{
	if (!s->rc)
		return rc;
	sx_err_clear(err);
	return s->rc == SIMIDX_E_NOMEM
		       ? sx_fail_nomem(err)
		       : sx_fail(err, SIMIDX_E_IO, "%s: it sent something else than it was asked for",
				 sx_engine_of_search(s)->uri);
}

/* ---- the nearest ---- */

static void set_radius(sx_engine_query *q, unsigned radius)
{
	q->growing.radius = radius < q->whole->radius ? radius : q->whole->radius;
	q->growing.max_bits = q->growing.radius < q->whole->max_bits ? q->growing.radius
								     : q->whole->max_bits;
}

void sx_engine_rows_ask(sx_engine_query *q, const sx_query *asked)
{
	q->q = asked;
	q->whole = NULL;
	/* Where the order is not that of the radius, a larger one may hold nearer ones. */
	if (asked->asked->mode != SIMIDX_NEAREST || asked->is_weighted || asked->has_fp2)
		return;
	q->whole = asked;
	q->growing = *asked;
	q->q = &q->growing;
	set_radius(q, STEP - 1);
}

int sx_engine_rows_grow(sx_engine_query *q)
{
	if (!q->whole || q->results.truncated || q->growing.radius >= q->whole->radius)
		return 0;
	set_radius(q, q->growing.radius + STEP);
	q->is_found = 0;
	return 1;
}

/* ---- probes ---- */

/* A range is as many probes as it has whole prefixes. */
static int add_probe(sx_engine_search *s, uint32_t owner, const sx_probe *range, simidx_error *err)
{
	const sx_plan *plan = &s->view->snapshot.index->plan;
	unsigned bits = plan->table[range->table].prefix_bits, below = plan->bits - bits;
	uint64_t first = range->low >> below, n = ((range->high - range->low) >> below) + 1;

	if (sx_reserve(&s->probe, &s->probe_cap, s->n_probes + n, sizeof(*s->probe)) ||
	    sx_reserve(&s->owner, &s->owner_cap, s->n_probes + n, sizeof(*s->owner)))
		return sx_fail_nomem(err);
	for (uint64_t i = 0; i < n; i++) {
		s->owner[s->n_probes] = owner;
		s->probe[s->n_probes++] = (simidx_engine_probe){
			.prefix = (uint32_t)((first + i) << (32 - bits)), .table = range->table
		};
	}
	return SIMIDX_OK;
}

static int is_walk(const sx_engine_query *q)
{
	return !q->rc && !q->is_found && !q->q->is_empty && sx_access_is_scan(q->access);
}

/* Plan a query, and add its probes to those of the others. */
static int plan(sx_engine_search *s, uint32_t number, simidx_error *err)
{
	sx_engine_query *q = &s->query[number];
	size_t had = s->n_probes;
	int rc;

	q->access->shared = q->whole && s->n_growing > 1 ? s->n_growing : 0;
	rc = sx_access_make(q->access, s->view, q->q, err);
	if (!rc && q->whole && sx_access_is_scan(q->access)) {
		set_radius(q, q->whole->radius);
		rc = sx_access_make(q->access, s->view, q->q, err);
	}
	q->left = q->q->asked->max_candidates ? q->q->asked->max_candidates : UINT64_MAX;
	q->results.complete_to = q->access->complete_to;
	if (rc || q->q->is_empty)
		return rc;
	if (sx_access_is_scan(q->access)) {
		q->results.probes++;
		return SIMIDX_OK;
	}
	for (size_t i = 0; !rc && i < q->access->probes.n; i++)
		if (q->access->probes.at[i].rest >= 0)
			rc = add_probe(s, number, &q->access->probes.at[i], err);
	q->results.probes += s->n_probes - had;
	return rc;
}

/* ---- rows that are near ---- */

/* How many of n further rows a query may compare. */
static size_t count_candidates(sx_engine_query *q, size_t n)
{
	if (n > q->left) {
		n = (size_t)q->left;
		q->results.truncated |= SIMIDX_CUT_CANDIDATES;
		q->ended = 1;
	}
	q->left -= n;
	q->results.candidates += n;
	return n;
}

/* Keep a row whose bits are near enough, unless another table reports it or its weight is too large. */
static int keep(const sx_engine_search *s, sx_engine_query *q, unsigned table, uint64_t fp, uint64_t id)
{
	if (id > SIMIDX_MAX_ID || fp & ~sx_low_bits(s->view->snapshot.index->bits))
		return SIMIDX_E_IO;
	if (!sx_query_accepts_near(q->q, fp) || !sx_access_is_first(q->access, q->q, table, fp))
		return SIMIDX_OK;
	if (sx_reserve(&q->row, &q->row_cap, q->n_rows + 1, sizeof(*q->row)))
		return SIMIDX_E_NOMEM;
	q->row[q->n_rows++] = (sx_engine_row){ fp, id, sx_query_distance(q->q, fp) };
	return SIMIDX_OK;
}

static int hear_rows(void *ctx, size_t probe, const uint64_t *fp, const uint64_t *id, size_t n)
{
	sx_engine_search *s = ctx;
	const sx_kernel *kernel = s->view->snapshot.index->kernel;
	sx_engine_query *q;

	if (probe >= s->n_probes) {
		s->rc = SIMIDX_E_IO;
		return 2;
	}
	q = &s->query[s->owner[probe]];
	if (!q->ended)
		n = count_candidates(q, n);
	else
		n = 0;
	for (size_t at = 0; !s->rc && at < n; at += FILTERED) {
		size_t some = n - at < FILTERED ? n - at : FILTERED;
		size_t near = kernel->near_u64(fp + at, some, q->q->fp, q->q->max_bits, s->near);

		for (size_t i = 0; !s->rc && i < near; i++)
			s->rc = keep(s, q, s->probe[probe].table, fp[at + s->near[i]],
				     id[at + s->near[i]]);
	}
	if (s->rc)
		return 2;
	return !q->ended ? 0 : s->n == 1 ? 2 : 1;
}

static int hear_walked(void *ctx, size_t i, const simidx_match *m)
{
	sx_engine_search *s = ctx;

	(void)i;
	if (m->id < s->walked_to || m->id > SIMIDX_MAX_ID) {
		s->rc = SIMIDX_E_IO;
		return 1;
	}
	s->walked_to = m->id + 1;
	s->n_walked++;
	for (size_t j = 0; !s->rc && j < s->n; j++) {
		sx_engine_query *q = &s->query[j];

		if (is_walk(q) && !q->ended && count_candidates(q, 1) &&
		    sx_query_accepts(q->q, m->fp))
			s->rc = keep(s, q, 0, m->fp, m->id);
	}
	return s->rc != 0;
}

/* Compare the queries that are to be compared with everything, all in one walk. */
static int walk(sx_engine_search *s, uint64_t *round_trips, simidx_error *err)
{
	size_t wanted = 0;
	int rc = SIMIDX_OK;

	for (size_t i = 0; i < s->n; i++)
		wanted += is_walk(&s->query[i]);
	s->walked_to = 0;
	s->n_walked = wanted ? WALKED : 0;
	while (!rc && s->n_walked == WALKED) {
		s->n_walked = 0;
		++*round_trips;
		rc = sx_engine_outcome(s, sx_engine_walk_page(sx_engine_of_search(s), s->walked_to, WALKED, hear_walked, s, err),
			     err);
	}
	return rc;
}

static int compare_by_fp(const void *a, const void *b)
{
	const sx_engine_row *x = a, *y = b;

	if (x->fp != y->fp)
		return x->fp < y->fp ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static int compare_by_distance(const void *a, const void *b)
{
	const sx_engine_row *x = a, *y = b;

	if (x->distance != y->distance)
		return x->distance < y->distance ? -1 : 1;
	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->fp < y->fp ? -1 : x->fp > y->fp;
}

/* What a pending row is about is told by that row. */
static int is_pending(const sx_engine_search *s, uint64_t id, int *is, simidx_error *err)
{
	const sx_snapshot *snapshot = &s->view->snapshot;
	sx_fresh_span span = sx_header_fresh(&snapshot->header);
	sx_fresh_row row;
	int rc = sx_fresh_by_id(&snapshot->index->fresh, NULL, &span, id, &row, err);

	*is = rc == SIMIDX_OK;
	return rc == SIMIDX_E_NOT_FOUND ? SIMIDX_OK : rc;
}

/*
 * Bring the rows of a query into the order in which their documents are wanted. An engine may have
 * sent one twice, and a larger radius finds those of a smaller one again.
 */
static int order_rows(const sx_engine_search *s, sx_engine_query *q, simidx_error *err)
{
	int has_pending = sx_view_fresh_rows(s->view) > 0, is = 0, rc = SIMIDX_OK;
	size_t n = 0;

	q->results.fingerprints = 0;
	if (q->n_rows > 1)
		qsort(q->row, q->n_rows, sizeof(*q->row), compare_by_fp);
	for (size_t i = 0; !rc && i < q->n_rows; i++) {
		sx_engine_row row = q->row[i];

		if (n && row.fp == q->row[n - 1].fp && row.id == q->row[n - 1].id)
			continue;
		if (has_pending)
			rc = is_pending(s, row.id, &is, err);
		if (is)
			continue;
		q->results.fingerprints += !n || row.fp != q->row[n - 1].fp;
		q->row[n++] = row;
	}
	q->n_rows = n;
	if (n > 1)
		qsort(q->row, n, sizeof(*q->row), compare_by_distance);
	return rc;
}

static int find_once(sx_engine_search *s, uint64_t *round_trips, simidx_error *err)
{
	int rc = SIMIDX_OK;

	s->rc = SIMIDX_OK;
	s->n_probes = 0;
	s->n_growing = 0;
	for (size_t i = 0; i < s->n; i++)
		s->n_growing += !s->query[i].rc && !s->query[i].is_found && s->query[i].whole;
	for (size_t i = 0; !rc && i < s->n; i++)
		if (!s->query[i].rc && !s->query[i].is_found)
			rc = plan(s, (uint32_t)i, err);
	if (!rc && s->n_probes)
		rc = sx_engine_outcome(s, sx_engine_scan(sx_engine_of_search(s), s->probe, s->n_probes, hear_rows, s,
					       round_trips, err), err);
	if (!rc)
		rc = walk(s, round_trips, err);
	for (size_t i = 0; !rc && i < s->n; i++)
		if (!s->query[i].is_found)
			rc = order_rows(s, &s->query[i], err);
	return rc;
}

int sx_engine_rows_find(sx_engine_search *s, uint64_t *round_trips, simidx_error *err)
{
	int again, rc;

	do {
		rc = find_once(s, round_trips, err);
		again = 0;
		for (size_t i = 0; !rc && i < s->n; i++) {
			sx_engine_query *q = &s->query[i];

			if (q->rc || q->is_found)
				continue;
			q->is_found = 1;
			if (q->whole && q->n_rows < q->q->asked->limit)
				again |= sx_engine_rows_grow(q);
		}
	} while (!rc && again);
	return rc;
}
