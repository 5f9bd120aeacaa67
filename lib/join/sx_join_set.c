/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "join/sx_join_set.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/sx_bits.h"
#include "util/sx_alloc.h"
#include "util/sx_bytes.h"
#include "util/sx_u64s.h"

#define MAX_DEPTH 5         /* of sets within sets */
#define MAX_WIDTH 12        /* of a sub-block: that many counters stay in the nearest cache */
#define SPLIT_ABOVE 192     /* entries: larger groups are sets of their own */
#define PAIRS_AT_ONCE 2048
#define NEAR_AT_ONCE 512    /* hits of neighbours; at least SX_NEAR_AFTER_ROOM of any reach */
#define PAUSE_AFTER (1u << 26) /* comparisons */
#define SIZE_CLASSES 128    /* half powers of two */

/* Nanoseconds, measured with AVX-512 on 64 bits. */
#define COST_GROUPED 2.0    /* to bring an entry into its group, and compare it with its
                               neighbours */
#define COST_IN_ORDER 0.8   /* only to compare it */
#define COST_COUNTER 0.15
#define COST_PASS 20.0

#define MAX_MUST (SX_JOIN_MAX_MUST + SX_JOIN_MAX_PARTS * (MAX_DEPTH + 1))

/* How a set is split: by which sub-blocks, the first one perhaps in the order that is there. */
struct split {
	unsigned n; /* 0 = not at all: all entries are compared with each other */
	unsigned width;
	unsigned shift[SX_JOIN_MAX_PARTS];
	int first_is_in_order;
	int is_empty; /* no pair can be reported */
	double cost;
};

/* A set, and what its pairs are like. */
struct set {
	const uint64_t *v;
	size_t n;
	uint64_t agreed;
	uint64_t must[MAX_MUST];
	unsigned n_must;
};

struct sx_joiner {
	const sx_kernel *kernel;
	double cost_pair;
	sx_join_tuning tuning;
	sx_join_sink sink;
	sx_join_constraint constraint;
	struct split split[SIZE_CLASSES]; /* of the sets that are not within others; by size */
	uint8_t has_split[SIZE_CLASSES];
	struct set set[MAX_DEPTH + 1];    /* the one at hand, and those that it is within */
	uint64_t *grouped[MAX_DEPTH + 1]; /* its entries, grouped */
	size_t grouped_cap[MAX_DEPTH + 1];
	uint32_t count[1 << MAX_WIDTH];
	uint32_t *hits;
	size_t hits_cap;
	const uint8_t *inputs; /* of the entries of set[0] */
	uint64_t near[NEAR_AT_ONCE];
	uint64_t padding[SX_JOIN_PADDING]; /* entries that are near to none: compared, and passed */
	uint64_t pair[2 * PAIRS_AT_ONCE];
	size_t n_pairs;
	uint64_t compared; /* since the last pause */
	int rc;
};

static double cost_of_pair(const sx_kernel *kernel)
{
	if (!strcmp(kernel->name, "avx512"))
		return 0.2;
	return strcmp(kernel->name, "avx2") ? 0.9 : 0.45;
}

sx_joiner *sx_joiner_new(const sx_kernel *kernel, const sx_join_tuning *tuning,
			 const sx_join_sink *sink)
{
	sx_joiner *j = sx_calloc(1, sizeof(*j));

	if (!j)
		return NULL;
	j->kernel = kernel;
	j->cost_pair = cost_of_pair(kernel);
	j->sink = *sink;
	j->tuning = *tuning;
	for (unsigned i = 0; i < SX_JOIN_PADDING; i++)
		j->padding[i] = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
	return j;
}

void sx_joiner_free(sx_joiner *j)
{
	if (!j)
		return;
	for (unsigned d = 0; d <= MAX_DEPTH; d++)
		free(j->grouped[d]);
	free(j->hits);
	free(j);
}

void sx_joiner_begin(sx_joiner *j, const sx_join_constraint *constraint)
{
	j->constraint = *constraint;
	memset(j->has_split, 0, sizeof(j->has_split));
}

/* ---- the planner ---- */

/* The narrowest mask first; of equals the lowest, as entries are in order by the highest bits. */
static int comes_after(uint64_t a, uint64_t b)
{
	unsigned x = sx_count_plain(a), y = sx_count_plain(b);

	return x != y ? x > y : a > b;
}

/*
 * Masks of which each takes an error of its own, the narrowest first: masks with a common bit may
 * be satisfied by the same error, so of these one counts. Returns how many, or -1 if there is a
 * mask in which no bit can differ.
 */
