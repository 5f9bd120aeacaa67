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
#include "util/sx_struct.h"

#define PIECE 65536 /* members that are delivered together */

/*
 * The leader of a node is another node of its cluster, and the last one of a chain of leaders is the
 * best node: it has the keeper.
 */
struct clusters {
	sx_join_nodes nodes;
	uint32_t *leader;
	uint32_t *rank;        /* of each node by score; NULL where ids tell */
	unsigned char *joined; /* a bit for each node: others have joined it */
	sx_sorter *ranks;      /* pairs of them */
	size_t next;           /* node that is visited */
	sx_sorter *members;
	int (*take)(void *ctx, const simidx_member *members, size_t n);
};

static uint32_t *new_numbers(const struct clusters *c)
{
	return sx_realloc(NULL, c->nodes.n_nodes + 1, sizeof(uint32_t));
}

/* Begin with clusters of one node each. */
static int begin_leaders(struct clusters *c)
{
	size_t n = c->nodes.n_nodes;

	c->leader = new_numbers(c);
	c->joined = sx_calloc(n / 8 + 1, 1);
	if (!c->leader || !c->joined)
		return sx_fail_nomem(c->nodes.err);
	for (size_t i = 0; i < n; i++)
		c->leader[i] = (uint32_t)i;
	return SIMIDX_OK;
}

static uint32_t leader_of(struct clusters *c, uint32_t i)
{
	while (c->leader[i] != i) {
		c->leader[i] = c->leader[c->leader[i]];
		i = c->leader[i];
	}
	return i;
}

/* The cluster of b joins that of a, both leaders, a the better one, if there is room. */
static void join(struct clusters *c, uint32_t a, uint32_t b)
{
	uint64_t *size = c->nodes.size, max = c->nodes.options.max_size;

	if (size && (size[a] >= max || size[b] > max - size[a]))
		return;
	c->leader[b] = a;
	c->joined[a / 8] |= (unsigned char)(1u << a % 8);
	if (size)
		size[a] += size[b];
}

/* ---- single link ---- */

/* Whether node a has a better document than b. */
static int is_better(const struct clusters *c, uint32_t a, uint32_t b)
{
	if (c->rank)
		return c->rank[a] < c->rank[b];
	if (c->nodes.options.keep == SIMIDX_KEEP_LARGEST_ID)
		return c->nodes.best[a] > c->nodes.best[b];
	return c->nodes.least[a] < c->nodes.least[b];
}

static int unite(void *ctx, uint32_t a, uint32_t b)
{
	struct clusters *c = ctx;

	a = leader_of(c, a);
	b = leader_of(c, b);
	if (a != b && is_better(c, a, b))
		join(c, a, b);
	else if (a != b)
		join(c, b, a);
	return SIMIDX_OK;
}

static int link_single(struct clusters *c)
{
	uint32_t *order = NULL;
	int rc = SIMIDX_OK;

	if (c->nodes.score) {
		order = new_numbers(c);
		c->rank = new_numbers(c);
		rc = order && c->rank ? sx_join_nodes_rank(&c->nodes, order, c->rank)
				      : sx_fail_nomem(c->nodes.err);
		free(order);
	}
	if (!rc)
		rc = begin_leaders(c);
	if (!rc && !c->nodes.options.max_size)
		return sx_join_nodes_pairs(&c->nodes, -1, unite, c);
	for (unsigned d = 0; !rc && d <= c->nodes.join.info.radius; d++)
		rc = sx_join_nodes_pairs(&c->nodes, (int)d, unite, c);
	return rc;
}

/* ---- stars ---- */

/* A pair of ranks, the better one first. */
static int push_ranks(void *ctx, uint32_t a, uint32_t b)
{
	const struct clusters *c = ctx;
	uint64_t x = c->rank[a], y = c->rank[b], pair = x < y ? x << 32 | y : y << 32 | x;

	return sx_sorter_add(c->ranks, &pair, c->nodes.err);
}

/* The better node of each pair asks the other one to join it, if it is no member itself. */
static int ask_pairs(struct clusters *c, const uint32_t *order)
{
	for (uint64_t n = 1;; n++) {
		const uint64_t *pair;
		uint32_t a, b;
		int rc = sx_sorter_next(c->ranks, &pair, c->nodes.err);

		if (!rc && !(n & 0xfffff))
			rc = sx_join_ask(&c->nodes.join.task, c->nodes.err);
		if (rc)
			return rc == SIMIDX_E_END ? SIMIDX_OK : rc;
		a = order[*pair >> 32];
		b = order[*pair & UINT32_MAX];
		if (c->leader[a] == a && c->leader[b] == b)
			join(c, a, b);
	}
}

