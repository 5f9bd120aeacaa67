/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Stage 6: pairs of documents are delivered. Pairs of fingerprints are read in chunks, with the
 * documents of each fingerprint of a chunk. Each pair of near nodes is a group; groups are counted,
 * handed over, or multiplied out to pairs.
 */

#include <stdlib.h>
#include <string.h>

#include "join/sx_join_documents.h"
#include "join/sx_join_find.h"
#include "kernel/sx_bits.h"
#include "util/sx_alloc.h"
#include "util/sx_err.h"
#include "util/sx_sort.h"
#include "util/sx_struct.h"
#include "util/sx_u64s.h"

#define PIECE 65536     /* pairs that are delivered together */
#define GROUPS 1024     /* groups, the same */
#define LEAST_CHUNK 1024
#define ASK_AFTER 65536 /* nodes that are compared */
/* Of memory at most for a pair of fingerprints of a chunk: the pair, and of each input a node for
   both. Ids and further nodes are counted when they are read. */
#define PAIR_BYTES 68
#define PAIR_INPUT_BYTES (2 * (sizeof(size_t) + sizeof(sx_join_node)))
#define NODE_WORDS (sizeof(sx_join_node) / sizeof(uint64_t))
#define MOST_CHUNK ((size_t)1 << 28)

/* The documents that an input has of the fingerprints of a chunk. */
struct documents {
	size_t *first; /* node of each fingerprint, and the end */
	size_t first_cap;
	sx_join_node *node; /* `from` is a place in ids */
	size_t n_nodes, nodes_cap;
	sx_u64s ids;
	size_t words; /* of 8 bytes: of ids, and of the nodes of a fingerprint but the first */
};

/* As many pairs of fingerprints as there is room for with their documents. */
struct chunk {
	uint64_t *pair; /* two fingerprints each */
	size_t n, max;
	size_t used;    /* of them; the others are for the next chunk */
	uint32_t *second; /* number among fps of the second fingerprint of each */
	sx_sort_item *item, *scratch; /* to find these out */
	sx_u64s fps;    /* distinct, ascending */
	struct documents input[2];
	int is_last, is_loaded;
};

struct pairs {
	sx_join join;
	sx_sorter *found; /* pairs of fingerprints */
	const simidx_pairs_taker *taker;
	struct chunk chunk;
	int counts; /* rather than delivers */
	simidx_pair *piece;
	size_t n_piece;
	simidx_pair_group *group;
	size_t n_groups;
	uint64_t done;     /* pairs of fingerprints */
	uint64_t compared; /* nodes, since the caller was asked */
	simidx_error *err;
};

/* ---- chunks ---- */

/* Says that a chunk of several pairs has too many documents; never returned to a caller. */
#define TOO_MANY 1

/*
 * The fingerprints of the first `used` pairs. These ascend by their first ones, and the second ones
 * are sorted with the numbers of their pairs; so both are passed once, side by side.
 */
static int number_fingerprints(struct pairs *p)
{
	struct chunk *c = &p->chunk;
	const sx_sort_item *item;
	size_t i = 0, j = 0;

	if (sx_reserve(&c->fps.at, &c->fps.cap, 2 * c->used, sizeof(*c->fps.at)))
		return sx_fail_nomem(p->err);
	for (size_t k = 0; k < c->used; k++)
		c->item[k] = (sx_sort_item){ c->pair[2 * k + 1], k };
	item = sx_sort_items(c->item, c->scratch, c->used, 0);
	if (!item)
		return sx_fail_nomem(p->err);
	c->fps.n = 0;
	while (i < c->used || j < c->used) {
		uint64_t fp = i < c->used ? c->pair[2 * i] : UINT64_MAX;

		if (j < c->used && item[j].key < fp)
			fp = item[j].key;
		while (i < c->used && c->pair[2 * i] == fp)
			i++;
		for (; j < c->used && item[j].key == fp; j++)
			c->second[item[j].value] = (uint32_t)c->fps.n;
		c->fps.at[c->fps.n++] = fp;
	}
	return SIMIDX_OK;
}

