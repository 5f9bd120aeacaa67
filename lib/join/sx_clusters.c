/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Clusters of documents. What is put together is *nodes*: the documents that have one fingerprint,
 * and one second fingerprint where these count. A node is as near to others as each of its documents.
 */

#include <stdlib.h>
#include <string.h>

#include "index/sx_documents.h"
#include "join/sx_join_pairs.h"
#include "kernel/sx_bits.h"
#include "util/sx_alloc.h"
#include "util/sx_err.h"
#include "util/sx_sort.h"
#include "util/sx_struct.h"

#define PIECE 65536 /* members that are delivered together */
#define NONE UINT32_MAX
#define LEAST_FPS ((size_t)1 << 16)

/* How well a document is suited as a keeper: the smallest key is the best, then the smallest id. */
struct merit {
	uint64_t key, id;
	size_t label, label_size; /* place in labels[], with SIMIDX_KEEP_SMALLEST_LABEL */
};

struct node {
	sx_join_class class; /* `from` is not used: the documents are read again */
	uint64_t fp;
	uint64_t least_id;
	struct merit best;
};

struct clusters {
	sx_join_pairs join;
	simidx_clusters_options options;
	sx_u64s fps;        /* that are in some pair, ascending */
	size_t *first;      /* node of each, and the end */
	struct node *node;
	size_t n_nodes, nodes_cap;
	sx_join_classes classes; /* of one fingerprint */
	char *labels;
	size_t labels_used, labels_cap;
	uint32_t *leader; /* of each node: its keeper, or what union and find need */
	uint64_t *size;   /* documents of the cluster of which a node is the leader */
	uint64_t *cluster; /* its number: the smallest id */
	uint32_t *keeper;  /* its keeper */
	size_t at;         /* fingerprint that is visited */
	sx_sorter *members;
	int (*take)(void *ctx, const simidx_member *members, size_t n);
	simidx_error *err;
};

/* ---- merits ---- */

static int compare_labels(const struct clusters *c, const struct merit *a, const struct merit *b)
{
	size_t n = a->label_size < b->label_size ? a->label_size : b->label_size;
	int order = n ? memcmp(c->labels + a->label, c->labels + b->label, n) : 0;

	if (order)
		return order;
	return a->label_size < b->label_size ? -1 : a->label_size > b->label_size;
}

static int compare_merits(const struct clusters *c, const struct merit *a, const struct merit *b)
{
	int order = 0;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	if (c->options.keep == SIMIDX_KEEP_SMALLEST_LABEL)
		order = compare_labels(c, a, b);
	if (order)
		return order;
	return a->id < b->id ? -1 : a->id > b->id;
}

/* The label is put behind those that are kept. */
static int read_label(struct clusters *c, struct merit *m)
{
	sx_join_side *side = &c->join.task.side[0];
	sx_slice label;
	int rc = sx_documents_label(side->snapshot.txn, &side->index->tables, m->id, &label, c->err);

	m->key = rc == SIMIDX_E_NOT_FOUND;
	m->label = c->labels_used;
	m->label_size = 0;
	if (rc)
		return m->key ? SIMIDX_OK : rc;
	if (sx_reserve(&c->labels, &c->labels_cap, c->labels_used + label.size, 1))
		return sx_fail_nomem(c->err);
	memcpy(c->labels + c->labels_used, label.data, label.size);
	m->label_size = label.size;
	return SIMIDX_OK;
}

static int find_merit(struct clusters *c, const sx_join_doc *doc, struct merit *m)
{
	*m = (struct merit){ 0, doc->id, 0, 0 };
	switch (c->options.keep) {
	case SIMIDX_KEEP_LARGEST_ID:
		m->key = ~doc->id;
		break;
	case SIMIDX_KEEP_SMALLEST_LABEL:
		return read_label(c, m);
	case SIMIDX_KEEP_LONGEST:
		m->key = ~c->options.length(c->join.options.ctx, doc->id);
		break;
	}
	return SIMIDX_OK;
}

/* The best of n documents; its label is kept. */
static int find_best(struct clusters *c, const sx_join_doc *docs, size_t n, struct merit *best)
{
	for (size_t i = 0; i < n; i++) {
		struct merit m;
		int rc = find_merit(c, &docs[i], &m);

		if (rc)
			return rc;
		if (i && compare_merits(c, &m, best) > 0)
			continue;
		if (i && m.label_size) { /* in the place of the one before, which comes directly before it */
			memmove(c->labels + best->label, c->labels + m.label, m.label_size);
			m.label = best->label;
		}
		*best = m;
		c->labels_used = m.label + m.label_size;
	}
	return SIMIDX_OK;
}

