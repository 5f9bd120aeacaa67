/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "store/sx_file_check.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "store/sx_lmdb_pages.h"
#include "util/sx_err.h"

#define META_TRIES 3

/* How a meta page looks. */
enum meta_kind {
	META_GOOD,
	META_MISSING, /* the file ends before it */
	META_NOT,     /* no magic number */
	META_FOREIGN, /* a magic number, but not of this LMDB on this machine */
	META_BAD      /* of this LMDB, but its page is not marked as a meta page */
};

/* File systems on which locks or maps are not coherent between machines or processes. */
static const struct file_system {
	uint32_t magic;
	const char *name;
} network_file_systems[] = {
	{ 0x00006969, "NFS" },  { 0x0000517B, "SMB" },    { 0xFF534D42, "CIFS" },
	{ 0xFE534D42, "SMB2" }, { 0x01021997, "9p" },     { 0x65735546, "FUSE" },
	{ 0x5346414F, "AFS" },  { 0x6B414653, "AFS" },    { 0x73757245, "Coda" },
	{ 0x00C36400, "Ceph" }, { 0x0BD00BD0, "Lustre" }, { 0x47504653, "GPFS" },
	{ 0x0000564C, "NCP" },  { 0x786F4256, "vboxsf" }, { 0xBACBACBC, "vmhgfs" },
};

size_t sx_file_check_page_size(void)
{
	long size = sysconf(_SC_PAGESIZE);

	return size > SX_LMDB_MAX_PAGE_SIZE ? SX_LMDB_MAX_PAGE_SIZE : (size_t)size;
}

static int check_file_system(const char *dir, int dir_fd, simidx_error *err)
{
	struct statfs fs;

	if (fstatfs(dir_fd, &fs))
		return sx_fail_errno(err, errno, "%s", dir);
	for (size_t i = 0; i < sizeof(network_file_systems) / sizeof(network_file_systems[0]); i++)
		if ((uint32_t)fs.f_type == network_file_systems[i].magic)
			return sx_fail(err, SIMIDX_E_UNSUPPORTED,
				       "%s is on a network file system (%s), where locks and "
				       "memory maps cannot be trusted",
				       dir, network_file_systems[i].name);
	return SIMIDX_OK;
}

int sx_file_check_directory(const char *dir, int any_file_system, int *dir_fd, simidx_error *err)
{
	int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC), rc;

	*dir_fd = -1;
	if (fd < 0 && errno == ENOTDIR)
		return sx_fail(err, SIMIDX_E_NOT_INDEX,
			       "%s is not a simidx index: it is not a directory", dir);
	if (fd < 0)
		return sx_fail_errno(err, errno, errno == ENOENT ? "%s: no index" : "%s", dir);
	rc = any_file_system ? SIMIDX_OK : check_file_system(dir, fd, err);
	if (rc)
		close(fd);
	else
		*dir_fd = fd;
	return rc;
}

