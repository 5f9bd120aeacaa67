/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include <stdlib.h>

#include "fresh/sx_fresh.h"
#include "fresh/sx_mini_lines.h"
#include "util/sx_alloc.h"
#include "util/sx_hash.h"

#define MAX_ROWS ((uint32_t)1 << 31)
#define FIRST_SLOTS 64

/* What rows are looked up by. */
enum chain_kind { BY_FP, BY_ID, BY_LABEL, CHAINS };

struct slot {
	uint32_t first, last; /* rows; SX_MINI_NONE: free */
};

/*
 * Rows with an equal value form a chain in order of arrival; an open-addressing table leads to
 * its ends.
 */
struct chains {
	struct slot *slot;
	uint32_t mask; /* number of slots - 1 */
	uint32_t used;
};

struct node {
	sx_fresh_row row;
	uint32_t next[CHAINS];
};

struct sx_mini {
	uint64_t base;
	struct node *node;
	size_t n, cap;
	struct chains chains[CHAINS];
	sx_mini_lines *lines; /* the distinct fingerprints */
};

static uint64_t value_of(const sx_fresh_row *row, unsigned kind)
{
	return kind == BY_FP ? row->fp : kind == BY_ID ? row->id : row->label_hash;
}

/* Rows without an id or a label are in no such chain. */
static int has_value(const sx_fresh_row *row, unsigned kind)
{
	return kind == BY_FP || (kind == BY_ID && row->id != SIMIDX_NO_ID) ||
	       (kind == BY_LABEL && row->op & SX_FRESH_LABEL);
}

/* The slot of a value, or the free one where it belongs. */
static struct slot *find(const sx_mini *mini, unsigned kind, uint64_t value)
{
	const struct chains *c = &mini->chains[kind];
	uint32_t i = (uint32_t)sx_hash_u64(value) & c->mask;

	for (;; i = (i + 1) & c->mask) {
		struct slot *s = &c->slot[i];

		if (s->first == SX_MINI_NONE || value_of(&mini->node[s->first].row, kind) == value)
			return s;
	}
}

static int make_slots(struct chains *c, uint32_t n)
{
	c->slot = sx_realloc(NULL, n, sizeof(*c->slot));
	if (!c->slot)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		c->slot[i].first = c->slot[i].last = SX_MINI_NONE;
	c->mask = n - 1;
	return 0;
}

/* Keep at least half of the slots free. */
static int reserve_slot(sx_mini *mini, unsigned kind)
{
	struct chains *c = &mini->chains[kind], old = *c;

	if (2 * (c->used + 1) <= c->mask)
		return 0;
	if (make_slots(c, 2 * (old.mask + 1))) {
		*c = old;
		return -1;
	}
	for (uint32_t i = 0; i <= old.mask; i++)
		if (old.slot[i].first != SX_MINI_NONE)
			*find(mini, kind, value_of(&mini->node[old.slot[i].first].row, kind)) =
				old.slot[i];
	free(old.slot);
	return 0;
}

sx_mini *sx_mini_new(unsigned bits, uint64_t base, const sx_kernel *kernel)
{
	sx_mini *mini = sx_calloc(1, sizeof(*mini));

	if (!mini)
		return NULL;
	mini->base = base;
	mini->lines = sx_mini_lines_new(bits, kernel);
	if (!mini->lines)
		goto fail;
	for (unsigned kind = 0; kind < CHAINS; kind++)
		if (make_slots(&mini->chains[kind], FIRST_SLOTS))
			goto fail;
	return mini;
fail:
	sx_mini_free(mini);
	return NULL;
}

void sx_mini_free(sx_mini *mini)
{
	if (!mini)
		return;
	for (unsigned kind = 0; kind < CHAINS; kind++)
		free(mini->chains[kind].slot);
	sx_mini_lines_free(mini->lines);
	free(mini->node);
	free(mini);
}

uint64_t sx_mini_base(const sx_mini *mini)
{
	return mini->base;
}

uint64_t sx_mini_end(const sx_mini *mini)
{
	return mini->base + mini->n;
}

int sx_mini_add(sx_mini *mini, const sx_fresh_row *row)
{
	uint32_t n = (uint32_t)mini->n;
	struct node *node;

	/* All that can fail comes before anything that shows. */
	if (mini->n == MAX_ROWS || sx_reserve(&mini->node, &mini->cap, mini->n + 1, sizeof(*node)))
		return -1;
	for (unsigned kind = 0; kind < CHAINS; kind++)
		if (reserve_slot(mini, kind))
			return -1;
	if (find(mini, BY_FP, row->fp)->first == SX_MINI_NONE &&
	    sx_mini_lines_add(mini->lines, row->fp, n))
		return -1;
	node = &mini->node[n];
	node->row = *row;
	mini->n++;
	for (unsigned kind = 0; kind < CHAINS; kind++) {
		struct slot *s;

		node->next[kind] = SX_MINI_NONE;
		if (!has_value(row, kind))
			continue;
		s = find(mini, kind, value_of(row, kind));
		if (s->first == SX_MINI_NONE) {
			s->first = n;
			mini->chains[kind].used++;
		} else {
			mini->node[s->last].next[kind] = n;
		}
		s->last = n;
	}
	return 0;
}

const sx_fresh_row *sx_mini_row(const sx_mini *mini, uint32_t i)
{
	return &mini->node[i].row;
}

uint32_t sx_mini_by_id(const sx_mini *mini, uint64_t id)
{
	return find(mini, BY_ID, id)->first;
}

uint32_t sx_mini_by_label(const sx_mini *mini, uint64_t label_hash)
{
	return find(mini, BY_LABEL, label_hash)->first;
}

uint32_t sx_mini_next_label(const sx_mini *mini, uint32_t i)
{
	return mini->node[i].next[BY_LABEL];
}

uint32_t sx_mini_by_fp(const sx_mini *mini, uint64_t fp)
{
	return find(mini, BY_FP, fp)->first;
}

uint32_t sx_mini_next_fp(const sx_mini *mini, uint32_t i)
{
	return mini->node[i].next[BY_FP];
}

int sx_mini_near(const sx_mini *mini, const sx_probes *probes, uint64_t query, unsigned k,
		 uint64_t end, sx_u64s *fps, uint64_t *candidates)
{
	return sx_mini_lines_near(mini->lines, probes, query, k, end, fps, candidates);
}