/* Put the documents of the next fingerprint behind those that are there, up to `max` words. */
static int keep_documents(struct documents *to, const sx_join_documents *d, size_t max)
{
	size_t n_nodes = to->n_nodes + d->n_nodes, from = to->ids.n;

	to->words += d->n + (d->n_nodes ? (d->n_nodes - 1) * NODE_WORDS : 0);
	if (to->words > max)
		return TOO_MANY;
	if (sx_reserve(&to->ids.at, &to->ids.cap, from + d->n, sizeof(*to->ids.at)) ||
	    sx_reserve(&to->node, &to->nodes_cap, n_nodes, sizeof(*to->node)))
		return SIMIDX_E_NOMEM;
	for (size_t i = 0; i < d->n; i++)
		to->ids.at[to->ids.n++] = d->doc[i].id;
	for (size_t i = 0; i < d->n_nodes; i++) {
		to->node[to->n_nodes] = d->node[i];
		to->node[to->n_nodes++].from += from;
	}
	return SIMIDX_OK;
}

/* Read the documents that one input has of the chunk. */
static int load_input(struct pairs *p, unsigned number, size_t max)
{
	const sx_u64s *fps = &p->chunk.fps;
	struct documents *to = &p->chunk.input[number];
	sx_join_documents d = { 0 };
	int rc = SIMIDX_OK;

	to->ids.n = to->n_nodes = to->words = 0;
	if (sx_reserve(&to->first, &to->first_cap, fps->n + 1, sizeof(*to->first)))
		return sx_fail_nomem(p->err);
	to->first[0] = 0;
	sx_join_documents_begin(&d, &p->join, number);
	for (size_t i = 0; !rc && i < fps->n; i++) {
		rc = sx_join_documents_of(&d, fps->at[i], p->err);
		if (!rc)
			rc = keep_documents(to, &d, max);
		to->first[i + 1] = to->n_nodes;
	}
	sx_join_documents_end(&d);
	return rc == SIMIDX_E_NOMEM ? sx_fail_nomem(p->err) : rc;
}

/* Read the documents of the first `used` pairs. */
static int load_documents(struct pairs *p)
{
	struct chunk *c = &p->chunk;
	size_t max = (size_t)p->join.options.memory / 4 / sizeof(uint64_t) / p->join.n_inputs;
	int rc = number_fingerprints(p);

	if (c->used == 1)
		max = SIZE_MAX; /* a pair is delivered however many documents it has */
	for (unsigned i = 0; !rc && i < p->join.n_inputs; i++)
		rc = load_input(p, i, max);
	return rc;
}

/* Fill the chunk with the next pairs. None are left = it has none. */
static int next_chunk(struct pairs *p)
{
	struct chunk *c = &p->chunk;
	int rc = SIMIDX_OK;

	memmove(c->pair, c->pair + 2 * c->used, 2 * (c->n - c->used) * sizeof(*c->pair));
	c->n -= c->used;
	c->used = 0;
	while (c->n < c->max) {
		const uint64_t *record;

		rc = sx_sorter_next(p->found, &record, p->err);
		if (rc)
			break;
		c->pair[2 * c->n] = record[0];
		c->pair[2 * c->n + 1] = record[1];
		c->n++;
	}
	c->is_last = rc == SIMIDX_E_END;
	if (rc && !c->is_last)
		return rc;
	if (!c->n)
		return SIMIDX_OK;
	c->used = c->n;
	while ((rc = load_documents(p)) == TOO_MANY)
		c->used = (c->used + 1) / 2;
	c->is_last = c->is_last && c->used == c->n;
	return rc;
}

/* ---- delivery ---- */

static int add_labels(struct pairs *p)
{
	const sx_join_input *a = &p->join.input[0], *b = &p->join.input[p->join.n_inputs - 1];
	int rc = SIMIDX_OK;

	for (size_t i = 0; !rc && i < p->n_piece; i++) {
		simidx_pair *pair = &p->piece[i];

		rc = sx_join_label(a, pair->id_a, &pair->label_a, &pair->label_size_a, p->err);
		if (!rc)
			rc = sx_join_label(b, pair->id_b, &pair->label_b, &pair->label_size_b,
					   p->err);
	}
	return rc;
}

static int deliver_piece(struct pairs *p)
{
	const simidx_join_options *o = &p->join.options;
	size_t n = p->n_piece;
	int rc = o->flags & SIMIDX_JOIN_LABELS ? add_labels(p) : SIMIDX_OK;

	p->n_piece = 0;
	if (!rc && n)
		rc = p->taker->pairs(o->ctx, p->piece, n) ? sx_join_stopped(p->err)
							  : sx_join_ask(&p->join, p->err);
	return rc;
}

