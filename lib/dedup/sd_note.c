/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/sd_note.h"

#include <errno.h>
#include <simidx_sketch.h>
#include <stdlib.h>

#include "util/sx_alloc.h"
#include "util/sx_bytes.h"

/* The first byte of all notes, and the second: how texts are compared. Another extractor, other
   shingles or other hashes of them are another rule. */
#define MAGIC 0xd5
#define RULE 1

/* The third byte: what follows. */
enum { SKETCH = 1, BYTES = 2, PLAIN_TEXT = 16 /* + enum sd_method */ };

#define BYTES_SIZE 16      /* their hash and their number */
#define PACKED_HEAD 4      /* bytes of the text, before it where it is compressed */

static void put_head(unsigned char *out, int what)
{
	out[0] = MAGIC;
	out[1] = RULE;
	out[2] = (unsigned char)what;
}

size_t sd_note_sketch(const struct sd_shingles *set, uint64_t all, const char *text, size_t size,
		      unsigned char out[SD_NOTE_SKETCH_MAX])
{
	if (set->n) {
		put_head(out, SKETCH);
		return SD_NOTE_HEAD +
		       sd_set_sketch_make(set->hash, set->n, all, out + SD_NOTE_HEAD);
	}
	put_head(out, BYTES);
	sx_store_le64(out + SD_NOTE_HEAD, simidx_feature_hash(text, size));
	sx_store_le64(out + SD_NOTE_HEAD + 8, size);
	return SD_NOTE_HEAD + BYTES_SIZE;
}

size_t sd_note_text(struct sd_packer *packer, const char *text, size_t size, unsigned char **out)
{
	const char *packed;
	size_t n, head = SD_NOTE_HEAD;

	*out = NULL;
	if (sd_pack(packer, text, size, &packed, &n))
		return 0;
	if (n < size)
		head += PACKED_HEAD;
	*out = sx_calloc(head + n, 1);
	if (!*out)
		return 0;
	put_head(*out, PLAIN_TEXT + (int)(n < size ? sd_pack_method() : SD_AS_IT_IS));
	if (n < size)
		sx_store_le32(*out + SD_NOTE_HEAD, (uint32_t)size);
	if (n)
		memcpy(*out + head, packed, n);
	return head + n;
}

static void decode_text(struct sd_note *note, int what)
{
	note->text_size = note->size;
	note->is_packed = what != PLAIN_TEXT;
	if (note->is_packed) {
		if (note->size < PACKED_HEAD)
			return;
		note->text_size = sx_load_le32(note->body);
		note->body = (const char *)note->body + PACKED_HEAD;
		note->size -= PACKED_HEAD;
	}
	if (note->text_size <= SD_NOTE_MOST_TEXT)
		note->kind = SD_NOTE_TEXT;
}

void sd_note_decode(const void *bytes, size_t size, struct sd_note *note)
{
	const unsigned char *head = bytes;

	*note = (struct sd_note){ .kind = SD_NOTE_FOREIGN };
	if (size < SD_NOTE_HEAD || head[0] != MAGIC)
		return;
	if (head[1] != RULE) {
		note->kind = SD_NOTE_OTHER_RULE;
		return;
	}
	note->body = head + SD_NOTE_HEAD;
	note->size = size - SD_NOTE_HEAD;
	if (head[2] == SKETCH)
		note->kind = SD_NOTE_SKETCH;
	else if (head[2] == BYTES && note->size == BYTES_SIZE)
		note->kind = SD_NOTE_BYTES;
	else if (head[2] == PLAIN_TEXT || head[2] == PLAIN_TEXT + sd_pack_method())
		decode_text(note, head[2]);
}

const char *sd_note_unpack(const struct sd_note *note, struct sd_unpacker *unpacker)
{
	if (!note->is_packed)
		return note->body;
	return sd_unpack(unpacker, note->body, note->size, note->text_size);
}

int sd_note_is_of_bytes(const struct sd_note *note, const char *text, size_t size)
{
	const unsigned char *body = note->body;

	return sx_load_le64(body + 8) == size &&
	       sx_load_le64(body) == simidx_feature_hash(text, size);
}
