/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "common/tl_number.h"

#include "common/tl_msg.h"
#include "common/tl_options.h"
#include "common/tl_utf8.h"

#include <stdio.h>
#include <string.h>

/* With so many digits, a fraction times 2^16 still fits 64 bits. */
#define MAX_SCALE UINT64_C(1000000000000)

#define EXPECTED "%s: expected 1 to %u hexadecimal digits, found "

/* Digits by their byte, plus 1; a table because there are 16 of them in every row. */
static const unsigned char hex_values[256] = {
	['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,
	['6'] = 7,  ['7'] = 8,  ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12,
	['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16, ['A'] = 11, ['B'] = 12,
	['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

int tl_hex_digit(char c)
{
	return hex_values[(unsigned char)c] - 1;
}

int tl_parse_hex(const char *digits, size_t n, void *out)
{
	unsigned char *bytes = out;

	if (n % 2 != 0)
		return -1;
	for (size_t i = 0; i < n / 2; i++) {
		int high = tl_hex_digit(digits[2 * i]), low = tl_hex_digit(digits[2 * i + 1]);

		if (high < 0 || low < 0)
			return -1;
		bytes[i] = (unsigned char)(high << 4 | low);
	}
	return 0;
}

int tl_parse_decimal(const char *s, size_t n, uint64_t max, uint64_t *out)
{
	uint64_t value = 0;
	size_t i;

	*out = 0;
	for (i = 0; i < n; i++) {
		if (s[i] < '0' || s[i] > '9' || __builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(s[i] - '0'), &value))
			return -1;
	}
	if (n == 0 || value > max)
		return -1;
	*out = value;
	return 0;
}

int tl_parse_fixed(const char *s, size_t n, uint32_t *out)
{
	const char *point = n ? memchr(s, '.', n) : NULL;
	size_t whole_size = point ? (size_t)(point - s) : n;
	uint64_t whole, fraction = 0, scale = 1, fixed;
	size_t i;

	if (tl_parse_decimal(s, whole_size, UINT16_MAX, &whole))
		return -1;
	for (i = whole_size + 1; i < n; i++) {
		if (s[i] < '0' || s[i] > '9')
			return -1;
		if (scale == MAX_SCALE)
			continue;
		fraction = 10 * fraction + (uint64_t)(s[i] - '0');
		scale *= 10;
	}
	fixed = (whole << 16) + ((fraction << 16) + scale / 2) / scale;
	if (fixed > UINT32_MAX)
		return -1;
	*out = (uint32_t)fixed;
	return 0;
}

int tl_parse_count(const char *s, size_t n, uint64_t max, uint64_t *out)
{
	static const uint64_t factors[] = { 1000, 1000000, 1000000000, 1000000000000 };
	static const char units[] = "KMGT";
	const char *unit = n ? memchr(units, s[n - 1], 4) : NULL;
	const char *e = n ? memchr(s, 'e', n) : NULL;
	uint64_t factor = unit ? factors[unit - units] : 1, zeros = 0;
	size_t digits = e ? (size_t)(e - s) : n - (unit != NULL);

	/* "1e7", as in programs of Python and C. */
	if (e && tl_parse_decimal(e + 1, n - digits - 1, 18, &zeros))
		return -1;
	while (zeros--)
		factor *= 10;
	if (tl_parse_decimal(s, digits, max / factor, out))
		return -1;
	*out *= factor;
	return 0;
}

int tl_parse_bytes(const char *s, size_t n, uint64_t max, uint64_t *out)
{
	static const char units[] = "KMGT";
	const char *unit = n ? memchr(units, s[n - 1], 4) : NULL;
	unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;

	if (n && memchr(s, 'e', n))
		return tl_parse_count(s, n, max, out);
	if (tl_parse_decimal(s, n - (unit != NULL), max >> shift, out))
		return -1;
	*out <<= shift;
	return 0;
}

char *tl_number_room(void)
{
	static _Thread_local char room[16][TL_NUMBER_SIZE];
	static _Thread_local unsigned next;

	return room[next++ % 16];
}

const char *tl_count(uint64_t count)
{
	char digits[TL_NUMBER_SIZE], *out = tl_number_room();
	int n = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)count), used = 0;

	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			out[used++] = ',';
		out[used++] = digits[i];
	}
	out[used] = '\0';
	return out;
}

const char *tl_counted(uint64_t count, const char *one, const char *many)
{
	char *out = tl_number_room();

	snprintf(out, TL_NUMBER_SIZE, "%s %s", tl_count(count), count == 1 ? one : many);
	return out;
}

const char *tl_amount(double amount)
{
	static const char *const units[] = { "", " K", " M", " G", " T" };
	char *out = tl_number_room();
	int unit = 0, places;

	/* What would be rounded to 1,000 is 1 of the next. */
	for (; amount >= 999.5 && unit < 4; unit++)
		amount /= 1000;
	places = unit == 0 || amount >= 99.95 ? 0 : amount >= 9.995 ? 1 : 2;
	snprintf(out, TL_NUMBER_SIZE, "%.*f%s", places, amount, units[unit]);
	return out;
}

const char *tl_left(double seconds)
{
	int is_long = seconds >= 120;
	char *out = tl_number_room();

	snprintf(out, TL_NUMBER_SIZE, is_long ? ", %.0f min left" : ", %.0f s left",
		 is_long ? seconds / 60 : seconds);
	return out;
}

unsigned tl_hex_width(unsigned bits)
{
	return (bits + 3) / 4;
}

/* Show the character that is there: as itself, or by its number if a terminal could not. */
static void tell_digit(const char *s, size_t n, size_t at, unsigned width, const char *what,
		       char *reason, size_t size)
{
	size_t length = tl_utf8_length(s + at, n - at);

	if (length == 0 || (unsigned char)s[at] < ' ' || s[at] == 0x7f)
		snprintf(reason, size, EXPECTED "byte 0x%02x in place of digit %zu", what, width,
			 (unsigned)(unsigned char)s[at], at + 1);
	else
		snprintf(reason, size, EXPECTED "'%.*s' in place of digit %zu", what, width,
			 (int)length, s + at, at + 1);
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
			tell_digit(s, n, i, width, what, reason, size);
			return -1;
		}
		value = value << 4 | (uint64_t)digit;
	}
	if (n == 0 || n > width) {
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

/* ---- values that are read elsewhere ---- */

int tl_option_number(const char *name, const char *text, uint64_t min, uint64_t max,
		     uint64_t *out)
{
	if (!tl_parse_decimal(text, strlen(text), max, out) && *out >= min)
		return 0;
	return tl_usage_error("%s: expected a number in %llu..%llu, found '%s'", name,
			      (unsigned long long)min, (unsigned long long)max, text);
}

int tl_check_distances(int radius, int accept)
{
	if (radius < 0 || accept < 0)
		return 0;
	return tl_usage_error("--radius asks for the plain distance, which --accept has no use "
			      "for");
}
