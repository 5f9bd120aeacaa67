/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * words12: words, features, UTF-8, handles and profiles. Long texts are in t_text_long.c.
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/sxt.h"
#include "support/sxt_text.h"
#include "text/sx_text.h"
#include "text/sx_text_weight.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define TEXT(literal) literal, sizeof(literal) - 1

static simidx_text *text;

static void set_up(void)
{
	ck_assert_sx(simidx_text_open(NULL, &text, &sxt_err), SIMIDX_OK);
}

static void tear_down(void)
{
	simidx_text_close(text);
	text = NULL;
}

/* ------------------------------------------------------------------------------------------
 * Words and features
 */

START_TEST(test_features_by_hand)
{
	static const char rose[] = "A rose is a rose is a rose.";
	simidx_sketch got, want = SIMIDX_SKETCH_INIT;
	simidx_feature features[6], triples[3];

	/* Each once, though two of them are there twice. */
	sxt_run(&triples[0], "a\x1frose\x1fis", 9);
	sxt_run(&triples[1], "rose\x1fis\037a", 9);
	sxt_run(&triples[2], "is\037a\x1frose", 9);
	sxt_feature(&features[0], "a", 1, 3);
	sxt_feature(&features[1], "rose", 4, 3);
	sxt_feature(&features[2], "is", 2, 2);
	sxt_feature(&features[3], "a\x1frose", 6, 3);
	sxt_feature(&features[4], "rose\x1fis", 7, 2);
	sxt_feature(&features[5], "is\037a", 4, 2);
	ck_assert_uint_eq(features[0].weight, 113511); /* 1.7320508 * 65536 = 113511.68 */
	ck_assert_uint_eq(features[2].weight, 92681);  /* 1.4142136 * 65536 = 92681.90 */
	ck_assert_sx(simidx_sketch_make(features, 6, 64, SXT_SKETCH_ALL, &want, &sxt_err),
		     SIMIDX_OK);
	sxt_set_triples(&want, triples, 3);
	want.n_tokens = 8;
	want.flags |= SIMIDX_SKETCH_SHORT;
	got = sxt_sketch_of_text(text, rose, strlen(rose));
	sxt_assert_sketch(&got, &want, rose);
}
END_TEST

static const struct {
	const char *utf8;
	size_t size;
	const char *words;
} cases[] = {
	{ TEXT("The QUICK, brown fox"), "the|quick|brown|fox" },
	{ TEXT("can't stop; rock'n'roll"), "can't|stop|rock'n'roll" },
	{ TEXT("3.14 and 1,000: foo_bar"), "3.14|and|1,000|foo_bar" },
	{ TEXT("one\ntwo\r\nthree\ttwo"), "one|two|three|two" },
	/* full width, ligatures, compatibility characters */
	{ TEXT("ＡＢＣ　１２３，４５６．７"), "abc|123,456.7" },
	{ TEXT("ﬁne ﬂow ﬆ"), "fine|flow|st" },
	{ TEXT("Ⅻ ① x² ℡"), "xii|1|x2|tel" },
	{ TEXT("ｶﾞﾗｽ"), "ガラス" },
	/* case */
	{ TEXT("Straße STRASSE"), "strasse|strasse" },
	{ TEXT("ΣΊΣΥΦΟΣ σίσυφος"), "σίσυφοσ|σίσυφοσ" },
	{ TEXT("Привет ПРИВЕТ"), "привет|привет" },
	{ TEXT("\u0130"), "i\u0307" },
	/* combining marks: composed, and in canonical order */
	{ TEXT("cafe\u0301 caf\u00e9 \u212bngstro\u0308m"),
	  "caf\u00e9|caf\u00e9|\u00e5ngstr\u00f6m" },
	{ TEXT("q\u0307\u0323 q\u0323\u0307"), "q\u0323\u0307|q\u0323\u0307" },
	{ TEXT("\u1112\u1161\u11ab"), "\ud55c" },
	/* scripts without spaces between words */
	{ TEXT("我们喜欢音乐。"), "我们|喜欢|音乐" },
	{ TEXT("ภาษาไทย"), "ภาษา|ไทย" },
	{ TEXT("コンピューター"), "コンピューター" },
	{ TEXT("צה\"ל"), "צה\"ל" },
	/* what is no word: controls, emoji, signs; NUL is a control like any other */
	{ TEXT("a\0b\0\0c"), "a|b|c" },
	{ TEXT("a\037b \x7f c"), "a|b|c" },
	{ TEXT("a👍🏽b 👩‍👩‍👧 c++"), "a|b|c" },
	{ TEXT("\ufeffbom"), "bom" },
	/* invalid UTF-8 separates words as U+FFFD does */
	{ TEXT("caf\xe9 au\xc3lait \xf0\x9f\x91"), "caf|au|lait" },
	{ TEXT("x\xed\xa0\x80y\xc0\xafz"), "x|y|z" },
	/* beyond the BMP */
	{ TEXT("𝐀𝐁𝐂 𐐀𐐁"), "abc|𐐨𐐩" },
};