static int link_star(struct clusters *c)
{
	const sx_join_space *space = &c->nodes.join.task.space;
	uint32_t *order = new_numbers(c);
	int rc = SIMIDX_OK;

	c->rank = new_numbers(c);
	if (!order || !c->rank)
		rc = sx_fail_nomem(c->nodes.err);
	if (!rc)
		rc = sx_join_nodes_rank(&c->nodes, order, c->rank);
	if (!rc)
		rc = sx_sorter_new(1, 1, 0, space->memory / 4, space->dir, &c->ranks,
				   c->nodes.err);
	if (!rc)
		rc = sx_join_nodes_pairs(&c->nodes, -1, push_ranks, c);
	if (!rc)
		rc = sx_sorter_finish(c->ranks, space->memory / 4, c->nodes.err);
	free(c->rank);
	c->rank = NULL;
	if (!rc)
		rc = begin_leaders(c);
	if (!rc)
		rc = ask_pairs(c, order);
	free(order);
	sx_sorter_free(c->ranks);
	c->ranks = NULL;
	return rc;
}

/* ---- members ---- */

/* The smallest id of a cluster is kept at its leader. */
static void number_clusters(struct clusters *c)
{
	uint64_t *least = c->nodes.least;

	for (size_t i = 0; i < c->nodes.n_nodes; i++) {
		uint32_t leader = leader_of(c, (uint32_t)i);

		if (least[i] < least[leader])
			least[leader] = least[i];
	}
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
		sx_join_score best;
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

static int push_class(struct clusters *c, const sx_join_class *class, const sx_join_doc *docs)
{
	const sx_join_nodes *nodes = &c->nodes;
	uint32_t node = (uint32_t)c->next++, leader = leader_of(c, node);
	const uint64_t *best = nodes->best ? nodes->best : nodes->least;
	uint64_t max = nodes->options.max_size, keeper_fp;
	int rc = SIMIDX_OK;

	if (max && class->n >= max)
		return push_pieces(c, docs + class->from, class->n);
	if (class->n < 2 && leader == node && !(c->joined[node / 8] >> node % 8 & 1))
		return SIMIDX_OK;
	keeper_fp = sx_join_nodes_fp(nodes, leader);
	for (size_t i = class->from; !rc && i < class->from + class->n; i++)
		rc = push_member(c, nodes->least[leader], &docs[i], best[leader], keeper_fp);
	return rc;
}

static int visit_members(void *ctx, uint64_t fp, sx_join_doc *docs, size_t n)
{
	struct clusters *c = ctx;
	sx_join_pairs *join = &c->nodes.join;
	int rc;

	(void)fp; /* documents have it, too */
	sx_join_nodes_name(&c->nodes, docs, n);
	c->nodes.classes.n = 0;
	rc = sx_join_pairs_classes(join, &join->task.input[0], docs, &n, 0, &c->nodes.classes,
				   c->nodes.err);
	for (size_t i = 0; !rc && i < c->nodes.classes.n; i++)
		rc = push_class(c, &c->nodes.classes.at[i], docs);
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

		rc = sx_join_input_label(&c->nodes.join.task.input[0], members[i].id, &label,
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
	int has_ids = c->nodes.join.task.input[0].index->schema->has_ids, rc = SIMIDX_OK,
	    has_ended = 0;
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

static int run(struct clusters *c)
{
	sx_join_task *task = &c->nodes.join.task;
	int rc = sx_join_pairs_find(&c->nodes.join, c->nodes.err);

	if (!rc)
		rc = sx_join_nodes_make(&c->nodes);
	if (!rc)
		rc = c->nodes.options.link == SIMIDX_LINK_SINGLE ? link_single(c) : link_star(c);
	if (rc)
		return rc;
	number_clusters(c);
	rc = sx_sorter_new(5, 2, 0, task->space.memory / 4, task->space.dir, &c->members,
			   c->nodes.err);
	c->nodes.at = 0;
	if (!rc)
		rc = sx_join_input_documents(&task->input[0], c->nodes.fps.at, c->nodes.fps.n,
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
	free(c->rank);
	free(c->joined);
	sx_sorter_free(c->ranks);
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
	if (index && !index->schema->has_ids && o->keep >= SIMIDX_KEEP_SMALLEST_LABEL)
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
	rc = sx_join_pairs_begin(&c->nodes.join, index, NULL, options, err);
	if (!rc)
		rc = run(c);
	free_clusters(c);
	return rc;
}
