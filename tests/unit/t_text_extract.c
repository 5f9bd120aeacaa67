/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Extractors, weights, lists and short texts, bit by bit; more in t_text_profile.c.
 *
 * The fingerprints of `golden` were computed by a program in Python that has nothing of the
 * library: unicodedata's NFKC and str.casefold(); regular expressions over ASCII for words,
 * except for the three Chinese words, which are those of the test of words12; weights as
 * decimals of 60 digits, rounded down to 16 binary places; features counted as byte strings;
 * hashes from xxhash's xxh3_64, under a seed put through the mixer of splitmix64. Stems and stop
 * words were written down by hand.
 */

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/sxt.h"
#include "support/sxt_text.h"
#include "text/sx_text.h"
#include "text/sx_text_lists_load.h"
#include "text/sx_text_stretch.h"
#include "text/sx_text_weight.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define SIZE sizeof(simidx_text_options)
#define LIST(name, literal) .name = (literal), .name##_size = sizeof(literal) - 1

#define EN \
	"The quick brown fox jumps over the lazy dog; the dog sleeps, and the FOX runs home " \
	"over the hill."
#define EN2 "A reader's notes: running, jumped and easily connected."
#define ZH "ＡＢＣ　Straße 2024年3月，北京大学 Café! 北京 大学"
#define WORDS "我们喜欢音乐。"
#define IDF \
	"fox 7.25\ndog 5.5\r\nTHE 0.02\nhill\t9.123456789\n\nquick brown 11.75\nhome 3\nhome 4"

