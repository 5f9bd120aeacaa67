/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/* What libsimidx-dedup tells with a decision: the nearest text, equal bytes, the other text; and
   how similar two texts are. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simidx_dedup.h>

#include "dedup/sd_shingles.h"
#include "support/sxt.h"
#include "support/sxt_dedup.h"

#define N_ROWS 240
#define MAX_TEXT 800

/* What was given, and what came out. */
struct row {
	char text[MAX_TEXT];
	simidx_dedup_near near; /* what it is near to, or nearest to */
	int is_kept, is_told;
};

static char *dir;
static struct row rows[N_ROWS];
static size_t kept[N_ROWS], n_kept; /* rows, by handle */
static size_t n_decided, n_read;
static simidx_dedup *dedup;
static simidx *handle;
static simidx_writer *writer;
static simidx_error err;

static void set_up(void)
{
	sxt_rng rng;

	dir = sxt_dir_make();
	sxt_rng_init(&rng, 12);
	memset(rows, 0, sizeof(rows));
	for (size_t i = 0; i < N_ROWS; i++) {
		/* Every other row is one before it with some words exchanged, or none. */
		const char *from = rows[i ? sxt_rng_below(&rng, i) : 0].text;
		uint64_t edits = sxt_rng_below(&rng, 8);
		char *at = rows[i].text;

		for (int w = 0; i % 2 == 0 && w < 60; w++)
			at += sprintf(at, "w%u ", (unsigned)sxt_rng_below(&rng, 3000));
		for (size_t k; i % 2 && (k = strcspn(from, " ")); from += k + 1)
			at += sxt_rng_below(&rng, 60) < edits ?
				      sprintf(at, "x%u ", (unsigned)sxt_rng_below(&rng, 3000)) :
				      sprintf(at, "%.*s ", (int)k, from);
	}
}

static void tear_down(void)
{
	free(dir);
}

/* The text of what a row is told to be near to, by the library, is that of the row it names. */
static void check_text(const simidx_dedup_near *near)
{
	const char *want = rows[kept[near->keeper]].text;
	const char *text;
	size_t size;

	ck_assert_int_eq(simidx_dedup_text(dedup, near, &text, &size, &err), SIMIDX_OK);
	sxt_must(size == strlen(want) && memcmp(text, want, size) == 0);
	n_read++;
}

static int hear(void *ctx, const simidx_dedup_row *row, const simidx_dedup_near *near, size_t n)
{
	struct row *decided = &rows[n_decided++];

	(void)ctx;
	(void)row;
	decided->is_kept = n == 0;
	decided->is_told = near != NULL;
	if (near) {
		decided->near = *near;
		if (near->keeper < SIMIDX_DEDUP_AGAINST)
			check_text(near);
	}
	if (!n)
		kept[n_kept++] = n_decided - 1;
	return 0;
}

static int read_text(void *ctx, unsigned thread, const simidx_dedup_place *place,
		     const char **text, size_t *size)
{
	(void)ctx;
	(void)thread;
	*text = rows[place->offset].text;
	*size = strlen(*text);
	return SIMIDX_OK;
}

static simidx_dedup_options options_of(unsigned threads, size_t batch)
{
	simidx_dedup_options options = SIMIDX_DEDUP_OPTIONS_INIT;

	options.threads = threads;
	options.batch_rows = batch;
	options.tmpdir = dir;
	options.max_weight = 30000;
	options.flags = SIMIDX_DEDUP_NEAREST | SIMIDX_DEDUP_COMPARE_ALL;
	options.calls = (simidx_dedup_calls){ rows, hear, NULL, read_text, NULL };
	return options;
}

