/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "input/in_look.h"
#include "input/in_reader.h"

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