static const struct {
	const char *what;
	simidx_text_options options;
	const char *utf8;
	unsigned n_tokens, n_features;
	uint64_t fp, fp2;
} golden[] = {
	{ "words12", { .size = SIZE }, EN,
	  20, 31, UINT64_C(0xd51ac7f3941ab36f), UINT64_C(0x51c6be588d5fab51) },
	{ "words1", { .size = SIZE, .extractor = "words1" }, EN,
	  20, 13, UINT64_C(0xc00986a39cda9237), UINT64_C(0x22f62517361829e1) },
	{ "log", { .size = SIZE, .weights = "log" }, EN,
	  20, 31, UINT64_C(0xc51ac7f3941ab36f), UINT64_C(0x51c6be588d5fab51) },
	{ "raw", { .size = SIZE, .weights = "raw" }, EN,
	  20, 31, UINT64_C(0xc11a87f31c9bb36f), UINT64_C(0x51c6be588d5fab51) },
	{ "binary", { .size = SIZE, .weights = "binary" }, EN,
	  20, 31, UINT64_C(0xf51ae7fbd41ab32f), UINT64_C(0x51c6be588d5fab51) },
	{ "grams 2, 3", { .size = SIZE, .grams = 6 }, EN,
	  20, 36, UINT64_C(0xe5daf37bf712f966), UINT64_C(0x51c6be588d5fab51) },
	{ "grams 1, 16 of a short text", { .size = SIZE, .grams = 0x8000 }, EN2,
	  8, 1, UINT64_C(0xbe3564d4c01d1d9f), UINT64_C(0x04c0880448b228d0) },
	{ "words", { .size = SIZE }, WORDS,
	  3, 5, UINT64_C(0x0bf39d266b81a6e0), UINT64_C(0x13399cc74f68ed5c) },
	{ "han12", { .size = SIZE, .extractor = "han12" }, ZH,
	  15, 22, UINT64_C(0x61e0dd045ad76414), UINT64_C(0x4fb4e1a26fc1b1f1) },
	{ "char-1", { .size = SIZE, .extractor = "char-1" }, ZH,
	  35, 20, UINT64_C(0xf7c117b41eb78a17), UINT64_C(0x34f831e4c7e0f3e1) },
	{ "char-2", { .size = SIZE, .extractor = "char-2" }, ZH,
	  35, 31, UINT64_C(0x2bd16ca5f5cce89c), UINT64_C(0x496b96693dcf39f7) },
	{ "char-4", { .size = SIZE, .extractor = "char-4" }, ZH,
	  35, 32, UINT64_C(0x68dbba9094a3072c), UINT64_C(0x825ec08d2e91c974) },
	{ "char-16 of a short text", { .size = SIZE, .extractor = "char-16" }, "Ab, c",
	  4, 1, UINT64_C(0xf69d2f333a72cd16), UINT64_C(0xcb3ff70044bd5639) },
	{ "tfidf, all", { .size = SIZE, .extractor = "tfidf", .top = SIMIDX_TEXT_TOP_ALL,
	  LIST(idf, IDF) }, EN,
	  20, 13, UINT64_C(0xc0098693801a92a7), UINT64_C(0x32f22553b7582de0) },
	{ "tfidf, 3", { .size = SIZE, .extractor = "tfidf", .top = 3, LIST(idf, IDF) }, EN,
	  20, 3, UINT64_C(0x800d8f91800e12b7), UINT64_C(0x72fa27d5a65a6ba0) },
	{ "words12 by tfidf", { .size = SIZE, .weights = "tfidf", LIST(idf, IDF) }, EN,
	  20, 31, UINT64_C(0xf51ae7f3d41a922f), UINT64_C(0x22f2275733488d29) },
	{ "top 5", { .size = SIZE, .top = 5 }, EN,
	  20, 5, UINT64_C(0xc31987b39c1a127d), UINT64_C(0x64fe771cb25839a5) },
	{ "top auto", { .size = SIZE, .top = SIMIDX_TEXT_TOP_AUTO }, EN,
	  20, 16, UINT64_C(0x431ac7f38c9f173f), UINT64_C(0x26f6374e33182481) },
	{ "stop words", { .size = SIZE, LIST(stop_words, "The\r\n\nAND\nover") }, EN,
	  12, 21, UINT64_C(0xd4da84f393daf2e3), UINT64_C(0x20c1bad0f0306300) },
	{ "stems", { .size = SIZE, .stem = "english" }, EN2,
	  8, 15, UINT64_C(0xe693b6206c22548b), UINT64_C(0x1c54497ade291448) },
	{ "words of the user", { .size = SIZE,
	  LIST(words, "BrownFox 3 n\nthelazydog\nthelazydogthe\nthelazydogand\n") }, EN,
	  16, 28, UINT64_C(0xf10af473151e372d), UINT64_C(0x58c685730c569f13) },
	{ "the same between tabs", { .size = SIZE,
	  LIST(words, "BrownFox\t3\tn\nthelazydog\t1\nthelazydogthe\nthelazydogand\n") }, EN,
	  16, 28, UINT64_C(0xf10af473151e372d), UINT64_C(0x58c685730c569f13) },
	{ "exact", { .size = SIZE, .short_exact = 1 }, EN2,
	  8, 1, UINT64_C(0xbe3564d4c01d1d9f), UINT64_C(0xa1e6b70debddf782) },
	{ "exact of nothing", { .size = SIZE, .short_exact = 1 }, " ! ",
	  0, 0, 0, 0 },
	{ "exact, long enough", { .size = SIZE, .short_exact = 1, .min_tokens = 20 }, EN,
	  20, 31, UINT64_C(0xd51ac7f3941ab36f), UINT64_C(0x51c6be588d5fab51) },
	{ "seed 1", { .size = SIZE, .seed = 1 }, EN,
	  20, 31, UINT64_C(0xb9dba57d05a0b54f), UINT64_C(0x398eb0c75e5a0cda) },
	{ "the last seed", { .size = SIZE, .seed = UINT64_MAX }, EN,
	  20, 31, UINT64_C(0x695206b7903c8cc8), UINT64_C(0x8c46128f295441c8) },
	{ "top 5, seed 7", { .size = SIZE, .top = 5, .seed = 7 }, EN,
	  20, 5, UINT64_C(0x1bfccfd0e5cf0620), UINT64_C(0x80334966586b02b2) },
	{ "tfidf, seed 7", { .size = SIZE, .extractor = "tfidf", .top = SIMIDX_TEXT_TOP_ALL,
	  .seed = 7, LIST(idf, IDF) }, EN,
	  20, 13, UINT64_C(0x9bf899c9f18f0229), UINT64_C(0x85eb4a04b94f0ad0) },
};

static simidx_text *open_text(const simidx_text_options *options)
{
	simidx_text *text = NULL;

	ck_assert_sx(simidx_text_open(options, &text, &sxt_err), SIMIDX_OK);
	return text;
}

static int needs_stemmer(const simidx_text_options *options)
{
	return options->stem && !strstr(simidx_text_build_info(), "libstemmer");
}

