/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * How alike the features of documents are that have nothing to do with each other: what chance
 * matches depend on.
 */

#ifndef QU_COSINE_H
#define QU_COSINE_H

#include <stdint.h>

#include "quality/qu_set.h"
#include "quality/qu_sketch.h"

#define QU_BINS 1024
#define QU_GROUPS 20

/** What two documents have to do with each other. */
enum qu_kin {
	QU_UNRELATED, /**< not listed, nor linked through listed near or grey pairs */
	QU_ALIKE,     /**< listed, as `not`: they share something, such as a template */
	QU_RELATED    /**< anything else */
};

/** Pairs of documents by the cosine of their features: bin b is b / QU_BINS and above. */
struct qu_cosines {
	uint64_t all[QU_BINS];
	uint64_t with[QU_GROUPS][QU_BINS]; /**< pairs with a document of the group */
	uint64_t n;
};

#define QU_SAME_GRID 32

/**
 * Where both fingerprints have features of their own, and so a cosine each: the cosine that would
 * give the same chance to match if it were that of both. By steps of 1 / QU_SAME_GRID.
 */
struct qu_same {
	double of[QU_SAME_GRID + 1][QU_SAME_GRID + 1];
};

/** Who is related to whom. */
struct qu_kinship {
	const struct qu_set *set;
	uint32_t *root; /**< of each document's component of near and grey pairs */
	size_t next;    /**< first listed pair of the document that comes next */
	uint8_t *kin;   /**< enum qu_kin of the current document with each one before it */
};

void qu_kinship_of(struct qu_kinship *kinship, const struct qu_set *set);
void qu_kinship_free(struct qu_kinship *kinship);

/** Go to document `later`: 0, 1 and so on, one after the other; sets kinship->kin. */
void qu_kinship_step(struct qu_kinship *kinship, size_t later);

/**
 * The cosines of all pairs, of unrelated and of alike documents; exact.
 *
 * @param same  NULL: the cosines of the features of the first fingerprint; else those and the
 *              cosines of the features of the second, and of both the one that stands for them
 */
void qu_cosines_of(const struct qu_set *set, const struct qu_features *features,
		   const struct qu_same *same, struct qu_cosines *unrelated,
		   struct qu_cosines *alike);

#endif /* QU_COSINE_H */