/* Give all rows, every third with a place. Stays open, for the texts. */
static void run(const simidx_dedup_options *options)
{
	n_decided = n_kept = n_read = 0;
	ck_assert_int_eq(simidx_dedup_open(handle, writer, options, &dedup, &err), SIMIDX_OK);
	for (size_t i = 0; i < N_ROWS; i++) {
		simidx_dedup_row row = SIMIDX_DEDUP_ROW_INIT;

		row.text = rows[i].text;
		row.text_size = strlen(rows[i].text);
		row.place.offset = i;
		row.flags = i % 3 == 0 ? SIMIDX_DEDUP_PLACED : 0;
		ck_assert_int_eq(simidx_dedup_add(dedup, &row, &err), SIMIDX_OK);
	}
	ck_assert_int_eq(simidx_dedup_flush(dedup, 1, &err), SIMIDX_OK);
}

static void end(void)
{
	simidx_dedup_close(dedup);
	simidx_writer_close(writer);
	simidx_close(handle);
}

/* Compare with brute force over all rows that were kept before. Returns how many near misses of at
   least .6 there are. */
static size_t check_all(void)
{
	struct sd_shingles *set = calloc(N_ROWS, sizeof(*set));
	struct sd_shingler *shingler;
	size_t n = 0, n_misses = 0, n_equal = 0;

	ck_assert_int_eq(sd_shingler_open(&shingler, &err), SIMIDX_OK);
	for (size_t i = 0; i < N_ROWS; i++) {
		const struct row *row = &rows[i];
		double best = 0;

		ck_assert_int_eq(sd_shingles_make(shingler, row->text, strlen(row->text), &set[i],
						  &err), SIMIDX_OK);
		for (size_t k = 0; k < n; k++) {
			double j = sd_shingles_jaccard(&set[i], &set[kept[k]]);

			best = j > best ? j : best;
			if (row->is_told && row->near.keeper == k)
				sxt_must(row->near.similarity == j);
		}
		sxt_must_eq(row->is_kept, best < SIMIDX_DEDUP_SIMILARITY);
		if (row->is_kept && best >= .6) {
			sxt_must(row->is_told && row->near.similarity == best);
			n_misses++;
		}
		if (row->is_kept && row->is_told)
			sxt_must(row->near.similarity > 0 && row->near.similarity <= best);
		if (!row->is_kept) {
			int is_equal = strcmp(row->text, rows[kept[row->near.keeper]].text) == 0;

			sxt_must_eq(row->near.flags, is_equal ? SIMIDX_DEDUP_EQUAL : 0);
			n_equal += (size_t)is_equal;
		}
		n += (size_t)row->is_kept;
	}
	ck_assert_uint_eq(n, n_kept);
	ck_assert_uint_gt(n_equal, 3);
	for (size_t i = 0; i < N_ROWS; i++)
		sd_shingles_free(&set[i]);
	sd_shingler_close(shingler);
	free(set);
	return n_misses;
}

/* The nearest of what a kept row was compared with, whatever the threads and batches. */
START_TEST(test_nearest)
{
	const struct { unsigned threads; size_t batch; } shapes[] = {
		{ 1, 4096 }, { 1, 1 }, { 2, 31 }, { 4, 7 },
	};
	char name[16];

	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		simidx_dedup_options options = options_of(shapes[i].threads, shapes[i].batch);

		snprintf(name, sizeof(name), "ix%zu", i);
		sxt_dedup_index(dir, name, SIMIDX_DEDUP_TEXTS, 0, &handle, &writer);
		run(&options);
		ck_assert_uint_gt(check_all(), 10);
		ck_assert_uint_gt(n_read, 50);
		/* After the end of the rows, too. */
		for (size_t k = 0; k < N_ROWS; k++)
			if (rows[k].is_told)
				check_text(&rows[k].near);
		end();
	}
}
END_TEST

