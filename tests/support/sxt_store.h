/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What the suites of lib/store share. The calls that can fail without it being the point
 * of the test end the process, so they can be used in children too.
 */

#ifndef SXT_STORE_H
#define SXT_STORE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/sx_dbi.h"
#include "store/sx_dir.h"
#include "support/sxt.h"
#include "support/sxt_proc.h"

#define T_MAP ((uint64_t)1 << 30)

static inline sx_slice t_slice(const char *text)
{
	sx_slice s = { text, strlen(text) };

	return s;
}

static inline int t_equal(sx_slice s, const char *text)
{
	return s.size == strlen(text) && !memcmp(s.data, text, s.size);
}

/** Make a store in a new directory and publish it at `path`. */
static inline sx_store *t_create(const char *path, unsigned mode)
{
	sx_store_options options = { .mode = mode, .map_size = T_MAP };
	sx_store *store;
	char *dir;
	int fd;

	sxt_must_ok(sx_dir_prepare(path, &dir, &fd, &sxt_err));
	sxt_must_ok(sx_store_create(dir, &options, &store, &sxt_err));
	sxt_must_ok(sx_dir_publish(dir, path, mode, 0, &sxt_err));
	sxt_must_ok(sx_store_set_path(store, path, &sxt_err));
	sx_dir_unlock(fd);
	free(dir);
	return store;
}

static inline sx_store *t_open(const char *path, unsigned flags)
{
	sx_store_options options = { .flags = flags, .map_size = T_MAP };
	sx_store *store;

	sxt_must_ok(sx_store_open(path, &options, &store, &sxt_err));
	return store;
}

static inline sx_txn *t_read(sx_store *store)
{
	sx_txn *txn;

	sxt_must_ok(sx_txn_begin_read(store, &txn, &sxt_err));
	return txn;
}

/** Take the write lock and begin. */
static inline sx_txn *t_write(sx_store *store)
{
	sx_txn *txn;

	sxt_must_ok(sx_store_lock(store, -1, &sxt_err));
	sxt_must_ok(sx_txn_begin_write(store, 0, &txn, &sxt_err));
	return txn;
}

/** Commit and release the write lock. */
static inline void t_commit(sx_store *store, sx_txn *txn)
{
	sxt_must_ok(sx_txn_commit(txn, &sxt_err));
	sx_store_unlock(store);
}

/** Open or make table "t". */
static inline sx_dbi t_table(sx_txn *txn, int create)
{
	sx_dbi dbi;

	sxt_must_ok(sx_dbi_open(txn, "t", create, &dbi, &sxt_err));
	return dbi;
}

/** Store one value in table "t", in a transaction of its own. */
static inline void t_put(sx_store *store, const char *key, const char *value)
{
	sx_txn *txn = t_write(store);

	sxt_must_ok(sx_dbi_put(txn, t_table(txn, 1), t_slice(key), t_slice(value), &sxt_err));
	t_commit(store, txn);
}

/** Whether table "t" has this value now. */
static inline int t_has(sx_store *store, const char *key, const char *value)
{
	sx_txn *txn = t_read(store);
	sx_slice got;
	int rc = sx_dbi_get(txn, t_table(txn, 0), t_slice(key), &got, &sxt_err);
	int has = !rc && t_equal(got, value);

	sx_txn_abort(txn);
	return has;
}

/** Store `n` values of a block's size each, under the keys 0, 1, ... */
static inline int t_fill(sx_txn *txn, sx_dbi dbi, unsigned n, unsigned char byte,
			 const sx_store *store, simidx_error *err)
{
	size_t size = sx_store_block_size(store);
	unsigned char *block = malloc(size);
	sx_slice value = { block, size };
	int rc = SIMIDX_OK;
	unsigned i;

	if (!block)
		return SIMIDX_E_NOMEM;
	memset(block, byte, size);
	for (i = 0; i < n && !rc; i++) {
		char key[16];

		snprintf(key, sizeof(key), "b%06u", i);
		rc = sx_dbi_put(txn, dbi, t_slice(key), value, err);
	}
	free(block);
	return rc;
}

/** t_fill() in a transaction of its own. */
static inline void t_rewrite(sx_store *store, unsigned n, unsigned char byte)
{
	sx_txn *txn = t_write(store);

	sxt_must_ok(t_fill(txn, t_table(txn, 1), n, byte, store, &sxt_err));
	t_commit(store, txn);
}

#endif /* SXT_STORE_H */
