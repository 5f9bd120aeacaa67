/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include <string.h>

#include "kernel/sx_bits.h"
#include "plan/sx_plan.h"
#include "util/sx_bytes.h"

static unsigned count_bits(uint64_t mask)
{
	return (unsigned)__builtin_popcountll(mask);
}

/* Append one lead, cut at its low end to what the prefix still has room for. */
static int add_lead(sx_perm *perm, uint64_t lead)
{
	unsigned width = count_bits(lead);
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

static void find_sources(sx_perm *perm)
{
	unsigned n = perm->prefix_bits, i;
	uint64_t left;

	for (i = 0; i < perm->n_leads; i++) {
		n -= perm->lead_bits[i];
		for (left = perm->lead[i]; left; left &= left - 1)
			perm->source[n++] = (uint8_t)__builtin_ctzll(left);
		n -= perm->lead_bits[i];
	}
}

int sx_perm_init(sx_perm *perm, unsigned bits, const uint64_t *leads, unsigned n_leads)
{
	unsigned i;

	memset(perm, 0, sizeof(*perm));
	if (bits > 64 || n_leads < 1 || n_leads > SX_MAX_LEADS)
		return -1;
	perm->bits = bits;
	perm->rest_mask = sx_low_bits(bits);
	for (i = 0; i < n_leads; i++) {
		if (add_lead(perm, leads[i]))
			return -1;
	}
	perm->prefix_bytes = perm->prefix_bits <= 16 ? 2 : 4;
	find_sources(perm);
	return 0;
}

uint64_t sx_permute(const sx_perm *perm, uint64_t fp)
{
	uint64_t value = 0;
	unsigned i;

	for (i = 0; i < perm->n_leads; i++)
		value = value << perm->lead_bits[i] | sx_pext(fp, perm->lead[i]);
	/* A prefix has 1..32 bits, so the shift is below 64. */
	return value << (perm->bits - perm->prefix_bits) | sx_pext(fp, perm->rest_mask);
}

uint64_t sx_unpermute(const sx_perm *perm, uint64_t value)
{
	uint64_t fp = sx_pdep(value, perm->rest_mask);
	unsigned i;

	value = sx_prefix_of(perm, value);
	for (i = perm->n_leads; i-- > 0;) {
		fp |= sx_pdep(value, perm->lead[i]);
		value >>= perm->lead_bits[i];
	}
	return fp;
}
