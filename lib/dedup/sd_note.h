/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The bytes of a note: what a later run needs of a text to compare another one with it. That is a
 * sketch of its shingles, or the text itself. doc/format.md, "Notes of libsimidx-dedup", has the
 * layout.
 */

#ifndef SD_NOTE_H
#define SD_NOTE_H

#include <simidx.h>

#include "dedup/sd_pack.h"
#include "dedup/sd_set_sketch.h"
#include "dedup/sd_shingles.h"

/** Bytes before the sketch or text. */
#define SD_NOTE_HEAD 3

/** Most bytes of a note that has a sketch. */
#define SD_NOTE_SKETCH_MAX (SD_NOTE_HEAD + SD_SET_SKETCH_MAX)

/** Longer texts are not kept as notes: of any note no more than this is unpacked. */
#define SD_NOTE_MOST_TEXT ((size_t)8000000)

enum sd_note_kind {
	SD_NOTE_FOREIGN, /* of another program, or damaged */
	SD_NOTE_OTHER_RULE, /* of a library that compares texts in another way */
	SD_NOTE_SKETCH,
	SD_NOTE_BYTES,   /* of a text without shingles: a hash of its bytes */
	SD_NOTE_TEXT
};

/** A note, decoded; it points into the bytes. */
struct sd_note {
	enum sd_note_kind kind;
	const void *body;
	size_t size;
	size_t text_size; /* of SD_NOTE_TEXT */
	int is_packed;
};

/**
 * Make a note with a sketch.
 *
 * @param set   the shingles of the text, or the least of them, at least SD_SET_SKETCH_SAMPLED
 * @param all   how many it has
 * @param text  `size` bytes
 * @return bytes of the note
 */
size_t sd_note_sketch(const struct sd_shingles *set, uint64_t all, const char *text, size_t size,
		      unsigned char out[SD_NOTE_SKETCH_MAX]);

/**
 * Make a note with a text.
 *
 * @param size  at most SD_NOTE_MOST_TEXT
 * @param out   set to it, for free()
 * @return bytes of the note; 0 when memory is short
 */
size_t sd_note_text(struct sd_packer *packer, const char *text, size_t size, unsigned char **out);

/** Decode any bytes. */
void sd_note_decode(const void *bytes, size_t size, struct sd_note *note);

/**
 * The text of a note that has one.
 *
 * @return note->text_size bytes, valid as long as the bytes of the note and until the next call;
 *         NULL with errno: ENOMEM, or EIO for one that is damaged
 */
const char *sd_note_unpack(const struct sd_note *note, struct sd_unpacker *unpacker);

/** Whether a note with a hash of bytes is of these. */
int sd_note_is_of_bytes(const struct sd_note *note, const char *text, size_t size);

#endif /* SD_NOTE_H */
