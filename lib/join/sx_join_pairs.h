/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * A join that has been begun: its options, its inputs, and the pairs of fingerprints once they are
 * found. Pairs and clusters of documents are made of these.
 *
 * The line of every join:
 *
 *     options                sx_join_pairs_begin()  -> simidx_join_options, simidx_join_info
 *     inputs                 sx_join_input          one snapshot of an index each, and its fresh rows
 *     method                 sx_join_choose()       -> sx_join_method: which parts, or a scan
 *     pairs of fingerprints  sx_join_find()         threads read buckets (sx_join_source), join them
 *                                                   (sx_join_set, sx_join_large), and sort the pairs
 *     documents              sx_join_input_documents()
 *     delivery               sx_pairs; of clusters  sx_join_nodes and sx_clusters
 */

#ifndef SX_JOIN_PAIRS_H
#define SX_JOIN_PAIRS_H

#include <simidx_join.h>

#include "join/sx_join_find.h"
#include "util/sx_u64s.h"

/** Documents of one fingerprint that are alike: where second fingerprints count, in these too. */
typedef struct sx_join_class {
	uint64_t fp2;
	int lacks_fp2;
	size_t from, n; /* its documents */
} sx_join_class;

typedef struct sx_join_classes {
	sx_join_class *at;
	size_t n, cap;
} sx_join_classes;

typedef struct sx_join_pairs {
	sx_join_task task;
	simidx_join_options options;
	simidx_join_info info;
	sx_join_method method;
	int compares_fp2;  /* second fingerprints count */
	sx_sorter *sorter; /* two words: fingerprints, the smaller one first; equal ones where several
	                      documents have one */
} sx_join_pairs;

/**
 * Check the options and take the snapshots. All zero before; sx_join_pairs_end() is called in any
 * case.
 */
int sx_join_pairs_begin(sx_join_pairs *p, const simidx *index, const simidx *other,
			const simidx_join_options *options, simidx_error *err);

/** Say what is planned, and find the pairs of fingerprints. */
int sx_join_pairs_find(sx_join_pairs *p, simidx_error *err);

/** Say what was found. */
int sx_join_pairs_found(const sx_join_pairs *p, simidx_error *err);

void sx_join_pairs_end(sx_join_pairs *p);

/** Tell progress, and ask whether to stop. */
int sx_join_pairs_tell(const sx_join_pairs *p, const char *phase, uint64_t done, uint64_t total,
		       simidx_error *err);

/**
 * Append the classes of n documents of one fingerprint, which may be brought into another order:
 * class by class, in each by id. Empty texts are left out, and *n is lowered. `from` counts from
 * `base` for the first document. SIMIDX_E_NOMEM.
 */
int sx_join_pairs_classes(const sx_join_pairs *p, const sx_join_input *input, sx_join_doc *docs,
			  size_t *n, size_t base, sx_join_classes *out, simidx_error *err);

/**
 * Whether two classes are near whose fingerprints are within the radius.
 *
 * @param distance2  bits in which second fingerprints differ; -1 where they are not compared
 */
int sx_join_pairs_are_near(const sx_join_pairs *p, unsigned distance, const sx_join_class *a,
			   const sx_join_class *b, int *distance2);

#endif /* SX_JOIN_PAIRS_H */
