/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Plans: which permuted tables an index keeps, as data, and which of them a radius needs.
 *
 * f bits are cut into m blocks of bits; two fingerprints within k bits agree on at least m - k
 * of them. A table leads with some blocks: its *prefix* is those blocks' bits, extracted in
 * order, at most 32 of them; its *permuted value* is the prefix followed by all other bits in
 * their order. Its order is therefore the order of (prefix, fingerprint). Manku, Jain, Das
 * Sarma, WWW 2007, section 3.
 *
 * Pure arithmetic: no input or output, no allocation.
 */

#ifndef SX_PLAN_H
#define SX_PLAN_H

#include <stdint.h>

#include <simidx.h>

#define SX_MAX_TABLES 32     /* of a plan */
#define SX_MAX_LEADS 3       /* blocks of bits in a prefix */
#define SX_MAX_PREFIX_BITS 32

/** One permuted table. Blocks of bits are masks over the low f bits of a fingerprint. */
typedef struct sx_perm {
	unsigned bits;      /* f */
	unsigned n_leads;
	uint64_t lead[SX_MAX_LEADS]; /* disjoint masks, the first is the most significant part */
	unsigned lead_bits[SX_MAX_LEADS]; /* their widths */
	uint64_t prefix_mask;        /* all leads */
	uint64_t rest_mask;          /* the other bits */
	unsigned prefix_bits;
	unsigned prefix_bytes;       /* 2 or 4: width of the prefix in a key */
	uint8_t source[SX_MAX_PREFIX_BITS]; /* by bit of the prefix, from the lowest: which bit of
	                                       a fingerprint it is */
} sx_perm;

/** A plan for one f. */
typedef struct sx_plan {
	char name[16];
	unsigned bits;
	unsigned n_tables;
	sx_perm table[SX_MAX_TABLES];
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

/** Names of the plans there are, i = 0, 1, ...; NULL at the end. */
const char *sx_plan_name(unsigned i);

/** The plan that "auto" takes where so many documents are expected; 0 = not known. */
const char *sx_plan_auto(uint64_t documents);

/**
 * Fill in a table from its leads: masks, widths. The last lead is cut at its low end where the
 * prefix would pass 32 bits.
 *
 * @return 0, or -1 when the leads overlap, are empty, or do not lie in the low `bits` bits
 */
int sx_perm_init(sx_perm *perm, unsigned bits, const uint64_t *leads, unsigned n_leads);

/** The permuted value of a fingerprint, right-aligned in f bits. */
uint64_t sx_permute(const sx_perm *perm, uint64_t fp);

/** The fingerprint of a permuted value. */
uint64_t sx_unpermute(const sx_perm *perm, uint64_t value);

/** The prefix of a permuted value, right-aligned. */
static inline uint64_t sx_prefix_of(const sx_perm *perm, uint64_t value)
{
	return value >> (perm->bits - perm->prefix_bits);
}

#endif /* SX_PLAN_H */
