/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Words of ASCII without ICU: with or without, the words are the same, in the same order. The
 * oracle normalises a text as a whole and has ICU split it as a whole.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unicode/unorm2.h>
#include <unicode/ustring.h>

#include "support/sxt.h"
#include "support/sxt_text.h"
#include "text/sx_text.h"
#include "text/sx_text_stretch.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define BREAK_TESTS "/usr/share/unicode/auxiliary/WordBreakTest.txt"
#define LINE_BYTES 1024

/** A growing string of bytes. */
typedef struct bytes {
	char *at;
	size_t n, room;
} bytes;

static sx_words words;
static sx_units units, spare;
static UBreakIterator *breaks;
static bytes text, got, want;
static uint64_t n_words;

static void add(bytes *to, const void *from, size_t n)
{
	if (to->n + n + 1 > to->room) {
		to->room = 2 * (to->n + n + 1);
		to->at = realloc(to->at, to->room);
		ck_assert_ptr_nonnull(to->at);
	}
	memcpy(to->at + to->n, from, n);
	to->n += n;
	to->at[to->n] = '\0';
}

static void set_up(void)
{
	UErrorCode status = U_ZERO_ERROR;

	/* Without CK_FORK another test may have run before. */
	memset(&words, 0, sizeof(words));
	units = spare = (sx_units){ NULL, 0, 0 };
	text = got = want = (bytes){ NULL, 0, 0 };
	n_words = 0;
	words.ascii = sx_ascii_shared();
	/* Else nothing here is tested, and texts in English take three times as long. */
	ck_assert_ptr_nonnull(words.ascii);
	breaks = ubrk_open(UBRK_WORD, "", NULL, 0, &status);
	ck_assert(U_SUCCESS(status));
	add(&text, "", 0);
}

static void tear_down(void)
{
	ubrk_close(breaks);
	sx_words_free(&words);
	free(units.at);
	free(spare.at);
	free(text.at);
	free(got.at);
	free(want.at);
}

/* ------------------------------------------------------------------------------------------
 * Words in two ways
 */

/** Append the words of a stretch to `got`, each with a joint behind it. */
static void split_stretch(const uint8_t *utf8, size_t size)
{
	size_t old;

	sxt_must(!sx_words_stretch(&words, &utf8, &size, &sxt_err));
	sxt_must(!sx_decode(&units, utf8, size, &sxt_err));
	sxt_must(!sx_nfkc(&units, &spare, &sxt_err));
	sxt_must(!sx_fold(&units, &spare, &sxt_err));
	sxt_must(!sx_words_split(&words, &units, &sxt_err));
	for (;;) {
		sxt_must(!sx_words_fill(&words, &sxt_err));
		if (words.n == words.n_old)
			break;
		old = words.n_old ? words.end[0] + 1 : 0;
		add(&got, words.bytes + old, words.end[words.n - 1] + 1 - old);
		n_words += words.n - words.n_old;
	}
}

/** Put ICU's words of the whole text in `want`. */
static void split_whole(void)
{
	UErrorCode status = U_ZERO_ERROR;
	const UNormalizer2 *nfkc = unorm2_getNFKCInstance(&status);
	int32_t start = 0, end, n, n_utf8;
	size_t most;
	char *utf8;

	want.n = 0;
	sxt_must(!sx_decode(&units, (uint8_t *)text.at, text.n, &sxt_err));
	most = 18 * units.n + 1;
	sxt_must(!sx_units_reserve(&spare, most, &sxt_err));
	n = unorm2_normalize(nfkc, units.at, (int32_t)units.n, spare.at, (int32_t)most,
			     &status);
	most = 3 * (size_t)n + 1;
	sxt_must(!sx_units_reserve(&units, most, &sxt_err));
	n = u_strFoldCase(units.at, (int32_t)most, spare.at, n, U_FOLD_CASE_DEFAULT, &status);
	ubrk_setText(breaks, units.at, n, &status);
	sxt_must(U_SUCCESS(status));
	utf8 = sxt_alloc(3 * (size_t)n + 1);
	for (; (end = ubrk_next(breaks)) != UBRK_DONE; start = end) {
		if (ubrk_getRuleStatus(breaks) < UBRK_WORD_NONE_LIMIT)
			continue;
		u_strToUTF8(utf8, 3 * n + 1, &n_utf8, units.at + start, end - start, &status);
		sxt_must(U_SUCCESS(status));
		add(&want, utf8, (size_t)n_utf8);
		add(&want, "\037", 1);
	}
	free(utf8);
}

