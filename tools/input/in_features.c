/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * One document a file, its features one a line: "word<TAB>weight". Whatever cuts texts into
 * words and weighs them can write this.
 */

#include "input/in_reader.h"

#include "common/tl_number.h"

#include <stdlib.h>
#include <string.h>

static enum in_result take_line(struct in_reader *reader, const char *line, size_t size,
				simidx_feature *out)
{
	const char *tab = size ? memrchr(line, '\t', size) : NULL;
	uint32_t weight;

	if (!tab || tab == line ||
	    tl_parse_fixed(tab + 1, (size_t)(line + size - tab) - 1, &weight) || !weight)
		return in_fail(reader, IN_REJECTED,
			       "expected a feature, a tab and its weight, 1/65536 and more and "
			       "below 65536");
	out->hash = simidx_feature_hash(line, (size_t)(tab - line));
	out->weight = weight;
	out->reserved = 0;
	return IN_ROW;
}

static int has_room(struct in_reader *reader, size_t n)
{
	size_t room = reader->features_size ? 2 * reader->features_size : 256;
	simidx_feature *larger;

	if (n < reader->features_size)
		return 1;
	larger = realloc(reader->features, room * sizeof(*larger));
	if (!larger)
		return 0;
	reader->features = larger;
	reader->features_size = room;
	return 1;
}

/* One bad line makes another document of it, so it is not taken at all. */
static enum in_result next_features(struct in_reader *reader, struct in_row *row)
{
	enum in_result rc = IN_ROW;
	const char *line;
	size_t n = 0, size;

	if (reader->done)
		return IN_END;
	reader->done = 1;
	while ((rc = in_next_line(reader, &line, &size)) == IN_ROW) {
		if (!has_room(reader, n))
			return in_fail(reader, IN_REJECTED, "out of memory");
		if (size && (rc = take_line(reader, line, size, &reader->features[n++])) != IN_ROW)
			return rc;
	}
	if (rc != IN_END)
		return rc;
	reader->line = 0;
	row->kind = IN_FEATURES;
	row->features = reader->features;
	row->n_features = n;
	row->label = reader->path;
	row->label_size = strlen(reader->path);
	return n ? IN_ROW : in_fail(reader, IN_REJECTED, "no features");
}

const struct in_format in_format_features = { "features", NULL, 0, next_features, NULL };
