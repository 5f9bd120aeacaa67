/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "text/sx_text_tokens.h"

#include <string.h>

#include <unicode/uchar.h>
#include <unicode/uscript.h>
#include <unicode/utf16.h>
#include <unicode/utf8.h>

#include "util/sx_alloc.h"
#include "util/sx_err.h"

int sx_bytes_add(sx_bytes *bytes, const void *data, size_t size, simidx_error *err)
{
	if (sx_reserve(&bytes->at, &bytes->room, bytes->n + size, 1))
		return sx_fail_nomem(err);
	if (size)
		memcpy(bytes->at + bytes->n, data, size);
	bytes->n += size;
	return SIMIDX_OK;
}

/* ------------------------------------------------------------------------------------------
 * Han characters and runs of letters
 */

/** What a character does to the token before it; WITH_MARKS begins one that only marks extend. */
enum role { BREAKS, GOES_ON, EXTENDS, ALONE, WITH_MARKS };

/** Whether a letter is of a script without spaces between words, other than Han. */
static int is_unspaced(UChar32 c, UScriptCode script)
{
	switch (script) {
	case USCRIPT_THAI:
	case USCRIPT_LAO:
	case USCRIPT_KHMER:
	case USCRIPT_MYANMAR:
	case USCRIPT_HIRAGANA:
	case USCRIPT_KATAKANA:
		return u_isalpha(c);
	case USCRIPT_COMMON: /* such as the mark of long vowels, which is of both kana */
		return u_isalpha(c) && uscript_hasScript(c, USCRIPT_KATAKANA);
	default:
		return 0;
	}
}

static enum role role_of(UChar32 c, int unspaced)
{
	UErrorCode status = U_ZERO_ERROR;
	UScriptCode script;

	if (c < 0x80)
		return u_isalnum(c) ? GOES_ON : BREAKS;
	if (U_GET_GC_MASK(c) & U_GC_M_MASK)
		return EXTENDS;
	script = uscript_getScript(c, &status);
	if (U_SUCCESS(status) && script == USCRIPT_HAN)
		return ALONE;
	if (U_SUCCESS(status) && unspaced && is_unspaced(c, script))
		return WITH_MARKS;
	return u_isalnum(c) ? GOES_ON : BREAKS;
}

static int hand_on(sx_bytes *token, sx_take_token *take, void *ctx, simidx_error *err)
{
	int rc = token->n ? take(ctx, token->at, token->n, err) : SIMIDX_OK;

	token->n = 0;
	return rc;
}

int sx_han_split(const UChar *units, size_t n, int unspaced, sx_bytes *token, sx_take_token *take,
		 void *ctx, simidx_error *err)
{
	char utf8[U8_MAX_LENGTH];
	size_t i = 0, size;
	enum role role;
	int is_closed = 0; /* a letter that is a token by itself came last */
	UChar32 c;
	int rc = SIMIDX_OK;

	token->n = 0;
	while (i < n && !rc) {
		U16_NEXT(units, i, n, c);
		role = role_of(c, unspaced);
		if (role == BREAKS || role == ALONE || role == WITH_MARKS ||
		    (role == GOES_ON && is_closed))
			rc = hand_on(token, take, ctx, err);
		if (role != EXTENDS)
			is_closed = role == WITH_MARKS;
		/* A mark goes with what it is on, or with nothing. */
		if (rc || role == BREAKS || (role == EXTENDS && !token->n))
			continue;
		size = 0;
		U8_APPEND_UNSAFE(utf8, size, c);
		rc = sx_bytes_add(token, utf8, size, err);
		if (!rc && role == ALONE)
			rc = hand_on(token, take, ctx, err);
	}
	return rc ? rc : hand_on(token, take, ctx, err);
}

/* A letter or digit of ASCII in lower case; 0 for all else. */
static char of_token(uint8_t c)
{
	unsigned letter = (c | 0x20u) - 'a', digit = c - (unsigned)'0';

	return (char)(letter < 26 ? c | 0x20 : digit < 10 ? c : 0);
}

int sx_ascii_split(const uint8_t *ascii, size_t n, sx_bytes *token, sx_take_token *take, void *ctx,
		   simidx_error *err)
{
	int rc = SIMIDX_OK;
	char c;

	if (sx_reserve(&token->at, &token->room, n, 1))
		return sx_fail_nomem(err);
	for (size_t i = 0; !rc && i < n; i++) {
		for (token->n = 0; i < n && (c = of_token(ascii[i])); i++)
			token->at[token->n++] = c;
		rc = token->n ? take(ctx, token->at, token->n, err) : SIMIDX_OK;
	}
	return rc;
}

/* ------------------------------------------------------------------------------------------
 * Single characters
 */

static int is_of_word(UChar32 c)
{
	return u_isalnum(c) || (c >= 0x80 && U_GET_GC_MASK(c) & U_GC_M_MASK);
}

int sx_chars_split(sx_chars *chars, const UChar *units, size_t n, sx_take_token *take, void *ctx,
		   simidx_error *err)
{
	char utf8[U8_MAX_LENGTH];
	size_t i = 0, size;
	UChar32 c;
	int rc = SIMIDX_OK;

	while (i < n && !rc) {
		U16_NEXT(units, i, n, c);
		if (!is_of_word(c)) {
			chars->gap = chars->begun;
			continue;
		}
		if (chars->gap)
			rc = take(ctx, " ", 1, err);
		chars->gap = 0;
		chars->begun = 1;
		size = 0;
		U8_APPEND_UNSAFE(utf8, size, c);
		if (!rc)
			rc = take(ctx, utf8, size, err);
	}
	return rc;
}
