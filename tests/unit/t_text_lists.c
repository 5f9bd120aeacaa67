/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What becomes of words by lists and stems together (step 3 of simidx_text.h): neighbours that
 * spell a word of a list are one token, stop words are left out, and what remains is stemmed. What
 * is expected was worked out by hand.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/sxt.h"
#include "support/sxt_text.h"

#define MOST 64

static const struct {
	const char *extractor;
	unsigned grams;
	const char *words, *stop, *stop_words, *stem;
	const char *text;
	const char *features; /* in the order of bytes, with their counts; pairs with _ */
} cases[] = {
	/* Words as they are given are left out, not those that stems are equal to. */
	{ "words1", 0, NULL, "en", NULL, "english", "The runners were running", "run:1 runner:1" },
	{ "words1", 0, NULL, "en", NULL, "english", "having it all", "have:1" },
	{ "words1", 0, NULL, NULL, "running", "english", "run running runs", "run:2" },
	{ "words1", 0, NULL, NULL, "run\n", "english", "run running runs", "run:2" },
	{ "words1", 0, NULL, NULL, "run\n", NULL, "run running runs", "running:1 runs:1" },
	/* Both lists of stop words count, in whatever case their words are. */
	{ "words1", 0, NULL, "en", "HOUSE\r\n\nCat \t\n", NULL, "the cat of a house house dog",
	  "dog:1" },
	/* Pairs reach over what was left out. */
	{ "words12", 0, NULL, NULL, "and", NULL, "cat and dog", "cat:1 cat_dog:1 dog:1" },
	/* The longest word of the list comes first, and it ends where the word ends. */
	{ "han12", 1, "学习机\n机器学习\n机器\n", NULL, NULL, NULL, "学习机器学习机", "器:1 学习机:2" },
	{ "han12", 1, "学习机\n机器学习\n机器\n", NULL, NULL, NULL, "机器学习机", "机:1 机器学习:1" },
	{ "han12", 1, "学习机\n机器学习\n机器\n", NULL, NULL, NULL, "机器学机器", "学:1 机器:2" },
	{ "han12", 1, "学习机器\n习机\n", NULL, NULL, NULL, "学习机学习机器", "习机:1 学:1 学习机器:1" },
	/* What follows a blank or a tab is passed over. */
	{ "han12", 1, "机器 1000 n\n学习\t5\n", NULL, NULL, NULL, "机器学习", "学习:1 机器:1" },
	/* A joined word is left out as one; a part of it that is a stop word is not. */
	{ "han12", 0, "机器\n", NULL, "机器\n", NULL, "学机器习", "习:1 学:1 学_习:1" },
	{ "han12", 0, "机器\n", NULL, "机\n", NULL, "学机器机", "学:1 学_机器:1 机器:1" },
};

struct found {
	char feature[MOST][64];
	size_t n;
};

static int take(void *ctx, const simidx_feature *feature, const char *bytes, size_t n_bytes)
{
	struct found *found = ctx;
	char *to = found->feature[found->n++];

	ck_assert_uint_lt(n_bytes, 40);
	ck_assert_uint_le(found->n, MOST);
	ck_assert_uint_eq(feature->weight & 0xffff, 0);
	sprintf(to, "%.*s:%u", (int)n_bytes, bytes, feature->weight >> 16);
	for (; *to; to++)
		if (*to == 0x1f)
			*to = '_';
	return 0;
}

static int compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

START_TEST(test_lists_and_stems)
{
	simidx_text_options o = SIMIDX_TEXT_OPTIONS_INIT;
	struct found found = { .n = 0 };
	char all[MOST * 64] = "";
	simidx_text *text;

	if (cases[_i].stem && !strstr(simidx_text_build_info(), "libstemmer"))
		sxt_skip("built without libstemmer");
	o.extractor = cases[_i].extractor;
	o.grams = cases[_i].grams;
	o.weights = "raw";
	o.words = cases[_i].words;
	o.words_size = o.words ? strlen(o.words) : 0;
	o.stop = cases[_i].stop;
	o.stop_words = cases[_i].stop_words;
	o.stop_words_size = o.stop_words ? strlen(o.stop_words) : 0;
	o.stem = cases[_i].stem;
	ck_assert_sx(simidx_text_open(&o, &text, &sxt_err), SIMIDX_OK);
	ck_assert_sx(simidx_text_each_feature(text, cases[_i].text, strlen(cases[_i].text), take,
					      &found, &sxt_err),
		     SIMIDX_OK);
	qsort(found.feature, found.n, sizeof(found.feature[0]), compare);
	for (size_t i = 0; i < found.n; i++) {
		strcat(all, i ? " " : "");
		strcat(all, found.feature[i]);
	}
	ck_assert_str_eq(all, cases[_i].features);
	simidx_text_close(text);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_lists_and_stems, 0, sizeof(cases) / sizeof(cases[0]) },
};

SXT_SUITE(text_lists, NULL, NULL);
