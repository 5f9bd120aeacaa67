/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The planner: the cheapest of the covers that find everything within a radius. There are three
 * kinds. The tables whose first leads are disjoint, each probed by its first lead alone: sum
 * (threshold + 1) > radius, and the cheapest such thresholds are found. Where whole prefixes of
 * a plan overlap, those of the plan that sx_cover_table.h lists. And a scan.
 */

#ifndef SX_PLANNER_H
#define SX_PLANNER_H

#include <stdint.h>

#include "plan/sx_costs.h"
#include "plan/sx_cover.h"

/** What is asked, of tables of which size. */
typedef struct sx_request {
	unsigned radius; /* any; more than the bits that count is all */
	uint64_t ignore; /* bits that do not count */
	uint64_t rows;   /* of each table */
	/* How full the buckets are: rows of a table from low to high, which is about `fp`. NULL =
	 * all prefixes are equally frequent. */
	uint64_t (*size)(void *ctx, unsigned table, uint64_t low, uint64_t high);
	void *ctx;
	uint64_t fp; /* the query, where size is not NULL */
} sx_request;

/**
 * Choose the cheapest cover. There always is one: a scan.
 *
 * Without request->size the result depends on nothing but its arguments, so that it can be kept
 * for each radius and about the same number of rows; it is then good for a query until
 * sx_cover_needs_replan().
 *
 * Costs 0.2 to 0.4 microseconds for radius 0, 2 to 4 for radius 3, up to 20 for radius 12; with
 * ignored bits up to 10 more. With request->size it is also called once for each probe that comes
 * into question, at most 256 for one threshold of one table.
 */
void sx_planner_choose(const sx_plan *plan, const sx_request *request, const sx_costs *costs,
		       sx_cover *out);

#define SX_MAX_OTHERS 4

/**
 * What else there would be, as far as it is not the cover that was chosen for these arguments:
 * none is cheaper.
 *
 * @return how many
 */
unsigned sx_planner_others(const sx_plan *plan, const sx_request *request, const sx_costs *costs,
			   const sx_cover *chosen, sx_cover out[SX_MAX_OTHERS]);

typedef struct sx_prediction {
	double row_bytes;      /* of one row in one table */
	double document_bytes; /* of one document in all tables; postings and docs not counted */
	double blocks;         /* of a query */
	sx_cover cover;        /* of a query: probes, candidates, ns */
} sx_prediction;

/**
 * Predict what a plan would take for this number of documents, at typical costs. All documents
 * are thought to have different fingerprints, all prefixes to be equally frequent.
 *
 * @param fill  of blocks, in percent, 1..100
 */
void sx_planner_predict(const sx_plan *plan, uint64_t documents, unsigned radius, unsigned fill,
			sx_prediction *out);

#endif /* SX_PLANNER_H */
