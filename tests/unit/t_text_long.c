/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * words12 on long texts: what is cut into stretches and pieces comes out as if it were not.
 */

#include <stdlib.h>
#include <string.h>

#include "support/sxt.h"
#include "support/sxt_text.h"
#include "text/sx_text.h"
#include "text/sx_text_stretch.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

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
 * Stretches
 */

START_TEST(test_stretches_end_at_breaks)
{
	const uint8_t *lines = (const uint8_t *)"ab\ncd ef  gh \xe3\x80\x82\xe4\xb8\xad";
	const uint8_t *marks = (const uint8_t *)"a \u0301 \uff9e \u0e33 \ufc5e -b";
	const uint8_t *han =
		(const uint8_t *)"\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad";
	const uint8_t *junk = (const uint8_t *)"\x80\x80\x80\x80\x80\x80\x80\x80";

	ck_assert_uint_eq(sx_stretch(lines, 19, 19, 64), 19);
	ck_assert_uint_eq(sx_stretch(lines, 19, 1, 64), 3);
	ck_assert_uint_eq(sx_stretch(lines, 19, 4, 64), 6);
	ck_assert_uint_eq(sx_stretch(lines, 19, 7, 64), 10);  /* the second of two spaces */
	ck_assert_uint_eq(sx_stretch(lines, 19, 11, 64), 16); /* behind the full stop */
	ck_assert_uint_eq(sx_stretch(lines, 19, 17, 64), 19);
	/* Marks, letters that begin with a mark or a space in NFKC, signs: no place to start. */
	ck_assert_uint_eq(sx_stretch(marks, 19, 1, 64), 19);
	/* Without a good place: as many whole characters as are allowed. */
	ck_assert_uint_eq(sx_stretch(han, 12, 1, 7), 6);
	ck_assert_uint_eq(sx_stretch(han, 12, 1, 6), 6);
	ck_assert_uint_eq(sx_stretch(han, 12, 1, 12), 12);
	ck_assert_uint_eq(sx_stretch(junk, 8, 1, 6), 6);
}
END_TEST

/* Pieces that meet in every order: what joins, extends, composes, looks ahead or separates. */
/* clang-format off */
static const char *const pieces[] = {
	"a", "B", "word", "z", "1", "23", ".", ",", ":", "'", "\"", "_", " ", " ", " ", "  ",
	"\n", "\r\n", "\r", "\t", "\u00a0", "\u3000", "\u0301", "\u0323", "\u200d", "\u00ad",
	"\u0345", "\u3002", "\u3002", "\uff0c", "\uff11", "\uff21", "\uff76", "\uff9e",
	"\uff9f", "\u3099", "\u30ab", "\u3042", "\u6f22", "\u5b57", "\u6211", "\u4eec",
	"\u559c", "\u6b22", "\u97f3", "\u4e50", "\u0e20", "\u0e32", "\u0e29",
	"\u0e32\u0e44\u0e17\u0e22", "\u0e33", "\u05e6", "\u05d4", "\u0627", "\u0661", "\u1112",
	"\u1161", "\u11ab", "\ud55c", "\ufdfa", "\ufb01", "\u00df", "\u0130", "\u0390",
	"\u03b1", "\u0430", "\u0915", "\u094d", "\u093f", "\U0001f1eb", "\U0001f1f7",
	"\U0001f469", "\U0001f3fd", "\U0001d400", "\U00020000", "\ufe0f", "\u00a8", "\u0384",
	"\u2026", "\u00b2", "\xff", "\xe4\xb8", "\x80", "\xc2\x85", "\u2028", "\u1e9e",
	"\u0f0b", "\u0f40", "\u1780", "\u1000",
};
/* clang-format on */

