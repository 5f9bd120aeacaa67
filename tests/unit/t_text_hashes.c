/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The hashes of a text are its features, for every extractor; and ASCII that is split without ICU
 * has the tokens that ICU's way to them gives, whatever stands beside it.
 */

#include <stdlib.h>
#include <string.h>

#include "support/sxt.h"
#include "text/sx_text.h"
#include "text/sx_text_normalise.h"

/* Pieces of texts: what may reach over its neighbours, and what ASCII has. */
static const char *const pieces[] = {
	"word", "A", "x9", "Z", "the", " ", " ", " ", "\n", "\t", "\r\n", ".", "-", "_", "'",
	"\xc3\xa9", "\xcc\x81", "e\xcc\x81", " \xcc\x81", "\xc2\xa0", "\xc2\xad", "\xe2\x80\x8b",
	"\xe2\x80\x8d", "\xe5\xa4\xa9\xe5\x9c\xb0", "\xe3\x83\xbc", "\xe3\x81\x8c", "\xe3\x82\x99",
	"\xe0\xb8\x81\xe0\xb9\x88", "\xef\xbc\xa1", "\xef\xac\x81", "\xc4\xb0", "\xff", "\xc3",
	"\xe2\x85\xa3", "\xf0\x9d\x90\x80", "\xf0\x9f\x98\x80", "\x1f", "\x7f", "\xe3\x80\x82",
};

#define N_PIECES (sizeof(pieces) / sizeof(pieces[0]))
#define MOST 400

/* Mostly ASCII, or anything. */
static size_t make_text(sxt_rng *rng, char text[MOST])
{
	size_t n = sxt_rng_below(rng, 60), size = 0;
	size_t of = sxt_rng_below(rng, 3) ? N_PIECES : 15;

	for (size_t i = 0; i < n; i++) {
		const char *piece = pieces[sxt_rng_below(rng, of)];

		if (size + strlen(piece) > MOST)
			break;
		memcpy(text + size, piece, strlen(piece));
		size += strlen(piece);
	}
	return size;
}

struct tokens {
	char bytes[8 * MOST];
	size_t n;
};

static int take(void *ctx, const char *bytes, size_t size, simidx_error *err)
{
	struct tokens *tokens = ctx;

	(void)err;
	sxt_must(tokens->n + size + 1 <= sizeof(tokens->bytes));
	memcpy(tokens->bytes + tokens->n, bytes, size);
	tokens->n += size;
	tokens->bytes[tokens->n++] = '|';
	return SIMIDX_OK;
}

/* All of the text by way of ICU. */
static void split_whole(const char *text, size_t size, int unspaced, struct tokens *out)
{
	sx_units units = { 0 }, spare = { 0 };
	sx_bytes token = { 0 };

	sxt_must_ok(sx_decode(&units, (const uint8_t *)text, size, &sxt_err));
	units.n = sx_drop_ignorable(units.at, units.n);
	sxt_must_ok(sx_nfkc(&units, &spare, &sxt_err));
	sxt_must_ok(sx_fold(&units, &spare, &sxt_err));
	out->n = 0;
	sxt_must_ok(sx_han_split(units.at, units.n, unspaced, &token, take, out, &sxt_err));
	free(units.at);
	free(spare.at);
	free(token.at);
}

START_TEST(test_ascii_runs)
{
	simidx_text_options options = SIMIDX_TEXT_OPTIONS_INIT;
	struct tokens whole, parts;
	simidx_text *text;
	char bytes[MOST];
	sxt_rng rng;

	options.extractor = _i ? "unspaced12" : "han12";
	sxt_must_ok(simidx_text_open(&options, &text, &sxt_err));
	sxt_rng_init(&rng, 5);
	for (unsigned i = 0; i < 20000; i++) {
		size_t size = make_text(&rng, bytes);

		split_whole(bytes, size, _i, &whole);
		parts.n = 0;
		sxt_must_ok(sx_text_tokens(text, (const uint8_t *)bytes, size, take, &parts,
					   &sxt_err));
		ck_assert_msg(parts.n == whole.n && memcmp(parts.bytes, whole.bytes, whole.n) == 0,
			      "%.*s: %.*s and not %.*s", (int)size, bytes, (int)parts.n,
			      parts.bytes, (int)whole.n, whole.bytes);
	}
	simidx_text_close(text);
}
END_TEST

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

