/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * A join finds all pairs of near documents, or clusters of them. It has six stages. Each of them
 * has a struct, which those below it take, and calls nothing above it:
 *
 *     1  options                sx_join: options, info     sx_join_begin()
 *     2  inputs                 sx_join_input              the same; one index, or two
 *     3  method                 sx_join_method             the same
 *     4  pairs of fingerprints  sx_sorter, of two words    sx_join_find()
 *     4a   buckets of a part    sx_join_batch              sx_join_bucket.h
 *     4b   pairs in a bucket    sx_joiner                  sx_join_set.h
 *     5  documents              sx_join_documents          sx_join_documents.h
 *     6  delivery               simidx_pair, _member       sx_pairs.c, sx_clusters.c
 *
 * This header has the first three: all that is decided before a fingerprint is compared. A pair
 * within k bits is found like this. There are k + 1 *parts* of the bits, without a common bit, so
 * it agrees in one of them at least (3). The fingerprints that agree in a part are a bucket (4a),
 * and are compared with each other (4b). What was found is sorted (4). Delivery (6) reads it in
 * chunks, and the documents of the fingerprints of a chunk (5). Documents are read for (4), too, to
 * see which fingerprints several of them have.
 */

#ifndef SX_JOIN_H
#define SX_JOIN_H

#include <simidx_join.h>

#include "index/sx_snapshot.h"
#include "join/sx_join_set.h"
#include "util/sx_sorter.h"

/* ------------------------------------------------------------------------------------------
 * Inputs
 */

typedef struct sx_join_doc {
	uint64_t fp, id, fp2; /* without ids, id is SIMIDX_NO_ID */
} sx_join_doc;

/** One index, as one snapshot has it, with its fresh rows. */
typedef struct sx_join_input {
	const simidx *index;
	sx_snapshot snapshot;
	sx_join_doc *fresh; /* documents that fresh rows have added, by fingerprint and id */
	size_t n_fresh;
	uint64_t *touched;  /* ids of fresh rows, ascending: the tables say nothing of them */
	size_t n_touched;
	int is_of_two;      /* there is another input: errors name the path of their index */
} sx_join_input;

/* ------------------------------------------------------------------------------------------
 * Method
 */

/** Some bits of the fingerprint. A pair agrees in one part at least. */
typedef struct sx_join_part {
	uint64_t mask;  /* of the fingerprint */
	unsigned width; /* its bits */
	sx_perm perm;   /* an order in which it comes first: that of a table, if there is one */
	int is_stored;  /* there is one */
} sx_join_part;

typedef struct sx_join_method {
	int scans;        /* everything is compared with everything, not by parts */
	unsigned n_parts; /* 0 for radius 0, for which equal fingerprints are enough */
	sx_join_part part[SX_JOIN_MAX_PARTS];
	double seconds;   /* about, of one thread, without what the pairs take that are found */
} sx_join_method;

/**
 * Cut the bits into k + 1 parts, k = 1..SX_JOIN_MAX_RADIUS.
 *
 * @param by_leads  as the leads of the plan's tables do, of which few have to be sorted but some
 *                  may be narrow; else as 4x16 does. Parts are cut in halves as they are needed
 * @return how many; 0 = there are not so many, with by_leads only
 */
unsigned sx_join_cut(const sx_plan *plan, unsigned k, int by_leads,
		     sx_join_part parts[SX_JOIN_MAX_PARTS]);

/** What the buckets of part p report: the pairs that agree in it and in no later part. */
sx_join_constraint sx_join_constraint_of(const sx_join_part *parts, unsigned n, unsigned p,
					 unsigned k);

/* ------------------------------------------------------------------------------------------
 * A join that has begun
 */

typedef struct sx_join {
	simidx_join_options options; /* checked; memory and tmpdir are those that are used */
	simidx_join_info info;       /* with radii and threads that are used */
	sx_join_input input[2];
	unsigned n_inputs;
	sx_join_method method;
} sx_join;

/**
 * Check the options, take the snapshots, choose the method and tell planned(). All zero before;
 * sx_join_end() is called in any case.
 *
 * @param other  NULL, or the other index
 * @return as simidx_pairs(), before it has found something
 *
 * Cost: reads the fresh rows; memory of up to 112 bytes for each, and of 24 afterwards.
 */
int sx_join_begin(sx_join *join, const simidx *index, const simidx *other,
		  const simidx_join_options *options, simidx_error *err);

void sx_join_end(sx_join *join);

/** The caller has ended the join: SIMIDX_E_STOPPED. */
int sx_join_stopped(simidx_error *err);

/** Ask the caller whether to stop. SIMIDX_OK or SIMIDX_E_STOPPED. One thread at a time does. */
int sx_join_ask(const sx_join *join, simidx_error *err);

/** Tell progress, and ask whether to stop. */
int sx_join_tell(const sx_join *join, const char *phase, uint64_t done, uint64_t total,
		 simidx_error *err);

/** Say what was found: SIMIDX_OK or SIMIDX_E_STOPPED. */
int sx_join_found(const sx_join *join, simidx_error *err);

/** Begin a sorter, which may use a quarter of the memory. */
int sx_join_sorter(const sx_join *join, unsigned words, unsigned keys, sx_sorter **out,
		   simidx_error *err);

/** Add no more to it. */
int sx_join_sorted(const sx_join *join, sx_sorter *sorter, simidx_error *err);

/** Fingerprints of an input, those of fresh rows included, about. */
uint64_t sx_join_rows(const sx_join_input *input);

/**
 * The label of a document, in the map, compared with its hash; it stays as long as the snapshot.
 * NULL and 0 for a document without one, and one without an id.
 *
 * @return SIMIDX_OK; SIMIDX_E_CORRUPT: the label is damaged; the codes of the store
 */
int sx_join_label(const sx_join_input *input, uint64_t id, const char **label, size_t *size,
		  simidx_error *err);

/**
 * Returns rc. An error that reading an input gave is given its path, where there are two inputs.
 */
int sx_join_failed(const sx_join_input *input, int rc, simidx_error *err);

/** Whether second fingerprints count. */
static inline int sx_join_compares_fp2(const sx_join *join)
{
	return join->info.radius2 != SIMIDX_JOIN_NO_RADIUS2;
}

static inline const sx_kernel *sx_join_kernel(const sx_join *join)
{
	return join->input[0].index->kernel;
}

/** What tests have set. */
static inline const sx_join_tuning *sx_join_tuned(const sx_join *join)
{
	return &join->input[0].index->tuning.join;
}

#endif /* SX_JOIN_H */
