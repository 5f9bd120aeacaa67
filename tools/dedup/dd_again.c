/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/dd_again.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* What a thread has. */
struct seat {
	struct in_reader parser;
	int fd; /* of the last file; -1 = none is open */
	uint32_t file;
	uint64_t gone[DD_N_GONE];
};

struct dd_again {
	struct dd_files *files;
	unsigned threads;
	struct seat seat[];
};

/* Codes beside those of enum dd_gone. */
enum { READ_AGAIN = -1, NO_MEMORY = -2 };

struct dd_again *dd_again_open(struct dd_files *files, const struct in_columns *columns,
			       unsigned threads)
{
	struct dd_again *again = calloc(1, sizeof(*again) + threads * sizeof(again->seat[0]));

	if (!again)
		return NULL;
	again->files = files;
	again->threads = threads;
	for (unsigned i = 0; i < threads; i++) {
		again->seat[i].fd = -1;
		in_reader_init(&again->seat[i].parser, 64);
		again->seat[i].parser.columns = columns;
	}
	return again;
}

static void close_file(struct seat *seat)
{
	if (seat->fd >= 0)
		close(seat->fd);
	seat->fd = -1;
}

void dd_again_close(struct dd_again *again)
{
	if (!again)
		return;
	for (unsigned i = 0; i < again->threads; i++) {
		close_file(&again->seat[i]);
		in_reader_free(&again->seat[i].parser);
	}
	free(again);
}

unsigned dd_again_place(struct dd_files *files, const struct in_reader *reader,
			const struct in_row *row, uint32_t file, simidx_dedup_place *place)
{
	uint64_t size = in_reader_row_size(reader);

	if (row->kind != IN_TEXT || reader->lines.source.codec || size > UINT32_MAX ||
	    reader->row_begins >> 48 || !dd_files_can_seek(files, file))
		return 0;
	*place = (simidx_dedup_place){ reader->row_begins, file, (uint32_t)size };
	return SIMIDX_DEDUP_PLACED;
}

/* Have the file open, and as it was when it was read; or, if it has rows, with more at its end. */
static int open_file(struct dd_files *files, struct seat *seat, uint32_t file)
{
	enum dd_state state;

	if (seat->fd >= 0 && seat->file != file)
		close_file(seat);
	if (seat->fd < 0) {
		/* A pipe in its place would have nobody at its other end. */
		seat->fd = open(dd_files_path(files, file), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		seat->file = file;
	}
	if (seat->fd < 0 && errno == ENOMEM)
		return NO_MEMORY;
	if (seat->fd < 0)
		return errno == EMFILE || errno == ENFILE ? DD_GONE_FAILED : DD_GONE_REMOVED;
	state = dd_files_state(files, file, seat->fd);
	if (state == DD_AS_READ ||
	    (state == DD_CHANGED && !dd_files_format(files, file)->is_whole &&
	     dd_files_has_grown(files, file, seat->fd)))
		return READ_AGAIN;
	close_file(seat);
	return state == DD_CHANGED ? DD_GONE_CHANGED : DD_GONE_REMOVED;
}

static int read_row(struct dd_files *files, struct seat *seat, const simidx_dedup_place *place,
		    const char **text, size_t *size)
{
	struct in_row row;
	int rc = open_file(files, seat, place->source);
	enum in_result found;

	if (rc != READ_AGAIN)
		return rc;
	found = in_reader_open_part(&seat->parser, dd_files_path(files, place->source),
				    dd_files_format(files, place->source), seat->fd,
				    place->offset, place->length);
	if (found == IN_REJECTED)
		return DD_GONE_FAILED;
	if (found == IN_ROW)
		found = in_reader_next(&seat->parser, &row);
	if (found == IN_FATAL && in_reader_lacks_memory(&seat->parser))
		return NO_MEMORY;
	/*
	 * It was a row with a text when it was read: if it is not, the file has changed since,
	 * perhaps just now.
	 */
	if (found != IN_ROW || row.kind != IN_TEXT)
		return dd_files_state(files, place->source, seat->fd) == DD_AS_READ ?
			       DD_GONE_FAILED :
			       DD_GONE_CHANGED;
	*text = row.text;
	*size = row.text_size;
	return READ_AGAIN;
}

int dd_again_read(struct dd_again *again, unsigned thread, const simidx_dedup_place *place,
		  const char **text, size_t *size)
{
	struct seat *seat = &again->seat[thread];
	int rc = read_row(again->files, seat, place, text, size);

	if (rc == READ_AGAIN)
		return SIMIDX_OK;
	if (rc == NO_MEMORY)
		return SIMIDX_E_NOMEM;
	seat->gone[rc]++;
	return SIMIDX_E_NOT_FOUND;
}

void dd_again_trim(struct dd_again *again)
{
	for (unsigned i = 0; i < again->threads; i++)
		in_lines_trim(&again->seat[i].parser.lines);
}

void dd_again_count(const struct dd_again *again, uint64_t counts[DD_N_GONE])
{
	for (unsigned i = 0; i < again->threads; i++)
		for (int why = 0; why < DD_N_GONE; why++)
			counts[why] += again->seat[i].gone[why];
}
