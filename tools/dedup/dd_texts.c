/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/dd_texts.h"

#include "dedup/dd_spill.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

/* What is remembered of a kept document. */
enum kind { NO_TEXT, IN_FILE, IN_SPILL, NOT_SPILLED };

#define CHECK_BITS 14
#define OFFSET_BITS 48

struct kept {
	uint64_t kind : 2;
	uint64_t check : CHECK_BITS; /* of the text in a file */
	uint64_t offset : OFFSET_BITS;
	uint32_t size;      /* of the record; of the text in the spill */
	uint32_t elsewhere; /* number of the file; bytes in the spill */
};

_Static_assert(sizeof(struct kept) == DD_TEXTS_BYTES, "as dd_texts.h says");

struct dd_texts {
	struct dd_texts_options options;
	struct dd_files *files;
	struct dd_spill *spill;
	pthread_mutex_t mutex; /* of the table, which moves when it grows */
	struct in_room table;  /* struct kept */
	uint64_t n;
};

struct dd_texts_reader {
	struct dd_texts *texts;
	struct in_reader parser;
	struct dd_spill_reader *spill;
	int fd; /* of the last file; -1 = none is open */
	uint32_t file;
};

struct dd_texts *dd_texts_open(const struct dd_texts_options *options, struct dd_files *files)
{
	struct dd_texts *texts = calloc(1, sizeof(*texts));

	if (!texts)
		return NULL;
	texts->options = *options;
	texts->files = files;
	pthread_mutex_init(&texts->mutex, NULL);
	texts->spill = dd_spill_new(options->tmpdir, options->spill_limit);
	if (texts->spill)
		return texts;
	dd_texts_close(texts);
	return NULL;
}

void dd_texts_close(struct dd_texts *texts)
{
	if (!texts)
		return;
	dd_spill_free(texts->spill);
	free(texts->table.bytes);
	pthread_mutex_destroy(&texts->mutex);
	free(texts);
}

void dd_texts_place(const struct dd_texts *texts, const struct in_reader *reader,
		    const struct in_row *row, uint32_t file, struct dd_place *place)
{
	uint64_t size = in_reader_row_size(reader);

	*place = (struct dd_place){ DD_PLACE_NONE, file, reader->row_begins, 0 };
	if (row->kind != IN_TEXT)
		return;
	place->kind = DD_PLACE_PASSING;
	if (reader->lines.source.codec || size > UINT32_MAX ||
	    reader->row_begins >> OFFSET_BITS ||
	    !dd_files_can_seek(texts->files, file))
		return;
	place->kind = DD_PLACE_FILE;
	place->size = (uint32_t)size;
}

/* What tells a text from another one in its place. */
static uint64_t check_of(const char *utf8, size_t size)
{
	return simidx_feature_hash(utf8, size) >> (64 - CHECK_BITS);
}

int dd_texts_keep(struct dd_texts *texts, const struct dd_place *place, const char *utf8,
		  size_t size, uint64_t *handle)
{
	struct kept kept = { .kind = NO_TEXT };
	struct dd_spilled spilled;
	int rc;

	if (place->kind == DD_PLACE_FILE)
		kept = (struct kept){ IN_FILE, check_of(utf8, size), place->offset, place->size,
				      place->file };
	else if (place->kind == DD_PLACE_PASSING) {
		kept.kind = NOT_SPILLED;
		if (!dd_spill_put(texts->spill, utf8, size, &spilled))
			kept = (struct kept){ IN_SPILL, 0, spilled.offset, spilled.size,
					      spilled.stored };
	}
	pthread_mutex_lock(&texts->mutex);
	rc = in_room_have(&texts->table, (texts->n + 1) * sizeof(kept));
	if (!rc) {
		*handle = texts->n;
		((struct kept *)texts->table.bytes)[texts->n++] = kept;
	}
	pthread_mutex_unlock(&texts->mutex);
	return rc;
}

const char *dd_texts_problem(const struct dd_texts *texts)
{
	return dd_spill_problem(texts->spill);
}

