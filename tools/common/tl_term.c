/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "common/tl_term.h"

#include "common/tl_escape.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define DEFAULT_WIDTH 80

const char *const tl_color_words[] = { "auto", "always", "never", NULL };

int tl_term_is(void)
{
	return isatty(STDOUT_FILENO);
}

unsigned tl_term_width(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || size.ws_col == 0)
		return DEFAULT_WIDTH;
	return size.ws_col;
}

int tl_term_colors(enum tl_color wanted)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	if (wanted != TL_COLOR_AUTO)
		return wanted == TL_COLOR_ALWAYS;
	return tl_term_is() && !(no_color && *no_color) && term && strcmp(term, "dumb") != 0;
}

/* ---- widths ---- */

struct range {
	uint32_t first, last;
};

/* Close enough to cut lines: a terminal knows more exactly what its font has. */
static const struct range no_columns[] = {
	{ 0x300, 0x36f },   { 0x200b, 0x200f }, { 0x20d0, 0x20ff }, { 0xfe00, 0xfe0f },
	{ 0xfe20, 0xfe2f },
};
static const struct range two_columns[] = {
	{ 0x1100, 0x115f },   { 0x2e80, 0x303e },   { 0x3041, 0xa4cf },   { 0xac00, 0xd7a3 },
	{ 0xf900, 0xfaff },   { 0xfe30, 0xfe6f },   { 0xff00, 0xff60 },   { 0xffe0, 0xffe6 },
	{ 0x1f300, 0x1f64f }, { 0x1f900, 0x1f9ff }, { 0x20000, 0x3fffd },
};

static int is_in(uint32_t c, const struct range *ranges, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (c >= ranges[i].first && c <= ranges[i].last)
			return 1;
	return 0;
}

/* Columns of a valid UTF-8 character of `length` bytes. */
static size_t columns_of(const char *s, size_t length)
{
	static const unsigned char first_bits[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	uint32_t c = (unsigned char)s[0] & first_bits[length];

	for (size_t i = 1; i < length; i++)
		c = c << 6 | ((unsigned char)s[i] & 0x3f);
	if (is_in(c, no_columns, sizeof(no_columns) / sizeof(*no_columns)))
		return 0;
	return is_in(c, two_columns, sizeof(two_columns) / sizeof(*two_columns)) ? 2 : 1;
}

/* Where the longest end of a text begins that fits into `width` columns. */
static size_t find_end(const char *s, size_t n, size_t width)
{
	size_t columns = 0, begin = 0, length, i;

	for (i = 0; i < n; i += length) {
		length = tl_utf8_length(s + i, n - i);
		columns += columns_of(s + i, length);
	}
	for (; columns > width; begin += length) {
		length = tl_utf8_length(s + begin, n - begin);
		columns -= columns_of(s + begin, length);
	}
	return begin;
}

void tl_term_put(FILE *out, const char *text, size_t size, size_t width)
{
	char *shown = NULL;
	size_t n = 0, begin;
	FILE *memory = open_memstream(&shown, &n);

	if (!memory)
		return;
	tl_put_escaped(memory, text, size);
	if (!fclose(memory)) {
		begin = find_end(shown, n, width);
		if (begin)
			begin = find_end(shown, n, width ? width - 1 : 0);
		fputs(begin ? "…" : "", out);
		fwrite(shown + begin, 1, n - begin, out);
	}
	free(shown);
}

/* ---- numbers ---- */

const char *tl_term_count(char out[TL_NUMBER_SIZE], uint64_t number)
{
	if (tl_term_is())
		tl_write_count(number, out);
	else
		snprintf(out, TL_NUMBER_SIZE, "%llu", (unsigned long long)number);
	return out;
}

const char *tl_term_bytes(char out[TL_NUMBER_SIZE], uint64_t bytes)
{
	static const char *const units[] = { "bytes", "KiB", "MiB", "GiB", "TiB", "PiB" };
	double value = (double)bytes;
	size_t i = 0;

	if (!tl_term_is())
		return tl_term_count(out, bytes);
	for (; value >= 1023.95 && i + 1 < sizeof(units) / sizeof(*units); i++)
		value /= 1024;
	snprintf(out, TL_NUMBER_SIZE, i ? "%.1f %s" : "%.0f %s", value, units[i]);
	return out;
}
