/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "text/sx_text.h"

#include <unicode/ustring.h>

#include "util/sx_alloc.h"
#include "util/sx_err.h"

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
