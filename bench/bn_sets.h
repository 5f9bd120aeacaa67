/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Seeded sets of 64-bit fingerprints, and queries for them. Document i has id i.
 *
 *   uniform    random fingerprints
 *   clustered  30 % in clusters of 20 around a random one, 0..3 bits apart from it
 *   hot16      1 % begin with the same 16 bits
 *   hot5m      5 million, at most every other one, begin with the same 16 bits
 *   equal      2 % are one and the same
 *   blocks3    1 % (at most 30,000) agree in their first 48 bits: three blocks of 4x16
 *   copies     5 % are 1..3 bits apart from another one: about N / 20 pairs are near
 *   skewed     copies, and 2 % are one and the same, and 1 % begin with the same 16 bits
 *   prefix2    copies, and 2 % begin with the same 16 bits
 *
 * Queries are distinct. Every other one is a stored fingerprint with 0..3 bits flipped, the rest
 * are random. In hot16, hot5m, equal and blocks3 they are of two classes that are measured apart:
 * those that meet what is hot, and the others.
 */

#ifndef BN_SETS_H
#define BN_SETS_H

#include <stddef.h>
#include <stdint.h>

/** Queries that are reported together: set->query[first .. first + n). */
struct bn_class {
	const char *name; /**< "all", or "other" and "hot" */
	uint64_t first, n;
};

struct bn_set {
	const char *name;
	uint64_t n, *fp;          /**< the documents */
	uint64_t n_queries, *query; /**< of all classes */
	struct bn_class classes[2];
	unsigned n_classes;
};

/** Make a set, or end the program if there is none of that name. */
void bn_set_make(struct bn_set *set, const char *name, uint64_t documents, uint64_t queries,
		 uint64_t seed);
void bn_set_free(struct bn_set *set);

#endif /* BN_SETS_H */
