/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Why two texts are, or are not, alike: what similar has found out, for those who print it.
 */

#ifndef QR_SIMILAR_H
#define QR_SIMILAR_H

#include <simidx_sketch.h>

#include "query/qr_command.h"

/** A feature of one or both texts. */
struct qr_feature {
	uint64_t hash;
	uint32_t weight[2]; /* in each text; 0 = not there */
	char *bytes;        /* blanks between its tokens */
	size_t size;
};

/** Two texts, compared. */
struct qr_similar {
	const char *path[2];
	const char *profile;
	unsigned bits;
	simidx_sketch sketch[2];
	unsigned distance, distance2;  /* plain */
	unsigned weighted[2];          /* by the weights of each text, in 1/32 */
	double cosine;                 /* of the features */
	uint8_t bit[64];               /* of the first fingerprint, the least certain first */
	struct qr_feature *feature;    /* the heaviest first */
	size_t n_features;
	uint64_t show;                 /* so many bits and features */
};

/** Print it as an object. Returns 0 or TL_TROUBLE. */
int qr_similar_json(const struct qr_similar *similar);

#endif /* QR_SIMILAR_H */