/** Compare the words of `text`, in stretches of about `stretch` bytes. Empties it. */
static void check_text(size_t stretch)
{
	const uint8_t *utf8 = (const uint8_t *)text.at;
	size_t rest = text.n, n, i;

	got.n = 0;
	sx_words_begin(&words);
	for (; rest; utf8 += n, rest -= n) {
		n = sx_stretch(utf8, rest, stretch, SX_STRETCH_MAX_BYTES);
		split_stretch(utf8, n);
	}
	split_whole();
	for (i = 0; i < got.n && i < want.n && got.at[i] == want.at[i]; i++)
		continue;
	if (i < got.n || i < want.n)
		ck_abort_msg("words differ at byte %zu: ...%.40s, not ...%.40s", i,
			     got.n ? got.at + (i < 10 ? 0 : i - 10) : "",
			     want.n ? want.at + (i < 10 ? 0 : i - 10) : "");
	text.n = 0;
}

/* ------------------------------------------------------------------------------------------
 * All short strings
 */

/**
 * Check all rows of `length` out of n strings, with `between` behind each of them. Texts are
 * long, because ICU takes its time to begin one.
 */
static void check_rows(const char *const *strings, size_t n, unsigned length,
		       const char *between)
{
	size_t n_rows = 1, row, rest;
	unsigned i;

	for (i = 0; i < length; i++)
		n_rows *= n;
	for (row = 0; row < n_rows; row++) {
		for (i = 0, rest = row; i < length; i++, rest /= n)
			add(&text, strings[rest % n], strlen(strings[rest % n]));
		add(&text, between, strlen(between));
		if (text.n > 100000)
			check_text(SIZE_MAX);
	}
	check_text(SIZE_MAX);
}

START_TEST(test_all_of_ascii)
{
	unsigned i, a = (unsigned)_i, b, c;

	for (i = 0; i < 16; i++) {
		for (b = 0; b < 128; b++) {
			for (c = 0; c < 128; c++) {
				char row[4] = { (char)(16 * a + i), (char)b, (char)c, '\n' };

				add(&text, row, 4);
			}
		}
		check_text(SIZE_MAX);
	}
	ck_assert_uint_gt(n_words, 10000);
}
END_TEST

/* What the rules tell apart in ASCII. */
static const char *const kinds[] = { "a", "1", "_", ".", ",", "'", "@", ":", " ", "\n" };

START_TEST(test_kinds_of_characters)
{
	unsigned length, longest = sxt_is_long() ? 7 : 6;

	for (length = 1; length <= longest; length++)
		check_rows(kinds, COUNT(kinds), length, "\n");
	ck_assert_uint_gt(n_words, 100000);
}
END_TEST

/* The same with what joins, extends, composes or separates across the end of ASCII. */
static const char *const neighbours[] = {
	"a", "1", "_", ".", "'", "\"", " ", "\n", "\r", "\u00e9", "\u0301", "\u200d", "\u2019",
	"\u05d0", "\u30ab", "\u4e2d",
};

static const char *const betweens[] = { "\n", " b ", "", "b", " ", ". (" };

START_TEST(test_neighbours)
{
	unsigned length, longest = sxt_is_long() ? 5 : 4;

	for (length = 1; length <= longest; length++)
		check_rows(neighbours, COUNT(neighbours), length, betweens[_i]);
	ck_assert_uint_gt(n_words, 1000);
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * Random texts
 */

/* Of other kinds again. */
/* clang-format off */
static const char *const others[] = {
	"\u00e9", "\u0301", "\u200d", "\u00ad", "\u2019", "\u201c", "\u201d", "\u2014",
	"\u2026", "\u00a0", "\u3000", "\u00b2", "\u00bd", "\u00b7", "\ufb01", "\u00df",
	"\u0130", "\u1e9e", "\u05d0", "\u05d4", "\u30ab", "\uff76", "\uff9e", "\u3099",
	"\u3042", "\u4e2d", "\u6587\u5b57", "\u3002", "\uff0c", "\uff21", "\uff11", "\uff0e",
	"\uff07", "\ufe55", "\u0e01", "\u0e32", "\u0e33", "\u0e20\u0e32", "\u0661",
	"\u066b", "\u202f", "\u2028", "\xc2\x85", "\u0915\u094d", "\u1100", "\u1161",
	"\ud55c", "\U0001f1eb", "\U0001f469", "\U0001f3fd", "\ufe0f", "\u20e3",
	"\U0001d400", "\ufeff", "\u2060", "\u203f", "\u00aa", "\u037e",
	"\u0387", "\xff", "\xe4\xb8", "\x80", "\xc2", "\xed\xa0\x80", "\xf0\x9f\x91",
};
/* clang-format on */

/** One word of 1..12 letters or digits. */
static void add_random_word(sxt_rng *rng)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123";
	size_t n = 1 + (size_t)sxt_rng_below(rng, 12);

	while (n--)
		add(&text, &letters[sxt_rng_below(rng, sizeof(letters) - 1)], 1);
}

