/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "remote/sx_remote_batch.h"

#include <stdlib.h>
#include <string.h>

#include "remote/sx_remote_documents.h"
#include "search/sx_search.h"
#include "util/sx_err.h"

#define TOGETHER 100    /* queries that are asked together at most */
#define FIRST_PAGE 1024 /* documents of a query that shares the wait with others */

/* One query on its way. */
struct asked {
	sx_query whole, q; /* as it is asked; with the radius that was reached */
	sx_access access;
	sx_cover_cache covers;
	sx_hits hits;
	sx_finding finding;
	sx_conditions conditions; /* of the answer, where a decision rests on it */
	simidx_results results;
	int rc; /* why it cannot be answered: */
	simidx_error err;
	int is_found;
};

struct together {
	struct asked asked[TOGETHER];
	sx_finding *list[TOGETHER]; /* those that are looked up next */
	sx_arena labels;
};

static void *create(void)
{
	return sx_calloc(1, sizeof(struct together));
}

static void destroy(void *bulk)
{
	struct together *t = bulk;

	if (!t)
		return;
	for (size_t i = 0; i < TOGETHER; i++) {
		sx_access_free(&t->asked[i].access);
		sx_cover_cache_free(&t->asked[i].covers);
		sx_hits_free(&t->asked[i].hits);
		free(t->asked[i].conditions.at);
	}
	sx_arena_free(&t->labels);
	free(t);
}

static int is_worthwhile(simidx_reader *reader, const simidx_query *queries, size_t n)
{
	(void)reader;
	(void)queries;
	return n > 0;
}

static void begin(struct together *t, simidx_reader *r, struct asked *a, const simidx_query *query)
{
	a->results = (simidx_results)SIMIDX_RESULTS_INIT;
	a->is_found = 0;
	sx_hits_clear(&a->hits);
	sx_err_clear(&a->err);
	a->rc = sx_query_init(&a->whole, sx_reader_index(r), query, &a->err);
	if (a->rc)
		return;
	a->q = a->whole;
	if (sx_query_grows(&a->whole))
		sx_query_narrow(&a->q, &a->whole, sx_reader_index(r)->backend->nearest_step - 1);
	a->finding = (sx_finding){ .view = &r->view, .q = &a->q, .access = &a->access,
				   .left = sx_query_candidates(&a->q), .hits = &a->hits,
				   .labels = &t->labels, .out = &a->results };
	a->conditions.n = 0;
	if (r->conditions) {
		a->conditions.writing = r->conditions->writing;
		a->finding.conditions = &a->conditions;
	}
}

/* Whether it is not found, and something is to be looked up for it. */
static int is_open(const struct asked *a)
{
	return !a->rc && !a->is_found && !a->whole.is_empty;
}

/* Whether a search for the nearest may go on with a larger radius. */
static int can_grow(const struct asked *a)
{
	return a->q.radius < a->whole.radius && !a->results.truncated;
}

/* Plan a query. One that compares with everything does so once, with the whole radius. */
static int plan(simidx_reader *r, struct asked *a, unsigned growing, simidx_error *err)
{
	unsigned scan_shared = sx_query_grows(&a->whole) && growing > 1 ? growing : 0;
	int rc = sx_access_make(&a->access, &a->covers, &r->view, &a->q, scan_shared, err);

	if (!rc && can_grow(a) && sx_access_is_scan(&a->access)) {
		sx_query_narrow(&a->q, &a->whole, a->whole.radius);
		rc = sx_access_make(&a->access, &a->covers, &r->view, &a->q, scan_shared, err);
	}
	return rc;
}

