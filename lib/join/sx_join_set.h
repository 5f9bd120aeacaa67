/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Stage 4b: the pairs in a bucket. A *set* is fingerprints in memory that all agree in some bits: a
 * bucket, or a part of one. All of its pairs within k bits are found. The functions are pure, but
 * for the sink that takes the pairs.
 *
 * A *constraint* says in which bits all of a set agree, and in which a pair of it must differ. Each
 * group of bits in which it must differ takes one of the k errors, if no two have a common bit: the
 * planner chooses which to count so, and the others are only checked. If e errors are left for the
 * other bits, e + 1 *sub-blocks* are cut from these, and a pair agrees in at least one of them. So
 * the set is grouped by each sub-block in turn, and only what is in one group is compared. A pair
 * may agree in several sub-blocks. The first one reports it: in the groups of the later ones, a
 * pair must differ in those before. (Of parts the last one reports.) A group that stays large is
 * treated as a set of its own.
 *
 * A small planner chooses the bits and widths of sub-blocks by what they cost.
 */

#ifndef SX_JOIN_SET_H
#define SX_JOIN_SET_H

#include <stddef.h>
#include <stdint.h>

#include <simidx.h>

#include "index/sx_index.h"
#include "kernel/sx_kernel.h"

/** Largest radius of this method. */
#define SX_JOIN_MAX_RADIUS 7

/** Most parts into which the bits of a fingerprint are cut. */
#define SX_JOIN_MAX_PARTS (SX_JOIN_MAX_RADIUS + 1)

/**
 * Most masks in which a pair must differ that a set can begin with: parts, and choices of more
 * bits.
 */
#define SX_JOIN_MAX_MUST (2 * SX_JOIN_MAX_PARTS)

/** From this bit on the inputs of an entry have the number of its chunk, if there are chunks. */
#define SX_JOIN_CHUNK_SHIFT 2

/** Entries behind the last one of a set that can be read. What they are does not matter. */
#define SX_JOIN_PADDING 32

/** What is known of the pairs that a set is to report. Masks are of permuted values. */
typedef struct sx_join_constraint {
	unsigned bits;      /* f */
	unsigned k;         /* 1..SX_JOIN_MAX_RADIUS */
	uint64_t agreed;    /* bits in which all entries agree */
	uint64_t must[SX_JOIN_MAX_MUST]; /* in each of these a pair must differ */
	unsigned n_must;
} sx_join_constraint;

/** What joins sets: one for each thread. */
typedef struct sx_joiner sx_joiner;

/** Where pairs go. */
typedef struct sx_join_sink {
	/** Takes n pairs, two entries each. Anything but 0 ends the work with it. */
	int (*take)(void *ctx, const uint64_t *pairs, size_t n);
	/** Asked after some ten milliseconds of work, the same way. */
	int (*pause)(void *ctx);
	void *ctx;
} sx_join_sink;

/** NULL when memory is short. */
sx_joiner *sx_joiner_new(const sx_kernel *kernel, const sx_join_tuning *tuning,
			 const sx_join_sink *sink);

/** NULL is allowed. */
void sx_joiner_free(sx_joiner *joiner);

/** The sets that follow have this constraint. */
void sx_joiner_begin(sx_joiner *joiner, const sx_join_constraint *constraint);

/**
 * Report all pairs of some buckets within k bits that the joiner's constraint allows, each
 * once. A bucket is the entries that agree in the `agreed` bits.
 *
 * @param v      n distinct entries, ascending, and SX_JOIN_PADDING that can be read
 * @param inputs  of each entry: bit 0, it is of one index, bit 1, of the other; then pairs are
 *               reported of which one entry is of one and the other one of the other. With numbers
 *               of chunks, which begin at 1, only pairs of different chunks are. NULL = all
 * @return SIMIDX_OK; SIMIDX_E_NOMEM; what the sink returned
 */
int sx_joiner_run(sx_joiner *joiner, const uint64_t *v, const uint8_t *inputs, size_t n);

/** Hand over the pairs that the sink has not taken yet. Returns what it returns. */
int sx_joiner_flush(sx_joiner *joiner);

/** Ask the sink's pause(). */
int sx_joiner_pause(sx_joiner *joiner);

/** Nanoseconds, about, that one bucket of n takes. */
double sx_join_set_cost(const sx_kernel *kernel, const sx_join_constraint *constraint, size_t n);

#endif /* SX_JOIN_SET_H */