/** Words, signs and any characters of ASCII; one piece in `rare` is another one. */
static void add_random(sxt_rng *rng, size_t n_pieces, unsigned rare)
{
	static const char signs[] = "      \n\n.,;:'\"-_()@/\r\t";
	const char *other;
	char c;

	while (n_pieces--) {
		if (rare && !sxt_rng_below(rng, rare)) {
			other = others[sxt_rng_below(rng, COUNT(others))];
			add(&text, other, strlen(other));
		} else if (!sxt_rng_below(rng, 16)) {
			c = (char)sxt_rng_below(rng, 128);
			add(&text, &c, 1);
		} else if (sxt_rng_below(rng, 2)) {
			add_random_word(rng);
		} else {
			add(&text, &signs[sxt_rng_below(rng, sizeof(signs) - 1)], 1);
		}
	}
}

/** Short stretches and long ones, few words and several batches. */
START_TEST(test_random_texts)
{
	static const unsigned rare[] = { 0, 2, 5, 30, 300 };
	static const size_t stretch[] = { 1, 100, 5000, SX_STRETCH_BYTES, SIZE_MAX };
	unsigned i, rounds = sxt_is_long() ? 2000 : 40;
	sxt_rng rng;

	sxt_rng_init(&rng, 710 + (unsigned)_i);
	for (i = 0; i < rounds; i++) {
		add_random(&rng, 1 + (size_t)sxt_rng_below(&rng, i % 8 ? 100 : 20000),
			   rare[_i]);
		check_text(stretch[i % 5]);
	}
	ck_assert_uint_gt(n_words, 4 * SX_WORDS_BATCH);
}
END_TEST

START_TEST(test_random_bytes)
{
	unsigned i, j, rounds = sxt_is_long() ? 20000 : 1000;
	sxt_rng rng;
	char c;

	sxt_rng_init(&rng, 720);
	for (i = 0; i < rounds; i++) {
		for (j = 0; j < 200; j++) {
			c = (char)(sxt_rng_u64(&rng) >> (j % 4 ? 57 : 56));
			add(&text, &c, 1);
		}
		check_text(i % 2 ? 1 : SIZE_MAX);
	}
}
END_TEST

