/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "plan/sx_patterns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/sx_alloc.h"

/* ------------------------------------------------------------------------------------------
 * One pattern
 */

int sx_patterns_is_first(const sx_patterns_end *end, const uint8_t weights[64], unsigned table,
			 uint64_t differ)
{
	if (end->scan)
		return 1;
	for (unsigned t = 0; t < table; t++) {
		uint64_t left = differ & end->probed[t];
		uint32_t number = 0;
		int64_t cost = 0;

		for (; left; left &= left - 1)
			cost += weights[__builtin_ctzll(left)];
		if (cost <= end->upto[t])
			return 0;
		if ((int)t != end->tied || cost != (int64_t)end->upto[t] + 1)
			continue;
		left = differ & end->probed[t];
		for (unsigned i = 0; i < end->n_ranks; i++) {
			number |= (uint32_t)(differ >> end->rank[i] & 1) << i;
			left &= ~((uint64_t)1 << end->rank[i]);
		}
		/* Where a bit is left, it is dearer than all of the last pattern's. */
		if (!left && number <= end->last)
			return 0;
	}
	return 1;
}

/* probe.rest of a pattern; `others`: of the bits that are not probed of its table. */
static int rest_of(const sx_weighted *query, const sx_lightest *others, uint64_t cost,
		   uint64_t flips)
{
	unsigned n = (unsigned)__builtin_popcountll(flips), rest;

	if (cost > query->radius || n > query->max_bits)
		return -1;
	rest = sx_weights_within(others, query->radius - (unsigned)cost);
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
	unsigned n;
	uint64_t probed;     /* which they are of a fingerprint */
	uint64_t value;      /* the query's */
	sx_lightest others;
	uint16_t key[SX_MAX_PREFIX_BITS];  /* by place in the probed bits, from the lowest: weight
	                                      * 32 + place, or TAKEN when it is in order */
	unsigned sorted;     /* how many of them are in order: the cheapest */
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
	unsigned low = sx_weights_ignored_end(perm, query->weights, perm->prefix_bits);

	bits->n = perm->prefix_bits - low;
	bits->sorted = 0;
	bits->probed = sx_perm_leading_mask(perm, bits->n);
	bits->value = sx_perm_lead(perm, query->fp, bits->n);
	sx_weights_lightest(&bits->others, query->by_weight, ~bits->probed, query->radius);
	for (unsigned i = 0; i < bits->n; i++)
		bits->key[i] = (uint16_t)((unsigned)query->weights[perm->source[low + i]] << 5 | i);
}

