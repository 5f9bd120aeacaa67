/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Ordered tables of byte strings in one file, with transactions. LMDB is known here and nowhere
 * else; plans, fingerprints and blocks are not known here.
 *
 * A store is a directory with LMDB's data.mdb and lock.mdb and our own write.lock. Stores are
 * shared inside a process: opening the same directory again returns the same environment with
 * one more reference, because LMDB loses its locks when a process maps a file twice.
 *
 * Bytes returned by a get or a cursor lie in the memory map. In a read transaction they stay
 * valid until it is reset or ended; in a write transaction until the next write to it.
 */

#ifndef SX_STORE_H
#define SX_STORE_H

#include <stddef.h>
#include <stdint.h>

#include <simidx.h>

typedef struct sx_store sx_store;
typedef struct sx_txn sx_txn;
typedef struct sx_cursor sx_cursor;
typedef unsigned sx_dbi; /* a table of the store, the same number in every transaction */

typedef struct sx_slice {
	const void *data;
	size_t size;
} sx_slice;

#define SX_STORE_MAX_KEY 511
#define SX_STORE_MAX_TABLES 64
#define SX_STORE_MAX_NAME 31 /* bytes in a table's name */

/* sx_store_options.flags */
#define SX_STORE_READ_ONLY 1u /* never write, even if the file could be written */
#define SX_STORE_STATIC 2u    /* no locks: nobody writes meanwhile */
#define SX_STORE_FORCE 4u     /* accept a network file system */

typedef struct sx_store_options {
	unsigned flags;
	uint64_t map_size; /* address space to reserve; 0 = 1 TiB, halved until it can be had */
	unsigned mode;     /* permissions of new files; 0 = 0600 */
} sx_store_options;

/**
 * Create an empty store in an existing, empty directory and open it. Files are made with
 * options->mode; sx_dir_publish() makes their names durable.
 */
int sx_store_create(const char *dir, const sx_store_options *options, sx_store **out,
		    simidx_error *err);

/**
 * Open a store. Before LMDB maps the file, its two meta pages and its size are checked: a file
 * that is not LMDB's (SIMIDX_E_NOT_INDEX), of another page size, word size or version
 * (SIMIDX_E_UNSUPPORTED) or cut short (SIMIDX_E_CORRUPT) is refused, because a truncated map
 * would kill the process. Readers left behind by killed processes are cleared.
 */
int sx_store_open(const char *dir, const sx_store_options *options, sx_store **out,
		  simidx_error *err);

/**
 * Drop one reference; the last one closes the environment, after all transactions have ended.
 * In a child of the process that opened it, it only frees memory. NULL is allowed.
 */
void sx_store_close(sx_store *store);

/** The directory as it was given to the open that made this environment, or set since. */
const char *sx_store_path(const sx_store *store);

/**
 * Say where the directory is now, after sx_dir_publish() has moved it under a store that is
 * open. What sx_store_path() returned before stays valid until the store is closed.
 */
int sx_store_set_path(sx_store *store, const char *path, simidx_error *err);

/**
 * Whether write transactions can be begun on it. A store that was first opened read-only stays
 * so for all who share it.
 */
int sx_store_is_writable(const sx_store *store);

/** SIMIDX_OK, or SIMIDX_E_FORK in a child of the process that opened the store. Cheap. */
int sx_store_check_fork(const sx_store *store, simidx_error *err);

/** Bytes of a page, and the size of a value that fills exactly one overflow page. */
size_t sx_store_page_size(const sx_store *store);
size_t sx_store_block_size(const sx_store *store);

/**
 * Whether the data file at the store's path is still the one that is open.
 *
 * @return SIMIDX_OK, or SIMIDX_E_MOVED
 */
int sx_store_check_path(const sx_store *store, simidx_error *err);

/** Permissions of the data file. */
int sx_store_mode(const sx_store *store, unsigned *mode, simidx_error *err);

/** Bytes that the file system of the store has free for us. */
int sx_store_free_bytes(const sx_store *store, uint64_t *bytes, simidx_error *err);

/**
 * Size of the data file, and how much of it is in use (not free pages), in bytes. Only in a read
 * transaction; costs a walk over the list of free pages.
 */
int sx_store_usage(sx_txn *txn, uint64_t *file_bytes, uint64_t *used_bytes, simidx_error *err);

/* ------------------------------------------------------------------------------------------
 * Transactions
 */

/**
 * Begin a read transaction: a snapshot. It is not tied to a thread. May wait for nobody.
 * SIMIDX_E_BUSY: the reader slots are taken, or another process grew the file beyond this
 * process's map while transactions are open here.
 */
int sx_txn_begin_read(sx_store *store, sx_txn **out, simidx_error *err);

/** Give the snapshot back but keep the handle for sx_txn_renew(). Its cursors stay allocated. */
void sx_txn_reset(sx_txn *txn);

/** Take a new snapshot with a handle that was reset. */
int sx_txn_renew(sx_txn *txn, simidx_error *err);

/**
 * The write lock alone, without a transaction: the lock file of the directory and a mutex of
 * this process. Waits up to wait_ms milliseconds (0 = not at all, -1 = for ever), then
 * SIMIDX_E_BUSY. When it is had, the path is checked (SIMIDX_E_MOVED). SIMIDX_E_READ_ONLY.
 */
int sx_store_lock(sx_store *store, int wait_ms, simidx_error *err);

/** Release the write lock. */
void sx_store_unlock(sx_store *store);

/** Hold the write lock of a store that was just created by the lock of its directory. */
void sx_store_adopt_lock(sx_store *store, int fd);

/**
 * Begin the write transaction; the caller holds the write lock. Unlike the lock it belongs to
 * one thread: LMDB's mutex can only be unlocked by the thread that begins here.
 *
 * @param no_meta_sync  the commit may be lost in a power cut, but is never half there
 */
