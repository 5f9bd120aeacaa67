/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "text/sx_text_tokens.h"

#include <unicode/uchar.h>
#include <unicode/uscript.h>
#include <unicode/utf16.h>
#include <unicode/utf8.h>

/** What a character does to the token before it. */
enum role { BREAKS, GOES_ON, EXTENDS, ALONE };

static enum role role_of(UChar32 c)
{
	UErrorCode status = U_ZERO_ERROR;

	if (c < 0x80)
		return u_isalnum(c) ? GOES_ON : BREAKS;
	if (U_GET_GC_MASK(c) & U_GC_M_MASK)
		return EXTENDS;
	if (uscript_getScript(c, &status) == USCRIPT_HAN && U_SUCCESS(status))
		return ALONE;
	return u_isalnum(c) ? GOES_ON : BREAKS;
}

static int hand_on(sx_bytes *token, sx_take_token *take, void *ctx, simidx_error *err)
{
	int rc = token->n ? take(ctx, token->at, token->n, err) : SIMIDX_OK;

	token->n = 0;
	return rc;
}

int sx_han_split(const UChar *units, size_t n, sx_bytes *token, sx_take_token *take, void *ctx,
		 simidx_error *err)
{
	char utf8[U8_MAX_LENGTH];
	size_t i = 0, size;
	enum role role;
	UChar32 c;
	int rc = SIMIDX_OK;

	token->n = 0;
	while (i < n && !rc) {
		U16_NEXT(units, i, n, c);
		role = role_of(c);
		if (role == BREAKS || role == ALONE)
			rc = hand_on(token, take, ctx, err);
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
