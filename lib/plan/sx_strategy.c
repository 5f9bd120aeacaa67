/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "plan/sx_strategy.h"

#include <string.h>

#include "kernel/sx_bits.h"
#include "plan/sx_arith.h"
#include "util/sx_bytes.h"

void sx_strategy_init(sx_strategy *strategy, unsigned radius, uint64_t ignore)
{
	memset(strategy, 0, sizeof(*strategy));
	strategy->radius = radius;
	strategy->ignore = ignore;
	strategy->single = !ignore;
	memset(strategy->errors, -1, sizeof(strategy->errors));
}

/* A table of a strategy, in terms of the leading bits of its permuted values. */
struct lead {
	unsigned bits;
	unsigned flipped; /* leading bits in which errors are made */
	uint64_t ignored; /* places that do not count, right-aligned in `bits` */
};

static struct lead lead_of(const sx_plan *plan, const sx_strategy *strategy, unsigned table)
{
	struct lead lead = { strategy->bits[table], strategy->merged[table], 0 };

	if (!lead.flipped)
		lead.flipped = lead.bits;
	if (strategy->ignore)
		lead.ignored = sx_lead_of(&plan->table[table], strategy->ignore, lead.bits);
	return lead;
}

static uint64_t count_probes(const sx_plan *plan, const sx_strategy *strategy, unsigned table)
{
	struct lead lead = lead_of(plan, strategy, table);
	sx_shape shape;

	shape.bits = lead.bits;
	shape.ignored = (unsigned)__builtin_popcountll(lead.ignored);
	shape.flipped = lead.flipped;
	shape.flipped_ignored =
		(unsigned)__builtin_popcountll(lead.ignored >> (lead.bits - lead.flipped));
	return sx_shape_probes(&shape, (unsigned)strategy->errors[table]);
}

void sx_strategy_add(const sx_plan *plan, sx_strategy *strategy, unsigned table,
		     unsigned errors, unsigned bits, unsigned merged)
{
	uint64_t probes;

	strategy->order[strategy->n++] = (uint8_t)table;
	strategy->single &= !errors;
	strategy->errors[table] = (int8_t)errors;
	strategy->bits[table] = (uint8_t)bits;
	strategy->merged[table] = (uint8_t)merged;
	strategy->counts[table] =
		sx_leading_mask(&plan->table[table], bits) & ~strategy->ignore;
	probes = count_probes(plan, strategy, table);
	if (probes > UINT64_MAX - strategy->probes)
		strategy->probes = UINT64_MAX;
	else
		strategy->probes += probes;
}

void sx_strategy_make_scan(sx_strategy *strategy)
{
	sx_strategy_init(strategy, strategy->radius, strategy->ignore);
	strategy->scan = 1;
	strategy->single = 0;
	strategy->n = 1;
	strategy->probes = 1;
}

/*
 * In how many bits outside the first `bits` of a table a match can differ that has so many errors
 * among these: what the radius leaves, and ignored bits.
 */
static int rest_of(const sx_plan *plan, const sx_strategy *strategy, unsigned table, unsigned bits,
		   unsigned errors, unsigned max_bits)
{
	uint64_t outside = sx_low_bits(plan->bits) & ~sx_leading_mask(&plan->table[table], bits);
	unsigned counted = (unsigned)__builtin_popcountll(outside & ~strategy->ignore);
	unsigned rest = strategy->radius - errors;

	if (errors > strategy->radius)
		return -1;
	if (rest > counted)
		rest = counted;
	rest += (unsigned)__builtin_popcountll(outside & strategy->ignore);
	return (int)(rest < max_bits ? rest : max_bits);
}

/* One range for each way to set the ignored bits. */
static void add_ignored(const sx_plan *plan, unsigned table, uint64_t lead, unsigned bits,
			uint64_t ignored, int rest, sx_probes *out)
{
	uint64_t set = 0;

	do {
		sx_probes_add(out, plan, table, lead ^ set, bits, rest);
		set = (set - ignored) & ignored;
	} while (set);
}

/* The ranges for exactly so many errors. */
static void add_errors(const sx_plan *plan, unsigned table, uint64_t value,
		       const struct lead *lead, unsigned errors, int rest, sx_probes *out)
{
	uint64_t counted = sx_low_bits(lead->bits) & ~lead->ignored;
	uint64_t flips = sx_low_bits(errors), end;

	counted &= ~sx_low_bits(lead->bits - lead->flipped);
	end = (uint64_t)1 << __builtin_popcountll(counted);
	for (; flips < end; flips = sx_next_combination(flips)) {
		add_ignored(plan, table, value ^ sx_pdep(flips, counted), lead->bits,
			    lead->ignored, rest, out);
		if (!errors)
			break;
	}
}

static void add_table(const sx_plan *plan, const sx_strategy *strategy, unsigned table,
		      uint64_t fp, unsigned max_bits, sx_probes *out)
{
	struct lead lead = lead_of(plan, strategy, table);
	uint64_t value = sx_lead_of(&plan->table[table], fp, lead.bits);
	unsigned below = lead.bits - lead.flipped, errors = 0;

	if (below) {
		add_ignored(plan, table, value >> below, lead.flipped, lead.ignored >> below,
			    rest_of(plan, strategy, table, lead.flipped, 0, max_bits), out);
		errors = 1;
	}
	for (; errors <= (unsigned)strategy->errors[table]; errors++)
		add_errors(plan, table, value, &lead, errors,
			   rest_of(plan, strategy, table, lead.bits, errors, max_bits), out);
}

int sx_strategy_probes(const sx_plan *plan, const sx_strategy *strategy, uint64_t fp,
		       unsigned max_bits, sx_probes *out)
{
	unsigned i;

	if (strategy->probes > SIZE_MAX || sx_probes_reserve(out, (size_t)strategy->probes))
		return -1;
	if (strategy->scan) {
		sx_probes_add(out, plan, strategy->order[0], 0, 0,
			      rest_of(plan, strategy, strategy->order[0], 0, 0, max_bits));
		return 0;
	}
	for (i = 0; i < strategy->n; i++)
		add_table(plan, strategy, strategy->order[i], fp, max_bits, out);
	return 0;
}

/* Whether a table sees no more errors than its threshold. Most allow none, which takes no count. */
static int is_within(const sx_strategy *strategy, unsigned table, uint64_t differ)
{
	int most = strategy->errors[table];

	differ &= strategy->counts[table];
	return most <= 0 ? !most & !differ : __builtin_popcountll(differ) <= most;
}

int sx_strategy_is_first(const sx_strategy *strategy, unsigned table, uint64_t differ)
{
	unsigned t;

	if (strategy->scan)
		return 1;
	for (t = 0; t < table; t++)
		if (is_within(strategy, t, differ))
			return 0;
	return is_within(strategy, table, differ);
}