START_TEST(test_words_by_hand)
{
	simidx_sketch want = sxt_sketch_of_words(cases[_i].words, 64);
	simidx_sketch got = sxt_sketch_of_text(text, cases[_i].utf8, cases[_i].size);

	sxt_assert_sketch(&got, &want, cases[_i].words);
}
END_TEST

static const struct {
	const char *utf8;
	size_t size;
} empty[] = {
	{ NULL, 0 },
	{ TEXT("") },
	{ TEXT(" ") },
	{ TEXT("\r\n\n\n") },
	{ TEXT("!?... -- \"\" \u2026\u2014\u3002\uff01") },
	{ TEXT("\0\0\0") },
	{ TEXT("👩‍👩‍👧 🇫🇷 ©") },
	{ TEXT("\xff\xfe\x80") },
	{ TEXT("\u0301\u0301") },
};

START_TEST(test_texts_without_words)
{
	simidx_sketch got = sxt_sketch_of_text(text, empty[_i].utf8, empty[_i].size);

	ck_assert_uint_eq(got.fp, 0);
	ck_assert_uint_eq(got.fp2, 0);
	ck_assert_uint_eq(got.n_tokens, 0);
	ck_assert_uint_eq(got.n_features, 0);
	ck_assert_uint_eq(got.n_least, 0);
	ck_assert_uint_eq(got.flags, SXT_SKETCH_ALL | SIMIDX_SKETCH_LEAST | SIMIDX_SKETCH_TRIPLES |
				     SIMIDX_SKETCH_SHORT | SIMIDX_SKETCH_EMPTY);
}
END_TEST

START_TEST(test_short_flag)
{
	char words[200] = "";
	unsigned i;

	for (i = 0; i < 63; i++)
		strcat(words, "w ");
	ck_assert(sxt_sketch_of_text(text, words, strlen(words)).flags & SIMIDX_SKETCH_SHORT);
	strcat(words, "w");
	ck_assert(
		!(sxt_sketch_of_text(text, words, strlen(words)).flags & SIMIDX_SKETCH_SHORT));
}
END_TEST

START_TEST(test_fewer_bits)
{
	static const unsigned bits[] = { 16, 31, 32, 48, 64 };
	static const char utf8[] = "Narrow fingerprints are the low bits of the wide ones.";
	simidx_text_options options = SIMIDX_TEXT_OPTIONS_INIT;
	simidx_sketch wide, narrow, want;
	char profile[80];

	wide = sxt_sketch_of_text(text, utf8, strlen(utf8));
	tear_down();
	options.bits = bits[_i];
	options.extractor = "words12";
	ck_assert_sx(simidx_text_open(&options, &text, &sxt_err), SIMIDX_OK);
	narrow = sxt_sketch_of_text(text, utf8, strlen(utf8));
	want = sxt_sketch_of_words("narrow|fingerprints|are|the|low|bits|of|the|wide|ones",
				   bits[_i]);
	sxt_assert_sketch(&narrow, &want, "narrow");
	ck_assert_uint_eq(narrow.fp, wide.fp & (UINT64_MAX >> (64 - bits[_i])));
	ck_assert_uint_eq(narrow.fp2, wide.fp2);
	snprintf(profile, sizeof(profile),
		 "words12 v1 bits=%u grams=1,2 weights=sqrt hash=xxh3-64 seed=0 fp2=triples",
		 bits[_i]);
	ck_assert_str_eq(simidx_text_profile(text), profile);
}
END_TEST

static const struct {
	const char *before;
	int short_exact;
	uint64_t seed;
} few_words[] = {
	{ "", 0, 0 }, { "", 0, 1 }, { "first ", 0, 0 }, { "one of ", 1, 0 },
};

