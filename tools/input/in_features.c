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

/* One bad line makes another document of it, so it is not taken at all. */
static enum in_result next_features(struct in_reader *reader, struct in_row *row)
{
	struct in_room *features = reader->state;
	enum in_result rc = IN_ROW;
	const char *line;
	size_t n = 0, size;

	if (reader->row > 1)
		return IN_END;
	while ((rc = in_next_line(reader, &line, &size)) == IN_ROW) {
		if (size == 0)
			continue;
		if (in_room_have(features, (n + 1) * sizeof(simidx_feature)))
			return in_lack_memory(reader);
		rc = take_line(reader, line, size, (simidx_feature *)features->bytes + n++);
		if (rc != IN_ROW)
			return rc;
	}
	if (rc != IN_END)
		return rc;
	reader->line = 0;
	row->kind = IN_FEATURES;
	row->features = features->bytes;
	row->n_features = n;
	row->label = reader->path;
	row->label_size = strlen(reader->path);
	return n ? IN_ROW : in_fail(reader, IN_REJECTED, "no features");
}

static void close_features(void *state)
{
	struct in_room *features = state;

	free(features->bytes);
}

const struct in_format in_format_features = { .name = "features",
					      .is_whole = 1,
					      .next = next_features,
					      .state_size = sizeof(struct in_room),
					      .close = close_features };
