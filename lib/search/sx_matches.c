/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "search/sx_matches.h"

#include <stdlib.h>
#include <string.h>

#include "index/sx_documents.h"
#include "util/sx_err.h"
#include "util/sx_hash.h"

#define FEW 32        /* matches that an insertion sort sorts faster than qsort() */
#define PER_BLOCK 256 /* documents of a fingerprint in a block, most often more */

int sx_matches_init(sx_matches *m, const simidx *index)
{
	unsigned n_cols = index->tables.postings.n_cols;

	sx_rows_init(&m->rows, n_cols);
	return index->engine ? 0 : sx_lookup_init(&m->lookup, index->store, index->kernel,
						  index->checks, n_cols);
}

void sx_matches_free(sx_matches *m)
{
	free(m->at);
	free(m->labels);
	sx_probes_free(&m->probes);
	sx_lookup_free(&m->lookup);
	sx_rows_free(&m->rows);
	sx_u64s_free(&m->fps);
	free(m->deleted.at);
}

/* What stands for a second fingerprint that is not known is shown to nobody. */
static void hide_unknown(const simidx *index, simidx_match *match)
{
	if (!sx_is_unknown_fp2(index, match->fp2))
		return;
	match->fp2 = 0;
	match->flags &= ~SIMIDX_MATCH_FP2;
}

simidx_match sx_match_of(const simidx *index, uint64_t id, uint64_t fp, uint64_t fp2)
{
	simidx_match match = { .id = id,
			       .fp = fp,
			       .fp2 = fp2,
			       .flags = index->flags & SIMIDX_CREATE_FP2 ? SIMIDX_MATCH_FP2 : 0 };

	hide_unknown(index, &match);
	return match;
}

int sx_matches_push(sx_matches *m, const simidx_match *match, simidx_error *err)
{
	if (m->n == m->cap && sx_reserve(&m->at, &m->cap, m->n + 1, sizeof(*m->at)))
		return sx_fail_nomem(err);
	m->at[m->n++] = *match;
	return SIMIDX_OK;
}

/* ---- documents that were deleted ---- */

