/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The log of fresh rows: changes that are stored but not yet in the tables. It is a table of the
 * store, keyed by a sequence number.
 */

#ifndef SX_FRESH_LOG_H
#define SX_FRESH_LOG_H

#include "table/sx_table.h"

#define SX_FRESH_PUT 1u    /* the document was added */
#define SX_FRESH_DELETE 2u /* it was removed; the row says what it was like */
#define SX_FRESH_LABEL 16u /* it has a label, whose hash is in the row */
#define SX_FRESH_NOTE 32u  /* it has a note */
#define SX_FRESH_HAS (SX_FRESH_LABEL | SX_FRESH_NOTE)

/**
 * One row of the log. A document that changes is removed and added again, with the same id. So of
 * the rows with one (fingerprint, id), or one (label hash, id), the last one says whether the
 * document has them.
 */
typedef struct sx_fresh_row {
	uint64_t id; /* SIMIDX_NO_ID in an index without ids */
	uint64_t fp;
	uint64_t label_hash;
	sx_values values;
	uint32_t op; /* SX_FRESH_PUT or SX_FRESH_DELETE, and flags */
} sx_fresh_row;

static inline int sx_fresh_is_delete(const sx_fresh_row *row)
{
	return (row->op & ~SX_FRESH_HAS) == SX_FRESH_DELETE;
}

/** A growable array of rows. All zero is an empty one; the owner frees `at`. */
typedef struct sx_fresh_rows {
	sx_fresh_row *at;
	size_t n, cap;
} sx_fresh_rows;

/** Columns of the log's table, after its key, the sequence number. The optional ones follow. */
enum sx_log_column { SX_LOG_OP, SX_LOG_ID, SX_LOG_FP, SX_LOG_LABEL_HASH, SX_LOG_COLUMNS };

_Static_assert((int)SX_LOG_COLUMNS + (int)SX_MAX_COLUMNS <= SX_MAX_COLS,
	       "a row of the log has room for all columns");

/** What a row of the log's table says. */
static inline sx_fresh_row sx_fresh_row_of(const sx_table *log, const sx_rows *rows, size_t i)
{
	return (sx_fresh_row){ .op = (uint32_t)rows->col[SX_LOG_OP][i],
			       .id = rows->col[SX_LOG_ID][i],
			       .fp = rows->col[SX_LOG_FP][i],
			       .label_hash = rows->col[SX_LOG_LABEL_HASH][i],
			       .values = sx_table_values(log, rows, i) };
}

/** Whether it has an operation that this version of the library knows. */
static inline int sx_fresh_is_known(const sx_rows *rows, size_t i)
{
	uint64_t op = rows->col[SX_LOG_OP][i] & ~(uint64_t)SX_FRESH_HAS;

	return op == SX_FRESH_PUT || op == SX_FRESH_DELETE;
}

/** Append a row to an array. SIMIDX_E_NOMEM. */
int sx_fresh_rows_push(sx_fresh_rows *rows, const sx_fresh_row *row, simidx_error *err);

/** Of the rows with one id keep the last one; they are by id then. SIMIDX_E_NOMEM. */
int sx_fresh_rows_keep_last(sx_fresh_rows *rows, simidx_error *err);

/** Append n rows to the log, numbered from `seq` on. */
int sx_fresh_log_append(sx_txn *txn, const sx_table *log, const sx_fresh_row *rows, size_t n,
			uint64_t seq, simidx_error *err);

/**
 * Call `visit` for each row with first <= seq < end, in order. A row that is missing or of an
 * unknown kind is SIMIDX_E_CORRUPT; a nonzero return of visit ends the reading with it.
 *
 * @param visit  may be NULL: the rows are only checked
 */
int sx_fresh_log_read(sx_txn *txn, const sx_table *log, uint64_t first, uint64_t end,
		      int (*visit)(void *ctx, const sx_fresh_row *row), void *ctx,
		      simidx_error *err);

/** Append all rows with first <= seq < end to `rows`. SIMIDX_E_NOMEM or SIMIDX_E_CORRUPT. */
int sx_fresh_log_load(sx_txn *txn, const sx_table *log, uint64_t first, uint64_t end,
		      sx_fresh_rows *rows, simidx_error *err);

/** Remove the rows with seq < end. */
int sx_fresh_log_remove(sx_txn *txn, const sx_table *log, uint64_t end, simidx_error *err);

#endif /* SX_FRESH_LOG_H */
