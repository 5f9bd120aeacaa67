/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "input/in_table.h"

static enum in_result next_row(struct in_reader *reader, struct in_cursor *cursor)
{
	const char *line;
	size_t size;
	enum in_result rc = in_next_line(reader, &line, &size);

	if (rc == IN_ROW) {
		cursor->at = reader->lines.buffer + (line - reader->lines.buffer);
		cursor->end = cursor->at + size;
	}
	return rc;
}

static int next_field(const struct in_reader *reader, struct in_cursor *cursor,
		      struct in_field *field)
{
	(void)reader;
	return in_cut_field(cursor, '\t', field);
}

static enum in_result next_tsv(struct in_reader *reader, struct in_row *row)
{
	static const struct in_syntax syntax = { next_row, next_field, 1 };

	return in_table_next(reader, row, &syntax);
}

const struct in_format in_format_tsv = {
	.name = "tsv", .takes = IN_TAKES_HEADER | IN_TAKES_FIELDS | IN_TAKES_ENCODING,
	.next = next_tsv, .state_size = IN_TABLE_STATE_SIZE, .close = in_table_close
};

/* What simidx-query writes: this is tsv, and nothing about it is to be chosen. */
const struct in_format in_format_dump = {
	.name = "dump", .next = next_tsv, .state_size = IN_TABLE_STATE_SIZE, .close = in_table_close
};
