/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * A query that has been checked: what it asks of a fingerprint, and of a document.
 */

#ifndef SX_QUERY_H
#define SX_QUERY_H

#include "index/sx_documents.h"
#include "plan/sx_weights.h"
#include "util/sx_struct.h"

typedef struct sx_query {
	const simidx_query *asked;
	uint64_t fp;
	unsigned radius;
	unsigned max_bits; /* a match differs in no more than these: what the filter looks for */
	int is_weighted;    /* distances are sums of weights, not numbers of bits */
	unsigned unit;      /* all weights are 0 or this; 0 = they are several */
	uint64_t ignore;    /* bits of weight 0 */
	int has_fp2;
	unsigned text_radius; /* of searches for texts by both fingerprints of such an index */
	int is_text;        /* texts without features do not match */
	int is_empty;       /* it is itself of one: nothing matches */
	sx_by_weight by_weight; /* where it is weighted */
} sx_query;

/** The smallest query that is one: what a caller's struct may not lack. */
#define SX_QUERY_MIN SX_STRUCT_TO(simidx_query, radius)

/** Check a query, which is of our size. The codes of simidx_reader_search(). */
int sx_query_init(sx_query *query, const simidx *index, const simidx_query *asked,
		  simidx_error *err);

/** The sum of the weights of bits; NULL: each weighs 1. */
unsigned sx_query_weigh(uint64_t bits, const uint8_t *weights);

/** The distance of a fingerprint. */
unsigned sx_query_distance(const sx_query *query, uint64_t fp);

/** Whether documents with a fingerprint that differs in max_bits or less can match. */
int sx_query_accepts_near(const sx_query *query, uint64_t fp);

/** Whether documents with this fingerprint can match. */
int sx_query_accepts(const sx_query *query, uint64_t fp);

/**
 * Whether documents with this fingerprint, which is accepted, are to be judged one by one;
 * otherwise all of them match.
 */
int sx_query_judges(const sx_query *query, uint64_t fp);

/** Whether a document whose fingerprint is accepted matches; its distances are set. */
int sx_query_judge(const sx_query *query, simidx_match *match);

/** Documents in order after which it needs no more; 0 = all are needed. */
uint64_t sx_query_enough(const sx_query *query);

/** Fingerprints that it may compare at most. */
uint64_t sx_query_candidates(const sx_query *query);

/**
 * Whether its nearest documents can be searched for within a radius that grows: the order of
 * matches is that of the radius, so that a larger one holds no nearer ones.
 */
int sx_query_grows(const sx_query *query);

/** Let a query that is like `whole` ask within this radius, if that is smaller. */
void sx_query_narrow(sx_query *query, const sx_query *whole, unsigned radius);

#endif /* SX_QUERY_H */
