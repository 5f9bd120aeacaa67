/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Cursors. Those of a read transaction go through the tree as it lies in the map, several at
 * once where they are asked to; LMDB's own cursor behind each takes over where the tree is not
 * understood, and goes backwards and to the last key. In write transactions it does all.
 */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/sx_store_lmdb.h"
#include "util/sx_alloc.h"
#include "util/sx_bytes.h"
#include "util/sx_err.h"

#define MAIN_DBI 1 /* LMDB's list of tables */

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
	if (!txn->is_write)
		sx_names_of(txn, dbi, cursor->name);
	*out = cursor;
	return SIMIDX_OK;
}

int sx_cursor_renew(sx_txn *txn, sx_cursor *cursor, simidx_error *err)
{
	cursor->txn = txn;
	cursor->is_renewed = 0;
	cursor->by = SX_BY_LMDB;
	return sx_store_check_fork(txn->store, err);
}

void sx_cursor_close(sx_cursor *cursor)
{
	if (!cursor)
		return;
	mdb_cursor_close(cursor->cursor);
	free(cursor);
}

/* ---- LMDB's cursor ---- */

/* `key` is where to seek, and what was found. */
static int move(sx_cursor *cursor, MDB_cursor_op op, MDB_val *key, sx_slice *found,
		sx_slice *value, simidx_error *err)
{
	MDB_val v = { 0 };
	int rc = cursor->is_renewed ? 0 : mdb_cursor_renew(cursor->txn->txn, cursor->cursor);

	cursor->is_renewed = 1;
	cursor->by = SX_BY_LMDB;
	if (!rc)
		rc = mdb_cursor_get(cursor->cursor, key, &v, op);
	if (!rc) {
		*found = sx_to_slice(*key);
		*value = sx_to_slice(v);
		return SIMIDX_OK;
	}
	*found = *value = (sx_slice){ NULL, 0 };
	return rc == MDB_NOTFOUND ? SIMIDX_E_END
				  : sx_lmdb_fail(cursor->txn->store, rc, "cannot read", err);
}

/* Have LMDB's cursor be where this one is. */
static int join(sx_cursor *cursor, simidx_error *err)
{
	sx_slice key, value, found;
	MDB_val k;

	if (cursor->by == SX_BY_LMDB)
		return SIMIDX_OK;
	if (cursor->by == SX_BY_TREE_AT_END ||
	    sx_tree_entry(&cursor->tree, &cursor->path, &key, &value)) {
		cursor->by = SX_BY_LMDB;
		return SIMIDX_OK;
	}
	k = sx_to_val(key);
	return move(cursor, MDB_SET_RANGE, &k, &found, &value, err);
}

/* ---- the tree ---- */

/*
 * Where the map begins, which LMDB does not tell: so many pages before one of its pages as that
 * says that it is. It is believed when the file has this page in that place.
 */
static const unsigned char *find_map(sx_store *store, const unsigned char *in_page, uint64_t pages)
{
	const unsigned char *map = atomic_load_explicit(&store->map, memory_order_relaxed);
	const unsigned char *page = in_page - (uintptr_t)in_page % store->page_size;
	size_t size = store->page_size;
	unsigned char *copy;
	uint64_t number;

	if (map)
		return map;
	number = sx_load_le64(page);
	copy = number < pages ? sx_realloc(NULL, 1, size) : NULL;
	if (copy && pread(store->data_fd, copy, size, (off_t)(number * size)) == (ssize_t)size &&
	    !memcmp(copy, page, size)) {
		map = page - number * size;
		atomic_store_explicit(&store->map, map, memory_order_relaxed);
	}
	free(copy);
	return map;
}

/* Find the tree of the table in the snapshot at hand, if it is not the one that is known. */
static int find_tree(sx_cursor *cursor)
{
	const sx_txn *txn = cursor->txn;
	size_t snapshot = mdb_txn_id(txn->txn);
	unsigned map_changes = sx_store_map_changes(txn->store);
	sx_slice name = { cursor->name, 0 };
	const unsigned char *map;
	MDB_val key, record;
	MDB_envinfo info;

	if (cursor->tree_of == snapshot && cursor->map_changes == map_changes)
		return 0;
	name.size = strlen(cursor->name);
	key = sx_to_val(name);
	cursor->tree_of = 0;
	/* Of the newest snapshot: pages become more only. */
	mdb_env_info(txn->store->env, &info);
	if (txn->is_write || !name.size || mdb_get(txn->txn, MAIN_DBI, &key, &record))
		return -1;
	map = find_map(txn->store, record.mv_data, info.me_last_pgno + 1);
	if (!map || sx_tree_init(&cursor->tree, sx_to_slice(record), map, txn->store->page_size,
				 info.me_last_pgno + 1))
		return -1;
	cursor->tree_of = snapshot;
	cursor->map_changes = map_changes;
	return 0;
}

