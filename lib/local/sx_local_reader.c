/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "local/sx_local_reader.h"

#include <stdlib.h>
#include <string.h>

#include "index/sx_documents.h"
#include "util/sx_err.h"
#include "util/sx_order.h"

#define FEW_HITS 4   /* hits among which it pays to look whether what is near is among them */
#define PER_BLOCK 256 /* documents of a fingerprint in a block, most often more */

/* ---- snapshots ---- */

static int begin(sx_snapshot *s, simidx_error *err)
{
	int rc = sx_txn_begin_read(s->index->store, &s->txn, err);

	return rc ? rc : sx_snapshot_load(s, err);
}

static int renew(sx_snapshot *s, simidx_error *err)
{
	int rc = sx_txn_renew(s->txn, err);

	if (rc)
		return rc;
	rc = sx_snapshot_load(s, err);
	if (rc)
		sx_txn_reset(s->txn);
	s->map_changes = sx_store_map_changes(s->index->store);
	return rc;
}

static int begin_write(sx_snapshot *s, int no_meta_sync, simidx_error *err)
{
	int rc = sx_txn_begin_write(s->index->store, no_meta_sync, &s->txn, err);

	if (!rc)
		rc = sx_meta_read_header(s->txn, &s->index->tables.meta, &s->header, err);
	s->header.state &= ~SX_STATE_SUPERSEDED;
	return rc;
}

const sx_backend_snapshot sx_local_snapshot = { begin, renew, begin_write };

/* ---- hits ---- */

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
static int are_hits(const struct near *n, const sx_block_slice *slice, const sx_perm *perm,
		    size_t near)
{
	const sx_probe *p = &n->task->probe[slice->probe];
	const sx_hits *hits = n->f->hits;
	const sx_snapshot *snapshot = &n->f->view->snapshot;
	uint64_t before;
	size_t there = 0;

	if (hits->n - hits->from < near || hits->n - hits->from > FEW_HITS ||
	    snapshot->header.state & SX_STATE_MERGING)
		return 0;
	before = sx_block_slice_before(slice, n->f->view->table[p->table].blocks);
	for (size_t i = hits->from; i < hits->n; i++) {
		uint64_t key = sx_permute(perm, hits->at[i].fp);

		there += hits->at[i].in_tables && key >= p->low && key <= p->high &&
			 key > before && key <= slice->last;
	}
	return there == near;
}

