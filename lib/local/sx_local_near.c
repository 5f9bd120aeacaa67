/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "local/sx_local_near.h"

#include <stdlib.h>

#include "util/sx_err.h"

#define FEW_KNOWN 4 /* hits among which it pays to look whether what is near is known */

void *sx_local_search_new(const simidx *index)
{
	unsigned n_cols = index->tables.postings.n_cols;
	sx_local_search *s = sx_calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	sx_rows_init(&s->rows, n_cols);
	if (sx_lookup_init(&s->near, index->store, index->kernel, index->checks, 0) ||
	    sx_lookup_init(&s->documents, index->store, index->kernel, index->checks, n_cols)) {
		sx_local_search_free(s);
		return NULL;
	}
	return s;
}

void sx_local_search_free(void *search)
{
	sx_local_search *s = search;

	if (!s)
		return;
	sx_lookup_free(&s->near);
	sx_lookup_free(&s->documents);
	sx_probes_free(&s->probes);
	sx_rows_free(&s->rows);
	sx_u64s_free(&s->fps);
	free(s->deleted.at);
	free(s);
}

/* One query that is looked up. */
struct near {
	sx_finding *f;
	sx_lookup *lookup;
	const sx_lookup_task *task;
};

/*
 * True if all that is near in a slice are hits already: a near fingerprint is found in most of the
 * tables. Each table has all of them, so it is enough to count those that lie in the slice; but not
 * in the middle of a merge, when one table may have fingerprints that the next has not got yet.
 */
static int are_hits(const struct near *n, const sx_block_slice *slice, const sx_perm *perm, size_t near)
{
	const sx_probe *p = &n->task->probe[slice->probe];
	const sx_hits *hits = n->f->hits;
	size_t there = 0;

	if (hits->n < near || hits->n > FEW_KNOWN ||
	    sx_view_snapshot(n->f->view)->header.state & SX_STATE_MERGING)
		return 0;
	for (size_t i = 0; i < hits->n; i++) {
		uint64_t key = sx_permute(perm, hits->at[i].fp);

		there += hits->at[i].in_tables && key >= p->low && key <= p->high &&
			 key > slice->before && key <= slice->last;
	}
	return there == near;
}

/* Add what is near in a slice, but for what another table reports. */
static int visit(void *ctx, const sx_block_slice *slice, enum sx_next *next, simidx_error *err)
{
	struct near *v = ctx;
	sx_finding *f = v->f;
	const sx_probe *p = &v->task->probe[slice->probe];
	const sx_perm *perm = &sx_view_index(f->view)->schema->plan.table[p->table];
	const sx_block_index *postings = f->view->table[SX_VIEW_POSTINGS].blocks;
	size_t n = slice->to > slice->from ? (size_t)(slice->to - slice->from) : 0;
	uint64_t query = f->access->permuted[p->table];
	sx_lookup *l = v->lookup;
	size_t near, had = f->hits->n;
	int rc = SIMIDX_OK;

	if (n > f->left) {
		n = (size_t)f->left;
		f->out->truncated |= SIMIDX_CUT_CANDIDATES;
		f->done = 1;
	}
	f->left -= n;
	f->out->candidates += n;
	near = n ? sx_lookup_filter(l, v->task, slice, n, query, f->q->max_bits) : 0;
	if (near && !f->done && are_hits(v, slice, perm, near))
		near = 0;
	near = sx_lookup_complete(l, v->task, slice, query, f->q->max_bits, near);
	for (size_t i = 0; !rc && i < near; i++) {
		uint64_t fp = sx_unpermute(perm, l->keys[i]);

		if (!sx_query_accepts_near(f->q, fp) ||
		    !sx_access_is_first(f->access, f->q, p->table, fp))
			continue;
		/* Its documents are looked up soon. */
		if (postings)
			sx_block_index_prefetch(postings, fp);
		rc = sx_hits_add(f->hits, f->q, fp, 1, err);
	}
	if (!rc)
		rc = sx_hits_ask_until(f, had, err);
	if (f->done)
		*next = SX_NEXT_NOTHING;
	return rc;
}

static int find_one(sx_lookup *lookup, sx_finding *f, simidx_error *err)
{
	struct near v = { f, lookup, NULL };
	const sx_lookup_task task = { sx_view_snapshot(f->view)->txn, f->view->table, f->access->tables.probes.at,
				      f->access->tables.probes.n, 0, SX_LOOKUP_SLICES, visit, &v };
	int rc;

	v.task = &task;
	rc = sx_lookup_run(lookup, &task, err);
	f->out->probes += task.n;
	f->out->blocks += lookup->blocks;
	return rc;
}

int sx_local_near(void *search, sx_finding *const *finding, size_t n, uint64_t *round_trips,
		  simidx_error *err)
{
	sx_local_search *s = search;
	int rc = SIMIDX_OK;

	(void)round_trips; /* it waits for no answers */
	for (size_t i = 0; !rc && i < n; i++)
		rc = find_one(&s->near, finding[i], err);
	return rc;
}
