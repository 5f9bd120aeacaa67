/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Makes the rows of lib/plan/sx_cover_table.c: for plans whose tables overlap, the thresholds that
 * serve a radius at the least cost. Prints them as they stand there, and compares the two. Knows
 * the inside of the library, for its plans and its cost model.
 *
 * A way to miss a fingerprint is a number of errors for each group of bits that the same tables
 * see. A cover is exact if each way with `radius` errors leaves some table no more of them than its
 * threshold. The search begins with no table probed. It takes a way that is not stopped, and tries
 * each table in turn: its threshold is raised to the errors that it sees. Ways are found as they
 * are needed, for every width of a fingerprint, and are kept to be tried again.
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bn_options.h"
#include "bn_util.h"
#include "plan/sx_cover_table.h"
#include "plan/sx_planner.h"

#define MAX_THRESHOLD 9 /* a row has one digit for each */
#define N_WIDTHS (SIMIDX_MAX_BITS - SIMIDX_MIN_BITS + 1)
#define PRICED_BITS 64  /* width that prices are for */
#define N_CASES 4       /* numbers of documents that they are for */
#define GOOD 1.15       /* times the least: another row is of no use */
#define SAME (1 + 1e-9) /* less of a difference is none */

static const double documents[N_CASES] = { 1e6, 1e7, 1e8, 1e9 };

/* Bits that the same tables see. */
struct group {
	uint32_t seen_by;
	unsigned bits;
};

/* The groups of a plan at one width. */
struct groups {
	unsigned n;
	struct group at[64];
};

/* Errors that each table sees, of one way to miss a fingerprint. */
struct way {
	uint8_t seen[SX_MAX_TABLES];
};

struct row {
	int8_t threshold[SX_MAX_TABLES]; /* -1 = not probed */
	double ns[N_CASES];              /* without that of a query */
};

struct search {
	const char *plan;
	unsigned n_tables, radius;
	struct groups groups[N_WIDTHS];
	double price[N_CASES][SX_MAX_TABLES][MAX_THRESHOLD + 1];
	double query[N_CASES];
	double other[N_CASES]; /* what first leads, a scan or an earlier row take, with the query */
	struct way *way;       /* that were found so far */
	size_t n_ways, room;
	struct row now;
	int8_t most[SX_MAX_TABLES]; /* larger thresholds were tried before */
	double limit[N_CASES];      /* of a cover that is looked for, with the query */
	void (*found)(struct search *search); /* hears of each cover within the limits */
	double least[N_CASES];      /* that any cover takes, with the query */
	unsigned a_case;            /* whose least is looked for */
	struct row best;
	double worst;               /* how many times the least this takes, at worst */
};

static unsigned ones(uint64_t x)
{
	return (unsigned)__builtin_popcountll(x);
}

/* ------------------------------------------------------------------------------------------
 * Prices: those of sx_planner.c, for whole prefixes without a mask
 */

static double price(const sx_costs *costs, const sx_probed *whole, double rows, unsigned bits,
		    unsigned flipped)
{
	sx_probed part = *whole;
	double merged = flipped < bits, probes, candidates;

	part.bits = (uint8_t)bits;
	part.flipped = (uint8_t)flipped;
	probes = (double)sx_probed_probes(&part);
	if (probes > SX_MAX_QUERY_PROBES)
		return HUGE_VAL;
	candidates = merged * rows / (double)((uint64_t)1 << flipped) +
		     (probes - merged) * rows / (double)((uint64_t)1 << bits);
	return sx_costs_probes(costs, 1, probes, candidates);
}

static double best_price(const sx_costs *costs, const sx_plan *plan, double rows, unsigned table,
			 unsigned threshold)
{
	unsigned width = plan->table[table].prefix_bits;
	sx_probed whole = sx_probed_make(plan, 0, table, threshold < width ? threshold : width,
					 width, width);
	double best = price(costs, &whole, rows, width, width);

	for (unsigned flipped = width - 1; threshold == 1 && flipped > 0; flipped--)
		best = fmin(best, price(costs, &whole, rows, width, flipped));
	for (unsigned bits = width - 1; threshold && bits >= threshold && bits > 0; bits--)
		best = fmin(best, price(costs, &whole, rows, bits, bits));
	return best;
}

/* What a search takes without a row of the table: a plan of another name has none. */
static double price_without(const sx_plan *plan, const sx_costs *costs, unsigned radius,
			    double rows)
{
	sx_request request = { .radius = radius, .rows = (uint64_t)rows };
	sx_plan other = *plan;
	sx_cover cover;

	strcpy(other.name, "-");
	sx_planner_choose(&other, &request, costs, &cover);
	return cover.ns;
}

