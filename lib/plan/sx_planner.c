/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "plan/sx_planner.h"

#include <math.h>
#include <string.h>

#include "plan/sx_cover_table.h"
#include "util/sx_bytes.h"

#define BLOCK_BYTES 4080. /* of a page of 4096 */
#define MAX_THRESHOLD 11  /* of first leads */
#define MAX_DISJOINT 8    /* first leads that are looked at; plans have up to four */
#define MAX_LOOKS 256     /* bucket sizes looked up for one threshold of one table */

struct task {
	const sx_plan *plan;
	const sx_request *request;
	const sx_costs *costs;
	unsigned radius; /* not above the number of bits that count */
};

/* A threshold of a table, and what it costs to probe that. */
struct priced {
	sx_probed probed;
	double ns, candidates;
	uint64_t probes;
};

static unsigned ones(uint64_t x)
{
	return (unsigned)__builtin_popcountll(x);
}

/* ------------------------------------------------------------------------------------------
 * The price of a threshold
 */

/* Of the first `bits` bits of `whole`, where prefixes are equally frequent. */
static struct priced price(const struct task *task, const sx_probed *whole, unsigned bits,
			   unsigned flipped)
{
	struct priced p = { .probed = *whole };
	double rows = (double)task->request->rows, merged = 0;

	p.probed.bits = (uint8_t)bits;
	p.probed.flipped = (uint8_t)flipped;
	p.probed.ignored = whole->ignored >> (whole->bits - bits);
	p.probes = sx_probed_probes(&p.probed);
	/* The range that covers the other bits has as many rows as all their values. */
	if (flipped < bits)
		merged = (double)((uint64_t)1 << ones(p.probed.ignored >> (bits - flipped)));
	p.candidates = merged * rows / (double)((uint64_t)1 << flipped) +
		       ((double)p.probes - merged) * rows / (double)((uint64_t)1 << bits);
	p.ns = sx_costs_probes(task->costs, 1, (double)p.probes, p.candidates);
	if (p.probes > SX_MAX_QUERY_PROBES)
		p.ns = HUGE_VAL;
	return p;
}

/* Keep the cheaper one. Returns 0 where going on in this direction is of no use. */
static int consider(struct priced *best, const struct priced *other)
{
	if (other->ns < best->ns)
		*best = *other;
	return other->ns <= 2 * best->ns;
}

/* The cheapest way to probe up to `width` leading bits of a table with a threshold. */
static struct priced best_price(const struct task *task, unsigned table, unsigned threshold,
				unsigned width)
{
	const sx_probed whole = sx_probed_make(task->plan, task->request->ignore, table, threshold,
					   width, width);
	struct priced best, other;
	unsigned bits = width;

	if (task->costs->whole_prefixes)
		return price(task, &whole, width, width);
	/* Both values of an ignored bit at the low end are one range. */
	while (bits > 1 && whole.ignored >> (width - bits) & 1)
		bits--;
	best = price(task, &whole, bits, bits);
	if (!threshold && !best.probed.ignored)
		return best;
	for (unsigned flipped = bits - 1; threshold == 1 && flipped > 0; flipped--) {
		other = price(task, &whole, bits, flipped);
		if (!consider(&best, &other))
			break;
	}
	/* Fewer bits: fewer probes with more rows in each. Up to its end this is no valley, as
	 * each ignored bit that is left out halves the probes. */
	while (--bits > 0) {
		other = price(task, &whole, bits, bits);
		if (!consider(&best, &other) && !other.probed.ignored)
			break;
	}
	return best;
}

/* What it is for the query, as far as that takes few enough look-ups. */
static void look_at_sizes(const struct task *task, struct priced *p)
{
	const sx_request *request = task->request;
	sx_probe at[MAX_LOOKS];
	sx_probes probes = { at, 0, MAX_LOOKS };
	sx_cover one;
	double rows = 0;

	if (p->probes > MAX_LOOKS)
		return;
	sx_cover_init(&one, task->radius, request->ignore);
	sx_cover_add(task->plan, &one, &p->probed);
	if (sx_cover_probes(task->plan, &one, request->fp, 64, &probes))
		return;
	for (size_t i = 0; i < probes.n; i++)
		rows += (double)request->size(request->ctx, at[i].table, at[i].low, at[i].high);
	p->candidates = rows;
	p->ns = sx_costs_probes(task->costs, 1, (double)p->probes, rows);
}

static void price_for_query(const struct task *task, struct priced *p)
{
	const sx_probed *probed = &p->probed;
	struct priced whole;

	if (probed->flipped < probed->bits) {
		/* A merged range may be crowded where its narrow ones are not. */
		whole = price(task, probed, probed->bits, probed->bits);
		look_at_sizes(task, &whole);
		look_at_sizes(task, p);
		consider(p, &whole);
	} else {
		look_at_sizes(task, p);
	}
}

