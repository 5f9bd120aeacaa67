/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Why two texts are, or are not, near: what similar has found out, for those who print it.
 * Weights of bits are in the units of --accept, 1/32.
 */

#ifndef QR_SIMILAR_H
#define QR_SIMILAR_H

#include <simidx_sketch.h>

#include "input/in_room.h"
#include "query/qr_command.h"

/** A feature of one or both texts. */
struct qr_feature {
	uint64_t hash;
	uint32_t weight[2]; /* in each text, in 1/65536; 0 = not there */
	char *bytes;        /* blanks between its tokens */
	size_t size;
};

/** Two texts, compared. The first is the query of a search that the second may be found by. */
struct qr_similar {
	const char *path[2];
	const char *profile;
	unsigned bits;
	int has_fp2;                   /* second fingerprints count */
	simidx_sketch sketch[2];
	unsigned distance, distance2;  /* bits that differ */
	unsigned weight[2];            /* of these bits, by the weights of each text */
	unsigned limit;                /* a larger weight is not near */
	unsigned limit_bits;           /* a larger distance of the first fingerprints is not near */
	int is_near;                   /* a search for the first text finds the second */
	double cosine;                 /* of the features */
	uint8_t bit[64];               /* of the first fingerprint, the least certain first */
	struct in_room room;           /* what the next one points to */
	struct qr_feature *feature;    /* the heaviest first */
	size_t n_features;
	uint64_t show;                 /* this many bits and features are printed */
};

/** Print it for a reader. */
void qr_similar_print(const struct qr_context *ctx, const struct qr_similar *similar);

/** Print it as an object. */
void qr_similar_json(const struct qr_similar *similar);

#endif /* QR_SIMILAR_H */
