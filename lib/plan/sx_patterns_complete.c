/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Completeness up to a distance R: a limit for each table, up to which all its patterns are
 * probed, such that sum (limit + 1) > d * R, where no bit is probed in more than d tables.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan/sx_arith.h"
#include "plan/sx_coverage.h"
#include "plan/sx_options.h"
#include "plan/sx_patterns.h"
#include "util/sx_alloc.h"

/* What is asked. */
struct question {
	const sx_plan *plan;
	const sx_weighted *query;
	const uint8_t *weights;
	uint32_t distance;
	const sx_costs *costs;
	double rows;
	double most_ns; /* a scan takes so long: what takes longer need not be found */
};

/* One table. */
struct limits {
	unsigned table;
	unsigned n;    /* leading bits probed */
	int32_t most;  /* the highest limit that is thought of; -1 = leave the table out */
	int32_t limit; /* -1 = no probes */
	int32_t step;  /* the limit that is cheapest to go to from this one; the same = not known */
	double slope;  /* ns for each unit gained by that; HUGE_VAL = there is none */
	double probe_ns;
	double *probes; /* by limit + 1: that all patterns up to it take */
	uint16_t sorted[SX_MAX_PREFIX_BITS]; /* the probed bits, see sort_bits() */
};

/* The tables that are probed together. */
struct form {
	unsigned n;
	unsigned most_seen;
	size_t n_limits; /* to choose from */
	double ns, probes;
	uint64_t probed[SX_MAX_TABLES]; /* by index in `of` */
	struct limits of[SX_MAX_TABLES];
	double *memory;
};

static int by_weight(const void *a, const void *b)
{
	return *(const uint16_t *)a - *(const uint16_t *)b;
}

/*
 * The probed bits by weight, lightest first: weight * 32 + place in the probed bits. Returns the
 * sum of the weights.
 */
static int32_t sort_bits(const struct question *q, struct limits *l)
{
	const sx_perm *perm = &q->plan->table[l->table];
	unsigned low = perm->prefix_bits - l->n, i;
	uint16_t *sorted = l->sorted;
	int32_t sum = 0;

	for (i = 0; i < l->n; i++) {
		sorted[i] = (uint16_t)((unsigned)q->weights[perm->source[low + i]] << 5 | i);
		sum += sorted[i] >> 5;
	}
	qsort(sorted, l->n, sizeof(*sorted), by_weight);
	return sum;
}

/*
 * How many leading bits to probe, `width` at most: a bit less halves the patterns that flip it
 * and doubles the rows of a probe, which does not pay once reading them takes as long as the
 * rest of the probe.
 */
static unsigned choose_bits(const struct question *q, const sx_perm *perm, unsigned width)
{
	double row = sx_probes_ns(q->costs, 0, 0, 1), probe = sx_probes_ns(q->costs, 0, 1, 0);
	unsigned n = width;

	while (n > 1 && q->rows / (double)((uint64_t)1 << (n - 1)) * row < probe / 4)
		n--;
	/* Among bits without weight at the end, none needs to be flipped. */
	return n - sx_ignored_end(perm, q->weights, n);
}

/*
 * A limit up to which there are more than `patterns` of them, if there is one: up to the sum of
 * the m dearest of the j lightest bits cost all patterns that flip at most m of these j.
 */