/* Without the flag nothing is told of kept rows. */
START_TEST(test_not_asked_for)
{
	simidx_dedup_options options = options_of(2, 31);

	options.flags &= ~SIMIDX_DEDUP_NEAREST;
	sxt_dedup_index(dir, "ix", SIMIDX_DEDUP_TEXTS, 0, &handle, &writer);
	run(&options);
	for (size_t i = 0; i < N_ROWS; i++)
		sxt_must_eq(rows[i].is_told, !rows[i].is_kept);
	end();
	options.flags |= SIMIDX_DEDUP_NEAREST | SIMIDX_DEDUP_PAIRS;
	sxt_dedup_index(dir, "ix", SIMIDX_DEDUP_TEXTS, 0, &handle, &writer);
	ck_assert_int_eq(simidx_dedup_open(handle, writer, &options, &dedup, &err), SIMIDX_E_ARG);
	end();
}
END_TEST

/* Texts of an earlier run, and of another index, if they were remembered whole. */
START_TEST(test_texts_elsewhere)
{
	for (int remember = SIMIDX_DEDUP_SKETCH; remember <= SIMIDX_DEDUP_TEXT; remember++) {
		simidx_dedup_options options = options_of(2, 31);
		simidx_dedup_near near = { .keeper = SIMIDX_DEDUP_EARLIER };
		int want = remember == SIMIDX_DEDUP_TEXT ? SIMIDX_OK : SIMIDX_E_NOT_FOUND;
		char name[2] = { (char)('a' + remember), 0 };
		const char *text;
		size_t size, n = 0;

		options.flags |= SIMIDX_DEDUP_LASTING;
		options.remember = remember;
		sxt_dedup_index(dir, name, SIMIDX_DEDUP_TEXTS, SIMIDX_CREATE_NOTES, &handle,
				&writer);
		run(&options);
		simidx_dedup_close(dedup);
		run(&options);
		for (size_t i = 0; i < N_ROWS; i++) {
			sxt_must(rows[i].near.keeper == SIMIDX_DEDUP_EARLIER);
			ck_assert_int_eq(simidx_dedup_text(dedup, &rows[i].near, &text, &size,
							   &err), want);
			n += !want && size == strlen(rows[i].text) &&
			     memcmp(text, rows[i].text, size) == 0;
		}
		if (!want)
			ck_assert_uint_gt(n, N_ROWS / 2);
		near.id = SIMIDX_NO_ID - 1;
		ck_assert_int_eq(simidx_dedup_text(dedup, &near, &text, &size, NULL),
				 SIMIDX_E_NOT_FOUND);
		near.keeper = 1000000;
		ck_assert_int_eq(simidx_dedup_text(dedup, &near, &text, &size, NULL),
				 SIMIDX_E_ARG);
		ck_assert_int_eq(simidx_dedup_text(dedup, NULL, &text, &size, NULL),
				 SIMIDX_E_ARG);
		end();
	}
}
END_TEST

/* ---- the similarity of two texts ---- */

#define RUN 64 /* bytes of five words, at most */

