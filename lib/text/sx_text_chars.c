/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "text/sx_text_tokens.h"

#include <unicode/uchar.h>
#include <unicode/utf16.h>
#include <unicode/utf8.h>

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