/** All the ends of a batch, in and around words of both kinds. */
START_TEST(test_ends_of_a_batch)
{
	static const char *const around[] = {
		"a b c \u00e9 d", "\u00e9 \u00e9 \u00e9", "\u4e2d\u6587\u5b57 a", "a\u2019s b\nc",
	};
	size_t start, i;

	for (start = SX_WORDS_BATCH - 8; start <= SX_WORDS_BATCH + 2; start++) {
		for (i = 0; i < start; i++)
			add(&text, i % 5 ? "w " : "w\u00e9 ", i % 5 ? 2 : 4);
		add(&text, around[_i], strlen(around[_i]));
		check_text(SIZE_MAX);
	}
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * Unicode's own break tests, where the system has them
 */

/** Read the characters of a line: hexadecimal numbers between other signs, up to '#'. */
static void add_line(char *line)
{
	char *at = line, utf8[4];
	UBool is_bad = 0;
	int32_t n;

	line[strcspn(line, "#\n")] = '\0';
	while (*(at += strcspn(at, "0123456789ABCDEF"))) {
		n = 0;
		U8_APPEND(utf8, n, 4, strtol(at, &at, 16), is_bad);
		sxt_must(!is_bad);
		add(&text, utf8, (size_t)n);
	}
}

/** Without the file there is nothing to do; word_breaks.sh tells. */
START_TEST(test_unicode_break_tests)
{
	const char *path = getenv("SIMIDX_WORD_BREAK_TEST");
	FILE *file = fopen(path ? path : BREAK_TESTS, "r");
	char line[LINE_BYTES], copy[LINE_BYTES];
	unsigned i, n_lines = 0;

	if (!file)
		sxt_skip("no file of break tests: word_breaks.sh gives it");
	for (; fgets(line, sizeof(line), file); n_lines += *line != '#') {
		for (i = 0; i < COUNT(betweens); i++) {
			add(&text, "word", 4);
			add(&text, betweens[i], strlen(betweens[i]));
			memcpy(copy, line, sizeof(copy));
			add_line(copy);
			add(&text, betweens[i], strlen(betweens[i]));
			add(&text, "word", 4);
			check_text(SIZE_MAX);
		}
		add_line(line);
		check_text(SIZE_MAX);
	}
	fclose(file);
	ck_assert_uint_gt(n_lines, 1000);
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * Islands and learning
 */

START_TEST(test_islands)
{
	static const struct {
		const char *utf8;
		size_t pos, start, end;
	} cases[] = {
		{ "only ASCII", 0, 10, 10 },
		{ "", 0, 0, 0 },
		{ "one caf\u00e9 two", 0, 3, 10 },
		{ "one\ncaf\u00e9\ntwo", 0, 4, 10 },
		{ "caf\u00e9. two", 0, 0, 7 },
		{ "caf\u00e9 - two", 0, 0, 6 },
		{ "one two \u0301x", 0, 7, 11 },     /* marks belong to what is before */
		{ "one  \u4e2d \u6587 x", 0, 4, 13 }, /* so do characters behind a space */
		{ "a\u00e9 b\u00e9", 4, 4, 7 },
	};
	size_t end, start;
	unsigned i;

	for (i = 0; i < COUNT(cases); i++) {
		start = sx_ascii_island((const uint8_t *)cases[i].utf8, cases[i].pos,
					strlen(cases[i].utf8), &end);
		ck_assert_msg(start == cases[i].start && end == cases[i].end,
			      "\"%s\": %zu to %zu", cases[i].utf8, start, end);
	}
}
END_TEST

START_TEST(test_kinds_are_learnt_from_icu)
{
	UErrorCode status = U_ZERO_ERROR;
	sx_ascii learnt;

	ck_assert(sx_ascii_learn(&learnt, breaks, &status));
	ck_assert_mem_eq(&learnt, words.ascii, sizeof(learnt));
	/* The same in all versions of the Unicode Standard. */
	ck_assert_uint_eq(learnt.kind['Z'], SX_ASCII_LETTER);
	ck_assert_uint_eq(learnt.kind['7'], SX_ASCII_DIGIT);
	ck_assert_uint_eq(learnt.kind['_'], SX_ASCII_JOINER);
	ck_assert_uint_eq(learnt.kind['.'], SX_ASCII_MID_LETTER | SX_ASCII_MID_DIGIT);
	ck_assert_uint_eq(learnt.kind[','], SX_ASCII_MID_DIGIT);
	ck_assert_uint_eq(learnt.kind[' '], 0);
	ck_assert_uint_eq(learnt.kind['\n'], 0);
	ck_assert_uint_eq(learnt.kind[0xe9], 0);
	/* When ICU fails, nothing is known. */
	status = U_MEMORY_ALLOCATION_ERROR;
	ck_assert(!sx_ascii_learn(&learnt, breaks, &status));
}
END_TEST

/** Where ICU does something else than is known here, that is noticed. */
START_TEST(test_what_icu_does_otherwise_is_noticed)
{
	static const struct {
		char c;
		uint8_t kind;
	} wrong[] = {
		{ ' ', SX_ASCII_LETTER }, { ' ', SX_ASCII_MID_LETTER },
		{ '!', SX_ASCII_JOINER }, { '0', SX_ASCII_LETTER },
		{ '\'', SX_ASCII_MID_LETTER }, { '\'', SX_ASCII_WORD },
		{ ',', SX_ASCII_MID_DIGIT | SX_ASCII_MID_LETTER | SX_ASCII_JOINER },
		{ 'A', SX_ASCII_LETTER | SX_ASCII_DIGIT },
	};
	UErrorCode status = U_ZERO_ERROR;
	sx_ascii ascii = *words.ascii;

	ck_assert(sx_ascii_check(&ascii, breaks, &status));
	ascii.kind[(uint8_t)wrong[_i].c] = wrong[_i].kind;
	ck_assert(!sx_ascii_check(&ascii, breaks, &status));
	ck_assert(U_SUCCESS(status));
}
END_TEST

/** Without what was learnt, ICU does all. */
START_TEST(test_icu_alone)
{
	sxt_rng rng;

	words.ascii = NULL;
	sxt_rng_init(&rng, 730);
	add_random(&rng, 20000, 20);
	check_text(SX_STRETCH_BYTES);
	add(&text, "", 0);
	split_stretch((const uint8_t *)"", 0);
	ck_assert_uint_gt(n_words, 1000);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_all_of_ascii, 0, 8 },
	{ &test_kinds_of_characters, 0, 1 },
	{ &test_neighbours, 0, COUNT(betweens) },
	{ &test_random_texts, 0, 5 },
	{ &test_random_bytes, 0, 1 },
	{ &test_ends_of_a_batch, 0, 4 },
	{ &test_unicode_break_tests, 0, 1 },
	{ &test_islands, 0, 1 },
	{ &test_kinds_are_learnt_from_icu, 0, 1 },
	{ &test_what_icu_does_otherwise_is_noticed, 0, 8 },
	{ &test_icu_alone, 0, 1 },
};

SXT_SUITE(text_ascii, set_up, tear_down);