START_TEST(test_stretches_change_nothing)
{
	unsigned n_texts = sxt_is_long() ? 100000 : 3000, i, j, n;
	simidx_sketch whole, cut;
	size_t size, at, n_cuts = 0;
	char utf8[2048];
	sxt_rng rng;

	sxt_rng_init(&rng, 702);
	for (i = 0; i < n_texts; i++) {
		size = 0;
		n = 1 + (unsigned)sxt_rng_below(&rng, 150);
		for (j = 0; j < n; j++) {
			const char *piece = pieces[sxt_rng_below(&rng, COUNT(pieces))];

			memcpy(utf8 + size, piece, strlen(piece));
			size += strlen(piece);
		}
		text->stretch = SIZE_MAX;
		whole = sxt_sketch_of_text(text, utf8, size);
		text->stretch = 1;
		cut = sxt_sketch_of_text(text, utf8, size);
		utf8[size] = '\0';
		sxt_assert_sketch(&cut, &whole, utf8);
		for (at = 0; at < size; n_cuts++)
			at += sx_stretch((uint8_t *)utf8 + at, size - at, 1,
					 SX_STRETCH_MAX_BYTES);
	}
	ck_assert_uint_gt(n_cuts, 2 * n_texts);
}
END_TEST

START_TEST(test_forced_cut)
{
	simidx_sketch got, want = sxt_sketch_of_words("aaaaaaaa|aaaaaaaa|aaaa|b", 64);

	text->stretch = 1;
	text->stretch_max = 8;
	got = sxt_sketch_of_text(text, "aaaaaaaaaaaaaaaaaaaa b", 22);
	sxt_assert_sketch(&got, &want, "forced cut");
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * Long texts
 */

/** The sketch of one word of n times the same bytes. */
static simidx_sketch of_one_word(const char *bytes, size_t n)
{
	simidx_sketch sketch = SIMIDX_SKETCH_INIT;
	size_t size = strlen(bytes), i;
	simidx_feature feature, triple;
	char *word = sxt_alloc(n * size);

	for (i = 0; i < n; i++)
		memcpy(word + i * size, bytes, size);
	sxt_feature(&feature, word, n * size, 1);
	sxt_run(&triple, word, n * size);
	ck_assert_sx(simidx_sketch_make(&feature, 1, 64, SXT_SKETCH_ALL, &sketch, &sxt_err),
		     SIMIDX_OK);
	sxt_set_triples(&sketch, &triple, 1);
	sketch.n_tokens = 1;
	sketch.flags |= SIMIDX_SKETCH_SHORT;
	free(word);
	return sketch;
}

/** Assert that `n` times `bytes` is one word: n times `want`. */
static void check_one_word(const char *bytes, size_t n, const char *want)
{
	size_t size = strlen(bytes), i;
	simidx_sketch got, wanted = of_one_word(want, n);
	char *utf8 = sxt_alloc(n * size);

	for (i = 0; i < n; i++)
		memcpy(utf8 + i * size, bytes, size);
	got = sxt_sketch_of_text(text, utf8, n * size);
	sxt_assert_sketch(&got, &wanted, bytes);
	free(utf8);
}

/** Write word number i, 7 bytes. */
static void put_word(char *out, size_t i)
{
	static const char digits[] = "0123456789abcdef";
	unsigned shift;

	*out++ = 'w';
	for (shift = 24; shift; shift -= 4)
		*out++ = digits[i >> (shift - 4) & 15];
}

/**
 * A line of `n` words out of `distinct` ones in turn, separated by a space, and its sketch.
 * 2 <= distinct < n, distinct <= 2^24.
 */
static char *make_line(size_t n, size_t distinct, simidx_sketch *sketch)
{
	simidx_feature *features = sxt_alloc(2 * distinct * sizeof(*features));
	char *line = sxt_alloc(8 * n), pair[23];
	size_t i;

	for (i = 0; i < n; i++) {
		put_word(line + 8 * i, i % distinct);
		line[8 * i + 7] = ' ';
	}
	pair[7] = 0x1f;
	for (i = 0; i < distinct; i++) {
		put_word(pair, i);
		put_word(pair + 8, (i + 1) % distinct);
		/* Word i stands at i, i + distinct, ...; so does the pair, but not at the end. */
		sxt_feature(&features[2 * i], pair, 7,
			    (unsigned)((n - i + distinct - 1) / distinct));
		sxt_feature(&features[2 * i + 1], pair, 15,
			    (unsigned)((n - 1 - i + distinct - 1) / distinct));
	}
	*sketch = (simidx_sketch)SIMIDX_SKETCH_INIT;
	ck_assert_sx(simidx_sketch_make(features, 2 * distinct, 64, SXT_SKETCH_ALL, sketch,
					  &sxt_err),
		     SIMIDX_OK);
	/* Each triple once; the last words begin none. */
	pair[15] = 0x1f;
	for (i = 0; i < distinct && i + 2 < n; i++) {
		put_word(pair, i);
		put_word(pair + 8, (i + 1) % distinct);
		put_word(pair + 16, (i + 2) % distinct);
		sxt_run(&features[i], pair, 23);
	}
	sxt_set_triples(sketch, features, i);
	sketch->n_tokens = n;
	free(features);
	return line;
}

static void check_line(size_t n, size_t distinct)
{
	simidx_sketch got, want;
	char *line = make_line(n, distinct, &want);

	got = sxt_sketch_of_text(text, line, 8 * n);
	sxt_assert_sketch(&got, &want, "one line");
	/* In parts: 8,192 slots of features, and as many of triples. */
	simidx_text_limit(text, 1);
	got = sxt_sketch_of_text(text, line, 8 * n);
	ck_assert_uint_le(text->features.n_slots, 8192);
	ck_assert_uint_le(text->triples.n_slots, 8192);
	simidx_text_limit(text, 0);
	sxt_assert_sketch(&got, &want, "one line in parts");
	free(line);
}

START_TEST(test_one_line)
{
	check_line(262144, 1000);   /* 2 MiB, the same pairs again and again */
	check_line(262144, 100000); /* many features: the table of counts grows */
	check_line(60000, 59999);
}
END_TEST

/* What weighs most only all features tell: a limit to their memory changes no fingerprint. */
START_TEST(test_top_of_many_features)
{
	static const uint32_t tops[] = { 500, SIMIDX_TEXT_TOP_AUTO, SIMIDX_TEXT_TOP_ALL };
	simidx_text_options options = SIMIDX_TEXT_OPTIONS_INIT;
	const size_t n = 100000;
	char *line = sxt_alloc(8 * n);

	/* Some words come often, most of them once or twice. */
	for (size_t i = 0; i < n; i++) {
		put_word(line + 8 * i, i % 3 ? i * 7919 % 60013 : i % 997);
		line[8 * i + 7] = ' ';
	}
	options.top = tops[_i];
	simidx_text_close(text);
	ck_assert_sx(simidx_text_open(&options, &text, &sxt_err), SIMIDX_OK);
	for (int seconds = 0; seconds < 2; seconds++) {
		unsigned flags = seconds ? SXT_SKETCH_ALL : SIMIDX_SKETCH_WEIGHTS;
		simidx_sketch whole = SIMIDX_SKETCH_INIT, limited = SIMIDX_SKETCH_INIT;

		simidx_text_limit(text, 0);
		ck_assert_sx(simidx_text_fingerprint(text, line, 8 * n, flags, &whole, &sxt_err),
			     SIMIDX_OK);
		simidx_text_limit(text, 1);
		ck_assert_sx(simidx_text_fingerprint(text, line, 8 * n, flags, &limited, &sxt_err),
			     SIMIDX_OK);
		sxt_assert_sketch(&limited, &whole, seconds ? "both" : "the first");
	}
	free(line);
}
END_TEST

START_TEST(test_long_words)
{
	check_one_word("a", 2 << 20, "a");
	check_one_word("\u00c4", 300000, "\u00e4");
	check_one_word("\u00df", 300000, "ss"); /* longer in UTF-16 than before */
	check_one_word("\ufb01", 3001, "fi");
	check_one_word("\U0001d400", 3001, "a");
	/* Three units each, so that every way to cut them apart would occur. */
	check_one_word("x\u0308\u0323", 3001, "\u1e8d\u0323");
}
END_TEST

/** Pieces of a run without a place to start anew do not end between two surrogates. */
START_TEST(test_long_run)
{
	size_t n = 2000, i;
	char *utf8 = sxt_alloc(3 + 4 * n + 1), *word = sxt_alloc(2 + 4 * n + 1);
	simidx_sketch got, want;

	memcpy(utf8, "\ufb01", 3);
	memcpy(word, "fi", 2);
	for (i = 0; i < n; i++) {
		memcpy(utf8 + 3 + 4 * i, "\U0001d165", 4);
		memcpy(word + 2 + 4 * i, "\U0001d165", 4);
	}
	got = sxt_sketch_of_text(text, utf8, 3 + 4 * n);
	want = sxt_sketch_of_words(word, 64);
	sxt_assert_sketch(&got, &want, "long run");
	free(utf8);
	free(word);
}
END_TEST

/** U+FDFA is three bytes and becomes 18 characters, four words. */
START_TEST(test_normalisation_that_expands)
{
	size_t n = 300000, i;
	char *utf8 = sxt_alloc(3 * n);
	simidx_sketch got;

	for (i = 0; i < n; i++)
		memcpy(utf8 + 3 * i, "\ufdfa", 3);
	got = sxt_sketch_of_text(text, utf8, 3 * n);
	/* The last word of each joins the first of the next one. */
	ck_assert_uint_eq(got.n_tokens, 3 * n + 1);
	ck_assert_uint_eq(got.n_features, 4 + 1 + 3 + 2);
	free(utf8);
}
END_TEST

START_TEST(test_many_marks)
{
	size_t n = 400000, i;
	char *one = sxt_alloc(1 + 4 * n), *other = sxt_alloc(1 + 4 * n);
	simidx_sketch got, want;

	one[0] = other[0] = 'q';
	for (i = 0; i < n; i++) {
		memcpy(one + 1 + 4 * i, "\u0307\u0323", 4);
		memcpy(other + 1 + 4 * i, "\u0323\u0307", 4);
	}
	/* Up to 1,024 units the order does not matter; beyond, the result is only defined. */
	got = sxt_sketch_of_text(text, one, 1 + 4 * 511);
	want = sxt_sketch_of_text(text, other, 1 + 4 * 511);
	sxt_assert_sketch(&got, &want, "order of marks");
	got = sxt_sketch_of_text(text, one, 1 + 4 * n);
	ck_assert_uint_eq(got.n_tokens, 1);
	free(one);
	free(other);
}
END_TEST

/** Random words and lines, the same at every call. */
static void fill(char *line, size_t n)
{
	sxt_rng rng;
	size_t i;

	sxt_rng_init(&rng, 703);
	for (i = 0; i < n; i++)
		line[i] = "abcdefgh -\n"[sxt_rng_below(&rng, 11)];
}

START_TEST(test_extractor_after_long_text)
{
	static const char small[] =
		"After a very long text a short one is what it was before.";
	simidx_sketch before, after, long_before, long_after;
	size_t n = 4 << 20;
	char *line = sxt_alloc(n);

	fill(line, n);
	before = sxt_sketch_of_text(text, small, strlen(small));
	long_before = sxt_sketch_of_text(text, line, n);
	after = sxt_sketch_of_text(text, small, strlen(small));
	sxt_assert_sketch(&after, &before, small);
	memset(line, 'x', n - 1);
	line[n - 1] = '!';
	sxt_sketch_of_text(text, line, n);
	/* The buffers of a stretch of 4 MB are not kept. */
	ck_assert_uint_lt(text->units.room, n);
	ck_assert_uint_lt(text->spare.room, n);
	ck_assert_uint_lt(text->words.room, n);
	after = sxt_sketch_of_text(text, small, strlen(small));
	sxt_assert_sketch(&after, &before, small);
	fill(line, n);
	long_after = sxt_sketch_of_text(text, line, n);
	sxt_assert_sketch(&long_after, &long_before, "long");
	free(line);
}
END_TEST

START_TEST(test_100_mb)
{
	size_t n = 100000000, i;
	simidx_sketch got;
	char *utf8;

	if (!sxt_is_long())
		sxt_skip("long: SIMIDX_LONG=1");
	check_line(n / 8, 5000000);
	check_one_word("a", n, "a");
	utf8 = sxt_alloc(n);
	for (i = 0; i + 18 <= n; i += 18)
		memcpy(utf8 + i, "我们喜欢音乐", 18);
	got = sxt_sketch_of_text(text, utf8, i);
	ck_assert_uint_eq(got.n_tokens, i / 18 * 3);
	free(utf8);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_stretches_end_at_breaks, 0, 1 },
	{ &test_stretches_change_nothing, 0, 1 },
	{ &test_forced_cut, 0, 1 },
	{ &test_one_line, 0, 1 },
	{ &test_top_of_many_features, 0, 3 },
	{ &test_long_words, 0, 1 },
	{ &test_long_run, 0, 1 },
	{ &test_normalisation_that_expands, 0, 1 },
	{ &test_many_marks, 0, 1 },
	{ &test_extractor_after_long_text, 0, 1 },
	{ &test_100_mb, 0, 1 },
};

SXT_SUITE(text_long, set_up, tear_down);
