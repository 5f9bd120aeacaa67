/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "util/sx_spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/sx_alloc.h"
#include "util/sx_err.h"
#include "util/sx_io.h"

struct sx_spill {
	int fd;
	char *dir;
	uint64_t size;    /* buffered bytes included */
	uint64_t written; /* without them */
	unsigned char *buffer;
	size_t used, room;
};

/* Without a name from the start where the file system can, else unlinked at once. */
static int open_nameless(const char *dir)
{
	int fd = open(dir, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
	char *path;

	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT))
		return fd;
	if (asprintf(&path, "%s/.simidx-spill-XXXXXX", dir) < 0)
		return -1;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	free(path);
	return fd;
}

/* Where standard output or error is closed, what is printed must not land in our file. */
static int above_standard(int fd)
{
	int higher;

	if (fd < 0 || fd > STDERR_FILENO)
		return fd;
	higher = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	close(fd);
	return higher;
}

int sx_spill_file(const char *dir)
{
	return above_standard(open_nameless(dir));
}

int sx_spill_new(const char *dir, size_t buffer, sx_spill **out, simidx_error *err)
{
	sx_spill *s = sx_calloc(1, sizeof(*s));
	int rc;

	*out = NULL;
	if (!s)
		return sx_fail_nomem(err);
	s->fd = -1;
	s->room = buffer;
	s->buffer = sx_realloc(NULL, buffer, 1);
	s->dir = strdup(dir);
	if (!s->buffer || !s->dir) {
		sx_spill_free(s);
		return sx_fail_nomem(err);
	}
	s->fd = sx_spill_file(dir);
	if (s->fd < 0) {
		rc = sx_fail_errno(err, errno, "cannot make a temporary file in %s", dir);
		sx_spill_free(s);
		return rc;
	}
	*out = s;
	return SIMIDX_OK;
}

void sx_spill_free(sx_spill *s)
{
	if (!s)
		return;
	if (s->fd >= 0)
		close(s->fd);
	free(s->buffer);
	free(s->dir);
	free(s);
}

void sx_spill_clear(sx_spill *s)
{
	s->size = s->used = s->written = 0;
}

static int write_all(sx_spill *s, const unsigned char *data, size_t size, simidx_error *err)
{
	if (sx_io_write(s->fd, data, size, s->written))
		return sx_fail_errno(err, errno, "temporary file in %s", s->dir);
	s->written += size;
	return SIMIDX_OK;
}

static int flush(sx_spill *s, simidx_error *err)
{
	int rc = write_all(s, s->buffer, s->used, err);

	s->used = 0;
	return rc;
}

int sx_spill_write(sx_spill *s, const void *data, size_t size, simidx_error *err)
{
	int rc = SIMIDX_OK;

	s->size += size;
	if (size > s->room - s->used)
		rc = flush(s, err);
	if (!rc && size >= s->room)
		return write_all(s, data, size, err);
	if (!rc) {
		memcpy(s->buffer + s->used, data, size);
		s->used += size;
	}
	return rc;
}

uint64_t sx_spill_size(const sx_spill *s)
{
	return s->size;
}

int sx_spill_read(sx_spill *s, uint64_t at, void *data, size_t size, simidx_error *err)
{
	unsigned char *to = data;
	int rc = s->used ? flush(s, err) : SIMIDX_OK;

	while (!rc && size) {
		ssize_t n = pread(s->fd, to, size, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			rc = sx_fail_errno(err, errno, "temporary file in %s", s->dir);
		else if (n == 0)
			rc = sx_fail(err, SIMIDX_E_IO, "temporary file in %s: it ends too soon",
				     s->dir);
		else {
			to += n;
			at += (uint64_t)n;
			size -= (size_t)n;
		}
	}
	return rc;
}
