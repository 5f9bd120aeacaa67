/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "input/in_reader.h"

#include <errno.h>
#include <string.h>

/* A file with a NUL this near to its beginning is no text. */
#define BINARY_CHECK_SIZE ((size_t)8 << 10)

/* Read until the file ends or `max` bytes are there. */
static enum in_result fill_to(struct in_reader *reader, size_t max)
{
	enum in_result rc = IN_ROW;

	while (rc == IN_ROW && reader->lines.end < max)
		rc = in_lines_fill(&reader->lines, IN_MAX_TEXT + 1);
	if (rc == IN_FATAL)
		return in_fail(reader,
			       reader->lines.source.sys_errno == EINTR ? IN_FATAL : IN_REJECTED,
			       "%s", reader->lines.source.reason);
	return rc == IN_REJECTED ? IN_ROW : rc;
}

/* The whole file is one row. A document that cannot be read is one row less, not the end. */
static enum in_result next_text(struct in_reader *reader, struct in_row *row)
{
	const struct in_lines *lines = &reader->lines;
	size_t checked;
	enum in_result rc;

	if (reader->done)
		return IN_END;
	reader->done = 1;
	rc = fill_to(reader, BINARY_CHECK_SIZE);
	if (rc == IN_FATAL || rc == IN_REJECTED)
		return rc;
	checked = lines->end < BINARY_CHECK_SIZE ? lines->end : BINARY_CHECK_SIZE;
	if (checked > 0 && memchr(lines->buffer, '\0', checked))
		return in_fail(reader, IN_SKIPPED, "contains a NUL byte, so it is no text");
	rc = fill_to(reader, IN_MAX_TEXT + 1);
	if (rc == IN_FATAL || rc == IN_REJECTED)
		return rc;
	if (lines->end > IN_MAX_TEXT)
		return in_fail(reader, IN_REJECTED, "text is longer than %zu MiB",
			       IN_MAX_TEXT >> 20);
	row->kind = IN_TEXT;
	row->text = lines->end ? lines->buffer : "";
	row->text_size = lines->end;
	row->label = reader->path;
	row->label_size = strlen(reader->path);
	return IN_ROW;
}

const struct in_format in_format_text = { "text", NULL, 0, next_text, NULL };
