/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/sx_store_lmdb.h"
#include "util/sx_alloc.h"
#include "util/sx_err.h"

#define REMAPPING LONG_MIN
#define MAP_TRIES 16
#define SNAPSHOT_TRIES 100 /* some microseconds */

/* ------------------------------------------------------------------------------------------
 * The map must not move under a transaction: LMDB leaves that to its user. Counted with one
 * atomic number rather than under the mutex, because every query passes here twice.
 */

static void enter(sx_store *store)
{
	long n = atomic_load(&store->live);

	for (;;) {
		if (n < 0) {
			/* Whoever moves the map holds the mutex. */
			pthread_mutex_lock(&store->mutex);
			pthread_mutex_unlock(&store->mutex);
			n = atomic_load(&store->live);
		} else if (atomic_compare_exchange_weak(&store->live, &n, n + 1)) {
			return;
		}
	}
}

static void leave(sx_store *store)
{
	atomic_fetch_sub(&store->live, 1);
}

/*
 * Make the map as large as the file has become. Not mdb_env_set_mapsize(env, 0), which takes
 * over the other process's map size: if that cannot be had here, LMDB is left without a map.
 */
static int remap(sx_store *store)
{
	MDB_envinfo info;
	struct stat st;
	size_t size;
	int rc;

	if (fstat(store->data_fd, &st))
		return errno;
	mdb_env_info(store->env, &info);
	size = sx_map_choose(2 * (uint64_t)st.st_size, (uint64_t)st.st_size);
	if (size < info.me_mapsize)
		size = info.me_mapsize;
	if (!size)
		return ENOMEM;
	rc = mdb_env_set_mapsize(store->env, size);
	if (rc)
		store->broken = 1;
	return rc;
}

/* After MDB_MAP_RESIZED, having left. `seen` is map_changes from before entering. */
static int adopt_map(sx_store *store, unsigned seen)
{
	long none = 0;
	int rc = 0;

	pthread_mutex_lock(&store->mutex);
	if (atomic_load(&store->map_changes) == seen) {
		if (atomic_compare_exchange_strong(&store->live, &none, REMAPPING)) {
			rc = remap(store);
			if (!rc)
				atomic_fetch_add(&store->map_changes, 1);
			atomic_store(&store->live, 0);
		} else {
			rc = MDB_MAP_RESIZED;
		}
	}
	pthread_mutex_unlock(&store->mutex);
	return rc;
}

/*
 * Begin something that needs the map. On success the store is entered. Two failures are put
 * right here: a map that is too small, and reader slots taken by processes that were killed.
 */
static int begin(sx_store *store, int (*work)(sx_store *store, void *ctx), void *ctx)
{
	int checked = 0, tries = 0;

	for (;;) {
		unsigned seen = atomic_load(&store->map_changes);
		int rc;

		enter(store);
		rc = store->broken ? ENOMEM : work(store, ctx);
		if (!rc)
			return 0;
		leave(store);
		if (rc == MDB_MAP_RESIZED && ++tries <= MAP_TRIES)
			rc = adopt_map(store, seen);
		else if (rc == MDB_READERS_FULL && !checked++)
			rc = mdb_reader_check(store->env, NULL);
		if (rc)
			return rc;
	}
}

int sx_txn_with_map(sx_store *store, int (*work)(sx_store *store, void *ctx), void *ctx,
		    const char *doing, simidx_error *err)
{
	int rc = sx_store_check_fork(store, err);

	if (rc)
		return rc;
	rc = begin(store, work, ctx);
	if (rc)
		return sx_lmdb_fail(store, rc, doing, err);
	leave(store);
	return SIMIDX_OK;
}

/* ------------------------------------------------------------------------------------------
 * Transactions
 */

/*
 * LMDB 0.9 announces a reader's snapshot N, then copies the roots of its trees from one of two
 * meta pages, which the commit of N + 2 overwrites: a thread that loses the processor between the
 * two is given what a later commit wrote, or half of it, and told that it is N. As long as the
 * last commit is N the page was not being written yet. N + 1 may also be there for good, from a
 * process that was killed right behind writing its meta page.
 */
static int is_intact(const sx_txn *txn, unsigned tries)
{
	size_t id = mdb_txn_id(txn->txn);
	MDB_envinfo info;

	atomic_thread_fence(memory_order_acquire); /* the roots have been read */
	mdb_env_info(txn->store->env, &info);
	return info.me_last_txnid == id || (info.me_last_txnid == id + 1 && tries > SNAPSHOT_TRIES);
}

static int begin_reading(sx_txn *txn)
{
	int rc = txn->txn ? mdb_txn_renew(txn->txn)
			  : mdb_txn_begin(txn->store->env, NULL, MDB_RDONLY, &txn->txn);

	for (unsigned tries = 1; !rc && !is_intact(txn, tries); tries++) {
		mdb_txn_reset(txn->txn);
		rc = mdb_txn_renew(txn->txn);
	}
	return rc;
}

