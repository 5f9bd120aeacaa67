/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "join/sx_join_nodes.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/sx_bits.h"
#include "util/sx_alloc.h"
#include "util/sx_err.h"

/* ---- scores ---- */

static int compare_labels(const sx_join_nodes *nodes, const sx_join_score *a, const sx_join_score *b)
{
	size_t n = a->label_size < b->label_size ? a->label_size : b->label_size;
	int order = n ? memcmp(nodes->labels + a->label, nodes->labels + b->label, n) : 0;

	if (order)
		return order;
	return a->label_size < b->label_size ? -1 : a->label_size > b->label_size;
}

static int compare_scores(const sx_join_nodes *nodes, const sx_join_score *a, const sx_join_score *b)
{
	int order = 0;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	if (nodes->options.keep == SIMIDX_KEEP_SMALLEST_LABEL)
		order = compare_labels(nodes, a, b);
	if (order)
		return order;
	return a->id < b->id ? -1 : a->id > b->id;
}

/* The label is put behind those that are kept. */
static int read_label(sx_join_nodes *nodes, sx_join_score *m)
{
	sx_slice label;
	int rc = sx_join_input_label(&nodes->join.task.input[0], m->id, &label, nodes->err);

	if (rc)
		return rc;
	m->key = !label.size;
	m->label = nodes->labels_used;
	m->label_size = 0;
	if (!label.size)
		return SIMIDX_OK;
	if (sx_reserve(&nodes->labels, &nodes->labels_cap, nodes->labels_used + label.size, 1))
		return sx_fail_nomem(nodes->err);
	memcpy(nodes->labels + nodes->labels_used, label.data, label.size);
	m->label_size = label.size;
	return SIMIDX_OK;
}

static sx_join_score score_of_id(const sx_join_nodes *nodes, uint64_t id)
{
	return (sx_join_score){ nodes->options.keep == SIMIDX_KEEP_LARGEST_ID ? ~id : 0, id, 0, 0 };
}

static int ask_length(sx_join_nodes *nodes, sx_join_score *m)
{
	const simidx_join_options *o = &nodes->join.options;
	sx_slice label = { NULL, 0 };
	uint64_t length = 0;
	int rc = SIMIDX_OK;

	if (o->flags & SIMIDX_JOIN_LABELS)
		rc = sx_join_input_label(&nodes->join.task.input[0], m->id, &label, nodes->err);
	if (rc)
		return rc;
	if (nodes->options.length(o->ctx, m->id, label.data, label.size, &length))
		return sx_fail(nodes->err, SIMIDX_E_STOPPED, "stopped by the caller");
	m->key = ~length;
	return SIMIDX_OK;
}

static int find_score(sx_join_nodes *nodes, const sx_join_doc *doc, sx_join_score *m)
{
	*m = score_of_id(nodes, doc->id);
	switch (nodes->options.keep) {
	case SIMIDX_KEEP_SMALLEST_LABEL:
		return read_label(nodes, m);
	case SIMIDX_KEEP_LONGEST:
		return ask_length(nodes, m);
	}
	return SIMIDX_OK;
}

