/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Transactions of a store, and the write lock that the one write transaction needs.
 */

#ifndef SX_TXN_H
#define SX_TXN_H

#include "store/sx_store.h"

typedef struct sx_txn sx_txn;

/**
 * Begin a read transaction: a snapshot. It is not tied to a thread, and waits for no writer.
 *
 * @return SIMIDX_OK; SIMIDX_E_BUSY when the reader slots are taken, or another process grew the
 *         file beyond this process's map while transactions are open here; SIMIDX_E_FORK;
 *         SIMIDX_E_NOMEM
 */
int sx_txn_begin_read(sx_store *store, sx_txn **out, simidx_error *err);

/** Give the snapshot back but keep the handle for sx_txn_renew(). Its cursors stay allocated. */
void sx_txn_reset(sx_txn *txn);

/** Take a new snapshot with a handle that was reset. Codes as of sx_txn_begin_read(). */
int sx_txn_renew(sx_txn *txn, simidx_error *err);

/**
 * The write lock alone, without a transaction (sx_write_lock.h). When it is had, the path is
 * checked.
 *
 * @param wait_ms  milliseconds to wait at most; 0 = do not wait, -1 = forever
 * @return SIMIDX_OK; SIMIDX_E_BUSY when the time is over; SIMIDX_E_STOPPED by sx_stop_asked();
 *         SIMIDX_E_MOVED when another store is at the path now; SIMIDX_E_READ_ONLY; SIMIDX_E_FORK;
 *         the code of a failed system call
 */
int sx_store_lock(sx_store *store, int wait_ms, simidx_error *err);

/** Release the write lock. */
void sx_store_unlock(sx_store *store);

/**
 * The merger's lock: who has it merges, also while it does not have the write lock. Both can be had
 * in any order, as long as who has the write lock does not wait for this one.
 *
 * @return SIMIDX_OK; SIMIDX_E_BUSY when the time is over; SIMIDX_E_STOPPED by sx_stop_asked();
 *         SIMIDX_E_FORK; the code of a failed system call
 */
int sx_store_lock_merge(sx_store *store, int wait_ms, simidx_error *err);

void sx_store_unlock_merge(sx_store *store);

/** Hold the write lock of a store that was just created by the lock of its directory. */
void sx_store_adopt_lock(sx_store *store, int fd);

/**
 * Begin the write transaction; the caller holds the write lock. Unlike the lock it belongs to
 * one thread: LMDB's mutex can only be unlocked by the thread that begins here.
 *
 * @param no_meta_sync  the commit may be lost in a power cut, but is never half there
 * @return SIMIDX_OK; SIMIDX_E_READ_ONLY; as sx_txn_begin_read()
 */
int sx_txn_begin_write(sx_store *store, int no_meta_sync, sx_txn **out, simidx_error *err);

/**
 * For a store that nobody else sees yet: let commits return before what they have written is on the
 * disk. The system writes it beside the work that follows, and the first commit after
 * sx_store_defer_sync(store, 0) waits for all of it. Until then a power cut ruins the store.
 */
void sx_store_defer_sync(sx_store *store, int defers);

/** Number of the snapshot; in a write transaction, of the snapshot that it makes. */
uint64_t sx_txn_id(const sx_txn *txn);

/**
 * Whether the last commit is that of this snapshot. If so, what was read of its meta page before
 * was whole. For lib/store.
 *
 * @param tries  times that this was asked, from 1 on: after many, a commit that a process left half
 *               done when it was killed is not counted
 */
int sx_txn_is_newest(const sx_txn *txn, unsigned tries);

/** The store of a transaction. */
sx_store *sx_txn_store(const sx_txn *txn);

/**
 * Commit a write transaction; the handle is freed whatever the result. A read transaction can be
 * committed too, to keep the tables that were opened in it.
 *
 * @return SIMIDX_OK; SIMIDX_E_NO_SPACE; SIMIDX_E_STATE when an earlier call in it failed;
 *         SIMIDX_E_IO; SIMIDX_E_FORK
 */
int sx_txn_commit(sx_txn *txn, simidx_error *err);

/** What has become of a transaction whose commit failed. */
enum sx_outcome {
	SX_NOT_STORED,
	SX_STORED,         /* it failed later */
	SX_OUTCOME_UNKNOWN /* the header page was being written */
};

/**
 * Look what has become of write transaction `id` after its commit has failed. The caller has held
 * the write lock since.
 */
enum sx_outcome sx_txn_outcome(sx_store *store, uint64_t id);

/** End a read transaction, or undo a write transaction. NULL is allowed. */
void sx_txn_abort(sx_txn *txn);

#endif /* SX_TXN_H */
