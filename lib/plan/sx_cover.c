/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include <string.h>

#include "plan/sx_plan.h"

/*
 * Which errors hurt alike: bits that lie in the prefixes of the same tables form one atom, and
 * an error anywhere in it spoils exactly those tables. So the ways to put k errors into the
 * bits are the multisets of k atoms, and sets of tables are all that is needed of them.
 */
struct atoms {
	uint32_t spoils[64]; /* per atom: the tables whose prefix has it, as a set */
	unsigned n;
	uint32_t tables; /* all tables of the plan */
};

/* What some tables, the chosen ones, do not catch. */
struct survey {
	uint32_t chosen;
	int missed; /* whether there is any way to put the errors that spoils all chosen */
	uint32_t hardest; /* of these ways, the one that leaves the fewest tables: those */
};

static void find_atoms(const sx_plan *plan, struct atoms *atoms)
{
	uint32_t spoils;
	unsigned bit, t, i;

	atoms->n = 0;
	atoms->tables = (uint32_t)(((uint64_t)1 << plan->n_tables) - 1);
	for (bit = 0; bit < plan->bits; bit++) {
		spoils = 0;
		for (t = 0; t < plan->n_tables; t++)
			spoils |= (uint32_t)(plan->table[t].prefix_mask >> bit & 1) << t;
		for (i = 0; i < atoms->n && atoms->spoils[i] != spoils; i++)
			;
		atoms->spoils[i] = spoils;
		if (i == atoms->n)
			atoms->n++;
	}
}

static int is_smaller_set(uint32_t a, uint32_t b)
{
	return __builtin_popcount(a) < __builtin_popcount(b);
}

/* Put `errors` more errors into the atoms from `first` on and note how the choice fares. */
static void put_errors(const struct atoms *atoms, unsigned first, unsigned errors,
		       uint32_t spoiled, struct survey *survey)
{
	uint32_t left = atoms->tables & ~spoiled;
	unsigned i;

	if (errors) {
		for (i = first; i < atoms->n; i++)
			put_errors(atoms, i, errors - 1, spoiled | atoms->spoils[i], survey);
		return;
	}
	if (left & survey->chosen)
		return;
	if (!survey->missed || is_smaller_set(left, survey->hardest))
		survey->hardest = left;
	survey->missed = 1;
}

/*
 * Add at most `budget` tables to the chosen ones so that nothing is missed; 0 = there is no such
 * set. One of the tables that the hardest way leaves has to be in it, so only they are tried.
 */
static uint32_t extend_choice(const struct atoms *atoms, unsigned radius, uint32_t chosen,
			      unsigned budget)
{
	struct survey survey = { chosen, 0, 0 };
	uint32_t left, found;

	put_errors(atoms, 0, radius, 0, &survey);
	if (!survey.missed)
		return chosen;
	if (!budget)
		return 0;
	for (left = survey.hardest; left; left &= left - 1) {
		found = extend_choice(atoms, radius, chosen | (left & -left), budget - 1);
		if (found)
			return found;
	}
	return 0;
}

int sx_plan_cover(const sx_plan *plan, unsigned radius, sx_cover *cover)
{
	struct atoms atoms;
	uint32_t chosen = 0;
	unsigned budget;

	memset(cover, 0, sizeof(*cover));
	if (radius > SX_MAX_PLAN_RADIUS)
		return -1;
	find_atoms(plan, &atoms);
	for (budget = 1; budget <= plan->n_tables && !chosen; budget++)
		chosen = extend_choice(&atoms, radius, 0, budget);
	for (; chosen; chosen &= chosen - 1)
		cover->table[cover->n++] = (uint8_t)__builtin_ctz(chosen);
	return cover->n ? 0 : -1;
}
