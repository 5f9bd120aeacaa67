/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What the suites about joins share: documents in an array, in an index, and all their pairs by
 * comparing each with each.
 */

#ifndef SXT_JOIN_H
#define SXT_JOIN_H

#include <simidx_join.h>

#include "support/sxt.h"
#include "support/sxt_model.h"

typedef struct sxt_join_doc {
	uint64_t id, fp, fp2;
	int is_gone;
	int lacks_fp2; /* it has a second fingerprint that is not known */
} sxt_join_doc;

typedef struct sxt_join_docs {
	sxt_join_doc *at;
	size_t n;
	unsigned bits, flags; /* SIMIDX_CREATE_ flags */
} sxt_join_docs;

typedef struct sxt_join_pairs {
	simidx_pair *at;
	size_t n, cap;
	simidx_join_info planned, found; /* what was told; size is 0 where nothing was */
} sxt_join_pairs;

/** How fingerprints lie. */
enum sxt_join_kind {
	SXT_JOIN_UNIFORM,   /* some near to others, all else spread evenly */
	SXT_JOIN_CLUSTERED, /* around few centres, many at each distance, some equal */
	SXT_JOIN_SKEWED,    /* many with equal first, middle or last bits */
	SXT_JOIN_KINDS
};

sxt_join_docs sxt_join_make(enum sxt_join_kind kind, size_t n, unsigned bits, unsigned flags,
			    sxt_rng *rng);

/** Store documents [from, to) of the array by one commit; nothing is merged. */
void sxt_join_store(const sxt_join_docs *docs, size_t from, size_t to, simidx *index);

/** What simidx_pairs() must find, with `other` or without. */
sxt_join_pairs sxt_join_expect(const sxt_join_docs *docs, const sxt_join_docs *other,
			       const simidx_join_options *options);

/** Callbacks that fill a struct of these. */
int sxt_join_take(void *ctx, const simidx_pair *pairs, size_t n);
int sxt_join_take_groups(void *ctx, const simidx_pair_group *groups, size_t n);
int sxt_join_planned(void *ctx, const simidx_join_info *info);
int sxt_join_found(void *ctx, const simidx_join_info *info);

/** Bring pairs into the order of their documents. */
void sxt_join_sort(sxt_join_pairs *pairs);

/** Whether they are the same; both are sorted. */
void sxt_join_check(const sxt_join_pairs *got, const sxt_join_pairs *want);

#endif /* SXT_JOIN_H */
