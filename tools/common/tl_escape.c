/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "common/tl_escape.h"

#include "common/tl_number.h"

#include <string.h>

/* What is written as it is, or is not, besides what always is. */
#define KEEP_BACKSLASH 1
#define SHOW_UNSEEN 2

/*
 * Whether a character is not seen where it stands, or turns the direction of what follows: U+061C,
 * U+200B..U+200F, U+2028..U+202E, U+2066..U+2069 and U+FEFF. With them a text can look like
 * another one.
 */
static int is_unseen(const unsigned char *p, size_t length)
{
	if (length == 2)
		return p[0] == 0xd8 && p[1] == 0x9c;
	if (length != 3)
		return 0;
	if (p[0] == 0xe2 && p[1] == 0x80)
		return (p[2] >= 0x8b && p[2] <= 0x8f) || (p[2] >= 0xa8 && p[2] <= 0xae);
	return (p[0] == 0xe2 && p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9) ||
	       (p[0] == 0xef && p[1] == 0xbb && p[2] == 0xbf);
}

/* Length of the character at s if it may be printed as it is, else 0. */
static size_t plain_length(const char *s, size_t n, int how)
{
	const unsigned char *p = (const unsigned char *)s;
	size_t length = tl_utf8_length(s, n);

	if (length == 1 && (p[0] < 0x20 || p[0] == 0x7f))
		return 0;
	if (length == 1 && p[0] == '\\' && !(how & KEEP_BACKSLASH))
		return 0;
	/* U+0080..U+009F: terminals take some of them for commands. */
	if (length == 2 && p[0] == 0xc2 && p[1] < 0xa0)
		return 0;
	if (how & SHOW_UNSEEN && is_unseen(p, length))
		return 0;
	return length;
}

/* The bytes with an escape of their own, and its letters. */
static const char bytes[] = "\t\n\r\\", letters[] = "tnr\\";

static void put_byte(FILE *out, char c)
{
	const char *found = memchr(bytes, c, sizeof(bytes) - 1);

	if (found)
		fprintf(out, "\\%c", letters[found - bytes]);
	else
		fprintf(out, "\\x%02x", (unsigned char)c);
}

static void put_text(FILE *out, const char *s, size_t n, int how)
{
	size_t run = 0, length;

	while (run < n) {
		length = plain_length(s + run, n - run, how);
		if (length > 0) {
			run += length;
			continue;
		}
		fwrite(s, 1, run, out);
		put_byte(out, s[run]);
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

void tl_put_visible(FILE *out, const char *s, size_t n)
{
	put_text(out, s, n, SHOW_UNSEEN);
}

void tl_put_message(FILE *out, const char *s, size_t n)
{
	put_text(out, s, n, KEEP_BACKSLASH | SHOW_UNSEEN);
}

/* Decode the escape behind a backslash. Returns the bytes read, 0 if it is not known. */
static size_t read_escape(const char *s, size_t n, char *out)
{
	const char *found = n ? memchr(letters, s[0], sizeof(letters) - 1) : NULL;
	int high = n >= 3 && s[0] == 'x' ? tl_hex_digit(s[1]) : -1;
	int low = high >= 0 ? tl_hex_digit(s[2]) : -1;

	if (!found && low < 0)
		return 0;
	*out = found ? bytes[found - letters] : (char)(high << 4 | low);
	return found ? 1 : 3;
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
