/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "plan/sx_perm.h"

#include <string.h>

#include "kernel/sx_bits.h"
#include "util/sx_bytes.h"

/* Append one lead, cut at its low end to what the prefix still has room for. */
static int add_lead(sx_perm *perm, uint64_t lead)
{
	unsigned width = (unsigned)__builtin_popcountll(lead);
	unsigned room = SX_MAX_PREFIX_BITS - perm->prefix_bits;

	if (!lead || !room || (lead & ~perm->rest_mask))
		return -1;
	if (width > room) {
		lead = sx_pdep(sx_low_bits(room) << (width - room), lead);
		width = room;
	}
	perm->lead[perm->n_leads] = lead;
	perm->lead_bits[perm->n_leads] = width;
	perm->n_leads++;
	perm->prefix_mask |= lead;
	perm->rest_mask &= ~lead;
	perm->prefix_bits += width;
	return 0;
}

int sx_perm_init(sx_perm *perm, unsigned bits, const uint64_t *leads, unsigned n_leads)
{
	memset(perm, 0, sizeof(*perm));
	if (bits > 64 || n_leads < 1 || n_leads > SX_MAX_LEADS)
		return -1;
	perm->bits = bits;
	perm->rest_mask = sx_low_bits(bits);
	for (unsigned i = 0; i < n_leads; i++) {
		if (add_lead(perm, leads[i]))
			return -1;
	}
	perm->prefix_bytes = perm->prefix_bits <= 16 ? 2 : 4;
	for (unsigned i = 0, end = perm->prefix_bits; i < perm->n_leads; i++) {
		unsigned n = end -= perm->lead_bits[i];

		for (uint64_t left = perm->lead[i]; left; left &= left - 1)
			perm->source[n++] = (uint8_t)__builtin_ctzll(left);
	}
	return 0;
}

uint64_t sx_permute(const sx_perm *perm, uint64_t fp)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < perm->n_leads; i++)
		value = value << perm->lead_bits[i] | sx_pext(fp, perm->lead[i]);
	/* A prefix has 1..32 bits, so the shift is below 64. */
	return value << (perm->bits - perm->prefix_bits) | sx_pext(fp, perm->rest_mask);
}

uint64_t sx_unpermute(const sx_perm *perm, uint64_t value)
{
	uint64_t fp = sx_pdep(value, perm->rest_mask);

	value = sx_prefix_of(perm, value);
	for (unsigned i = perm->n_leads; i-- > 0;) {
		fp |= sx_pdep(value, perm->lead[i]);
		value >>= perm->lead_bits[i];
	}
	return fp;
}

uint64_t sx_perm_leading_mask(const sx_perm *perm, unsigned bits)
{
	/* A shift by all 64 bits is not defined. */
	return bits ? sx_unpermute(perm, sx_low_bits(bits) << (perm->bits - bits)) : 0;
}

uint64_t sx_perm_lead(const sx_perm *perm, uint64_t fp, unsigned bits)
{
	/* A shift by all 64 bits is not defined. */
	return bits ? sx_permute(perm, fp) >> (perm->bits - bits) : 0;
}