static int disjoint_masks(const uint64_t *must, unsigned n_must, uint64_t free_bits, uint64_t *out)
{
	uint64_t mask[MAX_MUST], taken = 0;
	unsigned n = 0, i;

	for (unsigned m = 0; m < n_must; m++) {
		uint64_t x = must[m] & free_bits;

		if (!x)
			return -1;
		for (i = m; i && comes_after(mask[i - 1], x); i--)
			mask[i] = mask[i - 1];
		mask[i] = x;
	}
	for (unsigned m = 0; m < n_must; m++) {
		if (mask[m] & taken)
			continue;
		taken |= mask[m];
		out[n++] = mask[m];
	}
	return (int)n;
}

/* Cut `n` sub-blocks of neighbouring bits from a region, the highest first. 0 or -1. */
static int cut(uint64_t region, unsigned width, unsigned n, unsigned *shift)
{
	unsigned found = 0, run = 0;

	for (int bit = 63; bit >= 0 && found < n; bit--) {
		run = region >> bit & 1 ? run + 1 : 0;
		if (run == width) {
			shift[found++] = (unsigned)bit;
			run = 0;
		}
	}
	return found == n ? 0 : -1;
}

static uint64_t sub_block(const struct split *s, unsigned i)
{
	return sx_low_bits(s->width) << s->shift[i];
}

/* Entries ascend, so they are grouped by the highest bits that are not agreed. */
static int is_in_order(uint64_t free_bits, uint64_t mask)
{
	return (free_bits & ~mask) < (mask & -mask);
}

static double cost_of(const struct split *s, size_t n, double cost_pair)
{
	double size = (double)n, counters = (double)(1u << s->width);
	double grouped = size * COST_GROUPED + COST_COUNTER * counters + COST_PASS;
	double all = s->n * (grouped + size * size / counters / 2 * cost_pair);

	return s->first_is_in_order ? all - grouped + size * COST_IN_ORDER : all;
}

/* How to split sets of n entries that are like this one. */
static struct split choose_split(const struct set *set, size_t n,
				 const sx_join_constraint *constraint,
				 double cost_pair, const sx_join_tuning *tuning)
{
	uint64_t free_bits = sx_low_bits(constraint->bits) & ~set->agreed, region = free_bits;
	uint64_t mask[MAX_MUST];
	int n_masks = disjoint_masks(set->must, set->n_must, free_bits, mask);
	double size = (double)n;
	struct split best = { .cost = size * size / 2 * cost_pair + 0.3 * size };
	unsigned most = tuning->width && tuning->width < MAX_WIDTH ? tuning->width : MAX_WIDTH;

	if (n_masks < 0 || (unsigned)n_masks > constraint->k) {
		best.is_empty = 1;
		return best;
	}
	if (n < tuning->compare_below)
		return best;
	if (tuning->compare_below || tuning->width)
		best.cost = 1e300;
	/* Leave none of the masks out of the region, then one, ... */
	for (unsigned out = 0; out <= (unsigned)n_masks; out++) {
		struct split s = { .n = constraint->k - out + 1 };

		if (out)
			region &= ~mask[out - 1];
		for (s.width = 1; s.width <= most; s.width++) {
			if (cut(region, s.width, s.n, s.shift))
				break;
			s.first_is_in_order = is_in_order(free_bits, sub_block(&s, 0));
			s.cost = cost_of(&s, n, cost_pair);
			if (s.cost < best.cost || (tuning->width && best.width < s.width))
				best = s;
		}
	}
	return best;
}

/* Of sets that are not within others there are millions of nearly the same sizes. */
static const struct split *known_split(sx_joiner *j, const struct set *set)
{
	size_t n = set->n;
	unsigned log = 63 - (unsigned)__builtin_clzll(n | 1);
	unsigned size_class = 2 * log + (log && n >> (log - 1) & 1);

	if (!j->has_split[size_class]) {
		j->split[size_class] = choose_split(set, n, &j->constraint, j->cost_pair,
						    &j->tuning);
		j->has_split[size_class] = 1;
	}
	return &j->split[size_class];
}

double sx_join_set_cost(const sx_kernel *kernel, const sx_join_constraint *constraint, size_t n)
{
	const sx_join_tuning none = { 0 };
	struct set set = { .agreed = constraint->agreed, .n_must = constraint->n_must };

	memcpy(set.must, constraint->must, sizeof(constraint->must));
	return choose_split(&set, n, constraint, cost_of_pair(kernel), &none).cost;
}

/* ---- pairs ---- */

int sx_joiner_flush(sx_joiner *j)
{
	if (!j->rc && j->n_pairs)
		j->rc = j->sink.take(j->sink.ctx, j->pair, j->n_pairs);
	j->n_pairs = 0;
	return j->rc;
}

int sx_joiner_pause(sx_joiner *j)
{
	return j->sink.pause(j->sink.ctx);
}

