/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Stage 4a: the buckets of a part. For each part of the bits (sx_join.h) the fingerprints are read
 * in an order in which the part comes first. A table may have this order; else they are sorted for
 * it. Fingerprints that agree in the part are neighbours then. They are a *bucket*.
 *
 * A *source* is the fingerprints of all inputs in an order. A *stream* reads a source, or a range
 * of it. A *batch* is some buckets in memory, one after another. A bucket that has no room there is
 * left out of it: sx_join_large() reads it again and again, each time for some of its entries. What
 * was sorted can be read once only, so such a bucket is written to a temporary file first.
 */

#ifndef SX_JOIN_BUCKET_H
#define SX_JOIN_BUCKET_H

#include <pthread.h>

#include "join/sx_join.h"
#include "table/sx_table_walk.h"
#include "util/sx_frames.h"

/* ------------------------------------------------------------------------------------------
 * Sources and streams
 */

/** The distinct fingerprints of one input, permuted, ascending. */
typedef struct sx_join_order {
	const sx_join_input *input;
	/* where they are: in a table that has this order, else sorted, else in a spilled bucket */
	const sx_table *table;
	sx_sorter *sorter;
	sx_spill *spill;
	uint64_t *fresh;       /* those of fresh rows, permuted, ascending */
	size_t n_fresh;
} sx_join_order;

typedef struct sx_join_source {
	const sx_join *join;
	sx_join_order of[2];   /* the inputs */
	unsigned n;
	int is_read_once;      /* an input was sorted for this, which can be read once */
	pthread_mutex_t *lock; /* held while the store is asked; NULL for one thread */
} sx_join_source;

/**
 * Begin. All zero before; sx_join_source_end() is called in any case. Sorting tells progress.
 *
 * @param perm  the order: of a sx_join_part, or NULL for that of fingerprints
 * @param lock  NULL where one thread reads; or what several threads ask the store under
 */
int sx_join_source_begin(sx_join_source *source, const sx_join *join, const sx_perm *perm,
			 pthread_mutex_t *lock, simidx_error *err);

void sx_join_source_end(sx_join_source *source);

/** Where a stream is in one input. */
typedef struct sx_join_place {
	sx_table_walk walk;
	sx_frames frames; /* of a bucket that was spilled */
	size_t fresh_at;
	uint64_t *merged; /* a piece of the table, and the fresh ones within */
	size_t merged_cap;
	int has_ended;
	const uint64_t *piece; /* the entries at hand */
	size_t n, at;
} sx_join_place;

typedef struct sx_join_stream {
	const sx_join_source *source;
	uint64_t from, last;
	sx_join_place of[2];
} sx_join_stream;

/**
 * Begin. All zero before, or ended; sx_join_stream_end() is called in any case.
 *
 * @param from, last  the range, both included. A source that was sorted is read once, by one
 *                    stream, with 0 and UINT64_MAX; of a bucket that was spilled all is read
 */
int sx_join_stream_begin(sx_join_stream *stream, const sx_join_source *source, uint64_t from,
			 uint64_t last, simidx_error *err);

/** Leaves room that the next one begun there uses. sx_join_stream_free() frees it. */
void sx_join_stream_end(sx_join_stream *stream);

/** Ends it, too. */
void sx_join_stream_free(sx_join_stream *stream);

/* ------------------------------------------------------------------------------------------
 * Batches
 */

/** Whole buckets; with two inputs, of each entry what it is of, as sx_joiner_run() takes it. */
typedef struct sx_join_batch {
	uint64_t *v;
	uint8_t *inputs;
	size_t n, v_cap, inputs_cap;
	int has_large;  /* after them comes one that has no room, of which this is an entry: */
	uint64_t large;
	/* What each input had of it, if the source was sorted; until the next batch is read. */
	sx_spill *spilled[2];
} sx_join_batch;

void sx_join_batch_free(sx_join_batch *batch);

/**
 * Read the next buckets, of some ten thousand entries or of one bucket with more. An entry that
 * both inputs have is one. All zero is an empty batch.
 *
 * @param shift  entries that agree in the bits from here on up are one bucket; 64 = every entry is
 *               one of its own
 * @param max    most entries, at least 2. A bucket with more is left out, and perhaps one with more
 *               than half as many: where the source was sorted, the bucket is spilled to temporary
 *               files; else its rest is not read
 * @return SIMIDX_OK, also with none: that is the end, unless has_large; SIMIDX_E_NOMEM; the codes
 *         of a walk, and of a temporary file
 */
int sx_join_batch_read(sx_join_batch *batch, sx_join_stream *stream, unsigned shift, size_t max,
		       simidx_error *err);

/**
 * Report all pairs of the bucket that a batch has left out.
 *
 * @param source      of the batch
 * @param batch       its entries are lost
 * @param constraint  of the bucket; the joiner is to begin anew with its own
 * @param max         entries that there is room for, at least 4
 * @return SIMIDX_OK; SIMIDX_E_NOMEM; the codes of a walk, of a temporary file, of the joiner's sink
 */
int sx_join_large(const sx_join_source *source, sx_join_batch *batch,
		  const sx_join_constraint *constraint, size_t max, sx_joiner *joiner,
		  simidx_error *err);

#endif /* SX_JOIN_BUCKET_H */
