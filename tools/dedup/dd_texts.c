/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/dd_texts.h"

#include "common/tl_msg.h"
#include "dedup/dd_again.h"
#include "dedup/dd_memory.h"
#include "input/in_room.h"

#include <stdlib.h>
#include <string.h>

#define SEATS 2

/* One text has a quarter of the memory at most, so that two leave a half for the work at them. */
#define SHARE 4

/* Room for a text that is kept for the next one. */
#define KEEP_ROOM ((size_t)1 << 20)

int dd_texts_begin(struct dd_texts *texts, const struct dd_work *work, uint64_t memory)
{
	*texts = (struct dd_texts){ .work = work, .most = memory / SHARE };
	texts->again = dd_again_open(work->files, &work->options->inputs.columns, SEATS);
	simidx_dedup_limit(work->dedup, memory - SEATS * texts->most);
	return texts->again ? 0 : tl_error("out of memory");
}

void dd_texts_free(struct dd_texts *texts)
{
	dd_again_close(texts->again);
	for (int i = 0; i < SEATS; i++)
		free(texts->room[i].bytes);
}

/* Whether there is memory for what a row takes until its text is at hand. */
static int has_room(const struct dd_texts *texts, const struct dd_fact *fact)
{
	const struct in_format *format = dd_files_format(texts->work->files, fact->name.file);
	uint64_t size = fact->length > fact->size ? fact->length : fact->size;

	return size <= dd_memory_row(texts->most, format->is_whole);
}

static int read_again(struct dd_texts *texts, unsigned seat, const struct dd_fact *fact,
		      struct dd_text *text)
{
	const simidx_dedup_place place = { fact->offset, fact->name.file, fact->length };
	int rc = dd_again_read(texts->again, seat, &place, &text->bytes, &text->size);

	if (rc)
		text->bytes = NULL;
	return rc == SIMIDX_E_NOMEM ? tl_error("out of memory") : 0;
}

int dd_texts_find(simidx_dedup *dedup, const simidx_dedup_near *near, struct dd_text *text)
{
	simidx_error err;
	int rc = simidx_dedup_text(dedup, near, &text->bytes, &text->size, &err);

	if (rc)
		*text = (struct dd_text){ NULL, 0 };
	if (!rc || rc == SIMIDX_E_NOT_FOUND)
		return 0;
	return rc < 0 ? tl_error("%s", err.text) : rc;
}

int dd_texts_get(struct dd_texts *texts, unsigned seat, const struct dd_fact *fact,
		 const simidx_dedup_near *near, struct dd_text *text)
{
	int code = 0;

	*text = (struct dd_text){ NULL, 0 };
	/* Of a file that is no text there is none. */
	if (!dd_files_format(texts->work->files, fact->name.file)->next || !has_room(texts, fact))
		return 0;
	if (fact->length) {
		code = read_again(texts, seat, fact, text);
	} else if (fact->text) {
		code = dd_facts_text(texts->work->facts, fact, &texts->room[seat]);
		text->bytes = texts->room[seat].bytes;
		text->size = fact->size;
	} else if (near) {
		code = dd_texts_find(texts->work->dedup, near, text);
		/* The library has one of these at a time. */
		if (text->bytes && in_room_have(&texts->room[seat], text->size + 1))
			return tl_error("out of memory");
		if (text->bytes)
			text->bytes = memcpy(texts->room[seat].bytes, text->bytes, text->size);
	}
	if (text->bytes && simidx_feature_hash(text->bytes, text->size) != fact->hash)
		text->bytes = NULL;
	return code;
}

void dd_texts_trim(struct dd_texts *texts)
{
	dd_again_trim(texts->again);
	for (int i = 0; i < SEATS; i++)
		if (texts->room[i].size > KEEP_ROOM) {
			free(texts->room[i].bytes);
			texts->room[i] = (struct in_room){ NULL, 0 };
		}
}
