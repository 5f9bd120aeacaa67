/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Ways to distribute errors over the bits, as far as tables can tell them apart: bits that the
 * same tables see form an atom, and only the number of errors in each atom matters.
 */

#ifndef SX_ERRORS_H
#define SX_ERRORS_H

#include <stdint.h>

#include "plan/sx_plan.h"

/** The atoms of some tables. */
typedef struct sx_atoms {
	unsigned n;
	uint32_t seen_by[64]; /* the tables that see an error there, as a set */
	uint8_t size[64];     /* bits in it */
} sx_atoms;

/** A distribution of errors. */
typedef struct sx_errors {
	uint8_t in[64]; /* by atom */
	unsigned left;  /* of the radius that were not needed */
} sx_errors;

/** `masks`: the bits that each of n <= 32 tables sees. Bits that none sees are in no atom. */
void sx_atoms_find(const uint64_t *masks, unsigned n, uint64_t ignore, sx_atoms *atoms);

/**
 * Look for a distribution of at most `radius` errors that every table misses: it sees more than
 * allowed[table] of them (-1: any number is more).
 *
 * @param steps  NULL, or how long to look: a step places one error, some 50 ns; what it takes is
 *               subtracted
 * @return 1 and the distribution, 0 when there is none, or -1 when the steps were too few
 */
int sx_errors_find(const sx_atoms *atoms, const int8_t *allowed, unsigned n, unsigned radius,
		   unsigned *steps, sx_errors *errors);

#endif /* SX_ERRORS_H */
