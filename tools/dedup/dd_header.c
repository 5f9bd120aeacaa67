/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/dd_header.h"

#include "common/tl_msg.h"
#include "input/in_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* More than the line, and what a codec needs. */
#define LEAST_ROOM 8

/* Whether it is a file that has bytes already. */
static int is_written_to(const struct dd_sink *sink)
{
	struct stat status;

	return !fstat(dd_sink_fd(sink), &status) && S_ISREG(status.st_mode) && status.st_size > 0;
}

/* Whether it begins with this line; what cannot be read counts as such. */
static int begins_with(const struct dd_header *header, const struct dd_sink *sink)
{
	char *bytes = malloc(header->size + LEAST_ROOM), path[40];
	int is_same = 1;
	size_t n;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", dd_sink_fd(sink));
	if (bytes && in_source_head(path, 0, bytes, header->size + LEAST_ROOM, &n) != IN_FATAL)
		is_same = n >= header->size && memcmp(bytes, header->line, header->size) == 0 &&
			  (n == header->size || strchr("\r\n", bytes[header->size]));
	free(bytes);
	return is_same;
}

static int write_line(struct dd_sink *sink, const char *line, size_t size)
{
	tl_progress_clear();
	return dd_sink_put(sink, line, size) ||
	       (line[size - 1] != '\n' && dd_sink_put(sink, "\n", 1)) ? TL_TROUBLE : 0;
}

int dd_header_meet(struct dd_header *header, const struct in_reader *reader, const char *path,
		   struct dd_sink *sink)
{
	const char *line = reader->head.bytes;
	size_t size = reader->head_size;

	while (size && (line[size - 1] == '\n' || line[size - 1] == '\r'))
		size--;
	if (header->line)
		return size == header->size && memcmp(line, header->line, size) == 0 ?
			       0 : DD_HEADER_IS_OTHER;
	header->line = malloc(size + 1);
	if (!header->line)
		return tl_error("out of memory");
	memcpy(header->line, line, size);
	header->size = size;
	header->path = path;
	if (!is_written_to(sink))
		return write_line(sink, line, reader->head_size);
	return begins_with(header, sink) ? 0 :
		       tl_error("%s: its header is not the first line of the output, so its rows "
				"do not fit below that", path);
}
