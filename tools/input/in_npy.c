/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * A NumPy array of fingerprints: format 1.0, 2.0 or 3.0, one dimension of 64-bit numbers, unsigned
 * or, as pandas and databases have them, signed. The header is a Python dictionary with the keys
 * descr, fortran_order and shape.
 */

#include "input/in_reader.h"

#include "common/tl_number.h"

#include <stdio.h>
#include <string.h>

#define MAGIC "\x93NUMPY"
#define MAGIC_SIZE 6

/* Magic bytes, version, and the size of the header in 2 bytes. */
#define PREFIX_SIZE (MAGIC_SIZE + 4)

/* An array of plain numbers has some 120 bytes. */
#define MAX_HEADER 65536

/* More do not fit into a file. */
#define MAX_NUMBERS (UINT64_MAX / sizeof(uint64_t))

/* What the header said of the numbers. */
struct array {
	uint64_t left; /* how many are to come */
	int is_signed; /* they are two's complement, as --fp-encoding sdec has them in text */
};

/* Have the next `n` bytes of the header and go behind them. */
static enum in_result take(struct in_reader *reader, size_t n, const char **bytes)
{
	struct in_lines *lines = &reader->lines;
	enum in_result rc = in_lines_need(lines, n);

	if (rc == IN_END)
		return in_fail(reader, IN_FATAL,
			       "ends at byte %llu, inside the header of an .npy file",
			       (unsigned long long)lines->filled);
	if (rc != IN_ROW)
		return in_fail(reader, IN_FATAL, "%s", lines->source.reason);
	*bytes = lines->buffer + lines->start;
	lines->start += n;
	return rc;
}

/* Deliver the dictionary. */
static enum in_result take_header(struct in_reader *reader, const char **header, size_t *size)
{
	const char *bytes;
	unsigned major, minor;
	enum in_result rc = take(reader, PREFIX_SIZE, &bytes);

	if (rc != IN_ROW)
		return rc;
	if (memcmp(bytes, MAGIC, MAGIC_SIZE) != 0)
		return in_fail(reader, IN_FATAL, "is no .npy file; -F tells what it is");
	major = (unsigned char)bytes[MAGIC_SIZE];
	minor = (unsigned char)bytes[MAGIC_SIZE + 1];
	if (major < 1 || major > 3 || minor != 0)
		return in_fail(reader, IN_FATAL,
			       "version %u.%u of the .npy format; expected 1.0, 2.0 or 3.0",
			       major, minor);
	*size = (size_t)in_little_endian(bytes + MAGIC_SIZE + 2, 2);
	if (major > 1) {
		rc = take(reader, 2, &bytes);
		if (rc != IN_ROW)
			return rc;
		*size |= (size_t)in_little_endian(bytes, 2) << 16;
	}
	if (*size == 0 || *size > MAX_HEADER)
		return in_fail(reader, IN_FATAL, "an .npy header of %zu bytes", *size);
	return take(reader, *size, header);
}

/*
 * The value of a key, from the first character behind the colon to the comma or brace behind
 * it that is in no brackets or quotes; NULL when there is no such key.
 */
static const char *find_value(const char *header, size_t size, const char *key, size_t *n)
{
	const char *end = header + size, *at, *value;
	char quoted[32], quote = 0;
	int length = snprintf(quoted, sizeof(quoted), "'%s':", key);
	int depth = 0;

	at = memmem(header, size, quoted, (size_t)length);
	if (!at)
		return NULL;
	at += length;
	while (at < end && *at == ' ')
		at++;
	for (value = at; at < end; at++) {
		if (quote) {
			quote = *at == quote ? 0 : quote;
			continue;
		}
		if (depth == 0 && (*at == ',' || *at == '}'))
			break;
		if (*at == '\'' || *at == '"')
			quote = *at;
		depth += (*at == '(' || *at == '[' || *at == '{');
		depth -= (*at == ')' || *at == ']' || *at == '}');
	}
	*n = (size_t)(at - value);
	while (*n > 0 && value[*n - 1] == ' ')
		--*n;
	return value;
}