static int compare_runs(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* The runs of five words of a text, sorted, each once. Every word has a space behind it. */
static size_t runs_of(const char *text, char (*out)[RUN])
{
	const char *word[6] = { text };
	size_t n = 0, unique = 0;

	for (int words = 0; *text; text++) {
		if (*text != ' ')
			continue;
		if (++words >= 5)
			snprintf(out[n++], RUN, "%.*s", (int)(text - word[0]), word[0]);
		if (words >= 5)
			memmove(word, word + 1, 4 * sizeof(*word));
		word[words < 5 ? words : 4] = text + 1;
	}
	qsort(out, n, RUN, compare_runs);
	for (size_t i = 0; i < n; i++)
		if (!i || strcmp(out[i], out[i - 1]) != 0)
			memmove(out[unique++], out[i], RUN);
	return unique;
}

/* By brute force: all runs of one text are looked for in the other. */
static double jaccard(const char *a, const char *b)
{
	char (*x)[RUN] = calloc(strlen(a) + 1, RUN), (*y)[RUN] = calloc(strlen(b) + 1, RUN);
	size_t n_x = runs_of(a, x), n_y = runs_of(b, y), both = 0;

	for (size_t i = 0; i < n_x; i++)
		both += bsearch(x[i], y, n_y, RUN, compare_runs) != NULL;
	free(x);
	free(y);
	return (double)both / (double)(n_x + n_y - both);
}

static void check_similarity(const char *a, const char *b)
{
	double is;

	ck_assert_int_eq(simidx_dedup_similarity(dedup, a, strlen(a), b, strlen(b), &is, &err),
			 SIMIDX_OK);
	sxt_must(is == jaccard(a, b));
}

#define COPIES 4

/* All rows in one, four times with other ends of words; every `every`th word with a letter more. */
static char *make_long(size_t every)
{
	char *text = malloc(COPIES * N_ROWS * (2 * MAX_TEXT)), *to = text;
	size_t words = 0;

	for (size_t i = 0; i < COPIES * N_ROWS; i++)
		for (const char *from = rows[i % N_ROWS].text; *from; from++) {
			if (*from == ' ')
				*to++ = (char)('a' + i / N_ROWS);
			if (*from == ' ' && ++words % every == 0)
				*to++ = 'z';
			*to++ = *from;
		}
	*to = 0;
	return text;
}

START_TEST(test_similarity)
{
	simidx_dedup_options options = options_of(2, 31);
	simidx_dedup_row row = SIMIDX_DEDUP_ROW_INIT;
	char *a = make_long(SIZE_MAX), *b = make_long(97);
	double is;

	sxt_dedup_index(dir, "ix", SIMIDX_DEDUP_TEXTS, 0, &handle, &writer);
	run(&options);
	for (size_t i = 0; i < N_ROWS; i += 2)
		for (size_t k = 0; k <= i; k += 3)
			check_similarity(rows[i].text, rows[k].text);
	check_similarity(a, b);
	simidx_dedup_limit(dedup, 900000); /* in two parts */
	check_similarity(a, b);
	check_similarity(b, a);
	sxt_must(jaccard(a, b) > .8 && jaccard(a, b) < 1);
	/* What has no words is similar to the same bytes alone. */
	ck_assert_int_eq(simidx_dedup_similarity(dedup, "!", 1, "!", 1, &is, &err), SIMIDX_OK);
	sxt_must(is == 1);
	ck_assert_int_eq(simidx_dedup_similarity(dedup, "!", 1, "?", 1, &is, &err), SIMIDX_OK);
	sxt_must(is == 0);
	simidx_dedup_limit(dedup, 10000);
	ck_assert_int_eq(simidx_dedup_similarity(dedup, a, strlen(a), b, strlen(b), &is, &err),
			 SIMIDX_E_RANGE);
	ck_assert_int_eq(simidx_dedup_similarity(dedup, NULL, 0, b, 1, &is, &err), SIMIDX_E_ARG);
	row.text = a;
	row.text_size = 100;
	ck_assert_int_eq(simidx_dedup_add(dedup, &row, &err), SIMIDX_OK);
	ck_assert_int_eq(simidx_dedup_similarity(dedup, a, 9, b, 9, &is, &err), SIMIDX_E_STATE);
	end();
	options.flags |= SIMIDX_DEDUP_NO_VERIFY;
	sxt_dedup_index(dir, "fp", SIMIDX_DEDUP_TEXTS, 0, &handle, &writer);
	ck_assert_int_eq(simidx_dedup_open(handle, writer, &options, &dedup, &err), SIMIDX_OK);
	ck_assert_int_eq(simidx_dedup_similarity(dedup, a, 9, b, 9, &is, &err), SIMIDX_E_STATE);
	end();
	free(a);
	free(b);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_nearest, 0, 1 },
	{ &test_not_asked_for, 0, 1 },
	{ &test_texts_elsewhere, 0, 1 },
	{ &test_similarity, 0, 1 },
};

SXT_SUITE(dedup_nearest, set_up, tear_down);
