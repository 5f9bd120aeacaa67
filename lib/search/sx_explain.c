/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What the planner thinks of a query, and what sizes and speeds it expects, for people.
 */

#include <stdio.h>
#include <string.h>

#include <simidx_admin.h>

#include "search/sx_reader.h"
#include "util/sx_err.h"

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
		const sx_part *p = &s->part[i];
		int n = snprintf(text + used, size - used, "%st%02u<=%u/%u%s", i ? " " : "",
				 p->table + 1u, p->threshold, p->bits,
				 p->flipped < p->bits ? "m" : "");

		used += n > 0 ? (size_t)n : 0;
	}
	/* Plans with many tables do not fit. */
	if (used >= size)
		memcpy(text + size - 4, "...", 4);
}

static void describe(const sx_cover *s, simidx_choice *out)
{
	memset(out, 0, sizeof(*out));
	if (s->scan)
		snprintf(out->text, sizeof(out->text), "scan of t01");
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

/*
 * All are priced by what the search knew when it chose: even ranges, or their real sizes where it
 * has looked. Otherwise one that it rejected might seem cheaper than what it did.
 */
static void explain_covers(simidx_reader *r, const sx_query *q, struct sx_explained *to)
{
	simidx_choice choice;
	sx_cover others[SX_MAX_OTHERS];
	unsigned n;

	describe(r->way.cover, &to->choice[0]);
	n = sx_way_others(r, q, others);
	for (unsigned i = 0; i < n; i++) {
		describe(&others[i], &choice);
		reject(to, &choice);
	}
}

static int is_probed(const simidx_reader *r, unsigned t)
{
	size_t i = 0;

	while (i < r->probes.n && r->probes.at[i].table != t)
		i++;
	return i < r->probes.n;
}

static void explain_patterns(simidx_reader *r, struct sx_explained *to)
{
	simidx_choice *c = &to->choice[0];
	unsigned tables = 0;

	snprintf(c->text, sizeof(c->text), "%zu patterns by weight, complete to %d", r->probes.n,
		 r->way.complete_to);
	c->probes = r->probes.n;
	memset(c->reserved, 0, sizeof(c->reserved));
	c->candidates = (double)sx_way_candidates(r);
	for (unsigned t = 0; t < r->index->plan.n_tables; t++)
		tables += (unsigned)is_probed(r, t);
	c->microseconds = (r->costs.query + sx_costs_probes(&r->costs, tables, (double)r->probes.n,
							 c->candidates)) / 1000;
}

static int explain(simidx_reader *r, const simidx_query *asked, simidx_explanation *out,
		   simidx_error *err)
{
	struct sx_explained *to = r->explained;
	sx_query q;
	int rc = sx_search(r, asked, &to->results, err);

	if (!rc)
		rc = sx_query_init(&q, r->index, asked, err);
	for (unsigned t = 0; !rc && t < r->index->plan.n_tables; t++)
		out->block_indexes += is_probed(r, t) && r->blocks[t];
	/* The nearest were found within some smaller radius. */
	if (!rc && !q.is_weighted)
		q.radius = r->way.cover->radius;
	out->kernel = r->index->kernel->name;
	if (rc)
		return rc;
	to->n = 1;
	if (r->way.by_patterns)
		explain_patterns(r, to);
	else
		explain_covers(r, &q, to);
	to->results.matches = NULL;
	to->results.n = 0;
	out->looked_up = r->way.by_patterns || r->way.by_sizes;
	out->choices = to->choice;
	out->n_choices = to->n;
	out->results = &to->results;
	return SIMIDX_OK;
}

int simidx_reader_explain(simidx_reader *r, const simidx_query *query, simidx_explanation *out,
			  simidx_error *err)
{
	simidx_explanation own, *e;
	simidx_query own_query;
	int rc;

	sx_err_clear(err);
	e = sx_struct_begin(out, SX_STRUCT_TO(simidx_explanation, n_choices), &own, sizeof(own));
	query = sx_struct_read(query, SX_QUERY_MIN, &own_query, sizeof(own_query));
	if (!r || !query || !e)
		return sx_fail(err, SIMIDX_E_ARG,
			       "simidx_reader_explain: no reader, or bad struct size");
	if (!r->explained)
		r->explained = sx_calloc(1, sizeof(*r->explained));
	rc = r->explained ? sx_snapshot_renew(&r->snapshot, err) : sx_fail_nomem(err);
	if (rc)
		return rc;
	rc = explain(r, query, e, err);
	sx_snapshot_reset(&r->snapshot);
	sx_struct_end(out, e, sizeof(*e));
	return rc;
}
