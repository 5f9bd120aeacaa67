/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "common/tl_number.h"

#include <stdio.h>

#define EXPECTED "%s: expected %u hexadecimal digits, found "

int tl_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

int tl_parse_decimal(const char *s, size_t n, uint64_t max, uint64_t *out)
{
	uint64_t value = 0, digit;
	size_t i;

	*out = 0;
	if (n == 0)
		return -1;
	for (i = 0; i < n; i++) {
		if (s[i] < '0' || s[i] > '9')
			return -1;
		digit = (uint64_t)(s[i] - '0');
		if (value > max / 10 || digit > max - value * 10)
			return -1;
		value = value * 10 + digit;
	}
	*out = value;
	return 0;
}

unsigned tl_hex_width(unsigned bits)
{
	return (bits + 3) / 4;
}

int tl_parse_fingerprint(const char *s, size_t n, unsigned bits, const char *what,
			 uint64_t *out, char *reason, size_t size)
{
	unsigned width = tl_hex_width(bits);
	uint64_t value = 0;
	size_t i;
	int digit;

	*out = 0;
	if (n >= 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
		s += 2;
		n -= 2;
	}
	for (i = 0; i < n && i <= width; i++) {
		digit = tl_hex_digit(s[i]);
		if (digit < 0) {
			snprintf(reason, size, EXPECTED "byte 0x%02x in place of digit %zu",
				 what, width, (unsigned)(unsigned char)s[i], i + 1);
			return -1;
		}
		value = value << 4 | (uint64_t)digit;
	}
	if (n != width) {
		snprintf(reason, size, EXPECTED "%zu", what, width, n);
		return -1;
	}
	if (bits < 64 && value >> bits != 0) {
		snprintf(reason, size, "%s: wider than %u bits", what, bits);
		return -1;
	}
	*out = value;
	return 0;
}
