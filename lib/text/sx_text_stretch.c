/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Where a text can be cut without changing its words. Behind a line feed: that is a word
 * boundary whatever follows, and nothing composes with it. Behind a space or an ideographic
 * full stop that a letter or digit follows: no rule for word boundaries (UAX #29) joins these
 * with what comes before or after, nor looks past them, as long as the letter neither extends
 * the character before it nor is changed by NFKC.
 */

#include "text/sx_text_stretch.h"

#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/utf8.h>

/** Whether a word can start at utf8[i] independently of what is before. */
static int starts_afresh(const uint8_t *utf8, size_t i, size_t size)
{
	int32_t pos = 0;
	int32_t room = size - i < U8_MAX_LENGTH ? (int32_t)(size - i) : U8_MAX_LENGTH;
	UChar32 c;

	U8_NEXT_OR_FFFD(utf8 + i, pos, room, c);
	return u_isalnum(c) && !u_hasBinaryProperty(c, UCHAR_GRAPHEME_EXTEND) &&
	       u_getIntPropertyValue(c, UCHAR_NFKC_QUICK_CHECK) == UNORM_YES;
}

/** Whether a cut at i, 0 < i < size, changes nothing. */
static int is_good_cut(const uint8_t *utf8, size_t i, size_t size)
{
	int is_space, is_stop;

	if (utf8[i - 1] == '\n')
		return 1;
	is_space = utf8[i - 1] == ' ';
	is_stop = utf8[i - 1] == 0x82 && i >= 3 && utf8[i - 2] == 0x80 && utf8[i - 3] == 0xe3;
	return (is_space || is_stop) && starts_afresh(utf8, i, size);
}

size_t sx_stretch(const uint8_t *utf8, size_t size, size_t want, size_t most)
{
	size_t i;

	if (size <= want)
		return size;
	for (i = want ? want : 1; i < size && i <= most; i++) {
		if (is_good_cut(utf8, i, size))
			return i;
	}
	if (size <= most)
		return size;
	/* At most three bytes back a character starts, if this is UTF-8 at all. */
	for (i = most; i > most - 3 && U8_IS_TRAIL(utf8[i]); i--)
		continue;
	return U8_IS_TRAIL(utf8[i]) ? most : i;
}