/* ---- nodes ---- */

/* Without ids fingerprints stand for them. */
static void name_documents(const struct clusters *c, sx_join_doc *docs, size_t n)
{
	for (size_t i = 0; !sx_has_ids(c->join.task.side[0].index) && i < n; i++)
		docs[i].id = docs[i].fp;
}

static int shorten(struct clusters *c)
{
	if (sx_sort_u64(c->fps.at, c->fps.n))
		return sx_fail_nomem(c->err);
	c->fps.n = sx_unique_u64(c->fps.at, c->fps.n);
	return SIMIDX_OK;
}

/* The fingerprints of all pairs. */
static int gather(struct clusters *c)
{
	size_t full = LEAST_FPS;
	int rc = SIMIDX_OK;

	for (;;) {
		const uint64_t *record;

		rc = sx_sorter_next(c->join.sorter, &record, c->err);
		if (rc)
			break;
		if (sx_u64s_push(&c->fps, record[0]) || sx_u64s_push(&c->fps, record[1]))
			return sx_fail_nomem(c->err);
		if (c->fps.n < full)
			continue;
		rc = shorten(c);
		if (rc)
			return rc;
		full = c->fps.n < LEAST_FPS / 2 ? LEAST_FPS : 2 * c->fps.n;
	}
	return rc == SIMIDX_E_END ? shorten(c) : rc;
}

static int visit_nodes(void *ctx, uint64_t fp, sx_join_doc *docs, size_t n)
{
	struct clusters *c = ctx;
	sx_join_pairs *join = &c->join;
	int rc;

	name_documents(c, docs, n);
	c->classes.n = 0;
	rc = sx_join_pairs_classes(join, &join->task.side[0], docs, &n, 0, &c->classes, c->err);
	for (size_t i = 0; !rc && i < c->classes.n; i++) {
		const sx_join_class *class = &c->classes.at[i];
		struct node *node;

		if (c->n_nodes == NONE - 1 ||
		    sx_reserve(&c->node, &c->nodes_cap, c->n_nodes + 1, sizeof(*c->node)))
			return sx_fail_nomem(c->err);
		node = &c->node[c->n_nodes++];
		node->class = *class;
		node->fp = fp;
		node->least_id = docs[class->from].id;
		rc = find_best(c, docs + class->from, class->n, &node->best);
	}
	c->first[++c->at] = c->n_nodes;
	if (!rc && !(c->at & 0xfff))
		rc = sx_join_pairs_tell(join, "reading documents", c->at, c->fps.n, c->err);
	return rc;
}

static int make_nodes(struct clusters *c)
{
	int rc = gather(c);

	if (rc)
		return rc;
	c->first = sx_calloc(c->fps.n + 1, sizeof(*c->first));
	if (!c->first)
		return sx_fail_nomem(c->err);
	rc = sx_join_side_documents(&c->join.task.side[0], c->fps.at, c->fps.n, visit_nodes, c,
				    c->err);
	if (rc)
		return rc;
	c->leader = sx_realloc(NULL, c->n_nodes + 1, sizeof(*c->leader));
	c->keeper = sx_realloc(NULL, c->n_nodes + 1, sizeof(*c->keeper));
	c->size = sx_realloc(NULL, c->n_nodes + 1, sizeof(*c->size));
	c->cluster = sx_realloc(NULL, c->n_nodes + 1, sizeof(*c->cluster));
	return c->leader && c->keeper && c->size && c->cluster ? SIMIDX_OK : sx_fail_nomem(c->err);
}

/* Nodes as large as a cluster may be stay alone. */
static int is_full(const struct clusters *c, uint64_t size)
{
	return c->options.max_size && size >= c->options.max_size;
}

static int fits(const struct clusters *c, uint64_t a, uint64_t b)
{
	return !c->options.max_size || (a < c->options.max_size && b <= c->options.max_size - a);
}

/* ---- pairs of nodes ---- */

typedef int visit_pair(struct clusters *c, uint32_t a, uint32_t b, void *ctx);

static int visit_classes(struct clusters *c, size_t a, size_t b, unsigned distance, visit_pair *visit,
			 void *ctx)
{
	int rc = SIMIDX_OK;

	for (size_t i = c->first[a]; i < c->first[a + 1]; i++)
		for (size_t j = a == b ? i + 1 : c->first[b]; !rc && j < c->first[b + 1]; j++) {
			unsigned distance2;

			if (!(j & 0xffff))
				rc = sx_join_ask(&c->join.task, c->err);
			if (!rc && sx_join_pairs_are_near(&c->join, distance, &c->node[i].class,
							  &c->node[j].class, &distance2))
				rc = visit(c, (uint32_t)i, (uint32_t)j, ctx);
		}
	return rc;
}

