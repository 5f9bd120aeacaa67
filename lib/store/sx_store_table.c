/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/sx_store_lmdb.h"
#include "util/sx_alloc.h"
#include "util/sx_err.h"

#define FREE_DBI 0 /* LMDB's list of free pages, keyed by transaction */

/* ------------------------------------------------------------------------------------------
 * Tables
 */

int sx_table_open(sx_txn *txn, const char *name, int create, sx_dbi *out, simidx_error *err)
{
	unsigned flags;
	MDB_dbi dbi;
	int rc;

	*out = 0;
	rc = sx_names_find(txn, name, &dbi, err);
	if (rc < 0)
		return rc;
	if (rc) {
		*out = dbi;
		return SIMIDX_OK;
	}
	rc = mdb_dbi_open(txn->txn, name, create ? MDB_CREATE : 0, &dbi);
	if (rc == MDB_NOTFOUND)
		return sx_fail(err, SIMIDX_E_NOT_FOUND, "there is no table %s", name);
	if (!rc)
		rc = mdb_dbi_flags(txn->txn, dbi, &flags);
	if (rc)
		return sx_lmdb_fail(txn->store, rc, name, err);
	if (flags)
		return sx_fail(err, SIMIDX_E_CORRUPT, "table %s has flags 0x%x, not 0", name,
			       flags);
	rc = sx_names_add(txn, name, dbi, err);
	if (!rc)
		*out = dbi;
	return rc;
}

int sx_dbi_stat_get(sx_txn *txn, sx_dbi dbi, sx_dbi_stat *out, simidx_error *err)
{
	MDB_stat stat;
	int rc = mdb_stat(txn->txn, dbi, &stat);

	memset(out, 0, sizeof(*out));
	if (rc)
		return sx_lmdb_fail(txn->store, rc, "cannot read a table's record", err);
	out->keys = stat.ms_entries;
	out->branch_pages = stat.ms_branch_pages;
	out->leaf_pages = stat.ms_leaf_pages;
	out->overflow_pages = stat.ms_overflow_pages;
	out->depth = stat.ms_depth;
	return SIMIDX_OK;
}

int sx_get(sx_txn *txn, sx_dbi dbi, sx_slice key, sx_slice *value, simidx_error *err)
{
	MDB_val k = sx_to_val(key), v = { 0 };
	int rc = mdb_get(txn->txn, dbi, &k, &v);

	*value = sx_to_slice(v);
	if (!rc)
		return SIMIDX_OK;
	return rc == MDB_NOTFOUND ? SIMIDX_E_NOT_FOUND
				  : sx_lmdb_fail(txn->store, rc, "cannot read", err);
}

int sx_put(sx_txn *txn, sx_dbi dbi, sx_slice key, sx_slice value, simidx_error *err)
{
	MDB_val k = sx_to_val(key), v = sx_to_val(value);
	int rc = mdb_put(txn->txn, dbi, &k, &v, 0);

	return rc ? sx_lmdb_fail(txn->store, rc, "cannot store", err) : SIMIDX_OK;
}

int sx_put_last(sx_txn *txn, sx_dbi dbi, sx_slice key, sx_slice value, simidx_error *err)
{
	MDB_val k = sx_to_val(key), v = sx_to_val(value);
	int rc = mdb_put(txn->txn, dbi, &k, &v, MDB_APPEND);

	return rc ? sx_lmdb_fail(txn->store, rc, "cannot append", err) : SIMIDX_OK;
}

int sx_del(sx_txn *txn, sx_dbi dbi, sx_slice key, simidx_error *err)
{
	MDB_val k = sx_to_val(key);
	int rc = mdb_del(txn->txn, dbi, &k, NULL);

	if (!rc)
		return SIMIDX_OK;
	return rc == MDB_NOTFOUND ? SIMIDX_E_NOT_FOUND
				  : sx_lmdb_fail(txn->store, rc, "cannot remove", err);
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
	rc = mdb_cursor_open(txn->txn, FREE_DBI, &cursor);
	if (rc)
		return sx_lmdb_fail(txn->store, rc, "cannot read the free list", err);
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
	if (rc == MDB_NOTFOUND)
		return SIMIDX_OK;
	return sx_lmdb_fail(txn->store, rc, "cannot read the free list", err);
}

int sx_store_usage(sx_txn *txn, uint64_t *file_bytes, uint64_t *used_bytes, simidx_error *err)
{
	uint64_t free_pages, pages;
	MDB_envinfo info;
	struct stat st;
	int rc;

	*file_bytes = *used_bytes = 0;
	mdb_env_info(txn->store->env, &info);
	if (fstat(txn->store->data_fd, &st))
		return sx_fail_errno(err, errno, "%s", sx_store_path(txn->store));
	/* Of the newest snapshot, which may be a little later than this one. */
	pages = info.me_last_pgno + 1;
	rc = count_free(txn, pages, &free_pages, err);
	if (rc)
		return rc;
	*file_bytes = (uint64_t)st.st_size;
	*used_bytes = (pages - free_pages) * txn->store->page_size;
	return SIMIDX_OK;
}
