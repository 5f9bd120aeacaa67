/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "text/sx_text_words.h"

#include <stdlib.h>
#include <string.h>

#include <unicode/utf16.h>
#include <unicode/utf8.h>

#include <simidx_sketch.h>

#include "util/sx_alloc.h"
#include "util/sx_err.h"

/* UTF-8 bytes that one UTF-16 unit becomes at most; a surrogate pair takes four for two. */
#define BYTES_PER_UNIT 3

void sx_words_begin(sx_words *words)
{
	words->utf8 = NULL;
	words->n = 0;
	words->n_old = 0;
}

static void find_island(sx_words *words)
{
	words->island =
		sx_ascii_island(words->utf8, words->pos, words->size, &words->island_end);
}

int sx_words_stretch(sx_words *words, const uint8_t **utf8, size_t *size, simidx_error *err)
{
	size_t n = 0, from, to;

	words->utf8 = NULL;
	if (!words->ascii)
		return SIMIDX_OK;
	for (to = 0; to < *size;) {
		from = sx_ascii_island(*utf8, to, *size, &to);
		if (sx_reserve(&words->islands, &words->islands_room, n + (to - from) + 1, 1))
			return sx_fail_nomem(err);
		memcpy(words->islands + n, *utf8 + from, to - from);
		n += to - from;
		if (to > from && (*utf8)[to - 1] != '\n')
			words->islands[n++] = '\n';
	}
	words->utf8 = *utf8;
	words->size = *size;
	words->pos = 0;
	find_island(words);
	*utf8 = (const uint8_t *)words->islands;
	*size = n;
	return SIMIDX_OK;
}

int sx_words_split(sx_words *words, const sx_units *units, simidx_error *err)
{
	UErrorCode status = U_ZERO_ERROR;

	if (words->utf8 && !units->n)
		return SIMIDX_OK;
	/* The root locale, so that where a program runs has no influence. */
	if (!words->breaks)
		words->breaks = ubrk_open(UBRK_WORD, "", NULL, 0, &status);
	if (U_FAILURE(status)) {
		words->breaks = NULL;
		return sx_fail_icu(err, status, "cannot load word boundaries");
	}
	ubrk_setText(words->breaks, units->at, (int32_t)units->n, &status);
	if (U_FAILURE(status))
		return sx_fail_icu(err, status, "cannot split into words");
	words->units = units->at;
	words->unit = 0;
	return SIMIDX_OK;
}

/** Keep only the last word, which the next one makes a pair with. */
static void keep_last(sx_words *words)
{
	size_t start, size;

	words->n_old = words->n > 0;
	if (words->n < 2)
		return;
	start = sx_words_start(words, words->n - 1);
	size = words->end[words->n - 1] - start;
	/* The joint after it comes along. */
	memmove(words->bytes, words->bytes + start, size + 1);
	words->end[0] = size;
	words->n = 1;
}

/** Append units[from, to) as UTF-8, and a joint. */
static int append_word(sx_words *words, int32_t from, int32_t to, simidx_error *err)
{
	size_t at = sx_words_start(words, words->n);
	UChar32 c;

	if (sx_reserve(&words->bytes, &words->room,
		       at + (size_t)(to - from) * BYTES_PER_UNIT + 1, 1))
		return sx_fail_nomem(err);
	while (from < to) {
		U16_NEXT_UNSAFE(words->units, from, c);
		U8_APPEND_UNSAFE(words->bytes, at, c);
	}
	words->bytes[at] = SX_JOINT;
	words->end[words->n++] = at;
	return SIMIDX_OK;
}

/** Add ICU's words up to the end of the island, or of all units. */
static int fill_from_units(sx_words *words, simidx_error *err)
{
	int32_t next;
	int rc;

	while (words->n < SX_WORDS_BATCH) {
		next = ubrk_next(words->breaks);
		if (next == UBRK_DONE) {
			words->pos = words->size;
			break;
		}
		if (ubrk_getRuleStatus(words->breaks) >= UBRK_WORD_NONE_LIMIT) {
			rc = append_word(words, words->unit, next, err);
			if (rc)
				return rc;
		}
		words->unit = next;
		if (words->utf8 && words->units[next - 1] == '\n') {
			words->pos = words->island_end;
			find_island(words);
			break;
		}
	}
	return SIMIDX_OK;
}

/** Add the words before the island. */
static int fill_from_ascii(sx_words *words, simidx_error *err)
{
	size_t at = sx_words_start(words, words->n), size;

	/* Something is left out between two words, which makes room for the joint. */
	if (sx_reserve(&words->bytes, &words->room, at + (words->island - words->pos) + 1, 1))
		return sx_fail_nomem(err);
	while (words->n < SX_WORDS_BATCH) {
		size = sx_ascii_word(words->ascii, words->utf8, &words->pos, words->island,
				     words->bytes + at);
		if (!size)
			break;
		at += size;
		words->bytes[at] = SX_JOINT;
		words->end[words->n++] = at++;
	}
	return SIMIDX_OK;
}

int sx_words_fill(sx_words *words, simidx_error *err)
{
	int rc = SIMIDX_OK;

	keep_last(words);
	if (!words->utf8)
		return fill_from_units(words, err);
	while (!rc && words->n < SX_WORDS_BATCH && words->pos < words->size) {
		if (words->pos < words->island)
			rc = fill_from_ascii(words, err);
		else
			rc = fill_from_units(words, err);
	}
	return rc;
}

void sx_words_hash(sx_words *words)
{
	size_t i, start = sx_words_start(words, words->n_old);

	for (i = words->n_old; i < words->n; i++) {
		words->hash[i] = simidx_feature_hash(words->bytes + start, words->end[i] - start);
		start = words->end[i] + 1;
	}
}

void sx_words_free(sx_words *words)
{
	if (words->breaks)
		ubrk_close(words->breaks);
	words->breaks = NULL;
	free(words->islands);
	words->islands = NULL;
	words->islands_room = 0;
	free(words->bytes);
	words->bytes = NULL;
	words->room = 0;
}
