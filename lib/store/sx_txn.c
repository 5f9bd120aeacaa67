/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "store/sx_txn.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/sx_file_check.h"
#include "store/sx_store_handle.h"
#include "util/sx_alloc.h"
#include "util/sx_err.h"

#define SNAPSHOT_TRIES 100 /* some microseconds */

/* ------------------------------------------------------------------------------------------
 * The write lock
 */

static int fail_busy(const sx_store *store, simidx_error *err)
{
	char holder[SX_HOLDER_SIZE] = "";
	struct stat file;

	if (!stat(atomic_load(&store->place)->write, &file))
		sx_write_lock_holder(&file, holder);
	return sx_fail(err, SIMIDX_E_BUSY, "%s is locked by another writer%s", sx_store_path(store),
		       holder);
}

static int fail_stopped(const sx_store *store, simidx_error *err)
{
	return sx_fail(err, SIMIDX_E_STOPPED, "%s: stopped while another writer had the lock",
		       sx_store_path(store));
}

int sx_store_lock(sx_store *store, int wait_ms, simidx_error *err)
{
	int e, rc = sx_store_check_fork(store, err);

	if (rc)
		return rc;
	if (!store->env.is_writable)
		return sx_fail(err, SIMIDX_E_READ_ONLY,
			       "%s is open read-only, or its files cannot be written",
			       sx_store_path(store));
	e = sx_write_lock_take(&store->lock, atomic_load(&store->place)->write,
			       store->env.data_fd, wait_ms);
	if (e == EWOULDBLOCK)
		return fail_busy(store, err);
	if (e == ECANCELED)
		return fail_stopped(store, err);
	/* While we waited, the holder may have put another index here. */
	if (!e || e == ENOENT)
		rc = sx_store_check_path(store, err);
	if (rc && !e)
		sx_write_lock_release(&store->lock);
	if (rc)
		return rc;
	if (e)
		return sx_fail_errno(err, e, "%s: the lock file " SX_WRITE_NAME,
				     sx_store_path(store));
	/* A reader that was killed would keep all pages that are freed from now on. */
	mdb_reader_check(store->env.env, NULL);
	return SIMIDX_OK;
}

void sx_store_adopt_lock(sx_store *store, int fd)
{
	sx_write_lock_adopt(&store->lock, fd);
}

void sx_store_unlock(sx_store *store)
{
	/* In a child the descriptor was closed by the fork, and the lock is the parent's. */
	if (!sx_store_check_fork(store, NULL))
		sx_write_lock_release(&store->lock);
}

int sx_store_lock_merge(sx_store *store, int wait_ms, simidx_error *err)
{
	int e, rc = sx_store_check_fork(store, err);

	if (rc)
		return rc;
	e = sx_merge_lock_take(&store->lock, atomic_load(&store->place)->write, store->env.data_fd,
			       wait_ms);
	if (e == EWOULDBLOCK)
		return sx_fail(err, SIMIDX_E_BUSY, "%s: somebody else merges",
			       sx_store_path(store));
	if (e == ECANCELED)
		return fail_stopped(store, err);
	return e ? sx_fail_errno(err, e, "%s: the lock file " SX_WRITE_NAME, sx_store_path(store))
		 : SIMIDX_OK;
}

void sx_store_unlock_merge(sx_store *store)
{
	if (!sx_store_check_fork(store, NULL))
		sx_merge_lock_release(&store->lock);
}

/* ------------------------------------------------------------------------------------------
 * Beginning
 */

/*
 * LMDB 0.9 announces a reader's snapshot N, then copies the roots of its trees from one of two
 * meta pages, which the commit of N + 2 overwrites: a thread that loses the processor between the
 * two is given what a later commit wrote, or half of it, and told that it is N. As long as the
 * last commit is N the page was not being written yet. N + 1 may also be there for good, from a
 * process that was killed right after writing its meta page.
 */
int sx_txn_is_newest(const sx_txn *txn, unsigned tries)
{
	size_t id = mdb_txn_id(txn->txn);
	MDB_envinfo info;

	atomic_thread_fence(memory_order_acquire); /* the roots have been read */
	mdb_env_info(txn->store->env.env, &info);
	return info.me_last_txnid == id || (info.me_last_txnid == id + 1 && tries > SNAPSHOT_TRIES);
}

static int begin_reading(sx_txn *txn)
{
	int rc = txn->txn ? mdb_txn_renew(txn->txn)
			  : mdb_txn_begin(txn->store->env.env, NULL, MDB_RDONLY, &txn->txn);

	for (unsigned tries = 1; !rc && !sx_txn_is_newest(txn, tries); tries++) {
		mdb_txn_reset(txn->txn);
		rc = mdb_txn_renew(txn->txn);
	}
	return rc;
}

/* Begin or renew; ctx is a sx_txn. */
static int begin_lmdb(sx_env *env, void *ctx)
{
	sx_txn *txn = ctx;

	return txn->is_write ? mdb_txn_begin(env->env, NULL, 0, &txn->txn) : begin_reading(txn);
}

