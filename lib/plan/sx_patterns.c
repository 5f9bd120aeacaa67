/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "plan/sx_patterns.h"

#include <stdlib.h>
#include <string.h>

#include "plan/sx_arith.h"
#include "plan/sx_coverage.h"
#include "util/sx_alloc.h"
#include "util/sx_bytes.h"

unsigned sx_weights_unit(const uint8_t weights[64], unsigned bits, uint64_t *ignore)
{
	unsigned unit = 0, b;

	*ignore = 0;
	for (b = 0; b < bits; b++) {
		if (!weights[b])
			*ignore |= (uint64_t)1 << b;
		else if (unit && weights[b] != unit)
			return 0;
		else
			unit = weights[b];
	}
	return unit ? unit : 1;
}

int sx_pattern_is_first(const sx_pattern_end *end, const uint8_t weights[64], unsigned table,
			uint64_t differ)
{
	uint64_t left;
	uint32_t number;
	unsigned t, i;
	int64_t cost;

	if (end->scan)
		return 1;
	for (t = 0; t < table; t++) {
		cost = 0;
		for (left = differ & end->probed[t]; left; left &= left - 1)
			cost += weights[__builtin_ctzll(left)];
		if (cost <= end->upto[t])
			return 0;
		if ((int)t != end->tied || cost != (int64_t)end->upto[t] + 1)
			continue;
		number = 0;
		left = differ & end->probed[t];
		for (i = 0; i < end->n_ranks; i++) {
			number |= (uint32_t)(differ >> end->rank[i] & 1) << i;
			left &= ~((uint64_t)1 << end->rank[i]);
		}
		/* Where a bit is left, it is dearer than all of the last pattern's. */
		if (!left && number <= end->last)
			return 0;
	}
	return 1;
}

int sx_pattern_rest(const sx_weighted *query, const sx_lightest *unprobed, uint64_t cost,
		    uint64_t flips)
{
	unsigned n = (unsigned)__builtin_popcountll(flips), rest;

	if (cost > query->radius || n > query->max_bits)
		return -1;
	rest = sx_lightest_within(unprobed, query->radius - (unsigned)cost);
	return (int)(rest < query->max_bits - n ? rest : query->max_bits - n);
}

/* ------------------------------------------------------------------------------------------
 * Patterns in the order of their costs. With the bits of a table sorted by weight, each pattern
 * whose dearest bit has rank m has two followers, neither cheaper nor lower in number: bit m + 1
 * flipped as well, or in place of bit m. Each pattern but the first, which flips nothing, is a
 * follower of exactly one; so a heap that begins with the first ones of all tables delivers all
 * patterns in order.
 *
 * A pattern is one number that sorts as it should: cost, table, number of the pattern.
 */

#define TABLE_SHIFT 32
#define COST_SHIFT 37 /* 5 bits for the table */

#define TAKEN UINT16_MAX /* above all keys */

/* The probed bits of one table. */
struct bits {
	unsigned n;          /* so many of them */
	uint64_t probed;     /* which they are of a fingerprint */
	sx_lightest others;
	unsigned sorted;     /* of which so many are in order: the cheapest */
	uint64_t value;      /* the query's */
	uint16_t key[SX_MAX_PREFIX_BITS];  /* by place in the probed bits, from the lowest: weight
	                                      * 32 + place, or TAKEN when it is in order */
	uint16_t rank[SX_MAX_PREFIX_BITS]; /* the keys in ascending order */
};

struct heap {
	size_t n;
	uint64_t *at;
};

static void sift_down(struct heap *heap, uint64_t x)
{
	size_t i = 0, child;

	while ((child = 2 * i + 1) < heap->n) {
		if (child + 1 < heap->n)
			child += heap->at[child + 1] < heap->at[child];
		if (heap->at[child] >= x)
			break;
		heap->at[i] = heap->at[child];
		i = child;
	}
	heap->at[i] = x;
}

static void push(struct heap *heap, uint64_t x)
{
	size_t i = heap->n++, parent;

	for (; i > 0 && heap->at[parent = (i - 1) / 2] > x; i = parent)
		heap->at[i] = heap->at[parent];
	heap->at[i] = x;
}

static void init_bits(const sx_perm *perm, const sx_weighted *query, struct bits *bits)
{
	unsigned low = sx_ignored_end(perm, query->weights, perm->prefix_bits), i;

	bits->n = perm->prefix_bits - low;
	bits->sorted = 0;
	bits->probed = sx_leading_mask(perm, bits->n);
	sx_lightest_init(&bits->others, query->by_weight, ~bits->probed, query->radius);
	bits->value = sx_lead_of(perm, query->fp, bits->n);
	for (i = 0; i < bits->n; i++)
		bits->key[i] = (uint16_t)((unsigned)query->weights[perm->source[low + i]] << 5 | i);
}

