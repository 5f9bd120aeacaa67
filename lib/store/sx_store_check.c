/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What is looked at before LMDB maps a file. LMDB trusts its file: a map that is longer than
 * the file kills the process at the first access to the missing part.
 */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "store/sx_store_lmdb.h"
#include "util/sx_err.h"

/*
 * The file format of LMDB 0.9 on 64-bit machines, in their own byte order. Pages 0 and 1 each
 * begin with a page header and a meta record; the one with the higher transaction number is
 * valid. A table record is 48 bytes long and ends with the number of its root page.
 */
#define MAGIC 0xBEEFC0DEu
#define FORMAT 1
#define FLAG_META 0x08 /* in the page header */
#define AT_PAGE_FLAGS 10
#define AT_MAGIC 16
#define AT_FORMAT 20
#define AT_PAGE_SIZE 40 /* first field of the free list's table record */
#define AT_FREE_ROOT 80
#define AT_MAIN_ROOT 128
#define AT_LAST_PAGE 136
#define AT_TXN 144
#define META_BYTES 152
#define META_TRIES 3

#define MAX_PAGE_SIZE 32768 /* LMDB's own limit */
#define NO_PAGE UINT64_MAX
#define MAX_PAGES ((uint64_t)1 << 47)

/* How a meta page looks. */
enum meta_kind {
	META_GOOD,
	META_MISSING, /* the file ends before it */
	META_NOT,     /* no magic number */
	META_FOREIGN, /* a magic number, but not of this LMDB on this machine */
	META_BAD      /* of this LMDB, with impossible contents */
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

static uint16_t load16(const unsigned char *p)
{
	uint16_t x;

	memcpy(&x, p, sizeof(x));
	return x;
}

static uint32_t load32(const unsigned char *p)
{
	uint32_t x;

	memcpy(&x, p, sizeof(x));
	return x;
}

static uint64_t load64(const unsigned char *p)
{
	uint64_t x;

	memcpy(&x, p, sizeof(x));
	return x;
}

size_t sx_check_page_size(void)
{
	long size = sysconf(_SC_PAGESIZE);

	return size > MAX_PAGE_SIZE ? MAX_PAGE_SIZE : (size_t)size;
}

static int check_file_system(const char *dir, int dir_fd, simidx_error *err)
{
	struct statfs fs;
	size_t i;

	if (fstatfs(dir_fd, &fs))
		return sx_fail_errno(err, errno, "%s", dir);
	for (i = 0; i < sizeof(network_file_systems) / sizeof(network_file_systems[0]); i++) {
		if ((uint32_t)fs.f_type == network_file_systems[i].magic)
			return sx_fail(err, SIMIDX_E_UNSUPPORTED,
				       "%s is on a network file system (%s), where locks and "
				       "memory maps cannot be trusted",
				       dir, network_file_systems[i].name);
	}
	return SIMIDX_OK;
}

int sx_check_directory(const char *dir, unsigned flags, int *dir_fd, simidx_error *err)
{
	int fd, rc;

	*dir_fd = -1;
	fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 && errno == ENOTDIR)
		return sx_fail(err, SIMIDX_E_NOT_INDEX, "%s is not a directory", dir);
	if (fd < 0)
		return sx_fail_errno(err, errno, "%s", dir);
	rc = flags & SX_STORE_FORCE ? SIMIDX_OK : check_file_system(dir, fd, err);
	if (rc)
		close(fd);
	else
		*dir_fd = fd;
	return rc;
}

