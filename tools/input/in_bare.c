/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Formats without columns: a fingerprint a line, records of a fingerprint and an id, and lists of
 * documents that are there already, an id or a label a line, or ended by NUL bytes.
 */

#include "input/in_reader.h"

#include "common/tl_escape.h"
#include "common/tl_number.h"
#include "input/in_look.h"

#include <stdlib.h>
#include <string.h>

#define RECORD_SIZE 16 /* of in_format_bin */

/* Little-endian fingerprint and id; all bits of the id set: one is to be assigned. */
static enum in_result next_bin(struct in_reader *reader, struct in_row *row)
{
	const unsigned char *bytes;
	enum in_result rc = in_next_bytes(reader, RECORD_SIZE, &bytes);

	if (rc != IN_ROW)
		return rc;
	row->id = in_little_endian(bytes + 8, 8);
	if (row->id > SIMIDX_MAX_ID && row->id != SIMIDX_NO_ID)
		return in_fail(reader, IN_REJECTED,
			       "id: expected a number in 0..%llu, or 2^64-1, found %llu",
			       (unsigned long long)SIMIDX_MAX_ID, (unsigned long long)row->id);
	return in_number(reader, in_little_endian(bytes, 8), row);
}

const struct in_format in_format_bin = { .name = "bin", .is_binary = 1, .next = next_bin };

/* A fingerprint a line, nothing else. */
static enum in_result next_bare(struct in_reader *reader, struct in_row *row)
{
	const char *line;
	size_t size;
	enum in_result rc = in_next_line(reader, &line, &size);

	if (rc != IN_ROW)
		return rc;
	row->kind = IN_FINGERPRINT;
	rc = in_fingerprint(reader, line, size, "fingerprint", reader->bits, &row->fp);
	if (rc == IN_REJECTED && reader->columns->encoding == TL_HEX &&
	    (reader->row == 1 || in_look_is_decimal(line, size)))
		in_advise(reader, in_look_advise(reader->format, reader->reason, line, size));
	return rc;
}

const struct in_format in_format_lines = {
	.name = "lines", .takes = IN_TAKES_ENCODING, .next = next_bare
};

static enum in_result next_id(struct in_reader *reader, struct in_row *row)
{
	const char *line;
	size_t size;
	enum in_result rc = in_next_line(reader, &line, &size);

	if (rc != IN_ROW)
		return rc;
	row->kind = IN_KEY;
	if (tl_parse_decimal(line, size, SIMIDX_MAX_ID, &row->id))
		return in_fail(reader, IN_REJECTED, "id: expected a decimal number in 0..%llu; of "
			       "labels: -F labels", (unsigned long long)SIMIDX_MAX_ID);
	return IN_ROW;
}

static void close_labels(void *state)
{
	free(((struct in_room *)state)->bytes);
}

/* In lines with the escapes with which simidx-query prints them; ended by NUL bytes as they are. */
static enum in_result next_label(struct in_reader *reader, struct in_row *row)
{
	struct in_room *room = reader->state;
	const char *line;
	size_t size;
	enum in_result rc = in_next_line(reader, &line, &size);

	if (rc != IN_ROW)
		return rc;
	row->kind = IN_KEY;
	row->label = line;
	row->label_size = size;
	if (!size)
		return in_fail(reader, IN_REJECTED, "an empty label");
	if (reader->columns->nul_ends || !memchr(line, '\\', size))
		return IN_ROW;
	if (in_room_have(room, size))
		return in_lack_memory(reader);
	if (tl_unescape(line, size, room->bytes, &row->label_size))
		return in_fail(reader, IN_REJECTED, "label: a backslash that begins none of "
			       "\\t \\n \\r \\\\ \\xHH (-0 reads labels without escapes)");
	row->label = room->bytes;
	return IN_ROW;
}

const struct in_format in_format_ids = {
	.name = "ids", .takes = IN_TAKES_NUL, .next = next_id
};

const struct in_format in_format_labels = {
	.name = "labels", .takes = IN_TAKES_NUL, .next = next_label,
	.state_size = sizeof(struct in_room), .close = close_labels
};
