/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "query/qr_words.h"

#include "common/tl_utf8.h"
#include "input/in_room.h"

#include <stdlib.h>
#include <string.h>

#define MOST_WORD 80

/* With more words than this that differ all between the first and the last one is taken to. */
#define MOST_EDITS 1000

/* Words that are shown on each side of a difference, of one, and places in all. */
#define AROUND 12
#define OF_ONE 40
#define MOST_PLACES 40

struct word {
	const char *text;
	uint32_t size;
	uint8_t has_blank; /* before it */
	uint8_t differs;
};

struct words {
	struct word *word;
	struct in_room room;
	size_t n;
};

/* ---- words ---- */

static int is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Whether a character is of a script without blanks: Thai, Lao, Burmese, Khmer, and from the
   radicals of Han on. */
static int stands_alone(const char *s, size_t length)
{
	const unsigned char *p = (const unsigned char *)s;
	unsigned c;

	if (length < 3)
		return 0;
	c = length == 3 ? (p[0] & 0xfu) << 12 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu) : 0x10000;
	return (c >= 0xe00 && c < 0xf00) || (c >= 0x1000 && c < 0x10a0) ||
	       (c >= 0x1780 && c < 0x1800) || (c >= 0x2e80 && c < 0xac00) || c >= 0x10000;
}

static size_t word_size(const char *s, size_t n)
{
	size_t at = 0;

	while (at < n && !is_blank(s[at])) {
		size_t length = tl_utf8_length(s + at, n - at);
		int is_alone = stands_alone(s + at, length);

		if (at && (is_alone || at + length > MOST_WORD))
			return at;
		at += length ? length : 1;
		if (is_alone)
			return at;
	}
	return at;
}

static int split(const char *s, size_t n, struct words *words)
{
	size_t at = 0;

	while (at < n) {
		struct word word = { .has_blank = at == 0 };

		for (; at < n && is_blank(s[at]); at++)
			word.has_blank = 1;
		word.text = s + at;
		word.size = (uint32_t)word_size(s + at, n - at);
		if (!word.size)
			break;
		at += word.size;
		if (in_room_have(&words->room, (words->n + 1) * sizeof(word)))
			return -1;
		words->word = words->room.bytes;
		words->word[words->n++] = word;
	}
	return 0;
}

static int is_same(const struct word *a, const struct word *b)
{
	return a->size == b->size && memcmp(a->text, b->text, a->size) == 0;
}

/* ---- the shortest way ---- */

/* Diagonals -MOST_EDITS - 1 to MOST_EDITS + 1. */
#define MIDDLE (MOST_EDITS + 1)
#define DIAGONALS (2 * MOST_EDITS + 3)

/* How far each diagonal is reached with d edits, for each d: those from -d to d. */
struct way {
	int32_t far[DIAGONALS];
	struct in_room kept;
};

static int32_t *kept_at(struct way *way, int d)
{
	return (int32_t *)way->kept.bytes + (size_t)d * (size_t)d;
}

/* Whether diagonal k is reached with d edits from above, by a word of b, and not from the left. */
static int is_from_above(const int32_t *far, int k, int d)
{
	return k == -d || (k != d && far[k - 1] < far[k + 1]);
}

/* Mark the words on the way back from the end. */
static void mark(struct way *way, struct word *a, struct word *b, int32_t x, int32_t y, int d)
{
	for (; d > 0; d--) {
		const int32_t *far = kept_at(way, d - 1) + (d - 1);
		int k = x - y, from;

		/* Beyond the ends of what was reached before nothing is. */
		int32_t left = k - 1 >= -(d - 1) && k - 1 <= d - 1 ? far[k - 1] : -1;
		int32_t above = k + 1 >= -(d - 1) && k + 1 <= d - 1 ? far[k + 1] : -1;

		from = k == -d || (k != d && left < above) ? k + 1 : k - 1;
		x = far[from];
		y = x - from;
		if (from == k + 1)
			b[y].differs = 1;
		else
			a[x].differs = 1;
	}
}

/* Mark what differs. Returns 1 if that is too much, -1 when memory is short. */
static int find_way(struct way *way, struct word *a, int32_t n, struct word *b, int32_t m)
{
	int32_t *far = way->far + MIDDLE;

	far[1] = 0;
	for (int d = 0; d <= MOST_EDITS; d++) {
		for (int k = -d; k <= d; k += 2) {
			int32_t x = is_from_above(far, k, d) ? far[k + 1] : far[k - 1] + 1;
			int32_t y = x - k;

			while (x < n && y < m && y >= 0 && is_same(&a[x], &b[y])) {
				x++;
				y++;
			}
			far[k] = x;
			if (x >= n && y >= m) {
				mark(way, a, b, n, m, d);
				return 0;
			}
		}
		if (in_room_have(&way->kept, ((size_t)d + 1) * ((size_t)d + 1) * sizeof(*far)))
			return -1;
		memcpy(kept_at(way, d), far - d, (2 * (size_t)d + 1) * sizeof(*far));
	}
	return 1;
}

