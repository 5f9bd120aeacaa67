/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Fresh rows in memory, found by fingerprint, id, label and radius.
 *
 * Rows are numbered from 0; row i has sequence number base + i. Rows are added and dropped at the
 * end alone, so a reader with an older snapshot uses a prefix of them. No locks: the caller has
 * them.
 */

#ifndef SX_MEMTABLE_H
#define SX_MEMTABLE_H

#include "fresh/sx_fresh_log.h"
#include "kernel/sx_kernel.h"
#include "plan/sx_probes.h"
#include "util/sx_u64s.h"

typedef struct sx_memtable sx_memtable;

/** What rows are looked up by; of labels the hash. */
enum sx_memtable_key { SX_BY_FP = 1, SX_BY_LABEL, SX_BY_ID };

#define SX_MEMTABLE_NONE UINT32_MAX

/** What differs from a fingerprint in at most k bits, and is accepted. */
typedef struct sx_fresh_query {
	uint64_t fp;
	unsigned k;
	/* of plan 4x16 for the same f, exact for k; others find fewer rows */
	const sx_probes *probes;
	/* asked of each fingerprint within k bits; NULL: all are accepted */
	int (*accepts)(const void *ctx, uint64_t fp);
	const void *ctx;
} sx_fresh_query;

/** Make an empty one for f-bit fingerprints. NULL when memory is short or f is out of range. */
sx_memtable *sx_memtable_new(unsigned bits, uint64_t base, const sx_kernel *kernel);

/** NULL is allowed. */
void sx_memtable_free(sx_memtable *memtable);

/** Sequence number of the first row. */
uint64_t sx_memtable_base(const sx_memtable *memtable);

/** Sequence number after the last row's. */
uint64_t sx_memtable_end(const sx_memtable *memtable);

/** Add a row. Returns 0, or -1 when memory is short or 2^30 rows are there: nothing changed. */
int sx_memtable_add(sx_memtable *memtable, const sx_fresh_row *row);

/** Drop the last n rows, or all if there are fewer. Cost: O(n). */
void sx_memtable_drop(sx_memtable *memtable, size_t n);

/** Row number i. Valid until the next row is added. */
const sx_fresh_row *sx_memtable_row(const sx_memtable *memtable, uint32_t i);

/** Number of the newest row with this value of a key, or SX_MEMTABLE_NONE. */
uint32_t sx_memtable_newest(const sx_memtable *memtable, enum sx_memtable_key key, uint64_t value);

/** Number of the next older row than row i with the same value of a key, or SX_MEMTABLE_NONE. */
uint32_t sx_memtable_older(const sx_memtable *memtable, enum sx_memtable_key key, uint32_t i);

/**
 * Of row i and the older ones with the same fingerprint or label, the newest one that still says
 * something; or SX_MEMTABLE_NONE. A row that added a document, and the row that deleted it right
 * after that, come to nothing and are passed over. So a fingerprint or a label that has had very
 * many documents, one after another, has few rows.
 *
 * @param key  SX_BY_FP or SX_BY_LABEL
 * @param i    may be SX_MEMTABLE_NONE
 */
uint32_t sx_memtable_live(const sx_memtable *memtable, enum sx_memtable_key key, uint32_t i);

/**
 * Append to fps the distinct fingerprints that a query asks for: all that its probes cover, and
 * perhaps others. A reader with an older snapshot finds by sx_memtable_newest() which of them it
 * has.
 *
 * @param query       the `rest` of each probe counts
 * @param candidates  raised by the fingerprints compared
 * @return 0, or -1 when memory is short
 */
int sx_memtable_near(const sx_memtable *memtable, const sx_fresh_query *query, sx_u64s *fps,
		     uint64_t *candidates);

/** Have the CPU fetch what sx_memtable_near() will read first. */
void sx_memtable_prefetch(const sx_memtable *memtable, const sx_probes *probes);

/** Have the CPU fetch what a search for a fingerprint, and then adding a row with it, will read. */
void sx_memtable_prefetch_fp(const sx_memtable *memtable, uint64_t fp);

#endif /* SX_MEMTABLE_H */
