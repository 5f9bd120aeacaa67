/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/* The least hashes of runs of five words, against those of each run by itself. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simidx_text.h>

#include "support/sxt.h"
#include "support/sxt_text.h"

#define MOST_WORDS 400
#define RUN 5

static simidx_text *text;
static sxt_rng rng;
static char word[MOST_WORDS][16];
static char written[MOST_WORDS * 16];

static void set_up(void)
{
	simidx_text_options options = SIMIDX_TEXT_OPTIONS_INIT;

	rng.state = 37;
	ck_assert_sx(simidx_text_open(&options, &text, &sxt_err), SIMIDX_OK);
}

static void tear_down(void)
{
	simidx_text_close(text);
}

/* Words [from, to). */
static simidx_sketch sketch_of(size_t from, size_t to)
{
	written[0] = 0;
	for (size_t i = from; i < to; i++) {
		strcat(written, word[i]);
		strcat(written, i % 7 ? " " : ", ");
	}
	return sxt_sketch_of_text(text, written, strlen(written));
}

static void make_words(size_t n, unsigned vocabulary)
{
	static const char *const endings[] = { "", "E", "\u00fc", "\u0436", "7" };

	for (size_t i = 0; i < n; i++) {
		unsigned number = (unsigned)sxt_rng_below(&rng, vocabulary);

		snprintf(word[i], sizeof(word[i]), "w%u%s", number, endings[number % 5]);
	}
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Those of all runs, each as a text of five words: ascending, each once. */
static size_t each_run(size_t n_words, uint64_t *hash)
{
	size_t n = 0, once = 0;

	for (size_t i = 0; i + RUN <= n_words; i++) {
		simidx_sketch run = sketch_of(i, i + RUN);

		sxt_must_eq(run.n_least, 1);
		hash[n++] = run.least[0];
	}
	if (n)
		qsort(hash, n, sizeof(*hash), compare);
	for (size_t i = 0; i < n; i++)
		if (!i || hash[i] != hash[i - 1])
			hash[once++] = hash[i];
	return once;
}

static void check(size_t n_words)
{
	static uint64_t hash[MOST_WORDS];
	size_t n = each_run(n_words, hash);
	simidx_sketch all = sketch_of(0, n_words);

	n = n < SIMIDX_SKETCH_MOST_LEAST ? n : SIMIDX_SKETCH_MOST_LEAST;
	ck_assert_uint_eq(all.n_least, n);
	for (size_t i = 0; i < SIMIDX_SKETCH_MOST_LEAST; i++)
		ck_assert_uint_eq(all.least[i], i < n ? hash[i] : 0);
	ck_assert(all.flags & SIMIDX_SKETCH_LEAST);
}

START_TEST(test_all_lengths)
{
	for (size_t n = 0; n <= 50; n++) {
		make_words(n, 1000);
		check(n);
	}
	make_words(MOST_WORDS, 1000);
	check(MOST_WORDS);
}
END_TEST

START_TEST(test_runs_that_repeat)
{
	for (unsigned vocabulary = 1; vocabulary <= 4; vocabulary++) {
		make_words(MOST_WORDS, vocabulary);
		check(MOST_WORDS);
	}
}
END_TEST

/* Words of more than one token, as shingles have them. */
START_TEST(test_words_of_several_tokens)
{
	static const char *const alike[] = {
		"a b c 3 14 d x1 y",
		"a_b c 3.14 d_x1'y",
		"a'b_c 3_14.d.x1_y",
		"_a_b__c 3,14 D_X1_y_",
	};
	simidx_sketch first = sxt_sketch_of_text(text, alike[0], strlen(alike[0]));

	ck_assert_uint_eq(first.n_least, 4);
	for (size_t i = 1; i < sizeof(alike) / sizeof(*alike); i++) {
		simidx_sketch other = sxt_sketch_of_text(text, alike[i], strlen(alike[i]));

		ck_assert_uint_lt(other.n_tokens, first.n_tokens);
		ck_assert_uint_eq(other.n_least, first.n_least);
		ck_assert(!memcmp(other.least, first.least, sizeof(first.least)));
	}
}
END_TEST

/* Letters of scripts without spaces between words are tokens by themselves, with their marks. */
START_TEST(test_scripts_without_spaces)
{
	static const char utf8[] = "\u30c7\u30fc\u30bf\u6771\u4eac ab \u0e20\u0e32\u0e29\u0e32"
				   "\u0e44\u0e17\u0e22\u0e17\u0e35\u0e48 na\u00efve-\u0436";
	static const char *const token[] = { "\u30c7", "\u30fc", "\u30bf", "\u6771", "\u4eac",
					     "ab", "\u0e20", "\u0e32", "\u0e29", "\u0e32",
					     "\u0e44", "\u0e17", "\u0e22", "\u0e17\u0e35\u0e48",
					     "na\u00efve", "\u0436" };
	enum { N = sizeof(token) / sizeof(*token) };
	simidx_sketch all = sxt_sketch_of_text(text, utf8, strlen(utf8));

	ck_assert_uint_eq(all.n_least, N - RUN + 1);
	for (size_t i = 0; i + RUN <= N; i++) {
		simidx_sketch run;
		size_t k = 0;

		written[0] = 0;
		for (size_t t = i; t < i + RUN; t++) {
			strcat(written, token[t]);
			strcat(written, ", ");
		}
		run = sxt_sketch_of_text(text, written, strlen(written));
		ck_assert_uint_eq(run.n_least, 1);
		while (k < all.n_least && all.least[k] != run.least[0])
			k++;
		ck_assert_uint_lt(k, all.n_least);
	}
}
END_TEST

/* A token that is longer than a stretch of words mostly is. */
START_TEST(test_long_words)
{
	simidx_sketch one, other;
	size_t n = 0;

	for (; n < 2000; n += 2)
		memcpy(written + n, "\u00e9", 2);
	strcpy(written + n, " a b c d e f g h");
	one = sxt_sketch_of_text(text, written, strlen(written));
	written[1001] = (char)0xa8;
	other = sxt_sketch_of_text(text, written, strlen(written));
	/* One token, as shingles have it, in the first of five runs. */
	ck_assert_uint_eq(one.n_least, 5);
	ck_assert_uint_eq(other.n_least, 5);
	ck_assert(memcmp(one.least, other.least, sizeof(one.least)) != 0);
}
END_TEST

/* In several walks, of which each counts a part of the features. */
START_TEST(test_in_parts)
{
	size_t size = 0, most = 40 * MOST_WORDS * sizeof(word[0]);
	char *utf8 = sxt_alloc(most);
	simidx_sketch whole, parts;

	while (size + 16 < most)
		size += (size_t)sprintf(utf8 + size, "w%u ",
					(unsigned)sxt_rng_below(&rng, 1000000));
	whole = sxt_sketch_of_text(text, utf8, size);
	simidx_text_limit(text, 1);
	parts = sxt_sketch_of_text(text, utf8, size);
	sxt_assert_sketch(&parts, &whole, "parts");
	ck_assert_uint_eq(parts.n_least, SIMIDX_SKETCH_MOST_LEAST);
	free(utf8);
}
END_TEST

/* A fingerprint without, an extractor without runs, and no second fingerprint. */
START_TEST(test_only_where_asked_for)
{
	static const char utf8[] = "one two three four five six";
	simidx_text_options options = SIMIDX_TEXT_OPTIONS_INIT;
	simidx_sketch sketch = SIMIDX_SKETCH_INIT;
	simidx_text *other;

	ck_assert_sx(simidx_text_fingerprint(text, utf8, strlen(utf8), SXT_SKETCH_ALL, &sketch,
					     &sxt_err),
		     SIMIDX_OK);
	ck_assert(sketch.n_least == 0 && !(sketch.flags & SIMIDX_SKETCH_LEAST));
	ck_assert_sx(simidx_text_fingerprint(text, utf8, strlen(utf8), SIMIDX_SKETCH_LEAST,
					     &sketch, &sxt_err),
		     SIMIDX_OK);
	ck_assert(sketch.n_least == 0 && !(sketch.flags & SIMIDX_SKETCH_LEAST));
	options.extractor = "words1";
	ck_assert_sx(simidx_text_open(&options, &other, &sxt_err), SIMIDX_OK);
	sketch = sxt_sketch_of_text(other, utf8, strlen(utf8));
	ck_assert(sketch.n_least == 0 && !(sketch.flags & SIMIDX_SKETCH_LEAST));
	simidx_text_close(other);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_all_lengths, 0, 1 },
	{ &test_runs_that_repeat, 0, 1 },
	{ &test_words_of_several_tokens, 0, 1 },
	{ &test_scripts_without_spaces, 0, 1 },
	{ &test_long_words, 0, 1 },
	{ &test_in_parts, 0, 1 },
	{ &test_only_where_asked_for, 0, 1 },
};

SXT_SUITE(text_least, set_up, tear_down);
