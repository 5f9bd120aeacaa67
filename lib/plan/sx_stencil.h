/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * A strategy for many queries: what differs between their probes is the fingerprint alone.
 */

#ifndef SX_STENCIL_H
#define SX_STENCIL_H

#include "plan/sx_strategy.h"

/**
 * A strategy and, unless they are many, its probes of fingerprint 0: those of another one differ
 * from them as it does from 0. All zero but the strategy is a new one.
 */
typedef struct sx_stencil {
	sx_strategy strategy;
	sx_probes of_0; /* made when first needed; to be emptied when the strategy is changed */
} sx_stencil;

void sx_stencil_free(sx_stencil *stencil);

/**
 * Append the same probes as sx_strategy_probes(), which says what `max_bits` is.
 *
 * @param permuted  by table: set to the permuted value of `fp` where the table is probed
 * @return 0, or -1 when memory is short
 */
int sx_stencil_probes(const sx_plan *plan, sx_stencil *stencil, uint64_t fp, unsigned max_bits,
		      uint64_t *permuted, sx_probes *out);

#endif /* SX_STENCIL_H */
