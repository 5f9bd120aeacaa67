/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Stage 6: clusters of documents are delivered. They are made of nodes (sx_join_documents.h): nodes
 * are put in order by their best documents where that matters, linked by the pairs of near ones,
 * and read again with all their documents, which are sorted by cluster.
 */

#include <stdlib.h>
#include <string.h>

#include "join/sx_join_documents.h"
#include "join/sx_join_find.h"
#include "kernel/sx_bits.h"
#include "util/sx_alloc.h"
#include "util/sx_err.h"
#include "util/sx_struct.h"

#define PIECE 65536 /* members that are delivered together */

/*
 * The leader of a node is another node of its cluster. A chain of leaders ends with the best node,
 * which leads itself and has the keeper.
 */
struct clusters {
	sx_join join;
	sx_sorter *pairs;      /* of fingerprints */
	sx_join_nodes nodes;
	uint32_t *leader;
	uint32_t *rank;        /* of each node by score; NULL where ids tell */
	unsigned char *joined; /* a bit for each node: others have joined it */
	sx_sorter *ranks;      /* pairs of them */
	sx_sorter *members;
	int (*take)(void *ctx, const simidx_member *members, size_t n);
};

static uint32_t *new_numbers(const struct clusters *c)
{
	return sx_realloc(NULL, c->nodes.n + 1, sizeof(uint32_t));
}

/* ---- the order of nodes ---- */

static int is_scored_better(const sx_join_nodes *nodes, uint32_t a, uint32_t b)
{
	return sx_join_compare_scores(nodes, &nodes->score[a], &nodes->score[b]) < 0;
}

/* A merge sort, as labels are compared, and qsort() has no context. */
static int sort_by_score(const sx_join_nodes *nodes, uint32_t *order, uint32_t *scratch)
{
	size_t n = nodes->n;

	for (size_t width = 1; width < n; width *= 2) {
		for (size_t from = 0; from < n; from += 2 * width) {
			size_t middle = from + width < n ? from + width : n;
			size_t end = middle + width < n ? middle + width : n;
			size_t i = from, j = middle;

			for (size_t out = from; out < end; out++) {
				int takes_j = i == middle ||
					      (j < end &&
					       is_scored_better(nodes, order[j], order[i]));

				scratch[out] = takes_j ? order[j++] : order[i++];
			}
		}
		memcpy(order, scratch, n * sizeof(*order));
		if (sx_join_ask(nodes->join, nodes->err))
			return SIMIDX_E_STOPPED;
	}
	return SIMIDX_OK;
}

/* By ids alone, of which each is one node's. */
static int sort_by_id(const sx_join_nodes *nodes, uint32_t *order)
{
	const uint64_t *id = nodes->best ? nodes->best : nodes->least;
	uint64_t flips = nodes->options.keep == SIMIDX_KEEP_LARGEST_ID ? UINT64_MAX : 0;
	sx_sorter *sorter = NULL;
	int rc = sx_join_sorter(nodes->join, 2, 1, &sorter, nodes->err);

	for (size_t i = 0; !rc && i < nodes->n; i++) {
		uint64_t record[2] = { id[i] ^ flips, i };

		rc = sx_sorter_add(sorter, record, nodes->err);
	}
	if (!rc)
		rc = sx_join_sorted(nodes->join, sorter, nodes->err);
	for (size_t i = 0; !rc && i < nodes->n; i++) {
		const uint64_t *record;

		rc = sx_sorter_next(sorter, &record, nodes->err);
		if (!rc)
			order[i] = (uint32_t)record[1];
	}
	sx_sorter_free(sorter);
	return rc;
}

/*
 * Sort all nodes by their best documents, the best one first: `order` is the nodes in this order.
 */
static int rank_nodes(struct clusters *c, uint32_t *order)
{
	sx_join_nodes *nodes = &c->nodes;
	int rc;

	c->rank = new_numbers(c);
	if (!order || !c->rank)
		return sx_fail_nomem(nodes->err);
	for (size_t i = 0; i < nodes->n; i++)
		order[i] = (uint32_t)i;
	rc = nodes->score ? sort_by_score(nodes, order, c->rank) : sort_by_id(nodes, order);
	for (size_t i = 0; i < nodes->n; i++)
		c->rank[order[i]] = (uint32_t)i;
	sx_join_nodes_free_scores(nodes);
	return rc;
}

/* ---- pairs of nodes ---- */