/* Visit all pairs of nodes whose first fingerprints are at this distance, or all if it is -1. */
static int visit_pairs(struct clusters *c, int distance, visit_pair *visit, void *ctx)
{
	int rc = sx_sorter_rewind(c->join.sorter, c->err);
	uint64_t done = 0;

	while (!rc) {
		const uint64_t *record;
		unsigned here;

		rc = sx_sorter_next(c->join.sorter, &record, c->err);
		if (rc)
			break;
		if (!(++done & 0xffff))
			rc = sx_join_pairs_tell(&c->join, "linking", done,
						c->join.info.fingerprint_pairs, c->err);
		here = sx_count_plain(record[0] ^ record[1]);
		if (rc || (distance >= 0 && here != (unsigned)distance))
			continue;
		rc = visit_classes(c, sx_join_number_of(&c->fps, record[0]), sx_join_number_of(&c->fps, record[1]),
				   here, visit, ctx);
	}
	return rc == SIMIDX_E_END ? SIMIDX_OK : rc;
}

/* ---- single link ---- */

static uint32_t leader_of(struct clusters *c, uint32_t i)
{
	while (c->leader[i] != i) {
		c->leader[i] = c->leader[c->leader[i]];
		i = c->leader[i];
	}
	return i;
}

static int unite(struct clusters *c, uint32_t a, uint32_t b, void *ctx)
{
	(void)ctx;
	a = leader_of(c, a);
	b = leader_of(c, b);
	if (a == b || !fits(c, c->size[a], c->size[b]))
		return SIMIDX_OK;
	if (c->size[a] < c->size[b]) {
		uint32_t swap = a;

		a = b;
		b = swap;
	}
	c->leader[b] = a;
	c->size[a] += c->size[b];
	return SIMIDX_OK;
}

static int link_single(struct clusters *c)
{
	int rc = SIMIDX_OK;

	for (size_t i = 0; i < c->n_nodes; i++) {
		c->leader[i] = (uint32_t)i;
		c->size[i] = c->node[i].class.n;
	}
	if (!c->options.max_size)
		return visit_pairs(c, -1, unite, NULL);
	for (unsigned d = 0; !rc && d <= c->join.info.radius; d++)
		rc = visit_pairs(c, (int)d, unite, NULL);
	return rc;
}

/* ---- stars ---- */

struct stars {
	uint32_t *order, *rank; /* nodes by merit; the place of each in that order */
	sx_sorter *sorter;      /* of pairs of ranks, the better one first */
};

static int push_ranks(struct clusters *c, uint32_t a, uint32_t b, void *ctx)
{
	const struct stars *s = ctx;
	uint64_t x = s->rank[a], y = s->rank[b], pair = x < y ? x << 32 | y : y << 32 | x;

	return sx_sorter_add(s->sorter, &pair, c->err);
}

/* Sort nodes [0, n) of `order` by merit: a merge sort, as qsort() has no context. */
static int sort_by_merit(const struct clusters *c, uint32_t *order, uint32_t *scratch, size_t n)
{
	for (size_t width = 1; width < n; width *= 2) {
		for (size_t from = 0; from < n; from += 2 * width) {
			size_t middle = from + width < n ? from + width : n;
			size_t end = middle + width < n ? middle + width : n;
			size_t i = from, j = middle;

			for (size_t out = from; out < end; out++) {
				int takes_j = i == middle ||
					      (j < end &&
					       compare_merits(c, &c->node[order[j]].best,
							      &c->node[order[i]].best) < 0);

				scratch[out] = takes_j ? order[j++] : order[i++];
			}
		}
		memcpy(order, scratch, n * sizeof(*order));
		if (sx_join_ask(&c->join.task, c->err))
			return SIMIDX_E_STOPPED;
	}
	return SIMIDX_OK;
}

/* The better node of each pair asks the other one to join it, if it is no member itself. */
static int ask_pairs(struct clusters *c, const struct stars *s)
{
	for (;;) {
		const uint64_t *pair;
		uint32_t a, b;
		int rc = sx_sorter_next(s->sorter, &pair, c->err);

		if (rc)
			return rc == SIMIDX_E_END ? SIMIDX_OK : rc;
		a = s->order[*pair >> 32];
		b = s->order[*pair & UINT32_MAX];
		if (c->leader[a] != a || c->leader[b] != b || !fits(c, c->size[a], c->size[b]))
			continue;
		c->leader[b] = a;
		c->size[a] += c->size[b];
	}
}

