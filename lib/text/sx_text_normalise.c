/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "text/sx_text_normalise.h"

#include <string.h>

#include <unicode/unorm2.h>
#include <unicode/ustring.h>
#include <unicode/utf16.h>

#include "util/sx_alloc.h"
#include "util/sx_err.h"

#define PIECE_UNITS 1024

/* The most that NFKC makes of one UTF-16 unit (UAX #15, section 9.2): U+FDFA becomes 18. */
#define NFKC_GROWTH 18

int sx_units_reserve(sx_units *units, size_t n, simidx_error *err)
{
	if (sx_reserve(&units->at, &units->room, n, sizeof(*units->at)))
		return sx_fail_nomem(err);
	return SIMIDX_OK;
}

int sx_fail_icu(simidx_error *err, UErrorCode status, const char *what)
{
	if (status == U_MEMORY_ALLOCATION_ERROR)
		return sx_fail_nomem(err);
	if (status == U_BUFFER_OVERFLOW_ERROR || status == U_INDEX_OUTOFBOUNDS_ERROR)
		return sx_fail(err, SIMIDX_E_RANGE, "%s: text is too long", what);
	return sx_fail(err, SIMIDX_E_UNSUPPORTED, "%s: ICU says %s", what,
		       u_errorName(status));
}

int sx_decode(sx_units *out, const uint8_t *utf8, size_t size, simidx_error *err)
{
	UErrorCode status = U_ZERO_ERROR;
	int32_t n = 0;
	int rc;

	/* No sequence has more UTF-16 units than bytes. */
	rc = sx_units_reserve(out, size, err);
	if (rc)
		return rc;
	u_strFromUTF8WithSub(out->at, (int32_t)size, &n, (const char *)utf8, (int32_t)size,
			     0xfffd, NULL, &status);
	if (U_FAILURE(status))
		return sx_fail_icu(err, status, "cannot decode UTF-8");
	out->n = (size_t)n;
	return SIMIDX_OK;
}

/* ------------------------------------------------------------------------------------------
 * Characters that are never seen: Default_Ignorable_Code_Point (Unicode, section 5.21), which
 * NFKC_Casefold removes, too. Word processors and web pages strew soft hyphens, joiners and
 * direction marks into texts that are otherwise equal. The list is written out because the
 * ranges are reserved for good, and a look-up of the property costs more than the rest of
 * normalisation. U+200B stays: it stands between words.
 */

static int is_ignorable(UChar32 c)
{
	switch (c >> 8) {
	case 0x00:
		return c == 0xad;
	case 0x03:
		return c == 0x34f;
	case 0x06:
		return c == 0x61c;
	case 0x11:
		return c == 0x115f || c == 0x1160;
	case 0x17:
		return c == 0x17b4 || c == 0x17b5;
	case 0x18:
		return c >= 0x180b && c <= 0x180f;
	case 0x20:
		return (c >= 0x200c && c <= 0x200f) || (c >= 0x202a && c <= 0x202e) ||
		       (c >= 0x2060 && c <= 0x206f);
	case 0x31:
		return c == 0x3164;
	case 0xfe:
		return (c >= 0xfe00 && c <= 0xfe0f) || c == 0xfeff;
	case 0xff:
		return c == 0xffa0 || (c >= 0xfff0 && c <= 0xfff8);
	case 0x1bc:
		return c >= 0x1bca0 && c <= 0x1bca3;
	case 0x1d1:
		return c >= 0x1d173 && c <= 0x1d17a;
	default:
		return c >= 0xe0000 && c <= 0xe0fff;
	}
}

size_t sx_drop_ignorable(UChar *units, size_t n)
{
	size_t from = 0, to = 0, start;
	UChar32 c;

	while (from < n) {
		start = from;
		U16_NEXT(units, from, n, c);
		if (is_ignorable(c))
			continue;
		while (start < from)
			units[to++] = units[start++];
	}
	return to;
}

/* ------------------------------------------------------------------------------------------
 * NFKC and case
 */

static void swap(sx_units *a, sx_units *b)
{
	sx_units t = *a;

	*a = *b;
	*b = t;
}

/**
 * The end of the piece that begins at `from`: the last place within PIECE_UNITS where
 * normalisation can start anew, else PIECE_UNITS further, else the end of the text.
 */
static size_t piece_end(const UNormalizer2 *nfkc, const sx_units *text, size_t from)
{
	size_t most = from + PIECE_UNITS;
	size_t end = most;
	UChar32 c;

	if (text->n <= most)
		return text->n;
	while (end > from) {
		U16_GET(text->at, from, end, text->n, c);
		if (!U16_IS_TRAIL(text->at[end]) && unorm2_hasBoundaryBefore(nfkc, c))
			return end;
		end--;
	}
	/* Not between two surrogates. */
	return U16_IS_TRAIL(text->at[most]) ? most - 1 : most;
}

/** Append the NFKC form of text[from, end) to out. */
static int append_piece(const UNormalizer2 *nfkc, const sx_units *text, size_t from,
			size_t end, sx_units *out, simidx_error *err)
{
	UErrorCode status = U_ZERO_ERROR;
	size_t most = (end - from) * NFKC_GROWTH;
	int32_t n;
	int rc;

	rc = sx_units_reserve(out, out->n + most, err);
	if (rc)
		return rc;
	n = unorm2_normalize(nfkc, text->at + from, (int32_t)(end - from), out->at + out->n,
			     (int32_t)most, &status);
	if (U_FAILURE(status))
		return sx_fail_icu(err, status, "cannot normalise");
	out->n += (size_t)n;
	return SIMIDX_OK;
}

int sx_nfkc(sx_units *text, sx_units *spare, simidx_error *err)
{
	UErrorCode status = U_ZERO_ERROR;
	const UNormalizer2 *nfkc;
	size_t done = 0, end;
	int rc;

	if (!text->n)
		return SIMIDX_OK;
	nfkc = unorm2_getNFKCInstance(&status);
	if (U_SUCCESS(status))
		done = (size_t)unorm2_spanQuickCheckYes(nfkc, text->at, (int32_t)text->n,
							&status);
	if (U_FAILURE(status))
		return sx_fail_icu(err, status, "cannot normalise");
	if (done == text->n)
		return SIMIDX_OK;

	rc = sx_units_reserve(spare, text->n, err);
	if (rc)
		return rc;
	memcpy(spare->at, text->at, done * sizeof(*text->at));
	spare->n = done;
	for (; done < text->n; done = end) {
		end = piece_end(nfkc, text, done);
		rc = append_piece(nfkc, text, done, end, spare, err);
		if (rc)
			return rc;
	}
	swap(text, spare);
	return SIMIDX_OK;
}

int sx_fold(sx_units *text, sx_units *spare, simidx_error *err)
{
	size_t need = text->n;
	UErrorCode status;
	int32_t n;
	int rc;

	if (!text->n)
		return SIMIDX_OK;
	/* Folding seldom makes a text longer; when it does, ICU says how long it becomes. */
	do {
		rc = sx_units_reserve(spare, need, err);
		if (rc)
			return rc;
		status = U_ZERO_ERROR;
		n = u_strFoldCase(spare->at, (int32_t)need, text->at, (int32_t)text->n,
				  U_FOLD_CASE_DEFAULT, &status);
		need = (size_t)n;
	} while (status == U_BUFFER_OVERFLOW_ERROR);
	if (U_FAILURE(status))
		return sx_fail_icu(err, status, "cannot fold case");
	spare->n = (size_t)n;
	swap(text, spare);
	return SIMIDX_OK;
}
