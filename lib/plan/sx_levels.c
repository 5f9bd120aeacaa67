/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Which thresholds: the cheapest ones that are exact.
 */

#include <math.h>
#include <string.h>

#include "plan/sx_arith.h"
#include "plan/sx_errors.h"
#include "plan/sx_options.h"

/* ------------------------------------------------------------------------------------------
 * Disjoint tables: sum (threshold + 1) > radius
 */

int sx_levels_disjoint(const sx_family *family, unsigned levels, sx_levels *out)
{
	int8_t last[SX_MAX_TABLES][66]; /* threshold of a table where so many are to be stopped */
	double ns[66], with;            /* cheapest way of the tables so far to stop so many */
	unsigned need = family->radius + 1, i, stop, rest, level;

	for (stop = 0; stop <= need; stop++)
		ns[stop] = stop ? HUGE_VAL : 0;
	for (i = 0; i < family->n; i++) {
		last[i][0] = -1;
		for (stop = need; stop > 0; stop--) {
			last[i][stop] = -1;
			for (level = 0; level < family->levels[i] && level < levels; level++) {
				rest = stop > level + 1 ? stop - level - 1 : 0;
				with = ns[rest] + family->option[i][level].ns;
				if (with < ns[stop]) {
					ns[stop] = with;
					last[i][stop] = (int8_t)level;
				}
			}
		}
	}
	out->ns = ns[need];
	for (stop = need; i-- > 0;) {
		out->of[i] = last[i][stop];
		rest = (unsigned)(out->of[i] + 1);
		stop = stop > rest ? stop - rest : 0;
	}
	return out->ns < HUGE_VAL;
}

/* ------------------------------------------------------------------------------------------
 * Any tables. A distribution of errors that all tables miss has to be stopped by raising the
 * threshold of one of them to what it sees; so the search branches over the tables.
 */

#define MAX_KNOWN 128 /* distributions that are kept to try them again */

struct search {
	const sx_family *family;
	sx_atoms atoms;
	unsigned steps; /* that may still be taken to look for distributions */
	sx_levels now;
	sx_levels best;
	int8_t most[SX_MAX_TABLES]; /* thresholds above these were tried elsewhere */
	unsigned n_known;
	uint8_t seen[MAX_KNOWN][SX_MAX_TABLES]; /* by distribution: errors that a table sees */
};

static double level_ns(const struct search *search, unsigned i, int level)
{
	return level < 0 ? 0 : search->family->option[i][level].ns;
}

/* What it takes to raise one table so far that it stops a distribution. */
static double raise_ns(const struct search *search, const uint8_t *seen, unsigned i)
{
	if ((int)seen[i] > search->most[i] || seen[i] >= search->family->levels[i])
		return HUGE_VAL;
	return level_ns(search, i, seen[i]) - level_ns(search, i, search->now.of[i]);
}

static double cheapest_raise(const struct search *search, const uint8_t *seen)
{
	double least = HUGE_VAL, ns;
	unsigned i;

	for (i = 0; i < search->family->n; i++) {
		ns = raise_ns(search, seen, i);
		if (ns < least)
			least = ns;
	}
	return least;
}

static int is_stopped(const struct search *search, const uint8_t *seen)
{
	unsigned i;

	for (i = 0; i < search->family->n; i++) {
		if ((int)seen[i] <= search->now.of[i])
			return 1;
	}
	return 0;
}

static void see(const struct search *search, unsigned atom, int sign, uint8_t *seen)
{
	uint32_t seen_by = search->atoms.seen_by[atom];

	for (; seen_by; seen_by &= seen_by - 1)
		seen[__builtin_ctz(seen_by)] =
			(uint8_t)(seen[__builtin_ctz(seen_by)] + sign);
}

/* Spend the errors that a distribution has left where they make it hardest to stop. */
static void harden(const struct search *search, sx_errors *errors, uint8_t *seen)
{
	double ns, most;
	unsigned i, where;

	for (; errors->left; errors->left--) {
		most = -1;
		where = search->atoms.n;
		for (i = 0; i < search->atoms.n; i++) {
			if (errors->in[i] == search->atoms.size[i])
				continue;
			see(search, i, 1, seen);
			ns = cheapest_raise(search, seen);
			see(search, i, -1, seen);
			if (ns > most) {
				most = ns;
				where = i;
			}
		}
		if (where == search->atoms.n)
			return;
		errors->in[where]++;
		see(search, where, 1, seen);
	}
}

/* The hardest of the known distributions that nothing stops yet; NULL = all are stopped. */
static const uint8_t *find_known(const struct search *search)
{
	const uint8_t *found = NULL;
	double ns, most = -1;
	unsigned i;

	for (i = 0; i < search->n_known; i++) {
		if (is_stopped(search, search->seen[i]))
			continue;
		ns = cheapest_raise(search, search->seen[i]);
		if (ns > most) {
			most = ns;
			found = search->seen[i];
		}
	}
	return found;
}

