/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Where the sets of a join come from. The bits are cut into more *parts* than a pair has errors, so
 * that a pair agrees in at least one of them. For each part the fingerprints are read in an order in
 * which it comes first: from a table that has this order, or else sorted for it. Those that agree in
 * the part are a *bucket*, one set to join.
 */

#ifndef SX_JOIN_SOURCE_H
#define SX_JOIN_SOURCE_H

#include "join/sx_join_set.h"
#include "join/sx_join_side.h"
#include "table/sx_table_walk.h"
#include "util/sx_sorter.h"

/* ------------------------------------------------------------------------------------------
 * Parts
 */

typedef struct sx_join_part {
	uint64_t mask;  /* of the fingerprint */
	unsigned width; /* its bits */
	sx_perm perm;   /* an order in which it comes first: that of a table, if there is one */
	int is_stored;  /* there is one */
} sx_join_part;

/**
 * Cut the bits into k + 1 parts, k = 1..SX_JOIN_MAX_RADIUS: as the tables of the plan do, or else
 * as 4x16 does, with parts cut in halves as they are needed; whichever has the widest ones.
 *
 * @return how many
 */
unsigned sx_join_cut(const sx_plan *plan, unsigned k, sx_join_part parts[SX_JOIN_MAX_PARTS]);

/** What the buckets of part p report: the pairs that agree in it and in no later part. */
sx_join_shape sx_join_shape_of(const sx_join_part *parts, unsigned n, unsigned p, unsigned k);

/* ------------------------------------------------------------------------------------------
 * Streams
 */

/** The distinct fingerprints of one index, permuted, ascending. */
typedef struct sx_join_stream {
	sx_join_side *side;
	sx_table_walk walk;
	sx_sorter *sorter;
	uint64_t *fresh; /* fingerprints of fresh rows, permuted, ascending */
	size_t n_fresh, fresh_at;
	uint64_t *merged; /* a piece of the table, and the fresh ones within */
	size_t merged_cap;
	int has_ended;
	const uint64_t *piece; /* the entries at hand */
	size_t n, at;
} sx_join_stream;

/** What it may use. */
typedef struct sx_join_space {
	size_t memory;   /* bytes */
	const char *dir; /* of temporary files */
} sx_join_space;

/**
 * Begin. All zero before; sx_join_stream_end() is called in any case.
 *
 * @param perm  the order; of sx_join_part, or the identity (prefix_mask is 0)
 */
int sx_join_stream_begin(sx_join_stream *stream, sx_join_side *side, const sx_perm *perm,
			 const sx_join_space *space, simidx_error *err);

void sx_join_stream_end(sx_join_stream *stream);

/** Have at least one entry at hand. SIMIDX_E_END without setting err; the codes of a walk. */
int sx_join_stream_more(sx_join_stream *stream, simidx_error *err);

/* ------------------------------------------------------------------------------------------
 * Batches of buckets
 */

/** Whole buckets; sides as sx_joiner_run() takes them, for two streams. All zero is an empty one. */
typedef struct sx_join_batch {
	uint64_t *v;
	uint8_t *sides;
	size_t n, v_cap, sides_cap;
} sx_join_batch;

void sx_join_batch_free(sx_join_batch *batch);

/**
 * Read the next buckets, of some ten thousand entries or of one bucket with more.
 *
 * @param streams  n_streams of one order, 1 or 2; an entry that both have is one
 * @param shift    entries that agree in the bits from here on up are one bucket; 64 = every entry is
 *                 one of its own
 * @param max      most entries
 * @return SIMIDX_OK, also with none: that is the end; SIMIDX_E_NOMEM: a bucket has more than `max`,
 *         or memory is short; the codes of a walk
 */
int sx_join_batch_read(sx_join_batch *batch, sx_join_stream *streams, unsigned n_streams,
		       unsigned shift, size_t max, simidx_error *err);

#endif /* SX_JOIN_SOURCE_H */
