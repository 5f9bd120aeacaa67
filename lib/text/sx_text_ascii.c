/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The rules are those of UAX #29 as far as they can apply within ASCII: WB5 to WB13b. All others
 * separate.
 */

#include "text/sx_text_ascii.h"

#include <pthread.h>
#include <string.h>

#define N_KINDS 32 /* values that SX_ASCII_ bits have together */
#define ROW 4      /* characters that are compared together */

/* MID_ bits stand this far above the bits of those that they stand between. */
#define MID_SHIFT 3

/* ------------------------------------------------------------------------------------------
 * Words
 */

/** Whether a character of kind `mid` belongs to the word of its two neighbours. */
static int joins(unsigned before, unsigned mid, unsigned after)
{
	return (mid >> MID_SHIFT & before & after) != 0;
}

static char lower(uint8_t c)
{
	return (char)(c + ((unsigned)c - 'A' < 26) * ('a' - 'A'));
}

size_t sx_ascii_word(const sx_ascii *ascii, const uint8_t *text, size_t *pos, size_t end,
		     char *out)
{
	const uint8_t *kind = ascii->kind;
	size_t i = *pos, size;
	unsigned now, before, seen;

	do {
		while (i < end && !(kind[text[i]] & SX_ASCII_WORD))
			i++;
		size = 0;
		seen = before = 0;
		for (; i < end; i++) {
			now = kind[text[i]];
			if (!(now & SX_ASCII_WORD) &&
			    (i + 1 == end || !joins(before, now, kind[text[i + 1]])))
				break;
			out[size++] = lower(text[i]);
			seen |= now;
			before = now;
		}
		/* One joiner alone is no word. */
	} while (size == 1 && seen == SX_ASCII_JOINER);
	*pos = i;
	return size;
}

/* ------------------------------------------------------------------------------------------
 * Islands
 */

/** The first byte from pos on that is not ASCII. */
static size_t skip_ascii(const uint8_t *utf8, size_t pos, size_t size)
{
	uint64_t eight;

	for (; size - pos >= sizeof(eight); pos += sizeof(eight)) {
		memcpy(&eight, utf8 + pos, sizeof(eight));
		if (eight & UINT64_C(0x8080808080808080))
			break;
	}
	while (pos < size && utf8[pos] < 0x80)
		pos++;
	return pos;
}

size_t sx_ascii_island(const uint8_t *utf8, size_t pos, size_t size, size_t *end)
{
	size_t first = skip_ascii(utf8, pos, size), i = first;

	*end = size;
	if (first == size)
		return size;
	/*
	 * A mark on the space would make it part of the island. A space between spaces is no
	 * word boundary, but there are no words on either side.
	 */
	while (i > pos && utf8[i - 1] != '\n' && utf8[i] != ' ')
		i--;
	for (; first < size; first++) {
		if (utf8[first] == '\n' ||
		    (utf8[first] == ' ' && first + 1 < size && utf8[first + 1] < 0x80)) {
			*end = first + 1;
			break;
		}
	}
	return i;
}

/* ------------------------------------------------------------------------------------------
 * Learning
 */

/**
 * The rule status of n <= ROW characters of ASCII, if they are one segment: 100 and more for
 * words. Else -1.
 */
static int32_t status_of(UBreakIterator *breaks, const char *ascii, int32_t n,
			 UErrorCode *status)
{
	UChar units[ROW];
	int32_t i;

	for (i = 0; i < n; i++)
		units[i] = (UChar)ascii[i];
	ubrk_setText(breaks, units, n, status);
	if (U_FAILURE(*status) || ubrk_next(breaks) != n)
		return -1;
	return ubrk_getRuleStatus(breaks);
}

/** Whether c between two others is in one word with them. */
static int is_joined(UBreakIterator *breaks, char before, char c, char after,
		     UErrorCode *status)
{
	const char row[3] = { before, c, after };

	return status_of(breaks, row, 3, status) >= UBRK_WORD_NONE_LIMIT;
}

static unsigned learn_kind(UBreakIterator *breaks, char c, UErrorCode *status)
{
	int32_t alone = status_of(breaks, &c, 1, status);
	unsigned kind = 0;

	if (alone >= UBRK_WORD_NUMBER_LIMIT)
		return SX_ASCII_LETTER;
	if (alone >= UBRK_WORD_NONE_LIMIT)
		return SX_ASCII_DIGIT;
	if (is_joined(breaks, 'a', c, '1', status))
		return SX_ASCII_JOINER;
	if (is_joined(breaks, 'a', c, 'a', status))
		kind |= SX_ASCII_MID_LETTER;
	if (is_joined(breaks, '1', c, '1', status))
		kind |= SX_ASCII_MID_DIGIT;
	return kind;
}

/** Whether both find the same words in text[0, n). */
static int is_same(const sx_ascii *ascii, UBreakIterator *breaks, const char *text, int32_t n,
		   UErrorCode *status)
{
	const uint8_t *bytes = (const uint8_t *)text;
	size_t pos = 0, size = 0;
	int32_t start = 0, next;
	UChar units[ROW];
	char word[ROW];

	for (next = 0; next < n; next++)
		units[next] = (UChar)text[next];
	ubrk_setText(breaks, units, n, status);
	if (U_FAILURE(*status))
		return 0;
	for (; (next = ubrk_next(breaks)) != UBRK_DONE; start = next) {
		if (ubrk_getRuleStatus(breaks) < UBRK_WORD_NONE_LIMIT)
			continue;
		size = sx_ascii_word(ascii, bytes, &pos, (size_t)n, word);
		if (pos != (size_t)next || size != (size_t)(next - start))
			return 0;
	}
	return !sx_ascii_word(ascii, bytes, &pos, (size_t)n, word);
}

/** A character of every kind that there is. Returns how many. */
static size_t choose(const sx_ascii *ascii, char chosen[N_KINDS])
{
	uint8_t is_known[N_KINDS] = { 0 };
	size_t n = 0;
	unsigned c;

	/* From the space on, which stands for what separates. */
	for (c = ' '; c < 128; c++) {
		if (is_known[ascii->kind[c]])
			continue;
		is_known[ascii->kind[c]] = 1;
		chosen[n++] = (char)c;
	}
	return n;
}

int sx_ascii_check(const sx_ascii *ascii, UBreakIterator *breaks, UErrorCode *status)
{
	char chosen[N_KINDS], row[ROW];
	size_t n = choose(ascii, chosen), n_rows = n * n * n * n, i, j, rest;

	for (i = 0; i < n_rows; i++) {
		for (j = 0, rest = i; j < ROW; j++, rest /= n)
			row[j] = chosen[rest % n];
		if (!is_same(ascii, breaks, row, ROW, status))
			return 0;
	}
	return 1;
}

int sx_ascii_learn(sx_ascii *ascii, UBreakIterator *breaks, UErrorCode *status)
{
	unsigned c;

	memset(ascii, 0, sizeof(*ascii));
	for (c = 0; c < 128; c++)
		ascii->kind[c] = (uint8_t)learn_kind(breaks, (char)c, status);
	return U_SUCCESS(*status) && sx_ascii_check(ascii, breaks, status);
}

static sx_ascii shared;
static int is_usable;

static void learn_once(void)
{
	UErrorCode status = U_ZERO_ERROR;
	UBreakIterator *breaks = ubrk_open(UBRK_WORD, "", NULL, 0, &status);

	if (U_FAILURE(status))
		return;
	is_usable = sx_ascii_learn(&shared, breaks, &status);
	ubrk_close(breaks);
}

const sx_ascii *sx_ascii_shared(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, learn_once);
	return is_usable ? &shared : NULL;
}
