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
	out->ns = family->costs->query + levels->ns;
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

/* The cheapest strategy of one family, if it is found and takes no longer than that. */
static int try_family(const sx_plan *plan, const sx_request *request, const sx_costs *costs,
		      const sx_sizes *sizes, int first_leads, double most_ns, sx_strategy *out)
{
	sx_family family;

	sx_family_init(&family, plan, request, costs, sizes, first_leads, most_ns);
	return choose_in_family(&family, most_ns, out);
}

void sx_choose_strategy(const sx_plan *plan, const sx_request *request, const sx_costs *costs,
			const sx_sizes *sizes, sx_strategy *out)
{
	sx_strategy strategy;
	int first;

	sx_strategy_init(out, request->radius, request->ignore);
	make_scan(costs, sizes, out);
	/* First leads first: they are planned fast and limit what else is worth a thought. */
	for (first = sx_has_several_leads(plan); first >= 0; first--) {
		if (try_family(plan, request, costs, sizes, first, out->ns, &strategy) &&
		    strategy.ns < out->ns)
			*out = strategy;
	}
}

static int is_same(const sx_strategy *a, const sx_strategy *b)
{
	return a->scan == b->scan && !memcmp(a->errors, b->errors, sizeof(a->errors)) &&
	       !memcmp(a->bits, b->bits, sizeof(a->bits)) &&
	       !memcmp(a->merged, b->merged, sizeof(a->merged));
}

static void note(sx_choice *choice, const char *what, const sx_strategy *strategy,
		 const sx_strategy *chosen)
{
	unsigned i;

	if (is_same(strategy, chosen) || strategy->ns < chosen->ns)
		return;
	for (i = 0; i < choice->n; i++) {
		if (is_same(strategy, &choice->of[i].strategy))
			return;
	}
	choice->of[choice->n].what = what;
	choice->of[choice->n++].strategy = *strategy;
}

void sx_other_strategies(const sx_plan *plan, const sx_request *request, const sx_costs *costs,
			 const sx_sizes *sizes, const sx_strategy *chosen, sx_choice *out)
{
	sx_request how = *request;
	sx_strategy strategy;
	int first;

	memset(out, 0, sizeof(*out));
	sx_strategy_init(&strategy, request->radius, request->ignore);
	make_scan(costs, sizes, &strategy);
	note(out, "scan", &strategy, chosen);
	for (first = sx_has_several_leads(plan); first >= 0; first--) {
		for (how.plain = request->plain; how.plain <= 1; how.plain++) {
			if (try_family(plan, &how, costs, sizes, first, HUGE_VAL, &strategy))
				note(out, first ? "first leads" : "prefixes", &strategy, chosen);
		}
	}
}
