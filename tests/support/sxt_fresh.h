/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Random fresh rows.
 */

#ifndef SXT_FRESH_H
#define SXT_FRESH_H

#include "fresh/sx_fresh_log.h"
#include "support/sxt.h"

/** A row that adds a document, with or without a label. */
static inline sx_fresh_row random_row(sxt_rng *rng)
{
	sx_fresh_row row = { .id = sxt_rng_u64(rng) >> 1, .fp = sxt_rng_u64(rng) };

	for (size_t c = 0; c < SX_MAX_COLUMNS; c++)
		row.values.of[c] = sxt_rng_below(rng, 2) ? sxt_rng_u64(rng) : 0;
	row.op = SX_FRESH_PUT;
	if (sxt_rng_below(rng, 2)) {
		row.op |= SX_FRESH_LABEL;
		row.label_hash = sxt_rng_u64(rng);
	}
	return row;
}

static inline int same_row(const sx_fresh_row *a, const sx_fresh_row *b)
{
	return a->id == b->id && a->fp == b->fp && sx_values_are_equal(&a->values, &b->values) &&
	       a->label_hash == b->label_hash && a->op == b->op;
}

#endif /* SXT_FRESH_H */
