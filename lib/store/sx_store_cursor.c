/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Cursors. That of a read transaction is attached again to each new snapshot, but not before it
 * moves: most cursors of a reader are not used in most transactions.
 */

#include <stdlib.h>

#include "store/sx_store_lmdb.h"
#include "util/sx_alloc.h"
#include "util/sx_err.h"

int sx_cursor_open(sx_txn *txn, sx_dbi dbi, sx_cursor **out, simidx_error *err)
{
	sx_cursor *cursor = sx_calloc(1, sizeof(*cursor));
	int rc;

	*out = NULL;
	if (!cursor)
		return sx_fail_nomem(err);
	cursor->txn = txn;
	rc = mdb_cursor_open(txn->txn, dbi, &cursor->cursor);
	if (rc) {
		free(cursor);
		return sx_lmdb_fail(txn->store, rc, "cannot open a cursor", err);
	}
	cursor->is_renewed = 1;
	*out = cursor;
	return SIMIDX_OK;
}

int sx_cursor_renew(sx_txn *txn, sx_cursor *cursor, simidx_error *err)
{
	cursor->txn = txn;
	cursor->is_renewed = 0;
	return sx_store_check_fork(txn->store, err);
}

void sx_cursor_close(sx_cursor *cursor)
{
	if (!cursor)
		return;
	mdb_cursor_close(cursor->cursor);
	free(cursor);
}

/* Move LMDB's cursor; `from` is the key to seek. */
static int move(sx_cursor *cursor, MDB_cursor_op op, sx_slice from, sx_slice *key,
		sx_slice *value, simidx_error *err)
{
	MDB_val k = sx_to_val(from), v = { 0 };
	int rc = cursor->is_renewed ? 0 : mdb_cursor_renew(cursor->txn->txn, cursor->cursor);

	cursor->is_renewed = 1;
	if (!rc)
		rc = mdb_cursor_get(cursor->cursor, &k, &v, op);
	if (!rc) {
		*key = sx_to_slice(k);
		*value = sx_to_slice(v);
		return SIMIDX_OK;
	}
	*key = *value = (sx_slice){ NULL, 0 };
	return rc == MDB_NOTFOUND ? SIMIDX_E_END
				  : sx_lmdb_fail(cursor->txn->store, rc, "cannot read", err);
}

int sx_cursor_seek(sx_cursor *cursor, sx_slice from, sx_slice *key, sx_slice *value,
		   simidx_error *err)
{
	return move(cursor, MDB_SET_RANGE, from, key, value, err);
}

int sx_cursor_first(sx_cursor *cursor, sx_slice *key, sx_slice *value, simidx_error *err)
{
	return move(cursor, MDB_FIRST, (sx_slice){ NULL, 0 }, key, value, err);
}

int sx_cursor_last(sx_cursor *cursor, sx_slice *key, sx_slice *value, simidx_error *err)
{
	return move(cursor, MDB_LAST, (sx_slice){ NULL, 0 }, key, value, err);
}

int sx_cursor_next(sx_cursor *cursor, sx_slice *key, sx_slice *value, simidx_error *err)
{
	return move(cursor, MDB_NEXT, (sx_slice){ NULL, 0 }, key, value, err);
}

int sx_cursor_prev(sx_cursor *cursor, sx_slice *key, sx_slice *value, simidx_error *err)
{
	return move(cursor, MDB_PREV, (sx_slice){ NULL, 0 }, key, value, err);
}
