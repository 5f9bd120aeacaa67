/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Values separated by commas, or another character, after RFC 4180: a field that begins with a
 * quote ends with one and may hold commas, newlines and, doubled, quotes.
 */

#include "input/in_look.h"
#include "input/in_table.h"

#include <string.h>

/* Where in a row the scan is. */
enum place {
	FIELD_BEGIN,
	IN_PLAIN,
	IN_QUOTES,
	BEHIND_QUOTE,  /* one that ends the field, or the first of two */
	BEHIND_RETURN, /* a carriage return behind the field: a newline must follow */
	BROKEN
};

static enum place step(enum place place, int c, int delimiter)
{
	switch (place) {
	case FIELD_BEGIN:
		return c == '"' ? IN_QUOTES : c == delimiter ? FIELD_BEGIN : IN_PLAIN;
	case IN_PLAIN:
		return c == '"' ? BROKEN : c == delimiter ? FIELD_BEGIN : IN_PLAIN;
	case IN_QUOTES:
		return c == '"' ? BEHIND_QUOTE : IN_QUOTES;
	case BEHIND_QUOTE:
		if (c == '"')
			return IN_QUOTES;
		return c == delimiter ? FIELD_BEGIN : c == '\r' ? BEHIND_RETURN : BROKEN;
	default:
		return BROKEN;
	}
}

static char delimiter(const struct in_reader *reader)
{
	return reader->columns->delimiter ? reader->columns->delimiter : ',';
}

/* Find the length of the row that begins in the buffer, and how many lines further it ends. */
static enum in_result find_end(struct in_reader *reader, size_t *size, uint64_t *lines_more)
{
	struct in_lines *lines = &reader->lines;
	enum place place = FIELD_BEGIN, before;
	enum in_result rc;
	size_t n;
	char c;

	*lines_more = 0;
	for (n = 0;; n++) {
		rc = lines->end - lines->start > n ? IN_ROW : in_lines_need(lines, n + 1);
		if (rc != IN_ROW)
			break;
		c = lines->buffer[lines->start + n];
		if (c == '\n' && place != IN_QUOTES)
			break;
		if (c == '\n')
			++*lines_more;
		before = place;
		place = step(place, c, delimiter(reader));
		if (place == BROKEN)
			return in_fail(reader, IN_REJECTED, "%s%s",
				       before == IN_PLAIN ?
					       "a quote in a field that does not begin with one" :
					       "text after the quote that ends a field",
				       reader->row > 1 || lines->buffer[lines->start] != '{' ? "" :
				       in_look_advise(reader->format, "",
						      lines->buffer + lines->start,
						      lines->end - lines->start));
	}
	*size = n;
	if (rc == IN_FATAL)
		return in_fail(reader, rc, "%s", lines->source.reason);
	if (rc == IN_REJECTED)
		return in_fail_long(reader, "row", IN_MAX_LINE);
	if (place == IN_QUOTES)
		return in_fail(reader, IN_REJECTED, "a quoted field that does not end");
	return IN_ROW;
}

/*
 * A row with quotes: more lines may belong to it. Of a broken one only the first line is
 * passed over, because a quote too many would else swallow all rows up to the next quote.
 */
static enum in_result quoted_row(struct in_reader *reader, const char *line,
				 struct in_cursor *cursor)
{
	struct in_lines *lines = &reader->lines;
	uint64_t lines_more;
	size_t size;
	enum in_result rc;

	lines->start = (size_t)(line - lines->buffer);
	lines->line--;
	rc = find_end(reader, &size, &lines_more);
	if (rc == IN_REJECTED && in_lines_next(lines, &line, &size) == IN_FATAL)
		return in_fail(reader, IN_FATAL, "%s", lines->source.reason);
	if (rc != IN_ROW)
		return rc;
	cursor->at = lines->buffer + lines->start;
	cursor->end = cursor->at + size;
	lines->line += lines_more + 1;
	lines->start += size;
	if (lines->start < lines->end)
		lines->start++;
	if (size > 0 && cursor->end[-1] == '\r')
		cursor->end--;
	return in_keep_line(reader, cursor->at);
}

static enum in_result next_row(struct in_reader *reader, struct in_cursor *cursor)
{
	enum in_result rc = in_table_line(reader, cursor);

	if (rc == IN_ROW && memchr(cursor->at, '"', (size_t)(cursor->end - cursor->at)))
		return quoted_row(reader, cursor->at, cursor);
	return rc;
}

/* Take the quotes off a field, in its place. The row has been checked. */
static void cut_quoted(struct in_cursor *cursor, struct in_field *field)
{
	char *from = cursor->at + 1, *to = from, *quote;
	size_t n;

	field->data = from;
	for (;;) {
		quote = memchr(from, '"', (size_t)(cursor->end - from));
		n = (size_t)(quote - from);
		memmove(to, from, n);
		to += n;
		from = quote + 1;
		if (from == cursor->end || *from != '"')
			break;
		*to++ = '"';
		from++;
	}
	field->size = (size_t)(to - field->data);
	cursor->at = from == cursor->end ? NULL : from + 1;
}

static int next_field(const struct in_reader *reader, struct in_cursor *cursor,
		      struct in_field *field)
{
	if (!cursor->at || cursor->at == cursor->end || *cursor->at != '"')
		return in_cut_field(cursor, delimiter(reader), field);
	cut_quoted(cursor, field);
	return 1;
}

static const struct in_syntax csv = { next_row, next_field, 0, 0 };

const struct in_format in_format_csv = {
	.name = "csv", .begin = in_table_begin, .next = in_table_next, .syntax = &csv,
	.takes = IN_TAKES_HEADER | IN_TAKES_FIELDS | IN_TAKES_ENCODING | IN_TAKES_DELIMITER |
		 IN_TAKES_TEXT_FIELD,
	.state_size = IN_TABLE_STATE_SIZE, .close = in_table_close
};