static int deliver_groups(struct pairs *p)
{
	size_t n = p->n_groups;

	p->n_groups = 0;
	if (n && p->taker->groups(p->join.options.ctx, p->group, n))
		return sx_join_stopped(p->err);
	return SIMIDX_OK;
}

/* Each document of a group with each other one. */
static int multiply_out(struct pairs *p, const simidx_pair_group *g)
{
	int is_own = !g->ids_b, orders = p->join.n_inputs == 1;
	const uint64_t *ids_b = is_own ? g->ids_a : g->ids_b;
	size_t n_b = is_own ? g->n_a : g->n_b;

	for (size_t i = 0; i < g->n_a; i++)
		for (size_t j = is_own ? i + 1 : 0; j < n_b; j++) {
			uint64_t a = g->ids_a[i], b = ids_b[j];
			int swaps = orders && a > b;

			p->piece[p->n_piece] = (simidx_pair){
				swaps ? b : a, swaps ? a : b, swaps ? g->fp_b : g->fp_a,
				swaps ? g->fp_a : g->fp_b, g->distance, g->distance2,
				NULL, NULL, 0, 0
			};
			if (++p->n_piece == PIECE) {
				int rc = deliver_piece(p);

				if (rc)
					return rc;
			}
		}
	return SIMIDX_OK;
}

