/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "fresh/sx_memtable.h"

#include <stdlib.h>

#include "fresh/sx_memtable_buckets.h"
#include "util/sx_alloc.h"
#include "util/sx_hash.h"

#define KEYS 3
#define KEY_SHIFT 30 /* of the key in a link; the row's number is below */
#define MAX_ROWS ((uint32_t)1 << KEY_SHIFT)
#define FIRST_SLOTS 256
#define MOVES_A_ROW (4 * KEYS) /* half as many would have all slots moved in time */

struct node {
	sx_fresh_row row;
	uint32_t older[KEYS];        /* row, by enum sx_memtable_key - 1 */
	uint32_t live[KEYS - 1]; /* see sx_memtable_live(); not by id */
};

/*
 * A slot has a link to the newest row of a chain: the key and the number of the row. FREE ends the
 * search for a value, GONE does not: in the old table, what was there has moved or was dropped.
 * The hash of the value saves reading rows, each of which lies in a place of its own.
 */
struct slot {
	uint32_t hash, link;
};

#define FREE 0u
#define GONE 1u

/*
 * Rows with an equal value of a key form a chain, the newest first; one open-addressing table
 * leads to all chains. When it grows, what is in the old one moves a few slots a row, so that no
 * row has to wait for all.
 */
struct sx_memtable {
	uint64_t base;
	struct node *node;
	size_t n, cap;
	struct slot *slot, *old; /* old is NULL when everything has moved */
	size_t mask, old_mask;   /* number of slots - 1 */
	size_t moved;            /* slots of the old table that have moved */
	size_t used;             /* chains */
	sx_memtable_buckets *buckets; /* the distinct fingerprints */
};

static uint64_t value_of(const sx_fresh_row *row, unsigned key)
{
	return key == SX_BY_FP ? row->fp : key == SX_BY_ID ? row->id : row->label_hash;
}

/* Rows without an id or a label are in no such chain. */
static int has_value(const sx_fresh_row *row, unsigned key)
{
	return key == SX_BY_FP || (key == SX_BY_ID && row->id != SIMIDX_NO_ID) ||
	       (key == SX_BY_LABEL && row->op & SX_FRESH_LABEL);
}

static uint32_t row_of(uint32_t link)
{
	return link & (MAX_ROWS - 1);
}

static uint32_t hash_of(unsigned key, uint64_t value)
{
	return (uint32_t)(sx_hash_u64(value + key) >> 32);
}

/* By the leading bits, so that slots that move go to places that follow one another. */
static size_t home_of(uint32_t hash, size_t mask)
{
	return (size_t)((uint64_t)hash * ((uint64_t)mask + 1) >> 32);
}

/* The slot of a value in one of the two tables, or the free one where it belongs. */
static struct slot *find_in(const sx_memtable *memtable, struct slot *slot, size_t mask,
			    unsigned key, uint64_t value, uint32_t hash)
{
	size_t i = home_of(hash, mask);

	for (;; i = (i + 1) & mask)
		if (slot[i].link == FREE ||
		    (slot[i].hash == hash && slot[i].link >> KEY_SHIFT == key &&
		     value_of(&memtable->node[row_of(slot[i].link)].row, key) == value))
			return &slot[i];
}

/* The slot of a value, or the free one where it belongs. */
static struct slot *find(const sx_memtable *memtable, unsigned key, uint64_t value)
{
	uint32_t hash = hash_of(key, value);
	struct slot *slot = find_in(memtable, memtable->slot, memtable->mask, key, value, hash);
	struct slot *old;

	if (slot->link != FREE || !memtable->old)
		return slot;
	old = find_in(memtable, memtable->old, memtable->old_mask, key, value, hash);
	return old->link != FREE ? old : slot;
}

/* The free slot for a value that is not in the table in use. */
static struct slot *free_from(const sx_memtable *memtable, uint32_t hash)
{
	size_t i = home_of(hash, memtable->mask);

