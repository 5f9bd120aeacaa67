/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Normalisation, features with their bytes, profiles, and extractors for an index.
 */

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

static simidx_text *open_text(const simidx_text_options *options)
{
	simidx_text *text = NULL;

	ck_assert_sx(simidx_text_open(options, &text, &sxt_err), SIMIDX_OK);
	return text;
}

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

	ck_assert_uint_eq(feature->hash, simidx_feature_hash(utf8, size));
	seen->n += (size_t)snprintf(seen->all + seen->n, sizeof(seen->all) - seen->n, "%u:%.*s|",
				    (unsigned)feature->weight, (int)size, utf8);
	return seen->stop_after && --seen->stop_after == 0 ? 7 : 0;
}

/* Names go with the features that a seed has given other hashes; these are from Python's xxhash,
 * by way of splitmix64. */
static int see_seeded(void *ctx, const simidx_feature *feature, const char *utf8, size_t size)
{
	unsigned *seen = ctx;

	if (size == 1 && !memcmp(utf8, "a", 1) && feature->hash == UINT64_C(0x2f7c4ce388c34261))
		*seen += 1;
	if (size == 3 && !memcmp(utf8, "b\x1f" "c", 3) &&
	    feature->hash == UINT64_C(0x53272bf18e85a575))
		*seen += 10;
	*seen += 100;
	return 0;
}

START_TEST(test_each_seeded)
{
	simidx_text_options options = { .size = SIZE, .seed = 7 };
	simidx_text *text = open_text(&options);
	unsigned seen = 0;

	ck_assert_sx(simidx_text_each_feature(text, "a b c b a", 9, see_seeded, &seen, &sxt_err),
		     SIMIDX_OK);
	ck_assert_uint_eq(seen, 711); /* seven features, each of the two once */
	simidx_text_close(text);
}
END_TEST

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
	ck_assert_str_eq(seen.all, "");
	ck_assert_sx(simidx_text_each_feature(text, "a b", 3, see, &seen, &sxt_err), SIMIDX_OK);
	ck_assert_str_eq(seen.all, "65536:a\x1f" "b|");
	simidx_text_close(text);
}
END_TEST

static uint32_t weight_of(const simidx_feature *features, size_t n, const char *bytes)
{
	uint32_t weight = 0;

	for (size_t i = 0; i < n; i++)
		if (features[i].hash == simidx_feature_hash(bytes, strlen(bytes)))
			weight += features[i].weight;
	return weight;
}

