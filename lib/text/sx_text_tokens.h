/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * From a stretch of normalised text to other tokens than words: Han characters and runs of
 * letters, or single characters. sx_text_filter.h and sx_text_grams.h take them.
 *
 * words12 without any of the lists does not come here: it counts its words and pairs where they lie
 * (sx_text_words.h, sx_text_features.h), which is faster.
 */

#ifndef SX_TEXT_TOKENS_H
#define SX_TEXT_TOKENS_H

#include <stddef.h>
#include <stdint.h>

#include <unicode/utypes.h>

#include <simidx.h>

#define SX_JOINT 0x1f /* stands between the tokens of a feature */

/** Growing bytes. All zero is the empty one. */
typedef struct sx_bytes {
	char *at;
	size_t n, room;
} sx_bytes;

/** Append. */
int sx_bytes_add(sx_bytes *bytes, const void *data, size_t size, simidx_error *err);

/** Takes a token; the bytes are valid until it returns. Returns 0 or a SIMIDX_E_ code. */
typedef int sx_take_token(void *ctx, const char *bytes, size_t size, simidx_error *err);

/**
 * Cut a stretch into Han characters, each alone, and runs of other letters and digits.
 *
 * @param unspaced  whether letters of the other scripts without spaces between words are alone,
 *                  too, each with its marks: Thai, Lao, Khmer, Burmese, kana
 */
int sx_han_split(const UChar *units, size_t n, int unspaced, sx_bytes *token, sx_take_token *take,
		 void *ctx, simidx_error *err);

/**
 * The same of ASCII, where it is a matter of single bytes: runs of letters and digits, in lower
 * case.
 */
int sx_ascii_split(const uint8_t *ascii, size_t n, sx_bytes *token, sx_take_token *take, void *ctx,
		   simidx_error *err);

/** What cutting into characters keeps from one stretch to the next. All zero begins a text. */
typedef struct sx_chars {
	int begun;  /* there was a character */
	int gap;    /* since then, what is no letter */
} sx_chars;

/** Cut a stretch into single characters, and one space for all that lies between words. */
int sx_chars_split(sx_chars *chars, const UChar *units, size_t n, sx_take_token *take, void *ctx,
		   simidx_error *err);

#endif /* SX_TEXT_TOKENS_H */
