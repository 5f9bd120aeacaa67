/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Probes: ranges of permuted values to be looked up in the tables of a plan.
 */

#ifndef SX_PROBES_H
#define SX_PROBES_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "plan/sx_plan.h"
#include "util/sx_alloc.h"

#define SX_MAX_QUERY_PROBES ((uint64_t)1 << 20) /* of one query; beyond that a table is scanned */

/** One range of permuted values, looked up in one table. */
typedef struct sx_probe {
	uint64_t low, high; /* both included */
	unsigned table;     /* from 0 */
	int rest; /* the most bits outside the probed ones in which a match of this probe can
	             differ from the query; -1: this probe has no match */
} sx_probe;

/** A growable array of probes. All zero is an empty one; n = 0 keeps the memory. */
typedef struct sx_probes {
	sx_probe *at;
	size_t n, cap;
} sx_probes;

/** Make room for `more` further ones. Returns 0, or -1 when memory is short. */
static inline int sx_probes_reserve(sx_probes *probes, size_t more)
{
	if (more > SIZE_MAX - probes->n)
		return -1;
	return sx_reserve(&probes->at, &probes->cap, probes->n + more, sizeof(*probes->at));
}

static inline void sx_probes_free(sx_probes *probes)
{
	free(probes->at);
	probes->at = NULL;
	probes->n = probes->cap = 0;
}

/**
 * Append the range of all permuted values that begin with `lead`, which has `bits` bits, 0 (all
 * values) to 32. There must be room.
 */
static inline void sx_probes_add(sx_probes *probes, const sx_plan *plan, unsigned table,
				 uint64_t lead, unsigned bits, int rest)
{
	sx_probe *probe = &probes->at[probes->n++];
	unsigned below = plan->bits - bits; /* 64 only where bits = lead = 0 */

	probe->low = below < 64 ? lead << below : 0;
	probe->high = probe->low | (below < 64 ? ((uint64_t)1 << below) - 1 : UINT64_MAX);
	probe->table = table;
	probe->rest = rest;
}

#endif /* SX_PROBES_H */