/* Of texts with one feature both fingerprints are as different as those of two texts. */
START_TEST(test_second_fingerprints_of_few_words)
{
	simidx_text_options options = SIMIDX_TEXT_OPTIONS_INIT;
	unsigned n = 1000, differ = 0;
	simidx_sketch sketch;
	char utf8[32];

	tear_down();
	options.short_exact = few_words[_i].short_exact;
	options.seed = few_words[_i].seed;
	ck_assert_sx(simidx_text_open(&options, &text, &sxt_err), SIMIDX_OK);
	for (unsigned i = 0; i < n; i++) {
		snprintf(utf8, sizeof(utf8), "%sw%u", few_words[_i].before, i);
		sketch = sxt_sketch_of_text(text, utf8, strlen(utf8));
		differ += simidx_distance(sketch.fp, sketch.fp2);
	}
	/* 32 bits of 64 on average; six standard deviations. */
	ck_assert_uint_gt(differ, n * 32 - 760);
	ck_assert_uint_lt(differ, n * 32 + 760);
}
END_TEST

START_TEST(test_sqrt_weight)
{
	sxt_rng rng;
	uint32_t count;
	unsigned i;

	sxt_rng_init(&rng, 700);
	for (count = 1; count <= 1000; count++)
		ck_assert_uint_eq(sx_sqrt_weight(count),
				  (uint32_t)floorl(sqrtl((long double)count) * 65536));
	for (i = 0; i < 10000; i++) {
		uint64_t root, square;

		count = i ? (uint32_t)(sxt_rng_u64(&rng) >> (32 + i % 32)) | 1 : UINT32_MAX;
		root = sx_sqrt_weight(count);
		square = (uint64_t)count << 32;
		ck_assert(root * root <= square);
		ck_assert(square - root * root <= 2 * root);
	}
}
END_TEST

