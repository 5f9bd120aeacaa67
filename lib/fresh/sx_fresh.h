/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The fresh rows of an open index: their log in the store, and a memtable of them that all
 * threads share. A search asks the memtable for the rows that it has and reads the others from
 * the log. Once searches have read as many rows as the log has eight times over, each one that
 * still reads some adds a part of them to the memtable, so that none waits for all.
 */

#ifndef SX_FRESH_H
#define SX_FRESH_H

#include <pthread.h>
#include <stdatomic.h>

#include "fresh/sx_memtable.h"

typedef struct sx_fresh {
	sx_table log;
	const sx_kernel *kernel; /* of the memtable's filters */
	unsigned bits;           /* of a fingerprint */
	atomic_ullong rows_read; /* from the log, by all searches so far */
	/*
	 * The memtable is made, extended and replaced under the write side of the lock and asked
	 * under the read side. It may hold rows that the writer of this handle has not committed
	 * yet; readers stop at the end of their own snapshot.
	 */
	pthread_rwlock_t lock;
	sx_memtable *memtable; /* NULL until the first row is added */
	sx_memtable *next;     /* what takes its place when a merge ends; or NULL */
} sx_fresh;

/** The rows of the log that a snapshot has. */
typedef struct sx_fresh_span {
	uint64_t first, end; /* sequence numbers; `end` is the one after the last row's */
	/*
	 * Postings answer for the rows below merge_end that are not after (merged_fp, merged_id).
	 */
	uint64_t merge_end, merged_fp, merged_id;
} sx_fresh_span;

/** An empty one; the caller then sets log, kernel and bits. NULL when memory is short. */
sx_fresh *sx_fresh_new(void);

/** NULL is allowed. */
void sx_fresh_free(sx_fresh *fresh);

/**
 * Append the documents of a span that a query finds, as the rows that added them; but not those
 * that postings answer for, nor those that were deleted since.
 *
 * @param candidates  raised by the rows or fingerprints compared
 * @return SIMIDX_OK, SIMIDX_E_NOMEM, SIMIDX_E_CORRUPT or an error of the store
 */
int sx_fresh_near(sx_fresh *fresh, sx_txn *txn, const sx_fresh_span *span,
		  const sx_fresh_query *query, sx_fresh_rows *rows, uint64_t *candidates,
		  simidx_error *err);

/**
 * Append the rows of a span that deleted a document with one of these fingerprints, each once, by
 * (fingerprint, id): postings may still have it. Otherwise as sx_fresh_near().
 *
 * @param fps  ascending
 */
int sx_fresh_deleted(sx_fresh *fresh, sx_txn *txn, const sx_fresh_span *span, const sx_u64s *fps,
		     sx_fresh_rows *rows, simidx_error *err);

/**
 * The last row of a span with this id: it says what has become of the document.
 *
 * @return as sx_fresh_near(); SIMIDX_E_NOT_FOUND without setting err
 */
int sx_fresh_by_id(sx_fresh *fresh, sx_txn *txn, const sx_fresh_span *span, uint64_t id,
		   sx_fresh_row *row, simidx_error *err);

/**
 * Append the rows of a span whose label has this hash, in their order; otherwise as
 * sx_fresh_near(). Those of documents that were added and deleted again may be missing.
 */
int sx_fresh_by_label(sx_fresh *fresh, sx_txn *txn, const sx_fresh_span *span, uint64_t hash,
		      sx_fresh_rows *rows, simidx_error *err);

/** Have the CPU fetch what sx_fresh_near() will read of the memtable, if there is one. */
void sx_fresh_prefetch(sx_fresh *fresh, const sx_fresh_span *span, const sx_probes *probes);

/** Have the CPU fetch what the memtable needs to find a fingerprint, and then to add it. */
void sx_fresh_prefetch_fp(sx_fresh *fresh, uint64_t fp);

/**
 * For a writer, whose span is the newest one: have the memtable hold exactly its rows. The codes
 * are those of sx_fresh_near().
 */
int sx_fresh_refresh(sx_fresh *fresh, sx_txn *txn, const sx_fresh_span *span, simidx_error *err);

/**
 * For who merges, between the transactions of the merge: make the memtable that takes the place of
 * this one when the rows before span->first are merged, or add to it what has come since. So a
 * writer of the same handle need not read all of the span while it has the lock. Does nothing where
 * there is no memtable, or where it fails: sx_fresh_refresh() reads what is missing.
 */
void sx_fresh_prepare(sx_fresh *fresh, sx_txn *txn, const sx_fresh_span *span);

/** After sx_fresh_refresh(): add rows that are not committed yet, all or none. SIMIDX_E_NOMEM. */
int sx_fresh_add(sx_fresh *fresh, const sx_fresh_row *rows, size_t n, simidx_error *err);

/** Take the last n rows out of the memtable: they are not going to be committed. */
void sx_fresh_drop(sx_fresh *fresh, size_t n);

#endif /* SX_FRESH_H */