/* Begin or renew; ctx is a sx_txn. */
static int begin_lmdb(sx_store *store, void *ctx)
{
	sx_txn *txn = ctx;

	/* Before LMDB looks at its list of tables. */
	txn->names_seen = atomic_load(&store->names_count);
	if (!txn->is_write)
		return begin_reading(txn);
	return mdb_txn_begin(store->env, NULL, 0, &txn->txn);
}

/* The transaction has ended, or gives its snapshot back. */
static void end_live(sx_txn *txn, int keep)
{
	sx_names_end(txn, keep);
	if (txn->is_live)
		leave(txn->store);
	txn->is_live = 0;
}

static int begin_txn(sx_store *store, int is_write, sx_txn **out, simidx_error *err)
{
	sx_txn *txn;
	int rc;

	*out = NULL;
	rc = sx_store_check_fork(store, err);
	if (rc)
		return rc;
	txn = sx_calloc(1, sizeof(*txn));
	if (!txn)
		return sx_fail_nomem(err);
	txn->store = store;
	txn->is_write = is_write;
	rc = begin(store, begin_lmdb, txn);
	if (rc) {
		mdb_txn_abort(txn->txn); /* begun, and then not renewed; NULL otherwise */
		free(txn);
		return sx_lmdb_fail(store, rc, "cannot begin a transaction", err);
	}
	txn->is_live = 1;
	*out = txn;
	return SIMIDX_OK;
}

int sx_txn_begin_read(sx_store *store, sx_txn **out, simidx_error *err)
{
	return begin_txn(store, 0, out, err);
}

int sx_txn_begin_write(sx_store *store, int no_meta_sync, sx_txn **out, simidx_error *err)
{
	int rc;

	*out = NULL;
	if (!store->is_writable)
		return sx_fail(err, SIMIDX_E_READ_ONLY, "%s is open read-only",
			       sx_store_path(store));
	rc = begin_txn(store, 1, out, err);
	if (rc || store->no_meta_sync == !!no_meta_sync)
		return rc;
	/*
	 * LMDB 0.9 takes no notice of MDB_NOMETASYNC in mdb_txn_begin(). Switched for the whole
	 * environment it comes to the same, as only the one write transaction looks at it.
	 */
	rc = mdb_env_set_flags(store->env, MDB_NOMETASYNC, no_meta_sync);
	if (rc) {
		sx_txn_abort(*out);
		*out = NULL;
		return sx_lmdb_fail(store, rc, "cannot begin a transaction", err);
	}
	store->no_meta_sync = !!no_meta_sync;
	return SIMIDX_OK;
}

void sx_txn_reset(sx_txn *txn)
{
	if (!txn->is_live || sx_store_check_fork(txn->store, NULL))
		return;
	mdb_txn_reset(txn->txn);
	end_live(txn, 0);
}

int sx_txn_renew(sx_txn *txn, simidx_error *err)
{
	int rc = sx_store_check_fork(txn->store, err);

	if (rc)
		return rc;
	rc = begin(txn->store, begin_lmdb, txn);
	if (rc)
		return sx_lmdb_fail(txn->store, rc, "cannot take a new snapshot", err);
	txn->is_live = 1;
	return SIMIDX_OK;
}

uint64_t sx_txn_id(const sx_txn *txn)
{
	return mdb_txn_id(txn->txn);
}

/*
 * Pages at the end of the file that a transaction takes and frees again are counted, but LMDB
 * does not write them. Then the file is shorter than its header says, and the next open would
 * call it cut short.
 */
static int extend_file(sx_store *store, simidx_error *err)
{
	MDB_envinfo info;
	struct stat st;
	off_t need;

	mdb_env_info(store->env, &info);
	need = (off_t)((info.me_last_pgno + 1) * store->page_size);
	if (fstat(store->data_fd, &st))
		return sx_fail_errno(err, errno, "stored, but the file is lost");
	if (st.st_size >= need || !ftruncate(store->data_fd, need))
		return SIMIDX_OK;
	return sx_write_fail(store->data_fd, errno, "stored, but the file cannot be extended",
			     err);
}

int sx_txn_commit(sx_txn *txn, simidx_error *err)
{
	sx_store *store = txn->store;
	int is_write = txn->is_write;
	int rc = sx_store_check_fork(store, err);

	if (rc) {
		sx_txn_abort(txn);
		return rc;
	}
	/* LMDB frees its transaction even if it fails. */
	rc = mdb_txn_commit(txn->txn);
	end_live(txn, !rc);
	free(txn);
	if (rc)
		return sx_lmdb_fail(store, rc, "cannot commit", err);
	return is_write ? extend_file(store, err) : SIMIDX_OK;
}

void sx_txn_abort(sx_txn *txn)
{
	if (!txn)
		return;
	/* In a child, LMDB's one is left alone: ending it would clear the parent's slot. */
	if (!sx_store_check_fork(txn->store, NULL)) {
		mdb_txn_abort(txn->txn);
		end_live(txn, 0);
	}
	free(txn);
}
