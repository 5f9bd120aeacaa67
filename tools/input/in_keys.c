/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Lists of documents that are there already: an id or a label a line, or ended by NUL bytes.
 */

#include "input/in_reader.h"

#include "common/tl_escape.h"
#include "common/tl_number.h"

#include <stdlib.h>
#include <string.h>

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
