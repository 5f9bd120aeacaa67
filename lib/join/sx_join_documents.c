/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "join/sx_join_documents.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/sx_bits.h"
#include "util/sx_alloc.h"
#include "util/sx_err.h"

#define PIECES_IN_A_ROW 2 /* that are read before a seek is quicker */

/* ---- rows ---- */

static const sx_table *documents_of(const simidx *index)
{
	/* In the first table of every plan, permuted values are the fingerprints themselves. */
	return index->schema->has_ids ? &index->tables.postings : &index->tables.permuted[0];
}

static int next_piece(sx_join_documents *d, simidx_error *err)
{
	int rc = sx_table_walk_next(&d->walk, err);

	d->at = 0;
	d->has_ended = rc == SIMIDX_E_END;
	return d->has_ended ? SIMIDX_OK : sx_join_failed(d->input, rc, err);
}

/* Go to the piece that has the first row at or after *from, or to the first one. */
static int seek(sx_join_documents *d, const sx_sort_key *from, simidx_error *err)
{
	int rc;

	sx_table_walk_end(&d->walk);
	rc = sx_table_walk_begin(&d->walk, d->input->snapshot.txn, documents_of(d->input->index),
				 from, err);
	return rc ? sx_join_failed(d->input, rc, err) : next_piece(d, err);
}

/* Go to the first row with this fingerprint or a greater one. */
static int go_to(sx_join_documents *d, uint64_t fp, simidx_error *err)
{
	const sx_rows *rows = &d->walk.rows;
	const sx_sort_key key = { fp, 0 };
	unsigned tried = 0;
	int rc = d->walk.table ? SIMIDX_OK : seek(d, &key, err);

	while (!rc && !d->has_ended && (!rows->n || rows->key[rows->n - 1] < fp))
		rc = tried++ == PIECES_IN_A_ROW ? seek(d, &key, err) : next_piece(d, err);
	if (!rc && !d->has_ended && rows->key[d->at] < fp)
		d->at += sx_u64s_below(rows->key + d->at, rows->n - d->at, fp);
	return rc;
}

/* Pass the rows of the piece whose fingerprints no other row has, but for the last one. */
static void pass_single(sx_join_documents *d)
{
	const uint64_t *key = d->walk.rows.key;
	const sx_join_input *input = d->input;
	size_t end = d->walk.rows.n;
	uint64_t fresh = UINT64_MAX;

	if (d->fresh < input->n_fresh)
		fresh = input->fresh[d->fresh].fp;
	while (d->at + 1 < end && key[d->at] != key[d->at + 1] && key[d->at] < fresh)
		d->at++;
}

/* ---- documents ---- */

