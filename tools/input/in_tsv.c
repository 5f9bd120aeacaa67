/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "input/in_reader.h"

#include "common/tl_escape.h"
#include "common/tl_number.h"

#include <string.h>

#define COLUMNS "expected the columns id, fingerprint, label, "

/* A fingerprint a line, nothing else. */
static enum in_result next_fingerprint(struct in_reader *reader, struct in_row *row)
{
	const char *line;
	size_t size;
	enum in_result rc = in_next_line(reader, &line, &size);

	if (rc != IN_ROW)
		return rc;
	row->kind = IN_FINGERPRINT;
	if (tl_parse_fingerprint(line, size, reader->bits, "fingerprint", &row->fp,
				 reader->reason, sizeof(reader->reason)))
		return IN_REJECTED;
	return IN_ROW;
}

/* Cut the field up to the next tab off the front of *rest; NULL when there is none. */
static const char *next_field(const char **rest, size_t *rest_size, size_t *size)
{
	const char *field = *rest, *tab;

	*size = 0;
	if (!field)
		return NULL;
	tab = memchr(field, '\t', *rest_size);
	if (tab) {
		*size = (size_t)(tab - field);
		*rest = tab + 1;
		*rest_size -= *size + 1;
	} else {
		*size = *rest_size;
		*rest = NULL;
	}
	return field;
}

static enum in_result read_label(struct in_reader *reader, struct in_row *row,
				 const char *field, size_t size)
{
	if (size == 0)
		return IN_ROW;
	if (in_scratch(reader, size))
		return in_fail(reader, IN_REJECTED, "label: out of memory");
	if (tl_unescape(field, size, reader->scratch, &row->label_size))
		return in_fail(
			reader, IN_REJECTED,
			"label: a backslash that begins none of \\t \\n \\r \\\\ \\xHH");
	row->label = reader->scratch;
	return IN_ROW;
}

/* id, fingerprint, label: the id may be empty, the label empty or left out. */
static enum in_result next_tsv(struct in_reader *reader, struct in_row *row)
{
	const char *rest, *field;
	size_t rest_size, size;
	enum in_result rc = in_next_line(reader, &rest, &rest_size);

	if (rc != IN_ROW)
		return rc;
	row->kind = IN_FINGERPRINT;
	field = next_field(&rest, &rest_size, &size);
	if (size > 0 && tl_parse_decimal(field, size, SIMIDX_MAX_ID, &row->id))
		return in_fail(reader, IN_REJECTED,
			       "id: expected a decimal number in 0..%llu, or nothing",
			       (unsigned long long)SIMIDX_MAX_ID);
	field = next_field(&rest, &rest_size, &size);
	if (!field)
		return in_fail(reader, IN_REJECTED, COLUMNS "found one column");
	if (tl_parse_fingerprint(field, size, reader->bits, "fingerprint", &row->fp,
				 reader->reason, sizeof(reader->reason)))
		return IN_REJECTED;
	field = next_field(&rest, &rest_size, &size);
	if (!field)
		return IN_ROW;
	if (rest)
		return in_fail(reader, IN_REJECTED, COLUMNS "found more than three columns");
	return read_label(reader, row, field, size);
}

const struct in_format in_format_lines = { "lines", NULL, next_fingerprint, NULL };
const struct in_format in_format_tsv = { "tsv", ".tsv", next_tsv, NULL };
