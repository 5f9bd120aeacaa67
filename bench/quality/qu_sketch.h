/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Features of texts, and their fingerprints under several seeds.
 */

#ifndef QU_SKETCH_H
#define QU_SKETCH_H

#include <stddef.h>
#include <stdint.h>

#include <simidx_sketch.h>

#include "quality/qu_set.h"

/** Name of the reference's extractor: what 1e0ng/simhash does by default. */
#define QU_REFERENCE "1e0ng"

struct qu_features {
	simidx_feature *list;
	size_t n, room;
	struct qu_features *second; /**< of the second fingerprint; NULL: the same */
};

struct qu_fp {
	uint64_t fp, fp2;
	uint8_t weights[64], weights2[64];
	unsigned flags; /**< of a sketch: what a query has to know */
};

/**
 * The features of all documents.
 *
 * @param extractor  QU_REFERENCE, or a name of the library, and settings behind it:
 *                   "words12:stop=en+zh:stem=english", "tfidf:idf=FILE:top=auto"; besides
 *                   "weights" and "grams=1+2"
 */
struct qu_features *qu_features_of(const struct qu_set *set, const char *extractor);
void qu_features_free(struct qu_features *features, size_t n);

/**
 * Fingerprints of all documents, under a seed as in simidx_text_options; the reference has none
 * of its own, and its hashes are treated likewise.
 */
void qu_fingerprints(const struct qu_features *features, size_t n, uint64_t seed,
		     struct qu_fp *out);

void qu_add_feature(struct qu_features *to, uint64_t hash, uint32_t weight);

/** Whether the reference is built in. */
int qu_has_reference(void);

/** The reference's features of a text. */
void qu_reference_features(const char *text, size_t size, struct qu_features *out);

/** End the program unless the value that the reference publishes comes out. */
void qu_reference_check(void);

#endif /* QU_SKETCH_H */