int sx_join_nodes_best(sx_join_nodes *nodes, const sx_join_doc *docs, size_t n, sx_join_score *best)
{
	for (size_t i = 0; i < n; i++) {
		sx_join_score m;
		int rc = find_score(nodes, &docs[i], &m);

		if (rc)
			return rc;
		if (i && compare_scores(nodes, &m, best) > 0)
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

/* ---- nodes ---- */

/* Without ids fingerprints stand for them. */
void sx_join_nodes_name(const sx_join_nodes *nodes, sx_join_doc *docs, size_t n)
{
	for (size_t i = 0; !nodes->join.task.input[0].index->schema->has_ids && i < n; i++)
		docs[i].id = docs[i].fp;
}

/* The distinct ones of the fingerprints in a sorter. */
static int take_distinct(sx_join_nodes *nodes, sx_sorter *sorter)
{
	sx_u64s *fps = &nodes->fps;
	uint64_t *less;

	for (;;) {
		const uint64_t *fp;
		int rc = sx_sorter_next(sorter, &fp, nodes->err);

		if (rc == SIMIDX_E_END)
			break;
		if (rc)
			return rc;
		if ((!fps->n || fps->at[fps->n - 1] != *fp) && sx_u64s_push(fps, *fp))
			return sx_fail_nomem(nodes->err);
	}
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
static int gather(sx_join_nodes *nodes)
{
	const sx_join_space *space = &nodes->join.task.space;
	uint64_t before[2] = { 0, 0 };
	sx_sorter *sorter = NULL;
	int rc = sx_sorter_new(1, 1, 0, space->memory / 4, space->dir, &sorter, nodes->err);

	for (uint64_t n = 0; !rc; n++) {
		const uint64_t *record;

		rc = sx_sorter_next(nodes->join.sorter, &record, nodes->err);
		for (unsigned i = 0; !rc && i < 2; i++) {
			if (n && record[i] == before[i])
				continue;
			before[i] = record[i];
			rc = sx_sorter_add(sorter, &before[i], nodes->err);
		}
		if (!rc && !(n & 0xffff))
			rc = sx_join_ask(&nodes->join.task, nodes->err);
	}
	if (rc == SIMIDX_E_END)
		rc = sx_sorter_finish(sorter, space->memory / 4, nodes->err);
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

	if (room >= SX_JOIN_NO_NODE || resize(&nodes->least, room, sizeof(*nodes->least)) ||
	    (o->keep != SIMIDX_KEEP_SMALLEST_ID &&
	     resize(&nodes->best, room, sizeof(*nodes->best))) ||
	    (o->keep >= SIMIDX_KEEP_SMALLEST_LABEL &&
	     resize(&nodes->score, room, sizeof(*nodes->score))) ||
	    (o->max_size && resize(&nodes->size, room, sizeof(*nodes->size))) ||
	    (nodes->join.compares_fp2 && resize(&nodes->fp2, room, sizeof(*nodes->fp2))))
		return sx_fail_nomem(nodes->err);
	nodes->room = room;
	return SIMIDX_OK;
}

/* A node of the fingerprint that is visited. */
static int add_node(sx_join_nodes *nodes, const sx_join_class *class, const sx_join_doc *docs)
{
	size_t n = nodes->n_nodes;
	sx_join_score best;
	int rc = SIMIDX_OK;

	if (n == nodes->room)
		rc = reserve(nodes, n + n / 2 + 16);
	if (!rc)
		rc = sx_join_nodes_best(nodes, docs + class->from, class->n, &best);
	if (rc)
		return rc;
	nodes->least[n] = docs[class->from].id;
	if (nodes->best)
		nodes->best[n] = best.id;
	if (nodes->score)
		nodes->score[n] = best;
	if (nodes->size)
		nodes->size[n] = class->n;
	if (nodes->fp2)
		nodes->fp2[n] = class->fp2;
	nodes->n_nodes++;
	return SIMIDX_OK;
}

/* Up to the fingerprint that is visited each is one node. */
static int begin_first(sx_join_nodes *nodes)
{
	nodes->first = sx_calloc(nodes->fps.n + 1, sizeof(*nodes->first));
	if (!nodes->first)
		return sx_fail_nomem(nodes->err);
	for (size_t i = 0; i <= nodes->at; i++)
		nodes->first[i] = (uint32_t)i;
	return SIMIDX_OK;
}

static int visit_nodes(void *ctx, uint64_t fp, sx_join_doc *docs, size_t n)
{
	sx_join_nodes *nodes = ctx;
	sx_join_pairs *join = &nodes->join;
	int rc;

	(void)fp; /* number nodes->at */
	sx_join_nodes_name(nodes, docs, n);
	nodes->classes.n = 0;
	rc = sx_join_pairs_classes(join, &join->task.input[0], docs, &n, 0, &nodes->classes,
				   nodes->err);
	if (!rc && nodes->classes.n != 1 && !nodes->first)
		rc = begin_first(nodes);
	for (size_t i = 0; !rc && i < nodes->classes.n; i++)
		rc = add_node(nodes, &nodes->classes.at[i], docs);
	nodes->at++;
	if (nodes->first)
		nodes->first[nodes->at] = (uint32_t)nodes->n_nodes;
	if (!rc && !(nodes->at & 0xfff))
		rc = sx_join_pairs_tell(join, "reading documents", nodes->at, nodes->fps.n,
					nodes->err);
	return rc;
}

int sx_join_nodes_make(sx_join_nodes *nodes)
{
	int rc = gather(nodes);

	if (!rc)
		rc = reserve(nodes, nodes->fps.n); /* mostly a fingerprint is one node */
	if (!rc)
		rc = sx_join_input_documents(&nodes->join.task.input[0], nodes->fps.at, nodes->fps.n,
					    visit_nodes, nodes, nodes->err);
	return rc;
}

uint64_t sx_join_nodes_fp(const sx_join_nodes *nodes, uint32_t node)
{
	size_t low = 0, high = nodes->fps.n;

	if (!nodes->first)
		return nodes->fps.at[node];
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (nodes->first[middle] <= node)
			low = middle;
		else
			high = middle;
	}
	return nodes->fps.at[low];
}

/* ---- ranks ---- */

/* A merge sort, as labels are compared, and qsort() has no context. */
static int sort_by_score(const sx_join_nodes *nodes, uint32_t *order, uint32_t *scratch)
{
	size_t n = nodes->n_nodes;

	for (size_t width = 1; width < n; width *= 2) {
		for (size_t from = 0; from < n; from += 2 * width) {
			size_t middle = from + width < n ? from + width : n;
			size_t end = middle + width < n ? middle + width : n;
			size_t i = from, j = middle;

			for (size_t out = from; out < end; out++) {
				int takes_j = i == middle ||
					      (j < end && compare_scores(nodes, &nodes->score[order[j]],
									 &nodes->score[order[i]]) < 0);

				scratch[out] = takes_j ? order[j++] : order[i++];
			}
		}
		memcpy(order, scratch, n * sizeof(*order));
		if (sx_join_ask(&nodes->join.task, nodes->err))
			return SIMIDX_E_STOPPED;
	}
	return SIMIDX_OK;
}

/* By ids alone, of which each is one node's. */
static int sort_by_id(const sx_join_nodes *nodes, uint32_t *order)
{
	const sx_join_space *space = &nodes->join.task.space;
	const uint64_t *id = nodes->best ? nodes->best : nodes->least;
	uint64_t flips = nodes->options.keep == SIMIDX_KEEP_LARGEST_ID ? UINT64_MAX : 0;
	sx_sorter *sorter = NULL;
	int rc = sx_sorter_new(2, 1, 0, space->memory / 4, space->dir, &sorter, nodes->err);

	for (size_t i = 0; !rc && i < nodes->n_nodes; i++) {
		uint64_t record[2] = { id[i] ^ flips, i };

		rc = sx_sorter_add(sorter, record, nodes->err);
	}
	if (!rc)
		rc = sx_sorter_finish(sorter, space->memory / 4, nodes->err);
	for (size_t i = 0; !rc && i < nodes->n_nodes; i++) {
		const uint64_t *record;

		rc = sx_sorter_next(sorter, &record, nodes->err);
		if (!rc)
			order[i] = (uint32_t)record[1];
	}
	sx_sorter_free(sorter);
	return rc;
}

int sx_join_nodes_rank(sx_join_nodes *nodes, uint32_t *order, uint32_t *rank)
{
	int rc;

	for (size_t i = 0; i < nodes->n_nodes; i++)
		order[i] = (uint32_t)i;
	rc = nodes->score ? sort_by_score(nodes, order, rank) : sort_by_id(nodes, order);
	for (size_t i = 0; i < nodes->n_nodes; i++)
		rank[order[i]] = (uint32_t)i;
	free(nodes->score);
	free(nodes->labels);
	nodes->score = NULL;
	nodes->labels = NULL;
	nodes->labels_used = nodes->labels_cap = 0;
	return rc;
}

/* ---- pairs of nodes ---- */

static int visit_classes(sx_join_nodes *nodes, size_t a, size_t b, unsigned distance,
			 sx_join_visit_nodes *visit, void *ctx)
{
	const uint32_t *first = nodes->first;
	size_t end_a = first ? first[a + 1] : a + 1, end_b = first ? first[b + 1] : b + 1;
	int rc = SIMIDX_OK;

	for (size_t i = first ? first[a] : a; i < end_a; i++)
		for (size_t j = a == b ? i + 1 : first ? first[b] : b; !rc && j < end_b; j++) {
			int distance2;

			if (!(j & 0xffff))
				rc = sx_join_ask(&nodes->join.task, nodes->err);
			if (!rc && nodes->fp2) {
				const simidx *index = nodes->join.task.input[0].index;
				sx_join_class x = { nodes->fp2[i], sx_is_unknown_fp2(index, nodes->fp2[i]), 0, 0 };
				sx_join_class y = { nodes->fp2[j], sx_is_unknown_fp2(index, nodes->fp2[j]), 0, 0 };

				if (!sx_join_pairs_are_near(&nodes->join, distance, &x, &y, &distance2))
					continue;
			}
			if (!rc)
				rc = visit(ctx, (uint32_t)i, (uint32_t)j);
		}
	return rc;
}

/* Visit all pairs of nodes whose first fingerprints are at this distance, or all if it is -1. */
int sx_join_nodes_pairs(sx_join_nodes *nodes, int distance, sx_join_visit_nodes *visit, void *ctx)
{
	int rc = sx_sorter_rewind(nodes->join.sorter, nodes->err);
	uint64_t done = 0;

	while (!rc) {
		const uint64_t *record;
		unsigned here;

		rc = sx_sorter_next(nodes->join.sorter, &record, nodes->err);
		if (rc)
			break;
		if (!(++done & 0xffff))
			rc = sx_join_pairs_tell(&nodes->join, "linking", done,
						nodes->join.info.fingerprint_pairs, nodes->err);
		here = sx_count_plain(record[0] ^ record[1]);
		if (rc || (distance >= 0 && here != (unsigned)distance))
			continue;
		rc = visit_classes(nodes, sx_u64s_below(nodes->fps.at, nodes->fps.n, record[0]),
				   sx_u64s_below(nodes->fps.at, nodes->fps.n, record[1]), here, visit, ctx);
	}
	return rc == SIMIDX_E_END ? SIMIDX_OK : rc;
}

void sx_join_nodes_end(sx_join_nodes *nodes)
{
	sx_u64s_free(&nodes->fps);
	free(nodes->least);
	free(nodes->best);
	free(nodes->size);
	free(nodes->fp2);
	free(nodes->score);
	free(nodes->first);
	free(nodes->classes.at);
	free(nodes->labels);
	sx_join_pairs_end(&nodes->join);
}
