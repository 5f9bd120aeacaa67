/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "plan/sx_options.h"

#include <math.h>
#include <string.h>

#include "plan/sx_arith.h"
#include "util/sx_bytes.h"

#define MAX_LOOKS 256 /* bucket sizes looked up for one threshold of one table */

double sx_probes_ns(const sx_costs *costs, unsigned tables, double probes, double candidates)
{
	return tables * costs->table + probes * costs->probe + candidates * costs->candidate;
}

double sx_scan_ns(const sx_costs *costs, uint64_t rows)
{
	return costs->query + (double)rows * costs->scanned;
}

/* ------------------------------------------------------------------------------------------
 * Equally frequent prefixes
 */

/* A table as the options see it. */
struct lead {
	unsigned width;   /* leading bits that may be probed */
	uint64_t ignored; /* of them, right-aligned in width */
};

static unsigned count_ignored(const struct lead *lead, unsigned bits)
{
	return (unsigned)__builtin_popcountll(lead->ignored >> (lead->width - bits));
}

static sx_shape shape_of(const struct lead *lead, unsigned bits, unsigned flipped)
{
	sx_shape shape = { bits, count_ignored(lead, bits), flipped,
			   count_ignored(lead, flipped) };

	return shape;
}

/* Rows that have the same first bits. */
static double bucket(double rows, unsigned bits)
{
	return rows / (double)((uint64_t)1 << bits);
}

static double expect(const sx_shape *shape, double probes, double rows)
{
	double merged;

	if (shape->flipped == shape->bits)
		return probes * bucket(rows, shape->bits);
	merged = (double)((uint64_t)1 << shape->flipped_ignored);
	return merged * bucket(rows, shape->flipped) +
	       (probes - merged) * bucket(rows, shape->bits);
}

/* Take a shape into an option if it is cheaper. */
static int consider(const sx_family *family, const sx_shape *shape, unsigned errors,
		    sx_option *option)
{
	uint64_t probes = sx_shape_probes(shape, errors);
	sx_option new = { 0 };

	if (probes > SX_MAX_QUERY_PROBES)
		return 0;
	new.probes = (uint32_t)probes;
	new.candidates = expect(shape, (double)probes, (double)family->sizes->rows);
	new.ns = sx_probes_ns(family->costs, 1, (double)probes, new.candidates);
	new.bits = (uint8_t)shape->bits;
	new.merged = (uint8_t)(shape->flipped < shape->bits ? shape->flipped : 0);
	if (new.ns < option->ns)
		*option = new;
	return new.ns <= 2 * option->ns;
}

/* The cheapest way to probe one table with one threshold; its time is infinite when none is. */
static sx_option best_option(const sx_family *family, const struct lead *lead, unsigned errors)
{
	sx_option option = { HUGE_VAL, 0, 0, 0, 0 };
	unsigned bits = lead->width, flipped;
	sx_shape shape;

	/* Both values of an ignored bit at the low end are one range. */
	while (bits > 1 && lead->ignored >> (lead->width - bits) & 1)
		bits--;
	shape = shape_of(lead, bits, bits);
	consider(family, &shape, errors, &option);
	if (family->request->plain)
		return option;
	for (flipped = bits - 1; errors == 1 && flipped > 0; flipped--) {
		shape = shape_of(lead, bits, flipped);
		if (!consider(family, &shape, errors, &option))
			break;
	}
	/* Fewer bits: fewer probes with more rows in each. Up to its end this is no valley, as
	 * each ignored bit that is left behind halves the probes. */
	while (--bits > 0) {
		shape = shape_of(lead, bits, bits);
		if (!consider(family, &shape, errors, &option) && !shape.ignored)
			break;
	}
	return option;
}

static struct lead lead_of(const sx_family *family, unsigned i)
{
	struct lead lead = { family->width[i], 0 };

	if (family->request->ignore)
		lead.ignored = sx_lead_of(&family->plan->table[family->table[i]],
					  family->request->ignore, lead.width);
	return lead;
}

/* Tables that look alike have the same options. */
static int copy_options(sx_family *family, unsigned i)
{
	struct lead lead = lead_of(family, i), other;
	unsigned j;

	for (j = 0; j < i; j++) {
		other = lead_of(family, j);
		if (other.width == lead.width && other.ignored == lead.ignored) {
			family->levels[i] = family->levels[j];
			memcpy(family->option[i], family->option[j],
			       sizeof(family->option[i]));
			return 1;
		}
	}
	return 0;
}

