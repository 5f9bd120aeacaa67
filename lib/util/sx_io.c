/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "util/sx_io.h"

#include <errno.h>
#include <unistd.h>

int sx_io_read(int fd, void *to, size_t size, uint64_t at)
{
	for (size_t done = 0; done < size;) {
		ssize_t n = pread(fd, (char *)to + done, size - done, (off_t)(at + done));

		if (!n)
			errno = EIO;
		if (!n || (n < 0 && errno != EINTR))
			return -1;
		done += n < 0 ? 0 : (size_t)n;
	}
	return 0;
}

int sx_io_write(int fd, const void *from, size_t size, uint64_t at)
{
	for (size_t done = 0; done < size;) {
		ssize_t n = pwrite(fd, (const char *)from + done, size - done, (off_t)(at + done));

		if (!n)
			errno = ENOSPC;
		if (!n || (n < 0 && errno != EINTR))
			return -1;
		done += n < 0 ? 0 : (size_t)n;
	}
	return 0;
}
