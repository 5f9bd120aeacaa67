/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "plan/sx_plan.h"

#include <stdio.h>
#include <string.h>

#include <simidx_sketch.h>

#include "kernel/sx_bits.h"
#include "util/sx_bytes.h"
#include "util/sx_err.h"

#define MAX_BLOCKS 6 /* that a family cuts something into */

/* How the plans of one name are made, whatever f is. */
struct family {
	char name[8];
	unsigned n_blocks;   /* that the f bits are cut into */
	unsigned sixteenths; /* of f: width of all blocks but the last; 0 = all equal */
	unsigned n_leads;    /* every choice of this many blocks leads a table */
	unsigned n_subs;     /* blocks that the remaining bits are cut into; every one of them
	                        is a further lead of a table of its own; 0 = none */
	unsigned text_probes;
};

static const struct family families[] = {
	{ "4x16", 4, 0, 1, 0, SIMIDX_TEXT_PROBES },
	{ "10x26", 5, 0, 2, 0, SIMIDX_TEXT_PROBES },
	{ "16x28", 4, 0, 1, 4, SIMIDX_TEXT_PROBES },
	{ "20x31", 6, 0, 3, 0, SIMIDX_TEXT_PROBES },
	{ "3x22", 3, 5, 1, 0, SIMIDX_TEXT_PROBES_3X22 },
	{ "2x32", 2, 0, 1, 0, SIMIDX_TEXT_PROBES },
};

/* Above this one table less is worth the many more probes: measured, 64 bits. */
#define MANY_DOCUMENTS 50000000

#define N_FAMILIES (sizeof(families) / sizeof(families[0]))

/* Remove the `width` most significant ones from *mask and return them. */
static uint64_t take_top(uint64_t *mask, unsigned width)
{
	unsigned below = (unsigned)__builtin_popcountll(*mask) - width;
	uint64_t top = sx_pdep(sx_low_bits(width) << below, *mask);

	*mask &= ~top;
	return top;
}

/* n blocks of equal width, the first of them one bit wider where it does not come out even. */
static void cut_evenly(uint64_t mask, unsigned n, uint64_t *blocks)
{
	unsigned width = (unsigned)__builtin_popcountll(mask);

	for (unsigned i = 0; i < n; i++)
		blocks[i] = take_top(&mask, width / n + (i < width % n));
}

static void cut_fingerprint(const struct family *family, unsigned bits, uint64_t *blocks)
{
	uint64_t mask = sx_low_bits(bits);
	unsigned i;

	if (!family->sixteenths) {
		cut_evenly(mask, family->n_blocks, blocks);
		return;
	}
	for (i = 0; i + 1 < family->n_blocks; i++)
		blocks[i] = take_top(&mask, bits * family->sixteenths / 16);
	blocks[i] = mask;
}

/* The tables that begin with these leads: one, or one for each sub-block of the other bits. */
static int add_tables(sx_plan *plan, const struct family *family, const uint64_t *leads)
{
	uint64_t subs[MAX_BLOCKS], all[SX_MAX_LEADS];
	uint64_t rest = sx_low_bits(plan->bits);
	unsigned n = family->n_leads;
	int rc = 0;

	if (!family->n_subs)
		return sx_perm_init(&plan->table[plan->n_tables++], plan->bits, leads, n);
	for (unsigned i = 0; i < n; i++) {
		all[i] = leads[i];
		rest &= ~leads[i];
	}
	cut_evenly(rest, family->n_subs, subs);
	for (unsigned i = 0; i < family->n_subs && !rc; i++) {
		all[n] = subs[i];
		rc = sx_perm_init(&plan->table[plan->n_tables++], plan->bits, all, n + 1);
	}
	return rc;
}

/* Step to the next choice of r numbers below n in lexicographic order; 0 after the last. */
static int next_choice(unsigned *choice, unsigned r, unsigned n)
{
	unsigned i = r;

	while (i > 0 && choice[i - 1] == n - r + i - 1)
		i--;
	if (!i)
		return 0;
	for (choice[i - 1]++; i < r; i++)
		choice[i] = choice[i - 1] + 1;
	return 1;
}

static int make_tables(sx_plan *plan, const struct family *family)
{
	uint64_t blocks[MAX_BLOCKS], leads[SX_MAX_LEADS];
	unsigned choice[SX_MAX_LEADS] = { 0, 1, 2 };

	cut_fingerprint(family, plan->bits, blocks);
	do {
		for (unsigned i = 0; i < family->n_leads; i++)
			leads[i] = blocks[choice[i]];
		if (add_tables(plan, family, leads))
			return -1;
	} while (next_choice(choice, family->n_leads, family->n_blocks));
	return 0;
}

const char *sx_plan_auto(uint64_t documents)
{
	return documents > MANY_DOCUMENTS ? "3x22" : "4x16";
}

static const struct family *find_family(const char *name)
{
	if (!strcmp(name, "auto"))
		name = sx_plan_auto(0);
	for (unsigned i = 0; i < N_FAMILIES; i++) {
		if (!strcmp(name, families[i].name))
			return &families[i];
	}
	return NULL;
}

const char *sx_plan_name(unsigned i)
{
	return i < N_FAMILIES ? families[i].name : NULL;
}

static int fail_unknown(const char *name, simidx_error *err)
{
	char known[N_FAMILIES * (sizeof(families[0].name) + 2)] = "";
	size_t used = 0;

	for (unsigned i = 0; i < N_FAMILIES; i++)
		used += (size_t)snprintf(known + used, sizeof(known) - used, ", %s",
					 families[i].name);
	return sx_fail(err, SIMIDX_E_ARG, "unknown plan \"%.32s\"; known are auto%s", name,
		       known);
}

int sx_plan_make(sx_plan *plan, const char *name, unsigned bits, simidx_error *err)
{
	const struct family *family = find_family(name);

	memset(plan, 0, sizeof(*plan));
	if (!family)
		return fail_unknown(name, err);
	if (bits < SIMIDX_MIN_BITS || bits > SIMIDX_MAX_BITS)
		return sx_fail(err, SIMIDX_E_ARG,
			       "fingerprints of %u bits; %d..%d are possible", bits,
			       SIMIDX_MIN_BITS, SIMIDX_MAX_BITS);
	memcpy(plan->name, family->name, sizeof(family->name));
	plan->bits = bits;
	plan->text_probes = family->text_probes;
	if (make_tables(plan, family))
		return sx_fail(err, SIMIDX_E_ARG, "%u bits are too few for plan %s", bits,
			       plan->name);
	return SIMIDX_OK;
}

void sx_plan_prefixes(const sx_plan *plan, uint64_t fp, uint32_t *prefix)
{
	for (unsigned t = 0; t < plan->n_tables; t++) {
		const sx_perm *perm = &plan->table[t];

		prefix[t] = (uint32_t)(sx_perm_lead(perm, fp, perm->prefix_bits)
				       << (SX_MAX_PREFIX_BITS - perm->prefix_bits));
	}
}
