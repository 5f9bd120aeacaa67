/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "common/tl_fp.h"

#include "common/tl_number.h"

#include <stdio.h>
#include <string.h>

/* Base64 of the eight bytes of the widest fingerprint. */
#define MAX_BASE64 12

const char *const tl_encoding_names[] = { "hex", "dec", "sdec", "base64", NULL };

static uint64_t largest(unsigned bits)
{
	return UINT64_MAX >> (64 - bits);
}

static int parse_unsigned(const char *s, size_t n, unsigned bits, const char *what,
			  uint64_t *out, char *reason, size_t size)
{
	if (!tl_parse_decimal(s, n, largest(bits), out))
		return 0;
	snprintf(reason, size, "%s: expected a decimal number in 0..%llu", what,
		 (unsigned long long)largest(bits));
	return -1;
}

static int parse_signed(const char *s, size_t n, unsigned bits, const char *what,
			uint64_t *out, char *reason, size_t size)
{
	const uint64_t half = (uint64_t)1 << (bits - 1);
	int negative = n > 0 && s[0] == '-';

	if (!tl_parse_decimal(s + negative, n - (size_t)negative,
			      negative ? half : half - 1, out)) {
		if (negative)
			*out = (0 - *out) & largest(bits);
		return 0;
	}
	snprintf(reason, size, "%s: expected a decimal number in -%llu..%llu", what,
		 (unsigned long long)half, (unsigned long long)(half - 1));
	return -1;
}

static int base64_digit(char c)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				     "0123456789+/";
	const char *found = memchr(digits, c, sizeof(digits) - 1);

	return found ? (int)(found - digits) : -1;
}

/* The bytes of exactly `n` characters; -1 for padding, digits or spare bits that are wrong. */
static int decode_base64(const char *s, size_t n, size_t n_bytes, unsigned char *bytes)
{
	size_t digits = (n_bytes * 8 + 5) / 6, used = 0, i;
	unsigned held = 0, n_held = 0;
	int digit;

	for (i = 0; i < digits; i++) {
		digit = base64_digit(s[i]);
		if (digit < 0)
			return -1;
		held = (held << 6 | (unsigned)digit) & 0xfff;
		n_held += 6;
		if (n_held >= 8) {
			n_held -= 8;
			bytes[used++] = (unsigned char)(held >> n_held);
		}
	}
	if (held & ((1u << n_held) - 1))
		return -1;
	for (; i < n; i++)
		if (s[i] != '=')
			return -1;
	return 0;
}

static int parse_base64(const char *s, size_t n, unsigned bits, const char *what,
			uint64_t *out, char *reason, size_t size)
{
	unsigned char bytes[MAX_BASE64];
	size_t n_bytes = (bits + 7) / 8, expected = (n_bytes + 2) / 3 * 4, i;

	if (n != expected || decode_base64(s, n, n_bytes, bytes)) {
		snprintf(reason, size,
			 "%s: expected base64 of %zu bytes: %zu characters, padding included",
			 what, n_bytes, expected);
		return -1;
	}
	for (i = 0; i < n_bytes; i++)
		*out = *out << 8 | bytes[i];
	if (*out <= largest(bits))
		return 0;
	*out = 0;
	snprintf(reason, size, "%s: wider than %u bits", what, bits);
	return -1;
}

int tl_parse_encoded(enum tl_encoding encoding, const char *s, size_t n, unsigned bits,
		     const char *what, uint64_t *out, char *reason, size_t size)
{
	*out = 0;
	switch (encoding) {
	case TL_DEC:
		return parse_unsigned(s, n, bits, what, out, reason, size);
	case TL_SDEC:
		return parse_signed(s, n, bits, what, out, reason, size);
	case TL_BASE64:
		return parse_base64(s, n, bits, what, out, reason, size);
	default:
		return tl_parse_fingerprint(s, n, bits, what, out, reason, size);
	}
}
