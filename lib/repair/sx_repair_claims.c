/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "repair/sx_repair_claims.h"

#include <string.h>

#include "util/sx_err.h"
#include "util/sx_hash.h"

void sx_repair_claims_begin(sx_repair_claims *k, uint64_t id)
{
	k->id = id;
	k->n_claims = k->n_hashes = k->former.n = 0;
	k->is_fresh = k->is_gone = k->has_found_label = 0;
	k->note = SX_REPAIR_SAYS_NOTHING;
	k->label = (sx_slice){ NULL, 0 };
}

int sx_repair_claims_has_hash(const sx_repair_claims *k, sx_slice label)
{
	uint64_t hash = sx_hash(label.data, label.size);

	for (size_t i = 0; i < k->n_hashes; i++)
		if (k->hash[i] == hash)
			return 1;
	return 0;
}

static int is_claimed(const sx_repair_claims *k, uint64_t source, uint64_t fp,
		      const sx_values *values)
{
	for (size_t i = 0; i < k->n_claims; i++)
		if (k->claim[i].source == source && k->claim[i].fp == fp &&
		    !memcmp(&k->claim[i].values, values, sizeof(*values)))
			return 1;
	return 0;
}

void sx_repair_claims_add_hash(sx_repair_claims *k, uint64_t hash)
{
	for (size_t i = 0; i < k->n_hashes; i++)
		if (k->hash[i] == hash)
			return;
	if (k->n_hashes < SX_REPAIR_MAX_CLAIMS)
		k->hash[k->n_hashes++] = hash;
}

/*
 * Where the last header is lost, rows of the log may be merged ones that are still there. Tables
 * that say what the log does not know are newer than such a row, or their blocks are old, too. A
 * document is rather kept than lost; what it is like is taken from tables if no header tells which
 * rows are merged at least.
 */
static void doubt_log(sx_repair_claims *k, const sx_repair *r, uint64_t fp)
{
	if (!k->is_fresh || !r->is_header_old || (k->n_claims && sx_repair_header(r)->commit) ||
	    (k->n_claims && k->claim[0].fp == fp))
		return;
	for (size_t i = 0; i < k->former.n; i++)
		if (k->former.at[i] == fp)
			return;
	k->is_fresh = 0;
	k->n_claims = k->n_hashes = 0;
	k->note = SX_REPAIR_SAYS_NOTHING;
}

int sx_repair_claims_add(sx_repair_claims *k, sx_repair *r, const uint64_t *record)
{
	sx_values values = sx_values_get(&sx_repair_old(r)->schema->columns,
					 record + SX_REPAIR_VALUES);
	uint64_t op = record[1] & ((1u << SX_REPAIR_OP_BITS) - 1);
	int is_former;

	if (record[1] >= SX_REPAIR_SOURCE)
		doubt_log(k, r, record[2]);
	is_former = k->is_fresh;
	if (record[1] >= SX_REPAIR_SOURCE && !k->is_fresh) {
		/* Old blocks say the same many times. */
		if (is_claimed(k, record[1] - SX_REPAIR_SOURCE, record[2], &values))
			return SIMIDX_OK;
		if (k->n_claims == SX_REPAIR_MAX_CLAIMS)
			k->n_claims--; /* that of docs comes last, and stays */
		k->claim[k->n_claims++] = (sx_repair_claim){ record[1] - SX_REPAIR_SOURCE,
							     record[2], values };
	} else if (!k->is_fresh) {
		k->is_fresh = 1;
		k->note = op & SX_FRESH_NOTE ? SX_REPAIR_SAYS_ONE : SX_REPAIR_SAYS_NONE;
		is_former = (op & ~(uint64_t)SX_FRESH_HAS) == SX_FRESH_DELETE;
		if (!is_former)
			k->claim[k->n_claims++] = (sx_repair_claim){ SX_REPAIR_FRESH, record[2],
								  values };
		if (!is_former && op & SX_FRESH_LABEL)
			k->hash[k->n_hashes++] = record[3];
	}
	return is_former && sx_u64s_push(&k->former, record[2]) ? sx_fail_nomem(r->err) : SIMIDX_OK;
}

/*
 * Damaged postings may have rows of an older commit, with documents that were deleted since. A
 * merge is done with docs before it begins with postings, so docs that is whole has every document
 * of theirs.
 */
void sx_repair_claims_judge(sx_repair_claims *k, const sx_repair *r)
{
	int is_gone = r->has_whole_docs && !k->is_fresh && k->n_claims > 0;

	for (size_t i = 0; i < k->n_claims; i++)
		is_gone &= k->claim[i].source != SX_REPAIR_DOCS;
	if (!is_gone)
		return;
	k->is_gone = 1;
	k->n_claims = 0;
}

static uint64_t rank(const sx_repair *r, const sx_repair_claim *c)
{
	return c->source == SX_REPAIR_DOCS && r->has_whole_docs ? 0 : c->source + 1;
}

static unsigned votes(const sx_repair_claims *k, uint64_t fp)
{
	unsigned sources = 0;

	for (size_t i = 0; i < k->n_claims; i++)
		if (k->claim[i].fp == fp)
			sources |= 1u << k->claim[i].source;
	return (unsigned)__builtin_popcount(sources);
}

/* docs that is whole is right. Otherwise what most tables say counts, then who says it. */
const sx_repair_claim *sx_repair_claims_choose(const sx_repair_claims *k, const sx_repair *r)
{
	const sx_repair_claim *best = NULL;

	for (size_t i = 0; i < k->n_claims; i++) {
		const sx_repair_claim *c = &k->claim[i];
		int more = best ? (int)votes(k, c->fp) - (int)votes(k, best->fp) : 1;

		if (best && (!rank(r, c) || !rank(r, best)))
			more = (rank(r, best) > rank(r, c)) - (rank(r, best) < rank(r, c));
		if (more > 0 || (!more && rank(r, c) < rank(r, best)))
			best = c;
	}
	return best;
}

const sx_repair_claim *sx_repair_claims_values(const sx_repair_claims *k, uint64_t fp)
{
	for (size_t i = 0; i < k->n_claims; i++)
		if (k->claim[i].fp == fp && k->claim[i].source != SX_REPAIR_DOCS)
			return &k->claim[i];
	return NULL;
}
