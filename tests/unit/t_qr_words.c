/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/* In which words two texts differ, against the longest common subsequence. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/qr_words.h"
#include "support/sxt.h"

#define MOST_WORDS 24
#define MAX_TEXT 4096

/* What was shown, put together again. */
struct shown {
	char old[MAX_TEXT], new[MAX_TEXT];
	size_t n_old, n_new, n_both, n_gaps, n_begun, n_ended;
};

static void set_up(void)
{
}

static void tear_down(void)
{
}

static void add(char *to, const struct qr_shown *shown)
{
	sprintf(to + strlen(to), "%s%.*s", shown->has_blank ? " " : "", (int)shown->size,
		shown->text);
}

static void show(void *ctx, const struct qr_shown *shown)
{
	struct shown *all = ctx;

	if (shown->whose == QR_GAP) {
		all->n_gaps++;
		return;
	}
	if (shown->whose != QR_NEW)
		add(all->old, shown);
	if (shown->whose != QR_OLD)
		add(all->new, shown);
	all->n_old += shown->whose == QR_OLD;
	all->n_new += shown->whose == QR_NEW;
	all->n_both += shown->whose == QR_BOTH;
	all->n_begun += shown->whose != QR_BOTH && shown->begins;
	all->n_ended += shown->whose != QR_BOTH && shown->ends;
}

static struct qr_difference compare(const char *old, const char *new, struct shown *all)
{
	struct qr_difference difference;

	memset(all, 0, sizeof(*all));
	ck_assert_int_eq(qr_words_show(old, strlen(old), new, strlen(new), show, all,
				       &difference), 0);
	sxt_must_eq(all->n_begun, all->n_ended);
	return difference;
}

static size_t common(const int *a, size_t n, const int *b, size_t m)
{
	size_t best[MOST_WORDS + 1][MOST_WORDS + 1] = { { 0 } };

	for (size_t i = 1; i <= n; i++)
		for (size_t j = 1; j <= m; j++) {
			size_t most = best[i - 1][j] > best[i][j - 1] ? best[i - 1][j] :
									best[i][j - 1];

			best[i][j] = a[i - 1] == b[j - 1] ? best[i - 1][j - 1] + 1 : most;
		}
	return best[n][m];
}

static size_t make(sxt_rng *rng, int *word, char *text)
{
	size_t n = sxt_rng_below(rng, MOST_WORDS + 1);
	uint64_t kinds = 1 + sxt_rng_below(rng, 6);

	*text = '\0';
	for (size_t i = 0; i < n; i++) {
		word[i] = (int)sxt_rng_below(rng, kinds);
		sprintf(text + strlen(text), " w%d", word[i]);
	}
	return n;
}

/* The words of both are the most that there can be, and each text can be put together again. */
START_TEST(test_shortest)
{
	char old[MAX_TEXT], new[MAX_TEXT];
	int a[MOST_WORDS], b[MOST_WORDS];
	struct shown all;
	sxt_rng rng;

	sxt_rng_init(&rng, 3);
	for (int round = 0; round < 5000; round++) {
		size_t n = make(&rng, a, old), m = make(&rng, b, new), lcs = common(a, n, b, m);
		struct qr_difference difference = compare(old, new, &all);

		if (all.n_gaps) /* at most 24 words of both in a row are shown */
			continue;
		ck_assert_str_eq(all.old, old);
		ck_assert_str_eq(all.new, new);
		sxt_must_eq(all.n_both, lcs);
		sxt_must_eq(difference.places == 0, n == m && lcs == n);
		sxt_must(!difference.is_rough && !difference.hidden);
	}
}
END_TEST

/* Words of scripts without blanks, long ones, and bytes that are no text. */
START_TEST(test_words)
{
	char longest[400], other[400];
	struct shown all;

	compare("a \xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e b",
		"a \xe6\x97\xa5\xe4\xb8\xad\xe8\xaa\x9e b", &all);
	ck_assert_uint_eq(all.n_old, 1);
	ck_assert_uint_eq(all.n_new, 1);
	ck_assert_uint_eq(all.n_both, 4);
	compare("\xff\xfe x \xc3", "\xff\xfd x \xc3", &all);
	ck_assert_uint_eq(all.n_old, 1);
	ck_assert_uint_eq(all.n_both, 2);
	compare("a  b\n\tc", " a b c ", &all);
	ck_assert_uint_eq(all.n_old + all.n_new, 0);
	ck_assert_uint_eq(all.n_both, 3);
	memset(longest, 'x', 399);
	longest[399] = '\0';
	memcpy(other, longest, 400);
	other[200] = 'y';
	compare(longest, other, &all);
	ck_assert_uint_eq(all.n_old, 1);
	ck_assert_uint_eq(all.n_both, 4);
	compare("", "", &all);
	ck_assert_uint_eq(all.n_both, 0);
}
END_TEST

/* Texts that differ in all words, and at many places: what is shown has a bound. */
START_TEST(test_bounds)
{
	char *old = malloc(200000), *new = malloc(200000), *at = old, *to = new;
	struct qr_difference difference;
	struct shown *all = calloc(1, sizeof(*all));

	for (int i = 0; i < 6000; i++) {
		at += sprintf(at, "a%d ", i);
		to += sprintf(to, "b%d ", i);
	}
	difference = compare(old, new, all);
	ck_assert_int_eq(difference.is_rough, 1);
	ck_assert_uint_eq(difference.places, 1);
	ck_assert_uint_eq(all->n_old, 40);
	ck_assert_uint_eq(all->n_gaps, 2);
	at = old;
	to = new;
	for (int i = 0; i < 6000; i++) {
		at += sprintf(at, "%s%d ", i % 100 ? "w" : "a", i);
		to += sprintf(to, "%s%d ", i % 100 ? "w" : "b", i);
	}
	difference = compare(old, new, all);
	ck_assert_int_eq(difference.is_rough, 0);
	ck_assert_uint_eq(difference.places, 60);
	ck_assert_uint_eq(difference.hidden, 20);
	ck_assert_uint_eq(all->n_old, 40);
	ck_assert_uint_le(all->n_both, 40 * 24);
	free(old);
	free(new);
	free(all);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_shortest, 0, 1 },
	{ &test_words, 0, 1 },
	{ &test_bounds, 0, 1 },
};

SXT_SUITE(qr_words, set_up, tear_down);