/* The transaction has ended, or gives its snapshot back. */
static void end_live(sx_txn *txn)
{
	if (txn->is_live)
		sx_env_leave(&txn->store->env);
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
	rc = sx_env_begin(&store->env, begin_lmdb, txn);
	if (rc) {
		mdb_txn_abort(txn->txn); /* begun, and then not renewed; NULL otherwise */
		free(txn);
		return sx_env_fail(&store->env, rc, "cannot begin a transaction", err);
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
	if (!store->env.is_writable)
		return sx_fail(err, SIMIDX_E_READ_ONLY, "%s is open read-only",
			       sx_store_path(store));
	rc = begin_txn(store, 1, out, err);
	if (rc || store->no_meta_sync == !!no_meta_sync)
		return rc;
	/*
	 * LMDB 0.9 takes no notice of MDB_NOMETASYNC in mdb_txn_begin(). Switched for the whole
	 * environment it comes to the same, as only the one write transaction looks at it. This
	 * is a flag that can be switched at any time, so it cannot fail.
	 */
	(void)mdb_env_set_flags(store->env.env, MDB_NOMETASYNC, no_meta_sync);
	store->no_meta_sync = !!no_meta_sync;
	return SIMIDX_OK;
}

void sx_store_defer_sync(sx_store *store, int defers)
{
	/* Another flag that can be switched at any time. */
	(void)mdb_env_set_flags(store->env.env, MDB_NOSYNC, defers);
	store->defers_sync = defers;
}

void sx_txn_reset(sx_txn *txn)
{
	if (!txn->is_live || sx_store_check_fork(txn->store, NULL))
		return;
	mdb_txn_reset(txn->txn);
	end_live(txn);
}

int sx_txn_renew(sx_txn *txn, simidx_error *err)
{
	int rc = sx_store_check_fork(txn->store, err);

	if (rc)
		return rc;
	rc = sx_env_begin(&txn->store->env, begin_lmdb, txn);
	if (rc)
		return sx_env_fail(&txn->store->env, rc, "cannot take a new snapshot", err);
	txn->is_live = 1;
	return SIMIDX_OK;
}

uint64_t sx_txn_id(const sx_txn *txn)
{
	return mdb_txn_id(txn->txn);
}

sx_store *sx_txn_store(const sx_txn *txn)
{
	return txn->store;
}

/* ------------------------------------------------------------------------------------------
 * Ending
 */

/*
 * Pages at the end of the file that a transaction takes and frees again are counted, but LMDB does
 * not write them. Then the file is shorter than its header says, and the next open looks at all its
 * pages to see whether it was cut short. That is spared here if it can be; the transaction is
 * committed anyway.
 */
static void extend_file(sx_store *store)
{
	MDB_envinfo info;
	struct stat st;
	off_t need;

	mdb_env_info(store->env.env, &info);
	need = (off_t)((info.me_last_pgno + 1) * store->env.page_size);
	if (fstat(store->env.data_fd, &st) || st.st_size >= need)
		return;
	if (ftruncate(store->env.data_fd, need))
		return; /* nothing is lost */
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
	/*
	 * LMDB frees its transaction even if it fails. A write that stores less than it should, for
	 * lack of space, sets no errno: LMDB makes EIO of that.
	 */
	errno = 0;
	rc = mdb_txn_commit(txn->txn);
	if (rc == EIO && errno != EIO)
		rc = ENOSPC;
	end_live(txn);
	free(txn);
	if (rc)
		return sx_env_fail(&store->env, rc, "cannot commit", err);
	if (is_write)
		extend_file(store);
	/* It only begins to write; what fails of that is told by the sync that follows some day. */
	if (is_write && store->defers_sync)
		(void)sync_file_range(store->env.data_fd, 0, 0, SYNC_FILE_RANGE_WRITE);
	return SIMIDX_OK;
}

enum sx_outcome sx_txn_outcome(sx_store *store, uint64_t id)
{
	MDB_txn *probe = NULL;
	MDB_envinfo info;
	int rc, is_there;

	mdb_env_info(store->env.env, &info);
	is_there = info.me_last_txnid >= id;
	/* After a failed write of its header page LMDB begins no transaction any more. */
	rc = mdb_txn_begin(store->env.env, NULL, 0, &probe);
	mdb_txn_abort(probe);
	if (rc != MDB_PANIC)
		return is_there ? SX_STORED : SX_NOT_STORED;
	/*
	 * LMDB has then written the old number over what it may have written before. Once that is
	 * on the disk, the transaction is not there and will not be after a power cut.
	 */
	return is_there || fdatasync(store->env.data_fd) ? SX_OUTCOME_UNKNOWN : SX_NOT_STORED;
}

void sx_txn_abort(sx_txn *txn)
{
	if (!txn)
		return;
	/* In a child, LMDB's one is left alone: ending it would clear the parent's slot. */
	if (!sx_store_check_fork(txn->store, NULL)) {
		mdb_txn_abort(txn->txn);
		end_live(txn);
	}
	free(txn);
}