/* Only what is between the first word that differs and the last one is looked at. */
static int compare(struct words *a, struct words *b, struct qr_difference *difference)
{
	size_t first = 0, n = a->n, m = b->n;
	struct way *way;
	int rc;

	while (first < n && first < m && is_same(&a->word[first], &b->word[first]))
		first++;
	while (n > first && m > first && is_same(&a->word[n - 1], &b->word[m - 1])) {
		n--;
		m--;
	}
	if (n == first && m == first)
		return 0;
	way = calloc(1, sizeof(*way));
	if (!way)
		return -1;
	rc = find_way(way, a->word + first, (int32_t)(n - first), b->word + first,
		      (int32_t)(m - first));
	free(way->kept.bytes);
	free(way);
	difference->is_rough = rc > 0;
	for (size_t i = first; rc > 0 && i < n; i++)
		a->word[i].differs = 1;
	for (size_t i = first; rc > 0 && i < m; i++)
		b->word[i].differs = 1;
	return rc < 0 ? -1 : 0;
}

/* ---- showing ---- */

struct showing {
	void (*show)(void *ctx, const struct qr_shown *shown);
	void *ctx;
};

static void show_words(const struct showing *to, enum qr_whose whose, const struct word *word,
		       size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct qr_shown shown = { whose, word[i].text, word[i].size, 0,
						word[i].has_blank, i == 0, i + 1 == n };

		to->show(to->ctx, &shown);
	}
}

static void show_gap(const struct showing *to, size_t n)
{
	const struct qr_shown shown = { .whose = QR_GAP, .n = n, .has_blank = 1 };

	to->show(to->ctx, &shown);
}

/* Words of both, before the first place, between two or after the last one. */
static void show_both(const struct showing *to, const struct word *word, size_t n, int is_first,
		      int is_last)
{
	size_t before = is_first ? 0 : AROUND, after = is_last ? 0 : AROUND;

	if (is_first && is_last)
		before = 2 * AROUND;
	if (n <= before + after + 1) {
		show_words(to, QR_BOTH, word, n);
		return;
	}
	show_words(to, QR_BOTH, word, before);
	show_gap(to, n - before - after);
	show_words(to, QR_BOTH, word + n - after, after);
}

static void show_differing(const struct showing *to, enum qr_whose whose, const struct word *word,
			   size_t n)
{
	show_words(to, whose, word, n > OF_ONE ? OF_ONE : n);
	if (n > OF_ONE)
		show_gap(to, n - OF_ONE);
}

static size_t run_of(const struct words *words, size_t at, int differs)
{
	size_t n = 0;

	while (at + n < words->n && words->word[at + n].differs == differs)
		n++;
	return n;
}

static void show_all(const struct showing *to, const struct words *a, const struct words *b,
		     struct qr_difference *difference)
{
	size_t i = 0, j = 0;

	while (i < a->n || j < b->n) {
		size_t both = run_of(b, j, 0), old, new;

		/* As long as neither has words of its own. */
		if (run_of(a, i, 0) < both)
			both = run_of(a, i, 0);
		old = run_of(a, i + both, 1);
		new = run_of(b, j + both, 1);
		if (difference->places < MOST_PLACES)
			show_both(to, b->word + j, both, j == 0, !old && !new);
		i += both + old;
		j += both + new;
		if (!old && !new)
			break;
		if (difference->places++ >= MOST_PLACES)
			continue;
		show_differing(to, QR_OLD, a->word + i - old, old);
		show_differing(to, QR_NEW, b->word + j - new, new);
	}
	if (difference->places > MOST_PLACES) {
		difference->hidden = difference->places - MOST_PLACES;
		show_gap(to, 0);
	}
}

int qr_words_show(const char *old_text, size_t old_size, const char *new_text, size_t new_size,
		  void (*show)(void *ctx, const struct qr_shown *shown), void *ctx,
		  struct qr_difference *difference)
{
	const struct showing to = { show, ctx };
	struct words a = { 0 }, b = { 0 };
	int rc;

	*difference = (struct qr_difference){ 0 };
	rc = split(old_text, old_size, &a);
	if (!rc)
		rc = split(new_text, new_size, &b);
	if (!rc)
		rc = compare(&a, &b, difference);
	if (!rc)
		show_all(&to, &a, &b, difference);
	free(a.room.bytes);
	free(b.room.bytes);
	return rc;
}