/* ------------------------------------------------------------------------------------------
 * First leads that are disjoint
 */

struct first_leads {
	unsigned n; /* tables */
	uint8_t n_prices[MAX_DISJOINT]; /* of thresholds 0, 1, ... */
	struct priced price[MAX_DISJOINT][MAX_THRESHOLD + 1];
};

/* What costs more than max_ns is left out. */
static void price_first_leads(const struct task *task, double max_ns, struct first_leads *f)
{
	uint64_t seen = 0;

	f->n = 0;
	for (unsigned t = 0; t < task->plan->n_tables && f->n < MAX_DISJOINT; t++) {
		const sx_perm *perm = &task->plan->table[t];
		unsigned max = ones(perm->lead[0] & ~task->request->ignore), n = 0;

		if (perm->lead[0] & seen ||
		    (task->costs->whole_prefixes && perm->lead_bits[0] < perm->prefix_bits))
			continue;
		seen |= perm->lead[0];
		if (max > task->radius)
			max = task->radius;
		if (max > MAX_THRESHOLD)
			max = MAX_THRESHOLD;
		for (; n <= max; n++) {
			f->price[f->n][n] = best_price(task, t, n, perm->lead_bits[0]);
			if (!(f->price[f->n][n].ns <= max_ns))
				break;
		}
		f->n_prices[f->n++] = (uint8_t)n;
	}
}

/*
 * The cheapest thresholds below `limit` with sum (threshold + 1) > radius; -1 = not probed. A table
 * with threshold t stops t + 1 errors. Returns the cost; HUGE_VAL: there are none.
 */
static double choose_thresholds(const struct task *task, const struct first_leads *f,
				unsigned limit, int *threshold)
{
	int8_t last[MAX_DISJOINT][66]; /* by table and by errors that it and those before stop */
	double ns[66];                 /* the least cost of stopping these with the tables so far */
	unsigned need = task->radius + 1, stop = need;

	for (unsigned i = 0; i <= need; i++)
		ns[i] = i ? HUGE_VAL : 0;
	for (unsigned i = 0; i < f->n; i++) {
		last[i][0] = -1;
		for (stop = need; stop > 0; stop--) {
			last[i][stop] = -1;
			for (unsigned t = 0; t < f->n_prices[i] && t < limit; t++) {
				double with = ns[stop > t + 1 ? stop - t - 1 : 0] +
					      f->price[i][t].ns;

				if (with < ns[stop]) {
					ns[stop] = with;
					last[i][stop] = (int8_t)t;
				}
			}
		}
	}
	stop = need;
	for (unsigned i = f->n; i-- > 0;) {
		unsigned stopped = (unsigned)((threshold[i] = last[i][stop]) + 1);

		stop = stop > stopped ? stop - stopped : 0;
	}
	return ns[need];
}

/* Look at the query's own buckets, one threshold after the other, while that can be cheaper. */
static void look_at_first_leads(const struct task *task, double max_ns, struct first_leads *f)
{
	int threshold[MAX_DISJOINT];

	for (unsigned n = 0; n <= MAX_THRESHOLD && n <= task->radius; n++) {
		double ns;

		for (unsigned i = 0; i < f->n; i++) {
			struct priced *p = &f->price[i][n];

			if (n >= f->n_prices[i])
				continue;
			if (p->ns > max_ns) {
				f->n_prices[i] = (uint8_t)n;
				continue;
			}
			price_for_query(task, p);
			/* What was not looked up holds at least what fewer errors find. */
			if (n && p->ns < p[-1].ns)
				p->ns = p[-1].ns;
		}
		ns = choose_thresholds(task, f, n + 1, threshold);
		if (ns < max_ns)
			max_ns = ns;
	}
}

/* ------------------------------------------------------------------------------------------
 * Covers
 */

static uint64_t round_up(double x)
{
	return x < 1e18 ? (uint64_t)x + (x > (double)(uint64_t)x) : UINT64_MAX;
}

static void begin_cover(const struct task *task, sx_cover *out)
{
	sx_cover_init(out, task->request->radius, task->request->ignore);
	out->ns = task->costs->query;
}

static void add_priced(const struct task *task, const struct priced *p, sx_cover *out,
		       double *candidates)
{
	sx_cover_add(task->plan, out, &p->probed);
	out->ns += p->ns;
	*candidates += p->candidates;
}

