/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "input/in_reader.h"

#define RECORD_SIZE 16

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
