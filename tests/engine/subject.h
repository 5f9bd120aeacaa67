/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * An index of an engine and its model, and queries to ask of both.
 */

#ifndef SUBJECT_H
#define SUBJECT_H

#include "engine/engines.h"

/** The plans that an engine has. */
#define N_PLANS 4
extern const char *const plans[N_PLANS];

/** What a test is about. */
struct subject {
	unsigned bits, flags;
	simidx *index;
	simidx_reader *reader;
	sxt_model model;
	sxt_rng rng;
	uint64_t common2; /* all second fingerprints are near to this one */
};

/** A new, empty index at engines_uri(). */
void subject_begin(struct subject *s, const char *plan, unsigned bits, unsigned flags);

void subject_end(struct subject *s);

uint64_t subject_any(struct subject *s);

/** Add a document to the model. */
void subject_add(struct subject *s, uint64_t fp);

/** Random fingerprints, clusters, equal ones, and those with all bits of a prefix the same. */
void subject_fill(struct subject *s, unsigned n);

/** Number i of some fingerprints: most of them are near to one that is there. */
uint64_t subject_near(struct subject *s, unsigned i);

/** Number i of some queries of all kinds, but for mode, limit and what limits the search. */
simidx_query subject_any_query(struct subject *s, unsigned i, uint8_t weights[64],
			       uint8_t weights2[64]);

#endif /* SUBJECT_H */