static int link_star(struct clusters *c, struct stars *s)
{
	size_t n = c->n_nodes;
	int rc;

	s->order = sx_realloc(NULL, n + 1, sizeof(*s->order));
	s->rank = sx_realloc(NULL, n + 1, sizeof(*s->rank));
	if (!s->order || !s->rank)
		return sx_fail_nomem(c->err);
	for (size_t i = 0; i < n; i++) {
		s->order[i] = c->leader[i] = (uint32_t)i;
		c->size[i] = c->node[i].class.n;
	}
	rc = sort_by_merit(c, s->order, s->rank, n);
	for (size_t i = 0; i < n; i++)
		s->rank[s->order[i]] = (uint32_t)i;
	if (!rc)
		rc = sx_sorter_new(1, 1, 0, c->join.task.space.memory / 4, c->join.task.space.dir,
				   &s->sorter, c->err);
	if (!rc)
		rc = visit_pairs(c, -1, push_ranks, s);
	if (!rc)
		rc = sx_sorter_finish(s->sorter, c->join.task.space.memory / 4, c->err);
	return rc ? rc : ask_pairs(c, s);
}

static int link_nodes(struct clusters *c)
{
	struct stars stars = { 0 };
	int rc;

	if (c->options.link == SIMIDX_LINK_SINGLE)
		return link_single(c);
	rc = link_star(c, &stars);
	free(stars.order);
	free(stars.rank);
	sx_sorter_free(stars.sorter);
	return rc;
}

/* ---- members ---- */

/* Number and keeper of each cluster, at its leader. */
static void number_clusters(struct clusters *c)
{
	for (size_t i = 0; i < c->n_nodes; i++) {
		c->cluster[i] = UINT64_MAX;
		c->keeper[i] = NONE;
	}
	for (size_t i = 0; i < c->n_nodes; i++) {
		const struct node *node = &c->node[i];
		uint32_t leader = leader_of(c, (uint32_t)i), keeper = c->keeper[leader];

		if (node->least_id < c->cluster[leader])
			c->cluster[leader] = node->least_id;
		if (keeper == NONE || compare_merits(c, &node->best, &c->node[keeper].best) < 0)
			c->keeper[leader] = (uint32_t)i;
	}
}

static int push_member(struct clusters *c, uint64_t cluster, const sx_join_doc *doc, uint64_t keeper_id,
		       uint64_t keeper_fp)
{
	uint64_t distance = sx_count_plain(doc->fp ^ keeper_fp);
	uint64_t record[5] = { cluster, doc->id, doc->id, doc->fp,
			       distance << 1 | (doc->id == keeper_id) };

	/* The keeper comes first, then by id; of fingerprints the last two come in their order. */
	if (record[4] & 1)
		record[1] = 0;
	else if (record[1] < UINT64_MAX)
		record[1]++;
	c->join.info.members++;
	c->join.info.clusters += record[4] & 1;
	return sx_sorter_add(c->members, record, c->err);
}

/* A node that alone has too many: as many at once as may be in a cluster, by id. */
static int push_pieces(struct clusters *c, const sx_join_doc *docs, size_t n)
{
	for (size_t from = 0; from < n;) {
		size_t some = n - from < c->options.max_size ? n - from : (size_t)c->options.max_size;
		size_t used = c->labels_used;
		struct merit best;
		int rc = find_best(c, docs + from, some, &best);

		c->labels_used = used;
		for (size_t i = from; !rc && some > 1 && i < from + some; i++)
			rc = push_member(c, docs[from].id, &docs[i], best.id, docs[i].fp);
		if (rc)
			return rc;
		from += some;
	}
	return SIMIDX_OK;
}

static int visit_members(void *ctx, uint64_t fp, sx_join_doc *docs, size_t n)
{
	struct clusters *c = ctx;
	sx_join_pairs *join = &c->join;
	size_t first = c->first[c->at];
	int rc;

	(void)fp; /* documents have it, too */
	name_documents(c, docs, n);
	c->classes.n = 0;
	rc = sx_join_pairs_classes(join, &join->task.side[0], docs, &n, 0, &c->classes, c->err);
	for (size_t i = 0; !rc && i < c->classes.n; i++) {
		const sx_join_class *class = &c->classes.at[i];
		uint32_t leader = leader_of(c, (uint32_t)(first + i));
		const struct node *keeper = &c->node[c->keeper[leader]];

		if (c->size[leader] < 2)
			continue;
		if (is_full(c, class->n)) {
			rc = push_pieces(c, docs + class->from, class->n);
			continue;
		}
		for (size_t k = class->from; !rc && k < class->from + class->n; k++)
			rc = push_member(c, c->cluster[leader], &docs[k], keeper->best.id,
					 keeper->fp);
	}
	c->at++;
	if (!rc && !(c->at & 0xfff))
		rc = sx_join_pairs_tell(join, "reading documents", c->at, c->fps.n, c->err);
	return rc;
}