/* Whether a pair is of two inputs, and of two chunks. Both entries are in the whole set. */
static int is_mixed(const sx_joiner *j, uint64_t a, uint64_t b)
{
	const struct set *all = &j->set[0];
	unsigned x = j->inputs[sx_u64s_below(all->v, all->n, a)];
	unsigned y = j->inputs[sx_u64s_below(all->v, all->n, b)];

	if (x >> SX_JOIN_CHUNK_SHIFT && !((x ^ y) >> SX_JOIN_CHUNK_SHIFT))
		return 0;
	return (x & 1 && y & 2) || (x & 2 && y & 1);
}

/* A pair within k bits. */
static void report(sx_joiner *j, const struct set *set, uint64_t a, uint64_t b)
{
	for (unsigned m = 0; m < set->n_must; m++)
		if (!((a ^ b) & set->must[m]))
			return;
	if (j->inputs && !is_mixed(j, a, b))
		return;
	j->pair[2 * j->n_pairs] = a;
	j->pair[2 * j->n_pairs + 1] = b;
	if (++j->n_pairs == PAIRS_AT_ONCE)
		sx_joiner_flush(j);
}

static void count_compared(sx_joiner *j, uint64_t n)
{
	j->compared += n;
	if (j->compared < PAUSE_AFTER || j->rc)
		return;
	j->compared = 0;
	j->rc = sx_joiner_pause(j);
}

/* Compare entry i with those from `from` on, up to `to`. */
static void compare_one(sx_joiner *j, const struct set *set, const uint64_t *v, size_t i,
			size_t from, size_t to)
{
	size_t found = j->kernel->near_u64(v + from, to - from, v[i], j->constraint.k, j->hits);

	count_compared(j, to - from);
	for (size_t h = 0; h < found && !j->rc; h++)
		report(j, set, v[i], v[from + j->hits[h]]);
}

static void compare_all(sx_joiner *j, const struct set *set)
{
	for (size_t i = 0; i + 1 < set->n && !j->rc; i++)
		compare_one(j, set, set->v, i, i + 1, set->n);
}

/* Neighbours that are compared at once; beyond, the rest of a group is compared for itself. */
static unsigned reach_of(size_t n, unsigned width)
{
	size_t tenths = 10 * n >> width;

	return tenths < 8 ? 4 : tenths < 18 ? 6 : tenths < 32 ? 8 : 12;
}

/*
 * Compare what stands in one group, with no thought for where groups end: pairs across a border do
 * not agree in `same`.
 */
static void compare_groups(sx_joiner *j, const struct set *set, const uint64_t *v, size_t n,
			   uint64_t same, unsigned reach)
{
	size_t end = 0; /* of the group of the entry before */

	for (size_t at = 0; at < n && !j->rc;) {
		size_t found = j->kernel->near_after(v, &at, n, reach, same, j->constraint.k,
						     j->near, NEAR_AT_ONCE);

		for (size_t h = 0; h < found; h++) {
			size_t i = (size_t)(j->near[h] >> 8), d = j->near[h] & 0xff;

			if (d) {
				if (i + d < n && !((v[i] ^ v[i + d]) & same))
					report(j, set, v[i], v[i + d]);
				continue;
			}
			/* The group goes on beyond those that it was compared with. */
			if (end <= i)
				for (end = i + 1; end < n && !((v[i] ^ v[end]) & same);)
					end++;
			if (end > i + reach + 1)
				compare_one(j, set, v, i, i + reach + 1, end);
		}
	}
	count_compared(j, n * reach);
}

/* ---- passes ---- */

static int reserve(sx_joiner *j, unsigned depth, size_t n)
{
	if (sx_reserve(&j->grouped[depth], &j->grouped_cap[depth], n + SX_JOIN_PADDING,
		       sizeof(uint64_t)) ||
	    sx_reserve(&j->hits, &j->hits_cap, n, sizeof(*j->hits)))
		return SIMIDX_E_NOMEM;
	return SIMIDX_OK;
}

/* Group n entries by a sub-block. Those of one group stay in their order. */
static void group(uint32_t *count, const uint64_t *v, size_t n, unsigned shift, unsigned width,
		  uint64_t *out)
{
	uint64_t low = sx_low_bits(width);
	uint32_t sum = 0;

	memset(count, 0, sizeof(*count) << width);
	for (size_t i = 0; i < n; i++)
		count[v[i] >> shift & low]++;
	for (size_t g = 0; g <= low; g++) {
		uint32_t here = count[g];

		count[g] = sum;
		sum += here;
	}
	for (size_t i = 0; i < n; i++) {
		uint64_t x = v[i];

		out[count[x >> shift & low]++] = x;
	}
}