int sx_txn_begin_write(sx_store *store, int no_meta_sync, sx_txn **out, simidx_error *err);

/** Number of the snapshot; of the one that is being made, in a write transaction. */
uint64_t sx_txn_id(const sx_txn *txn);

/**
 * Commit a write transaction; the handle is freed whatever the result. A read transaction can be
 * committed too, to keep the tables that were opened in it.
 */
int sx_txn_commit(sx_txn *txn, simidx_error *err);

/** End a read transaction, or undo a write transaction. NULL is allowed. */
void sx_txn_abort(sx_txn *txn);

/* ------------------------------------------------------------------------------------------
 * Pages in memory (sx_store_pages.c)
 */

/** Raised when the map has moved: then addresses from earlier transactions mean nothing. */
unsigned sx_store_map_changes(const sx_store *store);

/** Whether the page at an address in the map is in memory. A system call. */
int sx_store_is_resident(const sx_store *store, const void *p);

/** Have the page at an address in the map read, without waiting for it. A system call. */
void sx_store_will_need(const sx_store *store, const void *p);

/**
 * Give back the memory that the process has mapped of the file; it stays in the system's cache,
 * and what is used again is mapped again. Best effort: nothing happens where /proc does not tell
 * where the map is. Costs some 50 us.
 */
void sx_store_unmap_pages(const sx_store *store);

/* ------------------------------------------------------------------------------------------
 * Tables
 */

/**
 * Find a table, or make it in a write transaction with create != 0. Its number stays valid for
 * all later transactions if this one is committed, and is lost if it is aborted or reset: open
 * all tables in one transaction and commit that. A table that is open already is found at once.
 * Otherwise, while another transaction of the process has opened new tables and not ended, this
 * waits; a read transaction that began before that one ended gets a newer snapshot, for a write
 * transaction it is SIMIDX_E_BUSY.
 *
 * @return SIMIDX_OK; SIMIDX_E_NOT_FOUND; SIMIDX_E_CORRUPT when it was made with other flags
 *         than ours (none)
 */
int sx_table_open(sx_txn *txn, const char *name, int create, sx_dbi *out, simidx_error *err);

/** Pages, keys and depth of a table. */
typedef struct sx_dbi_stat {
	uint64_t keys, branch_pages, leaf_pages, overflow_pages;
	unsigned depth;
} sx_dbi_stat;

int sx_dbi_stat_get(sx_txn *txn, sx_dbi dbi, sx_dbi_stat *out, simidx_error *err);

/** Value of a key. SIMIDX_E_NOT_FOUND without setting err. */
int sx_get(sx_txn *txn, sx_dbi dbi, sx_slice key, sx_slice *value, simidx_error *err);

/** Store a value, replacing what was there. */
int sx_put(sx_txn *txn, sx_dbi dbi, sx_slice key, sx_slice value, simidx_error *err);

/** Store a value behind all others: key must be greater than every key that is there. */
int sx_put_last(sx_txn *txn, sx_dbi dbi, sx_slice key, sx_slice value, simidx_error *err);

/** Remove a key. SIMIDX_E_NOT_FOUND without setting err. */
int sx_del(sx_txn *txn, sx_dbi dbi, sx_slice key, simidx_error *err);

/* ------------------------------------------------------------------------------------------
 * Cursors. The moves return SIMIDX_E_END past the last key, without setting err.
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

/* ------------------------------------------------------------------------------------------
 * Directories that appear and disappear whole
 */

/**
 * Make a private directory (mode 0700) beside `path`, for building what will stand there, and
 * take its write lock, so that others see that somebody is at work. Those that were left behind
 * by builders that died are removed.
 *
 * @param out      its path, freed by the caller
 * @param lock_fd  the lock: for sx_store_adopt_lock(), or sx_dir_unlock() when it is published
 */
int sx_dir_prepare(const char *path, char **out, int *lock_fd, simidx_error *err);

/**
 * The same for work that takes long: SIMIDX_E_BUSY while another builder has claimed the path.
 * Only those who claim, and can see each other's directories, know of each other.
 */
int sx_dir_claim(const char *path, char **out, int *lock_fd, simidx_error *err);

/** Whether nothing is at a path, or an empty directory: sx_dir_publish() may put a store there. */
int sx_dir_is_free(const char *path);

/** Remove what builders that died left beside a store. Costs a look into the directory it is in. */
void sx_store_clean(const sx_store *store);

/** Release such a lock. -1 is allowed. */
void sx_dir_unlock(int fd);

/**
 * Put a finished private directory in the place of `path`, durably: the files and the directory
 * are synced, then it is renamed and the parent synced.
 *
 * @param mode     permissions of the files; the directory gets search permission with them
 * @param replace  0: `path` must not exist or be an empty directory (else SIMIDX_E_EXISTS);
 *                 1: a store that is there is exchanged for it and removed, all but files
 *                 that are not a store's; nothing else is replaced (SIMIDX_E_EXISTS). The
 *                 new files get the old owner and group as far as we may.
 *                 SIMIDX_E_UNSUPPORTED where the file system cannot exchange directories
 */
int sx_dir_publish(const char *private_dir, const char *path, unsigned mode, int replace,
		   simidx_error *err);

/** Remove a private directory and the store files in it. NULL is allowed. Errors are ignored. */
void sx_dir_remove(const char *private_dir);

/** Copy a snapshot of a store into an empty directory, without free pages. */
int sx_store_copy(sx_store *store, const char *dir, simidx_error *err);

/** "0.9.24": the LMDB that is running. */
const char *sx_store_lmdb_version(void);

#endif /* SX_STORE_H */
