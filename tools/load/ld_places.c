/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "load/ld_places.h"

#include "common/tl_msg.h"
#include "common/tl_path.h"
#include "input/in_reader.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows that a loader has rejected are told in order, as far as so many of them go. */
#define MAX_LATE 100000

/* A row that is rejected, and why. */
struct ld_late {
	uint64_t row;
	char *reason;
};

static int open_files(struct ld_places *places)
{
	const struct ld_options *options = places->report->options;
	const char *dir = options->tmpdir;
	char parent[LD_PLACE_SIZE];

	tl_path_parent(options->index, parent, sizeof(parent));
	dir = dir ? dir : parent;
	places->pieces = tl_path_nameless_file(dir, "rows");
	if (places->pieces)
		places->paths = tl_path_nameless_file(dir, "rows");
	return places->paths ? 0 : tl_error("cannot make a temporary file in %s: %s", dir,
					    strerror(errno));
}

void ld_places_free(struct ld_places *places)
{
	if (places->pieces)
		fclose(places->pieces);
	if (places->paths)
		fclose(places->paths);
	for (size_t i = 0; i < places->n_late; i++)
		free(places->late[i].reason);
	free(places->late);
}

static int add_path(struct ld_places *places, const char *path)
{
	size_t size = strlen(path) + 1;

	places->last.path = places->paths_size;
	places->paths_size += size;
	return fwrite(path, 1, size, places->paths) == size ? 0 : -1;
}

int ld_places_add(struct ld_places *places, uint64_t file, const char *path, uint64_t line)
{
	struct ld_piece *last = &places->last;
	uint64_t row = places->n_rows++;
	int is_first = places->n_pieces == 0;

	if (!places->paths && open_files(places))
		return TL_TROUBLE;
	if (!is_first && file == places->file && line == last->line + (row - last->row))
		return 0;
	if ((is_first || file != places->file) && add_path(places, path))
		return tl_error("temporary file: %s", strerror(errno));
	places->file = file;
	last->row = row;
	last->line = line;
	places->n_pieces++;
	if (fwrite(last, sizeof(*last), 1, places->pieces) != 1)
		return tl_error("temporary file: %s", strerror(errno));
	return 0;
}

static int read_piece(struct ld_places *places, uint64_t i, struct ld_piece *piece)
{
	if (fseeko(places->pieces, (off_t)(i * sizeof(*piece)), SEEK_SET))
		return -1;
	return fread(piece, sizeof(*piece), 1, places->pieces) == 1 ? 0 : -1;
}

/* The last piece that begins at the row or before it. */
static int find_piece(struct ld_places *places, uint64_t row, struct ld_piece *found)
{
	uint64_t low = 0, high = places->n_pieces;

	if (row >= places->n_rows)
		return -1;
	while (high - low > 1) {
		uint64_t middle = low + (high - low) / 2;
		struct ld_piece piece;

		if (read_piece(places, middle, &piece))
			return -1;
		if (piece.row <= row)
			low = middle;
		else
			high = middle;
	}
	return read_piece(places, low, found);
}

/* "FILE:LINE" or "FILE" of a row, cut to `size` bytes. */
static void write_place(struct ld_places *places, uint64_t row, char *out, size_t size)
{
	char path[PATH_MAX];
	struct ld_piece piece;
	size_t n;

	if (find_piece(places, row, &piece) ||
	    fseeko(places->paths, (off_t)piece.path, SEEK_SET)) {
		snprintf(out, size, "row %llu", (unsigned long long)row + 1);
		return;
	}
	n = fread(path, 1, sizeof(path) - 1, places->paths);
	path[n] = '\0';
	in_write_place(path, piece.line ? piece.line + (row - piece.row) : 0, out, size);
}

/* ---- rejected rows ---- */

static void tell(struct ld_places *places, uint64_t row, const char *reason)
{
	char place[LD_PLACE_SIZE];

	write_place(places, row, place, sizeof(place));
	ld_report_reject(places->report, place, reason, 1);
}

static int compare_rows(const void *a, const void *b)
{
	const struct ld_late *x = a, *y = b;

	return x->row < y->row ? -1 : x->row > y->row;
}

void ld_places_tell(struct ld_places *places)
{
	if (!places->n_late)
		return;
	qsort(places->late, places->n_late, sizeof(*places->late), compare_rows);
	for (size_t i = 0; i < places->n_late; i++) {
		tell(places, places->late[i].row, places->late[i].reason);
		free(places->late[i].reason);
	}
	places->n_late = 0;
}

void ld_places_reject(struct ld_places *places, uint64_t row, const char *reason)
{
	char *copy = strdup(reason);

	if (places->n_late == MAX_LATE)
		ld_places_tell(places);
	if (!places->late)
		places->late = malloc(MAX_LATE * sizeof(*places->late));
	if (copy && places->late) {
		places->late[places->n_late++] = (struct ld_late){ row, copy };
	} else {
		tell(places, row, reason); /* out of order, but told */
		free(copy);
	}
}
