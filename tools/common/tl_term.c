/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "common/tl_term.h"

#include "common/tl_escape.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#define DEFAULT_WIDTH 80

const char *const tl_color_words[] = { "auto", "always", "never", NULL };

int tl_term_is(void)
{
	return isatty(STDOUT_FILENO);
}

unsigned tl_term_width(int fd)
{
	struct winsize size;

	if (ioctl(fd, TIOCGWINSZ, &size) || size.ws_col < 2)
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

/* Columns of a valid UTF-8 character of `length` bytes. Close enough to cut lines: a terminal knows
 * more exactly what its font has. */
static size_t columns_of(const char *s, size_t length)
{
	mbstate_t state = { 0 };
	wchar_t c;
	int width = mbrtowc(&c, s, length, &state) == length ? wcwidth(c) : 1;

	return width < 0 ? 1 : (size_t)width;
}

size_t tl_term_columns(const char *s, size_t n)
{
	size_t columns = 0, length;

	for (size_t i = 0; i < n; i += length ? length : 1) {
		length = tl_utf8_length(s + i, n - i);
		columns += length ? columns_of(s + i, length) : 1;
	}
	return columns;
}

/* Where the longest end of a text begins that fits into `width` columns. */
static size_t find_end(const char *s, size_t n, size_t width)
{
	size_t columns = tl_term_columns(s, n), begin = 0, length;

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
	tl_put_visible(memory, text, size);
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

const char *tl_term_count(uint64_t number)
{
	char *out;

	if (tl_term_is())
		return tl_count(number);
	out = tl_number_room();
	snprintf(out, TL_NUMBER_SIZE, "%llu", (unsigned long long)number);
	return out;
}

const char *tl_term_bytes(uint64_t bytes)
{
	static const char *const units[] = { "bytes", "KiB", "MiB", "GiB", "TiB", "PiB" };
	double value = (double)bytes;
	char *out;
	size_t i = 0;

	if (!tl_term_is())
		return tl_term_count(bytes);
	for (; value >= 1023.95 && i + 1 < sizeof(units) / sizeof(*units); i++)
		value /= 1024;
	out = tl_number_room();
	snprintf(out, TL_NUMBER_SIZE, i ? "%.1f %s" : "%.0f %s", value, units[i]);
	return out;
}
