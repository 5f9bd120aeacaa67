/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Fresh rows: changes that are stored but not yet in the tables. They are appended to a log in
 * the store, a table keyed by a sequence number, and searched through a memtable in memory.
 */

#ifndef SX_FRESH_H
#define SX_FRESH_H

#include <stddef.h>
#include <stdint.h>

#include "kernel/sx_kernel.h"
#include "plan/sx_probes.h"
#include "table/sx_table.h"

#define SX_FRESH_PUT 1u    /* the document was added */
#define SX_FRESH_LABEL 16u /* it has a label, whose hash is in the row */

/** One row of the log. */
typedef struct sx_fresh_row {
	uint64_t id; /* SIMIDX_NO_ID in an index without ids */
	uint64_t fp;
	uint64_t fp2;
	uint64_t label_hash;
	uint32_t op; /* SX_FRESH_PUT and flags */
} sx_fresh_row;

/** Columns of the log's table, behind its key, the sequence number. */
#define SX_FRESH_COLS 5

/* ------------------------------------------------------------------------------------------
 * The log (sx_fresh_log.c)
 */

/** Append n rows, numbered from `seq` on. */
int sx_fresh_append(sx_txn *txn, const sx_table *log, const sx_fresh_row *rows, size_t n,
		    uint64_t seq, simidx_error *err);

/**
 * Call `visit` for each row with first <= seq < end, in order. A row that is missing or of an
 * unknown kind is SIMIDX_E_CORRUPT; a nonzero return of visit ends the reading with it.
 */
int sx_fresh_read(sx_txn *txn, const sx_table *log, uint64_t first, uint64_t end,
		  int (*visit)(void *ctx, uint64_t seq, const sx_fresh_row *row), void *ctx,
		  simidx_error *err);

/** Remove all rows. */
int sx_fresh_clear(sx_txn *txn, const sx_table *log, simidx_error *err);

/* ------------------------------------------------------------------------------------------
 * The memtable (sx_memtable.c, sx_memtable_buckets.c)
 *
 * Rows are numbered from 0; row i has sequence number base + i. Rows are only ever added, so a
 * reader with an older snapshot uses a prefix of them. No locks: the caller has them.
 */

typedef struct sx_memtable sx_memtable;

#define SX_MEMTABLE_NONE UINT32_MAX

/** Make an empty one for f-bit fingerprints. NULL when memory is short. */
sx_memtable *sx_memtable_new(unsigned bits, uint64_t base, const sx_kernel *kernel);

/** NULL is allowed. */
void sx_memtable_free(sx_memtable *memtable);

/** Sequence number of the first row and of the one behind the last. */
uint64_t sx_memtable_base(const sx_memtable *memtable);
uint64_t sx_memtable_end(const sx_memtable *memtable);

/** Add a row. Returns 0, or -1 when memory is short or 2^31 rows are there: nothing changed. */
int sx_memtable_add(sx_memtable *memtable, const sx_fresh_row *row);

/** Row number i. */
const sx_fresh_row *sx_memtable_row(const sx_memtable *memtable, uint32_t i);

/** First row with an id, or SX_MEMTABLE_NONE. */
uint32_t sx_memtable_by_id(const sx_memtable *memtable, uint64_t id);

/** First row with a label of this hash, and the next one behind row i; or SX_MEMTABLE_NONE. */
uint32_t sx_memtable_by_label(const sx_memtable *memtable, uint64_t label_hash);
uint32_t sx_memtable_next_label(const sx_memtable *memtable, uint32_t i);

/** First row with a fingerprint, and the next one behind row i; or SX_MEMTABLE_NONE. */
uint32_t sx_memtable_by_fp(const sx_memtable *memtable, uint64_t fp);
uint32_t sx_memtable_next_fp(const sx_memtable *memtable, uint32_t i);

/**
 * Append the distinct fingerprints within k bits of `query` among rows [0, end) to fps: all that
 * lie in the ranges of the probes, and perhaps others.
 *
 * @param probes      of plan 4x16 for the same f
 * @param candidates  raised by the fingerprints compared
 * @return 0, or -1 when memory is short
 */
int sx_memtable_near(const sx_memtable *memtable, const sx_probes *probes, uint64_t query, unsigned k,
		 uint64_t end, sx_u64s *fps, uint64_t *candidates);

/** Have the CPU fetch what sx_memtable_near() will read first. */
void sx_memtable_hint(const sx_memtable *memtable, const sx_probes *probes);

#endif /* SX_FRESH_H */
