/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "store/sx_mended.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/sx_dir.h"
#include "store/sx_file_check.h"
#include "util/sx_alloc.h"
#include "util/sx_err.h"
#include "util/sx_io.h"

#define COPIED_AT_ONCE ((size_t)1 << 20)

/* Returns 0, or an errno. */
static int copy_all(int from, int to, unsigned char *buffer)
{
	ssize_t got;
	off_t at = 0;
	int e = 0;

	while (!e && (got = pread(from, buffer, COPIED_AT_ONCE, at)) != 0) {
		if (got < 0) {
			e = errno == EINTR ? 0 : errno;
			continue;
		}
		e = sx_io_write(to, buffer, (size_t)got, (uint64_t)at) ? errno : 0;
		at += got;
	}
	return e;
}

/* Copy the data file into a directory, with the meta page that it lost. */
static int copy_mended(int from, mode_t mode, const char *into, const sx_lost_meta *lost,
		       simidx_error *err)
{
	unsigned char *buffer = sx_calloc(1, COPIED_AT_ONCE);
	int dir_fd = -1, to = -1, e = 0;

	if (!buffer)
		return sx_fail_nomem(err);
	dir_fd = open(into, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (dir_fd >= 0)
		to = openat(dir_fd, SX_DATA_NAME, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (to < 0 || fchmod(to, mode))
		e = errno;
	if (!e)
		e = copy_all(from, to, buffer);
	if (!e)
		e = sx_io_write(to, lost->bytes, lost->size, (uint64_t)lost->at) ? errno : 0;
	/* Some file systems say only now that there is no space. */
	if (to >= 0 && close(to) && !e)
		e = errno;
	if (dir_fd >= 0)
		close(dir_fd);
	free(buffer);
	return e ? sx_fail_errno(err, e, "%s: cannot copy the data file", into) : SIMIDX_OK;
}

int sx_store_open_mended(const char *dir, const char *beside, unsigned flags, sx_store **out,
			 simidx_error *err)
{
	sx_store_options how = { .flags = flags | SX_STORE_READ_ONLY | SX_STORE_STATIC |
					  SX_STORE_CUT };
	int dir_fd, fd = -1, lock_fd = -1, rc;
	char *copy = NULL;
	sx_lost_meta lost;
	struct stat st;

	*out = NULL;
	rc = sx_file_check_directory(dir, flags & SX_STORE_FORCE, &dir_fd, err);
	if (rc)
		return rc;
	rc = sx_file_check_open(dir, dir_fd, &fd, &st, err);
	if (!rc)
		rc = sx_file_check_lost_meta(fd, &lost);
	if (!rc)
		rc = sx_dir_prepare(beside, &copy, &lock_fd, err);
	if (!rc)
		rc = copy_mended(fd, st.st_mode & 0777, copy, &lost, err);
	if (!rc)
		rc = sx_store_open(copy, &how, out, err);
	if (copy)
		sx_dir_remove(copy);
	sx_dir_unlock(lock_fd);
	if (fd >= 0)
		close(fd);
	close(dir_fd);
	free(copy);
	return rc;
}