int sx_check_open(const char *dir, int dir_fd, int *fd, struct stat *st, simidx_error *err)
{
	/* O_NONBLOCK, or a FIFO of that name would make us wait. */
	*fd = openat(dir_fd, SX_DATA_NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (*fd < 0 && errno == ENOENT)
		return sx_fail(err, SIMIDX_E_NOT_INDEX, "%s has no " SX_DATA_NAME " in it",
			       dir);
	if (*fd < 0 && errno != ELOOP && errno != ENXIO)
		return sx_fail_errno(err, errno, "%s/" SX_DATA_NAME, dir);
	if (*fd >= 0 && fstat(*fd, st)) {
		sx_fail_errno(err, errno, "%s/" SX_DATA_NAME, dir);
		close(*fd);
		*fd = -1;
		return SIMIDX_E_IO;
	}
	if (*fd >= 0 && S_ISREG(st->st_mode))
		return SIMIDX_OK;
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	return sx_fail(err, SIMIDX_E_NOT_INDEX, "%s/" SX_DATA_NAME " is not a regular file",
		       dir);
}

/* Whether the magic number stands where another LMDB, word size or byte order puts it. */
static int has_foreign_magic(const unsigned char *meta)
{
	size_t at;

	for (at = 8; at <= 32; at += 4) {
		uint32_t x = load32(meta + at);

		if (x == MAGIC || x == __builtin_bswap32(MAGIC))
			return 1;
	}
	return 0;
}

static enum meta_kind classify(const unsigned char *meta)
{
	uint64_t last = load64(meta + AT_LAST_PAGE);
	uint64_t free_root = load64(meta + AT_FREE_ROOT);
	uint64_t main_root = load64(meta + AT_MAIN_ROOT);

	if (load32(meta + AT_MAGIC) != MAGIC)
		return has_foreign_magic(meta) ? META_FOREIGN : META_NOT;
	if (load32(meta + AT_FORMAT) != FORMAT ||
	    load32(meta + AT_PAGE_SIZE) != sx_check_page_size())
		return META_FOREIGN;
	if (!(load16(meta + AT_PAGE_FLAGS) & FLAG_META) || last < 1 || last >= MAX_PAGES)
		return META_BAD;
	if ((free_root != NO_PAGE && free_root > last) ||
	    (main_root != NO_PAGE && main_root > last))
		return META_BAD;
	return META_GOOD;
}

/*
 * Read and classify a meta page. A writer may be at it, and then half of the old and half of
 * the new one look bad, so it is read again. Returns 0, or an errno.
 */
static int read_meta(int fd, off_t at, unsigned char *meta, enum meta_kind *kind)
{
	int tries = 0;
	ssize_t got;

	do {
		memset(meta, 0, META_BYTES);
		got = pread(fd, meta, META_BYTES, at);
		if (got < 0)
			return errno;
		*kind = classify(meta);
	} while (*kind == META_BAD && ++tries < META_TRIES);
	if (got < META_BYTES && (at > 0 || load32(meta + AT_MAGIC) == MAGIC))
		*kind = META_MISSING;
	return 0;
}

static int fail_kinds(const char *dir, enum meta_kind first, enum meta_kind second,
		      const unsigned char *meta, simidx_error *err)
{
	if (first == META_GOOD || second == META_GOOD)
		return sx_fail(err, SIMIDX_E_CORRUPT,
			       "%s/" SX_DATA_NAME ": the %s header page is damaged", dir,
			       first == META_GOOD ? "second" : "first");
	if (first == META_FOREIGN && load32(meta + AT_MAGIC) == MAGIC &&
	    load32(meta + AT_FORMAT) == FORMAT)
		return sx_fail(err, SIMIDX_E_UNSUPPORTED,
			       "%s/" SX_DATA_NAME ": pages of %" PRIu32 " bytes, not %zu", dir,
			       load32(meta + AT_PAGE_SIZE), sx_check_page_size());
	if (first == META_FOREIGN)
		return sx_fail(err, SIMIDX_E_UNSUPPORTED,
			       "%s/" SX_DATA_NAME
			       ": of another version of LMDB, or of a machine "
			       "of another word size or byte order",
			       dir);
	if (first == META_NOT && second != META_BAD && second != META_FOREIGN)
		return sx_fail(err, SIMIDX_E_NOT_INDEX,
			       "%s/" SX_DATA_NAME " is not an LMDB file", dir);
	return sx_fail(err, SIMIDX_E_CORRUPT,
		       "%s/" SX_DATA_NAME ": the header pages are damaged", dir);
}

int sx_check_data(const char *dir, int fd, simidx_error *err)
{
	unsigned char meta[2][META_BYTES];
	enum meta_kind kind[2];
	uint64_t need, page_size = sx_check_page_size();
	struct stat st;
	int e;

	e = read_meta(fd, 0, meta[0], &kind[0]);
	if (!e)
		e = read_meta(fd, (off_t)page_size, meta[1], &kind[1]);
	/* After the pages, because a writer makes the file longer before it says so in them. */
	if (!e && fstat(fd, &st))
		e = errno;
	if (e)
		return sx_fail_errno(err, e, "%s/" SX_DATA_NAME, dir);
	if (kind[0] == META_MISSING || (kind[0] == META_GOOD && kind[1] == META_MISSING))
		need = 2 * page_size;
	else if (kind[0] != META_GOOD || kind[1] != META_GOOD)
		return fail_kinds(dir, kind[0], kind[1], meta[0], err);
	else if (load64(meta[0] + AT_TXN) > load64(meta[1] + AT_TXN))
		need = (load64(meta[0] + AT_LAST_PAGE) + 1) * page_size;
	else
		need = (load64(meta[1] + AT_LAST_PAGE) + 1) * page_size;
	if ((uint64_t)st.st_size < need)
		return sx_fail(err, SIMIDX_E_CORRUPT,
			       "%s/" SX_DATA_NAME ": cut short: %ju of %ju bytes", dir,
			       (uintmax_t)st.st_size, (uintmax_t)need);
	return SIMIDX_OK;
}

/*
 * Whether LMDB will be able to write its lock file, or to make it. By faccessat(), not by
 * opening it: closing any descriptor of it would drop the locks of this process. LMDB itself
 * must not be left to find out: on a read-only mount it goes on without locks and says nothing.
 */
static int check_lock_file(const char *dir, int dir_fd, simidx_error *err)
{
	struct stat st;
	int e = 0;

	if (!fstatat(dir_fd, SX_LOCK_NAME, &st, AT_SYMLINK_NOFOLLOW)) {
		if (!S_ISREG(st.st_mode))
			return sx_fail(err, SIMIDX_E_NOT_INDEX,
				       "%s/" SX_LOCK_NAME " is not a regular file", dir);
		if (faccessat(dir_fd, SX_LOCK_NAME, R_OK | W_OK, AT_EACCESS))
			e = errno;
	} else if (errno != ENOENT) {
		e = errno;
	} else if (faccessat(dir_fd, ".", W_OK | X_OK, AT_EACCESS)) {
		e = errno;
	}
	if (!e)
		return SIMIDX_OK;
	if (e != EACCES && e != EPERM && e != EROFS)
		return sx_fail_errno(err, e, "%s/" SX_LOCK_NAME, dir);
	return sx_fail_errno(err, e,
			     "%s: " SX_LOCK_NAME " cannot be written; if nobody writes to "
			     "the index meanwhile, use --static (SIMIDX_OPEN_STATIC)",
			     dir);
}

int sx_check_access(const char *dir, int dir_fd, unsigned flags, int *is_writable,
		    simidx_error *err)
{
	int rc;

	*is_writable = 0;
	if (flags & SX_STORE_STATIC)
		return SIMIDX_OK;
	rc = check_lock_file(dir, dir_fd, err);
	if (!rc && !(flags & SX_STORE_READ_ONLY))
		*is_writable = !faccessat(dir_fd, SX_DATA_NAME, W_OK, AT_EACCESS);
	return rc;
}
