/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "query/qr_texts.h"

#include "common/tl_msg.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <simidx_sketch.h>

/* Reads sides in the order of their files and lines. */
struct reading {
	struct in_reader reader;
	struct in_columns columns;
	const struct in_side *last; /* whose file is open from its beginning; NULL: none is */
};

static int by_place(const void *a, const void *b)
{
	const struct in_side *x = *(struct in_side *const *)a, *y = *(struct in_side *const *)b;
	int order = strcmp(x->path, y->path);

	if (order)
		return order;
	return x->line < y->line ? -1 : x->line > y->line;
}

static int is_same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Keep a copy of a text if it is what it was. Returns -1 when memory is short. */
static int take_text(struct in_side *side, const struct in_row *row)
{
	size_t size = row->text_size;

	side->found = IN_CHANGED;
	if (row->kind != IN_TEXT || simidx_feature_hash(row->text, size) != side->hash)
		return 0;
	if (size > QR_MOST_TEXT) {
		size = QR_MOST_TEXT;
		while (size && ((unsigned char)row->text[size] & 0xc0) == 0x80)
			size--;
	}
	side->text = malloc(size + 1);
	if (!side->text)
		return -1;
	memcpy(side->text, row->text, size);
	side->text_size = size;
	side->is_cut = size < row->text_size;
	side->found = IN_FOUND;
	return 0;
}

/* What has become of a file that could not be opened. */
static enum in_found found_of(int error)
{
	return error == ENOENT || error == ENOTDIR ? IN_GONE : IN_UNREADABLE;
}

/* The row at a byte. Whatever is there instead: the file has changed. */
static int read_at(struct reading *reading, struct in_side *side)
{
	struct in_reader *reader = &reading->reader;
	int fd = open(side->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rc = 0;
	struct stat status;
	struct in_row row;

	reading->last = NULL;
	side->found = fd < 0 ? found_of(errno) : IN_UNREADABLE;
	if (fd < 0)
		return 0;
	if (fstat(fd, &status) || !S_ISREG(status.st_mode)) {
		close(fd);
		return 0;
	}
	side->found = IN_CHANGED;
	if (side->length <= (side->format->is_whole ? IN_MAX_TEXT : IN_MAX_LINE) &&
	    side->offset <= (uint64_t)status.st_size &&
	    side->length <= (uint64_t)status.st_size - side->offset &&
	    in_reader_open_part(reader, side->path, side->format, fd, side->offset,
				side->length) == IN_ROW &&
	    in_reader_next(reader, &row) == IN_ROW)
		rc = take_text(side, &row);
	else if (in_reader_lacks_memory(reader))
		rc = -1;
	close(fd);
	return rc;
}

/* The row of a line, or the whole file: read on, or from the beginning. */
static int read_line(struct reading *reading, struct in_side *side)
{
	struct in_reader *reader = &reading->reader;
	const struct in_side *last = reading->last;
	struct stat status;
	struct in_row row;
	enum in_result found;
	int goes_on = last && side->line > last->line && is_same(last->path, side->path) &&
		      last->format == side->format &&
		      is_same(last->text_field, side->text_field) &&
		      last->has_header == side->has_header && last->delimiter == side->delimiter;

	reading->last = NULL;
	side->found = IN_UNREADABLE;
	if (!goes_on && stat(side->path, &status)) {
		side->found = found_of(errno);
		return 0;
	}
	/* What has no size, as in /proc, may have no end. */
	if (!goes_on && (!S_ISREG(status.st_mode) || !status.st_size ||
			 in_reader_open(reader, side->path, side->format, 0) != IN_ROW))
		return in_reader_lacks_memory(reader) ? -1 : 0;
	do
		found = in_reader_next(reader, &row);
	while ((found == IN_ROW || found == IN_REJECTED) && reader->line < side->line &&
	       !tl_stop_requested());
	if (in_reader_lacks_memory(reader))
		return -1;
	if (found == IN_FATAL)
		return 0;
	side->found = IN_CHANGED;
	if (found != IN_ROW || reader->line != side->line)
		return 0;
	reading->last = side;
	return take_text(side, &row);
}

static int read_side(struct reading *reading, struct in_side *side)
{
	reading->columns.text = side->text_field;
	reading->columns.header = side->has_header;
	reading->columns.delimiter = side->delimiter;
	return side->length ? read_at(reading, side) : read_line(reading, side);
}

int qr_texts_read(struct in_pair *pair, size_t n)
{
	struct in_side **side = calloc(2 * n + 1, sizeof(struct in_side *));
	struct reading reading = { 0 };
	size_t n_sides = 0;
	int rc = side ? 0 : -1;

	in_reader_init(&reading.reader, SIMIDX_DEFAULT_BITS);
	reading.reader.columns = &reading.columns;
	/* A row had its text whatever stood in its other members, whole numbers of any size too. */
	reading.columns.texts_only = 1;
	reading.columns.encoding = TL_DEC;
	for (size_t i = 0; !rc && i < 2 * n; i++) {
		struct in_side *one = &pair[i / 2].side[i % 2];
		int is_file = one->path && strcmp(one->path, "-") && one->has_hash;

		one->found = is_file && one->format ? IN_GONE : IN_NOT_KEPT;
		if (one->found == IN_GONE)
			side[n_sides++] = one;
	}
	if (n_sides)
		qsort(side, n_sides, sizeof(struct in_side *), by_place);
	for (size_t i = 0; !rc && i < n_sides && !tl_stop_requested(); i++)
		rc = read_side(&reading, side[i]);
	in_reader_free(&reading.reader);
	free(side);
	return rc ? tl_error("out of memory") : 0;
}
