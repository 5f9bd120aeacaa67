/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "input/in_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void in_reader_init(struct in_reader *reader, unsigned bits)
{
	memset(reader, 0, sizeof(*reader));
	reader->bits = bits;
	reader->path = "";
	reader->lines.fd = -1;
}

static void close_input(struct in_reader *reader)
{
	if (reader->format && reader->format->release)
		reader->format->release(reader);
	if (reader->lines.fd > STDIN_FILENO)
		close(reader->lines.fd);
	reader->bytes += reader->lines.bytes;
	in_lines_begin(&reader->lines, -1, '\n');
	reader->line = 0;
	reader->done = 0;
}

void in_reader_free(struct in_reader *reader)
{
	close_input(reader);
	in_lines_free(&reader->lines);
	free(reader->scratch);
	free(reader->features);
}

enum in_result in_reader_open(struct in_reader *reader, const char *path,
			      const struct in_format *format, int is_stdin)
{
	struct stat status;
	int fd = STDIN_FILENO;

	close_input(reader);
	reader->path = path;
	reader->format = format;
	if (!is_stdin)
		fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return in_fail(reader, IN_REJECTED, "cannot open: %s", strerror(errno));
	in_lines_begin(&reader->lines, fd, '\n');
	if (!fstat(fd, &status) && S_ISDIR(status.st_mode))
		return in_fail(reader, IN_REJECTED, "is a directory");
	return IN_ROW;
}

enum in_result in_reader_next(struct in_reader *reader, struct in_row *row)
{
	memset(row, 0, sizeof(*row));
	row->id = SIMIDX_NO_ID;
	return reader->format->next(reader, row);
}

uint64_t in_reader_bytes(const struct in_reader *reader)
{
	return reader->bytes + reader->lines.bytes;
}

const char *in_reader_place(const struct in_reader *reader)
{
	static char place[8192];

	if (reader->line)
		snprintf(place, sizeof(place), "%s:%llu", reader->path,
			 (unsigned long long)reader->line);
	else
		snprintf(place, sizeof(place), "%s", reader->path);
	return place;
}

enum in_result in_fail(struct in_reader *reader, enum in_result result, const char *format,
		       ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(reader->reason, sizeof(reader->reason), format, ap);
	va_end(ap);
	return result;
}

enum in_result in_next_line(struct in_reader *reader, const char **line, size_t *size)
{
	enum in_result rc = in_lines_next(&reader->lines, line, size);

	if (rc != IN_END)
		reader->line = reader->lines.line;
	if (rc == IN_REJECTED)
		in_fail(reader, rc, "line is longer than %zu MiB", IN_MAX_LINE >> 20);
	else if (rc == IN_FATAL)
		in_fail(reader, rc, "cannot read: %s", strerror(reader->lines.sys_errno));
	return rc;
}

int in_scratch(struct in_reader *reader, size_t size)
{
	char *larger;

	if (size <= reader->scratch_size)
		return 0;
	larger = realloc(reader->scratch, size);
	if (!larger)
		return -1;
	reader->scratch = larger;
	reader->scratch_size = size;
	return 0;
}