static int by_id(const void *a, const void *b)
{
	const sx_join_doc *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static int by_fp2(const void *a, const void *b)
{
	const sx_join_doc *x = a, *y = b;

	if (x->fp2 != y->fp2)
		return x->fp2 < y->fp2 ? -1 : 1;
	return by_id(a, b);
}

static int is_touched(const sx_join_input *input, uint64_t id)
{
	size_t at = sx_u64s_below(input->touched, input->n_touched, id);

	return at < input->n_touched && input->touched[at] == id;
}

static int push(sx_join_documents *d, const sx_join_doc *doc, simidx_error *err)
{
	if (sx_reserve(&d->doc, &d->docs_cap, d->n + 1, sizeof(*d->doc)))
		return sx_fail_nomem(err);
	d->doc[d->n++] = *doc;
	return SIMIDX_OK;
}

/* Take the documents of a fingerprint that are the next ones in table and fresh rows. */
static int take(sx_join_documents *d, uint64_t fp, simidx_error *err)
{
	const sx_join_input *in = d->input;
	const sx_rows *rows = &d->walk.rows;
	const sx_table *postings = &in->index->tables.postings;
	int has_ids = in->index->schema->has_ids, rc = SIMIDX_OK;
	size_t tables;

	d->fp = fp;
	d->n = d->n_nodes = 0;
	while (!rc && !d->has_ended) {
		sx_join_doc doc = { fp, SIMIDX_NO_ID, 0 };

		if (d->at == rows->n) {
			rc = next_piece(d, err);
			continue;
		}
		if (rows->key[d->at] != fp)
			break;
		if (has_ids) {
			doc.id = rows->col[SX_POSTINGS_ID][d->at];
			doc.fp2 = sx_table_values(postings, rows, d->at).of[SX_FP2];
		}
		d->at++;
		if (!has_ids || !is_touched(in, doc.id))
			rc = push(d, &doc, err);
	}
	tables = d->n;
	for (; !rc && d->fresh < in->n_fresh && in->fresh[d->fresh].fp == fp; d->fresh++)
		if (has_ids || !tables)
			rc = push(d, &in->fresh[d->fresh], err);
	if (tables && d->n > tables)
		qsort(d->doc, d->n, sizeof(*d->doc), by_id);
	return rc;
}

int sx_join_documents_repeated(sx_join_documents *d, simidx_error *err)
{
	const sx_rows *rows = &d->walk.rows;
	const sx_join_input *in = d->input;
	int rc = d->walk.table ? SIMIDX_OK : seek(d, NULL, err);
	uint64_t fp;

	for (;; rc = next_piece(d, err)) {
		if (rc)
			return rc;
		if (d->has_ended)
			break;
		pass_single(d);
		if (d->at < rows->n)
			break;
	}
	if (d->has_ended && d->fresh == in->n_fresh)
		return SIMIDX_E_END;
	fp = d->fresh < in->n_fresh ? in->fresh[d->fresh].fp : UINT64_MAX;
	if (!d->has_ended && rows->key[d->at] < fp)
		fp = rows->key[d->at];
	return take(d, fp, err);
}

void sx_join_documents_begin(sx_join_documents *d, const sx_join *join, unsigned number)
{
	d->join = join;
	d->input = &join->input[number];
}

void sx_join_documents_end(sx_join_documents *d)
{
	sx_table_walk_end(&d->walk);
	free(d->doc);
	free(d->node);
}

/* ---- nodes ---- */

/* A document with a second fingerprint that is not known has a mark instead. */
static int lacks_fp2(const sx_join_input *input, uint64_t fp2)
{
	return !input->index->schema->has_fp2 || sx_is_unknown_fp2(input->index, fp2);
}

static void leave_out_empty_texts(sx_join_documents *d)
{
	size_t n = d->n;

	if (!(d->join->options.flags & SIMIDX_JOIN_TEXT) || d->fp)
		return;
	d->n = 0;
	for (size_t i = 0; i < n; i++)
		if (d->doc[i].fp2 && !lacks_fp2(d->input, d->doc[i].fp2))
			d->doc[d->n++] = d->doc[i];
}

int sx_join_documents_of(sx_join_documents *d, uint64_t fp, simidx_error *err)
{
	int compares = sx_join_compares_fp2(d->join), rc = go_to(d, fp, err);

	while (d->fresh < d->input->n_fresh && d->input->fresh[d->fresh].fp < fp)
		d->fresh++;
	if (!rc)
		rc = take(d, fp, err);
	if (rc)
		return rc;
	leave_out_empty_texts(d);
	/* Those of one node may be many, so only what is not in order is brought into it. */
	for (size_t i = 1; compares && i < d->n; i++)
		if (by_fp2(&d->doc[i - 1], &d->doc[i]) > 0) {
			qsort(d->doc, d->n, sizeof(*d->doc), by_fp2);
			break;
		}
	for (size_t i = 0, end; i < d->n; i = end) {
		uint64_t fp2 = d->doc[i].fp2;

		for (end = i + 1; end < d->n && (!compares || d->doc[end].fp2 == fp2);)
			end++;
		if (sx_reserve(&d->node, &d->nodes_cap, d->n_nodes + 1, sizeof(*d->node)))
			return sx_fail_nomem(err);
		d->node[d->n_nodes++] =
			(sx_join_node){ fp2, lacks_fp2(d->input, fp2), i, end - i };
	}
	return SIMIDX_OK;
}

int sx_join_are_near(const sx_join *join, unsigned distance, const sx_join_node *a,
		     const sx_join_node *b, int *distance2)
{
	*distance2 = -1;
	if (!sx_join_compares_fp2(join))
		return 1;
	if (a->lacks_fp2 || b->lacks_fp2)
		return distance <= join->info.radius2;
	*distance2 = (int)sx_count_plain(a->fp2 ^ b->fp2);
	return distance + (unsigned)*distance2 <= join->info.radius2;
}

/* ---- scores, for clusters ---- */

static int compare_labels(const sx_join_nodes *nodes, const sx_join_score *a,
			  const sx_join_score *b)
{
	size_t x = a->label_size, y = b->label_size, n = x < y ? x : y;
	int order = n ? memcmp(nodes->labels + a->label, nodes->labels + b->label, n) : 0;

	return order ? order : x < y ? -1 : x > y;
}

int sx_join_compare_scores(const sx_join_nodes *nodes, const sx_join_score *a,
			   const sx_join_score *b)
{
	int order = a->key < b->key ? -1 : a->key > b->key;

	if (!order && nodes->options.keep == SIMIDX_KEEP_SMALLEST_LABEL)
		order = compare_labels(nodes, a, b);
	return order ? order : a->id < b->id ? -1 : a->id > b->id;
}

/* Put the label behind those that are kept. */
static int keep_label(sx_join_nodes *nodes, sx_join_score *m, const char *label, size_t size)
{
	if (size && sx_reserve(&nodes->labels, &nodes->labels_cap, nodes->labels_used + size, 1))
		return sx_fail_nomem(nodes->err);
	if (size)
		memcpy(nodes->labels + nodes->labels_used, label, size);
	m->key = !size;
	m->label = nodes->labels_used;
	m->label_size = size;
	return SIMIDX_OK;
}

static int find_score(sx_join_nodes *nodes, const sx_join_doc *doc, sx_join_score *m)
{
	const simidx_join_options *o = &nodes->join->options;
	unsigned keep = nodes->options.keep;
	const char *label = NULL;
	uint64_t length = 0;
	size_t size = 0;
	int rc = SIMIDX_OK;

	*m = (sx_join_score){ keep == SIMIDX_KEEP_LARGEST_ID ? ~doc->id : 0, doc->id, 0, 0 };
	if (keep == SIMIDX_KEEP_SMALLEST_LABEL ||
	    (keep == SIMIDX_KEEP_LONGEST && o->flags & SIMIDX_JOIN_LABELS))
		rc = sx_join_label(&nodes->join->input[0], doc->id, &label, &size, nodes->err);
	if (!rc && keep == SIMIDX_KEEP_SMALLEST_LABEL)
		return keep_label(nodes, m, label, size);
	if (rc || keep != SIMIDX_KEEP_LONGEST)
		return rc;
	if (nodes->options.length(o->ctx, doc->id, label, size, &length))
		return sx_join_stopped(nodes->err);
	m->key = ~length;
	return SIMIDX_OK;
}

int sx_join_nodes_best(sx_join_nodes *nodes, const sx_join_doc *docs, size_t n,
		       sx_join_score *best)
{
	for (size_t i = 0; i < n; i++) {
		sx_join_score m;
		int rc = find_score(nodes, &docs[i], &m);

		if (rc)
			return rc;
		if (i && sx_join_compare_scores(nodes, &m, best) > 0)
			continue;
		if (i && m.label_size) { /* in the place of the one directly before it */
			memmove(nodes->labels + best->label, nodes->labels + m.label, m.label_size);
			m.label = best->label;
		}
		*best = m;
		nodes->labels_used = m.label + m.label_size;
	}
	return SIMIDX_OK;
}

/* ---- nodes of clusters ---- */

/* The distinct ones of the fingerprints in a sorter. */
static int take_distinct(sx_join_nodes *nodes, sx_sorter *sorter)
{
	sx_u64s *fps = &nodes->fps;
	const uint64_t *fp;
	uint64_t *less;
	int rc;

	while (!(rc = sx_sorter_next(sorter, &fp, nodes->err)))
		if ((!fps->n || fps->at[fps->n - 1] != *fp) && sx_u64s_push(fps, *fp))
			return sx_fail_nomem(nodes->err);
	if (rc != SIMIDX_E_END)
		return rc;
	if (!fps->n)
		return SIMIDX_OK;
	less = sx_realloc(fps->at, fps->n, sizeof(*less)); /* they stay until the end */
	if (!less)
		return sx_fail_nomem(nodes->err);
	fps->at = less;
	fps->cap = fps->n;
	return SIMIDX_OK;
}

/* The fingerprints of all pairs. */
static int gather(sx_join_nodes *nodes, sx_sorter *pairs)
{
	uint64_t before[2] = { 0, 0 };
	sx_sorter *sorter = NULL;
	int rc = sx_join_sorter(nodes->join, 1, 1, &sorter, nodes->err);

	for (uint64_t n = 0; !rc; n++) {
		const uint64_t *record;

		rc = sx_sorter_next(pairs, &record, nodes->err);
		for (unsigned i = 0; !rc && i < 2; i++) {
			if (n && record[i] == before[i])
				continue;
			before[i] = record[i];
			rc = sx_sorter_add(sorter, &before[i], nodes->err);
		}
		if (!rc && !(n & 0xffff))
			rc = sx_join_ask(nodes->join, nodes->err);
	}
	if (rc == SIMIDX_E_END)
		rc = sx_join_sorted(nodes->join, sorter, nodes->err);
	if (!rc)
		rc = take_distinct(nodes, sorter);
	sx_sorter_free(sorter);
	return rc;
}

/* `array` is the address of a pointer. */
static int resize(void *array, size_t n, size_t size)
{
	size_t cap = 0;

	return sx_grow(array, &cap, n + 1, size);
}

/* Have room for some nodes in every array that is needed. */
static int reserve(sx_join_nodes *nodes, size_t room)
{
	const simidx_clusters_options *o = &nodes->options;

	if (room >= UINT32_MAX || resize(&nodes->least, room, sizeof(*nodes->least)) ||
	    (o->keep != SIMIDX_KEEP_SMALLEST_ID &&
	     resize(&nodes->best, room, sizeof(*nodes->best))) ||
	    (o->keep >= SIMIDX_KEEP_SMALLEST_LABEL &&
	     resize(&nodes->score, room, sizeof(*nodes->score))) ||
	    (o->max_size && resize(&nodes->size, room, sizeof(*nodes->size))) ||
	    (sx_join_compares_fp2(nodes->join) && resize(&nodes->fp2, room, sizeof(*nodes->fp2))))
		return sx_fail_nomem(nodes->err);
	nodes->room = room;
	return SIMIDX_OK;
}

static int add_node(sx_join_nodes *nodes, const sx_join_node *node, const sx_join_doc *docs)
{
	size_t n = nodes->n;
	sx_join_score best;
	int rc = SIMIDX_OK;

	if (n == nodes->room)
		rc = reserve(nodes, n + n / 2 + 16);
	if (!rc)
		rc = sx_join_nodes_best(nodes, docs + node->from, node->n, &best);
	if (rc)
		return rc;
	nodes->least[n] = docs[node->from].id;
	if (nodes->best)
		nodes->best[n] = best.id;
	if (nodes->score)
		nodes->score[n] = best;
	if (nodes->size)
		nodes->size[n] = node->n;
	if (nodes->fp2)
		nodes->fp2[n] = node->fp2;
	nodes->n++;
	return SIMIDX_OK;
}

/* Up to fingerprint number `at` each is one node. */
static int begin_first(sx_join_nodes *nodes, size_t at)
{
	nodes->first = sx_calloc(nodes->fps.n + 1, sizeof(*nodes->first));
	if (!nodes->first)
		return sx_fail_nomem(nodes->err);
	for (size_t i = 0; i <= at; i++)
		nodes->first[i] = (uint32_t)i;
	return SIMIDX_OK;
}

int sx_join_nodes_make(sx_join_nodes *nodes, sx_sorter *pairs)
{
	sx_join_documents d = { 0 };
	int rc = gather(nodes, pairs);

	if (!rc)
		rc = reserve(nodes, nodes->fps.n); /* mostly a fingerprint is one node */
	sx_join_documents_begin(&d, nodes->join, 0);
	for (size_t at = 0; !rc && at < nodes->fps.n; at++) {
		rc = sx_join_nodes_read(nodes, &d, at);
		if (!rc && d.n_nodes != 1 && !nodes->first)
			rc = begin_first(nodes, at);
		for (size_t i = 0; !rc && i < d.n_nodes; i++)
			rc = add_node(nodes, &d.node[i], d.doc);
		if (nodes->first)
			nodes->first[at + 1] = (uint32_t)nodes->n;
	}
	sx_join_documents_end(&d);
	return rc;
}

int sx_join_nodes_read(const sx_join_nodes *nodes, sx_join_documents *d, size_t at)
{
	int rc = sx_join_documents_of(d, nodes->fps.at[at], nodes->err);

	/* Fingerprints stand for ids where there are none. */
	for (size_t i = 0; !d->input->index->schema->has_ids && i < d->n; i++)
		d->doc[i].id = d->doc[i].fp;
	if (!rc && !((at + 1) & 0xfff))
		rc = sx_join_tell(nodes->join, "reading documents", at + 1, nodes->fps.n,
				  nodes->err);
	return rc;
}

/* For bsearch(): whether a node is before, among or after those of a fingerprint. */
static int compare_first(const void *node, const void *first)
{
	const uint32_t *n = node, *f = first;

	return *n < f[0] ? -1 : *n >= f[1];
}

uint64_t sx_join_nodes_fp(const sx_join_nodes *nodes, uint32_t node)
{
	const uint32_t *first = nodes->first;

	if (!first)
		return nodes->fps.at[node];
	first = bsearch(&node, first, nodes->fps.n, sizeof(*first), compare_first);
	assert(first);
	return nodes->fps.at[first - nodes->first];
}

void sx_join_nodes_free_scores(sx_join_nodes *nodes)
{
	free(nodes->score);
	free(nodes->labels);
	nodes->score = NULL;
	nodes->labels = NULL;
	nodes->labels_used = nodes->labels_cap = 0;
}

void sx_join_nodes_end(sx_join_nodes *nodes)
{
	sx_join_nodes_free_scores(nodes);
	sx_u64s_free(&nodes->fps);
	free(nodes->least);
	free(nodes->best);
	free(nodes->size);
	free(nodes->fp2);
	free(nodes->first);
}