	while (memtable->slot[i].link != FREE)
		i = (i + 1) & memtable->mask;
	return &memtable->slot[i];
}

/* Move the next n slots of the old table. */
static void move_slots(sx_memtable *memtable, size_t n)
{
	for (; memtable->old && n; n--) {
		struct slot *slot = &memtable->old[memtable->moved];

		if (slot->link >> KEY_SHIFT) {
			*free_from(memtable, slot->hash) = *slot;
			slot->link = GONE;
		}
		if (memtable->moved++ == memtable->old_mask) {
			free(memtable->old);
			memtable->old = NULL;
		}
	}
}

/* Empty a slot of the table in use. Those after it that would no longer be found move up. */
static void free_slot(sx_memtable *memtable, size_t i)
{
	size_t mask = memtable->mask, j = i;

	for (;;) {
		struct slot slot;

		j = (j + 1) & mask;
		slot = memtable->slot[j];
		if (slot.link == FREE)
			break;
		if (((j - home_of(slot.hash, mask)) & mask) < ((j - i) & mask))
			continue; /* it belongs after the slot that becomes free */
		memtable->slot[i] = slot;
		i = j;
	}
	memtable->slot[i].link = FREE;
}

/* Have slots for a row. At least half of them stay free. */
static int reserve_slots(sx_memtable *memtable)
{
	struct slot *slot;

	move_slots(memtable, MOVES_A_ROW);
	if (2 * (memtable->used + KEYS) <= memtable->mask)
		return 0;
	move_slots(memtable, SIZE_MAX);
	slot = sx_calloc(2 * (memtable->mask + 1), sizeof(*slot));
	if (!slot)
		return -1;
	memtable->old = memtable->slot;
	memtable->old_mask = memtable->mask;
	memtable->moved = 0;
	memtable->slot = slot;
	memtable->mask = 2 * memtable->mask + 1;
	return 0;
}

sx_memtable *sx_memtable_new(unsigned bits, uint64_t base, const sx_kernel *kernel)
{
	sx_memtable *memtable = sx_calloc(1, sizeof(*memtable));

	if (!memtable)
		return NULL;
	memtable->base = base;
	memtable->mask = FIRST_SLOTS - 1;
	memtable->slot = sx_calloc(FIRST_SLOTS, sizeof(*memtable->slot));
	memtable->buckets = sx_memtable_buckets_new(bits, kernel);
	if (memtable->slot && memtable->buckets)
		return memtable;
	sx_memtable_free(memtable);
	return NULL;
}

