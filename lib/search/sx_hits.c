/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "search/sx_hits.h"

#include <stdlib.h>

#include "util/sx_err.h"

#define FEW_KNOWN 4 /* hits among which it pays to look whether what is near is known */
#define FEW 32 /* hits that an insertion sort sorts faster than qsort() */

int sx_hits_init(sx_hits *hits, const simidx *index)
{
	return index->engine ? 0 : sx_lookup_init(&hits->lookup, index->store, index->kernel,
						  index->checks, 0);
}

void sx_hits_free(sx_hits *hits)
{
	sx_lookup_free(&hits->lookup);
	free(hits->at);
	free(hits->fresh.at);
}

int sx_hits_add(sx_hits *hits, const sx_query *q, uint64_t fp, int in_tables, simidx_error *err)
{
	if (hits->n == hits->cap &&
	    sx_reserve(&hits->at, &hits->cap, hits->n + 1, sizeof(*hits->at)))
		return sx_fail_nomem(err);
	hits->at[hits->n++] = (sx_hit){ .fp = fp,
					.distance = sx_query_distance(q, fp),
					.in_tables = in_tables,
					.n_docs = SX_NOT_READ };
	return SIMIDX_OK;
}

/* What a search for hits is about. */
struct finding {
	sx_hits *hits;
	sx_view *view;
	const sx_access *access;
	const sx_query *q;
	const sx_lookup_task *task;
	sx_hits_until until;
	void *ctx;
	simidx_results *out;
	int done;
};

static int ask_until(struct finding *f, size_t from, simidx_error *err)
{
	if (!f->until || f->hits->n == from)
		return SIMIDX_OK;
	return f->until(f->ctx, from, &f->done, err);
}

/*
 * True if all that is near in a slice are hits already: a near fingerprint is found in most of the
 * tables. Each table has all of them, so it is enough to count those that lie in the slice; but not
 * in the middle of a merge, when one table may have fingerprints that the next has not got yet.
 */
static int are_known(const struct finding *f, const sx_block_slice *slice, const sx_perm *perm,
		     size_t near)
{
	const sx_probe *p = &f->task->probe[slice->probe];
	size_t known = 0;

	if (f->hits->n < near || f->hits->n > FEW_KNOWN ||
	    f->view->snapshot.header.state & SX_STATE_MERGING)
		return 0;
	for (size_t i = 0; i < f->hits->n; i++) {
		uint64_t key = sx_permute(perm, f->hits->at[i].fp);

		known += key >= p->low && key <= p->high && key > slice->before &&
			 key <= slice->last;
	}
	return known == near;
}

/* Add what is near in a slice, but for what another table reports. */
static int visit(void *ctx, const sx_block_slice *slice, enum sx_next *next, simidx_error *err)
{
	struct finding *f = ctx;
	const sx_probe *p = &f->task->probe[slice->probe];
	const sx_perm *perm = &f->view->snapshot.index->plan.table[p->table];
	const sx_block_index *postings = f->view->table[SX_VIEW_POSTINGS].blocks;
	size_t n = slice->to > slice->from ? (size_t)(slice->to - slice->from) : 0;
	uint64_t query = f->access->permuted[p->table];
	sx_lookup *l = &f->hits->lookup;
	size_t near, had = f->hits->n;
	int rc = SIMIDX_OK;

	if (n > f->hits->left) {
		n = (size_t)f->hits->left;
		f->out->truncated |= SIMIDX_CUT_CANDIDATES;
		f->done = 1;
	}
	f->hits->left -= n;
	f->out->candidates += n;
	near = n ? sx_lookup_filter(l, f->task, slice, n, query, f->q->max_bits) : 0;
	if (near && !f->done && are_known(f, slice, perm, near))
		near = 0;
	near = sx_lookup_complete(l, f->task, slice, query, f->q->max_bits, near);
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
		rc = ask_until(f, had, err);
	if (f->done)
		*next = SX_NEXT_NOTHING;
	return rc;
}

static int find_in_tables(struct finding *f, simidx_error *err)
{
	const sx_lookup_task task = { f->view->snapshot.txn, f->view->table, f->access->probes.at,
				      f->access->probes.n, 0, SX_LOOKUP_SLICES, visit, f };
	int rc;

	f->task = &task;
	rc = sx_lookup_run(&f->hits->lookup, &task, err);
	f->out->probes += task.n;
	f->out->blocks += f->hits->lookup.blocks;
	return rc;
}

static int find_fresh(struct finding *f, simidx_error *err)
{
	sx_hits *hits = f->hits;
	const sx_snapshot *snapshot = &f->view->snapshot;
	sx_fresh_span span = sx_header_fresh(&snapshot->header);
	size_t had = hits->n, kept = 0;
	int rc;

	rc = sx_fresh_near(&snapshot->index->fresh, snapshot->txn, &span, f->access->fresh, f->q->fp,
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
	return rc ? rc : ask_until(f, had, err);
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

int sx_hits_find(sx_hits *hits, sx_view *view, const sx_access *access, const sx_query *q,
		 sx_hits_until until, void *ctx, simidx_results *out, simidx_error *err)
{
	struct finding f = { .hits = hits, .view = view, .access = access, .q = q,
			     .until = until, .ctx = ctx, .out = out };
	sx_fresh_span span = sx_header_fresh(&view->snapshot.header);
	int rc;

	hits->n = hits->fresh.n = 0;
	if (sx_view_fresh_rows(view))
		sx_fresh_prefetch(&view->snapshot.index->fresh, &span, access->fresh);
	rc = find_in_tables(&f, err);
	if (!rc && !f.done && sx_view_fresh_rows(view))
		rc = find_fresh(&f, err);
	if (rc)
		return rc;
	sort(hits);
	out->fingerprints = hits->n;
	out->complete_to = access->complete_to;
	return SIMIDX_OK;
}

int sx_hits_find_fresh(sx_hits *hits, sx_view *view, const sx_access *access, const sx_query *q,
		       simidx_results *out, simidx_error *err)
{
	struct finding f = { .hits = hits, .view = view, .access = access, .q = q, .out = out };
	int rc = SIMIDX_OK;

	hits->fresh.n = 0;
	if (sx_view_fresh_rows(view))
		rc = find_fresh(&f, err);
	if (rc)
		return rc;
	sort(hits);
	out->fingerprints = hits->n;
	out->complete_to = (int)q->radius;
	return SIMIDX_OK;
}