/* Whether there may be a group of more than `limit` entries; those of twice as many are seen. */
static int has_long_group(const uint64_t *v, size_t n, uint64_t same, size_t limit)
{
	size_t step = limit / 2 + 1;

	for (size_t i = step; i < n; i += step)
		if (!((v[i] ^ v[i - step]) & same))
			return 1;
	return 0;
}

static void join(sx_joiner *j, unsigned depth);

/* Join a group as a set within the one at `depth`. */
static void join_group(sx_joiner *j, unsigned depth, const uint64_t *v, size_t n, uint64_t same)
{
	const struct set *parent = &j->set[depth];
	struct set *set = &j->set[depth + 1];

	set->v = v;
	set->n = n;
	set->agreed = parent->agreed | same;
	memcpy(set->must, parent->must, parent->n_must * sizeof(*set->must));
	set->n_must = parent->n_must;
	join(j, depth + 1);
}

/* Long groups are sets of their own, what is between them is compared. */
static void join_groups(sx_joiner *j, unsigned depth, const uint64_t *v, size_t n, uint64_t same,
			unsigned reach, size_t limit)
{
	const struct set *set = &j->set[depth];
	size_t from = 0, i = 0;

	while (i < n && !j->rc) {
		size_t end = i + 1;

		while (end < n && !((v[i] ^ v[end]) & same))
			end++;
		if (end - i > limit) {
			compare_groups(j, set, v + from, i - from, same, reach);
			join_group(j, depth, v + i, end - i, same);
			from = end;
		}
		i = end;
	}
	compare_groups(j, set, v + from, n - from, same, reach);
}

/* Join the set at `depth`. Sub-blocks that are done are added to its masks. */
static void join(sx_joiner *j, unsigned depth)
{
	struct set *set = &j->set[depth];
	size_t limit = j->tuning.split_above ? j->tuning.split_above : SPLIT_ABOVE;
	unsigned reach;
	struct split s;

	if (set->n < 2 || j->rc)
		return;
	s = depth ? choose_split(set, set->n, &j->constraint, j->cost_pair, &j->tuning)
		  : *known_split(j, set);
	if (s.is_empty)
		return;
	j->rc = reserve(j, depth, set->n);
	if (j->rc)
		return;
	if (!s.n) {
		compare_all(j, set);
		return;
	}
	reach = reach_of(set->n, s.width);
	for (unsigned i = 0; i < s.n && !j->rc; i++) {
		uint64_t same = sub_block(&s, i) | set->agreed;
		const uint64_t *v = set->v;

		if (i || !s.first_is_in_order) {
			v = j->grouped[depth];
			group(j->count, set->v, set->n, s.shift[i], s.width, j->grouped[depth]);
			memcpy(j->grouped[depth] + set->n, j->padding, sizeof(j->padding));
		}
		if (depth < MAX_DEPTH && has_long_group(v, set->n, same, limit))
			join_groups(j, depth, v, set->n, same, reach, limit);
		else
			compare_groups(j, set, v, set->n, same, reach);
		/* What agrees in this one has been reported. */
		set->must[set->n_must++] = sub_block(&s, i);
	}
}

/* Where the bucket of entry `from` ends. */
static size_t bucket_end(const uint64_t *v, size_t from, size_t n, uint64_t agreed)
{
	size_t end = from + 1;

	while (end + 8 <= n && !((v[from] ^ v[end + 7]) & agreed))
		end += 8;
	while (end < n && !((v[from] ^ v[end]) & agreed))
		end++;
	return end;
}

static int has_both_inputs(const uint8_t *inputs, size_t n)
{
	unsigned both = 0;

	for (size_t i = 0; i < n && both != 3; i++)
		both |= inputs[i] & 3u;
	return both == 3;
}

static void join_bucket(sx_joiner *j, const uint64_t *v, const uint8_t *inputs, size_t n)
{
	struct set *set = &j->set[0];

	j->inputs = inputs;
	set->v = v;
	set->n = n;
	set->agreed = j->constraint.agreed;
	memcpy(set->must, j->constraint.must, sizeof(j->constraint.must));
	set->n_must = j->constraint.n_must;
	join(j, 0);
}

int sx_joiner_run(sx_joiner *j, const uint64_t *v, const uint8_t *inputs, size_t n)
{
	for (size_t i = 0, end; i < n && !j->rc; i = end) {
		end = bucket_end(v, i, n, j->constraint.agreed);
		if (end - i < 2 || (inputs && !has_both_inputs(inputs + i, end - i)))
			continue;
		join_bucket(j, v + i, inputs ? inputs + i : NULL, end - i);
	}
	return j->rc;
}
