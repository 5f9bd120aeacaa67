/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "common/tl_emit.h"

#include "common/tl_escape.h"
#include "common/tl_msg.h"
#include "common/tl_output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int is_regular_file(FILE *out, struct stat *status)
{
	return !fstat(fileno(out), status) && S_ISREG(status->st_mode);
}

/* Where the last whole line of a file ends; -1 if it cannot be read. */
static off_t end_of_lines(int fd, char end, off_t size)
{
	char bytes[4096];

	while (size > 0) {
		size_t n = size < (off_t)sizeof(bytes) ? (size_t)size : sizeof(bytes);

		if (pread(fd, bytes, n, size - (off_t)n) != (ssize_t)n)
			return -1;
		while (n > 0 && bytes[n - 1] != end) {
			n--;
			size--;
		}
		if (n > 0)
			return size;
	}
	return 0;
}

void tl_emit_begin(FILE *out, char end, off_t killed_from)
{
	struct stat status;
	char path[32];
	off_t whole = -1;
	int fd;

	if (!is_regular_file(out, &status) || !status.st_size)
		return;
	/* It may be open for writing only; the same file once more is open for reading. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(out));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		whole = end_of_lines(fd, end, status.st_size);
		close(fd);
	}
	if (whole < 0 || whole == status.st_size)
		return;
	if (killed_from < 0 || whole < killed_from || ftruncate(fileno(out), whole) ||
	    lseek(fileno(out), 0, SEEK_END) < 0)
		putc(end, out);
}

void tl_emit_path(FILE *out, const char *path, int nul_ends)
{
	if (nul_ends)
		fputs(path, out);
	else
		tl_put_escaped(out, path, strlen(path));
	putc(nul_ends ? '\0' : '\n', out);
}

void tl_emit_input(const char *path, const char *kept, size_t kept_size)
{
	fwrite(kept, 1, kept_size, stdout);
	if (!kept_size)
		tl_emit_path(stdout, path, 0);
	else if (kept[kept_size - 1] != '\n')
		putchar('\n');
}

int tl_emit_flush(FILE *out, const char *what)
{
	struct stat status;

	if (fflush(out) && out != stdout)
		return tl_error("%s: cannot write: %s", what, strerror(errno));
	if (out == stdout && tl_output_failed())
		return tl_tell_output();
	if (is_regular_file(out, &status) && fdatasync(fileno(out)))
		return tl_error("cannot sync %s: %s", what, strerror(errno));
	return 0;
}
