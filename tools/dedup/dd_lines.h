/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The line of a document of a group, in each form that is asked for: for a person at a terminal, in
 * columns, in JSON, or as a name in a drop list.
 */

#ifndef DD_LINES_H
#define DD_LINES_H

#include "dedup/dd_columns.h"
#include "dedup/dd_labels.h"
#include "dedup/dd_work.h"

/** How lines are written, and what was counted. */
struct dd_lines {
	const struct dd_work *work;
	const struct dd_labels *labels; /* of all rows and files, for a drop list; sorted */
	int is_begun;      /* there is a line */
	uint64_t n_broken; /* names left out of a drop list, as they have line ends */
	uint64_t n_taken;  /* the same, as they are labels of other rows */
	uint64_t n_shared; /* rows in it without their label, as another row has it, too */
};

/** Where a document is that is printed. */
struct dd_where {
	const char *path;
	uint64_t line;
	const char *index; /* NULL; or it is in this one, and has no path */
	const char *label; /* NULL: it has none */
	size_t label_size;
	uint64_t id;
};

/** Write to standard output. */
void dd_lines_put(struct dd_lines *lines, uint64_t group, struct dd_similarity similarity,
		  int is_kept, const struct dd_where *place);

#endif /* DD_LINES_H */