void sx_memtable_free(sx_memtable *memtable)
{
	if (!memtable)
		return;
	free(memtable->slot);
	free(memtable->old);
	sx_memtable_buckets_free(memtable->buckets);
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

/* Which row still stands when row n comes after row `older`. */
static uint32_t find_live(const sx_memtable *memtable, unsigned key, uint32_t n, uint32_t older)
{
	const sx_fresh_row *row = &memtable->node[n].row;
	uint32_t at = sx_memtable_live(memtable, key, older);
	const struct node *put;

	if (!sx_fresh_is_delete(row) || at == SX_MEMTABLE_NONE)
		return n;
	put = &memtable->node[at];
	return sx_fresh_is_delete(&put->row) || put->row.id != row->id
		       ? n
		       : sx_memtable_live(memtable, key, put->older[key - 1]);
}

/* Have the CPU fetch the slot of a value, in both tables. */
static void prefetch_slot(const sx_memtable *memtable, unsigned key, uint64_t value)
{
	uint32_t hash = hash_of(key, value);

	__builtin_prefetch(&memtable->slot[home_of(hash, memtable->mask)], 1);
	if (memtable->old)
		__builtin_prefetch(&memtable->old[home_of(hash, memtable->old_mask)]);
}

void sx_memtable_prefetch_fp(const sx_memtable *memtable, uint64_t fp)
{
	prefetch_slot(memtable, SX_BY_FP, fp);
	sx_memtable_buckets_prefetch_add(memtable->buckets, fp);
}

/* Have the CPU fetch, all at once, what adding a row reads in many places. */
static void prefetch_for(const sx_memtable *memtable, const sx_fresh_row *row)
{
	for (unsigned key = SX_BY_LABEL; key <= SX_BY_ID; key++)
		if (has_value(row, key))
			prefetch_slot(memtable, key, value_of(row, key));
	sx_memtable_prefetch_fp(memtable, row->fp);
}

int sx_memtable_add(sx_memtable *memtable, const sx_fresh_row *row)
{
	uint32_t n = (uint32_t)memtable->n;
	struct node *node;

	prefetch_for(memtable, row);
	/* All that can fail comes before anything that shows. */
	if (n == MAX_ROWS || reserve_slots(memtable) ||
	    sx_reserve(&memtable->node, &memtable->cap, (size_t)n + 1, sizeof(*node)))
		return -1;
	if (find(memtable, SX_BY_FP, row->fp)->link == FREE &&
	    sx_memtable_buckets_add(memtable->buckets, row->fp))
		return -1;
	node = &memtable->node[n];
	node->row = *row;
	memtable->n++;
	for (unsigned key = SX_BY_FP; key <= SX_BY_ID; key++) {
		uint32_t older = SX_MEMTABLE_NONE;
		struct slot *slot;

		if (!has_value(row, key))
			continue;
		slot = find(memtable, key, value_of(row, key));
		if (slot->link == FREE)
			memtable->used++;
		else
			older = row_of(slot->link);
		node->older[key - 1] = older;
		if (key != SX_BY_ID)
			node->live[key - 1] = find_live(memtable, key, n, older);
		*slot = (struct slot){ hash_of(key, value_of(row, key)), key << KEY_SHIFT | n };
	}
	return 0;
}

/* Take the newest row out of its chains. */
static void drop_last(sx_memtable *memtable)
{
	const struct node *node = &memtable->node[memtable->n - 1];

	for (unsigned key = SX_BY_FP; key <= SX_BY_ID; key++) {
		struct slot *slot;

		if (!has_value(&node->row, key))
			continue;
		slot = find(memtable, key, value_of(&node->row, key));
		if (node->older[key - 1] != SX_MEMTABLE_NONE) {
			slot->link = key << KEY_SHIFT | node->older[key - 1];
			continue;
		}
		memtable->used--;
		if (slot >= memtable->slot && slot <= memtable->slot + memtable->mask)
			free_slot(memtable, (size_t)(slot - memtable->slot));
		else
			slot->link = GONE;
		if (key == SX_BY_FP)
			sx_memtable_buckets_drop_last(memtable->buckets);
	}
	memtable->n--;
}

void sx_memtable_drop(sx_memtable *memtable, size_t n)
{
	for (; n && memtable->n; n--)
		drop_last(memtable);
}

const sx_fresh_row *sx_memtable_row(const sx_memtable *memtable, uint32_t i)
{
	return &memtable->node[i].row;
}

uint32_t sx_memtable_newest(const sx_memtable *memtable, enum sx_memtable_key key, uint64_t value)
{
	uint32_t link = find(memtable, key, value)->link;

	return link ? row_of(link) : SX_MEMTABLE_NONE;
}

uint32_t sx_memtable_older(const sx_memtable *memtable, enum sx_memtable_key key, uint32_t i)
{
	return memtable->node[i].older[key - 1];
}

uint32_t sx_memtable_live(const sx_memtable *memtable, enum sx_memtable_key key, uint32_t i)
{
	return i == SX_MEMTABLE_NONE ? i : memtable->node[i].live[key - 1];
}

int sx_memtable_near(const sx_memtable *memtable, const sx_fresh_query *query, sx_u64s *fps,
		     uint64_t *candidates)
{
	return sx_memtable_buckets_near(memtable->buckets, query, fps, candidates);
}

void sx_memtable_prefetch(const sx_memtable *memtable, const sx_probes *probes)
{
	sx_memtable_buckets_prefetch(memtable->buckets, probes);
}