static uint64_t sum(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t product(uint64_t a, uint64_t b)
{
	return a && b > UINT64_MAX / a ? UINT64_MAX : a * b;
}

static int take_group(struct pairs *p, const simidx_pair_group *g)
{
	simidx_join_info *info = &p->join.info;

	if (p->counts) {
		/* One of n and n - 1 is even. */
		uint64_t n = g->n_a, even = n % 2 ? n - 1 : n, odd = n % 2 ? n : n - 1;

		info->groups++;
		info->pairs = sum(info->pairs, g->ids_b ? product(n, g->n_b)
							: product(even / 2, odd));
		return SIMIDX_OK;
	}
	if (p->taker->pairs)
		return multiply_out(p, g);
	p->group[p->n_groups++] = *g;
	return p->n_groups == GROUPS ? deliver_groups(p) : SIMIDX_OK;
}

/* The nodes that the documents `x` have of fingerprint a with those that `y` have of b. */
static int join_nodes(struct pairs *p, const struct documents *x, size_t a,
		      const struct documents *y, size_t b)
{
	const uint64_t *fps = p->chunk.fps.at;
	unsigned distance = sx_count_plain(fps[a] ^ fps[b]);
	int is_own = x == y && a == b, rc = SIMIDX_OK;

	for (size_t i = x->first[a]; i < x->first[a + 1]; i++)
		for (size_t j = is_own ? i : y->first[b]; !rc && j < y->first[b + 1]; j++) {
			const sx_join_node *c = &x->node[i], *d = &y->node[j];
			simidx_pair_group g = { .n_a = c->n, .fp_a = fps[a], .fp_b = fps[b],
						.distance = distance };

			if (++p->compared % ASK_AFTER == 0)
				rc = sx_join_ask(&p->join, p->err);
			if (rc || !sx_join_are_near(&p->join, distance, c, d, &g.distance2))
				continue;
			if (is_own && i == j && c->n < 2)
				continue;
			g.ids_a = x->ids.at + c->from;
			if (!is_own || i != j) {
				g.ids_b = y->ids.at + d->from;
				g.n_b = d->n;
			}
			rc = take_group(p, &g);
		}
	return rc;
}

/* The documents of fingerprint a with those of b. */
static int join_documents(struct pairs *p, size_t a, size_t b)
{
	const struct documents *x = &p->chunk.input[0], *y = &p->chunk.input[1];
	int rc;

	if (p->join.n_inputs == 1)
		return join_nodes(p, x, a, x, b);
	rc = join_nodes(p, x, a, y, b);
	return rc || a == b ? rc : join_nodes(p, x, b, y, a);
}

static int take_chunk(struct pairs *p)
{
	struct chunk *c = &p->chunk;
	size_t at = 0;
	int rc = SIMIDX_OK;

	for (size_t i = 0; !rc && i < c->used; i++) {
		while (c->fps.at[at] < c->pair[2 * i])
			at++;
		rc = join_documents(p, at, c->second[i]);
	}
	/* What groups point to is gone with the chunk. */
	if (!rc && !p->counts && !p->taker->pairs)
		rc = deliver_groups(p);
	p->done += c->used;
	return rc ? rc
		  : sx_join_tell(&p->join, p->counts ? "counting pairs" : "delivering pairs",
				 p->done, p->join.info.fingerprint_pairs, p->err);
}

/* Count or deliver everything. A chunk that is all there is stays loaded. */
static int take_all(struct pairs *p)
{
	struct chunk *c = &p->chunk;
	int rc = SIMIDX_OK;

	p->done = 0;
	if (c->is_loaded && c->is_last)
		return take_chunk(p);
	c->n = c->used = 0;
	if (c->is_loaded)
		rc = sx_sorter_rewind(p->found, p->err);
	c->is_loaded = 0;
	for (unsigned chunks = 1; !rc; chunks++) {
		rc = next_chunk(p);
		if (!rc && c->n)
			rc = take_chunk(p);
		if (!rc && (c->is_last || !c->n)) {
			c->is_last = chunks == 1;
			break;
		}
	}
	c->is_loaded = 1;
	return rc;
}

static int make_room(struct pairs *p)
{
	struct chunk *c = &p->chunk;

	c->max = (size_t)p->join.options.memory / 2 /
		 (PAIR_BYTES + p->join.n_inputs * PAIR_INPUT_BYTES);
	/* With room for one more than there are, the first chunk sees that it is the last. */
	if (c->max > p->join.info.fingerprint_pairs)
		c->max = (size_t)p->join.info.fingerprint_pairs + 1;
	if (c->max < LEAST_CHUNK)
		c->max = LEAST_CHUNK;
	if (c->max > MOST_CHUNK)
		c->max = MOST_CHUNK;
	c->pair = sx_realloc(NULL, 2 * c->max, sizeof(*c->pair));
	c->second = sx_realloc(NULL, c->max, sizeof(*c->second));
	c->item = sx_realloc(NULL, c->max, sizeof(*c->item));
	c->scratch = sx_realloc(NULL, c->max, sizeof(*c->scratch));
	if (p->taker->pairs)
		p->piece = sx_realloc(NULL, PIECE, sizeof(*p->piece));
	else
		p->group = sx_realloc(NULL, GROUPS, sizeof(*p->group));
	if (!c->pair || !c->second || !c->item || !c->scratch || (!p->piece && !p->group))
		return sx_fail_nomem(p->err);
	return SIMIDX_OK;
}

static void free_pairs(struct pairs *p)
{
	for (unsigned s = 0; s < 2; s++) {
		free(p->chunk.input[s].first);
		free(p->chunk.input[s].node);
		sx_u64s_free(&p->chunk.input[s].ids);
	}
	free(p->chunk.pair);
	free(p->chunk.second);
	free(p->chunk.item);
	free(p->chunk.scratch);
	sx_u64s_free(&p->chunk.fps);
	free(p->piece);
	free(p->group);
	sx_sorter_free(p->found);
	sx_join_end(&p->join);
	free(p);
}

static int run(struct pairs *p)
{
	int rc = sx_join_find(&p->join, &p->found, p->err);

	if (!rc)
		rc = make_room(p);
	if (!rc && p->join.options.found) {
		p->counts = 1;
		rc = take_all(p);
		p->counts = 0;
		if (!rc)
			rc = sx_join_found(&p->join, p->err);
	}
	if (!rc)
		rc = take_all(p);
	return !rc && p->taker->pairs ? deliver_piece(p) : rc;
}

int simidx_pairs(simidx *index, simidx *other, const simidx_join_options *options,
		 const simidx_pairs_taker *taker, simidx_error *err)
{
	simidx_pairs_taker own;
	struct pairs *p;
	int rc;

	sx_err_clear(err);
	taker = sx_struct_read(taker, SX_STRUCT_TO(simidx_pairs_taker, groups), &own, sizeof(own));
	if (!taker || !taker->pairs == !taker->groups)
		return sx_fail(err, SIMIDX_E_ARG,
			       "simidx_pairs: somebody must take pairs or groups");
	p = sx_calloc(1, sizeof(*p));
	if (!p)
		return sx_fail_nomem(err);
	p->taker = taker;
	p->err = err;
	rc = sx_join_begin(&p->join, index, other, options, err);
	if (!rc)
		rc = run(p);
	free_pairs(p);
	return rc;
}
