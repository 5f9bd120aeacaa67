/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The order of one permuted table: which bits of a fingerprint lead. Its *prefix* is the bits of
 * its lead blocks, extracted in order, at most 32 of them; its *permuted value* is the prefix
 * followed by all other bits in their order. The order of the permuted values is therefore the
 * order of (prefix, fingerprint).
 */

#ifndef SX_PERM_H
#define SX_PERM_H

#include <stdint.h>

#define SX_MAX_LEADS 3 /* blocks of bits in a prefix */
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

/** The bits of a fingerprint that are the first `bits` bits (0..f) of its permuted value. */
uint64_t sx_perm_leading_mask(const sx_perm *perm, unsigned bits);

/** The prefix of a permuted value, right-aligned. */
static inline uint64_t sx_prefix_of(const sx_perm *perm, uint64_t value)
{
	return value >> (perm->bits - perm->prefix_bits);
}

/** The first `bits` bits (0..32) of the permuted value of a fingerprint, right-aligned. */
uint64_t sx_perm_lead(const sx_perm *perm, uint64_t fp, unsigned bits);

#endif /* SX_PERM_H */
