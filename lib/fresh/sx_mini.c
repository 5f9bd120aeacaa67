/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include <stdlib.h>

#include "fresh/sx_fresh.h"
#include "fresh/sx_mini_lines.h"
#include "util/sx_alloc.h"
#include "util/sx_hash.h"

#define MAX_ROWS ((uint32_t)1 << 31)
#define FIRST_SLOTS 64
#define MOVES_A_ROW 4 /* 2 would have all moved in time */

/* What rows are looked up by. */
enum chain_kind { BY_FP, BY_ID, BY_LABEL, CHAINS };

struct slot {
	uint32_t first, last; /* 1 + the number of the row; 0: free */
};

/*
 * Rows with an equal value form a chain in order of arrival; an open-addressing table leads to
 * its ends. When it grows, what is in the old one moves a few slots a row, so that no row has to
 * wait for all.
 */
struct chains {
	struct slot *slot, *old; /* old is NULL when everything has moved */
	uint32_t mask, old_mask; /* number of slots - 1 */
	uint32_t moved;          /* slots of the old one that have */
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

/* The slot of a value in one of the two tables, or the free one where it belongs. */
static struct slot *find_in(const sx_mini *mini, unsigned kind, struct slot *slot, uint32_t mask,
			    uint64_t value)
{
	uint32_t i = (uint32_t)sx_hash_u64(value) & mask;

	for (;; i = (i + 1) & mask)
		if (!slot[i].first ||
		    value_of(&mini->node[slot[i].first - 1].row, kind) == value)
			return &slot[i];
}

/* The slot of a value, or the free one where it belongs. */
static struct slot *find(const sx_mini *mini, unsigned kind, uint64_t value)
{
	const struct chains *c = &mini->chains[kind];
	struct slot *slot = find_in(mini, kind, c->slot, c->mask, value), *old;

	if (slot->first || !c->old)
		return slot;
	old = find_in(mini, kind, c->old, c->old_mask, value);
	return old->first ? old : slot;
}

/* Move some slots of the old table, of those that have not moved. */
static void move_slots(sx_mini *mini, unsigned kind, unsigned n)
{
	struct chains *c = &mini->chains[kind];

	for (; c->old && n; n--) {
		const struct slot *slot = &c->old[c->moved];

		if (slot->first)
			*find_in(mini, kind, c->slot, c->mask,
				 value_of(&mini->node[slot->first - 1].row, kind)) = *slot;
		if (c->moved++ == c->old_mask) {
			free(c->old);
			c->old = NULL;
		}
	}
}

/* Keep at least half of the slots free. */
static int reserve_slot(sx_mini *mini, unsigned kind)
{
	struct chains *c = &mini->chains[kind];
	struct slot *slot;

	move_slots(mini, kind, MOVES_A_ROW);
	if (2 * (c->used + 1) <= c->mask)
		return 0;
	move_slots(mini, kind, UINT32_MAX);
	slot = sx_calloc(2 * ((size_t)c->mask + 1), sizeof(*slot));
	if (!slot)
		return -1;
	c->old = c->slot;
	c->old_mask = c->mask;
	c->moved = 0;
	c->slot = slot;
	c->mask = 2 * c->mask + 1;
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
	for (unsigned kind = 0; kind < CHAINS; kind++) {
		mini->chains[kind].slot = sx_calloc(FIRST_SLOTS, sizeof(struct slot));
		if (!mini->chains[kind].slot)
			goto fail;
		mini->chains[kind].mask = FIRST_SLOTS - 1;
	}
	return mini;
fail:
	sx_mini_free(mini);
	return NULL;
}

void sx_mini_free(sx_mini *mini)
{
	if (!mini)
		return;
	for (unsigned kind = 0; kind < CHAINS; kind++) {
		free(mini->chains[kind].slot);
		free(mini->chains[kind].old);
	}
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
	if (!find(mini, BY_FP, row->fp)->first &&
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
		if (!s->first) {
			s->first = n + 1;
			mini->chains[kind].used++;
		} else {
			mini->node[s->last - 1].next[kind] = n;
		}
		s->last = n + 1;
	}
	return 0;
}

const sx_fresh_row *sx_mini_row(const sx_mini *mini, uint32_t i)
{
	return &mini->node[i].row;
}

/* What is free leads to SX_MINI_NONE. */
static uint32_t first_of(const sx_mini *mini, unsigned kind, uint64_t value)
{
	return find(mini, kind, value)->first - 1;
}

uint32_t sx_mini_by_id(const sx_mini *mini, uint64_t id)
{
	return first_of(mini, BY_ID, id);
}

uint32_t sx_mini_by_label(const sx_mini *mini, uint64_t label_hash)
{
	return first_of(mini, BY_LABEL, label_hash);
}

uint32_t sx_mini_next_label(const sx_mini *mini, uint32_t i)
{
	return mini->node[i].next[BY_LABEL];
}

uint32_t sx_mini_by_fp(const sx_mini *mini, uint64_t fp)
{
	return first_of(mini, BY_FP, fp);
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

void sx_mini_hint(const sx_mini *mini, const sx_probes *probes)
{
	sx_mini_lines_hint(mini->lines, probes);
}
