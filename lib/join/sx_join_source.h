/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Where the sets of a join come from. For each part of the bits (sx_join_method.h) the fingerprints
 * are read in an order in which it comes first: from a table that has this order, or else sorted for
 * it. Those that agree in the part are a *bucket*, one set to join.
 */

#ifndef SX_JOIN_SOURCE_H
#define SX_JOIN_SOURCE_H

#include <pthread.h>

#include "join/sx_join_set.h"
#include "join/sx_join_input.h"
#include "table/sx_table_walk.h"
#include "util/sx_frames.h"
#include "util/sx_sorter.h"

/* ------------------------------------------------------------------------------------------
 * Sources and streams
 */

/** What a join may use. */
typedef struct sx_join_space {
	size_t memory;   /* bytes */
	const char *dir; /* of temporary files */
	/* Called now and then while fingerprints are sorted; anything but 0 ends that. May be NULL. */
	int (*sorting)(void *ctx, uint64_t done, uint64_t total, simidx_error *err);
	void *ctx;
} sx_join_space;

/** The distinct fingerprints of one index, permuted, ascending. */
typedef struct sx_join_source {
	sx_join_input *input;
	const sx_table *table; /* that has them in this order, or NULL: */
	sx_sorter *sorter;     /* then they have been sorted, or */
	sx_spill *spill;       /* are a bucket that was spilled */
	uint64_t *fresh;       /* those of fresh rows, permuted, ascending */
	size_t n_fresh;
	const char *dir;       /* of temporary files */
	pthread_mutex_t *lock; /* held while the store is asked; NULL for one thread */
} sx_join_source;

/**
 * Begin. All zero before; sx_join_source_end() is called in any case.
 *
 * @param perm  the order; of sx_join_part, or the identity (prefix_mask is 0)
 * @param lock  NULL where one thread reads; or what several threads ask the store under
 */
int sx_join_source_begin(sx_join_source *source, sx_join_input *input, const sx_perm *perm,
			 const sx_join_space *space, pthread_mutex_t *lock, simidx_error *err);

void sx_join_source_end(sx_join_source *source);

/** Reads a source, or the part of one that has permuted values within a range. */
typedef struct sx_join_stream {
	const sx_join_source *source;
	uint64_t from, last;
	sx_table_walk walk;
	sx_frames frames; /* of a bucket that was spilled */
	size_t fresh_at;
	uint64_t *merged; /* a piece of the table, and the fresh ones within */
	size_t merged_cap;
	int has_ended;
	const uint64_t *piece; /* the entries at hand */
	size_t n, at;
} sx_join_stream;

/**
 * Begin. All zero before; sx_join_stream_end() is called in any case.
 *
 * @param from, last  the range, both included. A source that was sorted is read once, by one
 *                    stream, with 0 and UINT64_MAX; of a bucket that was spilled all is read
 */
int sx_join_stream_begin(sx_join_stream *stream, const sx_join_source *source, uint64_t from,
			 uint64_t last, simidx_error *err);

/** Leaves room that the next one begun there uses. sx_join_stream_free() frees it. */
void sx_join_stream_end(sx_join_stream *stream);
void sx_join_stream_free(sx_join_stream *stream);

/** Have at least one entry at hand. SIMIDX_E_END without setting err; the codes of a walk. */
int sx_join_stream_more(sx_join_stream *stream, simidx_error *err);

/* ------------------------------------------------------------------------------------------
 * Batches of buckets
 */

/** Whole buckets; inputs as sx_joiner_run() takes them, for two streams. All zero is an empty one. */
typedef struct sx_join_batch {
	uint64_t *v;
	uint8_t *inputs;
	size_t n, v_cap, inputs_cap;
	int has_large;  /* after them comes one that has no room, of which this is an entry: */
	uint64_t large;
	/* What each stream had of it, if a source was sorted; until the next batch is read. */
	sx_join_source spilled[2];
} sx_join_batch;

void sx_join_batch_free(sx_join_batch *batch);

/**
 * Read the next buckets, of some ten thousand entries or of one bucket with more.
 *
 * @param streams  n_streams of one order, 1 or 2; an entry that both have is one
 * @param shift    entries that agree in the bits from here on up are one bucket; 64 = every entry is
 *                 one of its own
 * @param max      most entries, at least 2. A bucket with more is left out, and perhaps one with more
 *                 than half as many: where a source was sorted, the bucket is spilled to temporary
 *                 files; where none was, its rest is not read
 * @return SIMIDX_OK, also with none: that is the end, unless has_large; SIMIDX_E_NOMEM; the codes of
 *         a walk, and of a temporary file
 */
int sx_join_batch_read(sx_join_batch *batch, sx_join_stream *streams, unsigned n_streams,
		       unsigned shift, size_t max, simidx_error *err);

#endif /* SX_JOIN_SOURCE_H */