/* The weight of the bit of some rank, which is at most one more than was asked for before. */
static uint64_t weight_of(struct bits *bits, unsigned rank)
{
	unsigned least = TAKEN, i;

	if (rank == bits->sorted) {
		for (i = 0; i < bits->n; i++)
			least = bits->key[i] < least ? bits->key[i] : least;
		bits->key[least & 31] = TAKEN;
		bits->rank[bits->sorted++] = (uint16_t)least;
	}
	return bits->rank[rank] >> 5;
}

static void add_probe(const sx_plan *plan, const sx_weighted *query, const struct bits *bits,
		      uint64_t pattern, sx_probes *out)
{
	unsigned table = (unsigned)(pattern >> TABLE_SHIFT & 31);
	uint32_t number = (uint32_t)pattern;
	uint64_t flips = 0;

	for (; number; number &= number - 1)
		flips |= (uint64_t)1 << (bits[table].rank[__builtin_ctz(number)] & 31);
	sx_probes_add(out, plan, table, bits[table].value ^ flips, bits[table].n,
		      sx_pattern_rest(query, &bits[table].others, pattern >> COST_SHIFT, flips));
}

/* Take the first pattern out and put its followers in. */
static void advance(struct heap *heap, struct bits *bits)
{
	uint64_t first = heap->at[0], dearer;
	uint32_t number = (uint32_t)first;
	unsigned m;

	bits = &bits[first >> TABLE_SHIFT & 31];
	if (!number) {
		sift_down(heap, first + (weight_of(bits, 0) << COST_SHIFT) + 1);
		return;
	}
	m = 31 - (unsigned)__builtin_clz(number);
	if (m + 1 == bits->n) {
		sift_down(heap, heap->at[--heap->n]);
		return;
	}
	dearer = first + (weight_of(bits, m + 1) << COST_SHIFT);
	sift_down(heap, dearer - (weight_of(bits, m) << COST_SHIFT) + ((uint64_t)1 << m));
	push(heap, dearer + ((uint64_t)2 << m));
}

/* The cost of each table's cheapest pattern that was not probed: what is in the heap. */
static int64_t complete_to(const sx_plan *plan, const uint8_t weights[64],
			   const struct heap *heap, const sx_pattern_end *end)
{
	int64_t missed[SX_MAX_TABLES], cost;
	unsigned t;
	size_t i;

	for (t = 0; t < plan->n_tables; t++)
		missed[t] = SX_COMPLETE;
	for (i = 0; i < heap->n; i++) {
		t = (unsigned)(heap->at[i] >> TABLE_SHIFT & 31);
		cost = (int64_t)(heap->at[i] >> COST_SHIFT);
		if (cost < missed[t])
			missed[t] = cost;
	}
	return sx_coverage(missed, plan->n_tables,
			   sx_most_seen(end->probed, plan->n_tables, weights));
}

/* What was probed: all patterns up to `last`, or simply all. */
static void finish(const sx_plan *plan, const struct bits *bits, const struct heap *heap,
		   uint64_t last, const uint8_t weights[64], sx_pattern_end *end)
{
	int32_t cost = heap->n ? (int32_t)(last >> COST_SHIFT) : INT32_MAX;
	const sx_perm *perm;
	unsigned t, i;

	end->tied = heap->n ? (int)(last >> TABLE_SHIFT & 31) : -1;
	end->last = (uint32_t)last;
	for (t = 0; t < plan->n_tables; t++) {
		end->probed[t] = bits[t].probed;
		end->upto[t] = cost - (heap->n && (int)t >= end->tied);
	}
	end->complete_to = complete_to(plan, weights, heap, end);
	if (end->tied < 0)
		return;
	bits = &bits[end->tied];
	perm = &plan->table[end->tied];
	end->n_ranks = bits->sorted;
	for (i = 0; i < bits->sorted; i++)
		end->rank[i] = perm->source[perm->prefix_bits - bits->n +
					    (bits->rank[i] & 31u)];
}

int sx_pattern_probes(const sx_plan *plan, const sx_weighted *query, uint64_t most,
		      sx_probes *out, sx_pattern_end *end)
{
	struct bits bits[SX_MAX_TABLES];
	uint64_t last = 0, i;
	struct heap heap;
	unsigned t;

	if (most > SX_MAX_QUERY_PROBES)
		most = SX_MAX_QUERY_PROBES;
	memset(end, 0, sizeof(*end));
	/* Each step takes one pattern out and puts at most two in. */
	heap.at = sx_realloc(NULL, (size_t)most + plan->n_tables + 1, sizeof(*heap.at));
	if (!heap.at || sx_probes_reserve(out, (size_t)most)) {
		free(heap.at);
		return -1;
	}
	heap.n = plan->n_tables;
	for (t = 0; t < plan->n_tables; t++) {
		init_bits(&plan->table[t], query, &bits[t]);
		heap.at[t] = (uint64_t)t << TABLE_SHIFT;
	}
	for (i = 0; i < most && heap.n; i++) {
		last = heap.at[0];
		add_probe(plan, query, bits, last, out);
		advance(&heap, bits);
	}
	finish(plan, bits, &heap, last, query->weights, end);
	if (!most) {
		end->tied = -1;
		memset(end->upto, -1, sizeof(end->upto));
	}
	free(heap.at);
	return 0;
}
