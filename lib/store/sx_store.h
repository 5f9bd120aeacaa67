/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Stores: ordered tables of byte strings in one file, with transactions (sx_txn.h, sx_dbi.h).
 * LMDB is known in lib/store and nowhere else; plans, fingerprints and blocks are not known here.
 *
 * A store is a directory with LMDB's data.mdb and lock.mdb and our own write.lock. Stores are
 * shared inside a process: opening the same directory again returns the same environment with
 * one more reference, because LMDB loses its locks when a process maps a file twice.
 */

#ifndef SX_STORE_H
#define SX_STORE_H

#include <stddef.h>
#include <stdint.h>

#include <simidx.h>

typedef struct sx_store sx_store;

/* sx_store_options.flags */
#define SX_STORE_READ_ONLY 1u /* never write, even if the file could be written */
#define SX_STORE_STATIC 2u    /* no locks: no process writes meanwhile */
#define SX_STORE_FORCE 4u     /* accept a network file system */
#define SX_STORE_CUT 8u       /* accept a file that ends early: LMDB must read nothing in it */

typedef struct sx_store_options {
	unsigned flags;
	uint64_t map_size; /* address space to reserve; 0 = 1 TiB, halved until it can be had */
	unsigned mode;     /* permissions of new files; 0 = 0600 */
} sx_store_options;

/*
 * All functions here that return a code can also fail with that of a system call
 * (sx_fail_errno()) or with SIMIDX_E_NOMEM.
 */

/**
 * Create an empty store in an existing, empty directory and open it. Files are made with
 * options->mode; sx_dir_publish() makes their names durable.
 *
 * @return SIMIDX_OK; SIMIDX_E_EXISTS when there is a data.mdb; SIMIDX_E_NOT_INDEX when `dir` is
 *         not a directory; SIMIDX_E_UNSUPPORTED on a network file system, without
 *         SX_STORE_FORCE, and with another LMDB than 0.9.24 or later of the 0.9 series;
 *         SIMIDX_E_ARG with flags of a store that is only read
 */
int sx_store_create(const char *dir, const sx_store_options *options, sx_store **out,
		    simidx_error *err);

/**
 * Open a store. Before LMDB maps the file, its two meta pages and its size are checked. Readers
 * left by killed processes are cleared. Before anything is read, sx_store_is_short() is asked.
 *
 * @return SIMIDX_OK; SIMIDX_E_NOT_INDEX when the file is not LMDB's or there is none;
 *         SIMIDX_E_CORRUPT when it is damaged or cut short; SIMIDX_E_UNSUPPORTED when it is of
 *         another page size, word size or version, and as of sx_store_create();
 *         SIMIDX_E_BUSY when this process has it open with SX_STORE_STATIC and this is without,
 *         or the reverse; SIMIDX_E_MOVED when it was replaced a thousand times meanwhile;
 *         SIMIDX_E_PERMISSION or SIMIDX_E_READ_ONLY when LMDB's lock file cannot be written
 */
int sx_store_open(const char *dir, const sx_store_options *options, sx_store **out,
		  simidx_error *err);

/**
 * Drop one reference; the last one closes the environment, after all transactions have ended.
 * In a child of the process that opened it, it only frees memory. NULL is allowed.
 */
void sx_store_close(sx_store *store);

/**
 * Copy a snapshot of a store into an empty directory, without free pages.
 *
 * @return SIMIDX_OK; SIMIDX_E_EXISTS when there is a data.mdb; SIMIDX_E_NO_SPACE; SIMIDX_E_FORK;
 *         SIMIDX_E_BUSY as of sx_txn_begin_read(); SIMIDX_E_STOPPED by sx_stop_asked()
 */
int sx_store_copy(sx_store *store, const char *dir, simidx_error *err);

/** The directory as it was given to the open that made this environment, or set since. */
const char *sx_store_path(const sx_store *store);

/**
 * Say where the directory is now, after sx_dir_publish() has moved it under a store that is
 * open. What sx_store_path() returned before stays valid until the store is closed.
 */
int sx_store_set_path(sx_store *store, const char *path, simidx_error *err);

/**
 * Whether the store's path still leads to the data file that is open.
 *
 * @return SIMIDX_OK, or SIMIDX_E_MOVED
 */
int sx_store_check_path(const sx_store *store, simidx_error *err);

/** SIMIDX_OK, or SIMIDX_E_FORK in a child of the process that opened the store. Cheap. */
int sx_store_check_fork(const sx_store *store, simidx_error *err);

/**
 * Whether write transactions can be begun on it. A store that was first opened read-only stays
 * so for all that share it.
 */
int sx_store_is_writable(const sx_store *store);

/**
 * Whether the file ends before the last page that its header names. Pages at its end that one
 * transaction took and freed again were never written, and the writer may have been killed before
 * it made the file longer. Or else the file was cut short, and then LMDB must not read it: only
 * sx_page_check() can tell.
 */
int sx_store_is_short(const sx_store *store);

/** Permissions of the data file. */
int sx_store_mode(const sx_store *store, unsigned *mode, simidx_error *err);

/** Bytes that the file system of the store has free for us. */
int sx_store_free_bytes(const sx_store *store, uint64_t *bytes, simidx_error *err);

/** Major, minor and patch number of the LMDB that is running. */
void sx_store_lmdb_version(int version[3]);

/* ------------------------------------------------------------------------------------------
 * Pages of the map
 */

/** Bytes of a page. */
size_t sx_store_page_size(const sx_store *store);

/**
 * Size of a value that fills exactly one page, less than a page by the page's header. Values of
 * exactly this size lie at multiples of sx_store_page_size() from each other, all tables of the
 * store together. So with one of them as the anchor, the address of each can be kept as
 * (address - anchor) / page size, with its sign, until sx_store_map_changes() is raised.
 */
size_t sx_store_block_size(const sx_store *store);

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
 * For lib/store
 */

#define SX_STORE_DEFAULT_MODE 0600

/** While this is held no store is opened or closed in this process, and no fork() happens. */
void sx_store_registry_lock(void);
void sx_store_registry_unlock(void);

#endif /* SX_STORE_H */