/* Takes two nodes that are near. */
typedef int take_nodes(struct clusters *c, uint32_t a, uint32_t b);

static sx_join_node node_of(const sx_join_nodes *nodes, size_t i)
{
	int lacks = sx_is_unknown_fp2(nodes->join->input[0].index, nodes->fp2[i]);

	return (sx_join_node){ nodes->fp2[i], lacks, 0, 0 };
}

/* The nodes of fingerprint number a with those of b. */
static int join_nodes(struct clusters *c, size_t a, size_t b, unsigned distance, take_nodes *take)
{
	const sx_join_nodes *nodes = &c->nodes;
	const uint32_t *first = nodes->first;
	size_t end_a = first ? first[a + 1] : a + 1, end_b = first ? first[b + 1] : b + 1;
	int rc = SIMIDX_OK;

	for (size_t i = first ? first[a] : a; i < end_a; i++)
		for (size_t j = a == b ? i + 1 : first ? first[b] : b; !rc && j < end_b; j++) {
			int distance2;

			if (!(j & 0xffff))
				rc = sx_join_ask(&c->join, nodes->err);
			if (!rc && nodes->fp2) {
				sx_join_node x = node_of(nodes, i), y = node_of(nodes, j);

				if (!sx_join_are_near(&c->join, distance, &x, &y, &distance2))
					continue;
			}
			if (!rc)
				rc = take(c, (uint32_t)i, (uint32_t)j);
		}
	return rc;
}

/* Take all pairs of nodes whose first fingerprints are at this distance, or all if it is -1. */
static int join_pairs(struct clusters *c, int distance, take_nodes *take)
{
	const sx_u64s *fps = &c->nodes.fps;
	int rc = sx_sorter_rewind(c->pairs, c->nodes.err);

	for (uint64_t done = 1; !rc; done++) {
		const uint64_t *pair;
		unsigned here;

		rc = sx_sorter_next(c->pairs, &pair, c->nodes.err);
		if (rc)
			break;
		if (!(done & 0xffff))
			rc = sx_join_tell(&c->join, "linking", done, c->join.info.fingerprint_pairs,
					  c->nodes.err);
		here = sx_count_plain(pair[0] ^ pair[1]);
		if (rc || (distance >= 0 && here != (unsigned)distance))
			continue;
		rc = join_nodes(c, sx_u64s_below(fps->at, fps->n, pair[0]),
				sx_u64s_below(fps->at, fps->n, pair[1]), here, take);
	}
	return rc == SIMIDX_E_END ? SIMIDX_OK : rc;
}

/* ---- links ---- */

