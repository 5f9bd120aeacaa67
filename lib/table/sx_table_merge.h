/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Merging sorted changes into a table.
 */

#ifndef SX_TABLE_MERGE_H
#define SX_TABLE_MERGE_H

#include "table/sx_table.h"

/**
 * Changes in the order of the table, each place at most once. A row is set: added, or its columns
 * replaced where it is there already; or it is removed.
 */
typedef struct sx_changes {
	const sx_rows *rows;
	const unsigned char *remove; /* nonzero: remove row i; NULL: all are set */
} sx_changes;

/** What a merge changed. */
typedef struct sx_delta {
	int64_t rows;     /* added less removed */
	uint64_t digest;  /* to be added to the table's digest, mod 2^64 */
	uint64_t written; /* blocks (or rows) that were put or deleted */
} sx_delta;

/**
 * Merge changes number *done and following into the table. Setting what is there already and
 * removing what is not change nothing, so a merge may be repeated. Stops between two blocks when
 * about `max_written` blocks were written; *done then is the first change that is still to do.
 */
int sx_table_merge(sx_txn *txn, const sx_table *table, const sx_changes *changes, size_t *done,
		   uint64_t max_written, sx_delta *delta, simidx_error *err);

#endif /* SX_TABLE_MERGE_H */
