/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Plans: which permuted tables an index keeps, as data.
 *
 * f bits are cut into m blocks of bits; two fingerprints within k bits agree on at least m - k
 * of them. A table leads with some of the blocks (sx_perm.h). Manku, Jain, Das Sarma, WWW 2007,
 * section 3.
 *
 * Pure arithmetic: no input or output, no allocation.
 */

#ifndef SX_PLAN_H
#define SX_PLAN_H

#include <stdint.h>

#include <simidx.h>

#include "plan/sx_perm.h"

#define SX_MAX_TABLES 32 /* of a plan */

/** A plan for one f. */
typedef struct sx_plan {
	char name[16];
	unsigned bits;
	unsigned n_tables;
	unsigned text_probes; /* of a search by the weights of a text that says nothing of them */
	sx_perm table[SX_MAX_TABLES]; /* all with the same number of leads */
} sx_plan;

/**
 * Make a plan: "4x16", "10x26", "16x28", "20x31", "3x22", "2x32", or "auto": sx_plan_auto(0). The
 * name says the form for f = 64; any f in 16..64 is cut by the same arithmetic: m blocks of
 * f / m bits, the remainder one bit each to the first blocks; block a has the most significant
 * bits.
 *
 * @return SIMIDX_OK; SIMIDX_E_ARG for an unknown name (the text lists the known ones) or bits
 *         out of range
 */
int sx_plan_make(sx_plan *plan, const char *name, unsigned bits, simidx_error *err);

/** The prefix of a fingerprint in each table, aligned to the left. */
void sx_plan_prefixes(const sx_plan *plan, uint64_t fp, uint32_t *prefix);

/** Names of the plans there are, i = 0, 1, ...; NULL at the end. */
const char *sx_plan_name(unsigned i);

/** The plan that "auto" takes where that many documents are expected; 0 = not known. */
const char *sx_plan_auto(uint64_t documents);

#endif /* SX_PLAN_H */
