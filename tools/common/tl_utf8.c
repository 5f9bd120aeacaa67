/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "common/tl_utf8.h"

#include <string.h>

/* The number of continuation bytes that follow a first byte, or -1. */
static int continuation_bytes(unsigned char c)
{
	if (c < 0x80)
		return 0;
	if (c >= 0xc2 && c <= 0xdf)
		return 1;
	if (c >= 0xe0 && c <= 0xef)
		return 2;
	if (c >= 0xf0 && c <= 0xf4)
		return 3;
	return -1;
}

size_t tl_utf8_length(const char *s, size_t n)
{
	const unsigned char *p = (const unsigned char *)s;
	int more = continuation_bytes(p[0]);
	int i;

	if (more < 0 || (size_t)more >= n)
		return 0;
	for (i = 1; i <= more; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	/* Overlong forms, surrogates, and what lies above U+10FFFF. */
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
	    (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	return (size_t)more + 1;
}

/* Whether eight bytes are ASCII. */
static int are_ascii(const char *s)
{
	uint64_t bytes;

	memcpy(&bytes, s, sizeof(bytes));
	return (bytes & UINT64_C(0x8080808080808080)) == 0;
}

size_t tl_utf8_valid(const char *s, size_t n)
{
	size_t at = 0, length;

	while (at < n) {
		if (n - at >= 8 && are_ascii(s + at)) {
			at += 8;
			continue;
		}
		length = tl_utf8_length(s + at, n - at);
		if (length == 0)
			break;
		at += length;
	}
	return at;
}

size_t tl_utf8_forward(const char *s, size_t n, size_t at, uint64_t characters)
{
	for (; characters && at < n; characters--) {
		size_t length = tl_utf8_length(s + at, n - at);

		at += length ? length : 1;
	}
	return at;
}
