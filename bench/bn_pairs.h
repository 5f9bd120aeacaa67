/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What finds all pairs of near documents, for bn_pairs: each contestant is made from the same
 * documents, and all must find the same pairs.
 */

#ifndef BN_PAIRS_H
#define BN_PAIRS_H

#include "bn_sets.h"

/** What was found. The sum does not depend on the order. */
struct bn_found {
	uint64_t groups; /**< pairs of fingerprints; one that several documents have is one with
	                      itself */
	uint64_t pairs;  /**< pairs of documents */
	uint64_t sum;
};

/** Documents of two fingerprints, fp_a < fp_b, or of one that is both. */
static inline void bn_found_add(struct bn_found *found, uint64_t fp_a, uint64_t fp_b,
				uint64_t n_a, uint64_t n_b, uint64_t id_a, uint64_t id_b)
{
	uint64_t pairs = fp_a == fp_b ? n_a * (n_a - 1) / 2 : n_a * n_b;

	found->groups++;
	found->pairs += pairs;
	found->sum += (fp_a * 3 ^ fp_b * 5) * pairs + id_a * 7 + id_b * 11;
}

/** Documents in memory: distinct fingerprints, and the ids of each. */
struct bn_docs {
	uint64_t *fp; /**< ascending, and room for 64 more */
	uint32_t *first; /**< of each, its first id; and the end */
	uint32_t *id;
	uint64_t n;
};

void bn_docs_make(struct bn_docs *docs, const struct bn_set *set);
void bn_docs_free(struct bn_docs *docs);

/** Add a pair of fingerprints that there are. */
void bn_docs_add(const struct bn_docs *docs, uint64_t a, uint64_t b, struct bn_found *found);
/** Add the fingerprints that several documents have. */
void bn_docs_add_equal(const struct bn_docs *docs, struct bn_found *found);

/** Sorted arrays, one for each part of the bits, joined by the code of the library. */
struct bn_join_arrays;
struct bn_join_arrays *bn_join_arrays_new(const struct bn_docs *docs, const char *plan,
					  unsigned radius);
void bn_join_arrays_free(struct bn_join_arrays *arrays);
void bn_join_arrays_find(struct bn_join_arrays *arrays, struct bn_found *found);

/**
 * Sort by blocks: the bits are cut into `blocks` > radius blocks. For each choice of blocks -
 * radius of them, the fingerprints are permuted so that these lead, and sorted; those that agree in
 * them are compared. A pair counts where no earlier choice has it.
 */
void bn_sort_blocks(const struct bn_docs *docs, unsigned blocks, unsigned radius,
		    struct bn_found *found);

#endif /* BN_PAIRS_H */