static int is_text(const char *value, size_t n, const char *text)
{
	return n == strlen(text) && memcmp(value, text, n) == 0;
}

/* "(N,)", perhaps with blanks. Returns 0 or -1. */
static int read_shape(const char *value, size_t n, uint64_t *out)
{
	const char *begin = value + 1, *end = value + n - 1;
	int commas = 0;

	if (n < 3 || *value != '(' || *end != ')')
		return -1;
	while (begin < end && *begin == ' ')
		begin++;
	for (; begin < end && (end[-1] == ' ' || end[-1] == ','); end--)
		commas += end[-1] == ',';
	return commas == 1 ? tl_parse_decimal(begin, (size_t)(end - begin), MAX_NUMBERS, out) :
			     -1;
}

static enum in_result read_header(struct in_reader *reader)
{
	struct array *array = reader->state;
	const char *header = NULL, *dtype, *order, *shape;
	size_t size = 0, n_dtype, n_order, n_shape;
	enum in_result rc = take_header(reader, &header, &size);

	if (rc != IN_ROW)
		return rc;
	dtype = find_value(header, size, "descr", &n_dtype);
	order = find_value(header, size, "fortran_order", &n_order);
	shape = find_value(header, size, "shape", &n_shape);
	if (!dtype || !order || !shape)
		return in_fail(reader, IN_FATAL,
			       "the .npy header lacks descr, fortran_order or shape");
	array->is_signed = is_text(dtype, n_dtype, "'<i8'") || is_text(dtype, n_dtype, "'|i8'");
	if (!array->is_signed && !is_text(dtype, n_dtype, "'<u8'") &&
	    !is_text(dtype, n_dtype, "'|u8'"))
		return in_fail(reader, IN_FATAL,
			       "dtype %.*s; expected '<u8' (uint64) or '<i8' (int64)",
			       (int)(n_dtype < 100 ? n_dtype : 100), dtype);
	if (read_shape(shape, n_shape, &array->left))
		return in_fail(reader, IN_FATAL, "shape %.*s; expected one dimension: (n,)",
			       (int)(n_shape < 100 ? n_shape : 100), shape);
	if (!is_text(order, n_order, "False"))
		return in_fail(reader, IN_FATAL, "fortran_order %.*s; expected False",
			       (int)(n_order < 100 ? n_order : 100), order);
	return IN_ROW;
}

static enum in_result expect_end(struct in_reader *reader)
{
	switch (in_lines_need(&reader->lines, 1)) {
	case IN_END:
		return IN_END;
	case IN_FATAL:
		return in_fail(reader, IN_FATAL, "%s", reader->lines.source.reason);
	default:
		return in_fail(reader, IN_FATAL, "goes on at byte %llu, after the last number",
			       (unsigned long long)in_lines_offset(&reader->lines));
	}
}

static enum in_result next_npy(struct in_reader *reader, struct in_row *row)
{
	struct array *array = reader->state;
	const unsigned char *bytes;
	enum in_result rc = IN_ROW;

	if (reader->row == 1)
		rc = read_header(reader);
	if (rc != IN_ROW)
		return rc;
	if (array->left == 0)
		return expect_end(reader);
	rc = in_next_bytes(reader, sizeof(uint64_t), &bytes);
	if (rc == IN_END)
		return in_fail(reader, IN_FATAL,
			       "ends at byte %llu, %llu number%s before the last",
			       (unsigned long long)reader->lines.filled,
			       (unsigned long long)array->left, array->left == 1 ? "" : "s");
	if (rc != IN_ROW)
		return rc;
	array->left--;
	if (array->is_signed)
		return in_signed_number(reader, in_little_endian(bytes, 8), row);
	return in_number(reader, in_little_endian(bytes, 8), row);
}

const struct in_format in_format_npy = {
	.name = "npy", .is_binary = 1, .next = next_npy, .state_size = sizeof(struct array)
};