static void add_options(sx_family *family, unsigned i, double most_ns)
{
	struct lead lead = lead_of(family, i);
	unsigned counted = lead.width - count_ignored(&lead, lead.width);
	unsigned errors;
	sx_option option;

	for (errors = 0; errors < SX_MAX_LEVELS; errors++) {
		if (errors > family->radius || errors > counted)
			break;
		option = best_option(family, &lead, errors);
		if (!(option.ns <= most_ns))
			break;
		family->option[i][errors] = option;
		family->levels[i]++;
	}
}

/* ------------------------------------------------------------------------------------------
 * Families
 */

static void add_tables(sx_family *family)
{
	const sx_perm *perm;
	uint64_t seen = 0, mask;
	unsigned t;

	family->disjoint = 1;
	for (t = 0; t < family->plan->n_tables; t++) {
		perm = &family->plan->table[t];
		mask = family->first_leads ? perm->lead[0] : perm->prefix_mask;
		if (mask & seen) {
			if (family->first_leads)
				continue;
			family->disjoint = 0;
		}
		seen |= mask;
		family->width[family->n] = (uint8_t)__builtin_popcountll(mask);
		family->table[family->n++] = (uint8_t)t;
	}
}

void sx_family_init(sx_family *family, const sx_plan *plan, const sx_request *request,
		    const sx_costs *costs, const sx_sizes *sizes, int first_leads,
		    double most_ns)
{
	unsigned counted =
		(unsigned)__builtin_popcountll(sx_low_bits(plan->bits) & ~request->ignore);
	unsigned i;

	family->plan = plan;
	family->request = request;
	family->costs = costs;
	family->sizes = sizes;
	family->radius = request->radius < counted ? request->radius : counted;
	family->first_leads = first_leads;
	family->n = 0;
	memset(family->levels, 0, sizeof(family->levels));
	add_tables(family);
	for (i = 0; i < family->n; i++) {
		if (!copy_options(family, i))
			add_options(family, i, most_ns);
	}
}

/* ------------------------------------------------------------------------------------------
 * Real sizes
 */

/* The rows in the ranges that one way to probe a table has for the query. */
static double count_rows(const sx_family *family, unsigned i, unsigned errors,
			 const sx_option *option)
{
	sx_probe at[MAX_LOOKS];
	sx_probes probes = { at, 0, MAX_LOOKS };
	const sx_sizes *sizes = family->sizes;
	sx_strategy one;
	double rows = 0;
	size_t p;

	sx_strategy_init(&one, family->radius, family->request->ignore);
	sx_strategy_add(family->plan, &one, family->table[i], errors, option->bits,
			option->merged);
	if (sx_strategy_probes(family->plan, &one, sizes->fp, 64, &probes))
		return HUGE_VAL;
	for (p = 0; p < probes.n; p++)
		rows += (double)sizes->size(sizes->ctx, at[p].table, at[p].low, at[p].high);
	return rows;
}

static void look(const sx_family *family, unsigned i, unsigned errors, sx_option *option)
{
	if (option->probes > MAX_LOOKS)
		return;
	option->candidates = count_rows(family, i, errors, option);
	option->ns = sx_probes_ns(family->costs, 1, option->probes, option->candidates);
}

void sx_family_look(sx_family *family, unsigned errors, double most_ns)
{
	sx_option *option, whole;
	struct lead lead;
	sx_shape shape;
	unsigned i;

	for (i = 0; i < family->n; i++) {
		option = &family->option[i][errors];
		if (errors >= family->levels[i])
			continue;
		if (option->ns > most_ns) {
			family->levels[i] = (uint8_t)errors;
			continue;
		}
		whole = *option;
		look(family, i, errors, option);
		if (option->merged) {
			/* A merged range may be crowded where its narrow ones are not. */
			lead = lead_of(family, i);
			shape = shape_of(&lead, option->bits, option->bits);
			whole.merged = 0;
			whole.probes = (uint32_t)sx_shape_probes(&shape, errors);
			look(family, i, errors, &whole);
			if (whole.ns < option->ns)
				*option = whole;
		}
		/* What was not looked up holds at least what fewer errors find. */
		if (errors && option->ns < option[-1].ns)
			option->ns = option[-1].ns;
	}
}
