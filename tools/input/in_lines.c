/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "input/in_lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIRST_SIZE ((size_t)256 << 10)

/* A larger buffer is not kept for the next file. */
#define KEEP_SIZE ((size_t)8 << 20)

void in_lines_trim(struct in_lines *lines)
{
	if (lines->capacity <= KEEP_SIZE)
		return;
	free(lines->buffer);
	lines->buffer = NULL;
	lines->capacity = 0;
}

void in_lines_begin(struct in_lines *lines, int fd, char separator)
{
	in_lines_trim(lines);
	*lines = (struct in_lines){ .source = lines->source, .separator = separator,
				    .most = lines->most, .ends_at_long = lines->ends_at_long,
				    .buffer = lines->buffer, .capacity = lines->capacity };
	in_source_begin(&lines->source, fd);
}

void in_lines_free(struct in_lines *lines)
{
	in_source_free(&lines->source);
	free(lines->buffer);
	lines->buffer = NULL;
	lines->capacity = 0;
}

/* Have room for `size` bytes in the buffer. */
static enum in_result grow(struct in_lines *lines, size_t size)
{
	char *larger = realloc(lines->buffer, size);

	if (!larger)
		return in_source_lack_memory(&lines->source);
	lines->buffer = larger;
	lines->capacity = size;
	return IN_ROW;
}

/* Make room behind `end`: by moving what is left to the front, else by growing. */
static enum in_result make_room(struct in_lines *lines, size_t max)
{
	size_t size;

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
	return grow(lines, size);
}

enum in_result in_lines_expect(struct in_lines *lines, size_t size)
{
	return size > lines->capacity ? grow(lines, size) : IN_ROW;
}

enum in_result in_lines_part(struct in_lines *lines, int fd, char separator, uint64_t offset,
			     size_t size)
{
	size_t room = size > FIRST_SIZE ? size : FIRST_SIZE;
	ssize_t n;

	in_lines_begin(lines, -1, separator);
	lines->at_end = 1;
	if (lines->capacity < room && grow(lines, room) != IN_ROW)
		return IN_FATAL;
	for (; lines->end < size; lines->end += (size_t)n) {
		n = pread(fd, lines->buffer + lines->end, size - lines->end,
			  (off_t)(offset + lines->end));
		if (n < 0 && errno == EINTR)
			n = 0;
		else if (n <= 0) {
			lines->source.sys_errno = n < 0 ? errno : 0;
			snprintf(lines->source.reason, sizeof(lines->source.reason),
				 "cannot read: %s",
				 n < 0 ? strerror(errno) : "the file ends before");
			return IN_FATAL;
		}
	}
	lines->filled = offset + lines->end;
	return IN_ROW;
}

enum in_result in_lines_fill(struct in_lines *lines, size_t max)
{
	size_t room, got;
	enum in_result rc;

	if (lines->at_end)
		return IN_END;
	rc = make_room(lines, max);
	if (rc != IN_ROW)
		return rc;
	room = (lines->capacity < max ? lines->capacity : max) - lines->end;
	rc = in_source_read(&lines->source, lines->buffer + lines->end, room, &got);
	if (rc == IN_END)
		lines->at_end = 1;
	lines->end += got;
	lines->filled += got;
	return rc;
}

enum in_result in_lines_need(struct in_lines *lines, size_t n)
{
	enum in_result rc = IN_ROW;

	while (rc == IN_ROW && lines->end - lines->start < n)
		rc = in_lines_fill(lines, in_lines_most(lines, IN_MAX_LINE) + 2);
	return rc;
}

static uint64_t count(const char *bytes, size_t size, char separator)
{
	const char *end = bytes + size;
	uint64_t n = 0;

	while ((bytes = memchr(bytes, separator, (size_t)(end - bytes))) != NULL) {
		bytes++;
		n++;
	}
	return n;
}

enum in_result in_lines_pass(struct in_lines *lines, uint64_t offset, uint64_t *n)
{
	enum in_result rc = IN_ROW;
	char last = lines->separator;
	uint64_t left;
	size_t part;

	*n = 0;
	while (rc == IN_ROW && (left = offset - in_lines_offset(lines)) > 0) {
		part = lines->end - lines->start;
		if (part > left)
			part = (size_t)left;
		if (part) {
			*n += count(lines->buffer + lines->start, part, lines->separator);
			lines->start += part;
			last = lines->buffer[lines->start - 1];
		} else {
			rc = in_lines_fill(lines, FIRST_SIZE);
		}
	}
	*n += last != lines->separator;
	return rc;
}

uint64_t in_lines_offset(const struct in_lines *lines)
{
	return lines->filled - (lines->end - lines->start);
}

/* Pass over the rest of a line that is too long for the buffer. */
static enum in_result skip_line(struct in_lines *lines)
{
	enum in_result rc = IN_ROW;
	char *found = NULL;

	while (rc == IN_ROW && !found) {
		lines->start = lines->end = 0;
		rc = in_lines_fill(lines, in_lines_most(lines, IN_MAX_LINE) + 2);
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
		rc = in_lines_fill(lines, in_lines_most(lines, IN_MAX_LINE) + 2);
	}
	if (rc == IN_FATAL || (rc == IN_END && seen == 0))
		return rc;
	lines->line++;
	if (rc == IN_REJECTED)
		return lines->ends_at_long ? rc : skip_line(lines);
	*line = lines->buffer + lines->start;
	length = found ? (size_t)(found - *line) : seen;
	lines->start += length + (found ? 1 : 0);
	if (lines->separator == '\n' && length > 0 && (*line)[length - 1] == '\r')
		length--;
	*size = length;
	return length > in_lines_most(lines, IN_MAX_LINE) ? IN_REJECTED : IN_ROW;
}
