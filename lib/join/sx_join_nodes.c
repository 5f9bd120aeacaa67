/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "join/sx_join_nodes.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/sx_bits.h"
#include "util/sx_alloc.h"
#include "util/sx_err.h"
#include "util/sx_sort.h"

#define LEAST_FPS ((size_t)1 << 16) /* that are gathered before repeats are dropped */

/* ---- merits ---- */

static int compare_labels(const sx_join_nodes *nodes, const sx_join_merit *a, const sx_join_merit *b)
{
	size_t n = a->label_size < b->label_size ? a->label_size : b->label_size;
	int order = n ? memcmp(nodes->labels + a->label, nodes->labels + b->label, n) : 0;

	if (order)
		return order;
	return a->label_size < b->label_size ? -1 : a->label_size > b->label_size;
}

int sx_join_merit_cmp(const sx_join_nodes *nodes, const sx_join_merit *a, const sx_join_merit *b)
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
static int read_label(sx_join_nodes *nodes, sx_join_merit *m)
{
	sx_slice label;
	int rc = sx_join_side_label(&nodes->join.task.side[0], m->id, &label, nodes->err);

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

static sx_join_merit merit_of_id(const sx_join_nodes *nodes, uint64_t id)
{
	return (sx_join_merit){ nodes->options.keep == SIMIDX_KEEP_LARGEST_ID ? ~id : 0, id, 0, 0 };
}

sx_join_merit sx_join_nodes_merit(const sx_join_nodes *nodes, uint32_t node)
{
	return nodes->merit ? nodes->merit[node] : merit_of_id(nodes, nodes->node[node].best_id);
}

static int ask_length(sx_join_nodes *nodes, sx_join_merit *m)
{
	const simidx_join_options *o = &nodes->join.options;
	sx_slice label = { NULL, 0 };
	uint64_t length = 0;
	int rc = SIMIDX_OK;

	if (o->flags & SIMIDX_JOIN_LABELS)
		rc = sx_join_side_label(&nodes->join.task.side[0], m->id, &label, nodes->err);
	if (rc)
		return rc;
	if (nodes->options.length(o->ctx, m->id, label.data, label.size, &length))
		return sx_fail(nodes->err, SIMIDX_E_STOPPED, "stopped by the caller");
	m->key = ~length;
	return SIMIDX_OK;
}

static int find_merit(sx_join_nodes *nodes, const sx_join_doc *doc, sx_join_merit *m)
{
	*m = merit_of_id(nodes, doc->id);
	switch (nodes->options.keep) {
	case SIMIDX_KEEP_SMALLEST_LABEL:
		return read_label(nodes, m);
	case SIMIDX_KEEP_LONGEST:
		return ask_length(nodes, m);
	}
	return SIMIDX_OK;
}

/* The best of n documents; its label is kept. */
int sx_join_nodes_best(sx_join_nodes *nodes, const sx_join_doc *docs, size_t n, sx_join_merit *best)
{
	for (size_t i = 0; i < n; i++) {
		sx_join_merit m;
		int rc = find_merit(nodes, &docs[i], &m);

		if (rc)
			return rc;
		if (i && sx_join_merit_cmp(nodes, &m, best) > 0)
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
	for (size_t i = 0; !sx_has_ids(nodes->join.task.side[0].index) && i < n; i++)
		docs[i].id = docs[i].fp;
}

static int shorten(sx_join_nodes *nodes)
{
	if (sx_sort_u64(nodes->fps.at, nodes->fps.n))
		return sx_fail_nomem(nodes->err);
	nodes->fps.n = sx_unique_u64(nodes->fps.at, nodes->fps.n);
	return SIMIDX_OK;
}

/* The fingerprints of all pairs. */
static int gather(sx_join_nodes *nodes)
{
	size_t full = LEAST_FPS;
	int rc = SIMIDX_OK;

	for (;;) {
		const uint64_t *record;

		rc = sx_sorter_next(nodes->join.sorter, &record, nodes->err);
		if (rc)
			break;
		if (sx_u64s_push(&nodes->fps, record[0]) || sx_u64s_push(&nodes->fps, record[1]))
			return sx_fail_nomem(nodes->err);
		if (nodes->fps.n < full)
			continue;
		rc = shorten(nodes);
		if (rc)
			return rc;
		full = nodes->fps.n < LEAST_FPS / 2 ? LEAST_FPS : 2 * nodes->fps.n;
	}
	rc = rc == SIMIDX_E_END ? shorten(nodes) : rc;
	if (!rc && nodes->fps.n) { /* they stay until the end */
		uint64_t *less = sx_realloc(nodes->fps.at, nodes->fps.n, sizeof(*less));

		if (!less)
			return sx_fail_nomem(nodes->err);
		nodes->fps.at = less;
		nodes->fps.cap = nodes->fps.n;
	}
	return rc;
}

/* A node of the fingerprint that is visited. */
static int add_node(sx_join_nodes *nodes, const sx_join_class *class, uint64_t least_id,
		    const sx_join_merit *best)
{
	size_t n = nodes->n_nodes;

	if (n == SX_JOIN_NO_NODE - 1 ||
	    sx_reserve(&nodes->node, &nodes->nodes_cap, n + 1, sizeof(*nodes->node)) ||
	    (nodes->join.info.radius2 &&
	     sx_reserve(&nodes->fp2, &nodes->fp2_cap, n + 1, sizeof(*nodes->fp2))) ||
	    (nodes->options.keep >= SIMIDX_KEEP_SMALLEST_LABEL &&
	     sx_reserve(&nodes->merit, &nodes->merits_cap, n + 1, sizeof(*nodes->merit))))
		return sx_fail_nomem(nodes->err);
	nodes->node[n] = (sx_join_node){ class->n, least_id, best->id, (uint32_t)nodes->at,
					 (uint32_t)class->lacks_fp2 };
	if (nodes->fp2)
		nodes->fp2[n] = class->fp2;
	if (nodes->merit)
		nodes->merit[n] = *best;
	nodes->n_nodes++;
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
	rc = sx_join_pairs_classes(join, &join->task.side[0], docs, &n, 0, &nodes->classes,
				   nodes->err);
	for (size_t i = 0; !rc && i < nodes->classes.n; i++) {
		const sx_join_class *class = &nodes->classes.at[i];
		sx_join_merit best;

		rc = sx_join_nodes_best(nodes, docs + class->from, class->n, &best);
		if (!rc)
			rc = add_node(nodes, class, docs[class->from].id, &best);
	}
	nodes->first[++nodes->at] = (uint32_t)nodes->n_nodes;
	if (!rc && !(nodes->at & 0xfff))
		rc = sx_join_pairs_tell(join, "reading documents", nodes->at, nodes->fps.n,
					nodes->err);
	return rc;
}

int sx_join_nodes_make(sx_join_nodes *nodes)
{
	int rc = gather(nodes);

	if (rc)
		return rc;
	if (nodes->fps.n >= SX_JOIN_NO_NODE)
		return sx_fail_nomem(nodes->err);
	nodes->first = sx_calloc(nodes->fps.n + 1, sizeof(*nodes->first));
	/* Mostly a fingerprint is one node. */
	if (!nodes->first || sx_reserve(&nodes->node, &nodes->nodes_cap, nodes->fps.n, sizeof(*nodes->node)))
		return sx_fail_nomem(nodes->err);
	return sx_join_side_documents(&nodes->join.task.side[0], nodes->fps.at, nodes->fps.n,
				      visit_nodes, nodes, nodes->err);
}

/* ---- pairs of nodes ---- */

static int visit_classes(sx_join_nodes *nodes, size_t a, size_t b, unsigned distance,
			 sx_join_visit_nodes *visit, void *ctx)
{
	const uint32_t *first = nodes->first;
	int rc = SIMIDX_OK;

	for (size_t i = first[a]; i < first[a + 1]; i++)
		for (size_t j = a == b ? i + 1 : first[b]; !rc && j < first[b + 1]; j++) {
			int distance2;

			if (!(j & 0xffff))
				rc = sx_join_ask(&nodes->join.task, nodes->err);
			if (!rc && nodes->fp2) {
				sx_join_class x = { nodes->fp2[i], (int)nodes->node[i].lacks_fp2, 0, 0 };
				sx_join_class y = { nodes->fp2[j], (int)nodes->node[j].lacks_fp2, 0, 0 };

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
		rc = visit_classes(nodes, sx_join_number_of(&nodes->fps, record[0]),
				   sx_join_number_of(&nodes->fps, record[1]), here, visit, ctx);
	}
	return rc == SIMIDX_E_END ? SIMIDX_OK : rc;
}

void sx_join_nodes_end(sx_join_nodes *nodes)
{
	sx_u64s_free(&nodes->fps);
	free(nodes->first);
	free(nodes->node);
	free(nodes->fp2);
	free(nodes->merit);
	free(nodes->classes.at);
	free(nodes->labels);
	sx_join_pairs_end(&nodes->join);
}
