/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "store/sx_dbi.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "store/sx_lmdb_pages.h"
#include "store/sx_store_handle.h"
#include "util/sx_alloc.h"
#include "util/sx_err.h"

struct sx_cursor {
	MDB_cursor *cursor;
	sx_txn *txn;
	int is_attached; /* LMDB's cursor is one of the snapshot at hand */
};

static_assert(SX_DBI_MAX == SX_ENV_MAX_TABLES, "LMDB is told how many tables there may be");
static_assert(sizeof(sx_dbi) == sizeof(MDB_dbi), "a table's number is LMDB's");

static MDB_val to_val(sx_slice s)
{
	/* LMDB copies 0 bytes too, and memcpy() must not be given NULL. */
	return (MDB_val){ .mv_size = s.size, .mv_data = s.data ? (void *)s.data : (void *)"" };
}

static sx_slice to_slice(MDB_val val)
{
	return (sx_slice){ .data = val.mv_data, .size = val.mv_size };
}

/*
 * The code of what LMDB returned. Where `missing` is not 0 it is the code of MDB_NOTFOUND, which
 * is no failure: err is not set.
 */
static int finish(const sx_txn *txn, int rc, int missing, const char *doing, simidx_error *err)
{
	if (!rc)
		return SIMIDX_OK;
	if (rc == MDB_NOTFOUND && missing)
		return missing;
	return sx_env_fail(&txn->store->env, rc, doing, err);
}

/* ------------------------------------------------------------------------------------------
 * Tables
 */

void sx_dbi_lock(sx_store *store)
{
	pthread_mutex_lock(&store->tables);
}

void sx_dbi_unlock(sx_store *store)
{
	pthread_mutex_unlock(&store->tables);
}

int sx_dbi_open(sx_txn *txn, const char *name, int create, sx_dbi *out, simidx_error *err)
{
	unsigned flags;
	MDB_dbi dbi;
	int rc = mdb_dbi_open(txn->txn, name, create ? MDB_CREATE : 0, &dbi);

	*out = 0;
	if (rc == MDB_NOTFOUND)
		return sx_fail(err, SIMIDX_E_NOT_FOUND, "there is no table %s", name);
	if (!rc)
		rc = mdb_dbi_flags(txn->txn, dbi, &flags);
	if (rc)
		return sx_env_fail(&txn->store->env, rc, name, err);
	if (flags)
		return sx_fail(err, SIMIDX_E_CORRUPT, "table %s has flags 0x%x, not 0", name,
			       flags);
	*out = dbi;
	return SIMIDX_OK;
}

int sx_dbi_stat_get(sx_txn *txn, sx_dbi dbi, sx_dbi_stat *out, simidx_error *err)
{
	MDB_stat stat;
	int rc = mdb_stat(txn->txn, dbi, &stat);

	memset(out, 0, sizeof(*out));
	if (rc)
		return finish(txn, rc, 0, "cannot read a table's record", err);
	out->keys = stat.ms_entries;
	out->branch_pages = stat.ms_branch_pages;
	out->leaf_pages = stat.ms_leaf_pages;
	out->overflow_pages = stat.ms_overflow_pages;
	out->depth = stat.ms_depth;
	return SIMIDX_OK;
}

int sx_dbi_get(sx_txn *txn, sx_dbi dbi, sx_slice key, sx_slice *value, simidx_error *err)
{
	MDB_val k = to_val(key), v = { 0 };
	int rc = mdb_get(txn->txn, dbi, &k, &v);

	*value = to_slice(v);
	return finish(txn, rc, SIMIDX_E_NOT_FOUND, "cannot read", err);
}

int sx_dbi_put(sx_txn *txn, sx_dbi dbi, sx_slice key, sx_slice value, simidx_error *err)
{
	MDB_val k = to_val(key), v = to_val(value);

	return finish(txn, mdb_put(txn->txn, dbi, &k, &v, 0), 0, "cannot store", err);
}

int sx_dbi_append(sx_txn *txn, sx_dbi dbi, sx_slice key, sx_slice value, simidx_error *err)
{
	MDB_val k = to_val(key), v = to_val(value);

	return finish(txn, mdb_put(txn->txn, dbi, &k, &v, MDB_APPEND), 0, "cannot append", err);
}

int sx_dbi_del(sx_txn *txn, sx_dbi dbi, sx_slice key, simidx_error *err)
{
	MDB_val k = to_val(key);

	return finish(txn, mdb_del(txn->txn, dbi, &k, NULL), SIMIDX_E_NOT_FOUND, "cannot remove",
		      err);
}

/* ------------------------------------------------------------------------------------------
 * Space
 */

/* Pages on the free list, at most `limit`: each record begins with how many it has. */
static int count_free(sx_txn *txn, uint64_t limit, uint64_t *out, simidx_error *err)
{
	MDB_val key, value;
	MDB_cursor *cursor;
	int rc;

	*out = 0;
	rc = mdb_cursor_open(txn->txn, SX_LMDB_FREE_TABLE, &cursor);
	if (rc)
		return finish(txn, rc, 0, "cannot read the free list", err);
	while (!(rc = mdb_cursor_get(cursor, &key, &value, MDB_NEXT))) {
		size_t n, room = value.mv_size / sizeof(n);

		if (room)
			memcpy(&n, value.mv_data, sizeof(n));
		if (!room || n > room - 1 || n > limit - *out) {
			rc = MDB_CORRUPTED;
			break;
		}
		*out += n;
	}
	mdb_cursor_close(cursor);
	return finish(txn, rc == MDB_NOTFOUND ? 0 : rc, 0, "cannot read the free list", err);
}

int sx_dbi_usage(sx_txn *txn, uint64_t *file_bytes, uint64_t *used_bytes, simidx_error *err)
{
	uint64_t free_pages, pages;
	MDB_envinfo info;
	struct stat st;
	int rc;

	*file_bytes = *used_bytes = 0;
	mdb_env_info(txn->store->env.env, &info);
	if (fstat(txn->store->env.data_fd, &st))
		return sx_fail_errno(err, errno, "%s", sx_store_path(txn->store));
	/* Of the newest snapshot, which may be a little later than this one. */
	pages = info.me_last_pgno + 1;
	rc = count_free(txn, pages, &free_pages, err);
	if (rc)
		return rc;
	*file_bytes = (uint64_t)st.st_size;
	*used_bytes = (pages - free_pages) * txn->store->env.page_size;
	return SIMIDX_OK;
}

/* ------------------------------------------------------------------------------------------
 * Cursors. That of a read transaction is attached to a new snapshot when it first moves: a
 * reader has more cursors than most transactions use.
 */

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
		return sx_env_fail(&txn->store->env, rc, "cannot open a cursor", err);
	}
	cursor->is_attached = 1;
	*out = cursor;
	return SIMIDX_OK;
}

int sx_cursor_renew(sx_txn *txn, sx_cursor *cursor, simidx_error *err)
{
	cursor->txn = txn;
	cursor->is_attached = 0;
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
	MDB_val k = to_val(from), v = { 0 };
	int rc = cursor->is_attached ? 0 : mdb_cursor_renew(cursor->txn->txn, cursor->cursor);

	cursor->is_attached = 1;
	if (!rc)
		rc = mdb_cursor_get(cursor->cursor, &k, &v, op);
	*key = rc ? (sx_slice){ NULL, 0 } : to_slice(k);
	*value = rc ? (sx_slice){ NULL, 0 } : to_slice(v);
	return finish(cursor->txn, rc, SIMIDX_E_END, "cannot read", err);
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
