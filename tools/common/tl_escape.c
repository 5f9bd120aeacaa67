/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "common/tl_escape.h"

#include "common/tl_number.h"

/* Length of the character at s if it may be printed as it is, else 0. */
static size_t plain_length(const char *s, size_t n, int keep_backslash)
{
	const unsigned char *p = (const unsigned char *)s;
	size_t length = tl_utf8_length(s, n);

	if (length == 1 && (p[0] < 0x20 || p[0] == 0x7f))
		return 0;
	if (length == 1 && p[0] == '\\' && !keep_backslash)
		return 0;
	/* U+0080..U+009F: terminals take some of them for commands. */
	if (length == 2 && p[0] == 0xc2 && p[1] < 0xa0)
		return 0;
	return length;
}

static void put_byte(FILE *out, unsigned char c)
{
	switch (c) {
	case '\t':
		fputs("\\t", out);
		break;
	case '\n':
		fputs("\\n", out);
		break;
	case '\r':
		fputs("\\r", out);
		break;
	case '\\':
		fputs("\\\\", out);
		break;
	default:
		fprintf(out, "\\x%02x", c);
	}
}

static void put_text(FILE *out, const char *s, size_t n, int keep_backslash)
{
	size_t run = 0, length;

	while (run < n) {
		length = plain_length(s + run, n - run, keep_backslash);
		if (length > 0) {
			run += length;
			continue;
		}
		fwrite(s, 1, run, out);
		put_byte(out, (unsigned char)s[run]);
		s += run + 1;
		n -= run + 1;
		run = 0;
	}
	fwrite(s, 1, run, out);
}

void tl_put_escaped(FILE *out, const char *s, size_t n)
{
	put_text(out, s, n, 0);
}

void tl_put_message(FILE *out, const char *s, size_t n)
{
	put_text(out, s, n, 1);
}

/* Decode the escape behind a backslash. Returns the bytes read, 0 if it is not known. */
static size_t read_escape(const char *s, size_t n, char *out)
{
	int high, low;

	if (n == 0)
		return 0;
	switch (s[0]) {
	case 't':
		*out = '\t';
		return 1;
	case 'n':
		*out = '\n';
		return 1;
	case 'r':
		*out = '\r';
		return 1;
	case '\\':
		*out = '\\';
		return 1;
	case 'x':
		if (n < 3)
			return 0;
		high = tl_hex_digit(s[1]);
		low = tl_hex_digit(s[2]);
		if (high < 0 || low < 0)
			return 0;
		*out = (char)(high << 4 | low);
		return 3;
	default:
		return 0;
	}
}

int tl_unescape(const char *s, size_t n, char *out, size_t *out_size)
{
	size_t i = 0, used = 0, length;

	*out_size = 0;
	while (i < n) {
		if (s[i] != '\\') {
			out[used++] = s[i++];
			continue;
		}
		i++;
		length = read_escape(s + i, n - i, out + used);
		if (length == 0)
			return -1;
		used++;
		i += length;
	}
	*out_size = used;
	return 0;
}
