/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "support/sxt_cover.h"

#include <string.h>

/*
 * Bits that the same tables see form an atom, and only the number of errors in each atom matters.
 * Bits that no table sees are in none.
 */
typedef struct atom {
	uint32_t seen_by; /* parts of the cover, as a set */
	unsigned room;    /* bits that are still without an error */
} atom;

/* A search for a way to place errors so that each table sees more than it allows. */
typedef struct search {
	unsigned n_parts, n_atoms;
	int missing[SX_MAX_TABLES]; /* by part: errors that it still has to see */
	atom atom[64];
} search;

static void init(search *s, const sx_cover *cover)
{
	memset(s, 0, sizeof(*s));
	s->n_parts = cover->n;
	for (unsigned p = 0; p < cover->n; p++)
		s->missing[p] = cover->probed[p].threshold + 1;
	for (unsigned bit = 0; bit < 64; bit++) {
		uint32_t seen_by = 0;
		unsigned i = 0;

		for (unsigned p = 0; p < cover->n; p++)
			seen_by |= (uint32_t)(cover->probed[p].counted >> bit & 1) << p;
		if (!seen_by)
			continue;
		while (i < s->n_atoms && s->atom[i].seen_by != seen_by)
			i++;
		s->atom[i].seen_by = seen_by;
		s->atom[i].room++;
		s->n_atoms += i == s->n_atoms;
	}
}

/* The part that lacks the most errors; -1 = all have enough. */
static int neediest(const search *s)
{
	int max = 0, found = -1;

	for (unsigned p = 0; p < s->n_parts; p++) {
		if (s->missing[p] > max) {
			max = s->missing[p];
			found = (int)p;
		}
	}
	return found;
}

/* Whether `left` errors are too few even if each one fell where most needy parts see it. */
static int is_hopeless(const search *s, unsigned left)
{
	unsigned sum = 0, widest = 0;
	uint32_t needy = 0;

	for (unsigned p = 0; p < s->n_parts; p++) {
		if (s->missing[p] > 0) {
			needy |= UINT32_C(1) << p;
			sum += (unsigned)s->missing[p];
		}
	}
	for (unsigned i = 0; i < s->n_atoms; i++) {
		unsigned seen = (unsigned)__builtin_popcount(s->atom[i].seen_by & needy);

		if (s->atom[i].room && seen > widest)
			widest = seen;
	}
	return sum > widest * left;
}

static void place(search *s, uint32_t seen_by, int n)
{
	for (; seen_by; seen_by &= seen_by - 1)
		s->missing[__builtin_ctz(seen_by)] -= n;
}

/*
 * Whether at most `left` further errors can be placed so that all parts have enough. The neediest
 * part has to see one of them, so one of its atoms gets it; an atom that was tried is closed to
 * its later siblings, so that no way is looked at twice.
 */
static int can_be_missed(search *s, unsigned left)
{
	int needy = neediest(s), found = 0;
	atom before[64];

	if (needy < 0)
		return 1;
	if ((unsigned)s->missing[needy] > left || is_hopeless(s, left))
		return 0;
	memcpy(before, s->atom, sizeof(before));
	for (unsigned i = 0; i < s->n_atoms && !found; i++) {
		if (!(s->atom[i].seen_by >> needy & 1) || !s->atom[i].room)
			continue;
		s->atom[i].room--;
		place(s, s->atom[i].seen_by, 1);
		found = can_be_missed(s, left - 1);
		place(s, s->atom[i].seen_by, -1);
		s->atom[i].room = 0;
	}
	memcpy(s->atom, before, sizeof(before));
	return found;
}

int sxt_cover_is_exact(const sx_cover *cover)
{
	search s;

	if (cover->scan)
		return 1;
	init(&s, cover);
	return !can_be_missed(&s, cover->radius);
}