/* Begin with clusters of one node each. */
static int begin_leaders(struct clusters *c)
{
	size_t n = c->nodes.n;

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

static int unite(struct clusters *c, uint32_t a, uint32_t b)
{
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
	int rc = SIMIDX_OK;

	if (c->nodes.score) {
		uint32_t *order = new_numbers(c);

		rc = rank_nodes(c, order);
		free(order);
	}
	if (!rc)
		rc = begin_leaders(c);
	if (!rc && !c->nodes.options.max_size)
		return join_pairs(c, -1, unite);
	for (unsigned d = 0; !rc && d <= c->join.info.radius; d++)
		rc = join_pairs(c, (int)d, unite);
	return rc;
}

/* ---- stars ---- */

/* A pair of ranks, the better one first. */
static int push_ranks(struct clusters *c, uint32_t a, uint32_t b)
{
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
			rc = sx_join_ask(&c->join, c->nodes.err);
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
	uint32_t *order = new_numbers(c);
	int rc = rank_nodes(c, order);

	if (!rc)
		rc = sx_join_sorter(&c->join, 1, 1, &c->ranks, c->nodes.err);
	if (!rc)
		rc = join_pairs(c, -1, push_ranks);
	if (!rc)
		rc = sx_join_sorted(&c->join, c->ranks, c->nodes.err);
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

	for (size_t i = 0; i < c->nodes.n; i++) {
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
	c->join.info.members++;
	c->join.info.clusters += record[4] & 1;
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

/* The documents of node number `number`. */
static int push_node(struct clusters *c, uint32_t number, const sx_join_node *node,
		     const sx_join_doc *docs)
{
	const sx_join_nodes *nodes = &c->nodes;
	uint32_t leader = leader_of(c, number);
	const uint64_t *best = nodes->best ? nodes->best : nodes->least;
	uint64_t max = nodes->options.max_size, keeper_fp;
	int rc = SIMIDX_OK;

	if (max && node->n >= max)
		return push_pieces(c, docs + node->from, node->n);
	if (node->n < 2 && leader == number && !(c->joined[number / 8] >> number % 8 & 1))
		return SIMIDX_OK;
	keeper_fp = sx_join_nodes_fp(nodes, leader);
	for (size_t i = node->from; !rc && i < node->from + node->n; i++)
		rc = push_member(c, nodes->least[leader], &docs[i], best[leader], keeper_fp);
	return rc;
}

/* Sort the members of all clusters. */
static int gather_members(struct clusters *c)
{
	sx_join_documents d = { 0 };
	int rc = sx_join_sorter(&c->join, 5, 2, &c->members, c->nodes.err);
	uint32_t number = 0;

	number_clusters(c);
	sx_join_documents_begin(&d, &c->join, 0);
	for (size_t at = 0; !rc && at < c->nodes.fps.n; at++) {
		rc = sx_join_nodes_read(&c->nodes, &d, at);
		for (size_t i = 0; !rc && i < d.n_nodes; i++)
			rc = push_node(c, number++, &d.node[i], d.doc);
	}
	sx_join_documents_end(&d);
	return rc ? rc : sx_join_sorted(&c->join, c->members, c->nodes.err);
}

/* ---- delivery ---- */

/* Hand over some members. */
static int deliver_piece(struct clusters *c, simidx_member *piece, size_t n)
{
	const simidx_join_options *o = &c->join.options;
	int rc = SIMIDX_OK;

	for (size_t i = 0; o->flags & SIMIDX_JOIN_LABELS && !rc && i < n; i++)
		rc = sx_join_label(&c->join.input[0], piece[i].id, &piece[i].label,
				   &piece[i].label_size, c->nodes.err);
	if (!rc && c->take(o->ctx, piece, n))
		rc = sx_join_stopped(c->nodes.err);
	return rc ? rc : sx_join_ask(&c->join, c->nodes.err);
}

static int deliver(struct clusters *c)
{
	int has_ids = c->join.input[0].index->schema->has_ids, rc = SIMIDX_OK;
	simidx_member *piece = sx_realloc(NULL, PIECE, sizeof(*piece));
	size_t n = 0;

	if (!piece)
		return sx_fail_nomem(c->nodes.err);
	while (!rc) {
		const uint64_t *record;

		rc = sx_sorter_next(c->members, &record, c->nodes.err);
		if (rc)
			break;
		piece[n++] = (simidx_member){ record[0],
					      has_ids ? record[2] : SIMIDX_NO_ID,
					      record[3],
					      (unsigned)(record[4] >> 1),
					      record[4] & 1,
					      NULL,
					      0 };
		if (n == PIECE) {
			rc = deliver_piece(c, piece, n);
			n = 0;
		}
	}
	if (rc == SIMIDX_E_END)
		rc = n ? deliver_piece(c, piece, n) : SIMIDX_OK;
	free(piece);
	return rc;
}

static int run(struct clusters *c)
{
	int rc = sx_join_find(&c->join, &c->pairs, c->nodes.err);

	if (!rc)
		rc = sx_join_nodes_make(&c->nodes, c->pairs);
	if (!rc)
		rc = c->nodes.options.link == SIMIDX_LINK_SINGLE ? link_single(c) : link_star(c);
	if (!rc)
		rc = gather_members(c);
	if (!rc)
		rc = sx_join_found(&c->join, c->nodes.err);
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
	sx_sorter_free(c->pairs);
	sx_join_end(&c->join);
	free(c);
}

static int check(const simidx *index, const simidx_clusters_options *o, simidx_error *err)
{
	if (o->link > SIMIDX_LINK_SINGLE || o->keep > SIMIDX_KEEP_LONGEST || o->max_size == 1)
		return sx_fail(err, SIMIDX_E_ARG,
			       "simidx_clusters: unknown link or keep, or a max_size of 1");
	if (o->keep == SIMIDX_KEEP_LONGEST && !o->length)
		return sx_fail(err, SIMIDX_E_ARG,
			       "simidx_clusters: nobody tells how long texts are");
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
	c->nodes.join = &c->join;
	rc = sx_join_begin(&c->join, index, NULL, options, err);
	if (!rc)
		rc = run(c);
	free_clusters(c);
	return rc;
}