/* Add what is near in a slice, but for what another table reports. */
static int visit_table(void *ctx, const sx_block_slice *slice, enum sx_next *next,
		       simidx_error *err)
{
	struct near *v = ctx;
	sx_finding *f = v->f;
	const sx_probe *p = &v->task->probe[slice->probe];
	const sx_snapshot *snapshot = &f->view->snapshot;
	const sx_perm *perm = &snapshot->index->schema->plan.table[p->table];
	const sx_block_index *postings = f->view->table[SX_VIEW_POSTINGS].blocks;
	size_t n = slice->to > slice->from ? (size_t)(slice->to - slice->from) : 0;
	uint64_t query = f->access->permuted[p->table];
	sx_lookup *l = v->lookup;
	size_t near, had = f->hits->n;
	int rc = SIMIDX_OK;

	n = sx_finding_candidates(f, n);
	near = n ? sx_lookup_filter(l, v->task, slice, n, query, f->q->max_bits) : 0;
	/* Nearly always; f->done is set where candidates were cut. */
	if (!near && !f->done)
		return SIMIDX_OK;
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
	const sx_snapshot *snapshot = &f->view->snapshot;
	const sx_probes *probes = &f->access->tables.probes;
	struct near v = { f, lookup, NULL };
	const sx_lookup_task task = { snapshot->txn, f->view->table, probes->at, probes->n, 0,
				      SX_LOOKUP_SLICES, visit_table, &v };
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

/* ---- documents that were deleted ---- */

static int compare_fps(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Find out which documents of hits [from, to) postings have no more, though they stand there. */
static int find_deleted(sx_local_search *s, const sx_view *view, const sx_hits *hits, size_t from,
			size_t to, simidx_error *err)
{
	const sx_snapshot *snapshot = &view->snapshot;
	sx_fresh_span span = sx_header_fresh(&snapshot->header);

	s->fps.n = s->deleted.n = 0;
	if (!sx_header_may_delete(&snapshot->header))
		return SIMIDX_OK;
	for (size_t i = from; i < to; i++)
		if (hits->at[i].in_tables && sx_u64s_push(&s->fps, hits->at[i].fp))
			return sx_fail_nomem(err);
	if (s->fps.n > 1)
		qsort(s->fps.at, s->fps.n, sizeof(*s->fps.at), compare_fps);
	return s->fps.n ? sx_fresh_deleted(snapshot->index->fresh, snapshot->txn, &span, &s->fps,
					   &s->deleted, err)
			: SIMIDX_OK;
}

static int compare_documents(const void *a, const void *b)
{
	const sx_fresh_row *x = a, *y = b;

	if (x->fp != y->fp)
		return x->fp < y->fp ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* The first deleted document at or after (fp, id). */
static size_t first_deleted(const sx_local_search *s, uint64_t fp, uint64_t id)
{
	const sx_fresh_row key = { .fp = fp, .id = id };

	return sx_items_below(s->deleted.at, s->deleted.n, sizeof(key), &key, compare_documents);
}

static int has_deleted(const sx_local_search *s, uint64_t fp)
{
	size_t i = s->deleted.n ? first_deleted(s, fp, 0) : 0;

	return i < s->deleted.n && s->deleted.at[i].fp == fp;
}

/* Drop those rows of one fingerprint whose documents were deleted. Ids ascend in both. */
static void drop_deleted(const sx_local_search *s, uint64_t fp, sx_rows *rows)
{
	size_t at = rows->n ? first_deleted(s, fp, rows->col[SX_POSTINGS_ID][0]) : 0, n = 0;

	for (size_t i = 0; i < rows->n; i++) {
		uint64_t id = rows->col[SX_POSTINGS_ID][i];

		while (at < s->deleted.n && s->deleted.at[at].fp == fp && s->deleted.at[at].id < id)
			at++;
		if (at < s->deleted.n && s->deleted.at[at].fp == fp && s->deleted.at[at].id == id)
			continue;
		for (unsigned c = 0; c < rows->n_cols; c++)
			rows->col[c][n] = rows->col[c][i];
		n++;
	}
	rows->n = n;
}

/* ---- documents of a fingerprint ---- */

/* Documents of which hits, and what becomes of them. */
struct reading {
	sx_local_search *s;
	sx_taking *taking;
	const sx_lookup_task *task;
	uint32_t probe; /* of the slice before */
};

int sx_postings_decode(const sx_lookup *l, const sx_lookup_task *task, const sx_block_slice *s,
		       size_t n, sx_rows *rows, simidx_error *err)
{
	const sx_table *table = task->view[task->probe[s->probe].table].table;
	const char *wrong;
	sx_block block;

	rows->n = 0;
	if (sx_rows_reserve(rows, n))
		return sx_fail_nomem(err);
	if (!s->value) {
		for (unsigned c = 0; c < rows->n_cols; c++)
			memcpy(rows->col[c], l->rows.col[c] + s->from, n * sizeof(*rows->col[c]));
		rows->n = n;
		return SIMIDX_OK;
	}
	wrong = sx_block_open(&block, s->value, table->block_size, table->n_cols);
	if (wrong)
		return sx_lookup_damaged(task, s, wrong, err);
	for (unsigned c = 0; c < rows->n_cols; c++)
		sx_block_decode_col(&block, c, s->from, n, rows->col[c]);
	rows->n = n;
	return SIMIDX_OK;
}

static int visit_postings(void *ctx, const sx_block_slice *s, enum sx_next *next, simidx_error *err)
{
	struct reading *g = ctx;
	sx_taking *t = g->taking;
	size_t n = s->to > s->from ? (size_t)(s->to - s->from) : 0;
	const sx_columns *columns = &t->index->schema->columns;
	uint64_t fp = g->task->probe[s->probe].low;
	int has_less = has_deleted(g->s, fp);
	int all_match = !sx_query_judges(t->q, fp) && !has_less, rc = SIMIDX_OK;
	sx_rows *rows = &g->s->rows;
	sx_value_arrays values;

	if (s->probe != g->probe)
		t->had = 0;
	g->probe = s->probe;
	if (t->max && all_match && n > t->max - t->had)
		n = (size_t)(t->max - t->had);
	if (t->count && all_match) {
		*t->count += n;
		return SIMIDX_OK;
	}
	if (n) {
		rc = sx_postings_decode(&g->s->documents, g->task, s, n, rows, err);
		if (!rc && has_less)
			drop_deleted(g->s, fp, rows);
		if (!rc && t->max && !sx_query_judges(t->q, fp) && rows->n > t->max - t->had)
			rows->n = (size_t)(t->max - t->had);
		if (!rc && columns->n)
			values = sx_value_arrays_in(columns, rows, SX_POSTINGS_COLUMNS);
		if (!rc)
			rc = sx_matches_take(t, fp, rows->col[SX_POSTINGS_ID],
					     columns->n ? &values : NULL, rows->n, err);
	}
	if (sx_taking_is_full(t))
		*next = SX_NEXT_PROBE;
	return rc;
}

static int compare_found(const void *a, const void *b)
{
	const sx_local_found *x = a, *y = b;

	return x->fp < y->fp ? -1 : x->fp > y->fp;
}

/* What a batch has read of a fingerprint. NULL: nothing. */
static const sx_local_found *find_read(const sx_local_search *s, uint64_t fp)
{
	const sx_local_found key = { .fp = fp };
	size_t i = sx_items_below(s->found, s->n_found, sizeof(key), &key, compare_found);

	if (i == s->n_found || s->found[i].fp != fp || s->found[i].n_docs == SX_LOCAL_NOT_READ)
		return NULL;
	return &s->found[i];
}

/* Those of hits in the tables. A run of equal fingerprints may lie in thousands of blocks. */
static int read_postings(struct reading *g, sx_view *view, const sx_hits *hits, size_t from,
			 size_t to, simidx_error *err)
{
	const sx_snapshot *snapshot = &view->snapshot;
	sx_probes *probes = &g->s->probes;
	const sx_taking *t = g->taking;
	size_t first = SX_LOOKUP_SLICES;
	sx_lookup_task task;

	probes->n = 0;
	if (sx_probes_reserve(probes, to - from))
		return sx_fail_nomem(err);
	for (size_t i = from; i < to; i++)
		if (hits->at[i].in_tables && !find_read(g->s, hits->at[i].fp))
			probes->at[probes->n++] = (sx_probe){ .low = hits->at[i].fp,
							      .high = hits->at[i].fp,
							      .table = SX_VIEW_POSTINGS };
	/* Documents may begin at the end of a block. */
	if (t->max && t->max < PER_BLOCK * SX_LOOKUP_SLICES)
		first = 2 + (size_t)t->max / PER_BLOCK;
	task = (sx_lookup_task){ snapshot->txn, view->table, probes->at, probes->n, 1, first,
				 visit_postings, g };
	g->task = &task;
	g->probe = UINT32_MAX;
	return probes->n ? sx_lookup_run(&g->s->documents, &task, err) : SIMIDX_OK;
}

/* Those that a batch has read. */
static int take_read(struct reading *g, const sx_hits *hits, size_t from, size_t to,
		     simidx_error *err)
{
	const sx_local_search *s = g->s;
	sx_taking *t = g->taking;
	int rc = SIMIDX_OK;

	for (size_t i = from; !rc && i < to; i++) {
		const sx_hit *hit = &hits->at[i];
		const sx_local_found *read = hit->in_tables ? find_read(s, hit->fp) : NULL;

		t->had = 0;
		for (uint32_t k = 0; !rc && read && k < read->n_docs && !sx_taking_is_full(t);
		     k++) {
			const sx_doc *doc = &s->docs[read->docs + k];
			size_t at = s->deleted.n ? first_deleted(s, doc->fp, doc->id) : 0;

			if (at < s->deleted.n && s->deleted.at[at].fp == doc->fp &&
			    s->deleted.at[at].id == doc->id)
				continue;
			rc = sx_matches_take_one(t, doc, err);
		}
	}
	return rc;
}

static int take_fingerprints(sx_taking *t, const sx_hits *hits, size_t from, size_t to,
			     simidx_error *err)
{
	const uint64_t no_id = SIMIDX_NO_ID;
	int rc = SIMIDX_OK;

	t->max = 0;
	for (size_t i = from; !rc && i < to; i++)
		rc = sx_matches_take(t, hits->at[i].fp, &no_id, NULL, 1, err);
	return rc;
}

int sx_local_documents(void *search, sx_finding *f, sx_taking *taking, size_t from, size_t to,
		       simidx_error *err)
{
	struct reading g = { search, taking, NULL, UINT32_MAX };
	int rc;

	if (!taking->index->schema->has_ids)
		return take_fingerprints(taking, f->hits, from, to, err);
	rc = find_deleted(g.s, f->view, f->hits, from, to, err);
	if (!rc && g.s->n_found)
		rc = take_read(&g, f->hits, from, to, err);
	return rc ? rc : read_postings(&g, f->view, f->hits, from, to, err);
}

/* ---- labels ---- */

int sx_local_labels(sx_matches *m, const sx_snapshot *snapshot, size_t from, size_t n,
		    int checks, simidx_error *err)
{
	const sx_tables *tables = &snapshot->index->tables;
	size_t used = 0;

	/* Then the table may not be there. */
	if (!snapshot->header.labels)
		return SIMIDX_OK;
	for (size_t i = from; i < from + n; i++) {
		simidx_match *match = &m->at[i];
		sx_slice label;
		int rc = sx_documents_label(snapshot->txn, tables, match->id, &label, err);

		if (rc == SIMIDX_E_NOT_FOUND)
			continue;
		if (!rc && checks)
			rc = sx_documents_label_check(snapshot, match->id, label, err);
		if (rc)
			return rc;
		if (sx_reserve(&m->labels, &m->labels_cap, used + label.size, 1))
			return sx_fail_nomem(err);
		memcpy(m->labels + used, label.data, label.size);
		used += label.size;
		match->label_size = label.size;
		match->flags |= SIMIDX_MATCH_LABEL;
	}
	/* Only now: the buffer may have moved while it grew. */
	used = 0;
	for (size_t i = from; i < from + n; i++) {
		if (!(m->at[i].flags & SIMIDX_MATCH_LABEL))
			continue;
		m->at[i].label = (const char *)m->labels + used;
		used += m->at[i].label_size;
	}
	return SIMIDX_OK;
}
