/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Clusters of documents, made of nodes that are near to each other.
 */

#include <stdlib.h>
#include <string.h>

#include "join/sx_join_nodes.h"
#include "kernel/sx_bits.h"
#include "util/sx_alloc.h"
#include "util/sx_err.h"
#include "util/sx_sort.h"
#include "util/sx_struct.h"

#define PIECE 65536 /* members that are delivered together */

struct clusters {
	sx_join_nodes nodes;
	uint32_t *leader;  /* of each node: its keeper, or what union and find need */
	uint64_t *size;    /* documents of the cluster of which a node is the leader */
	uint64_t *cluster; /* its number: the smallest id */
	uint32_t *keeper;  /* its keeper */
	sx_sorter *members;
	int (*take)(void *ctx, const simidx_member *members, size_t n);
};

/* Nodes as large as a cluster may be stay alone. */
static int is_full(const struct clusters *c, uint64_t size)
{
	return c->nodes.options.max_size && size >= c->nodes.options.max_size;
}

static int fits(const struct clusters *c, uint64_t a, uint64_t b)
{
	uint64_t max = c->nodes.options.max_size;

	return !max || (a < max && b <= max - a);
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

static int unite(void *ctx, uint32_t a, uint32_t b)
{
	struct clusters *c = ctx;

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

	for (size_t i = 0; i < c->nodes.n_nodes; i++) {
		c->leader[i] = (uint32_t)i;
		c->size[i] = c->nodes.node[i].n;
	}
	if (!c->nodes.options.max_size)
		return sx_join_nodes_pairs(&c->nodes, -1, unite, c);
	for (unsigned d = 0; !rc && d <= c->nodes.join.info.radius; d++)
		rc = sx_join_nodes_pairs(&c->nodes, (int)d, unite, c);
	return rc;
}

/* ---- stars ---- */

struct stars {
	uint32_t *order, *rank; /* nodes by merit; the place of each in that order */
	sx_sorter *sorter;      /* of pairs of ranks, the better one first */
	simidx_error *err;
};

static int push_ranks(void *ctx, uint32_t a, uint32_t b)
{
	const struct stars *s = ctx;
	uint64_t x = s->rank[a], y = s->rank[b], pair = x < y ? x << 32 | y : y << 32 | x;

	return sx_sorter_add(s->sorter, &pair, s->err);
}

static int is_better(const struct clusters *c, uint32_t a, uint32_t b)
{
	sx_join_merit x = sx_join_nodes_merit(&c->nodes, a), y = sx_join_nodes_merit(&c->nodes, b);

	return sx_join_merit_cmp(&c->nodes, &x, &y) < 0;
}

/* Sort nodes by merit: a merge sort, as labels are compared, and qsort() has no context. */
static int sort_by_merit(const struct clusters *c, uint32_t *order, uint32_t *scratch, size_t n)
{
	for (size_t width = 1; width < n; width *= 2) {
		for (size_t from = 0; from < n; from += 2 * width) {
			size_t middle = from + width < n ? from + width : n;
			size_t end = middle + width < n ? middle + width : n;
			size_t i = from, j = middle;

			for (size_t out = from; out < end; out++) {
				int takes_j = i == middle || (j < end && is_better(c, order[j], order[i]));

				scratch[out] = takes_j ? order[j++] : order[i++];
			}
		}
		memcpy(order, scratch, n * sizeof(*order));
		if (sx_join_ask(&c->nodes.join.task, c->nodes.err))
			return SIMIDX_E_STOPPED;
	}
	return SIMIDX_OK;
}

/* By ids alone, of which each is one node's: they are sorted, and each node looks for its own. */
static int sort_by_id(const struct clusters *c, uint32_t *order, size_t n)
{
	sx_u64s ids = { .at = sx_realloc(NULL, n + 1, sizeof(*ids.at)), .n = n };
	int is_last_first = c->nodes.options.keep == SIMIDX_KEEP_LARGEST_ID;
	int rc = ids.at ? SIMIDX_OK : SIMIDX_E_NOMEM;

	for (size_t i = 0; !rc && i < n; i++)
		ids.at[i] = c->nodes.node[i].best_id;
	if (!rc && sx_sort_u64(ids.at, n))
		rc = SIMIDX_E_NOMEM;
	for (size_t i = 0; !rc && i < n; i++) {
		size_t at = sx_join_number_of(&ids, c->nodes.node[i].best_id);

		order[is_last_first ? n - 1 - at : at] = (uint32_t)i;
	}
	sx_u64s_free(&ids);
	return rc ? sx_fail_nomem(c->nodes.err) : SIMIDX_OK;
}

/* The better node of each pair asks the other one to join it, if it is no member itself. */
static int ask_pairs(struct clusters *c, const struct stars *s)
{
	for (;;) {
		const uint64_t *pair;
		uint32_t a, b;
		int rc = sx_sorter_next(s->sorter, &pair, c->nodes.err);

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
	const sx_join_space *space = &c->nodes.join.task.space;
	size_t n = c->nodes.n_nodes;
	int rc;

	s->order = sx_realloc(NULL, n + 1, sizeof(*s->order));
	s->rank = sx_realloc(NULL, n + 1, sizeof(*s->rank));
	if (!s->order || !s->rank)
		return sx_fail_nomem(c->nodes.err);
	for (size_t i = 0; i < n; i++) {
		s->order[i] = c->leader[i] = (uint32_t)i;
		c->size[i] = c->nodes.node[i].n;
	}
	rc = c->nodes.merit ? sort_by_merit(c, s->order, s->rank, n) : sort_by_id(c, s->order, n);
	for (size_t i = 0; i < n; i++)
		s->rank[s->order[i]] = (uint32_t)i;
	if (!rc)
		rc = sx_sorter_new(1, 1, 0, space->memory / 4, space->dir, &s->sorter,
				   c->nodes.err);
	if (!rc)
		rc = sx_join_nodes_pairs(&c->nodes, -1, push_ranks, s);
	if (!rc)
		rc = sx_sorter_finish(s->sorter, space->memory / 4, c->nodes.err);
	return rc ? rc : ask_pairs(c, s);
}

static int link_nodes(struct clusters *c)
{
	struct stars stars = { .err = c->nodes.err };
	int rc;

	if (c->nodes.options.link == SIMIDX_LINK_SINGLE)
		return link_single(c);
	rc = link_star(c, &stars);
	free(stars.order);
	free(stars.rank);
	sx_sorter_free(stars.sorter);
	return rc;
}

/* ---- members ---- */

/* Number and keeper of each cluster, at its leader. */
static int number_clusters(struct clusters *c)
{
	size_t n = c->nodes.n_nodes + 1;

	c->keeper = sx_realloc(NULL, n, sizeof(*c->keeper));
	c->cluster = sx_realloc(NULL, n, sizeof(*c->cluster));
	if (!c->keeper || !c->cluster)
		return sx_fail_nomem(c->nodes.err);
	for (size_t i = 0; i < c->nodes.n_nodes; i++) {
		c->cluster[i] = UINT64_MAX;
		c->keeper[i] = SX_JOIN_NO_NODE;
	}
	for (size_t i = 0; i < c->nodes.n_nodes; i++) {
		const sx_join_node *node = &c->nodes.node[i];
		uint32_t leader = leader_of(c, (uint32_t)i), keeper = c->keeper[leader];

		if (node->least_id < c->cluster[leader])
			c->cluster[leader] = node->least_id;
		if (keeper == SX_JOIN_NO_NODE || is_better(c, (uint32_t)i, keeper))
			c->keeper[leader] = (uint32_t)i;
	}
	return SIMIDX_OK;
}

static int push_member(struct clusters *c, uint64_t cluster, const sx_join_doc *doc,
		       uint64_t keeper_id, uint64_t keeper_fp)
{
	uint64_t distance = sx_count_plain(doc->fp ^ keeper_fp);
	uint64_t record[5] = { cluster, doc->id, doc->id, doc->fp,
			       distance << 1 | (doc->id == keeper_id) };

	/* The keeper comes first, then by id; of fingerprints the last two come in their order. */
	if (record[4] & 1)
		record[1] = 0;
	else if (record[1] < UINT64_MAX)
		record[1]++;
	c->nodes.join.info.members++;
	c->nodes.join.info.clusters += record[4] & 1;
	return sx_sorter_add(c->members, record, c->nodes.err);
}

/* A node that alone has too many: as many at once as may be in a cluster, by id. */
static int push_pieces(struct clusters *c, const sx_join_doc *docs, size_t n)
{
	uint64_t max = c->nodes.options.max_size;

	for (size_t from = 0; from < n;) {
		size_t some = n - from < max ? n - from : (size_t)max;
		size_t used = c->nodes.labels_used;
		sx_join_merit best;
		int rc = sx_join_nodes_best(&c->nodes, docs + from, some, &best);

		c->nodes.labels_used = used;
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
	sx_join_pairs *join = &c->nodes.join;
	size_t first = c->nodes.first[c->nodes.at];
	int rc;

	(void)fp; /* documents have it, too */
	sx_join_nodes_name(&c->nodes, docs, n);
	c->nodes.classes.n = 0;
	rc = sx_join_pairs_classes(join, &join->task.side[0], docs, &n, 0, &c->nodes.classes,
				   c->nodes.err);
	for (size_t i = 0; !rc && i < c->nodes.classes.n; i++) {
		const sx_join_class *class = &c->nodes.classes.at[i];
		uint32_t leader = leader_of(c, (uint32_t)(first + i));
		const sx_join_node *keeper = &c->nodes.node[c->keeper[leader]];

		if (c->size[leader] < 2)
			continue;
		if (is_full(c, class->n)) {
			rc = push_pieces(c, docs + class->from, class->n);
			continue;
		}
		for (size_t k = class->from; !rc && k < class->from + class->n; k++)
			rc = push_member(c, c->cluster[leader], &docs[k], keeper->best_id,
					 c->nodes.fps.at[keeper->fp]);
	}
	c->nodes.at++;
	if (!rc && !(c->nodes.at & 0xfff))
		rc = sx_join_pairs_tell(join, "reading documents", c->nodes.at, c->nodes.fps.n,
					c->nodes.err);
	return rc;
}

/* The labels are those of the map: they stay as long as the snapshot. */
static int add_labels(struct clusters *c, simidx_member *members, size_t n)
{
	int rc = SIMIDX_OK;

	for (size_t i = 0; !rc && i < n; i++) {
		sx_slice label;

		rc = sx_join_side_label(&c->nodes.join.task.side[0], members[i].id, &label,
					c->nodes.err);
		members[i].label = rc ? NULL : label.data;
		members[i].label_size = rc ? 0 : label.size;
	}
	return rc;
}

static int deliver_piece(struct clusters *c, simidx_member *piece, size_t n)
{
	const simidx_join_options *o = &c->nodes.join.options;
	int rc = o->flags & SIMIDX_JOIN_LABELS ? add_labels(c, piece, n) : SIMIDX_OK;

	if (!rc && c->take(o->ctx, piece, n))
		rc = sx_fail(c->nodes.err, SIMIDX_E_STOPPED, "stopped by the caller");
	return rc ? rc : sx_join_ask(&c->nodes.join.task, c->nodes.err);
}

static int deliver(struct clusters *c)
{
	int has_ids = sx_has_ids(c->nodes.join.task.side[0].index), rc = SIMIDX_OK, has_ended = 0;
	simidx_member *piece = sx_realloc(NULL, PIECE, sizeof(*piece));
	size_t n = 0;

	if (!piece)
		return sx_fail_nomem(c->nodes.err);
	while (!rc && !has_ended) {
		const uint64_t *record = NULL;

		rc = sx_sorter_next(c->members, &record, c->nodes.err);
		has_ended = rc == SIMIDX_E_END;
		if (!rc)
			piece[n++] = (simidx_member){ record[0], has_ids ? record[2] : SIMIDX_NO_ID,
						      record[3], (unsigned)(record[4] >> 1),
						      record[4] & 1, NULL, 0 };
		if (has_ended)
			rc = SIMIDX_OK;
		if (!rc && n && (n == PIECE || has_ended)) {
			rc = deliver_piece(c, piece, n);
			n = 0;
		}
	}
	free(piece);
	return rc;
}

static int make_room(struct clusters *c)
{
	size_t n = c->nodes.n_nodes + 1;

	c->leader = sx_realloc(NULL, n, sizeof(*c->leader));
	c->size = sx_realloc(NULL, n, sizeof(*c->size));
	return c->leader && c->size ? SIMIDX_OK : sx_fail_nomem(c->nodes.err);
}

static int run(struct clusters *c)
{
	sx_join_task *task = &c->nodes.join.task;
	int rc = sx_join_pairs_find(&c->nodes.join, c->nodes.err);

	if (!rc)
		rc = sx_join_nodes_make(&c->nodes);
	if (!rc)
		rc = make_room(c);
	if (!rc)
		rc = link_nodes(c);
	if (rc)
		return rc;
	rc = number_clusters(c);
	if (rc)
		return rc;
	rc = sx_sorter_new(5, 2, 0, task->space.memory / 4, task->space.dir, &c->members,
			   c->nodes.err);
	c->nodes.at = 0;
	if (!rc)
		rc = sx_join_side_documents(&task->side[0], c->nodes.fps.at, c->nodes.fps.n,
					    visit_members, c, c->nodes.err);
	if (!rc)
		rc = sx_sorter_finish(c->members, task->space.memory / 4, c->nodes.err);
	if (!rc)
		rc = sx_join_pairs_found(&c->nodes.join, c->nodes.err);
	return rc ? rc : deliver(c);
}

static void free_clusters(struct clusters *c)
{
	free(c->leader);
	free(c->size);
	free(c->cluster);
	free(c->keeper);
	sx_sorter_free(c->members);
	sx_join_nodes_end(&c->nodes);
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
	clusters = sx_struct_read(clusters, sizeof(size_t), &own, sizeof(own));
	if (!clusters || !take)
		return sx_fail(err, SIMIDX_E_ARG, "simidx_clusters: bad options, or no take()");
	rc = check(index, clusters, err);
	if (rc)
		return rc;
	c = sx_calloc(1, sizeof(*c));
	if (!c)
		return sx_fail_nomem(err);
	c->nodes.options = *clusters;
	c->take = take;
	c->nodes.err = err;
	rc = sx_join_pairs_begin(&c->nodes.join, index, NULL, options, NULL, err);
	if (!rc)
		rc = run(c);
	free_clusters(c);
	return rc;
}
