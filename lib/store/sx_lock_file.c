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

/* Bytes, where writing to the file needs space. btrfs shows 2 MiB as free that it keeps. */
#define LEAST_FREE ((uint64_t)4 << 20)
#define TRIES 10                       /* each sees another process replace the file */

#define OPENING_BYTE ((off_t)1 << 40) /* LMDB locks bytes 0 and those of process numbers */

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
 * old one and waits for its lock finds out by is_file().
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

/* F_OFD_SETLK or F_OFD_SETLKW. 0 or an errno. */
static int set_lock(int fd, int command, short type)
{
	struct flock opening = {
		.l_type = type, .l_whence = SEEK_SET, .l_start = OPENING_BYTE, .l_len = 1
	};

	while (fcntl(fd, command, &opening))
		if (errno != EINTR)
			return errno;
	return 0;
}

int sx_lock_file_lock(int fd)
{
	return set_lock(fd, F_OFD_SETLKW, F_WRLCK);
}

void sx_lock_file_unlock(int fd)
{
	set_lock(fd, F_OFD_SETLK, F_UNLCK);
}

/* See to a file that is locked. Returns 0, or an errno; EAGAIN: it has been replaced. */
static int prepare(int fd, const char *path)
{
	struct stat file;

	if (fstat(fd, &file))
		return errno;
	if (!is_file(path, &file))
		return EAGAIN;
	if (!file.st_size) {
		int e = fill(fd);

		if (e) {
			unlink(path);
			return e;
		}
	}
	if (is_in_place(fd))
		return 0;
	if (lock_alone(fd))
		replace(path, &file);
	if (!is_file(path, &file))
		return EAGAIN;
	return has_space(fd) ? 0 : ENOSPC;
}

/* Returns 0, or an errno; EAGAIN: the file was replaced meanwhile. */
static int open_locked(const char *path, mode_t mode, int *out)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, mode), e;

	if (fd < 0)
		return errno;
	e = sx_lock_file_lock(fd);
	if (!e)
		e = prepare(fd, path);
	if (e)
		close(fd);
	else
		*out = fd;
	return e;
}

int sx_lock_file_open(const char *dir, mode_t mode, int *fd, simidx_error *err)
{
	char *path;
	int e, tries = 0;

	if (asprintf(&path, "%s/" SX_LOCK_NAME, dir) < 0)
		return sx_fail_nomem(err);
	do
		e = open_locked(path, mode, fd);
	while (e == EAGAIN && ++tries < TRIES);
	free(path);
	if (e == ENOSPC || e == EDQUOT)
		return sx_fail_errno(err, e,
				     "%s: " SX_LOCK_NAME " needs space; if nobody writes to the "
				     "index meanwhile, open it as static (SIMIDX_OPEN_STATIC)",
				     dir);
	return e ? sx_fail_errno(err, e, "%s/" SX_LOCK_NAME, dir) : SIMIDX_OK;
}

int sx_lock_file_is_there(const char *dir, int *fd, simidx_error *err)
{
	struct stat file;
	char *path;
	int is_it;

	if (fstat(*fd, &file))
		return SIMIDX_E_MOVED;
	if (asprintf(&path, "%s/" SX_LOCK_NAME, dir) < 0)
		return sx_fail_nomem(err);
	is_it = is_file(path, &file);
	if (!is_it) {
		close(*fd);
		*fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	}
	free(path);
	return is_it ? SIMIDX_OK : SIMIDX_E_MOVED;
}
