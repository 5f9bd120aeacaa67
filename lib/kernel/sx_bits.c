/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "kernel/sx_bits.h"

struct sx_bits sx_bits = { sx_pext_plain, sx_pdep_plain };

/*
 * The masks of plans are a few runs of neighbouring bits, so both loops take a run at a time:
 * all bits of a run move by the same distance, the number of zeros in the mask below it.
 */
struct run {
	uint64_t left;  /* the mask without the runs that were taken */
	uint64_t mask;  /* this run */
	unsigned zeros; /* in the mask below this run */
	unsigned end;   /* the place above this run */
};

/* Take the lowest run; returns 0 if there is none. `r` starts with everything 0 but `left`. */
static int next_run(struct run *r)
{
	uint64_t low = r->left & -r->left;

	if (!r->left)
		return 0;
	/* The carry of the sum goes through the ones of the run and stops after it. */
	r->mask = r->left & ~(r->left + low);
	r->left &= ~r->mask;
	r->zeros += (unsigned)__builtin_ctzll(low) - r->end;
	r->end = 64 - (unsigned)__builtin_clzll(r->mask);
	return 1;
}

uint64_t sx_pext_plain(uint64_t x, uint64_t mask)
{
	struct run r = { mask, 0, 0, 0 };
	uint64_t out = 0;

	while (next_run(&r))
		out |= (x & r.mask) >> r.zeros;
	return out;
}

uint64_t sx_pdep_plain(uint64_t x, uint64_t mask)
{
	struct run r = { mask, 0, 0, 0 };
	uint64_t out = 0;

	while (next_run(&r))
		out |= (x << r.zeros) & r.mask;
	return out;
}
