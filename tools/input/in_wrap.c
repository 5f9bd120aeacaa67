/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "input/in_wrap.h"

#include "common/tl_number.h"

#include <string.h>

/* A number has 19 digits or more, so that with these it is not twice as long. */
static const char before[] = "[\"\\u0000", behind[] = "\"]";

/* Bytes of the string that begins at s[0], quotes included. */
static size_t string_length(const char *s, size_t n)
{
	size_t i = 1;

	while (i < n && s[i] != '"')
		i += s[i] == '\\' ? 2 : 1;
	return i < n ? i + 1 : n;
}

/* Bytes of what may be a number at s[0], or 0. */
static size_t number_length(const char *s, size_t n)
{
	size_t i = 0;

	while (i < n && s[i] && strchr("+-.0123456789Ee", s[i]))
		i++;
	return i;
}

static int is_long(const char *number, size_t n)
{
	uint64_t value;

	return !tl_parse_decimal(number, n, UINT64_MAX, &value) && value > INT64_MAX;
}

static char *append(char *out, const char *bytes, size_t n)
{
	memcpy(out, bytes, n);
	return out + n;
}

size_t in_wrap_numbers(const char *json, size_t size, char *out)
{
	const char *at = json, *end = json + size;
	char *to = out;
	size_t n;

	while (at < end) {
		n = number_length(at, (size_t)(end - at));
		if (n > 0 && is_long(at, n)) {
			to = append(to, before, sizeof(before) - 1);
			to = append(to, at, n);
			to = append(to, behind, sizeof(behind) - 1);
		} else {
			if (n == 0)
				n = *at == '"' ? string_length(at, (size_t)(end - at)) : 1;
			to = append(to, at, n);
		}
		at += n;
	}
	return (size_t)(to - out);
}
