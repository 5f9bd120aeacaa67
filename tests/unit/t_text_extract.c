/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Extractors, weights, lists and short texts, bit by bit.
 *
 * The fingerprints of `golden` were computed by a program in Python that has nothing of the
 * library: unicodedata's NFKC and str.casefold(); regular expressions over ASCII for words,
 * except for the three Chinese words, which are those of the test of words12; weights as
 * decimals of 60 digits, rounded down to 16 binary places; features counted as byte strings;
 * hashes from xxhash's xxh3_64. Stems and stop words were written down by hand.
 */

#include "config.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unicode/uchar.h>
#include <unicode/utf16.h>

#include "support/sxt.h"
#include "support/sxt_text.h"
#include "text/sx_text.h"

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
	  20, 31, UINT64_C(0xd51ac7f3941ab36f), UINT64_C(0x22f6275633580589) },
	{ "words1", { .size = SIZE, .extractor = "words1" }, EN,
	  20, 13, UINT64_C(0xc00986a39cda9237), UINT64_C(0x22f62517361829e1) },
	{ "log", { .size = SIZE, .weights = "log" }, EN,
	  20, 31, UINT64_C(0xc51ac7f3941ab36f), UINT64_C(0x22f6275633580589) },
	{ "raw", { .size = SIZE, .weights = "raw" }, EN,
	  20, 31, UINT64_C(0xc11a87f31c9bb36f), UINT64_C(0x26f63716325835cd) },
	{ "binary", { .size = SIZE, .weights = "binary" }, EN,
	  20, 31, UINT64_C(0xf51ae7fbd41ab32f), UINT64_C(0x22f6a75733488589) },
	{ "grams 2, 3", { .size = SIZE, .grams = 6 }, EN,
	  20, 36, UINT64_C(0xe5daf37bf712f966), UINT64_C(0x6272ab563384860f) },
	{ "grams 1, 16 of a short text", { .size = SIZE, .grams = 0x8000 }, EN2,
	  8, 1, UINT64_C(0xbe3564d4c01d1d9f), UINT64_C(0xeb86b4f9847a0261) },
	{ "words", { .size = SIZE }, WORDS,
	  3, 5, UINT64_C(0x0bf39d266b81a6e0), UINT64_C(0x25955c0d44d96c94) },
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
	{ "tfidf, all", { .size = SIZE, .extractor = "tfidf", .top = SIMIDX_TEXT_TOP_ALL, LIST(idf, IDF) }, EN,
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
	  12, 21, UINT64_C(0xd4da84f393daf2e3), UINT64_C(0xa242a516575a9c80) },
	{ "stems", { .size = SIZE, .stem = "english" }, EN2,
	  8, 15, UINT64_C(0xe693b6206c22548b), UINT64_C(0x641f2286f37e4740) },
	{ "words of the user", { .size = SIZE, LIST(words, "BrownFox 3 n\nthelazydog\nthelazydogthe\nthelazydogand\n") }, EN,
	  16, 28, UINT64_C(0xf10af473151e372d), UINT64_C(0xa6f62f871318a56d) },
	{ "exact", { .size = SIZE, .short_exact = 1 }, EN2,
	  8, 1, UINT64_C(0xbe3564d4c01d1d9f), UINT64_C(0xeb86b4f9847a0261) },
	{ "exact of nothing", { .size = SIZE, .short_exact = 1 }, " ! ",
	  0, 1, UINT64_C(0x2d06800538d394c2), UINT64_C(0xb7150408d0aaee97) },
	{ "exact, long enough", { .size = SIZE, .short_exact = 1, .min_tokens = 20 }, EN,
	  20, 31, UINT64_C(0xd51ac7f3941ab36f), UINT64_C(0x22f6275633580589) },
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

