/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "plan/sx_stencil.h"

#define MOST_KEPT 4096 /* probes of 0; of more, most time goes to looking them up */

void sx_stencil_free(sx_stencil *stencil)
{
	sx_probes_free(&stencil->of_0);
}

/* Those of a fingerprint from those of 0, table after table. */
static int move(const sx_plan *plan, const sx_probes *of_0, uint64_t fp, int max_bits,
		uint64_t *permuted, sx_probes *out)
{
	const sx_probe *from = of_0->at, *end = from + of_0->n;
	sx_probe *to;

	if (sx_probes_reserve(out, of_0->n))
		return -1;
	to = out->at + out->n;
	out->n += of_0->n;
	while (from < end) {
		unsigned t = from->table;
		uint64_t value = permuted[t] = sx_permute(&plan->table[t], fp);

		for (; from < end && from->table == t; from++, to++) {
			*to = sx_probe_of(from, value);
			to->rest = from->rest < max_bits ? from->rest : max_bits;
		}
	}
	return 0;
}

int sx_stencil_probes(const sx_plan *plan, sx_stencil *stencil, uint64_t fp, unsigned max_bits,
		      uint64_t *permuted, sx_probes *out)
{
	const sx_strategy *s = &stencil->strategy;

	if (s->probes > MOST_KEPT) {
		for (unsigned i = 0; i < s->n; i++)
			permuted[s->order[i]] = sx_permute(&plan->table[s->order[i]], fp);
		return sx_strategy_probes(plan, s, fp, max_bits, out);
	}
	if (!stencil->of_0.n && sx_strategy_probes(plan, s, 0, 64, &stencil->of_0))
		return -1;
	return move(plan, &stencil->of_0, fp, (int)max_bits, permuted, out);
}
