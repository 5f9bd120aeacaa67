/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * How often documents match that have nothing to do with each other: counted in a collection,
 * and predicted for a larger one.
 */

#ifndef QU_STRANGERS_H
#define QU_STRANGERS_H

#include "quality/qu_search.h"

/**
 * Count and predict for one collection, and print that.
 *
 * @param n_seeds    pairs are counted under so many seeds, in both directions
 * @param documents  how many there would be
 */
void qu_strangers(const struct qu_set *set, const char *extractor, size_t n_seeds,
		  double documents);

#endif /* QU_STRANGERS_H */