START_TEST(test_golden)
{
	simidx_text_options options = golden[_i].options;
	simidx_text *text, *clone = NULL;
	simidx_sketch sketch, again;

	if (needs_stemmer(&options))
		return;
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
		return;
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
	ck_assert_sx(sx_text_extract(text, (const uint8_t *)many, 800, NULL, &sxt_err),
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
	ck_assert_uint_eq(sketch.fp, simidx_hash_bytes("word", 4));
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
		ck_assert(!in.n || !memcmp(in.at, out.at, in.n));
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
	} how[] = { { "words12", 4 }, { "words12", 0x8001 }, { "han12", 3 }, { "char-3", 0 } };
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
START_TEST(test_any_bytes)
{
	static const char *const bits[] = {
		"a", "B ", "\n", " x", "7", ".", "'", "\xff", "\xc3", "\xc3\xa9", "\xe4\xba", "\u4eac",
		"\u3002a", "\u0301", "\u00ad", "\u200b", "\ufeff", "\U000e0041", "\uff21", "\ufdfa", "",
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
	{ { .size = SIZE, .extractor = "char-2", .grams = 1 }, "n-grams of characters" },
	{ { .size = SIZE, .extractor = "char-2", .stop = "en" }, "single characters" },
	{ { .size = SIZE, .extractor = "char-2", .stem = "english" }, "stems" },
	{ { .size = SIZE, .extractor = "char-2", .weights = "tfidf", LIST(idf, "a 1") }, "characters" },
	{ { .size = SIZE, .extractor = "tfidf" }, "dictionary" },
	{ { .size = SIZE, .weights = "tfidf" }, "dictionary" },
	{ { .size = SIZE, LIST(idf, "a 1") }, "for the weights tfidf" },
	{ { .size = SIZE, .weights = "tfidf", LIST(idf, "a 1\nb\n") }, "line 2" },
	{ { .size = SIZE, .weights = "tfidf", LIST(idf, "a -1\n") }, "line 1" },
	{ { .size = SIZE, .weights = "tfidf", LIST(idf, "\n") }, "empty" },
	{ { .size = SIZE, .weights = "idf" }, "sqrt, log, raw, binary, tfidf" },
	{ { .size = SIZE, .stop = "en,xx" }, "known: en, zh" },
	{ { .size = SIZE, .stem = "English" }, "no language" },
	{ { .size = SIZE, .grams = 0x10000 }, "16" },
};

START_TEST(test_wrong_options)
{
	simidx_text *text = NULL;

	ck_assert_sx(simidx_text_open(&wrong[_i].options, &text, &sxt_err), SIMIDX_E_ARG);
	ck_assert_ptr_null(text);
	ck_assert_msg(strstr(sxt_err.text, wrong[_i].says) != NULL, "%s", sxt_err.text);
}
END_TEST

START_TEST(test_unknown_stems)
{
	simidx_text_options options = { .size = SIZE, .stem = "klingon" };
	simidx_text *text = NULL;
	int rc = needs_stemmer(&options) ? SIMIDX_E_UNSUPPORTED : SIMIDX_E_ARG;

	ck_assert_sx(simidx_text_open(&options, &text, &sxt_err), rc);
	ck_assert_ptr_null(text);
	ck_assert_ptr_nonnull(strstr(sxt_err.text, "klingon"));
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * Normalisation
 */

/* The same text and how it may be written; each pair has equal tokens. */
static const struct {
	const char *utf8, *words;
} alike[] = {
	{ "soft\u00adhyphen", "softhyphen" },
	{ "zero\u200dwidth \u2060joiner\ufeff", "zerowidth|joiner" },
	{ "no\u200bspace", "no|space" },
	{ "\u202eright\u202c to \u200fleft\u200e", "right|to|left" },
	{ "e\u034f\u0301te\u0301", "\u00e9t\u00e9" },
	{ "vari\ufe0fant\U000e0101", "variant" },
	{ "ＦＵＬＬ\u3000ｗｉｄｔｈ１２３．４５％", "full|width123.45" },
	{ "ﾊﾟｿｺﾝ", "パソコン" },
	{ "tab\tline\vfeed\fnext\xc2\x85" "end\u2028par", "tab|line|feed|next|end|par" },
	{ "bell\aescape\033null\001x", "bell|escape|null|x" },
};

START_TEST(test_written_otherwise)
{
	simidx_text *text = open_text(NULL);
	simidx_sketch want = sxt_sketch_of_words(alike[_i].words, 64);
	simidx_sketch got = sxt_sketch_of_text(text, alike[_i].utf8, strlen(alike[_i].utf8));

	sxt_assert_sketch(&got, &want, alike[_i].words);
	simidx_text_close(text);
}
END_TEST

/* Our list of ranges against ICU's property, over all of Unicode. */
START_TEST(test_ignorable_characters)
{
	UChar units[4];
	UChar32 c;
	size_t n, left;
	int is_ignorable;

	for (c = 0; c <= 0x10ffff; c++) {
		if (U_IS_SURROGATE(c))
			continue;
		n = 0;
		U16_APPEND_UNSAFE(units, n, c);
		left = sx_drop_ignorable(units, n);
		is_ignorable = u_hasBinaryProperty(c, UCHAR_DEFAULT_IGNORABLE_CODE_POINT) &&
			       c != 0x200b;
		if (left != (is_ignorable ? 0 : n))
			ck_abort_msg("U+%04X", (unsigned)c);
	}
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * Features, profiles
 */

struct seen {
	char all[400];
	size_t n;
	uint64_t sum;
	unsigned stop_after;
};

static int see(void *ctx, const simidx_feature *feature, const char *utf8, size_t size)
{
	struct seen *seen = ctx;

	ck_assert_uint_eq(feature->hash, simidx_hash_bytes(utf8, size));
	seen->n += (size_t)snprintf(seen->all + seen->n, sizeof(seen->all) - seen->n, "%u:%.*s|",
				    (unsigned)feature->weight, (int)size, utf8);
	return seen->stop_after && --seen->stop_after == 0 ? 7 : 0;
}

START_TEST(test_each_feature)
{
	simidx_text_options options = { .size = SIZE, .weights = "raw", .grams = 1 };
	simidx_text *text = open_text(&options);
	struct seen seen = { .n = 0 };

	ck_assert_sx(simidx_text_each_feature(text, "b a B c b a", 11, see, &seen, &sxt_err),
		     SIMIDX_OK);
	ck_assert_str_eq(seen.all, "196608:b|131072:a|65536:c|");
	seen = (struct seen){ .stop_after = 2 };
	ck_assert_sx(simidx_text_each_feature(text, "b a B c b a", 11, see, &seen, &sxt_err), 7);
	ck_assert_str_eq(seen.all, "196608:b|131072:a|");
	ck_assert_sx(simidx_text_each_feature(text, "b", 1, NULL, NULL, &sxt_err), SIMIDX_E_ARG);
	simidx_text_close(text);

	/* Whether bytes are kept or not, features are the same. */
	text = open_text(NULL);
	seen = (struct seen){ .n = 0 };
	ck_assert_sx(simidx_text_each_feature(text, "x y x y", 7, see, &seen, &sxt_err),
		     SIMIDX_OK);
	ck_assert_ptr_nonnull(strstr(seen.all, "92681:x\x1fy|"));
	ck_assert_ptr_nonnull(strstr(seen.all, "65536:y\x1fx|"));
	simidx_text_close(text);
	options = (simidx_text_options){ .size = SIZE, .short_exact = 1 };
	text = open_text(&options);
	seen = (struct seen){ .n = 0 };
	ck_assert_sx(simidx_text_each_feature(text, "", 0, see, &seen, &sxt_err), SIMIDX_OK);
	ck_assert_str_eq(seen.all, "65536:|");
	simidx_text_close(text);
}
END_TEST

static const struct {
	simidx_text_options options;
	const char *profile;
} profiles[] = {
	{ { .size = SIZE }, "words12 v1 bits=64 grams=1,2 weights=sqrt hash=xxh3-64 seed=0" },
	{ { .size = SIZE, .bits = 32, .extractor = "char-2" },
	  "char-2 v1 bits=32 grams=2 weights=sqrt hash=xxh3-64 seed=0" },
	{ { .size = SIZE, .extractor = "han12", .grams = 0x8005, .weights = "log",
	    .top = SIMIDX_TEXT_TOP_AUTO, .stop = "zh", .short_exact = 1, .min_tokens = 50 },
	  "han12 v1 bits=64 grams=1,3,16 weights=log hash=xxh3-64 seed=0 top=auto stop=zh "
	  "exact=50" },
	/* XXH3-64 of "a 1", "b" and "c" from Python's xxhash. */
	{ { .size = SIZE, .extractor = "tfidf", .stop = "zh,en", LIST(idf, "a 1"), LIST(words, "b"),
	    LIST(stop_words, "c"), .min_tokens = 9 },
	  "tfidf v1 bits=64 grams=1 weights=tfidf hash=xxh3-64 seed=0 top=20 stop=en,zh "
	  "stop-words=8c40219a46b9f81b words=575a0b1c44d8843f idf=32c2a426fb19b3c2" },
};

START_TEST(test_profile)
{
	simidx_text_options read = { .size = SIZE };
	sx_profile_strings strings;
	sx_settings settings;
	char again[SX_PROFILE_SIZE];
	simidx_text *text = open_text(&profiles[_i].options);

	ck_assert_str_eq(simidx_text_profile(text), profiles[_i].profile);
	simidx_text_close(text);

	/* Options taken from the profile, and the lists again, make the same one. */
	read.idf = profiles[_i].options.idf;
	read.idf_size = profiles[_i].options.idf_size;
	read.words = profiles[_i].options.words;
	read.words_size = profiles[_i].options.words_size;
	read.stop_words = profiles[_i].options.stop_words;
	read.stop_words_size = profiles[_i].options.stop_words_size;
	ck_assert_sx(sx_text_profile_read(profiles[_i].profile, profiles[_i].options.bits, &read,
				     &strings, &sxt_err),
		     SIMIDX_OK);
	ck_assert_sx(sx_settings_make(&settings, &read, &sxt_err), SIMIDX_OK);
	sx_text_profile_format(again, &settings);
	ck_assert_sx(sx_text_profile_check(profiles[_i].profile, again, &sxt_err), SIMIDX_OK);
}
END_TEST

static const struct {
	const char *stored, *own, *says;
} differences[] = {
	{ "words12 v1 a=1", "words1 v1 a=1", "with words12, not with words1" },
	{ "words12 v1 a=1", "words12 v1 a=2", "with a=1, not with a=2" },
	{ "words12 v1 a=1 b=2", "words12 v1 a=1", "with b=2, which was not given" },
	{ "words12 v1 a=1", "words12 v1 a=1 b=2", "without b=2" },
	{ "words12 v1 a=1 b=2", "words12 v1 b=2", "with a=1, which was not given" },
	{ "words12 v1 b=2", "words12 v1 a=1 b=2", "without a=1" },
	{ "words12 v1 ab=2", "words12 v1 a=2", "with ab=2, which was not given" },
	{ "words12 v1 a=2 b=1", "words12 v1 b=1 a=2", "order" },
};

START_TEST(test_differences)
{
	ck_assert_int_ne(sx_text_profile_check(differences[_i].stored, differences[_i].own, &sxt_err),
			 SIMIDX_OK);
	ck_assert_msg(strstr(sxt_err.text, differences[_i].says) != NULL, "%s", sxt_err.text);
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * An extractor for an index
 */

static simidx *make_index(const char *path, const simidx_text *like)
{
	simidx_create_options create = SIMIDX_CREATE_OPTIONS_INIT;
	simidx *index = NULL;

	create.profile = simidx_text_profile(like);
	create.probes = simidx_text_probes(like, &create.n_probes);
	ck_assert_sx(simidx_create(path, &create, &index, &sxt_err), SIMIDX_OK);
	return index;
}

START_TEST(test_open_for)
{
	static const char idf[] = "a 1\nb 2";
	simidx_text_options options = { .size = SIZE, .extractor = "words1", .weights = "tfidf",
					.top = SIMIDX_TEXT_TOP_AUTO, LIST(idf, idf) };
	simidx_text_options given = { .size = SIZE };
	simidx_text *text = open_text(&options), *same = NULL;
	char *dir = sxt_dir_make(), *path = sxt_path(dir, "index");
	simidx *index = make_index(path, text);

	ck_assert_sx(simidx_text_open_for(index, NULL, &same, &sxt_err), SIMIDX_E_ARG);
	ck_assert_ptr_nonnull(strstr(sxt_err.text, "dictionary"));
	given.idf = idf;
	given.idf_size = sizeof(idf) - 1;
	ck_assert_sx(simidx_text_open_for(index, &given, &same, &sxt_err), SIMIDX_OK);
	ck_assert_str_eq(simidx_text_profile(same), simidx_text_profile(text));
	simidx_text_close(same);
	given.idf = "a 1\nb 3";
	ck_assert_sx(simidx_text_open_for(index, &given, &same, &sxt_err), SIMIDX_E_MISMATCH);
	ck_assert_ptr_nonnull(strstr(sxt_err.text, "idf="));
	given.idf = idf;
	given.stop = "en";
	ck_assert_sx(simidx_text_open_for(index, &given, &same, &sxt_err), SIMIDX_E_MISMATCH);
	ck_assert_ptr_nonnull(strstr(sxt_err.text, "without stop=en"));
	ck_assert_ptr_null(same);
	simidx_close(index);
	simidx_text_close(text);
	sxt_remove(dir);
	free(path);
	free(dir);
}
END_TEST

Suite *suite_text_extract(void);

Suite *suite_text_extract(void)
{
	Suite *suite = suite_create("text_extract");
	TCase *tc;

	tc = tcase_create("golden");
	tcase_set_timeout(tc, 60);
	suite_add_tcase(suite, tc);
	tcase_add_loop_test(tc, test_golden, 0, COUNT(golden));

	tc = tcase_create("weights");
	tcase_set_timeout(tc, 60);
	suite_add_tcase(suite, tc);
	tcase_add_test(tc, test_log_weight);
	tcase_add_test(tc, test_weights_are_capped);
	tcase_add_test(tc, test_features_without_weight);
	tcase_add_loop_test(tc, test_fixed_numbers, 0, COUNT(numbers));

	tc = tcase_create("lists");
	tcase_set_timeout(tc, 60);
	suite_add_tcase(suite, tc);
	tcase_add_test(tc, test_built_in_stop_words);
	tcase_add_test(tc, test_joining_loses_nothing);
	tcase_add_loop_test(tc, test_long_text_in_stretches, 0, 4);
	tcase_add_loop_test(tc, test_any_bytes, 0, 5);
	tcase_add_loop_test(tc, test_wrong_options, 0, COUNT(wrong));
	tcase_add_test(tc, test_unknown_stems);

	tc = tcase_create("normalisation");
	tcase_set_timeout(tc, 60);
	suite_add_tcase(suite, tc);
	tcase_add_loop_test(tc, test_written_otherwise, 0, COUNT(alike));
	tcase_add_test(tc, test_ignorable_characters);

	tc = tcase_create("profiles");
	tcase_set_timeout(tc, 60);
	suite_add_tcase(suite, tc);
	tcase_add_test(tc, test_each_feature);
	tcase_add_loop_test(tc, test_profile, 0, COUNT(profiles));
	tcase_add_loop_test(tc, test_differences, 0, COUNT(differences));
	tcase_add_test(tc, test_open_for);
	return suite;
}