static int compare_fps(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Find out which documents of hits [from, to) postings have no more, though they stand there. */
static int find_deleted(sx_matches *m, const sx_view *view, const sx_hits *hits, size_t from,
			size_t to, simidx_error *err)
{
	const sx_snapshot *s = &view->snapshot;
	sx_fresh_span span = sx_header_fresh(&s->header);

	m->fps.n = m->deleted.n = 0;
	if (!sx_header_may_delete(&s->header))
		return SIMIDX_OK;
	for (size_t i = from; i < to; i++)
		if (hits->at[i].in_tables && sx_u64s_push(&m->fps, hits->at[i].fp))
			return sx_fail_nomem(err);
	if (m->fps.n > 1)
		qsort(m->fps.at, m->fps.n, sizeof(*m->fps.at), compare_fps);
	return m->fps.n ? sx_fresh_deleted(&s->index->fresh, s->txn, &span, &m->fps, &m->deleted, err)
			: SIMIDX_OK;
}

/* The first deleted document at or after (fp, id). */
static size_t first_deleted(const sx_matches *m, uint64_t fp, uint64_t id)
{
	size_t low = 0, high = m->deleted.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const sx_fresh_row *row = &m->deleted.at[middle];

		if (row->fp < fp || (row->fp == fp && row->id < id))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int has_deleted(const sx_matches *m, uint64_t fp)
{
	size_t i = m->deleted.n ? first_deleted(m, fp, 0) : 0;

	return i < m->deleted.n && m->deleted.at[i].fp == fp;
}

/* Drop those rows of one fingerprint whose documents were deleted. Ids ascend in both. */
static void drop_deleted(const sx_matches *m, uint64_t fp, sx_rows *rows)
{
	size_t at = rows->n ? first_deleted(m, fp, rows->col[0][0]) : 0, n = 0;

	for (size_t i = 0; i < rows->n; i++) {
		uint64_t id = rows->col[0][i];

		while (at < m->deleted.n && m->deleted.at[at].fp == fp && m->deleted.at[at].id < id)
			at++;
		if (at < m->deleted.n && m->deleted.at[at].fp == fp && m->deleted.at[at].id == id)
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
	sx_matches *m;
	const simidx *index;
	const sx_query *q;
	const sx_lookup_task *task;
	uint64_t max;
	uint64_t *count;
	uint32_t probe; /* of the slice before */
	uint64_t had;   /* documents of the fingerprint at hand */
};

static int is_full(const struct reading *g)
{
	return g->max && g->had >= g->max;
}

/* Documents of one fingerprint; fp2 may be NULL. */
static int take(struct reading *g, uint64_t fp, const uint64_t *id, const uint64_t *fp2, size_t n,
		simidx_error *err)
{
	sx_matches *m = g->m;
	simidx_match match = { .fp = fp };
	size_t had = m->n;
	int judges = sx_query_judges(g->q, fp);

	if (!n)
		return SIMIDX_OK;
	if (g->count && !judges) {
		*g->count += n;
		return SIMIDX_OK;
	}
	match.flags = g->index->flags & SIMIDX_CREATE_FP2 ? SIMIDX_MATCH_FP2 : 0;
	sx_query_judge(g->q, &match);
	if (sx_reserve(&m->at, &m->cap, m->n + n, sizeof(*m->at)))
		return sx_fail_nomem(err);
	/* All match, and the callers have seen to max. */
	if (!judges) {
		simidx_match *to = m->at + m->n, like = match; /* one that stays in registers */

		for (size_t i = 0; i < n; i++) {
			like.id = id[i];
			like.fp2 = fp2 ? fp2[i] : 0;
			to[i] = like;
		}
		for (size_t i = 0; g->index->has_unknown_fp2 && i < n; i++)
			hide_unknown(g->index, &to[i]);
		m->n += n;
		g->had += n;
		return SIMIDX_OK;
	}
	for (size_t i = 0; i < n && !is_full(g); i++) {
		match = sx_match_of(g->index, id[i], fp, fp2 ? fp2[i] : 0);
		if (!sx_query_judge(g->q, &match))
			continue;
		m->at[m->n++] = match;
		g->had++;
	}
	if (g->count) {
		*g->count += m->n - had;
		m->n = had;
	}
	return SIMIDX_OK;
}

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

static int visit(void *ctx, const sx_block_slice *s, enum sx_next *next, simidx_error *err)
{
	struct reading *g = ctx;
	size_t n = s->to > s->from ? (size_t)(s->to - s->from) : 0;
	uint64_t fp = g->task->probe[s->probe].low;
	int has_less = has_deleted(g->m, fp);
	int all_match = !sx_query_judges(g->q, fp) && !has_less, rc = SIMIDX_OK;
	sx_rows *rows = &g->m->rows;

	if (s->probe != g->probe)
		g->had = 0;
	g->probe = s->probe;
	if (g->max && all_match && n > g->max - g->had)
		n = (size_t)(g->max - g->had);
	if (g->count && all_match) {
		*g->count += n;
		return SIMIDX_OK;
	}
	if (n) {
		rc = sx_postings_decode(&g->m->lookup, g->task, s, n, rows, err);
		if (!rc && has_less)
			drop_deleted(g->m, fp, rows);
		if (!rc && g->max && !sx_query_judges(g->q, fp) && rows->n > g->max - g->had)
			rows->n = (size_t)(g->max - g->had);
		if (!rc)
			rc = take(g, fp, rows->col[0], rows->n_cols > 1 ? rows->col[1] : NULL,
				  rows->n, err);
	}
	if (is_full(g))
		*next = SX_NEXT_PROBE;
	return rc;
}

static int is_wanted(const sx_hit *hit)
{
	return hit->in_tables && hit->n_docs == SX_NOT_READ;
}

/* Those of hits in the tables. A run of equal fingerprints may lie in thousands of blocks. */
static int read_postings(struct reading *g, sx_view *view, const sx_hits *hits, size_t from,
			 size_t to, simidx_error *err)
{
	sx_probes *probes = &g->m->probes;
	size_t first = SX_LOOKUP_SLICES;
	sx_lookup_task task;

	probes->n = 0;
	if (sx_probes_reserve(probes, to - from))
		return sx_fail_nomem(err);
	for (size_t i = from; i < to; i++)
		if (is_wanted(&hits->at[i]))
			probes->at[probes->n++] = (sx_probe){ .low = hits->at[i].fp,
							      .high = hits->at[i].fp,
							      .table = SX_VIEW_POSTINGS };
	/* Documents may begin at the end of a block. */
	if (g->max && g->max < PER_BLOCK * SX_LOOKUP_SLICES)
		first = 2 + (size_t)g->max / PER_BLOCK;
	task = (sx_lookup_task){ view->snapshot.txn, view->table, probes->at, probes->n, 1, first,
				 visit, g };
	g->task = &task;
	g->probe = UINT32_MAX;
	return probes->n ? sx_lookup_run(&g->m->lookup, &task, err) : SIMIDX_OK;
}

/* Those that were read beforehand. */
static int take_known(struct reading *g, const sx_hits *hits, size_t from, size_t to,
		      const sx_doc *known, simidx_error *err)
{
	int rc = SIMIDX_OK;

	for (size_t i = from; !rc && i < to; i++) {
		const sx_hit *hit = &hits->at[i];

		g->had = 0;
		if (!hit->in_tables || is_wanted(hit))
			continue;
		for (uint32_t k = 0; !rc && k < hit->n_docs && !is_full(g); k++) {
			const sx_doc *doc = &known[hit->docs + k];
			size_t at = g->m->deleted.n ? first_deleted(g->m, doc->fp, doc->id) : 0;

			if (at < g->m->deleted.n && g->m->deleted.at[at].fp == doc->fp &&
			    g->m->deleted.at[at].id == doc->id)
				continue;
			rc = take(g, doc->fp, &doc->id, &doc->fp2, 1, err);
		}
	}
	return rc;
}

/* Fresh rows of hits [from, to): those of their distances, as hits of one distance come together. */
static int take_fresh(struct reading *g, const sx_hits *hits, size_t from, size_t to,
		      simidx_error *err)
{
	unsigned low = hits->at[from].distance, high = hits->at[to - 1].distance;
	int rc = SIMIDX_OK;

	for (size_t i = 0; !rc && i < hits->fresh.n; i++) {
		const sx_fresh_row *row = &hits->fresh.at[i];
		unsigned distance = sx_query_distance(g->q, row->fp);

		g->had = 0;
		if (distance >= low && distance <= high)
			rc = take(g, row->fp, &row->id, &row->fp2, 1, err);
	}
	return rc;
}

/* ---- order ---- */

static int compare(const void *a, const void *b)
{
	const simidx_match *x = a, *y = b;

	if (x->weighted_distance != y->weighted_distance)
		return x->weighted_distance < y->weighted_distance ? -1 : 1;
	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->fp < y->fp ? -1 : x->fp > y->fp;
}

/* Sort matches [from, n). */
static void sort(sx_matches *m, size_t from)
{
	size_t n = m->n - from, i = 1;
	simidx_match *at = n ? m->at + from : NULL;

	while (i < n && compare(&at[i - 1], &at[i]) < 0)
		i++;
	if (i >= n)
		return;
	if (n > FEW) {
		qsort(at, n, sizeof(*at), compare);
		return;
	}
	for (i = 1; i < n; i++) {
		simidx_match match = at[i];
		size_t j = i;

		for (; j && compare(&match, &at[j - 1]) < 0; j--)
			at[j] = at[j - 1];
		at[j] = match;
	}
}

static int take_fingerprints(struct reading *g, const sx_hits *hits, size_t from, size_t to,
			     simidx_error *err)
{
	const uint64_t no_id = SIMIDX_NO_ID;
	int rc = SIMIDX_OK;

	for (size_t i = from; !rc && i < to; i++)
		rc = take(g, hits->at[i].fp, &no_id, NULL, 1, err);
	return rc;
}

int sx_matches_read(sx_matches *m, sx_view *view, const sx_query *q, const sx_hits *hits,
		    size_t from, size_t to, const sx_doc *known, uint64_t max, uint64_t *count,
		    simidx_error *err)
{
	struct reading g = { m, view->snapshot.index, q, NULL, max, count, 0, 0 };
	size_t had = m->n;
	int rc;

	if (from == to)
		return SIMIDX_OK;
	if (!sx_has_ids(g.index)) {
		g.max = 0;
		return take_fingerprints(&g, hits, from, to, err);
	}
	rc = find_deleted(m, view, hits, from, to, err);
	if (!rc && known)
		rc = take_known(&g, hits, from, to, known, err);
	if (!rc)
		rc = read_postings(&g, view, hits, from, to, err);
	if (!rc)
		rc = take_fresh(&g, hits, from, to, err);
	/* Those of one fingerprint in postings come in order, and may be millions. */
	if (!rc && (to - from > 1 || hits->fresh.n || q->has_fp2))
		sort(m, had);
	return rc;
}

int sx_matches_take(sx_matches *m, const simidx *index, const sx_query *q, const sx_doc *doc,
		    uint64_t *count, simidx_error *err)
{
	struct reading g = { m, index, q, NULL, 0, count, 0, 0 };

	return take(&g, doc->fp, &doc->id, &doc->fp2, 1, err);
}

void sx_matches_sort(sx_matches *m, size_t from)
{
	sort(m, from);
}

/* ---- labels ---- */

int sx_matches_add_labels(sx_matches *m, const sx_snapshot *snapshot, size_t from, size_t n,
			  int checks, simidx_error *err)
{
	const sx_tables *tables = &snapshot->index->tables;
	size_t used = 0;

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