struct dd_texts_reader *dd_texts_reader_open(struct dd_texts *texts)
{
	struct dd_texts_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return NULL;
	reader->texts = texts;
	reader->fd = -1;
	in_reader_init(&reader->parser, 64);
	reader->parser.columns = texts->options.columns;
	reader->spill = dd_spill_reader_new(texts->spill);
	if (reader->spill)
		return reader;
	dd_texts_reader_close(reader);
	return NULL;
}

static void close_file(struct dd_texts_reader *reader)
{
	if (reader->fd >= 0)
		close(reader->fd);
	reader->fd = -1;
}

void dd_texts_reader_close(struct dd_texts_reader *reader)
{
	if (!reader)
		return;
	close_file(reader);
	in_reader_free(&reader->parser);
	dd_spill_reader_free(reader->spill);
	free(reader);
}

/* Have the file open, and as it was when it was read; or, if it has rows, with more at its end. */
static enum dd_again open_file(struct dd_texts_reader *reader, uint32_t file)
{
	struct dd_files *files = reader->texts->files;
	enum dd_state state;

	if (reader->fd >= 0 && reader->file != file)
		close_file(reader);
	if (reader->fd < 0) {
		/* A pipe in its place would have nobody at its other end. */
		reader->fd = open(dd_files_path(files, file), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		reader->file = file;
	}
	if (reader->fd < 0 && errno == ENOMEM)
		return DD_GONE_MEMORY;
	if (reader->fd < 0)
		return errno == EMFILE || errno == ENFILE ? DD_GONE_FAILED : DD_GONE_REMOVED;
	state = dd_files_state(files, file, reader->fd);
	if (state == DD_AS_READ ||
	    (state == DD_CHANGED && !dd_files_format(files, file)->is_whole &&
	     dd_files_has_grown(files, file, reader->fd)))
		return DD_AGAIN;
	close_file(reader);
	return state == DD_CHANGED ? DD_GONE_CHANGED : DD_GONE_REMOVED;
}

static enum dd_again get_file(struct dd_texts_reader *reader, const struct kept *kept,
			      const char **utf8, size_t *size)
{
	struct dd_files *files = reader->texts->files;
	struct in_row row;
	enum dd_again again = open_file(reader, kept->elsewhere);
	enum in_result rc;

	if (again != DD_AGAIN)
		return again;
	rc = in_reader_open_part(&reader->parser, dd_files_path(files, kept->elsewhere),
				 dd_files_format(files, kept->elsewhere), reader->fd, kept->offset,
				 kept->size);
	if (rc == IN_REJECTED)
		return DD_GONE_FAILED;
	if (rc == IN_ROW)
		rc = in_reader_next(&reader->parser, &row);
	if (rc == IN_FATAL && in_reader_lacks_memory(&reader->parser))
		return DD_GONE_MEMORY;
	/*
	 * It was a row with this text when it was read: if it is not, the file has changed since,
	 * perhaps just now.
	 */
	if (rc != IN_ROW || row.kind != IN_TEXT)
		return dd_files_state(files, kept->elsewhere, reader->fd) == DD_AS_READ ?
			       DD_GONE_FAILED :
			       DD_GONE_CHANGED;
	if (check_of(row.text, row.text_size) != kept->check)
		return DD_GONE_CHANGED;
	*utf8 = row.text;
	*size = row.text_size;
	return DD_AGAIN;
}

enum dd_again dd_texts_get(struct dd_texts_reader *reader, uint64_t handle, const char **utf8,
			   size_t *size)
{
	struct dd_texts *texts = reader->texts;
	struct dd_spilled where;
	struct kept kept;

	*utf8 = "";
	*size = 0;
	pthread_mutex_lock(&texts->mutex);
	kept = ((const struct kept *)texts->table.bytes)[handle];
	pthread_mutex_unlock(&texts->mutex);
	switch (kept.kind) {
	case IN_FILE:
		return get_file(reader, &kept, utf8, size);
	case IN_SPILL:
		where = (struct dd_spilled){ kept.offset, kept.elsewhere, kept.size };
		if (dd_spill_get(reader->spill, &where, utf8))
			return errno == ENOMEM ? DD_GONE_MEMORY : DD_GONE_FAILED;
		*size = kept.size;
		return DD_AGAIN;
	case NOT_SPILLED:
		return DD_GONE_SPILL;
	default:
		return DD_GONE_NONE;
	}
}
