/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * How likely two documents match whose features have some cosine.
 *
 * The sums of both documents for a bit are about jointly normal with the cosine c as their
 * correlation (Charikar, "Similarity Estimation Techniques from Rounding Algorithms", STOC
 * 2002). So the bit of the other document differs with probability acos(c) / pi, or, as the
 * query's sum is known to be z standard deviations from 0, with that of a normal variable below
 * -c z / sqrt(1 - c^2). Bits are taken as independent given c.
 */

#ifndef QU_CHANCE_H
#define QU_CHANCE_H

#include "quality/qu_cosine.h"
#include "quality/qu_search.h"

/** By bins of the cosine, and for documents that have nothing in common. */
struct qu_chance {
	double at[QU_BINS];
	double by_bits;
};

/**
 * The chance that a document is within a rule's limit of a query, whatever an index would find.
 *
 * @param fps    queries with their weights; an evenly spaced sample of them is used
 * @param out    one a rule
 */
void qu_chances(const struct qu_fp *fps, size_t n, const struct qu_rule *rules, size_t n_rules,
		struct qu_chance *out);

/** Which cosine stands for two, for a search by weights of both fingerprints up to a limit. */
void qu_same_of(const struct qu_fp *fps, size_t n, unsigned limit, struct qu_same *out);

/** Wrong matches, and how sure that is. */
struct qu_expected {
	double is, low, high; /**< 95 % interval */
};

/**
 * Pairs like those in `cosines` that match, were there `n` of them.
 *
 * The interval is that of a jackknife over groups of documents. What else the figure rests on
 * it does not have: that more documents are like these.
 *
 * @param tail  not 0: reckon with pairs more alike than those that are there, by a generalised
 *              Pareto distribution with the mean and variance of the most alike ones; 0: with
 *              nothing but what is there
 */
struct qu_expected qu_expected_of(const struct qu_cosines *cosines,
				  const struct qu_chance *chance, double n, int tail);

#endif /* QU_CHANCE_H */
