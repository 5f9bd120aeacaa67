/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "plan/sx_planner.h"

#include <math.h>
#include <string.h>

#include "plan/sx_arith.h"
#include "plan/sx_options.h"

#define MIN_STEPS 1000   /* of a search for thresholds */
#define MAX_STEPS 50000
#define NS_PER_STEP 50.  /* about */

/* Let so many steps take about as long as the answer. */
static unsigned steps_for(double ns)
{
	double steps = ns / NS_PER_STEP;

	if (steps < MIN_STEPS)
		return MIN_STEPS;
	return steps < MAX_STEPS ? (unsigned)steps : MAX_STEPS;
}

/* Look at the query's own buckets, while there is hope that an answer is cheaper. */
static void look_at_sizes(sx_family *family, double most_ns)
{
	sx_levels levels;
	unsigned errors;

	for (errors = 0; errors < SX_MAX_LEVELS && errors <= family->radius; errors++) {
		sx_family_look(family, errors, most_ns);
		if (family->disjoint && sx_levels_disjoint(family, errors + 1, &levels) &&
		    levels.ns < most_ns)
			most_ns = levels.ns;
	}
}

static uint64_t round_up(double x)
{
	return x < 1e18 ? (uint64_t)x + (x > (double)(uint64_t)x) : UINT64_MAX;
}

static void make_strategy(const sx_family *family, const sx_levels *levels, sx_strategy *out)
{
	const sx_option *option;
	double candidates = 0;
	unsigned i;

	sx_strategy_init(out, family->request->radius, family->request->ignore);
	out->first_leads = family->first_leads;
	out->ns = levels->ns;
	for (i = 0; i < family->n; i++) {
		if (levels->of[i] < 0)
			continue;
		option = &family->option[i][levels->of[i]];
		sx_strategy_add(family->plan, out, family->table[i],
				(unsigned)levels->of[i], option->bits, option->merged);
		candidates += option->candidates;
	}
	out->candidates = round_up(candidates);
}

/* The cheapest strategy of one family; what takes longer than most_ns need not be found. */
static int choose_in_family(sx_family *family, double most_ns, sx_strategy *out)
{
	sx_levels levels;
	unsigned steps = MAX_STEPS;
	int found;

	if (family->sizes->size) {
		look_at_sizes(family, most_ns);
		steps = steps_for(most_ns);
	}
	if (family->disjoint)
		found = sx_levels_disjoint(family, SX_MAX_LEVELS, &levels);
	else
		found = sx_levels_search(family, steps, &levels);
	if (found)
		make_strategy(family, &levels, out);
	return found && out->probes <= SX_MAX_QUERY_PROBES;
}

static void make_scan(const sx_costs *costs, const sx_sizes *sizes, sx_strategy *out)
{
	sx_strategy_make_scan(out);
	out->candidates = sizes->rows;
	out->ns = sx_scan_ns(costs, sizes->rows);
}

static void note(sx_choice *explain, const char *what, int plain, const sx_strategy *strategy,
		 int chosen)
{
	sx_alternative *alternative;

	if (!explain)
		return;
	alternative = &explain->of[explain->n];
	alternative->what = what;
	alternative->plain = plain;
	alternative->strategy = *strategy;
	if (chosen)
		explain->chosen = explain->n;
	explain->n++;
}

/* Try one family; the better strategy stays in out. */
static void try_family(const sx_plan *plan, const sx_request *request, const sx_costs *costs,
		       const sx_sizes *sizes, int first_leads, sx_strategy *out,
		       sx_choice *explain)
{
	/* To tell what was rejected, what would take longer has to be known too. */
	double most_ns = explain ? HUGE_VAL : out->ns;
	sx_strategy strategy;
	sx_family family;
	int better;

	sx_family_init(&family, plan, request, costs, sizes, first_leads, most_ns);
	if (!choose_in_family(&family, most_ns, &strategy))
		return;
	better = strategy.ns < out->ns;
	note(explain, first_leads ? "first leads" : "prefixes", request->plain, &strategy,
	     better);
	if (better)
		*out = strategy;
}

void sx_choose_strategy(const sx_plan *plan, const sx_request *request, const sx_costs *costs,
			const sx_sizes *sizes, sx_strategy *out, sx_choice *explain)
{
	sx_request plain = *request;
	int first;

	plain.plain = 1;
	if (explain)
		memset(explain, 0, sizeof(*explain));
	sx_strategy_init(out, request->radius, request->ignore);
	make_scan(costs, sizes, out);
	note(explain, "scan", 0, out, 1);
	/* First leads first: they are planned fast and limit what else is worth a thought. */
	for (first = sx_has_several_leads(plan); first >= 0; first--) {
		/* Only for what is told: merging and shortening find these too. */
		if (explain && !request->plain)
			try_family(plan, &plain, costs, sizes, first, out, explain);
		try_family(plan, request, costs, sizes, first, out, explain);
	}
}
