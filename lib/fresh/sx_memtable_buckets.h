/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Fingerprints in memory, found by radius: the 4x16 plan over buckets of cache lines. Private
 * to the memtable.
 *
 * A bucket has the fingerprints that agree in the leading b bits of a table's permuted value, b no
 * more than its prefix. It is a chain of lines of 128 bytes with 15 fingerprints, which are compared
 * together. As fingerprints come, buckets are split one by one: some have b bits and others b + 1.
 */

#ifndef SX_MEMTABLE_BUCKETS_H
#define SX_MEMTABLE_BUCKETS_H

#include <stdint.h>

#include "fresh/sx_memtable.h"

typedef struct sx_memtable_buckets sx_memtable_buckets;

/** NULL when memory is short or bits is out of range. */
sx_memtable_buckets *sx_memtable_buckets_new(unsigned bits, const sx_kernel *kernel);

/** NULL is allowed. */
void sx_memtable_buckets_free(sx_memtable_buckets *buckets);

/** Add a fingerprint that is not there yet. 0 or -1. */
int sx_memtable_buckets_add(sx_memtable_buckets *buckets, uint64_t fp);

/** Have the CPU fetch what sx_memtable_buckets_add() is going to change. */
void sx_memtable_buckets_prefetch_add(const sx_memtable_buckets *buckets, uint64_t fp);

/** Take the fingerprint out that was added last; there is one. */
void sx_memtable_buckets_drop_last(sx_memtable_buckets *buckets);

/**
 * Append the distinct fingerprints that a query asks for: those in the buckets of its probes, and
 * perhaps others. 0 or -1.
 */
int sx_memtable_buckets_near(const sx_memtable_buckets *buckets, const sx_fresh_query *query,
			     sx_u64s *fps, uint64_t *candidates);

/** Have the CPU fetch the first lines of the probes, of the first ones if there are many. */
void sx_memtable_buckets_prefetch(const sx_memtable_buckets *buckets, const sx_probes *probes);

#endif /* SX_MEMTABLE_BUCKETS_H */