/* Look up all that are not found. Those for the nearest that have too few hits grow. */
static int find_once(struct together *t, simidx_reader *r, size_t n, size_t *open,
		     uint64_t *round_trips, simidx_error *err)
{
	unsigned growing = 0;
	int rc = SIMIDX_OK;

	*open = 0;
	for (size_t i = 0; i < n; i++)
		growing += is_open(&t->asked[i]) && sx_query_grows(&t->asked[i].whole);
	for (size_t i = 0; !rc && i < n; i++) {
		if (!is_open(&t->asked[i]))
			continue;
		rc = plan(r, &t->asked[i], growing, err);
		t->list[(*open)++] = &t->asked[i].finding;
	}
	if (!rc && *open)
		rc = sx_hits_find(r->search, t->list, *open, round_trips, err);
	for (size_t i = 0; !rc && i < n; i++) {
		struct asked *a = &t->asked[i];

		if (!is_open(a))
			continue;
		if (can_grow(a) && a->hits.most < a->whole.asked->limit)
			sx_query_narrow(&a->q, &a->whole,
					a->q.radius + sx_reader_index(r)->backend->nearest_step);
		else
			a->is_found = 1;
	}
	return rc;
}

static int search(void *bulk, simidx_reader *r, const simidx_query *queries, size_t n,
		  size_t *together, simidx_error *err)
{
	struct together *t = bulk;
	uint64_t round_trips = 0;
	size_t open, with_rows = 0;
	int rc;

	*together = n;
	sx_arena_clear(&t->labels);
	for (size_t i = 0; i < n; i++)
		begin(t, r, &t->asked[i], &queries[i]);
	do
		rc = find_once(t, r, n, &open, &round_trips, err);
	while (!rc && open && !sx_remote_is_full(r->search));
	/* What all have found together is too much: each is searched by itself. */
	if (!rc && sx_remote_is_full(r->search)) {
		for (size_t i = 0; i < n; i++)
			sx_hits_free(&t->asked[i].hits);
		for (size_t i = 0; i < n; i++)
			t->asked[i].hits = (sx_hits){ .n = 0 };
		*together = 0;
		return SIMIDX_OK;
	}
	for (size_t i = 0; !rc && i < n; i++)
		if (t->asked[i].is_found && t->asked[i].hits.rows.n)
			t->list[with_rows++] = &t->asked[i].finding;
	if (!rc)
		rc = sx_remote_prefetch(r->search, t->list, with_rows, FIRST_PAGE,
					&round_trips, err);
	t->asked[0].results.round_trips += round_trips;
	return rc;
}

/*
 * What was looked up for a decision is older than the changes that its transaction has made since.
 * The tables are as they were, or else the conditions do not hold.
 */
static int bring_up_to_date(simidx_reader *r, struct asked *a, simidx_error *err)
{
	sx_conditions *to = r->conditions;
	sx_finding *f = &a->finding;
	int rc = sx_remote_drop_changed(r->search, f, &f->out->round_trips, err);

	/* Where the tables have ended the search, no pending row is looked for. */
	if (!rc && !f->done && sx_view_fresh_rows(f->view))
		rc = sx_access_make(f->access, &a->covers, f->view, f->q, 0, err);
	if (!rc && !f->done)
		rc = sx_hits_find_fresh(f, err);
	if (!rc && a->conditions.n &&
	    sx_reserve(&to->at, &to->cap, to->n + a->conditions.n, sizeof(*to->at)))
		rc = sx_fail_nomem(err);
	if (!rc && a->conditions.n)
		memcpy(to->at + to->n, a->conditions.at, a->conditions.n * sizeof(*to->at));
	to->n += rc ? 0 : a->conditions.n;
	return rc;
}

static int answer(void *bulk, simidx_reader *r, size_t i, simidx_results *out, simidx_error *err)
{
	struct together *t = bulk;
	struct asked *a = &t->asked[i];
	int rc;

	*out = a->results;
	if (a->rc) {
		sx_err_clear(err);
		return sx_fail(err, a->rc, "%s", a->err.text);
	}
	if (a->whole.is_empty)
		return sx_search(r, &a->whole, out, err);
	a->finding.out = out;
	rc = a->finding.conditions ? bring_up_to_date(r, a, err) : SIMIDX_OK;
	if (!rc)
		rc = sx_search_found(r, &a->finding, 1, err);
	/*
	 * Rows were left over, so that the nearest are fewer than the rows: the rest is farther
	 * away.
	 */
	if (!rc && can_grow(a) && r->matches.n < a->whole.asked->limit)
		rc = sx_search(r, &a->whole, out, err);
	return rc;
}

const sx_backend_bulk sx_remote_bulk = { TOGETHER, 0, is_worthwhile, create,
					   destroy,  search, answer };