START_TEST(test_golden_sketches)
{
	simidx_text_options options = golden[_i].options;
	simidx_text *text, *clone = NULL;
	simidx_sketch sketch, again;

	if (needs_stemmer(&options))
		sxt_skip("built without libstemmer");
	text = open_text(&options);
	sketch = sxt_sketch_of_text(text, golden[_i].utf8, strlen(golden[_i].utf8));
	ck_assert_msg(sketch.fp == golden[_i].fp, "%s: fp %016llx", golden[_i].what,
		      (unsigned long long)sketch.fp);
	ck_assert_uint_eq(sketch.fp2, golden[_i].fp2);
	ck_assert_uint_eq(sketch.n_tokens, golden[_i].n_tokens);
	ck_assert_uint_eq(sketch.n_features, golden[_i].n_features);

	/* A clone does the same, also when the first one is gone. */
	ck_assert_sx(simidx_text_clone(text, &clone, &sxt_err), SIMIDX_OK);
	ck_assert_str_eq(simidx_text_profile(clone), simidx_text_profile(text));
	simidx_text_close(text);
	again = sxt_sketch_of_text(clone, golden[_i].utf8, strlen(golden[_i].utf8));
	sxt_assert_sketch(&again, &sketch, golden[_i].what);
	simidx_text_close(clone);

	options.bits = 32;
	text = open_text(&options);
	sketch = sxt_sketch_of_text(text, golden[_i].utf8, strlen(golden[_i].utf8));
	ck_assert_uint_eq(sketch.fp, golden[_i].fp & UINT32_MAX);
	ck_assert_uint_eq(sketch.fp2, golden[_i].fp2);
	simidx_text_close(text);
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * Weights
 */

/* floor of decimals of 60 digits, from Python. */
static const struct {
	uint32_t count, weight;
} logs[] = {
	{ 1u, 65536u },
	{ 2u, 110962u },
	{ 3u, 137534u },
	{ 7u, 193063u },
	{ 100u, 367340u },
	{ 65535u, 792352u },
	{ 1048576u, 974057u },
	{ 4294967295u, 1519170u },
};

static const struct {
	uint64_t documents, with;
	uint32_t idf;
} idfs[] = {
	{ UINT64_C(1), UINT64_C(1), 45426 },
	{ UINT64_C(2), UINT64_C(1), 71998 },
	{ UINT64_C(1000), UINT64_C(1), 452772 },
	{ UINT64_C(1000), UINT64_C(37), 218442 },
	{ UINT64_C(1099511627776), UINT64_C(1), 1817043 },
	{ UINT64_C(1099511627776), UINT64_C(549755813889), 71998 },
	{ UINT64_C(123456), UINT64_C(123455), 45426 },
	{ 5, 6, 0 }, /* out of range */
	{ 5, 0, 0 },
	{ UINT64_C(1) << 41, 1, 0 },
};

START_TEST(test_log_weight)
{
	sxt_rng rng;
	uint32_t count;
	size_t i;

	for (i = 0; i < COUNT(logs); i++)
		ck_assert_uint_eq(sx_log_weight(logs[i].count), logs[i].weight);
	for (i = 0; i < COUNT(idfs); i++)
		ck_assert_uint_eq(simidx_text_idf(idfs[i].documents, idfs[i].with),
				  idfs[i].idf);
	/* Where long double has 64 digits; elsewhere it would prove nothing. */
	if (LDBL_MANT_DIG < 64)
		sxt_skip("long double has fewer than 64 digits");
	sxt_rng_init(&rng, 710);
	for (i = 1; i <= 200000; i++) {
		count = i <= 100000 ? (uint32_t)i : (uint32_t)sxt_rng_u64(&rng) | 1;
		if (sx_log_weight(count) != (uint32_t)floorl((1 + logl(count)) * 65536))
			ck_abort_msg("weight of %u", (unsigned)count);
	}
}
END_TEST

START_TEST(test_weights_are_capped)
{
	static const char idf[] = "w 65535.9999";
	simidx_text_options options = { .size = SIZE, .extractor = "tfidf", LIST(idf, idf) };
	simidx_text *text;
	char many[1000];
	size_t i;

	/* 400 times 65535.9999 is more than 32 bits hold. */
	for (i = 0; i < 800; i += 2)
		memcpy(many + i, "w ", 2);
	text = open_text(&options);
	ck_assert_sx(sx_text_extract(text, (const uint8_t *)many, 800, NULL, NULL, NULL, &sxt_err),
		     SIMIDX_OK);
	ck_assert_uint_eq(text->features.n, 1);
	ck_assert_uint_eq(text->features.slot[0].weight, UINT32_MAX);
	simidx_text_close(text);
}
END_TEST

START_TEST(test_features_without_weight)
{
	static const char idf[] = "the 0\nof 0.000001\nword 2";
	simidx_text_options options = { .size = SIZE, .extractor = "tfidf", LIST(idf, idf) };
	simidx_text *text = open_text(&options);
	simidx_sketch sketch = sxt_sketch_of_text(text, "the word of the", 15);

	ck_assert_uint_eq(sketch.n_features, 1);
	ck_assert_uint_eq(sketch.n_tokens, 4);
	ck_assert_uint_eq(sketch.fp, simidx_feature_hash("word", 4));
	/* Median of 0, 0 (rounded) and 2. */
	ck_assert_uint_eq(text->lists->median, 0);
	simidx_text_close(text);
}
END_TEST

static const struct {
	const char *digits;
	int rc;
	uint32_t fixed;
} numbers[] = {
	{ "0", 0, 0 }, { "1", 0, 65536 }, { "0001.50", 0, 98304 }, { "2.", 0, 131072 },
	{ "13.900677652", 0, 910995 }, /* 910994.8... */
	{ "0.00000762939453125", 0, 0 }, /* half of 2^-16, but digit 13 is not read */
	{ "0.000007629395", 0, 1 },
	{ "65535.9999", 0, 4294967289u }, { "65535.999999", -1, 0 }, { "65536", -1, 0 },
	{ "99999999999999999999999", -1, 0 }, { "", -1, 0 }, { ".5", -1, 0 }, { "-1", -1, 0 },
	{ "1e3", -1, 0 }, { "1,5", -1, 0 }, { "1.5 ", -1, 0 },
};

START_TEST(test_fixed_numbers)
{
	uint32_t fixed = 0;

	ck_assert_int_eq(sx_fixed_read(numbers[_i].digits, strlen(numbers[_i].digits), &fixed),
			 numbers[_i].rc);
	ck_assert_uint_eq(fixed, numbers[_i].fixed);
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * Lists
 */

START_TEST(test_built_in_stop_words)
{
	simidx_text_options options = { .size = SIZE, .stop = "en,zh" };
	simidx_text *text = open_text(&options);
	simidx_sketch got, want;

	got = sxt_sketch_of_text(text, "This is THE house, and it isn't for us.", 39);
	want = sxt_sketch_of_words("house", 64);
	sxt_assert_sketch(&got, &want, "en");
	got = sxt_sketch_of_text(text, "我们 的 音乐", strlen("我们 的 音乐"));
	want = sxt_sketch_of_words("音乐", 64);
	sxt_assert_sketch(&got, &want, "zh");
	ck_assert_ptr_nonnull(strstr(simidx_text_profile(text), " stop=en,zh"));
	simidx_text_close(text);
}
END_TEST

/*
 * Different words, and the features that SIMIDX_TEXT_TOP_AUTO keeps of these and their pairs: all
 * 2n - 1 where there are no more than 16; else 16 or 4 times the root of n, a whole number.
 */
static const struct {
	unsigned words, features;
} automatic[] = {
	{ 8, 15 }, { 9, 16 }, { 15, 16 }, { 24, 16 }, { 25, 20 }, { 99, 36 }, { 100, 40 }
};

START_TEST(test_top_auto)
{
	simidx_text_options options = { .size = SIZE, .top = SIMIDX_TEXT_TOP_AUTO };
	simidx_text *text = open_text(&options);
	char words[100 * 4 + 1] = "";
	simidx_sketch got;

	for (unsigned i = 0; i < automatic[_i].words; i++)
		sprintf(words + 4 * i, "w%02u ", i);
	got = sxt_sketch_of_text(text, words, strlen(words));
	ck_assert_uint_eq(got.n_tokens, automatic[_i].words);
	ck_assert_uint_eq(got.n_features, automatic[_i].features);
	simidx_text_close(text);
}
END_TEST

static int append(void *ctx, const char *bytes, size_t size, simidx_error *err)
{
	ck_assert_uint_ge(size, 1);
	ck_assert_uint_le(size, SX_MAX_JOINED);
	return sx_bytes_add(ctx, bytes, size, err);
}

/* Whatever the list, the letters come out as they went in. */
START_TEST(test_joining_loses_nothing)
{
	static const char words[] = "aaaaaaaaaaaaaaaaaaaaaaaa\naa\nab\naaab\nb";
	simidx_text_options options = { .size = SIZE, LIST(words, words) };
	simidx_text *text = open_text(&options);
	sx_filter filter = { .take = append };
	sx_bytes in = { NULL, 0, 0 }, out = in;
	sxt_rng rng;
	size_t i, n;

	sxt_rng_init(&rng, 711);
	filter.ctx = &out;
	for (i = 0; i < 200; i++) {
		sx_filter_begin(&filter, text->lists, 0, SX_JOINT);
		in.n = out.n = 0;
		for (n = sxt_rng_below(&rng, 500); n; n--) {
			const char *letter = sxt_rng_below(&rng, 10) ? "a" : "b";

			ck_assert_sx(sx_bytes_add(&in, letter, 1, &sxt_err), SIMIDX_OK);
			ck_assert_sx(sx_filter_take(&filter, letter, 1, &sxt_err), SIMIDX_OK);
		}
		ck_assert_sx(sx_filter_end(&filter, &sxt_err), SIMIDX_OK);
		ck_assert_uint_eq(out.n, in.n);
		if (in.n)
			ck_assert_mem_eq(in.at, out.at, in.n);
	}
	free(in.at);
	free(out.at);
	free(filter.waiting.at);
	simidx_text_close(text);
}
END_TEST

START_TEST(test_long_text_in_stretches)
{
	static const struct {
		const char *extractor;
		unsigned grams;
	} how[] = { { "words12", 4 }, { "words12", 0x8001 }, { "han12", 3 }, { "unspaced12", 3 },
		    { "char-3", 0 } };
	simidx_text_options options = { .size = SIZE, .extractor = how[_i].extractor,
					.grams = how[_i].grams };
	simidx_text *text = open_text(&options);
	simidx_sketch whole, pieces;
	size_t size = 300000, i;
	char *utf8 = sxt_alloc(size + 8);
	sxt_rng rng;

	sxt_rng_init(&rng, 712);
	for (i = 0; i < size; i += 3)
		memcpy(utf8 + i, sxt_rng_below(&rng, 4) ? "a0b" : sxt_rng_below(&rng, 2) ? " c " :
			       "\xe4\xba\xac", 3);
	whole = sxt_sketch_of_text(text, utf8, size);
	text->stretch = 700;
	pieces = sxt_sketch_of_text(text, utf8, size);
	sxt_assert_sketch(&pieces, &whole, how[_i].extractor);
	ck_assert_uint_gt(whole.n_tokens, 1000);
	free(utf8);
	simidx_text_close(text);
}
END_TEST

/* Any bytes at all: features do not depend on where the text was cut, and nothing breaks. */
START_TEST(test_any_bytes_never_crash)
{
	static const char *const bits[] = {
		"a",      "B ",     "\n",       " x",         "7",      ".",       "'",
		"\xff",   "\xc3",   "\xc3\xa9", "\xe4\xba",   "\u4eac", "\u3002a", "\u0301",
		"\u00ad", "\u200b", "\ufeff",   "\U000e0041", "\uff21", "\ufdfa",  "",
	};
	static const char words[] = "ab\n77\naaa\n\u4eac\u4eac";
	static const simidx_text_options how[] = {
		{ .size = SIZE, .extractor = "han12", LIST(words, words) },
		{ .size = SIZE, .extractor = "char-3" },
		{ .size = SIZE, .grams = 5, .stop = "en,zh", LIST(words, words) },
		{ .size = SIZE, .short_exact = 1, .min_tokens = 40 },
		{ .size = SIZE },
	};
	simidx_text *text = open_text(&how[_i]);
	simidx_sketch whole, pieces;
	char *utf8 = sxt_alloc(8000);
	size_t i, k, n;
	sxt_rng rng;

	sxt_rng_init(&rng, 713 + (uint64_t)_i);
	for (i = 0; i < 300; i++) {
		n = 0;
		for (k = sxt_rng_below(&rng, 1000); k; k--) {
			const char *bit = bits[sxt_rng_below(&rng, COUNT(bits))];

			/* The empty one stands for NUL. */
			memcpy(utf8 + n, bit, strlen(bit) + !*bit);
			n += strlen(bit) + !*bit;
		}
		text->stretch = SX_STRETCH_BYTES;
		whole = sxt_sketch_of_text(text, utf8, n);
		text->stretch = 1 + sxt_rng_below(&rng, 50);
		pieces = sxt_sketch_of_text(text, utf8, n);
		sxt_assert_sketch(&pieces, &whole, "pieces");
		/* And ICU alone, for ASCII too. */
		text->words.ascii = NULL;
		pieces = sxt_sketch_of_text(text, utf8, n);
		sxt_assert_sketch(&pieces, &whole, "without ASCII");
		text->words.ascii = sx_ascii_shared();
	}
	free(utf8);
	simidx_text_close(text);
}
END_TEST

static const struct {
	simidx_text_options options;
	const char *says;
} wrong[] = {
	{ { .size = SIZE, .extractor = "words2" }, "char-N" },
	{ { .size = SIZE, .extractor = "char-" }, "unknown extractor" },
	{ { .size = SIZE, .extractor = "char-0" }, "unknown extractor" },
	{ { .size = SIZE, .extractor = "char-17" }, "unknown extractor" },
	{ { .size = SIZE, .extractor = "char-2x" }, "unknown extractor" },
	{ { .size = SIZE, .extractor = "char-02" }, "unknown extractor" },
	{ { .size = SIZE, .extractor = "char-2", .grams = 1 }, "which n-grams" },
	{ { .size = SIZE, .extractor = "char-2", .stop = "en" }, "takes characters" },
	{ { .size = SIZE, .extractor = "char-2", .stem = "english" }, "stems" },
	{ { .size = SIZE, .extractor = "char-2", .weights = "tfidf", LIST(idf, "a 1") },
	  "characters" },
	{ { .size = SIZE, .extractor = "tfidf" }, "dictionary" },
	{ { .size = SIZE, .weights = "tfidf" }, "dictionary" },
	{ { .size = SIZE, LIST(idf, "a 1") }, "for the weights tfidf" },
	{ { .size = SIZE, .weights = "tfidf", LIST(idf, "a 1\nb\n") }, "IDF dictionary:2: " },
	{ { .size = SIZE, .weights = "tfidf", LIST(idf, "a -1\n") }, "IDF dictionary:1: " },
	{ { .size = SIZE, .weights = "tfidf", LIST(idf, "a 1\nb\n"), .idf_name = "words.idf" },
	  "words.idf:2: " },
	{ { .size = SIZE, .weights = "tfidf", LIST(idf, "\n") }, "empty" },
	{ { .size = SIZE, .weights = "idf" }, "sqrt, log, raw, binary, tfidf" },
	{ { .size = SIZE, .stop = "en,xx" }, "known: en, zh" },
	{ { .size = SIZE, .stem = "English" }, "no language" },
	{ { .size = SIZE, .grams = 0x10000 }, "16" },
};

START_TEST(test_wrong_options_are_refused)
{
	simidx_text *text = NULL;

	ck_assert_sx(simidx_text_open(&wrong[_i].options, &text, &sxt_err), SIMIDX_E_ARG);
	ck_assert_ptr_null(text);
	ck_assert_msg(strstr(sxt_err.text, wrong[_i].says) != NULL, "%s", sxt_err.text);
}
END_TEST

START_TEST(test_unknown_stemmers_are_refused)
{
	simidx_text_options options = { .size = SIZE, .stem = "klingon" };
	simidx_text *text = NULL;
	int rc = needs_stemmer(&options) ? SIMIDX_E_UNSUPPORTED : SIMIDX_E_ARG;

	ck_assert_sx(simidx_text_open(&options, &text, &sxt_err), rc);
	ck_assert_ptr_null(text);
	ck_assert_ptr_nonnull(strstr(sxt_err.text, "klingon"));
}
END_TEST

static const sxt_test tests[] = {
	{ &test_golden_sketches, 0, COUNT(golden) },
	{ &test_log_weight, 0, 1 },
	{ &test_weights_are_capped, 0, 1 },
	{ &test_features_without_weight, 0, 1 },
	{ &test_fixed_numbers, 0, COUNT(numbers) },
	{ &test_built_in_stop_words, 0, 1 },
	{ &test_top_auto, 0, COUNT(automatic) },
	{ &test_joining_loses_nothing, 0, 1 },
	{ &test_long_text_in_stretches, 0, 4 },
	{ &test_any_bytes_never_crash, 0, 5 },
	{ &test_wrong_options_are_refused, 0, COUNT(wrong) },
	{ &test_unknown_stemmers_are_refused, 0, 1 },
};

SXT_SUITE(text_extract, NULL, NULL);