struct list {
	uint64_t *hash;
	size_t n, room;
};

static int append(void *ctx, const uint64_t *hashes, size_t n)
{
	struct list *list = ctx;

	if (list->n + n > list->room) {
		list->room = 2 * (list->n + n);
		list->hash = realloc(list->hash, list->room * sizeof(*list->hash));
	}
	memcpy(list->hash + list->n, hashes, n * sizeof(*hashes));
	list->n += n;
	return 0;
}

static int refuse(void *ctx, const uint64_t *hashes, size_t n)
{
	(void)hashes;
	*(size_t *)ctx += n;
	return 77;
}

/* Each feature is among the hashes as often as it weighs with weights "raw". */
static void check(simidx_text *text, const char *bytes, size_t size)
{
	const simidx_feature *features;
	struct list list = { 0 };
	size_t n, all = 0;

	sxt_must_ok(simidx_text_each_hash(text, bytes, size, append, &list, &sxt_err));
	if (list.n)
		qsort(list.hash, list.n, sizeof(*list.hash), compare);
	sxt_must_ok(simidx_text_features(text, bytes, size, &features, &n, &sxt_err));
	for (size_t i = 0; i < n; i++) {
		size_t times = 0;

		for (size_t k = 0; k < list.n; k++)
			times += list.hash[k] == features[i].hash;
		sxt_must_eq(features[i].weight, (uint64_t)times << 16);
		all += times;
	}
	sxt_must_eq(all, list.n);
	free(list.hash);
}

START_TEST(test_hashes_are_features)
{
	static const char *const extractors[] = { "words12", "words1", "han12", "unspaced12",
						  "char-3", "unspaced12" };
	simidx_text_options options = SIMIDX_TEXT_OPTIONS_INIT;
	simidx_text *text;
	char bytes[MOST];
	sxt_rng rng;

	options.extractor = extractors[_i % 6];
	options.weights = "raw";
	if (_i % 6 == 5)
		options.grams = 1u << 4;
	options.seed = _i < 6 ? 0 : 7;
	options.short_exact = _i / 6 == 2;
	options.min_tokens = 10;
	sxt_must_ok(simidx_text_open(&options, &text, &sxt_err));
	sxt_rng_init(&rng, 6 + (uint64_t)_i);
	for (unsigned i = 0; i < 2000; i++)
		check(text, bytes, make_text(&rng, bytes));
	simidx_text_close(text);
}
END_TEST

/* Long texts are cut into stretches, and their n-grams go over the cuts. */
START_TEST(test_long_text)
{
	simidx_text_options options = SIMIDX_TEXT_OPTIONS_INIT;
	size_t size = 300000, n = 0;
	char *bytes = malloc(size);
	struct list list = { 0 };
	simidx_text *text;

	options.extractor = "unspaced12";
	options.grams = 1u << 4;
	sxt_must_ok(simidx_text_open(&options, &text, &sxt_err));
	for (size_t i = 0; i < size; i++)
		bytes[i] = i % 3 == 2 ? ' ' : (char)('a' + i / 3 % 26);
	sxt_must_ok(simidx_text_each_hash(text, bytes, size, append, &list, &sxt_err));
	ck_assert_uint_eq(list.n, 100000 - 4);
	for (size_t i = 26; i < list.n; i++)
		sxt_must_eq(list.hash[i], list.hash[i - 26]);
	ck_assert_int_eq(simidx_text_each_hash(text, bytes, size, refuse, &n, &sxt_err), 77);
	ck_assert_uint_lt(n, list.n / 10);
	ck_assert_int_eq(simidx_text_each_hash(text, bytes, ((size_t)1 << 30) + 1, append, &list,
					       &sxt_err), SIMIDX_E_RANGE);
	ck_assert_int_eq(simidx_text_each_hash(text, NULL, 1, append, &list, &sxt_err),
			 SIMIDX_E_ARG);
	ck_assert_int_eq(simidx_text_each_hash(text, bytes, 1, NULL, NULL, &sxt_err),
			 SIMIDX_E_ARG);
	free(list.hash);
	simidx_text_close(text);
	free(bytes);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_ascii_runs, 0, 2 },
	{ &test_hashes_are_features, 0, 18 },
	{ &test_long_text, 0, 1 },
};

SXT_SUITE(text_hashes, NULL, NULL);