static void find_prices(struct search *s)
{
	for (unsigned c = 0; c < N_CASES; c++) {
		double rows = documents[c];
		simidx_error err;
		sx_costs costs;
		sx_plan plan;

		bn_check(sx_plan_make(&plan, s->plan, PRICED_BITS, &err), &err, "plan");
		sx_costs_typical(&plan, (uint64_t)rows, &costs);
		s->query[c] = costs.query;
		s->other[c] = price_without(&plan, &costs, s->radius, rows);
		for (unsigned t = 0; t < s->n_tables; t++)
			for (unsigned i = 0; i <= MAX_THRESHOLD; i++)
				s->price[c][t][i] = best_price(&costs, &plan, rows, t, i);
	}
}

/* ------------------------------------------------------------------------------------------
 * Ways to miss a fingerprint
 */

static void find_groups(const sx_plan *plan, struct groups *g)
{
	g->n = 0;
	for (unsigned bit = 0; bit < plan->bits; bit++) {
		uint32_t seen_by = 0;
		unsigned i = 0;

		for (unsigned t = 0; t < plan->n_tables; t++)
			seen_by |= (uint32_t)(plan->table[t].prefix_mask >> bit & 1) << t;
		while (i < g->n && g->at[i].seen_by != seen_by)
			i++;
		if (i == g->n)
			g->at[g->n++] = (struct group){ seen_by, 0 };
		g->at[i].bits++;
	}
}

static void place(struct way *way, uint32_t seen_by, int n)
{
	for (; seen_by; seen_by &= seen_by - 1)
		way->seen[__builtin_ctz(seen_by)] =
			(uint8_t)(way->seen[__builtin_ctz(seen_by)] + n);
}

/* Errors that are left go where most tables see them. */
static void place_rest(struct groups *g, unsigned left, struct way *way)
{
	while (left) {
		struct group *most = NULL;

		for (unsigned i = 0; i < g->n; i++) {
			struct group *at = &g->at[i];

			if (at->bits && (!most || ones(at->seen_by) > ones(most->seen_by)))
				most = at;
		}
		if (!most)
			return;
		most->bits--;
		place(way, most->seen_by, 1);
		left--;
	}
}

/*
 * Find a way that no table stops. The table that lacks the most errors has to see one more, in one
 * of its groups; a group that was tried is closed to the later ones.
 */
static int find_way(const struct search *s, const struct groups *groups, unsigned left,
		    struct way *way)
{
	struct groups g = *groups;
	int max = 0, needy = -1;

	for (unsigned t = 0; t < s->n_tables; t++) {
		int missing = s->now.threshold[t] + 1 - way->seen[t];

		if (s->now.threshold[t] >= 0 && missing > max) {
			max = missing;
			needy = (int)t;
		}
	}
	if (needy < 0) {
		place_rest(&g, left, way);
		return 1;
	}
	if ((unsigned)max > left)
		return 0;
	for (unsigned i = 0; i < g.n; i++) {
		if (!(g.at[i].seen_by >> needy & 1) || !g.at[i].bits)
			continue;
		g.at[i].bits--;
		place(way, g.at[i].seen_by, 1);
		if (find_way(s, &g, left - 1, way))
			return 1;
		place(way, g.at[i].seen_by, -1);
		g.at[i].bits = 0;
	}
	return 0;
}

/* The same for any width. */
static int find_any_way(const struct search *s, struct way *way)
{
	for (unsigned w = 0; w < N_WIDTHS; w++) {
		memset(way, 0, sizeof(*way));
		if (find_way(s, &s->groups[w], s->radius, way))
			return 1;
	}
	return 0;
}

static int is_stopped(const struct search *s, const struct way *way)
{
	for (unsigned t = 0; t < s->n_tables; t++)
		if ((int)way->seen[t] <= s->now.threshold[t])
			return 1;
	return 0;
}

static unsigned count_choices(const struct search *s, const struct way *way)
{
	unsigned n = 0;

	for (unsigned t = 0; t < s->n_tables; t++)
		n += (int)way->seen[t] <= s->most[t];
	return n;
}

/* A way that is not stopped, the one with the fewest choices; a new one if need be. 0: none. */
static int next_way(struct search *s, struct way *way)
{
	unsigned fewest = UINT32_MAX;

	for (size_t i = 0; i < s->n_ways && fewest; i++) {
		if (is_stopped(s, &s->way[i]))
			continue;
		if (count_choices(s, &s->way[i]) < fewest) {
			fewest = count_choices(s, &s->way[i]);
			*way = s->way[i];
		}
	}
	if (fewest != UINT32_MAX)
		return 1;
	if (!find_any_way(s, way))
		return 0;
	if (s->n_ways == s->room) {
		s->room = s->room ? 2 * s->room : 1024;
		s->way = realloc(s->way, s->room * sizeof(*s->way));
		if (!s->way)
			bn_die("out of memory");
	}
	s->way[s->n_ways++] = *way;
	return 1;
}