static int find_errors(struct search *search, sx_errors *errors)
{
	return sx_errors_find(&search->atoms, search->now.of, search->family->n,
			      search->family->radius, &search->steps, errors);
}

/* Add a distribution to the known ones. */
static const uint8_t *learn(struct search *search, sx_errors *errors)
{
	uint8_t *seen;
	unsigned i, e;

	if (search->n_known == MAX_KNOWN)
		search->n_known /= 2;
	seen = search->seen[search->n_known++];
	memset(seen, 0, SX_MAX_TABLES);
	for (i = 0; i < search->atoms.n; i++) {
		for (e = 0; e < errors->in[i]; e++)
			see(search, i, 1, seen);
	}
	harden(search, errors, seen);
	return seen;
}

/* Tables in the order of what raising them takes; returns how many can be. */
static unsigned rank_raises(const struct search *search, const uint8_t *seen, uint8_t *order,
			    double *ns)
{
	unsigned n = 0, i, j;
	double mine;

	for (i = 0; i < search->family->n; i++) {
		mine = raise_ns(search, seen, i);
		if (!(mine < HUGE_VAL))
			continue;
		for (j = n++; j > 0 && ns[j - 1] > mine; j--) {
			ns[j] = ns[j - 1];
			order[j] = order[j - 1];
		}
		ns[j] = mine;
		order[j] = (uint8_t)i;
	}
	return n;
}

static void branch(struct search *search)
{
	uint8_t order[SX_MAX_TABLES], seen[SX_MAX_TABLES];
	int8_t most[SX_MAX_TABLES], before;
	double ns[SX_MAX_TABLES];
	unsigned effort = 1 + search->n_known, n, j;
	const uint8_t *missed;
	sx_errors errors;
	int found;

	if (search->steps < effort)
		return;
	search->steps -= effort; /* trying a known one takes about a step */
	missed = find_known(search);
	if (!missed) {
		found = find_errors(search, &errors);
		if (!found)
			search->best = search->now;
		if (found <= 0)
			return;
		missed = learn(search, &errors);
	}
	memcpy(seen, missed, sizeof(seen));
	memcpy(most, search->most, sizeof(most));
	n = rank_raises(search, seen, order, ns);
	for (j = 0; j < n && search->now.ns + ns[j] < search->best.ns; j++) {
		before = search->now.of[order[j]];
		search->now.of[order[j]] = (int8_t)seen[order[j]];
		search->now.ns += ns[j];
		branch(search);
		search->now.ns -= ns[j];
		search->now.of[order[j]] = before;
		/* What needs this raise has been seen; its siblings do without. */
		search->most[order[j]] = (int8_t)(seen[order[j]] - 1);
	}
	memcpy(search->most, most, sizeof(most));
}

/* Whether that is so and does not take too long to see. */
static int is_exact(struct search *search)
{
	sx_errors errors;

	return !find_errors(search, &errors);
}

/* The same threshold everywhere, the lowest that is exact. Returns 0 when none is. */
static int start_evenly(struct search *search)
{
	const sx_family *family = search->family;
	unsigned i, last;
	int level;

	for (level = 0; level < SX_MAX_LEVELS; level++) {
		last = 0;
		for (i = 0; i < family->n; i++) {
			search->now.of[i] = (int8_t)level;
			if (level >= family->levels[i])
				search->now.of[i] = (int8_t)(family->levels[i] - 1);
			last |= family->levels[i] > (unsigned)level;
		}
		if (!last)
			return 0;
		if (is_exact(search))
			return 1;
	}
	return 0;
}

/* Lower one threshold after the other as far as it goes. */
static void descend(struct search *search)
{
	int8_t *of = search->now.of, before;
	unsigned i;

	for (i = search->family->n; i-- > 0;) {
		before = of[i];
		for (of[i] = -1; of[i] < before && !is_exact(search);)
			of[i]++;
	}
	search->now.ns = 0;
	for (i = 0; i < search->family->n; i++)
		search->now.ns += level_ns(search, i, of[i]);
}

static void find_atoms(struct search *search)
{
	const sx_family *family = search->family;
	uint64_t masks[SX_MAX_TABLES];
	unsigned i;

	for (i = 0; i < family->n; i++)
		masks[i] = sx_leading_mask(&family->plan->table[family->table[i]],
					   family->width[i]);
	sx_atoms_find(masks, family->n, family->request->ignore, &search->atoms);
}

int sx_levels_search(const sx_family *family, unsigned steps, sx_levels *out)
{
	struct search search;

	search.family = family;
	search.steps = steps;
	search.n_known = 0;
	find_atoms(&search);
	if (!start_evenly(&search))
		return 0;
	descend(&search);
	search.best = search.now;
	search.now.ns = 0;
	memset(search.now.of, -1, sizeof(search.now.of));
	memset(search.most, SX_MAX_LEVELS, sizeof(search.most));
	branch(&search);
	*out = search.best;
	return 1;
}
