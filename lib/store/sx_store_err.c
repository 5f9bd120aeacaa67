/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include <errno.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

#include "store/sx_store_lmdb.h"
#include "util/sx_err.h"

#define FULL_BYTES (1u << 20) /* a file system with less than this free is full */

/* LMDB's codes, and what they mean to our callers. */
static const struct lmdb_code {
	int rc;
	int code;
	const char *text;
} lmdb_codes[] = {
	{ MDB_KEYEXIST, SIMIDX_E_EXISTS, "the key is not greater than the last one" },
	{ MDB_NOTFOUND, SIMIDX_E_NOT_FOUND, "not found" },
	{ MDB_PAGE_NOTFOUND, SIMIDX_E_CORRUPT, "a page that is pointed to does not exist" },
	{ MDB_CORRUPTED, SIMIDX_E_CORRUPT, "a page is of the wrong type" },
	{ MDB_PANIC, SIMIDX_E_IO,
	  "an earlier write of the header page failed; close the index and open it again" },
	{ MDB_VERSION_MISMATCH, SIMIDX_E_UNSUPPORTED,
	  "the data or lock file belongs to another version of LMDB" },
	{ MDB_INVALID, SIMIDX_E_CORRUPT, "a header page is not LMDB's" },
	{ MDB_MAP_FULL, SIMIDX_E_MAP_FULL,
	  "the memory map is full; open the index with a larger map size" },
	{ MDB_DBS_FULL, SIMIDX_E_UNSUPPORTED, "too many tables" },
	{ MDB_READERS_FULL, SIMIDX_E_BUSY, "all reader slots are taken" },
	{ MDB_TLS_FULL, SIMIDX_E_BUSY, "too many thread-local keys" },
	{ MDB_TXN_FULL, SIMIDX_E_RANGE, "the transaction changes too many pages" },
	{ MDB_CURSOR_FULL, SIMIDX_E_CORRUPT, "a tree is deeper than can be" },
	{ MDB_PAGE_FULL, SIMIDX_E_CORRUPT, "a page has less room than it says" },
	{ MDB_MAP_RESIZED, SIMIDX_E_BUSY,
	  "another process made the file larger than the map; end the open transactions first" },
	{ MDB_INCOMPATIBLE, SIMIDX_E_CORRUPT, "a table is of the wrong type" },
	{ MDB_BAD_RSLOT, SIMIDX_E_STATE, "a reader slot was used twice" },
	{ MDB_BAD_TXN, SIMIDX_E_STATE, "the transaction failed before and must be aborted" },
	{ MDB_BAD_VALSIZE, SIMIDX_E_ARG, "the key or value is empty or too long" },
	{ MDB_BAD_DBI, SIMIDX_E_STATE, "the table was not opened" },
};

/* Whether a failed write to fd failed for lack of space. */
static int is_full(int fd)
{
	struct statvfs fs;
	struct stat st;
	struct rlimit limit;

	if (fd < 0)
		return 0;
	if (!fstatvfs(fd, &fs) && (uint64_t)fs.f_bavail * fs.f_frsize < FULL_BYTES)
		return 1;
	return !getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY &&
	       !fstat(fd, &st) && (uint64_t)st.st_size >= (uint64_t)limit.rlim_cur;
}

int sx_write_fail(int fd, int sys_errno, const char *doing, simidx_error *err)
{
	/* A write that stores less than it should sets no errno; LMDB calls that EIO. */
	if (sys_errno == EIO && is_full(fd))
		sys_errno = ENOSPC;
	return sx_fail_errno(err, sys_errno, "%s", doing);
}

int sx_lmdb_fail(const sx_store *store, int rc, const char *doing, simidx_error *err)
{
	size_t i;

	if (rc > 0)
		return sx_write_fail(store ? store->data_fd : -1, rc, doing, err);
	for (i = 0; i < sizeof(lmdb_codes) / sizeof(lmdb_codes[0]); i++) {
		if (lmdb_codes[i].rc == rc)
			return sx_fail(err, lmdb_codes[i].code, "%s: %s", doing,
				       lmdb_codes[i].text);
	}
	return sx_fail(err, SIMIDX_E_IO, "%s: LMDB error %d", doing, rc);
}