START_TEST(test_similar_texts_are_near)
{
	char one[8192] = "", edited[8192] = "", other[8192] = "", word[16];
	simidx_sketch sketch[3];
	size_t edit, i;
	sxt_rng rng;

	sxt_rng_init(&rng, 701);
	edit = sxt_rng_below(&rng, 400);
	for (i = 0; i < 400; i++) {
		snprintf(word, sizeof(word), "w%u ", (unsigned)sxt_rng_below(&rng, 100000));
		strcat(one, word);
		strcat(edited, i == edit ? "replaced " : word);
		word[0] = 'u';
		strcat(other, word);
	}
	sketch[0] = sxt_sketch_of_text(text, one, strlen(one));
	sketch[1] = sxt_sketch_of_text(text, edited, strlen(edited));
	sketch[2] = sxt_sketch_of_text(text, other, strlen(other));
	/* One word of 400: about 2 bits. Nothing in common: 32 on average, deviation 4. */
	ck_assert_uint_le(simidx_distance(sketch[0].fp, sketch[1].fp), 10);
	ck_assert_uint_gt(simidx_distance(sketch[0].fp, sketch[2].fp), 10);
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * UTF-8
 */

/* The first four are the examples of the Unicode Standard, section 3.9, tables 3-8 to 3-11. */
static const struct {
	const char *bytes;
	size_t size;
	const char *want; /* valid UTF-8 */
} decodings[] = {
	{ TEXT("\xc0\xaf\xe0\x80\xbf\xf0\x81\x82\x41"),
	  "\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffdA" },
	{ TEXT("\xed\xa0\x80\xed\xbf\xbf\xed\xaf\x41"),
	  "\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffdA" },
	{ TEXT("\xf4\x91\x92\x93\xff\x41\x80\xbf\x42"),
	  "\ufffd\ufffd\ufffd\ufffd\ufffdA\ufffd\ufffdB" },
	{ TEXT("\xe1\x80\xe2\xf0\x91\x92\xf1\xbf\x41"), "\ufffd\ufffd\ufffd\ufffdA" },
	{ TEXT("\x61\xf1\x80\x80\xe1\x80\xc2\x62\x80\x63\x80\xbf\x64"),
	  "a\ufffd\ufffd\ufffdb\ufffdc\ufffd\ufffdd" },
	{ TEXT("\xc3"), "\ufffd" },
	{ TEXT("x\xe4\xb8"), "x\ufffd" },
	{ TEXT("x\xf0\x9f\x91"), "x\ufffd" },
	{ TEXT("\xf8\x88\x80\x80\x80"), "\ufffd\ufffd\ufffd\ufffd\ufffd" },
	{ TEXT("\xe4\xb8\n\xb8"), "\ufffd\n\ufffd" },
	{ TEXT("\xef\xbf\xbd\xef\xbf\xbf\xf4\x8f\xbf\xbf"),
	  "\ufffd\xef\xbf\xbf\xf4\x8f\xbf\xbf" },
};

START_TEST(test_bad_utf8_is_replaced)
{
	sx_units got = { NULL, 0, 0 }, want = { NULL, 0, 0 };

	ck_assert_sx(sx_decode(&got, (const uint8_t *)decodings[_i].bytes, decodings[_i].size,
			       &sxt_err),
		     SIMIDX_OK);
	ck_assert_sx(sx_decode(&want, (const uint8_t *)decodings[_i].want,
			       strlen(decodings[_i].want), &sxt_err),
		     SIMIDX_OK);
	ck_assert_uint_eq(got.n, want.n);
	ck_assert_mem_eq(got.at, want.at, got.n * sizeof(*got.at));
	free(got.at);
	free(want.at);
}
END_TEST

/** What lengths in a stretch are bounded by (SX_STRETCH_MAX_BYTES), for this ICU's Unicode. */
START_TEST(test_buffers_grow)
{
	sx_units units = { NULL, 0, 0 }, spare = { NULL, 0, 0 };
	char utf8[4];
	uint32_t c;
	size_t n;

	for (c = 0; c < 0x110000; c++) {
		if (c >= 0xd800 && c < 0xe000)
			continue;
		n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
		utf8[0] = (char)(n == 1 ? c : (0xf00u >> n) | c >> (6 * (n - 1)));
		utf8[1] = (char)(0x80 | (c >> (6 * (n > 1 ? n - 2 : 0)) & 0x3f));
		utf8[2] = (char)(0x80 | (c >> (6 * (n > 2 ? n - 3 : 0)) & 0x3f));
		utf8[3] = (char)(0x80 | (c & 0x3f));
		sxt_must(!sx_decode(&units, (const uint8_t *)utf8, n, &sxt_err));
		sxt_must_eq(units.n, (n == 4 ? 2 : 1));
		sxt_must(!sx_nfkc(&units, &spare, &sxt_err));
		sxt_must(!sx_fold(&units, &spare, &sxt_err));
		if (units.n > 6 * n)
			ck_abort_msg("U+%04X becomes %zu units", c, units.n);
	}
	free(units.at);
	free(spare.at);
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * Handles and profiles
 */

START_TEST(test_bad_arguments_are_refused)
{
	simidx_text_options options = SIMIDX_TEXT_OPTIONS_INIT;
	simidx_sketch sketch = SIMIDX_SKETCH_INIT;
	simidx_text *none = text;

	options.extractor = "words99";
	ck_assert_sx(simidx_text_open(&options, &none, &sxt_err), SIMIDX_E_ARG);
	ck_assert_ptr_null(none);
	ck_assert_ptr_nonnull(strstr(sxt_err.text, "words12"));
	options.extractor = NULL;
	options.bits = 15;
	ck_assert_sx(simidx_text_open(&options, &none, &sxt_err), SIMIDX_E_ARG);
	options.bits = 65;
	ck_assert_sx(simidx_text_open(&options, &none, NULL), SIMIDX_E_ARG);
	options.bits = 64;
	options.size = 0;
	ck_assert_sx(simidx_text_open(&options, &none, &sxt_err), SIMIDX_E_ARG);
	ck_assert_sx(simidx_text_open(NULL, NULL, &sxt_err), SIMIDX_E_ARG);
	ck_assert_sx(simidx_text_open_for(NULL, NULL, &none, &sxt_err), SIMIDX_E_ARG);
	ck_assert_ptr_null(none);

	sketch.n_tokens = 7;
	ck_assert_sx(simidx_text_fingerprint(text, "a", ((size_t)1 << 30) + 1, 0, &sketch,
					     &sxt_err),
		     SIMIDX_E_RANGE);
	ck_assert_uint_eq(sketch.n_tokens, 0);
	ck_assert_sx(simidx_text_fingerprint(text, "a", 1, 8, &sketch, &sxt_err),
		     SIMIDX_E_ARG);
	ck_assert_sx(simidx_text_fingerprint(text, NULL, 1, 0, &sketch, &sxt_err),
		     SIMIDX_E_ARG);
	ck_assert_sx(simidx_text_fingerprint(NULL, "a", 1, 0, &sketch, &sxt_err),
		     SIMIDX_E_ARG);
	ck_assert_sx(simidx_text_fingerprint(text, "a", 1, 0, NULL, &sxt_err), SIMIDX_E_ARG);
	sketch.size = 8;
	ck_assert_sx(simidx_text_fingerprint(text, "a", 1, 0, &sketch, &sxt_err),
		     SIMIDX_E_ARG);
	simidx_text_close(NULL);
}
END_TEST

START_TEST(test_check_texts)
{
	simidx_text *other = NULL;
	const uint64_t *check_fps, *again;
	const char *check_text;
	simidx_sketch sketch;
	size_t n = 0, i, j;

	check_fps = simidx_text_check_fps(text, &n);
	ck_assert_uint_eq(n, 16);
	for (i = 0; i < n; i++) {
		check_text = sx_check_texts[i].text;
		sketch = sxt_sketch_of_text(text, check_text, strlen(check_text));
		ck_assert_uint_eq(check_fps[i], sketch.fp);
		ck_assert_uint_gt(sketch.n_tokens, 10);
		for (j = 0; j < i; j++)
			ck_assert_uint_ne(check_fps[i], check_fps[j]);
	}
	ck_assert_sx(simidx_text_open(NULL, &other, &sxt_err), SIMIDX_OK);
	again = simidx_text_check_fps(other, &n);
	ck_assert_mem_eq(check_fps, again, n * sizeof(*check_fps));
	simidx_text_close(other);
	ck_assert(!strncmp(simidx_text_build_info(), "ICU ", 4));
}
END_TEST

START_TEST(test_profile_of_an_index)
{
	static const char known[] =
		"words12 v1 bits=64 grams=1,2 weights=sqrt hash=xxh3-64 seed=0 fp2=triples";
	simidx_text_options o = SIMIDX_TEXT_OPTIONS_INIT;
	sx_profile_strings strings;

	ck_assert_str_eq(simidx_text_profile(text), known);
	ck_assert_sx(sx_text_profile_read(known, 64, &o, &strings, &sxt_err), SIMIDX_OK);
	ck_assert_str_eq(o.extractor, "words12");
	ck_assert_sx(sx_text_profile_read("", 64, &o, &strings, &sxt_err), SIMIDX_E_MISMATCH);
	ck_assert_sx(sx_text_profile_read(NULL, 64, &o, &strings, &sxt_err), SIMIDX_E_MISMATCH);
	ck_assert_sx(sx_text_profile_read("words12 v2 bits=64", 64, &o, &strings, &sxt_err),
		     SIMIDX_E_UNSUPPORTED);
	ck_assert_sx(sx_text_profile_read("words120 v1 bits=64", 64, &o, &strings, &sxt_err),
		     SIMIDX_E_UNSUPPORTED);
	ck_assert_sx(sx_text_profile_read("my own", 64, &o, &strings, &sxt_err),
		     SIMIDX_E_UNSUPPORTED);
	ck_assert_ptr_nonnull(strstr(sxt_err.text, "my own"));
	ck_assert_sx(sx_text_profile_check(known, known, &sxt_err), SIMIDX_OK);
}
END_TEST

START_TEST(test_check_texts_of_an_index)
{
	uint64_t stored[SX_N_CHECK_TEXTS];
	size_t n;
	const uint64_t *own = simidx_text_check_fps(text, &n);

	memcpy(stored, own, sizeof(stored));
	ck_assert_sx(sx_check_fps_compare(stored, n, own, &sxt_err), SIMIDX_OK);
	ck_assert_sx(sx_check_fps_compare(NULL, 0, own, &sxt_err), SIMIDX_E_MISMATCH);
	ck_assert_sx(sx_check_fps_compare(stored, n - 1, own, &sxt_err), SIMIDX_E_MISMATCH);
	stored[8] ^= 1;
	ck_assert_sx(sx_check_fps_compare(stored, n, own, &sxt_err), SIMIDX_E_MISMATCH);
	ck_assert_ptr_nonnull(strstr(sxt_err.text, "Thai"));
	ck_assert_ptr_nonnull(strstr(sxt_err.text, simidx_text_build_info()));
}
END_TEST

static const sxt_test tests[] = {
	{ &test_features_by_hand, 0, 1 },
	{ &test_words_by_hand, 0, COUNT(cases) },
	{ &test_texts_without_words, 0, COUNT(empty) },
	{ &test_short_flag, 0, 1 },
	{ &test_fewer_bits, 0, 5 },
	{ &test_second_fingerprints_of_few_words, 0, COUNT(few_words) },
	{ &test_sqrt_weight, 0, 1 },
	{ &test_similar_texts_are_near, 0, 1 },
	{ &test_bad_utf8_is_replaced, 0, COUNT(decodings) },
	{ &test_buffers_grow, 0, 1 },
	{ &test_bad_arguments_are_refused, 0, 1 },
	{ &test_check_texts, 0, 1 },
	{ &test_profile_of_an_index, 0, 1 },
	{ &test_check_texts_of_an_index, 0, 1 },
};

SXT_SUITE(text, set_up, tear_down);
