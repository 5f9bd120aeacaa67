/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include <stdlib.h>

#include "fresh/sx_fresh.h"
#include "fresh/sx_memtable_buckets.h"
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

struct sx_memtable {
	uint64_t base;
	struct node *node;
	size_t n, cap;
	struct chains chains[CHAINS];
	sx_memtable_buckets *lines; /* the distinct fingerprints */
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
static struct slot *find_in(const sx_memtable *memtable, unsigned kind, struct slot *slot, uint32_t mask,
			    uint64_t value)
{
	uint32_t i = (uint32_t)sx_hash_u64(value) & mask;

	for (;; i = (i + 1) & mask)
		if (!slot[i].first ||
		    value_of(&memtable->node[slot[i].first - 1].row, kind) == value)
			return &slot[i];
}

/* The slot of a value, or the free one where it belongs. */
static struct slot *find(const sx_memtable *memtable, unsigned kind, uint64_t value)
{
	const struct chains *c = &memtable->chains[kind];
	struct slot *slot = find_in(memtable, kind, c->slot, c->mask, value), *old;

	if (slot->first || !c->old)
		return slot;
	old = find_in(memtable, kind, c->old, c->old_mask, value);
	return old->first ? old : slot;
}

/* Move some slots of the old table, of those that have not moved. */
static void move_slots(sx_memtable *memtable, unsigned kind, unsigned n)
{
	struct chains *c = &memtable->chains[kind];

	for (; c->old && n; n--) {
		const struct slot *slot = &c->old[c->moved];

		if (slot->first)
			*find_in(memtable, kind, c->slot, c->mask,
				 value_of(&memtable->node[slot->first - 1].row, kind)) = *slot;
		if (c->moved++ == c->old_mask) {
			free(c->old);
			c->old = NULL;
		}
	}
}

/* Keep at least half of the slots free. */
static int reserve_slot(sx_memtable *memtable, unsigned kind)
{
	struct chains *c = &memtable->chains[kind];
	struct slot *slot;

	move_slots(memtable, kind, MOVES_A_ROW);
	if (2 * (c->used + 1) <= c->mask)
		return 0;
	move_slots(memtable, kind, UINT32_MAX);
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

sx_memtable *sx_memtable_new(unsigned bits, uint64_t base, const sx_kernel *kernel)
{
	sx_memtable *memtable = sx_calloc(1, sizeof(*memtable));

	if (!memtable)
		return NULL;
	memtable->base = base;
	memtable->lines = sx_memtable_buckets_new(bits, kernel);
	if (!memtable->lines)
		goto fail;
	for (unsigned kind = 0; kind < CHAINS; kind++) {
		memtable->chains[kind].slot = sx_calloc(FIRST_SLOTS, sizeof(struct slot));
		if (!memtable->chains[kind].slot)
			goto fail;
		memtable->chains[kind].mask = FIRST_SLOTS - 1;
	}
	return memtable;
fail:
	sx_memtable_free(memtable);
	return NULL;
}

void sx_memtable_free(sx_memtable *memtable)
{
	if (!memtable)
		return;
	for (unsigned kind = 0; kind < CHAINS; kind++) {
		free(memtable->chains[kind].slot);
		free(memtable->chains[kind].old);
	}
	sx_memtable_buckets_free(memtable->lines);
	free(memtable->node);
	free(memtable);
}

uint64_t sx_memtable_base(const sx_memtable *memtable)
{
	return memtable->base;
}

uint64_t sx_memtable_end(const sx_memtable *memtable)
{
	return memtable->base + memtable->n;
}

int sx_memtable_add(sx_memtable *memtable, const sx_fresh_row *row)
{
	uint32_t n = (uint32_t)memtable->n;
	struct node *node;

	/* All that can fail comes before anything that shows. */
	if (memtable->n == MAX_ROWS || sx_reserve(&memtable->node, &memtable->cap, memtable->n + 1, sizeof(*node)))
		return -1;
	for (unsigned kind = 0; kind < CHAINS; kind++)
		if (reserve_slot(memtable, kind))
			return -1;
	if (!find(memtable, BY_FP, row->fp)->first &&
	    sx_memtable_buckets_add(memtable->lines, row->fp, n))
		return -1;
	node = &memtable->node[n];
	node->row = *row;
	memtable->n++;
	for (unsigned kind = 0; kind < CHAINS; kind++) {
		struct slot *s;

		node->next[kind] = SX_MEMTABLE_NONE;
		if (!has_value(row, kind))
			continue;
		s = find(memtable, kind, value_of(row, kind));
		if (!s->first) {
			s->first = n + 1;
			memtable->chains[kind].used++;
		} else {
			memtable->node[s->last - 1].next[kind] = n;
		}
		s->last = n + 1;
	}
	return 0;
}

const sx_fresh_row *sx_memtable_row(const sx_memtable *memtable, uint32_t i)
{
	return &memtable->node[i].row;
}

/* What is free leads to SX_MEMTABLE_NONE. */
static uint32_t first_of(const sx_memtable *memtable, unsigned kind, uint64_t value)
{
	return find(memtable, kind, value)->first - 1;
}

uint32_t sx_memtable_by_id(const sx_memtable *memtable, uint64_t id)
{
	return first_of(memtable, BY_ID, id);
}

uint32_t sx_memtable_by_label(const sx_memtable *memtable, uint64_t label_hash)
{
	return first_of(memtable, BY_LABEL, label_hash);
}

uint32_t sx_memtable_next_label(const sx_memtable *memtable, uint32_t i)
{
	return memtable->node[i].next[BY_LABEL];
}

uint32_t sx_memtable_by_fp(const sx_memtable *memtable, uint64_t fp)
{
	return first_of(memtable, BY_FP, fp);
}

uint32_t sx_memtable_next_fp(const sx_memtable *memtable, uint32_t i)
{
	return memtable->node[i].next[BY_FP];
}

int sx_memtable_near(const sx_memtable *memtable, const sx_probes *probes, uint64_t query, unsigned k,
		 uint64_t end, sx_u64s *fps, uint64_t *candidates)
{
	return sx_memtable_buckets_near(memtable->lines, probes, query, k, end, fps, candidates);
}

void sx_memtable_hint(const sx_memtable *memtable, const sx_probes *probes)
{
	sx_memtable_buckets_hint(memtable->lines, probes);
}