/* ------------------------------------------------------------------------------------------
 * The search
 */

/* With the query. */
static double ns_of(const struct search *s, const struct row *row, unsigned c)
{
	return fmin(row->ns[c] + s->query[c], s->other[c]);
}

static int is_within(const struct search *s)
{
	for (unsigned c = 0; c < N_CASES; c++)
		if (ns_of(s, &s->now, c) > s->limit[c])
			return 0;
	return 1;
}

/* What it takes more to raise the threshold of a table so far that it stops a way. */
static double raise_ns(const struct search *s, unsigned c, unsigned t, unsigned threshold)
{
	int8_t before = s->now.threshold[t];

	return s->price[c][t][threshold] - (before < 0 ? 0 : s->price[c][t][before]);
}

/* The tables that can stop a way, the cheapest first. Returns their number. */
static unsigned order_tables(const struct search *s, const struct way *way, uint8_t *order)
{
	double ns[SX_MAX_TABLES];
	unsigned n = 0;

	for (unsigned t = 0; t < s->n_tables; t++) {
		double mine = 0;
		unsigned i = n;

		if ((int)way->seen[t] > s->most[t])
			continue;
		for (unsigned c = 0; c < N_CASES; c++)
			mine += raise_ns(s, c, t, way->seen[t]) / s->other[c];
		for (; i > 0 && ns[i - 1] > mine; i--) {
			ns[i] = ns[i - 1];
			order[i] = order[i - 1];
		}
		ns[i] = mine;
		order[i] = (uint8_t)t;
		n++;
	}
	return n;
}

static void look(struct search *s)
{
	uint8_t order[SX_MAX_TABLES];
	int8_t most[SX_MAX_TABLES];
	struct row before = s->now;
	struct way way;
	unsigned n;

	if (!next_way(s, &way)) {
		s->found(s);
		return;
	}
	memcpy(most, s->most, sizeof(most));
	n = order_tables(s, &way, order);
	for (unsigned i = 0; i < n; i++) {
		unsigned t = order[i];

		for (unsigned c = 0; c < N_CASES; c++)
			s->now.ns[c] += raise_ns(s, c, t, way.seen[t]);
		s->now.threshold[t] = (int8_t)way.seen[t];
		if (is_within(s))
			look(s);
		s->now = before;
		s->most[t] = (int8_t)(way.seen[t] - 1);
	}
	memcpy(s->most, most, sizeof(most));
}

/* ------------------------------------------------------------------------------------------
 * Rows
 */

static void take_cheaper(struct search *s)
{
	s->least[s->a_case] = ns_of(s, &s->now, s->a_case);
	s->limit[s->a_case] = s->least[s->a_case] / SAME;
}

/* How many times the least that any cover takes, at worst. */
static double worst_of(const struct search *s, const struct row *row)
{
	double worst = 1;

	for (unsigned c = 0; c < N_CASES; c++)
		worst = fmax(worst, ns_of(s, row, c) / s->least[c]);
	return worst;
}

static void take_better(struct search *s)
{
	s->best = s->now;
	s->worst = worst_of(s, &s->now);
	for (unsigned c = 0; c < N_CASES; c++)
		s->limit[c] = s->worst * s->least[c] / SAME;
}

static void find(struct search *s, void (*found)(struct search *))
{
	memset(&s->now, 0, sizeof(s->now));
	memset(s->now.threshold, -1, sizeof(s->now.threshold));
	memset(s->most, MAX_THRESHOLD, sizeof(s->most));
	s->found = found;
	look(s);
}

/* The least that any cover takes, for each number of documents. */
static void find_least(struct search *s)
{
	for (s->a_case = 0; s->a_case < N_CASES; s->a_case++) {
		for (unsigned c = 0; c < N_CASES; c++)
			s->limit[c] = HUGE_VAL;
		s->least[s->a_case] = s->other[s->a_case];
		s->limit[s->a_case] = s->other[s->a_case] / SAME;
		find(s, take_cheaper);
	}
}

/* From now on there is this row, too. */
static void add_row(struct search *s, const struct row *row)
{
	for (unsigned c = 0; c < N_CASES; c++)
		s->other[c] = ns_of(s, row, c);
}

