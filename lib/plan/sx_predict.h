/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What a plan would take for so many documents: size and time, before there is an index.
 */

#ifndef SX_PREDICT_H
#define SX_PREDICT_H

#include <stdint.h>

#include "plan/sx_planner.h"

typedef struct sx_prediction {
	double row_bytes;      /* of one row in one table */
	double document_bytes; /* of one document in all tables; postings and docs not counted */
	double blocks;         /* of a query */
	sx_strategy strategy;  /* of a query: probes, candidates, ns */
} sx_prediction;

/**
 * Costs of a server (Zen 4, 32 MB of cache) with the index in memory and a directory of its
 * blocks. They grow with all entries of the index, as fewer of its pages are in the caches, until
 * nothing is. What they give is within about a factor of 1.3 of what was measured for k = 3 at 10^6 to
 * 10^8 documents (bench/bn_search), and mostly within 1.5 for other radii (bench/bn_planner).
 */
void sx_costs_typical(const sx_plan *plan, uint64_t documents, sx_costs *costs);

/** Bytes that a row of a block table takes at a fill of `fill` percent (1..100). */
double sx_row_bytes(unsigned bits, uint64_t rows, unsigned fill);

/**
 * Predict. All documents are thought to have different fingerprints, all prefixes to be equally
 * frequent.
 *
 * @param costs  NULL = typical ones
 */
void sx_predict(const sx_plan *plan, uint64_t documents, unsigned radius, unsigned fill,
		const sx_costs *costs, sx_prediction *out);

#endif /* SX_PREDICT_H */
