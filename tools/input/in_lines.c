/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "input/in_lines.h"

#include "common/tl_msg.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIRST_SIZE ((size_t)256 << 10)

void in_lines_begin(struct in_lines *lines, int fd, char separator)
{
	lines->fd = fd;
	lines->separator = separator;
	lines->at_end = 0;
	lines->sys_errno = 0;
	lines->start = 0;
	lines->end = 0;
	lines->line = 0;
	lines->bytes = 0;
}

void in_lines_free(struct in_lines *lines)
{
	free(lines->buffer);
	lines->buffer = NULL;
	lines->capacity = 0;
}

/* Make room behind `end`: by moving what is left to the front, else by growing. */
static enum in_result make_room(struct in_lines *lines, size_t max)
{
	size_t size;
	char *larger;

	if (lines->start > 0) {
		memmove(lines->buffer, lines->buffer + lines->start,
			lines->end - lines->start);
		lines->end -= lines->start;
		lines->start = 0;
	}
	if (lines->end < lines->capacity && lines->end < max)
		return IN_ROW;
	if (lines->end >= max)
		return IN_REJECTED;
	size = lines->capacity ? lines->capacity * 2 : FIRST_SIZE;
	if (size > max)
		size = max;
	larger = realloc(lines->buffer, size);
	if (!larger) {
		lines->sys_errno = ENOMEM;
		return IN_FATAL;
	}
	lines->buffer = larger;
	lines->capacity = size;
	return IN_ROW;
}

enum in_result in_lines_fill(struct in_lines *lines, size_t max)
{
	size_t room;
	ssize_t got;
	enum in_result rc;

	if (lines->at_end)
		return IN_END;
	rc = make_room(lines, max);
	if (rc != IN_ROW)
		return rc;
	room = (lines->capacity < max ? lines->capacity : max) - lines->end;
	do {
		if (tl_stop_requested()) {
			lines->sys_errno = EINTR;
			return IN_FATAL;
		}
		got = read(lines->fd, lines->buffer + lines->end, room);
	} while (got < 0 && errno == EINTR);
	if (got < 0) {
		lines->sys_errno = errno;
		return IN_FATAL;
	}
	if (got == 0) {
		lines->at_end = 1;
		return IN_END;
	}
	lines->end += (size_t)got;
	lines->bytes += (uint64_t)got;
	return IN_ROW;
}

/* Pass over the rest of a line that is too long for the buffer. */
static enum in_result skip_line(struct in_lines *lines)
{
	enum in_result rc = IN_ROW;
	char *found = NULL;

	while (rc == IN_ROW && !found) {
		lines->start = lines->end = 0;
		rc = in_lines_fill(lines, IN_MAX_LINE + 2);
		if (rc == IN_ROW)
			found = memchr(lines->buffer, lines->separator, lines->end);
	}
	if (rc == IN_FATAL)
		return rc;
	if (found)
		lines->start = (size_t)(found - lines->buffer) + 1;
	return IN_REJECTED;
}

enum in_result in_lines_next(struct in_lines *lines, const char **line, size_t *size)
{
	enum in_result rc = IN_ROW;
	char *found = NULL;
	size_t seen = 0, length;

	while (rc == IN_ROW) {
		if (lines->end > lines->start + seen)
			found = memchr(lines->buffer + lines->start + seen, lines->separator,
				       lines->end - lines->start - seen);
		if (found)
			break;
		seen = lines->end - lines->start;
		rc = in_lines_fill(lines, IN_MAX_LINE + 2);
	}
	if (rc == IN_FATAL || (rc == IN_END && seen == 0))
		return rc;
	lines->line++;
	if (rc == IN_REJECTED)
		return skip_line(lines);
	*line = lines->buffer + lines->start;
	length = found ? (size_t)(found - *line) : seen;
	lines->start += length + (found ? 1 : 0);
	if (lines->separator == '\n' && length > 0 && (*line)[length - 1] == '\r')
		length--;
	*size = length;
	return length > IN_MAX_LINE ? IN_REJECTED : IN_ROW;
}
