/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/sd_texts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <simidx_sketch.h>

#include "dedup/sd_note.h"
#include "dedup/sd_spill.h"
#include "util/sx_alloc.h"
#include "util/sx_err.h"

/* Where a text is. */
enum where { PLACED, SPILLED, MISSING };

#define CHECK_BITS 14
#define OFFSET_BITS 48

/* What is remembered of a text. */
struct kept {
	uint64_t where : 2;
	uint64_t check : CHECK_BITS; /* of a text that has a place */
	uint64_t offset : OFFSET_BITS;
	uint32_t size;      /* the place's length; of the text in the spill */
	uint32_t elsewhere; /* the place's source; bytes in the spill */
};

_Static_assert(sizeof(struct kept) == SIMIDX_DEDUP_BYTES, "as simidx_dedup.h says");

/* The sketch of a long text. */
struct sketch {
	uint64_t handle;
	size_t size;
	unsigned char note[SD_NOTE_SKETCH_MAX];
};

struct sd_texts {
	const simidx_dedup_options *options;
	struct sd_spill *spill;
	struct kept *kept;
	size_t n, room;
	struct sketch *sketch; /* ascending by handle */
	size_t n_sketches, sketch_room;
};

struct sd_texts_reader {
	struct sd_texts *texts;
	unsigned number;
	struct sd_spill_reader *spill;
	uint64_t changed, unread;
};

struct sd_texts *sd_texts_open(const simidx_dedup_options *options)
{
	struct sd_texts *texts = sx_calloc(1, sizeof(*texts));

	if (!texts)
		return NULL;
	texts->options = options;
	texts->spill = sd_spill_new(options->tmpdir, options->spill_bytes);
	if (texts->spill)
		return texts;
	sd_texts_close(texts);
	return NULL;
}

void sd_texts_close(struct sd_texts *texts)
{
	if (!texts)
		return;
	sd_spill_free(texts->spill);
	free(texts->kept);
	free(texts->sketch);
	free(texts);
}

/* What tells a text from another one in its place. */
static uint64_t check_of(const char *utf8, size_t size)
{
	return simidx_feature_hash(utf8, size) >> (64 - CHECK_BITS);
}

int sd_texts_keep(struct sd_texts *texts, const simidx_dedup_row *row, uint64_t *handle,
		  simidx_error *err)
{
	struct kept kept = { .where = MISSING };
	struct sd_spilled spilled;

	if (sx_reserve(&texts->kept, &texts->room, texts->n + 1, sizeof(kept)))
		return sx_fail_nomem(err);
	if (row->flags & SIMIDX_DEDUP_PLACED)
		kept = (struct kept){ PLACED, check_of(row->text, row->text_size),
				      row->place.offset, row->place.length, row->place.source };
	else if (!sd_spill_put(texts->spill, row->text, row->text_size, &spilled))
		kept = (struct kept){ SPILLED, 0, spilled.offset, spilled.size, spilled.stored };
	*handle = texts->n;
	texts->kept[texts->n++] = kept;
	return SIMIDX_OK;
}

int sd_texts_keep_sketch(struct sd_texts *texts, const void *note, size_t size,
			 simidx_error *err)
{
	struct sketch *sketch;

	if (sx_reserve(&texts->sketch, &texts->sketch_room, texts->n_sketches + 1,
		       sizeof(*sketch)))
		return sx_fail_nomem(err);
	sketch = &texts->sketch[texts->n_sketches++];
	sketch->handle = texts->n - 1;
	sketch->size = size;
	memcpy(sketch->note, note, size);
	return SIMIDX_OK;
}

const void *sd_texts_sketch(const struct sd_texts_reader *reader, uint64_t handle, size_t *size)
{
	const struct sketch *sketch = reader->texts->sketch;
	size_t low = 0, high = reader->texts->n_sketches;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (sketch[middle].handle < handle)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == reader->texts->n_sketches || sketch[low].handle != handle)
		return NULL;
	*size = sketch[low].size;
	return sketch[low].note;
}

uint64_t sd_texts_bytes(const struct sd_texts_reader *reader, uint64_t handle)
{
	const struct kept *kept = &reader->texts->kept[handle];

	if (kept->where == PLACED)
		return kept->size;
	return kept->where == SPILLED ? (uint64_t)kept->size + kept->elsewhere : 0;
}

uint64_t sd_texts_size(const struct sd_texts_reader *reader, uint64_t handle)
{
	return reader->texts->kept[handle].size;
}

const char *sd_texts_problem(const struct sd_texts *texts)
{
	return sd_spill_problem(texts->spill);
}

struct sd_texts_reader *sd_texts_reader_open(struct sd_texts *texts, unsigned number)
{
	struct sd_texts_reader *reader = sx_calloc(1, sizeof(*reader));

	if (!reader)
		return NULL;
	reader->texts = texts;
	reader->number = number;
	reader->spill = sd_spill_reader_new(texts->spill);
	if (reader->spill)
		return reader;
	sd_texts_reader_close(reader);
	return NULL;
}

void sd_texts_reader_close(struct sd_texts_reader *reader)
{
	if (!reader)
		return;
	sd_spill_reader_free(reader->spill);
	free(reader);
}

static int get_placed(struct sd_texts_reader *reader, const struct kept *kept, const char **utf8,
		      size_t *size, simidx_error *err)
{
	const simidx_dedup_calls *calls = &reader->texts->options->calls;
	const simidx_dedup_place place = { kept->offset, kept->elsewhere, kept->size };
	int rc = calls->read_text(calls->ctx, reader->number, &place, utf8, size);

	if (!rc && check_of(*utf8, *size) != kept->check) {
		reader->changed++;
		rc = SIMIDX_E_NOT_FOUND;
	}
	if (rc < 0 && rc != SIMIDX_E_NOT_FOUND)
		sx_fail(err, rc, "cannot read a text again: %s", simidx_strerror(rc));
	return rc;
}

static int get_spilled(struct sd_texts_reader *reader, const struct kept *kept, const char **utf8,
		       size_t *size, simidx_error *err)
{
	const struct sd_spilled where = { kept->offset, kept->elsewhere, kept->size };

	*size = kept->size;
	if (!sd_spill_get(reader->spill, &where, utf8))
		return SIMIDX_OK;
	if (errno == ENOMEM)
		return sx_fail_nomem(err);
	reader->unread++;
	return SIMIDX_E_NOT_FOUND;
}

int sd_texts_get(struct sd_texts_reader *reader, uint64_t handle, const char **utf8, size_t *size,
		 simidx_error *err)
{
	const struct kept *kept = &reader->texts->kept[handle];
	int rc = kept->where == PLACED	? get_placed(reader, kept, utf8, size, err) :
		 kept->where == SPILLED ? get_spilled(reader, kept, utf8, size, err) :
					  SIMIDX_E_NOT_FOUND;

	if (rc) {
		*utf8 = "";
		*size = 0;
	}
	return rc;
}

void sd_texts_count(const struct sd_texts_reader *reader, uint64_t *changed, uint64_t *unread)
{
	*changed += reader->changed;
	*unread += reader->unread;
}
