/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "text/sx_text.h"

#include <stdlib.h>
#include <string.h>

#include <unicode/utf16.h>
#include <unicode/utf8.h>

#include "util/sx_alloc.h"
#include "util/sx_err.h"

/* UTF-8 bytes that one UTF-16 unit becomes at most; a surrogate pair takes four for two. */
#define BYTES_PER_UNIT 3

void sx_words_begin(sx_words *words)
{
	words->n = 0;
	words->n_old = 0;
}

int sx_words_split(sx_words *words, const sx_units *stretch, simidx_error *err)
{
	UErrorCode status = U_ZERO_ERROR;

	/* The root locale, so that where a program runs has no influence. */
	if (!words->breaks)
		words->breaks = ubrk_open(UBRK_WORD, "", NULL, 0, &status);
	if (U_FAILURE(status)) {
		words->breaks = NULL;
		return sx_fail_icu(err, status, "cannot load word boundaries");
	}
	ubrk_setText(words->breaks, stretch->at, (int32_t)stretch->n, &status);
	if (U_FAILURE(status))
		return sx_fail_icu(err, status, "cannot split into words");
	words->units = stretch->at;
	words->pos = 0;
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
	/* The joint behind it comes along. */
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

int sx_words_fill(sx_words *words, simidx_error *err)
{
	int32_t next;
	int rc;

	keep_last(words);
	while (words->n < SX_WORDS_BATCH) {
		next = ubrk_next(words->breaks);
		if (next == UBRK_DONE)
			break;
		if (ubrk_getRuleStatus(words->breaks) >= UBRK_WORD_NONE_LIMIT) {
			rc = append_word(words, words->pos, next, err);
			if (rc)
				return rc;
		}
		words->pos = next;
	}
	return SIMIDX_OK;
}

void sx_words_free(sx_words *words)
{
	if (words->breaks)
		ubrk_close(words->breaks);
	words->breaks = NULL;
	free(words->bytes);
	words->bytes = NULL;
	words->room = 0;
}