/* The weight of the bit of some rank, which is at most one more than was asked for before. */
static uint64_t weight_of(struct bits *bits, unsigned rank)
{
	unsigned least = TAKEN;

	if (rank == bits->sorted) {
		for (unsigned i = 0; i < bits->n; i++)
			least = bits->key[i] < least ? bits->key[i] : least;
		bits->key[least & 31] = TAKEN;
		bits->rank[bits->sorted++] = (uint16_t)least;
	}
	return bits->rank[rank] >> 5;
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

/* What was probed: all patterns up to `last`, or simply all. */
static void finish(const sx_plan *plan, const struct bits *bits, const struct heap *heap,
		   uint64_t last, const uint8_t weights[64], sx_patterns_end *end)
{
	int32_t cost = heap->n ? (int32_t)(last >> COST_SHIFT) : INT32_MAX;
	int64_t missed[SX_MAX_TABLES];
	const sx_perm *perm;

	end->tied = heap->n ? (int)(last >> TABLE_SHIFT & 31) : -1;
	end->last = (uint32_t)last;
	for (unsigned t = 0; t < plan->n_tables; t++) {
		end->probed[t] = bits[t].probed;
		end->upto[t] = cost - (heap->n && (int)t >= end->tied);
		missed[t] = SX_COMPLETE;
	}
	/* The cheapest pattern of a table that was not probed is in the heap. */
	for (size_t i = 0; i < heap->n; i++) {
		unsigned t = (unsigned)(heap->at[i] >> TABLE_SHIFT & 31);
		int64_t here = (int64_t)(heap->at[i] >> COST_SHIFT);

		if (here < missed[t])
			missed[t] = here;
	}
	end->complete_to = sx_weights_complete_to(
		missed, plan->n_tables,
		sx_weights_max_seen(end->probed, plan->n_tables, weights));
	if (end->tied < 0)
		return;
	bits = &bits[end->tied];
	perm = &plan->table[end->tied];
	end->n_ranks = bits->sorted;
	for (unsigned i = 0; i < bits->sorted; i++)
		end->rank[i] = perm->source[perm->prefix_bits - bits->n + (bits->rank[i] & 31u)];
}

int sx_patterns_cheapest(const sx_plan *plan, const sx_weighted *query, uint64_t max,
			 sx_probes *out, sx_patterns_end *end)
{
	struct bits bits[SX_MAX_TABLES];
	uint64_t last = 0;
	struct heap heap;

	if (max > SX_MAX_QUERY_PROBES)
		max = SX_MAX_QUERY_PROBES;
	memset(end, 0, sizeof(*end));
	/* Each step takes one pattern out and puts at most two in. */
	heap.at = sx_realloc(NULL, (size_t)max + plan->n_tables + 1, sizeof(*heap.at));
	if (!heap.at || sx_probes_reserve(out, (size_t)max)) {
		free(heap.at);
		return -1;
	}
	heap.n = plan->n_tables;
	for (unsigned t = 0; t < plan->n_tables; t++) {
		init_bits(&plan->table[t], query, &bits[t]);
		heap.at[t] = (uint64_t)t << TABLE_SHIFT;
	}
	for (uint64_t i = 0; i < max && heap.n; i++) {
		const struct bits *b;
		uint64_t flips = 0;
		unsigned t;

		last = heap.at[0];
		t = (unsigned)(last >> TABLE_SHIFT & 31);
		b = &bits[t];
		for (uint32_t left = (uint32_t)last; left; left &= left - 1)
			flips |= (uint64_t)1 << (b->rank[__builtin_ctz(left)] & 31);
		sx_probes_add(out, plan, t, b->value ^ flips, b->n,
			      rest_of(query, &b->others, last >> COST_SHIFT, flips));
		advance(&heap, bits);
	}
	finish(plan, bits, &heap, last, query->weights, end);
	if (!max) {
		end->tied = -1;
		memset(end->upto, -1, sizeof(end->upto));
	}
	free(heap.at);
	return 0;
}

/* ------------------------------------------------------------------------------------------
 * Completeness up to a distance R: a limit for each table, up to which all its patterns are
 * probed, such that sum (limit + 1) > d * R, where no bit is probed in more than d tables.
 */

/* What is asked. */
struct task {
	const sx_plan *plan;
	const sx_weighted *query;
	uint32_t distance;
	const sx_costs *costs;
	double rows;
	double max_ns; /* a scan takes this: what takes longer need not be found */
};

/* The limit of one table. */
struct limit {
	unsigned table;
	unsigned n;    /* leading bits probed */
	int32_t max;   /* the highest limit that comes into question; -1 = leave the table out */
	int32_t at;    /* -1 = no probes */
	int32_t step;  /* the limit that is cheapest to go to from this one; the same = not known */
	double slope;  /* ns for each unit gained by that; HUGE_VAL = there is none */
	double probe_ns;
	double *probes; /* by limit + 1: that all patterns up to it take */
	uint16_t sorted[SX_MAX_PREFIX_BITS]; /* the probed bits, the lightest first: weight * 32 +
	                                        place */
};

/* The tables that are probed together, by whole prefixes or by disjoint first leads. */
struct table_set {
	unsigned n;
	unsigned max_seen; /* no bit is probed in more tables */
	size_t n_limits;   /* to choose from */
	double ns, probes;
	uint64_t probed[SX_MAX_TABLES]; /* by index in `of` */
	struct limit of[SX_MAX_TABLES];
	double *memory;
};

static int compare_u16(const void *a, const void *b)
{
	return *(const uint16_t *)a - *(const uint16_t *)b;
}

/*
 * How many leading bits to probe, `width` at most: a bit less halves the patterns that flip it
 * and doubles the rows of a probe, which does not pay once reading them takes as long as the
 * rest of the probe.
 */
static unsigned choose_bits(const struct task *task, const sx_perm *perm, unsigned width)
{
	double row = sx_costs_probes(task->costs, 0, 0, 1);
	double probe = sx_costs_probes(task->costs, 0, 1, 0);
	unsigned n = width;

	while (n > 1 && !task->costs->whole_prefixes &&
	       task->rows / (double)((uint64_t)1 << (n - 1)) * row < probe / 4)
		n--;
	/* Among bits without weight at the end, none needs to be flipped. */
	return n - sx_weights_ignored_end(perm, task->query->weights, n);
}

/*
 * A limit up to which there are more than `patterns` of them, if there is one: up to the sum of
 * the m dearest of the j lightest bits cost all patterns that flip at most m of these j.
 */
static int32_t enough_patterns(const uint16_t *sorted, unsigned n, double patterns)
{
	int32_t least = INT32_MAX;

	for (unsigned j = 1; j <= n; j++) {
		double ways = 1, all = 1;
		int32_t sum = 0;

		for (unsigned m = 1; m <= j && all <= patterns; m++) {
			ways = ways * (j + 1 - m) / m;
			all += ways;
			sum += sorted[j - m] >> 5;
		}
		if (all > patterns && sum < least)
			least = sum;
	}
	return least;
}

/*
 * Sort the probed bits, and find the highest limit that comes into question: all patterns would be
 * the whole table, none beyond the distance is needed, and those that take longer than a scan, or
 * are too many, will not be chosen.
 */
static void init_limit(const struct task *task, unsigned table, unsigned width, struct limit *l)
{
	const sx_perm *perm = &task->plan->table[table];
	int32_t sum = 0, dear;
	double patterns;
	unsigned low;

	l->table = table;
	l->n = choose_bits(task, perm, width);
	l->at = l->step = -1;
	l->probe_ns = sx_costs_probes(task->costs, 0, 1,
				      task->rows / (double)((uint64_t)1 << l->n));
	low = perm->prefix_bits - l->n;
	for (unsigned i = 0; i < l->n; i++) {
		unsigned weight = task->query->weights[perm->source[low + i]];

		l->sorted[i] = (uint16_t)(weight << 5 | i);
		sum += (int32_t)weight;
	}
	qsort(l->sorted, l->n, sizeof(*l->sorted), compare_u16);
	patterns = task->max_ns / l->probe_ns;
	if (patterns > (double)SX_MAX_QUERY_PROBES)
		patterns = (double)SX_MAX_QUERY_PROBES;
	dear = enough_patterns(l->sorted, l->n, patterns);
	l->max = sum < dear ? sum - 1 : dear - 1;
	if (l->max > (int32_t)task->distance)
		l->max = (int32_t)task->distance;
}

/* How many patterns cost at most c, for each c: sums of subsets of the weights. */
static void count_patterns(struct limit *l, double *room)
{
	double *of = room + 1; /* by cost */

	l->probes = room;
	for (int32_t c = -1; c <= l->max; c++)
		of[c] = c == 0;
	for (unsigned i = 0; i < l->n; i++) {
		int32_t weight = l->sorted[i] >> 5;

		for (int32_t c = l->max; c >= weight; c--)
			of[c] += of[c - weight];
	}
	for (int32_t c = 1; c <= l->max; c++)
		of[c] += of[c - 1];
}

static int init_set(const struct task *task, int first_leads, struct table_set *set)
{
	uint64_t lead_seen = 0;
	double *room;

	memset(set, 0, sizeof(*set));
	for (unsigned t = 0; t < task->plan->n_tables; t++) {
		const sx_perm *perm = &task->plan->table[t];
		struct limit *l = &set->of[set->n];

		if (first_leads && (lead_seen & perm->lead[0]))
			continue;
		lead_seen |= perm->lead[0];
		init_limit(task, t, first_leads ? perm->lead_bits[0] : perm->prefix_bits, l);
		set->n_limits += (size_t)(l->max + 1);
		set->probed[set->n++] = sx_perm_leading_mask(perm, l->n);
	}
	room = set->memory = sx_realloc(NULL, set->n_limits + set->n, sizeof(*room));
	if (!room)
		return -1;
	for (unsigned i = 0; i < set->n; i++) {
		count_patterns(&set->of[i], room);
		room += set->of[i].max + 2;
	}
	set->max_seen = sx_weights_max_seen(set->probed, set->n, task->query->weights);
	return 0;
}

/* Find the step up of one table that takes least for each unit gained; at most `need` are. */
static void find_step(struct limit *l, int64_t need)
{
	l->slope = HUGE_VAL;
	for (int32_t to = l->at + 1; to <= l->max && to - l->at <= need; to++) {
		double slope = (l->probes[to + 1] - l->probes[l->at + 1]) * l->probe_ns /
			       (to - l->at);

		if (slope <= l->slope) {
			l->slope = slope;
			l->step = to;
		}
	}
}

/*
 * Raise the limits along their cheapest steps. Returns 0 when they do not suffice, or take as long
 * as a scan.
 */
static int choose_limits(const struct task *task, struct table_set *set)
{
	int64_t need = (int64_t)task->distance * set->max_seen + 1;
	double ns = 0;

	if (need > (int64_t)set->n_limits)
		return 0;
	while (need > 0) {
		struct limit *chosen = &set->of[0];

		for (unsigned i = 0; i < set->n; i++) {
			struct limit *l = &set->of[i];

			if (l->step == l->at || l->step - l->at > need)
				find_step(l, need);
			if (l->slope < chosen->slope)
				chosen = l;
		}
		if (!(chosen->slope < HUGE_VAL))
			return 0;
		ns += chosen->slope * (chosen->step - chosen->at);
		if (ns >= task->max_ns)
			return 0;
		need -= chosen->step - chosen->at;
		chosen->at = chosen->step;
	}
	for (unsigned i = 0; i < set->n; i++) {
		const struct limit *l = &set->of[i];

		set->probes += l->probes[l->at + 1];
		set->ns += l->probes[l->at + 1] * l->probe_ns;
	}
	return set->probes <= (double)SX_MAX_QUERY_PROBES;
}

/* All ways to flip some of a table's bits that cost little enough. */
struct walk {
	const struct task *task;
	const struct limit *limit;
	uint64_t value;       /* the query's probed bits */
	sx_lightest others;   /* of the bits that are not probed */
	sx_probes *out;
};

static void add_patterns(const struct walk *walk, uint64_t flips, unsigned from, int32_t cost)
{
	const struct limit *l = walk->limit;

	sx_probes_add(walk->out, walk->task->plan, l->table, walk->value ^ flips, l->n,
		      rest_of(walk->task->query, &walk->others, (uint64_t)cost, flips));
	for (unsigned i = from; i < l->n && cost + (l->sorted[i] >> 5) <= l->at; i++)
		add_patterns(walk, flips ^ (uint64_t)1 << (l->sorted[i] & 31), i + 1,
			     cost + (l->sorted[i] >> 5));
}

static int probe_set(const struct task *task, const struct table_set *set, sx_probes *out,
		     sx_patterns_end *end)
{
	const sx_weighted *query = task->query;
	struct walk walk = { .task = task, .out = out };
	int64_t missed[SX_MAX_TABLES];

	if (sx_probes_reserve(out, (size_t)set->probes))
		return -1;
	memset(end, 0, sizeof(*end));
	memset(end->upto, -1, sizeof(end->upto));
	end->tied = -1;
	for (unsigned i = 0; i < set->n; i++) {
		const struct limit *l = walk.limit = &set->of[i];
		int32_t c = l->at + 1;

		/* The cost of the cheapest pattern above the limit, as far as it is known. */
		while (c <= l->max && l->probes[c + 1] == l->probes[l->at + 1])
			c++;
		missed[i] = c;
		if (l->at < 0)
			continue;
		end->probed[l->table] = set->probed[i];
		end->upto[l->table] = l->at;
		walk.value = sx_perm_lead(&task->plan->table[l->table], query->fp, l->n);
		sx_weights_lightest(&walk.others, query->by_weight, ~set->probed[i],
				    query->radius);
		add_patterns(&walk, 0, 0, 0);
	}
	end->complete_to = sx_weights_complete_to(missed, set->n, set->max_seen);
	return 0;
}

int sx_patterns_scan(const sx_plan *plan, const sx_weighted *query, sx_probes *out,
		     sx_patterns_end *end)
{
	sx_lightest all;

	if (sx_probes_reserve(out, 1))
		return -1;
	memset(end, 0, sizeof(*end));
	sx_weights_lightest(&all, query->by_weight, UINT64_MAX, query->radius);
	sx_probes_add(out, plan, 0, 0, 0, rest_of(query, &all, 0, 0));
	end->scan = 1;
	end->tied = -1;
	end->complete_to = SX_COMPLETE;
	return 0;
}

int sx_patterns_complete(const sx_plan *plan, const sx_weighted *query, uint32_t distance,
			 const sx_costs *costs, uint64_t rows, sx_probes *out,
			 sx_patterns_end *end)
{
	struct task task = { plan, query, distance, costs, (double)rows,
			     sx_costs_scan(costs, rows) - costs->query };
	struct table_set set[2];
	size_t n_limits = 0;
	int chosen = -1, rc = 0;

	/* No sum of weights is larger: this asks for everything. */
	if (distance >= 64 * UINT8_MAX)
		return sx_patterns_scan(plan, query, out, end);
	set[0].memory = set[1].memory = NULL;
	for (int first_leads = plan->table[0].n_leads > 1 && !costs->whole_prefixes;
	     first_leads >= 0 && !rc; first_leads--) {
		rc = init_set(&task, first_leads, &set[first_leads]);
		n_limits += set[first_leads].n_limits;
		if (rc || !choose_limits(&task, &set[first_leads]))
			continue;
		task.max_ns = set[first_leads].ns;
		chosen = first_leads;
	}
	if (!rc)
		rc = chosen < 0 ? sx_patterns_scan(plan, query, out, end)
				: probe_set(&task, &set[chosen], out, end);
	end->n_limits = n_limits;
	free(set[0].memory);
	free(set[1].memory);
	return rc;
}
