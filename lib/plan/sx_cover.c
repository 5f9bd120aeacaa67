/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "plan/sx_cover.h"

#include <string.h>

#include "kernel/sx_bits.h"
#include "util/sx_bytes.h"

#define MAX_KEPT 4096 /* probes of a template; copying more saves little beside looking them up */

static unsigned ones(uint64_t x)
{
	return (unsigned)__builtin_popcountll(x);
}

sx_probed sx_probed_make(const sx_plan *plan, uint64_t ignore, unsigned table, unsigned threshold,
		     unsigned bits, unsigned flipped)
{
	sx_probed probed = { .table = (uint8_t)table,
			 .threshold = (uint8_t)threshold,
			 .bits = (uint8_t)bits,
			 .flipped = (uint8_t)flipped };

	if (ignore)
		probed.ignored = (uint32_t)sx_perm_lead(&plan->table[table], ignore, bits);
	return probed;
}

/* The ways to choose at most `max` of n <= 32 things. */
static uint64_t count_choices(unsigned n, unsigned max)
{
	uint64_t ways = 1, sum = 1;

	for (unsigned i = 1; i <= max && i <= n; i++) {
		ways = ways * (n - i + 1) / i;
		sum += ways;
	}
	return sum;
}

uint64_t sx_probed_probes(const sx_probed *probed)
{
	unsigned ignored = ones(probed->ignored);
	unsigned in_flipped = ones(probed->ignored >> (probed->bits - probed->flipped));

	if (probed->flipped == probed->bits)
		return count_choices(probed->bits - ignored, probed->threshold) << ignored;
	/* The merged range, and one error in each of the flipped bits. */
	return ((uint64_t)1 << in_flipped) + ((uint64_t)(probed->flipped - in_flipped) << ignored);
}

void sx_cover_init(sx_cover *cover, unsigned radius, uint64_t ignore)
{
	memset(cover, 0, sizeof(*cover));
	cover->radius = radius;
	cover->ignore = ignore;
}

void sx_cover_add(const sx_plan *plan, sx_cover *cover, const sx_probed *probed)
{
	sx_probed *added = &cover->probed[cover->n++];

	*added = *probed;
	added->counted = sx_perm_leading_mask(&plan->table[probed->table], probed->bits) &
			 ~cover->ignore;
	cover->probes += sx_probed_probes(probed);
}

void sx_cover_make_scan(sx_cover *cover)
{
	sx_cover_init(cover, cover->radius, cover->ignore);
	cover->scan = 1;
	cover->probes = 1;
}

/*
 * In how many bits outside the first `bits` of a table a match can differ that has `errors` errors
 * among these: what the radius leaves, and ignored bits. -1: there is no such match.
 */
static int rest_of(const sx_plan *plan, const sx_cover *cover, unsigned table, unsigned bits,
		   unsigned errors, unsigned max_bits)
{
	const sx_perm *perm = &plan->table[table];
	uint64_t outside = sx_low_bits(plan->bits) & ~sx_perm_leading_mask(perm, bits);
	unsigned counted = ones(outside & ~cover->ignore), rest = cover->radius - errors;

	if (errors > cover->radius)
		return -1;
	if (rest > counted)
		rest = counted;
	rest += ones(outside & cover->ignore);
	return (int)(rest < max_bits ? rest : max_bits);
}

/* One range for each way to set the ignored bits. */
static void add_ranges(const sx_plan *plan, unsigned table, uint64_t lead, unsigned bits,
		       uint64_t ignored, int rest, sx_probes *out)
{
	uint64_t set = 0;

	do {
		sx_probes_add(out, plan, table, lead ^ set, bits, rest);
		set = (set - ignored) & ignored;
	} while (set);
}

/* The next larger number (x > 0, below 2^63) with as many ones; 0 after 0. */
static uint64_t next_combination(uint64_t x)
{
	uint64_t lowest = x & -x, carried = x + lowest;

	return x ? carried | (x ^ carried) >> 2 >> __builtin_ctzll(lowest) : 0;
}