/* What came of a move in the tree. 0, SIMIDX_E_END, or 1: it is up to LMDB. */
static int arrive(sx_cursor *cursor, enum sx_tree_end end, sx_slice *found, sx_slice *value)
{
	cursor->by = SX_BY_TREE;
	if (end == SX_TREE_FOUND && !sx_tree_entry(&cursor->tree, &cursor->path, found, value))
		return SIMIDX_OK;
	*found = *value = (sx_slice){ NULL, 0 };
	if (end != SX_TREE_END)
		return 1;
	cursor->by = SX_BY_TREE_AT_END;
	return SIMIDX_E_END;
}

static int seek_by_lmdb(sx_cursor *cursor, sx_slice key, sx_slice *found, sx_slice *value,
			simidx_error *err)
{
	MDB_val k = sx_to_val(key);

	return move(cursor, MDB_SET_RANGE, &k, found, value, err);
}

void sx_cursor_seek_all(sx_jump *jump, size_t n, simidx_error *err)
{
	sx_tree_descent descent[SX_MAX_JUMPS];
	size_t number[SX_MAX_JUMPS], n_descents = 0;

	for (size_t i = 0; i < n; i++) {
		sx_cursor *cursor = jump[i].cursor;

		jump[i].rc = 1;
		if (find_tree(cursor))
			continue;
		descent[n_descents].tree = &cursor->tree;
		descent[n_descents].path = &cursor->path;
		descent[n_descents].key = jump[i].key;
		number[n_descents++] = i;
	}
	sx_tree_descend(descent, n_descents);
	for (size_t d = 0; d < n_descents; d++) {
		sx_jump *j = &jump[number[d]];

		j->rc = arrive(j->cursor, descent[d].end, &j->found, &j->value);
	}
	for (size_t i = 0; i < n; i++)
		if (jump[i].rc == 1)
			jump[i].rc = seek_by_lmdb(jump[i].cursor, jump[i].key, &jump[i].found,
						  &jump[i].value, err);
}

/* ---- moves ---- */

int sx_cursor_seek(sx_cursor *cursor, sx_slice key, sx_slice *found, sx_slice *value,
		   simidx_error *err)
{
	sx_jump jump = { .cursor = cursor, .key = key };

	sx_cursor_seek_all(&jump, 1, err);
	*found = jump.found;
	*value = jump.value;
	return jump.rc;
}

int sx_cursor_first(sx_cursor *cursor, sx_slice *key, sx_slice *value, simidx_error *err)
{
	sx_slice least = { "", 0 };

	if (!find_tree(cursor))
		return sx_cursor_seek(cursor, least, key, value, err);
	return move(cursor, MDB_FIRST, &(MDB_val){ 0 }, key, value, err);
}

int sx_cursor_last(sx_cursor *cursor, sx_slice *key, sx_slice *value, simidx_error *err)
{
	return move(cursor, MDB_LAST, &(MDB_val){ 0 }, key, value, err);
}

/* The next entry of the tree. As arrive(); for LMDB the cursor stays where it was. */
static int next_by_tree(sx_cursor *cursor, sx_slice *key, sx_slice *value)
{
	sx_tree_path *path = &cursor->path, before;
	unsigned top = path->levels - 1;
	int leaves_page = path->level[top].i + 1 == path->level[top].n, rc;

	if (leaves_page)
		before = *path;
	rc = arrive(cursor, sx_tree_next(&cursor->tree, path), key, value);
	if (rc == 1 && leaves_page)
		*path = before;
	else if (rc == 1)
		path->level[top].i--;
	return rc;
}

int sx_cursor_next(sx_cursor *cursor, sx_slice *key, sx_slice *value, simidx_error *err)
{
	int rc;

	if (cursor->by == SX_BY_TREE) {
		rc = next_by_tree(cursor, key, value);
		if (rc != 1)
			return rc;
	}
	if (cursor->by == SX_BY_TREE_AT_END) {
		*key = *value = (sx_slice){ NULL, 0 };
		return SIMIDX_E_END;
	}
	rc = join(cursor, err);
	return rc ? rc : move(cursor, MDB_NEXT, &(MDB_val){ 0 }, key, value, err);
}

int sx_cursor_prev(sx_cursor *cursor, sx_slice *key, sx_slice *value, simidx_error *err)
{
	int rc = join(cursor, err);

	return rc ? rc : move(cursor, MDB_PREV, &(MDB_val){ 0 }, key, value, err);
}
