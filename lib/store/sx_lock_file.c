/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "store/sx_lock_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "store/sx_file_check.h"
#include "util/sx_err.h"

/* As LMDB makes it: a cache line a reader, and a head. A longer one would mean more readers. */
#define BYTES (64 * (SX_LOCK_FILE_READERS + 2))

#define LEAST_FREE ((uint64_t)1 << 20) /* bytes, where writing to the file needs space */
#define TRIES 10                       /* each sees another process replace the file */

static int copies_on_write(int fd)
{
	struct statfs fs;

	if (fstatfs(fd, &fs))
		return 0;
	switch ((uint32_t)fs.f_type) {
	case 0x9123683E: /* btrfs */
	case 0xCA451A4E: /* bcachefs */
	case 0x2FC12FC1: /* ZFS */
		return 1;
	default:
		return 0;
	}
}

/* Whether all of a file has its place, and keeps it. */
static int is_in_place(int fd)
{
	struct stat st;
	int flags = 0;

	if (fstat(fd, &st) || st.st_size < BYTES || (uint64_t)st.st_blocks * 512 < BYTES)
		return 0;
	return !copies_on_write(fd) ||
	       (!ioctl(fd, FS_IOC_GETFLAGS, &flags) && flags & FS_NOCOW_FL);
}

/* An empty file gets its length. Returns 0 or an errno. */
static int fill(int fd)
{
	int flags = 0;

	if (copies_on_write(fd) && !ioctl(fd, FS_IOC_GETFLAGS, &flags)) {
		flags |= FS_NOCOW_FL;
		/* Where that cannot be had, there must be space later. */
		(void)ioctl(fd, FS_IOC_SETFLAGS, &flags);
	}
	return fallocate(fd, 0, 0, BYTES) && errno != EOPNOTSUPP ? errno : 0;
}

/* Whether no other process has the store open: LMDB holds a shared lock of this byte in each. */
static int lock_alone(int fd)
{
	struct flock alone = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };

	return !fcntl(fd, F_SETLK, &alone);
}

/*
 * Put a new file in the place of one that is locked as LMDB does it. A process that has opened the
 * old one and waits for its lock finds out by sx_lock_file_is().
 */
static void replace(const char *path, const struct stat *old)
{
	char *name;
	int fd;

	if (asprintf(&name, "%s" SX_LOCK_FILE_NEW, path) < 0)
		return;
	unlink(name);
	fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd >= 0 && !fill(fd) && is_in_place(fd) && !fchown(fd, old->st_uid, old->st_gid) &&
	    !fchmod(fd, old->st_mode & 0777) && !rename(name, path)) {
		/* It is there. */
	} else if (fd >= 0) {
		unlink(name);
	}
	if (fd >= 0)
		close(fd);
	free(name);
}

static int is_file(const char *path, const struct stat *file)
{
	struct stat st;

	return !stat(path, &st) && st.st_dev == file->st_dev && st.st_ino == file->st_ino;
}

static int has_space(int fd)
{
	struct statvfs fs;

	return !fstatvfs(fd, &fs) && (uint64_t)fs.f_bavail * fs.f_frsize >= LEAST_FREE;
}

/* Returns 0, or an errno; EAGAIN: it has been replaced. */
static int prepare(const char *path, mode_t mode, struct stat *file)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, mode), e = 0;

	if (fd < 0)
		return errno;
	if (fstat(fd, file)) {
		e = errno;
	} else if (!file->st_size) {
		e = fill(fd);
		if (e)
			unlink(path);
	}
	if (!e && !is_in_place(fd)) {
		if (lock_alone(fd) && is_file(path, file))
			replace(path, file);
		if (!is_file(path, file))
			e = EAGAIN;
		else if (!has_space(fd))
			e = ENOSPC;
	}
	close(fd);
	return e;
}

int sx_lock_file_prepare(const char *dir, mode_t mode, struct stat *file, simidx_error *err)
{
	char *path;
	int e, tries = 0;

	if (asprintf(&path, "%s/" SX_LOCK_NAME, dir) < 0)
		return sx_fail_nomem(err);
	do
		e = prepare(path, mode, file);
	while (e == EAGAIN && ++tries < TRIES);
	free(path);
	if (e == ENOSPC || e == EDQUOT)
		return sx_fail_errno(err, e,
				     "%s: " SX_LOCK_NAME " needs space; if nobody writes to the index "
				     "meanwhile, open it as static (SIMIDX_OPEN_STATIC, simidx-query "
				     "--static)",
				     dir);
	return e ? sx_fail_errno(err, e, "%s/" SX_LOCK_NAME, dir) : SIMIDX_OK;
}

int sx_lock_file_is(const char *dir, const struct stat *file)
{
	char *path;
	int is_it;

	if (asprintf(&path, "%s/" SX_LOCK_NAME, dir) < 0)
		return 0;
	is_it = is_file(path, file);
	free(path);
	return is_it;
}
