/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Characters that are never seen: Default_Ignorable_Code_Point (Unicode, section 5.21), which
 * NFKC_Casefold removes, too. Word processors and web pages strew soft hyphens, joiners and
 * direction marks into texts that are otherwise equal. The list is written out because the
 * ranges are reserved for good, and a look-up of the property costs more than the rest of
 * normalisation. U+200B stays: it stands between words.
 */

#include "text/sx_text_tokens.h"

#include <unicode/utf16.h>

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
