/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * All documents of a collection, each searched for in a real index of all of them.
 */

#ifndef QU_SEARCH_H
#define QU_SEARCH_H

#include <limits.h>

#include "quality/qu_set.h"
#include "quality/qu_sketch.h"

enum qu_rule_kind {
	QU_PLAIN,      /**< Hamming radius */
	QU_WEIGHTS,    /**< by the weights of the query's text, first fingerprint alone */
	QU_WEIGHTS_FP2 /**< by weights, both fingerprints */
};

/** Where a rule's figures are printed. */
enum qu_place {
	QU_JSON,  /**< in the JSON lines */
	QU_TABLE, /**< in the JSON lines and the tables, but for those of edits */
	QU_TABLES /**< everywhere */
};

/** What counts as found. */
struct qu_rule {
	enum qu_rule_kind kind;
	unsigned limit; /**< radius, or largest weighted distance */
	enum qu_place place;
};

#define QU_USUAL UINT_MAX /**< as many probes as simidx-query */

/** What a rule found, with each pair asked for once, by its later document. */
struct qu_found {
	double near, wrong,
		missed; /**< pairs: found and near, found and not, near and not found */
	double grey;    /**< found pairs that do not count */
	double kinds[QU_MAX_KINDS]; /**< edits that were found */
	double candidates;          /**< compared a query, the query's own document left out */
	double uniform;             /**< the same if the bits were uniform and independent */
};

/**
 * Search by each rule.
 *
 * @param dir    where to make a folder for the indexes; it is removed again. Or the URI of an
 *               engine: the indexes have this and "_real" and "_uniform" for names, and stay
 * @param plan   of the indexes
 * @param probes  of searches by weights; 0 = as many as it takes to find all; QU_USUAL
 * @param found  one a rule
 */
void qu_search(const struct qu_set *set, const struct qu_fp *fps, const char *dir,
	       const char *plan, unsigned probes, const struct qu_rule *rules, size_t n_rules,
	       struct qu_found *found);

#endif /* QU_SEARCH_H */