static void add_probes_of(const sx_plan *plan, const sx_cover *cover, const sx_probed *probed,
		     uint64_t fp, unsigned max_bits, sx_probes *out)
{
	uint64_t value = sx_perm_lead(&plan->table[probed->table], fp, probed->bits);
	unsigned below = probed->bits - probed->flipped, errors = 0;
	/* Where errors are made. */
	uint64_t places = sx_low_bits(probed->bits) & ~sx_low_bits(below) & ~probed->ignored;
	uint64_t end = (uint64_t)1 << ones(places);

	if (below) {
		add_ranges(plan, probed->table, value >> below, probed->flipped,
			   probed->ignored >> below,
			   rest_of(plan, cover, probed->table, probed->flipped, 0, max_bits), out);
		errors = 1;
	}
	for (; errors <= probed->threshold; errors++) {
		int rest = rest_of(plan, cover, probed->table, probed->bits, errors, max_bits);
		uint64_t flips = sx_low_bits(errors);

		do {
			if (flips < end)
				add_ranges(plan, probed->table, value ^ sx_pdep(flips, places),
					   probed->bits, probed->ignored, rest, out);
			flips = next_combination(flips);
		} while (flips && flips < end);
	}
}

int sx_cover_probes(const sx_plan *plan, const sx_cover *cover, uint64_t fp, unsigned max_bits,
		    sx_probes *out)
{
	if (cover->probes > SIZE_MAX || sx_probes_reserve(out, (size_t)cover->probes))
		return -1;
	if (cover->scan)
		sx_probes_add(out, plan, 0, 0, 0, rest_of(plan, cover, 0, 0, 0, max_bits));
	for (unsigned i = 0; i < cover->n; i++)
		add_probes_of(plan, cover, &cover->probed[i], fp, max_bits, out);
	return 0;
}

/* Whether a table sees no more errors than its threshold. Most allow none: no need to count. */
static int is_within(const sx_probed *probed, uint64_t differ)
{
	differ &= probed->counted;
	return probed->threshold ? ones(differ) <= probed->threshold : !differ;
}

int sx_cover_is_first(const sx_cover *cover, unsigned table, uint64_t differ)
{
	const sx_probed *probed = cover->probed;

	if (cover->scan)
		return 1;
	for (unsigned i = 0; i < cover->n; i++, probed++)
		if (probed->table >= table || is_within(probed, differ))
			return probed->table == table && is_within(probed, differ);
	return 0;
}

/* ---- templates ---- */

void sx_template_free(sx_template *template)
{
	sx_probes_free(&template->of_0);
}

sx_probe sx_probe_of(const sx_probe *of_0, uint64_t permuted)
{
	uint64_t lead = permuted & ~(of_0->low ^ of_0->high);
	sx_probe probe = { of_0->low ^ lead, of_0->high ^ lead, of_0->table, of_0->rest };

	return probe;
}

int sx_template_probes(const sx_plan *plan, sx_template *template, uint64_t fp,
		       unsigned max_bits, uint64_t *permuted, sx_probes *out)
{
	const sx_cover *cover = &template->cover;
	const sx_probe *from, *end;
	sx_probe *to;

	if (cover->probes > MAX_KEPT) {
		for (unsigned i = 0; i < cover->n; i++) {
			unsigned t = cover->probed[i].table;

			permuted[t] = sx_permute(&plan->table[t], fp);
		}
		return sx_cover_probes(plan, cover, fp, max_bits, out);
	}
	if (!template->of_0.n && sx_cover_probes(plan, cover, 0, 64, &template->of_0))
		return -1;
	if (sx_probes_reserve(out, template->of_0.n))
		return -1;
	from = template->of_0.at;
	end = from + template->of_0.n;
	to = out->at + out->n;
	out->n += template->of_0.n;
	while (from < end) {
		unsigned t = from->table;
		uint64_t value = permuted[t] = sx_permute(&plan->table[t], fp);

		for (; from < end && from->table == t; from++, to++) {
			*to = sx_probe_of(from, value);
			if (to->rest > (int)max_bits)
				to->rest = (int)max_bits;
		}
	}
	return 0;
}