START_TEST(test_features)
{
	simidx_text_options options = { .size = SIZE, .weights = "raw", .grams = 1 };
	simidx_sketch sketch = SIMIDX_SKETCH_INIT, made = SIMIDX_SKETCH_INIT;
	const size_t large = (size_t)1 << 20;
	char *noise = malloc(8 * large);
	simidx_text *text = open_text(&options);
	const simidx_feature *features;
	size_t n;

	ck_assert_sx(simidx_text_features(text, "b a B c b a", 11, &features, &n, &sxt_err),
		     SIMIDX_OK);
	ck_assert_uint_eq(n, 3);
	ck_assert_uint_eq(weight_of(features, n, "b"), 3 << 16);
	ck_assert_uint_eq(weight_of(features, n, "a"), 2 << 16);
	ck_assert_uint_eq(weight_of(features, n, "c"), 1 << 16);
	ck_assert_sx(simidx_text_features(text, NULL, 0, &features, &n, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(n, 0);
	/* All are there of a text of which nothing is kept for the next one. */
	for (size_t i = 0; i < large; i++)
		sprintf(noise + 7 * i, "%06zu ", i % 900000);
	ck_assert_sx(simidx_text_features(text, noise, 7 * large, &features, &n, &sxt_err),
		     SIMIDX_OK);
	ck_assert_uint_eq(n, 900000);
	ck_assert_uint_eq(weight_of(features, n, "000000"), 2 << 16);
	ck_assert_uint_eq(weight_of(features, n, "899999"), 1 << 16);
	ck_assert_sx(simidx_text_features(text, "b", 1, NULL, &n, &sxt_err), SIMIDX_E_ARG);
	ck_assert_sx(simidx_text_features(text, "b", 1, &features, NULL, &sxt_err), SIMIDX_E_ARG);
	ck_assert_sx(simidx_text_features(NULL, "b", 1, &features, &n, &sxt_err), SIMIDX_E_ARG);
	ck_assert_sx(simidx_text_features(text, NULL, 1, &features, &n, &sxt_err), SIMIDX_E_ARG);
	ck_assert_sx(simidx_text_features(text, "b", ((size_t)1 << 30) + 1, &features, &n,
					  &sxt_err),
		     SIMIDX_E_RANGE);
	simidx_text_close(text);
	free(noise);

	/* What they are for. */
	text = open_text(NULL);
	ck_assert_sx(simidx_text_features(text, "one two three", 13, &features, &n, &sxt_err),
		     SIMIDX_OK);
	ck_assert_uint_eq(n, 5);
	ck_assert_sx(simidx_sketch_make(features, n, 64, 0, &made, &sxt_err), SIMIDX_OK);
	ck_assert_sx(simidx_text_fingerprint(text, "one two three", 13, 0, &sketch, &sxt_err),
		     SIMIDX_OK);
	ck_assert_uint_eq(made.fp, sketch.fp);
	simidx_text_close(text);
}
END_TEST

static const struct {
	simidx_text_options options;
	const char *profile;
} profiles[] = {
	{ { .size = SIZE },
	  "words12 v1 bits=64 grams=1,2 weights=sqrt hash=xxh3-64 seed=0 fp2=triples" },
	/* Few features, or those of a subject: both fingerprints are made from them. */
	{ { .size = SIZE, .top = 50 },
	  "words12 v1 bits=64 grams=1,2 weights=sqrt hash=xxh3-64 seed=0 top=50" },
	{ { .size = SIZE, .grams = 1, .weights = "log", .stem = "english" },
	  "words12 v1 bits=64 grams=1 weights=log hash=xxh3-64 seed=0 fp2=triples stem=english" },
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
	/* As long as it gets without stems. */
	{ { .size = SIZE, .extractor = "words12", .grams = 0xffff, .weights = "tfidf",
	    .top = 4000000000, .stop = "en,zh", .seed = UINT64_MAX, LIST(idf, "a 1"),
	    LIST(words, "b"), LIST(stop_words, "c"), .short_exact = 1, .min_tokens = 4000000000 },
	  "words12 v1 bits=64 grams=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16 weights=tfidf "
	  "hash=xxh3-64 seed=18446744073709551615 top=4000000000 stop=en,zh "
	  "stop-words=8c40219a46b9f81b words=575a0b1c44d8843f idf=32c2a426fb19b3c2 "
	  "exact=4000000000" },
};

START_TEST(test_profile_of_options)
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

START_TEST(test_differences_are_named)
{
	ck_assert_int_ne(sx_text_profile_check(differences[_i].stored, differences[_i].own,
					       &sxt_err),
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
	create.check_fps = simidx_text_check_fps(like, &create.n_check_fps);
	ck_assert_sx(simidx_create(path, &create, &index, &sxt_err), SIMIDX_OK);
	return index;
}

START_TEST(test_open_for)
{
	static const char idf[] = "a 1\nb 2";
	simidx_text_options options = { .size = SIZE, .extractor = "words1", .weights = "tfidf",
					.top = SIMIDX_TEXT_TOP_AUTO, .seed = 9, LIST(idf, idf) };
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
	given.stop = NULL;
	given.seed_given = 1;
	ck_assert_sx(simidx_text_open_for(index, &given, &same, &sxt_err), SIMIDX_E_MISMATCH);
	ck_assert_ptr_nonnull(strstr(sxt_err.text, "seed=9, not with seed=0"));
	ck_assert_ptr_null(same);
	simidx_close(index);
	simidx_text_close(text);
	sxt_remove(dir);
	free(path);
	free(dir);
}
END_TEST

/* Another rule of second fingerprints than those that are known. */
START_TEST(test_open_for_unknown_second_fingerprints)
{
	simidx_create_options create = SIMIDX_CREATE_OPTIONS_INIT;
	simidx_text_options options = { .size = SIZE };
	simidx_text *text = open_text(&options), *same = NULL;
	char *dir = sxt_dir_make(), *path = sxt_path(dir, "index");
	simidx *index = NULL;

	create.profile = "words12 v1 bits=64 grams=1,2 weights=sqrt hash=xxh3-64 seed=0 fp2=3";
	create.check_fps = simidx_text_check_fps(text, &create.n_check_fps);
	ck_assert_sx(simidx_create(path, &create, &index, &sxt_err), SIMIDX_OK);
	ck_assert_sx(simidx_text_open_for(index, NULL, &same, &sxt_err), SIMIDX_E_MISMATCH);
	ck_assert_ptr_nonnull(strstr(sxt_err.text, "with fp2=3"));
	ck_assert_ptr_null(same);
	simidx_close(index);
	simidx_text_close(text);
	sxt_remove(dir);
	free(path);
	free(dir);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_written_otherwise, 0, COUNT(alike) },
	{ &test_ignorable_characters, 0, 1 },
	{ &test_each_feature, 0, 1 },
	{ &test_each_seeded, 0, 1 },
	{ &test_features, 0, 1 },
	{ &test_profile_of_options, 0, COUNT(profiles) },
	{ &test_differences_are_named, 0, COUNT(differences) },
	{ &test_open_for, 0, 1 },
	{ &test_open_for_unknown_second_fingerprints, 0, 1 },
};

SXT_SUITE(text_profile, NULL, NULL);
