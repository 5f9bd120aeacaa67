/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Filling an empty table from a sorted stream, in the blocks layout or the rows layout: every
 * block but the last one full to the fill factor.
 */

#ifndef SX_TABLE_APPEND_H
#define SX_TABLE_APPEND_H

#include "table/sx_table.h"

typedef struct sx_append {
	const sx_table *table;
	sx_txn *txn;          /* the caller may commit and set another one between two calls */
	sx_rows rows;         /* not written yet */
	unsigned char *value;
	uint64_t count;       /* rows added */
	uint64_t digest;      /* sum of their sx_table_row_hash(), of a table of numbers and of
	                         pairs with a further column; the others have the digest of the
	                         stream that they are made from */
	uint64_t written;     /* LMDB records put since the caller last set it to 0 */
	sx_sort_key last;
} sx_append;

/** Begin. Returns SIMIDX_OK or SIMIDX_E_NOMEM. */
int sx_append_begin(sx_append *append, const sx_table *table, sx_txn *txn, simidx_error *err);

/** Add n rows after all others: of each its key, then its columns. */
int sx_append_rows(sx_append *append, const uint64_t *record, size_t n, simidx_error *err);

/** Write what is left. */
int sx_append_finish(sx_append *append, simidx_error *err);

/** Free the buffers. One that was never begun, all zero, is allowed. */
void sx_append_end(sx_append *append);

#endif /* SX_TABLE_APPEND_H */
