/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include <string.h>

#include "plan/sx_errors.h"
#include "plan/sx_strategy.h"
#include "util/sx_bytes.h"

void sx_atoms_find(const uint64_t *masks, unsigned n, uint64_t ignore, sx_atoms *atoms)
{
	uint32_t seen_by;
	unsigned bit, t, i;

	memset(atoms, 0, sizeof(*atoms));
	for (bit = 0; bit < 64; bit++) {
		seen_by = 0;
		for (t = 0; t < n; t++)
			seen_by |= (uint32_t)((masks[t] & ~ignore) >> bit & 1) << t;
		if (!seen_by)
			continue;
		for (i = 0; i < atoms->n && atoms->seen_by[i] != seen_by; i++)
			;
		atoms->seen_by[i] = seen_by;
		atoms->size[i]++;
		if (i == atoms->n)
			atoms->n++;
	}
}

/* A search for a way to place errors so that each table sees more than it allows. */
struct search {
	const sx_atoms *atoms;
	unsigned n;                    /* tables */
	int missing[SX_MAX_TABLES];    /* errors that a table still has to see */
	uint8_t room[64];              /* of each atom */
	unsigned *steps;               /* NULL, or how many are left */
	int gave_up;
	sx_errors *errors;
};

/* The table that lacks the most errors; -1 = all have enough. */
static int neediest(const struct search *search)
{
	int most = 0, found = -1;
	unsigned t;

	for (t = 0; t < search->n; t++) {
		if (search->missing[t] > most) {
			most = search->missing[t];
			found = (int)t;
		}
	}
	return found;
}

/* Whether so many errors cannot be enough: one is seen by so many needy tables at most. */
static int is_hopeless(const struct search *search, unsigned left)
{
	uint32_t needy = 0;
	unsigned sum = 0, widest = 0, seen, i, t;

	for (t = 0; t < search->n; t++) {
		if (search->missing[t] > 0) {
			needy |= UINT32_C(1) << t;
			sum += (unsigned)search->missing[t];
		}
	}
	for (i = 0; i < search->atoms->n; i++) {
		seen = (unsigned)__builtin_popcount(search->atoms->seen_by[i] & needy);
		if (search->room[i] && seen > widest)
			widest = seen;
	}
	return sum > widest * left;
}

static void place(struct search *search, unsigned atom, int sign)
{
	uint32_t seen_by = search->atoms->seen_by[atom];

	for (; seen_by; seen_by &= seen_by - 1)
		search->missing[__builtin_ctz(seen_by)] -= sign;
	search->errors->in[atom] = (uint8_t)(search->errors->in[atom] + sign);
}

/*
 * Place at most `left` further errors. The neediest table has to see one of them, so one of its
 * atoms gets it; an atom that was tried is closed to its later siblings, so that no way is
 * looked at twice.
 */
static int place_errors(struct search *search, unsigned left)
{
	int needy, found = 0;
	uint8_t room[64];
	unsigned i;

	if (search->steps && !(*search->steps)--) {
		*search->steps = 0;
		search->gave_up = 1;
		return 0;
	}
	needy = neediest(search);
	if (needy < 0) {
		search->errors->left = left;
		return 1;
	}
	if ((unsigned)search->missing[needy] > left || is_hopeless(search, left))
		return 0;
	memcpy(room, search->room, sizeof(room));
	for (i = 0; i < search->atoms->n && !found && !search->gave_up; i++) {
		if (!(search->atoms->seen_by[i] >> needy & 1) || !search->room[i])
			continue;
		search->room[i]--;
		place(search, i, 1);
		found = place_errors(search, left - 1);
		if (!found)
			place(search, i, -1);
		search->room[i] = 0;
	}
	memcpy(search->room, room, sizeof(room));
	return found;
}

int sx_errors_find(const sx_atoms *atoms, const int8_t *allowed, unsigned n, unsigned radius,
		   unsigned *steps, sx_errors *errors)
{
	struct search search = { 0 };
	unsigned t;

	memset(errors, 0, sizeof(*errors));
	search.atoms = atoms;
	search.n = n;
	search.steps = steps;
	search.errors = errors;
	memcpy(search.room, atoms->size, sizeof(search.room));
	for (t = 0; t < n; t++)
		search.missing[t] = allowed[t] + 1;
	if (place_errors(&search, radius))
		return 1;
	return search.gave_up ? -1 : 0;
}

int sx_strategy_is_exact(const sx_plan *plan, const sx_strategy *strategy)
{
	sx_atoms atoms;
	sx_errors errors;

	if (strategy->scan)
		return 1;
	sx_atoms_find(strategy->counts, plan->n_tables, strategy->ignore, &atoms);
	return !sx_errors_find(&atoms, strategy->errors, plan->n_tables, strategy->radius,
			       NULL, &errors);
}