static void read_row(const struct search *s, const char *thresholds, struct row *row)
{
	memset(row, 0, sizeof(*row));
	memset(row->threshold, -1, sizeof(row->threshold));
	for (unsigned t = 0; t < s->n_tables; t++) {
		if (thresholds[t] == '-')
			continue;
		row->threshold[t] = (int8_t)(thresholds[t] - '0');
		for (unsigned c = 0; c < N_CASES; c++)
			row->ns[c] += s->price[c][t][row->threshold[t]];
	}
}

static void print_row(const struct search *s, const struct row *row, const char *what)
{
	printf("\t{ \"%s\", %u, \"", s->plan, s->radius);
	for (unsigned t = 0; t < s->n_tables; t++)
		putchar(row->threshold[t] < 0 ? '-' : '0' + row->threshold[t]);
	printf("\" },%s\n", what);
}

/* The same for what there is so far. */
static double worst_now(const struct search *s)
{
	double worst = 1;

	for (unsigned c = 0; c < N_CASES; c++)
		worst = fmax(worst, s->other[c] / s->least[c]);
	return worst;
}

/*
 * Print the rows that stand in the table, and then those that have to be added. Returns how many
 * are wrong.
 */
static int make_rows(struct search *s, int fresh)
{
	int n_bad = 0;
	struct way way;

	for (const sx_cover_row *row = sx_cover_table; row->plan; row++) {
		if (fresh || row->radius != s->radius || strcmp(row->plan, s->plan) != 0)
			continue;
		read_row(s, row->thresholds, &s->now);
		if (find_any_way(s, &way)) {
			print_row(s, &s->now, " /* is not exact */");
			n_bad++;
			continue;
		}
		print_row(s, &s->now, worst_now(s) > GOOD ? "" : " /* is not needed */");
		n_bad += worst_now(s) <= GOOD;
		add_row(s, &s->now);
	}
	while (worst_now(s) > GOOD) {
		s->worst = HUGE_VAL;
		for (unsigned c = 0; c < N_CASES; c++)
			s->limit[c] = HUGE_VAL;
		find(s, take_better);
		print_row(s, &s->best, fresh ? "" : " /* is missing */");
		n_bad += !fresh;
		add_row(s, &s->best);
	}
	return n_bad;
}
/* Print the rows of a plan. Returns how many are wrong. */
static int make_plan(struct search *s, unsigned max_radius, int fresh)
{
	int n_bad = 0;

	for (unsigned w = 0; w < N_WIDTHS; w++) {
		simidx_error err;
		sx_plan plan;

		bn_check(sx_plan_make(&plan, s->plan, SIMIDX_MIN_BITS + w, &err), &err, "plan");
		find_groups(&plan, &s->groups[w]);
		s->n_tables = plan.n_tables;
	}
	for (s->radius = 0; s->radius <= max_radius; s->radius++) {
		double begun = bn_seconds();

		s->n_ways = 0;
		find_prices(s);
		find_least(s);
		n_bad += make_rows(s, fresh);
		fprintf(stderr, "%s, radius %u: at most %.2f times the least; %.1f s\n", s->plan,
			s->radius, worst_now(s), bn_seconds() - begun);
	}
	return n_bad;
}

static const char about[] =
	"Makes the rows of lib/plan/sx_cover_table.c and prints them: covers of whole\n"
	"prefixes, by plan and radius, exact for fingerprints of 16 to 64 bits. A row is\n"
	"kept that is exact and needed, and one is added where without it a search takes\n"
	"more than 1.15 times the least that any cover takes, first leads and scans\n"
	"included: by the costs of the planner, for 64 bits and 10^6, 10^7, 10^8 or 10^9\n"
	"documents. Ends with status 1 if a row is missing, not needed or not exact.\n";

int main(int argc, char **argv)
{
	struct search *s = bn_alloc(1, sizeof(*s));
	unsigned max_radius = 12;
	int fresh = 0, n_bad = 0, n_plans = 0;
	const char *plan = NULL;
	const struct bn_option options[] = {
		{ 'p', "plan", "PLAN", BN_TEXT, &plan, "of this one alone" },
		{ 'k', "radius", "K", BN_SMALL_0, &max_radius, "0..K (12)" },
		{ 'f', "fresh", NULL, BN_FLAG, &fresh, "choose all rows anew" },
		{ 0 },
	};
	const struct bn_usage usage = {
		.about = about,
		.options = options,
	};

	bn_program = "bn_covers";
	bn_parse(&usage, argc, argv);
	for (unsigned i = 0; sx_plan_name(i); i++) {
		s->plan = sx_plan_name(i);
		if (plan && strcmp(plan, s->plan) != 0)
			continue;
		n_bad += make_plan(s, max_radius, fresh);
		n_plans++;
	}
	if (!n_plans)
		bn_die("there is no plan %s", plan);
	free(s->way);
	free(s);
	return n_bad > 0;
}