/* The cheapest one by first leads; 0: there is none, or it costs more than max_ns. */
static int cover_by_first_leads(const struct task *task, double max_ns, sx_cover *out)
{
	int threshold[MAX_DISJOINT];
	struct first_leads f;
	double candidates = 0;

	price_first_leads(task, max_ns, &f);
	if (task->request->size)
		look_at_first_leads(task, max_ns, &f);
	if (!(choose_thresholds(task, &f, MAX_THRESHOLD + 1, threshold) < HUGE_VAL))
		return 0;
	begin_cover(task, out);
	for (unsigned i = 0; i < f.n; i++)
		if (threshold[i] >= 0)
			add_priced(task, &f.price[i][threshold[i]], out, &candidates);
	out->candidates = round_up(candidates);
	return out->ns <= max_ns && out->probes <= SX_MAX_QUERY_PROBES;
}

/* One of the table; 0: it costs more than max_ns. */
static int cover_by_prefixes(const struct task *task, const char *thresholds, double max_ns,
			     sx_cover *out)
{
	double candidates = 0;

	begin_cover(task, out);
	for (unsigned t = 0; t < task->plan->n_tables && out->ns <= max_ns; t++) {
		const sx_perm *perm = &task->plan->table[t];
		unsigned threshold = (unsigned)(thresholds[t] - '0');
		unsigned counted = ones(perm->prefix_mask & ~task->request->ignore);
		struct priced p;

		if (thresholds[t] == '-')
			continue;
		if (threshold > counted)
			threshold = counted;
		p = best_price(task, t, threshold, perm->prefix_bits);
		if (task->request->size)
			price_for_query(task, &p);
		add_priced(task, &p, out, &candidates);
	}
	out->candidates = round_up(candidates);
	return out->ns <= max_ns && out->probes <= SX_MAX_QUERY_PROBES;
}

/*
 * All covers that come into question; those that turn out to cost more than the cheapest so far
 * are left out unless `all` are asked for. Returns how many, and the number of the cheapest.
 */
static unsigned find_covers(const sx_plan *plan, const sx_request *request,
			    const sx_costs *costs, int all, sx_cover out[SX_MAX_OTHERS],
			    unsigned *cheapest)
{
	unsigned counted = ones(sx_low_bits(plan->bits) & ~request->ignore);
	struct task task = { plan, request, costs,
			     request->radius < counted ? request->radius : counted };
	unsigned n = 1, best = 0;

	begin_cover(&task, &out[0]);
	sx_cover_make_scan(&out[0]);
	out[0].candidates = request->rows;
	out[0].ns = sx_costs_scan(costs, request->rows);
	/* These are priced fast, and what costs more than they do need not be priced to the end. */
	if (cover_by_first_leads(&task, all ? HUGE_VAL : out[best].ns, &out[n])) {
		best = out[n].ns < out[best].ns ? n : best;
		n++;
	}
	for (const sx_cover_row *row = sx_cover_table; row->plan && n < SX_MAX_OTHERS; row++) {
		if (row->radius != task.radius || strcmp(row->plan, plan->name) != 0 ||
		    !cover_by_prefixes(&task, row->thresholds, all ? HUGE_VAL : out[best].ns,
				       &out[n]))
			continue;
		best = out[n].ns < out[best].ns ? n : best;
		n++;
	}
	*cheapest = best;
	return n;
}

void sx_planner_choose(const sx_plan *plan, const sx_request *request, const sx_costs *costs,
		       sx_cover *out)
{
	sx_cover covers[SX_MAX_OTHERS];
	unsigned cheapest;

	find_covers(plan, request, costs, 0, covers, &cheapest);
	*out = covers[cheapest];
}

static int is_same(const sx_cover *a, const sx_cover *b)
{
	return a->scan == b->scan && a->n == b->n &&
	       !memcmp(a->probed, b->probed, a->n * sizeof(a->probed[0]));
}

unsigned sx_planner_others(const sx_plan *plan, const sx_request *request, const sx_costs *costs,
			   const sx_cover *chosen, sx_cover out[SX_MAX_OTHERS])
{
	unsigned kept = 0, cheapest;
	unsigned n = find_covers(plan, request, costs, 1, out, &cheapest);

	for (unsigned i = 0; i < n; i++)
		if (!is_same(&out[i], chosen) && out[i].ns >= chosen->ns)
			out[kept++] = out[i];
	return kept;
}

void sx_planner_predict(const sx_plan *plan, uint64_t documents, unsigned radius, unsigned fill,
			sx_prediction *out)
{
	sx_request request = { .radius = radius, .rows = documents };
	sx_costs costs;

	memset(out, 0, sizeof(*out));
	sx_costs_typical(plan, documents, &costs);
	sx_planner_choose(plan, &request, &costs, &out->cover);
	out->row_bytes = sx_costs_row_bytes(plan->bits, documents, fill);
	out->document_bytes = plan->n_tables * out->row_bytes;
	out->blocks = (double)out->cover.probes +
		      (double)out->cover.candidates * out->row_bytes / BLOCK_BYTES;
}
