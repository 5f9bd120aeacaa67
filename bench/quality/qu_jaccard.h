/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The texts of a collection compared as simidx-dedup compares them, all with all.
 */

#ifndef QU_JACCARD_H
#define QU_JACCARD_H

#include "dedup/sd_shingles.h"
#include "quality/qu_set.h"

/** The shingles of each document; for qu_shingles_free(). */
struct sd_shingles *qu_shingles_of(const struct qu_set *set);

void qu_shingles_free(struct sd_shingles *shingles, size_t n);

/** Call a function for each pair of `n` documents that has at least this similarity. */
void qu_each_similar(const struct sd_shingles *shingles, size_t n, double similarity,
		     void (*call)(void *ctx, size_t later, size_t earlier), void *ctx);

/** A similarity as an option gives it; ends the program if it is none. */
double qu_parse_similarity(const char *text);

#endif /* QU_JACCARD_H */