static int32_t enough_patterns(const uint16_t *sorted, unsigned n, double patterns)
{
	int32_t least = INT32_MAX, sum;
	unsigned j, m;
	double ways, all;

	for (j = 1; j <= n; j++) {
		sum = 0;
		ways = all = 1;
		for (m = 1; m <= j && all <= patterns; m++) {
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
 * The highest limit to think of: all patterns would be the whole table, none beyond the distance
 * is needed, and those that take longer than a scan, or are too many, will not be chosen.
 */
static int32_t highest_limit(const struct question *q, struct limits *l)
{
	int32_t sum = sort_bits(q, l);
	double patterns = q->most_ns / l->probe_ns;
	int32_t dear, most;

	if (patterns > (double)SX_MAX_QUERY_PROBES)
		patterns = (double)SX_MAX_QUERY_PROBES;
	dear = enough_patterns(l->sorted, l->n, patterns);
	most = sum < dear ? sum - 1 : dear - 1;
	return most < (int32_t)q->distance ? most : (int32_t)q->distance;
}

/* How many patterns cost at most c, for each c: sums of subsets of the weights. */
static void count_patterns(struct limits *l, double *room)
{
	double *of = room + 1; /* by cost */
	int32_t c, weight;
	unsigned i;

	l->probes = room;
	for (c = -1; c <= l->most; c++)
		of[c] = c == 0;
	for (i = 0; i < l->n; i++) {
		weight = l->sorted[i] >> 5;
		for (c = l->most; c >= weight; c--)
			of[c] += of[c - weight];
	}
	for (c = 1; c <= l->most; c++)
		of[c] += of[c - 1];
}

static int init_form(const struct question *q, int first_leads, struct form *form)
{
	const sx_perm *perm;
	uint64_t lead_seen = 0;
	struct limits *l;
	size_t room = 0;
	unsigned t;

	memset(form, 0, sizeof(*form));
	for (t = 0; t < q->plan->n_tables; t++) {
		perm = &q->plan->table[t];
		if (first_leads && (lead_seen & perm->lead[0]))
			continue;
		lead_seen |= perm->lead[0];
		l = &form->of[form->n];
		l->table = t;
		l->n = choose_bits(q, perm,
				   first_leads ? perm->lead_bits[0] : perm->prefix_bits);
		l->limit = l->step = -1;
		l->probe_ns = sx_probes_ns(q->costs, 0, 1,
					   q->rows / (double)((uint64_t)1 << l->n));
		l->most = highest_limit(q, l);
		form->n_limits += (size_t)(l->most + 1);
		form->probed[form->n++] = sx_leading_mask(perm, l->n);
	}
	form->memory = sx_realloc(NULL, form->n_limits + form->n, sizeof(*form->memory));
	if (!form->memory)
		return -1;
	for (t = 0; t < form->n; t++) {
		count_patterns(&form->of[t], form->memory + room);
		room += (size_t)(form->of[t].most + 2);
	}
	form->most_seen = sx_most_seen(form->probed, form->n, q->weights);
	return 0;
}

/* Find the step up of one table that takes least for each unit gained; at most `need` are. */
static void find_step(struct limits *l, int64_t need)
{
	double slope;
	int32_t to;

	l->slope = HUGE_VAL;
	for (to = l->limit + 1; to <= l->most && to - l->limit <= need; to++) {
		slope = (l->probes[to + 1] - l->probes[l->limit + 1]) * l->probe_ns /
			(to - l->limit);
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
static int choose_limits(const struct question *q, struct form *form)
{
	int64_t need = (int64_t)q->distance * form->most_seen + 1;
	struct limits *chosen, *l;
	double ns = 0;
	unsigned i;

	if (need > (int64_t)form->n_limits)
		return 0;
	while (need > 0) {
		chosen = &form->of[0];
		for (i = 0; i < form->n; i++) {
			l = &form->of[i];
			if (l->step == l->limit || l->step - l->limit > need)
				find_step(l, need);
			if (l->slope < chosen->slope)
				chosen = l;
		}
		if (!(chosen->slope < HUGE_VAL))
			return 0;
		ns += chosen->slope * (chosen->step - chosen->limit);
		if (ns >= q->most_ns)
			return 0;
		need -= chosen->step - chosen->limit;
		chosen->limit = chosen->step;
	}
	for (i = 0; i < form->n; i++) {
		l = &form->of[i];
		form->probes += l->probes[l->limit + 1];
		form->ns += l->probes[l->limit + 1] * l->probe_ns;
	}
	return form->probes <= (double)SX_MAX_QUERY_PROBES;
}

/* ------------------------------------------------------------------------------------------
 * Probes
 */

/* All ways to flip some of a table's bits that cost little enough. */
struct walk {
	const struct question *q;
	const struct limits *limits;
	uint64_t value;       /* the query's probed bits */
	sx_lightest others;   /* of the bits that are not probed */
	sx_probes *out;
};

static void add_patterns(const struct walk *walk, uint64_t flips, unsigned from, int32_t cost)
{
	const struct limits *l = walk->limits;
	unsigned i;

	sx_probes_add(walk->out, walk->q->plan, l->table, walk->value ^ flips, l->n,
		      sx_pattern_rest(walk->q->query, &walk->others, (uint64_t)cost, flips));
	for (i = from; i < l->n && cost + (l->sorted[i] >> 5) <= l->limit; i++)
		add_patterns(walk, flips ^ (uint64_t)1 << (l->sorted[i] & 31), i + 1,
			     cost + (l->sorted[i] >> 5));
}

/* The cost of the cheapest pattern above the limit, as far as it is known. */
static int64_t cheapest_missed(const struct limits *l)
{
	int32_t c;

	for (c = l->limit + 1; c <= l->most && l->probes[c + 1] == l->probes[l->limit + 1];)
		c++;
	return c;
}

static int probe_form(const struct question *q, const struct form *form, sx_probes *out,
		      sx_pattern_end *end)
{
	int64_t missed[SX_MAX_TABLES];
	const struct limits *l;
	struct walk walk;
	unsigned i;

	if (sx_probes_reserve(out, (size_t)form->probes))
		return -1;
	memset(end->upto, -1, sizeof(end->upto));
	walk.q = q;
	walk.out = out;
	for (i = 0; i < form->n; i++) {
		l = walk.limits = &form->of[i];
		missed[i] = cheapest_missed(l);
		if (l->limit < 0)
			continue;
		end->probed[l->table] = form->probed[i];
		end->upto[l->table] = l->limit;
		walk.value = sx_lead_of(&q->plan->table[l->table], q->query->fp, l->n);
		sx_lightest_init(&walk.others, q->query->by_weight, ~form->probed[i],
				 q->query->radius);
		add_patterns(&walk, 0, 0, 0);
	}
	end->complete_to = sx_coverage(missed, form->n, form->most_seen);
	return 0;
}

static int probe_all(const struct question *q, sx_probes *out, sx_pattern_end *end)
{
	sx_lightest all;

	if (sx_probes_reserve(out, 1))
		return -1;
	sx_lightest_init(&all, q->query->by_weight, UINT64_MAX, q->query->radius);
	sx_probes_add(out, q->plan, 0, 0, 0, sx_pattern_rest(q->query, &all, 0, 0));
	end->scan = 1;
	end->complete_to = SX_COMPLETE;
	return 0;
}

int sx_pattern_complete(const sx_plan *plan, const sx_weighted *query, uint32_t distance,
			const sx_costs *costs, uint64_t rows, sx_probes *out,
			sx_pattern_end *end)
{
	struct question q = { plan, query, query->weights, distance, costs, (double)rows,
			      sx_scan_ns(costs, rows) - costs->query };
	struct form form[2];
	int first_leads, chosen = -1, rc = 0;

	memset(end, 0, sizeof(*end));
	end->tied = -1;
	/* No sum of weights is larger: this asks for everything. */
	if (distance >= 64 * UINT8_MAX)
		return probe_all(&q, out, end);
	memset(form, 0, sizeof(form));
	for (first_leads = sx_has_several_leads(plan); first_leads >= 0 && !rc; first_leads--) {
		rc = init_form(&q, first_leads, &form[first_leads]);
		end->n_limits += form[first_leads].n_limits;
		if (rc || !choose_limits(&q, &form[first_leads]))
			continue;
		q.most_ns = form[first_leads].ns;
		chosen = first_leads;
	}
	if (!rc)
		rc = chosen < 0 ? probe_all(&q, out, end)
				: probe_form(&q, &form[chosen], out, end);
	free(form[0].memory);
	free(form[1].memory);
	return rc;
}