int sx_file_check_open(const char *dir, int dir_fd, int *fd, struct stat *st, simidx_error *err)
{
	int rc = SIMIDX_OK;

	/* O_NONBLOCK, or a FIFO of that name would make us wait. */
	*fd = openat(dir_fd, SX_DATA_NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (*fd < 0 && errno == ENOENT)
		return sx_fail(err, SIMIDX_E_NOT_INDEX,
			       "%s is not a simidx index: it has no " SX_DATA_NAME, dir);
	/* A link gives ELOOP, a socket ENXIO. */
	if (*fd < 0 ? errno != ELOOP && errno != ENXIO : fstat(*fd, st))
		rc = sx_fail_errno(err, errno, "%s/" SX_DATA_NAME, dir);
	else if (*fd < 0 || !S_ISREG(st->st_mode))
		rc = sx_fail(err, SIMIDX_E_NOT_INDEX,
			     "%s/" SX_DATA_NAME " is not a regular file", dir);
	if (rc && *fd >= 0) {
		close(*fd);
		*fd = -1;
	}
	return rc;
}

/* Whether the magic number stands where another LMDB, word size or byte order puts it. */
static int has_foreign_magic(const sx_lmdb_meta *meta)
{
	for (size_t at = 8; at <= 32; at += sizeof(uint32_t)) {
		uint32_t x;

		memcpy(&x, (const unsigned char *)meta + at, sizeof(x));
		if (x == SX_LMDB_MAGIC || x == __builtin_bswap32(SX_LMDB_MAGIC))
			return 1;
	}
	return 0;
}

/* What LMDB asks of both pages, or it does not open the file. No commit changes any of it. */
static enum meta_kind classify(const sx_lmdb_meta *meta)
{
	if (meta->magic != SX_LMDB_MAGIC)
		return has_foreign_magic(meta) ? META_FOREIGN : META_NOT;
	if (meta->format != SX_LMDB_FORMAT ||
	    meta->free_pages.page_size != sx_file_check_page_size())
		return META_FOREIGN;
	return meta->header.flags & SX_LMDB_IS_META ? META_GOOD : META_BAD;
}

static int read_meta(int fd, off_t at, sx_lmdb_meta *meta, enum meta_kind *kind)
{
	ssize_t got;

	memset(meta, 0, sizeof(*meta));
	got = pread(fd, meta, sizeof(*meta), at);
	if (got < 0)
		return errno;
	*kind = classify(meta);
	if ((size_t)got < sizeof(*meta) && (at > 0 || meta->magic == SX_LMDB_MAGIC))
		*kind = META_MISSING;
	return 0;
}

static int is_root(uint64_t root, uint64_t last_page)
{
	return root == SX_LMDB_NO_PAGE || root <= last_page;
}

/* Transaction N is written to page N % 2, and LMDB looks for it there. */
static int is_possible(const sx_lmdb_meta *meta, int page)
{
	uint64_t last = meta->last_page;

	return last >= 1 && last < SX_LMDB_MAX_PAGES && is_root(meta->free_pages.root, last) &&
	       is_root(meta->tables.root, last) && meta->txn < SX_LMDB_MAX_TXN &&
	       meta->txn % 2 == (uint64_t)page;
}

/*
 * Read both meta pages, and find out which of them LMDB uses. What the other one
 * says does not matter. When the write of a meta page fails, LMDB writes the new roots with the
 * old transaction number and the old last page into it; the next commit replaces that.
 *
 * A writer may be at one of them, and then half of the old and half of the new one may look
 * impossible, so they are read again. Returns 0, or an errno.
 */
static int read_metas(int fd, sx_lmdb_meta meta[2], enum meta_kind kind[2], int *which)
{
	int e, tries = 0;

	do {
		e = read_meta(fd, 0, &meta[0], &kind[0]);
		if (!e)
			e = read_meta(fd, (off_t)sx_file_check_page_size(), &meta[1], &kind[1]);
		*which = meta[0].txn < meta[1].txn;
	} while (!e && kind[0] == META_GOOD && kind[1] == META_GOOD &&
		 !is_possible(&meta[*which], *which) && ++tries < META_TRIES);
	return e;
}

static int fail_kinds(const char *dir, enum meta_kind first, enum meta_kind second,
		      const sx_lmdb_meta *meta, simidx_error *err)
{
	if (first == META_GOOD || second == META_GOOD)
		return sx_fail(err, SIMIDX_E_CORRUPT,
			       "%s/" SX_DATA_NAME ": the %s header page is damaged", dir,
			       first == META_GOOD ? "second" : "first");
	if (first == META_FOREIGN && meta->magic == SX_LMDB_MAGIC &&
	    meta->format == SX_LMDB_FORMAT)
		return sx_fail(err, SIMIDX_E_UNSUPPORTED,
			       "%s/" SX_DATA_NAME ": pages of %" PRIu32 " bytes, not %zu", dir,
			       meta->free_pages.page_size, sx_file_check_page_size());
	if (first == META_FOREIGN)
		return sx_fail(err, SIMIDX_E_UNSUPPORTED,
			       "%s/" SX_DATA_NAME
			       ": of another version of LMDB, or of a machine "
			       "of another word size or byte order",
			       dir);
	if (first == META_NOT && second != META_BAD && second != META_FOREIGN)
		return sx_fail(err, SIMIDX_E_NOT_INDEX,
			       "%s/" SX_DATA_NAME " is not of a simidx index: it is no LMDB file",
			       dir);
	return sx_fail(err, SIMIDX_E_CORRUPT,
		       "%s/" SX_DATA_NAME ": the header pages are damaged", dir);
}

int sx_file_check_data(const char *dir, int fd, int takes_cut, simidx_error *err)
{
	uint64_t need, page_size = sx_file_check_page_size();
	enum meta_kind kind[2];
	sx_lmdb_meta meta[2];
	struct stat st;
	int e, which;

	e = read_metas(fd, meta, kind, &which);
	/* After the pages, because a writer makes the file longer before it says so in them. */
	if (!e && fstat(fd, &st))
		e = errno;
	if (e)
		return sx_fail_errno(err, e, "%s/" SX_DATA_NAME, dir);
	if (kind[0] == META_MISSING || (kind[0] == META_GOOD && kind[1] == META_MISSING))
		need = 2 * page_size;
	else if (kind[0] != META_GOOD || kind[1] != META_GOOD)
		return fail_kinds(dir, kind[0], kind[1], &meta[0], err);
	else if (!is_possible(&meta[which], which))
		return sx_fail(err, SIMIDX_E_CORRUPT,
			       "%s/" SX_DATA_NAME ": the %s header page, which counts, is damaged",
			       dir, which ? "second" : "first");
	else if (!takes_cut &&
		 meta[which].last_page > (uint64_t)st.st_size / page_size + SX_LMDB_MAX_DIRTY)
		need = (meta[which].last_page + 1) * page_size;
	else
		need = 2 * page_size;
	if ((uint64_t)st.st_size < need)
		return sx_fail(err, SIMIDX_E_CORRUPT,
			       "%s/" SX_DATA_NAME ": cut short: %ju of %ju bytes", dir,
			       (uintmax_t)st.st_size, (uintmax_t)need);
	return SIMIDX_OK;
}

int sx_file_check_lost_meta(int fd, sx_lost_meta *out)
{
	enum meta_kind kind[2];
	sx_lmdb_meta meta[2], made;
	int which, good;

	if (read_metas(fd, meta, kind, &which))
		return SIMIDX_E_NOT_FOUND;
	/* One that LMDB refuses, or one that it would use and must not. */
	good = kind[0] == META_GOOD && kind[1] == META_GOOD ? !which : kind[1] == META_GOOD;
	if (kind[good] != META_GOOD || !is_possible(&meta[good], good) || !meta[good].txn ||
	    (kind[!good] == META_GOOD && is_possible(&meta[!good], !good)))
		return SIMIDX_E_NOT_FOUND;
	static_assert(sizeof(made) <= sizeof(out->bytes), "a meta record fits");
	made = meta[good];
	made.header.number = (uint64_t)!good;
	made.txn--;
	memcpy(out->bytes, &made, sizeof(made));
	out->size = sizeof(made);
	out->at = good ? 0 : (off_t)sx_file_check_page_size();
	return SIMIDX_OK;
}

/*
 * By faccessat(), not by opening the file: closing any descriptor of it would drop the locks of
 * this process. LMDB itself must not be left to find out: on a read-only mount it goes on without
 * locks and says nothing.
 */
int sx_file_check_lock_file(const char *dir, int dir_fd, simidx_error *err)
{
	struct stat st;
	int exists = !fstatat(dir_fd, SX_LOCK_NAME, &st, AT_SYMLINK_NOFOLLOW), e;

	if (exists && !S_ISREG(st.st_mode))
		return sx_fail(err, SIMIDX_E_NOT_INDEX,
			       "%s/" SX_LOCK_NAME " is not a regular file", dir);
	if ((exists || errno == ENOENT) &&
	    !faccessat(dir_fd, exists ? SX_LOCK_NAME : ".", exists ? R_OK | W_OK : W_OK | X_OK,
		       AT_EACCESS))
		return SIMIDX_OK;
	e = errno;
	if (e != EACCES && e != EPERM && e != EROFS)
		return sx_fail_errno(err, e, "%s/" SX_LOCK_NAME, dir);
	return sx_fail_errno(err, e,
			     "%s: " SX_LOCK_NAME " cannot be written; if nobody writes to the "
			     "index meanwhile, open it as static (SIMIDX_OPEN_STATIC)",
			     dir);
}
