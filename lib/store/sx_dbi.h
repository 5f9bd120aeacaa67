/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The tables of a store, and cursors in them.
 *
 * Bytes returned by a get or a cursor lie in the memory map. In a read transaction they stay
 * valid until it is reset or ended; in a write transaction until the next write to it.
 */

#ifndef SX_DBI_H
#define SX_DBI_H

#include "store/sx_txn.h"

typedef struct sx_cursor sx_cursor;
typedef unsigned sx_dbi; /* a table of the store, the same number in every transaction */

typedef struct sx_slice {
	const void *data;
	size_t size;
} sx_slice;

#define SX_DBI_MAX 64      /* tables of a store */
#define SX_DBI_MAX_KEY 511 /* bytes */

/**
 * While tables are opened, from before the transaction begins until it has ended: one thread of
 * the process at a time, and after sx_store_lock() where both are held. LMDB keeps the tables that
 * are open in a list that it does not guard, and a transaction sees of it what was there when it
 * began.
 */
void sx_dbi_lock(sx_store *store);
void sx_dbi_unlock(sx_store *store);

/**
 * Find a table, or make it in a write transaction with create != 0. Between sx_dbi_lock() and
 * sx_dbi_unlock() where several threads use the store. The number of a table that was not open
 * stays valid for all transactions that begin after this one is committed, and is lost if this
 * one is aborted or reset: open all tables in one transaction and commit that.
 *
 * @return SIMIDX_OK; SIMIDX_E_NOT_FOUND; SIMIDX_E_CORRUPT when it was made with other flags
 *         than ours (none); SIMIDX_E_UNSUPPORTED when there are SX_DBI_MAX tables already
 */
int sx_dbi_open(sx_txn *txn, const char *name, int create, sx_dbi *out, simidx_error *err);

/** Pages, keys and depth of a table. */
typedef struct sx_dbi_stat {
	uint64_t keys, branch_pages, leaf_pages, overflow_pages;
	unsigned depth;
} sx_dbi_stat;

int sx_dbi_stat_get(sx_txn *txn, sx_dbi dbi, sx_dbi_stat *out, simidx_error *err);

/** Value of a key. SIMIDX_E_NOT_FOUND without setting err. */
int sx_dbi_get(sx_txn *txn, sx_dbi dbi, sx_slice key, sx_slice *value, simidx_error *err);

/**
 * Store a value, replacing what was there.
 *
 * @return SIMIDX_OK; SIMIDX_E_MAP_FULL; SIMIDX_E_RANGE when the transaction changes too many
 *         pages; SIMIDX_E_ARG when the key is empty or longer than SX_DBI_MAX_KEY; SIMIDX_E_STATE
 *         when an earlier call in the transaction failed
 */
int sx_dbi_put(sx_txn *txn, sx_dbi dbi, sx_slice key, sx_slice value, simidx_error *err);

/** As sx_dbi_put(), after all others. SIMIDX_E_EXISTS if the key is not greater than the last. */
int sx_dbi_append(sx_txn *txn, sx_dbi dbi, sx_slice key, sx_slice value, simidx_error *err);

/** Remove a key. SIMIDX_E_NOT_FOUND without setting err. */
int sx_dbi_del(sx_txn *txn, sx_dbi dbi, sx_slice key, simidx_error *err);

/**
 * Size of the data file, and how much of it is in use (not free pages), in bytes. Only in a read
 * transaction; costs a walk over the list of free pages.
 */
int sx_dbi_usage(sx_txn *txn, uint64_t *file_bytes, uint64_t *used_bytes, simidx_error *err);

/* ------------------------------------------------------------------------------------------
 * Cursors. The moves return SIMIDX_E_END past the last key, or before the first, without setting
 * err; *key and *value are then NULL. A damaged file can give SIMIDX_E_CORRUPT.
 */

int sx_cursor_open(sx_txn *txn, sx_dbi dbi, sx_cursor **out, simidx_error *err);

/** Attach a cursor of a read transaction again after sx_txn_renew(). Costs next to nothing. */
int sx_cursor_renew(sx_txn *txn, sx_cursor *cursor, simidx_error *err);

/** NULL is allowed. Before the end of a write transaction; any time with a read transaction. */
void sx_cursor_close(sx_cursor *cursor);

/** Go to the first key >= `from`, which is not empty. */
int sx_cursor_seek(sx_cursor *cursor, sx_slice from, sx_slice *key, sx_slice *value,
		   simidx_error *err);

int sx_cursor_first(sx_cursor *cursor, sx_slice *key, sx_slice *value, simidx_error *err);
int sx_cursor_last(sx_cursor *cursor, sx_slice *key, sx_slice *value, simidx_error *err);
int sx_cursor_next(sx_cursor *cursor, sx_slice *key, sx_slice *value, simidx_error *err);
int sx_cursor_prev(sx_cursor *cursor, sx_slice *key, sx_slice *value, simidx_error *err);

#endif /* SX_DBI_H */
