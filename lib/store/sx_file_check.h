/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What is looked at before LMDB maps a file. LMDB trusts its file: a map that is longer than
 * the file kills the process at the first access to the missing part.
 */

#ifndef SX_FILE_CHECK_H
#define SX_FILE_CHECK_H

#include <stddef.h>
#include <sys/stat.h>

#include <simidx.h>

/** The files of a store. */
#define SX_DATA_NAME "data.mdb"    /* LMDB's */
#define SX_LOCK_NAME "lock.mdb"    /* LMDB's; it must not be opened while LMDB has it open */
#define SX_WRITE_NAME "write.lock" /* ours */
#define SX_SEEN_NAME "dedup.seen"  /* of libsimidx-dedup (doc/format.md) */

/** The page size of files that LMDB makes on this machine, in bytes. */
size_t sx_file_check_page_size(void);

/**
 * Open a directory (O_PATH), for the caller to close.
 *
 * @param any_file_system  0: a network file system is refused (SIMIDX_E_UNSUPPORTED)
 * @return SIMIDX_OK; SIMIDX_E_NOT_INDEX when it is no directory; the code of a failed system call
 */
int sx_file_check_directory(const char *dir, int any_file_system, int *dir_fd, simidx_error *err);

/**
 * Open data.mdb for sx_file_check_data(), and tell what it is. The caller closes it.
 *
 * @return SIMIDX_OK; SIMIDX_E_NOT_INDEX when there is none or it is not a regular file; the code
 *         of a failed system call
 */
int sx_file_check_open(const char *dir, int dir_fd, int *fd, struct stat *st, simidx_error *err);

/**
 * Look at the meta pages and the size of a data file. Of the two meta pages only that which LMDB
 * uses must be good, but both must be marked as LMDB's. A file that ends before its last page is
 * accepted here if free pages alone may be missing: sx_store_is_short().
 *
 * @param takes_cut  accept it wherever it ends behind the meta pages
 * @return SIMIDX_OK; SIMIDX_E_NOT_INDEX when it is not LMDB's; SIMIDX_E_UNSUPPORTED when it is of
 *         another page size, word size, byte order or version; SIMIDX_E_CORRUPT when it is
 *         damaged or cut short; the code of a failed system call
 */
int sx_file_check_data(const char *dir, int fd, int takes_cut, simidx_error *err);

/** A meta page that can stand in for one that is lost. */
typedef struct sx_lost_meta {
	unsigned char bytes[256]; /* the beginning of the page: all that LMDB reads of it */
	size_t size;
	off_t at; /* where the page is in the file, in bytes */
} sx_lost_meta;

/**
 * When one of the two meta pages is so damaged that sx_file_check_data() refuses the file, and the
 * other is good: make a page for its place, of the commit before that of the good page, so that
 * LMDB uses the good page.
 *
 * @return SIMIDX_OK, or SIMIDX_E_NOT_FOUND
 */
int sx_file_check_lost_meta(int fd, sx_lost_meta *out);

/**
 * Whether LMDB will be able to write its lock file, or to make it.
 *
 * @return SIMIDX_OK; SIMIDX_E_NOT_INDEX when it is not a regular file; the code of a failed
 *         system call, with the advice to open the store without locks if it is not permitted
 */
int sx_file_check_lock_file(const char *dir, int dir_fd, simidx_error *err);

#endif /* SX_FILE_CHECK_H */
