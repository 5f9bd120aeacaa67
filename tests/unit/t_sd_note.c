/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/* Notes: what was put in comes out, and any other bytes are told apart. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dedup/sd_note.h"
#include "support/sxt.h"

static sxt_rng rng;
static struct sd_packer packer;
static struct sd_unpacker unpacker;

static void start(void)
{
	rng.state = 37;
}

static void end(void)
{
	sd_packer_free(&packer);
	sd_unpacker_free(&unpacker);
}

/* `size` bytes, of `letters` different ones. */
static char *make_text(size_t size, unsigned letters)
{
	char *text = malloc(size + 1);

	sxt_must(text != NULL);
	for (size_t i = 0; i < size; i++)
		text[i] = (char)sxt_rng_below(&rng, letters);
	return text;
}

START_TEST(test_texts)
{
	static const size_t sizes[] = { 0, 1, 2, 100, 5000, 300000, SD_NOTE_MOST_TEXT };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (unsigned letters = 1; letters <= 256; letters += 255) {
			char *text = make_text(sizes[i], letters);
			unsigned char *bytes;
			size_t n = sd_note_text(&packer, text, sizes[i], &bytes);
			struct sd_note note;
			const char *again;

			sxt_must(n > 0);
			ck_assert_uint_le(n, sizes[i] + SD_NOTE_HEAD);
			ck_assert_uint_le(n, SIMIDX_MAX_NOTE);
			if (letters == 1 && sizes[i] > 1000 && sd_pack_method() != SD_AS_IT_IS)
				ck_assert_uint_lt(n, sizes[i] / 10);
			sd_note_decode(bytes, n, &note);
			ck_assert_int_eq(note.kind, SD_NOTE_TEXT);
			ck_assert_uint_eq(note.text_size, sizes[i]);
			again = sd_note_unpack(&note, &unpacker);
			ck_assert_ptr_nonnull(again);
			ck_assert_int_eq(memcmp(again, text, sizes[i]), 0);
			free(bytes);
			free(text);
		}
}
END_TEST

START_TEST(test_sketches)
{
	unsigned char bytes[SD_NOTE_SKETCH_MAX];
	uint64_t hash[100];
	struct sd_shingles set = { hash, 0, 100, 0, UINT64_MAX };
	struct sd_note note;
	double similarity;

	for (size_t i = 0; i < 100; i++)
		hash[i] = ((uint64_t)i << 57 | i) + 1;
	for (set.n = 1; set.n <= 100; set.n += 33) {
		size_t n = sd_note_sketch(&set, set.n, "a text", 6, bytes);

		ck_assert_uint_le(n, 200);
		sd_note_decode(bytes, n, &note);
		ck_assert_int_eq(note.kind, SD_NOTE_SKETCH);
		ck_assert_int_eq(sd_set_sketch_similarity(note.body, note.size, note.body,
							  note.size, &similarity), 0);
		ck_assert(similarity == 1);
	}
	set.n = 0;
	sd_note_decode(bytes, sd_note_sketch(&set, set.n, "...", 3, bytes), &note);
	ck_assert_int_eq(note.kind, SD_NOTE_BYTES);
	ck_assert_int_ne(sd_note_is_of_bytes(&note, "...", 3), 0);
	ck_assert_int_eq(sd_note_is_of_bytes(&note, "..", 2), 0);
	ck_assert_int_eq(sd_note_is_of_bytes(&note, "..,", 3), 0);
}
END_TEST

/* A copy, so that nothing is read beyond its end. */
static enum sd_note_kind kind_of(const unsigned char *bytes, size_t size)
{
	unsigned char *copy = malloc(size + !size);
	struct sd_note note;

	sxt_must(copy != NULL);
	memcpy(copy, bytes, size);
	sd_note_decode(copy, size, &note);
	if (note.kind == SD_NOTE_TEXT) {
		ck_assert_uint_le(note.text_size, SD_NOTE_MOST_TEXT);
		if (!sd_note_unpack(&note, &unpacker))
			ck_assert_int_eq(errno, EIO);
	}
	free(copy);
	return note.kind;
}

START_TEST(test_other_bytes)
{
	static const unsigned char huge[] = { 0xd5, 1, 17, 0xff, 0xff, 0xff, 0x7f, 0, 0 };
	char *text = make_text(3000, 4);
	unsigned char *bytes, byte;
	size_t n = sd_note_text(&packer, text, 3000, &bytes);

	sxt_must(n > 0);
	ck_assert_int_eq(kind_of(bytes, n), SD_NOTE_TEXT);
	for (size_t i = 0; i < n; i++)
		(void)kind_of(bytes, i);
	ck_assert_int_eq(kind_of(bytes, 0), SD_NOTE_FOREIGN);
	ck_assert_int_eq(kind_of(bytes, 2), SD_NOTE_FOREIGN);
	for (size_t i = 0; i < n; i++)
		for (unsigned bit = 0; bit < 8; bit++) {
			byte = bytes[i];
			bytes[i] ^= (unsigned char)(1u << bit);
			if (i == 0)
				ck_assert_int_eq(kind_of(bytes, n), SD_NOTE_FOREIGN);
			else if (i == 1)
				ck_assert_int_eq(kind_of(bytes, n), SD_NOTE_OTHER_RULE);
			else
				(void)kind_of(bytes, n);
			bytes[i] = byte;
		}
	/* Nobody makes room for a text that is as long as a note claims. */
	ck_assert_int_eq(kind_of(huge, sizeof(huge)), SD_NOTE_FOREIGN);
	free(bytes);
	free(text);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_texts, 0, 1 },
	{ &test_sketches, 0, 1 },
	{ &test_other_bytes, 0, 1 },
};

SXT_SUITE(note, start, end);