static int deliver(struct clusters *c)
{
	int has_ids = sx_has_ids(c->join.task.side[0].index), rc = SIMIDX_OK;
	simidx_member *piece = sx_realloc(NULL, PIECE, sizeof(*piece));
	size_t n = 0;

	if (!piece)
		return sx_fail_nomem(c->err);
	while (!rc) {
		const uint64_t *record = NULL;

		rc = sx_sorter_next(c->members, &record, c->err);
		if (rc && rc != SIMIDX_E_END)
			break;
		if (!rc)
			piece[n++] = (simidx_member){ record[0], has_ids ? record[2] : SIMIDX_NO_ID,
						      record[3], (unsigned)(record[4] >> 1),
						      record[4] & 1 };
		if (n != PIECE && (!rc || !n))
			continue;
		if (c->take(c->join.options.ctx, piece, n) || sx_join_ask(&c->join.task, NULL))
			rc = sx_fail(c->err, SIMIDX_E_STOPPED, "stopped by the caller");
		n = 0;
	}
	free(piece);
	return rc == SIMIDX_E_END ? SIMIDX_OK : rc;
}

static int run(struct clusters *c)
{
	sx_join_task *task = &c->join.task;
	int rc = sx_join_pairs_find(&c->join, c->err);

	if (!rc)
		rc = make_nodes(c);
	if (!rc)
		rc = link_nodes(c);
	if (rc)
		return rc;
	number_clusters(c);
	rc = sx_sorter_new(5, 2, 0, task->space.memory / 4, task->space.dir, &c->members, c->err);
	c->at = 0;
	if (!rc)
		rc = sx_join_side_documents(&task->side[0], c->fps.at, c->fps.n, visit_members, c,
					    c->err);
	if (!rc)
		rc = sx_sorter_finish(c->members, task->space.memory / 4, c->err);
	if (!rc)
		rc = sx_join_pairs_found(&c->join, c->err);
	return rc ? rc : deliver(c);
}

static void free_clusters(struct clusters *c)
{
	sx_u64s_free(&c->fps);
	free(c->first);
	free(c->node);
	free(c->classes.at);
	free(c->labels);
	free(c->leader);
	free(c->size);
	free(c->cluster);
	free(c->keeper);
	sx_sorter_free(c->members);
	sx_join_pairs_end(&c->join);
	free(c);
}

static int check(const simidx *index, const simidx_clusters_options *o, simidx_error *err)
{
	if (o->link > SIMIDX_LINK_SINGLE || o->keep > SIMIDX_KEEP_LONGEST || o->max_size == 1)
		return sx_fail(err, SIMIDX_E_ARG,
			       "simidx_clusters: unknown link or keep, or a max_size of 1");
	if (o->keep == SIMIDX_KEEP_LONGEST && !o->length)
		return sx_fail(err, SIMIDX_E_ARG, "simidx_clusters: nobody tells how long texts are");
	if (index && !sx_has_ids(index) && o->keep >= SIMIDX_KEEP_SMALLEST_LABEL)
		return sx_fail(err, SIMIDX_E_UNSUPPORTED,
			       "an index without ids has no labels and knows no texts");
	return SIMIDX_OK;
}

int simidx_clusters(simidx *index, const simidx_join_options *options,
		    const simidx_clusters_options *clusters,
		    int (*take)(void *ctx, const simidx_member *members, size_t n),
		    simidx_error *err)
{
	static const simidx_clusters_options defaults = SIMIDX_CLUSTERS_OPTIONS_INIT;
	simidx_clusters_options own;
	struct clusters *c;
	int rc;

	sx_err_clear(err);
	clusters = clusters ? clusters : &defaults;
	clusters = sx_struct_read(clusters, SX_STRUCT_TO(simidx_clusters_options, length), &own,
				  sizeof(own));
	if (!clusters || !take)
		return sx_fail(err, SIMIDX_E_ARG, "simidx_clusters: bad options, or nobody takes any");
	rc = check(index, clusters, err);
	if (rc)
		return rc;
	c = sx_calloc(1, sizeof(*c));
	if (!c)
		return sx_fail_nomem(err);
	c->options = *clusters;
	c->take = take;
	c->err = err;
	rc = sx_join_pairs_begin(&c->join, index, NULL, options, NULL, err);
	if (!rc)
		rc = run(c);
	free_clusters(c);
	return rc;
}
