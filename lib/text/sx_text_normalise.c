/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "text/sx_text.h"

#include <string.h>

#include <unicode/unorm2.h>
#include <unicode/ustring.h>
#include <unicode/utf16.h>

#include "util/sx_err.h"

#define PIECE_UNITS 1024

/* The most that NFKC makes of one UTF-16 unit (UAX #15, section 9.2): U+FDFA becomes 18. */
#define NFKC_GROWTH 18

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
