/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The line that names the columns of tables. A filter writes it before the rows, once.
 */

#ifndef DD_HEADER_H
#define DD_HEADER_H

#include "dedup/dd_sink.h"
#include "input/in_reader.h"

/** The line of the first input. All zero: there was none yet. */
struct dd_header {
	char *line;       /* without its end */
	size_t size;
	const char *path; /* of that input */
};

/** An input has another header than the first one: its rows do not fit below that. */
#define DD_HEADER_IS_OTHER (-1)

/**
 * An input has begun with its header. That of the first one is written, unless the output is a file
 * that begins with it already.
 *
 * @param reader  has kept the line
 * @param path    of the input; must live longer than `header`
 * @param sink    the output
 * @return 0; DD_HEADER_IS_OTHER; TL_TROUBLE with a message: memory is short, or the output is a
 *         file that begins otherwise
 */
int dd_header_meet(struct dd_header *header, const struct in_reader *reader, const char *path,
		   struct dd_sink *sink);

#endif /* DD_HEADER_H */
