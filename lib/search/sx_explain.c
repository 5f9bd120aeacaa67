/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * How a query was searched, and what else there would have been, for people.
 */

#include <stdio.h>
#include <string.h>

#include <simidx_info.h>

#include "search/sx_search.h"
#include "util/sx_err.h"
#include "util/sx_struct.h"

#define MAX_CHOICES 9

/* What an explanation points to. */
struct sx_explained {
	simidx_choice choice[MAX_CHOICES];
	size_t n;
	simidx_results results;
};

static void describe_thresholds(const sx_cover *s, char *text, size_t size)
{
	size_t used = 0;

	for (unsigned i = 0; i < s->n && used < size; i++) {
		const sx_probed *p = &s->probed[i];
		int n = snprintf(text + used, size - used, "%st%02u<=%u/%u%s", i ? " " : "",
				 p->table + 1u, p->threshold, p->bits,
				 p->flipped < p->bits ? "m" : "");

		used += n > 0 ? (size_t)n : 0;
	}
	/* Plans with many tables do not fit. */
	if (used >= size)
		memcpy(text + size - 4, "...", 4);
}

static const char *scan_of(const simidx_reader *r)
{
	return sx_reader_index(r)->backend->scan;
}

static void describe(const simidx_reader *r, const sx_cover *s, simidx_choice *out)
{
	memset(out, 0, sizeof(*out));
	if (s->scan)
		snprintf(out->text, sizeof(out->text), "%s", scan_of(r));
	else
		describe_thresholds(s, out->text, sizeof(out->text));
	out->probes = s->probes;
	out->candidates = (double)s->candidates;
	out->microseconds = s->ns / 1000;
}

static int compare_choices(const simidx_choice *a, const simidx_choice *b)
{
	return a->microseconds < b->microseconds ? -1 : a->microseconds > b->microseconds;
}

/* Add one that was rejected, in the order of cost. The first choice is what was done. */
static void reject(struct sx_explained *to, const simidx_choice *choice)
{
	size_t at = to->n;

	if (at == MAX_CHOICES)
		return;
	for (; at > 1 && compare_choices(choice, &to->choice[at - 1]) < 0; at--)
		to->choice[at] = to->choice[at - 1];
	to->choice[at] = *choice;
	to->n++;
}

/* Of a query by a cover: what was chosen, and what else there was. */
static void explain_cover(const simidx_reader *r, const sx_query *q, struct sx_explained *to)
{
	sx_cover others[SX_MAX_OTHERS];
	simidx_choice choice;
	unsigned n = sx_access_others(&r->access, &r->covers, &r->view, q, others);

	describe(r, r->access.cover, &to->choice[0]);
	for (unsigned i = 0; i < n; i++) {
		describe(r, &others[i], &choice);
		reject(to, &choice);
	}
}

static void describe_scan(const simidx_reader *r, simidx_choice *out)
{
	uint64_t rows = sx_view_rows(&r->view);

	memset(out, 0, sizeof(*out));
	snprintf(out->text, sizeof(out->text), "%s", scan_of(r));
	out->probes = 1;
	out->candidates = (double)rows;
	out->microseconds = sx_costs_scan(&r->covers.costs, rows) / 1000;
}

/* What else there would be: a scan. */
static void explain_patterns(const simidx_reader *r, unsigned tables, struct sx_explained *to)
{
	const sx_access *a = &r->access;
	const sx_costs *costs = &r->covers.costs;
	simidx_choice *c = &to->choice[0], scan;

	describe_scan(r, &scan);
	if (a->tables.end.scan) {
		*c = scan;
		return;
	}
	memset(c, 0, sizeof(*c));
	snprintf(c->text, sizeof(c->text), "%zu patterns by weight, complete to %d",
		 a->tables.probes.n, a->complete_to);
	c->probes = a->tables.probes.n;
	c->candidates = (double)sx_access_candidates(a, &r->view);
	c->microseconds = (costs->query + sx_costs_probes(costs, tables, (double)a->tables.probes.n,
							    c->candidates)) / 1000;
	if (scan.microseconds >= c->microseconds)
		reject(to, &scan);
}

static void explain(simidx_reader *r, sx_query *q, simidx_explanation *out)
{
	struct sx_explained *to = r->explained;
	const sx_access *a = &r->access;
	uint64_t seen = 0;

	for (size_t i = 0; i < a->tables.probes.n; i++)
		seen |= UINT64_C(1) << a->tables.probes.at[i].table;
	for (unsigned t = 0; t < sx_reader_index(r)->schema->plan.n_tables; t++)
		out->block_indexes += (seen >> t & 1) && r->view.table[t].blocks;
	/* The nearest were found within some smaller radius. */
	if (a->cover && !q->is_weighted)
		q->radius = a->cover->radius;
	to->n = 1;
	if (a->cover)
		explain_cover(r, q, to);
	else
		explain_patterns(r, (unsigned)__builtin_popcountll(seen), to);
	to->results.matches = NULL;
	to->results.n = 0;
	out->looked_up = !a->cover || a->by_sizes;
	out->choices = to->choice;
	out->n_choices = to->n;
	out->results = &to->results;
}

int simidx_reader_explain(simidx_reader *r, const simidx_query *query, simidx_explanation *out,
			  simidx_error *err)
{
	simidx_explanation own, *e;
	simidx_query own_query;
	sx_query q;
	int rc;

	sx_err_clear(err);
	e = sx_struct_begin(out, SX_STRUCT_TO(simidx_explanation, n_choices), &own, sizeof(own));
	query = sx_struct_read(query, SX_QUERY_MIN, &own_query, sizeof(own_query));
	if (!r || !query || !e)
		return sx_fail(err, SIMIDX_E_ARG,
			       "simidx_reader_explain: no reader, or bad struct size");
	e->kernel = sx_reader_index(r)->kernel->name;
	if (!r->explained)
		r->explained = sx_calloc(1, sizeof(*r->explained));
	if (!r->explained)
		return sx_fail_nomem(err);
	r->explained->results = (simidx_results)SIMIDX_RESULTS_INIT;
	rc = sx_query_init(&q, sx_reader_index(r), query, err);
	if (!rc)
		rc = sx_reader_begin(r, err);
	if (!rc) {
		rc = sx_search(r, &q, &r->explained->results, err);
		if (!rc)
			explain(r, &q, e);
		sx_reader_end(r);
	}
	sx_struct_end(out, e, sizeof(*e));
	return rc;
}
