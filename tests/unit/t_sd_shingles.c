/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dedup/sd_shingles.h"
#include "support/sxt.h"

static struct sd_shingler *shingler;

static void open_shingler(void)
{
	sxt_must_ok(sd_shingler_open(&shingler, &sxt_err));
}

static void close_shingler(void)
{
	sd_shingler_close(shingler);
}

static size_t count(const char *text, size_t size)
{
	struct sd_shingles set = { 0 };
	size_t n;

	sxt_must_ok(sd_shingles_make(shingler, text, size, &set, &sxt_err));
	n = set.n;
	sd_shingles_free(&set);
	return n;
}

static double similarity(const char *a, const char *b)
{
	struct sd_shingles x = { 0 }, y = { 0 };
	double result;

	sxt_must_ok(sd_shingles_make(shingler, a, strlen(a), &x, &sxt_err));
	sxt_must_ok(sd_shingles_make(shingler, b, strlen(b), &y, &sxt_err));
	result = sd_shingles_jaccard(&x, &y);
	sxt_must(sd_shingles_jaccard(&y, &x) == result);
	sd_shingles_free(&x);
	sd_shingles_free(&y);
	return result;
}

START_TEST(test_number_of_shingles)
{
	static const struct {
		const char *text;
		size_t n;
	} texts[] = {
		{ "", 0 },
		{ " .,;\n", 0 },
		{ "one", 1 },
		{ "one two", 1 },
		{ "one two three four", 1 },
		{ "one two three four five", 1 },
		{ "one, two. Three-four (five) six", 2 },
		{ "one two three four five six seven", 3 },
		{ "a a a a", 1 },
		{ "a a a a a a a a", 1 },
		{ "a b a b a b a b", 2 },
		/* Five Han characters, six, and four with a word between them. */
		{ "\xe5\xa4\xa9\xe5\x9c\xb0\xe7\x8e\x84\xe9\xbb\x84\xe5\xae\x87", 1 },
		{ "\xe5\xa4\xa9\xe5\x9c\xb0\xe7\x8e\x84\xe9\xbb\x84\xe5\xae\x87\xe5\xae\x99", 2 },
		{ "\xe5\xa4\xa9\xe5\x9c\xb0" "abc" "\xe7\x8e\x84\xe9\xbb\x84", 1 },
		/* So are letters of other scripts without spaces, with their marks: Thai, with a
		 * vowel and a tone on the first of six; kana, with the mark of long vowels; Lao,
		 * Khmer and Burmese, each with a vowel. Words and digits beside them are whole. */
		{ "\u0e17\u0e35\u0e48\u0e19\u0e01\u0e02\u0e04\u0e07", 2 },
		{ "\u3072\u3089\u304c\u306a", 1 },
		{ "\u30b3\u30fc\u30d2\u30fc\u3092\u98f2\u3080", 3 },
		{ "\u0e81\u0eb4\u0e82\u0e84\u0e87\u0e88\u0e8a", 2 },
		{ "\u1780\u17b7\u1781\u1782\u1783\u1784\u1785", 2 },
		{ "\u1000\u102d\u1001\u1002\u1003\u1004\u1005", 2 },
		{ "\u306e" "PC42\u3067" "abc \u0e51\u0e52 xyz", 2 },
		{ "\u0e17\u0e35\u0e48" "2 ab cd ef gh", 2 },
		/* Hangul has spaces; Cyrillic and Hindi too. */
		{ "\uc0ac\uc11c\uac00 \ub450 \ud3b8\uc9c0\ub97c \ub193\uace0 \ubcf4\ub2c8 "
		  "\ub0a0\uc9dc", 2 },
		{ "\u0434\u0432\u0430 \u0441\u043b\u043e\u0432\u0430", 1 },
		/* An invalid byte stands between two tokens, as any other sign. */
		{ "one\xfftwo\xc3 three four five six", 2 },
		{ "\xff\xfe\xfd", 0 },
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		ck_assert_msg(count(texts[i].text, strlen(texts[i].text)) == texts[i].n,
			      "\"%s\": not %zu", texts[i].text, texts[i].n);
	ck_assert_uint_eq(count(NULL, 0), 0);
	ck_assert_uint_eq(count("one\0two\0three four five six", 27), 2);
}
END_TEST

/* Texts of 204 letters of a script without spaces, one of which is another one in the second text:
 * 195 shingles are in both, 5 more in each. Spaces, which stand between sentences there, change
 * nothing. */
START_TEST(test_letter_of_an_unspaced_script)
{
	static const struct {
		unsigned first, n;
	} letters[] = {
		{ 0x0e01, 46 }, /* Thai */
		{ 0x1780, 35 }, /* Khmer */
		{ 0x1000, 39 }, /* Burmese */
		{ 0x3042, 40 }, /* Hiragana */
		{ 0x30a2, 40 }, /* Katakana */
		{ 0x4e00, 900 },
	};
	sxt_rng rng;

	sxt_rng_init(&rng, 2);
	for (size_t i = 0; i < sizeof(letters) / sizeof(letters[0]); i++) {
		char text[1024], other[1024], *at = text;
		size_t changed = 0;

		for (unsigned j = 0; j < 204; j++) {
			unsigned c = letters[i].first + (unsigned)sxt_rng_below(&rng, letters[i].n);

			if (j % 20 == 19)
				*at++ = ' ';
			if (j == 100)
				changed = (size_t)(at - text);
			*at++ = (char)(0xe0 | c >> 12);
			*at++ = (char)(0x80 | (c >> 6 & 0x3f));
			*at++ = (char)(0x80 | (c & 0x3f));
		}
		*at = 0;
		strcpy(other, text);
		memcpy(other + changed, text + (memcmp(text, text + changed, 3) ? 0 : 3), 3);
		ck_assert(memcmp(other, text, strlen(text)) != 0);
		ck_assert(similarity(text, other) == 195.0 / 205.0);
	}
}
END_TEST

START_TEST(test_similarity_by_hand)
{
	/* 4 shingles, of which all are among the 5 of the longer text. */
	ck_assert(similarity("a b c d e f g h", "a b c d e f g h i") == 0.8);
	ck_assert(similarity("a b c d e f g h", "a b c d e f g h") == 1.0);
	/* 2 in both, 2 in one, 1 in the other. */
	ck_assert(similarity("a b c d e f g h", "a b c d e f h") == 0.4);
	ck_assert(similarity("a b c d e", "b c d e a") == 0.0);
	ck_assert(similarity("a b c d", "a b c d") == 1.0);
	ck_assert(similarity("a b c d", "a b c") == 0.0);
	ck_assert(similarity("a b c d", "a b c d e") == 0.0);
	/* Tokens are not letters run together. */
	ck_assert(similarity("ab c", "a bc") == 0.0);
	/* Texts without tokens are near to nothing. */
	ck_assert(similarity("", "") == 0.0);
	ck_assert(similarity("...", "...") == 0.0);
	ck_assert(similarity("", "a") == 0.0);
	/* Case, full width and signs make no difference, stop words and endings do. */
	ck_assert(similarity("The Cats, of the HOUSE!", "the cats of the house") == 1.0);
	ck_assert(similarity("\xef\xbc\xa1\xef\xbc\xa2 one", "ab ONE") == 1.0);
	ck_assert(similarity("a cat", "cat") == 0.0);
	ck_assert(similarity("cats", "cat") == 0.0);
}
END_TEST

/* ---- against sets of strings ---- */

#define MAX_TOKENS 80
#define MAX_TEXT 2048

/* The forms of a token, all the same one. */
static const char *const vocabulary[][2] = {
	{ "a", "A" },        { "of", "OF" },      { "house", "House" },
	{ "x1", "X1" },      { "2026", "2026" },  { "stra\xc3\x9f" "e", "STRASSE" },
	{ "\xe5\xa4\xa9", "\xe5\xa4\xa9" },       { "\xe5\x9c\xb0", "\xe5\x9c\xb0" },
	{ "\xd0\xbc\xd0\xb8\xd1\x80", "\xd0\x9c\xd0\x98\xd0\xa0" },
};
#define N_VOCABULARY (sizeof(vocabulary) / sizeof(vocabulary[0]))

struct words {
	unsigned token[MAX_TOKENS];
	size_t n;
};

static void write_text(sxt_rng *rng, const struct words *words, char *text)
{
	static const char *const gaps[] = { " ", "\n", ", ", " - ", "\xff", "\xe3\x80\x82" };

	*text = '\0';
	for (size_t i = 0; i < words->n; i++) {
		strcat(text, vocabulary[words->token[i]][sxt_rng_below(rng, 2)]);
		strcat(text, gaps[sxt_rng_below(rng, sizeof(gaps) / sizeof(gaps[0]))]);
	}
}

/* Where shingle number `i` of a text begins is whether it was there before. */
static int equal_at(const struct words *a, size_t i, const struct words *b, size_t j, size_t length)
{
	return memcmp(a->token + i, b->token + j, length * sizeof(a->token[0])) == 0;
}

static size_t length_of(const struct words *words)
{
	return words->n < 5 ? words->n : 5;
}

static size_t starts_of(const struct words *words)
{
	return words->n == 0 ? 0 : words->n < 5 ? 1 : words->n - 4;
}

static int is_first(const struct words *words, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (equal_at(words, i, words, j, length_of(words)))
			return 0;
	return 1;
}

static double expected(const struct words *a, const struct words *b)
{
	size_t in_a = 0, in_b = 0, both = 0;

	for (size_t i = 0; i < starts_of(a); i++) {
		if (!is_first(a, i))
			continue;
		in_a++;
		for (size_t j = 0; j < starts_of(b); j++) {
			if (length_of(a) != length_of(b) || !equal_at(a, i, b, j, length_of(a)))
				continue;
			both++;
			break;
		}
	}
	for (size_t j = 0; j < starts_of(b); j++)
		in_b += is_first(b, j);
	return in_a && in_b ? (double)both / (double)(in_a + in_b - both) : 0;
}

/* A copy in which some tokens are others, and perhaps the end is missing. */
static void edit(sxt_rng *rng, const struct words *from, struct words *to)
{
	uint64_t rate = 1 + sxt_rng_below(rng, 30);

	*to = *from;
	for (size_t i = 0; i < to->n; i++)
		if (!sxt_rng_below(rng, rate))
			to->token[i] = (unsigned)sxt_rng_below(rng, N_VOCABULARY);
	if (to->n && !sxt_rng_below(rng, 3))
		to->n -= sxt_rng_below(rng, to->n < 4 ? to->n : 4);
}

START_TEST(test_similarity_equals_string_sets)
{
	struct sd_shingles x = { 0 }, y = { 0 };
	char text[MAX_TEXT];
	struct words a, b;
	size_t alike = 0;
	sxt_rng rng;

	sxt_rng_init(&rng, 1);
	for (int round = 0; round < 3000; round++) {
		a.n = sxt_rng_below(&rng, round % 3 ? MAX_TOKENS : 8);
		for (size_t i = 0; i < a.n; i++)
			a.token[i] = (unsigned)sxt_rng_below(&rng, N_VOCABULARY);
		edit(&rng, &a, &b);
		write_text(&rng, &a, text);
		sxt_must_ok(sd_shingles_make(shingler, text, strlen(text), &x, &sxt_err));
		write_text(&rng, &b, text);
		sxt_must_ok(sd_shingles_make(shingler, text, strlen(text), &y, &sxt_err));
		sxt_must(sd_shingles_jaccard(&x, &y) == expected(&a, &b));
		alike += expected(&a, &b) > 0.5 && expected(&a, &b) < 1;
	}
	/* Pairs in between were among them. */
	ck_assert_uint_gt(alike, 100);
	sd_shingles_free(&x);
	sd_shingles_free(&y);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_number_of_shingles, 0, 1 },
	{ &test_letter_of_an_unspaced_script, 0, 1 },
	{ &test_similarity_by_hand, 0, 1 },
	{ &test_similarity_equals_string_sets, 0, 1 },
};

SXT_SUITE(sd_shingles, open_shingler, close_shingler);
