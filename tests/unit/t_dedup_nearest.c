/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/* What libsimidx-dedup tells with a decision: the nearest text, equal bytes, the other text; and
   of a row that it is asked about all that it is near to. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simidx_dedup.h>
#include <simidx_info.h>

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
	options.calls = (simidx_dedup_calls){ rows, hear, NULL, read_text, NULL, NULL };
	return options;
}

/* Of the tests that ask about rows. */
static int is_asked(size_t i)
{
	return i % 4 == 3;
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
		if (options->calls.decided != hear)
			row.flags |= is_asked(i) ? SIMIDX_DEDUP_ASK : 0;
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

/* A text of 40 parts, of which one changes places with the next where `swapped` has an s. As the
   first and the last part stay, all such texts have the same words, and runs of three of them. */
static void write_parts(char *to, const char *swapped)
{
	for (int i = 0; i < 40; i++) {
		int is_second = i && swapped[i - 1] == 's';
		int part = is_second ? i - 1 : swapped[i] == 's' ? i + 1 : i;

		to += sprintf(to, "a%d b%d c%d of the ", part, part, part);
	}
}

/* Of texts that are equally near by their fingerprints the first one is named, also where it was
   put before the batch and the other one is in it. */
START_TEST(test_first_of_equally_near_ones)
{
	static const char *const swapped[] = {
		"........................................", /* near to the last one alone */
		".s..s..s............s..s..s.............",
		".s..s..s................................",
	};

	for (size_t i = 0; i < 3; i++)
		write_parts(rows[1 + i].text, swapped[i]);
	for (size_t batch = 1; batch <= 4; batch++) {
		simidx_dedup_options options = options_of(1, batch);
		char name[2] = { (char)('0' + batch), 0 };

		sxt_dedup_index(dir, name, SIMIDX_DEDUP_TEXTS, 0, &handle, &writer);
		run(&options);
		sxt_must(rows[1].is_kept && rows[2].is_kept && !rows[3].is_kept);
		sxt_must_eq(kept[rows[3].near.keeper], 1);
		sxt_must_eq(rows[3].near.distance, 0);
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

/* ---- what is asked about ---- */

#define ASKED_SIMILARITY .55

/* What was told of each row that was asked about: handles, ascending, and similarities. */
static simidx_dedup_near told[N_ROWS][N_ROWS];
static size_t n_told[N_ROWS];

static int hear_asked(void *ctx, const simidx_dedup_row *row, const simidx_dedup_near *near,
		      size_t n)
{
	size_t i = n_decided++;

	(void)ctx;
	sxt_must_eq((row->flags & SIMIDX_DEDUP_ASK) != 0, is_asked(i));
	rows[i].is_kept = !n && !is_asked(i);
	if (rows[i].is_kept)
		kept[n_kept++] = i;
	if (!is_asked(i))
		return 0;
	n_told[i] = n;
	if (n)
		memcpy(told[i], near, n * sizeof(*near));
	return 0;
}

/* What is not compared. */
static int skip_none(void *ctx, uint64_t keeper)
{
	(void)ctx;
	sxt_must(keeper < N_ROWS);
	return 0;
}

static int skip_some(void *ctx, uint64_t keeper)
{
	(void)ctx;
	return keeper % 3 == 1;
}

/* All kept rows before it that are near to it, and no others, are told of a row, but for some. */
static void check_told(size_t i, const struct sd_shingles *set,
		       int (*skips)(void *ctx, uint64_t keeper))
{
	size_t at = 0;

	for (size_t k = 0; k < n_kept && kept[k] < i; k++) {
		double j = sd_shingles_jaccard(&set[i], &set[kept[k]]);
		int is_equal = strcmp(rows[i].text, rows[kept[k]].text) == 0;

		if (j < ASKED_SIMILARITY || (skips && skips(NULL, k)))
			continue;
		sxt_must(at < n_told[i]);
		sxt_must_eq(told[i][at].keeper, k);
		sxt_must(told[i][at].similarity == j);
		sxt_must_eq(told[i][at++].flags, is_equal ? SIMIDX_DEDUP_EQUAL : 0);
	}
	sxt_must_eq(at, n_told[i]);
}

/* By brute force; rows that are not asked about are decided as if the others were not there. */
static void check_asked(int (*skips)(void *ctx, uint64_t keeper))
{
	struct sd_shingles *set = calloc(N_ROWS, sizeof(*set));
	struct sd_shingler *shingler;
	size_t many = 0, some = 0;

	ck_assert_int_eq(sd_shingler_open(&shingler, &err), SIMIDX_OK);
	for (size_t i = 0; i < N_ROWS; i++) {
		int is_near = 0;

		ck_assert_int_eq(sd_shingles_make(shingler, rows[i].text, strlen(rows[i].text),
						  &set[i], &err), SIMIDX_OK);
		for (size_t k = 0; k < n_kept && kept[k] < i; k++)
			is_near |= sd_shingles_jaccard(&set[i], &set[kept[k]]) >=
				   ASKED_SIMILARITY;
		if (!is_asked(i))
			sxt_must_eq(rows[i].is_kept, !is_near);
		else
			check_told(i, set, skips);
		some += is_asked(i) && n_told[i];
		many += is_asked(i) && n_told[i] > 1;
	}
	ck_assert_uint_gt(some, 15);
	ck_assert_uint_gt(many, 2);
	for (size_t i = 0; i < N_ROWS; i++)
		sd_shingles_free(&set[i]);
	sd_shingler_close(shingler);
	free(set);
}

/* The place behind so many words. */
static char *behind(char *text, size_t words)
{
	for (; words && *text; text++)
		words -= *text == ' ';
	return text;
}

/* Some rows begin as the one two before does, but not long enough to be near; and what is asked
   about begins as one of them and ends as the other, and is near to both. */
static void join_rows(void)
{
	for (size_t i = 3; i < N_ROWS; i += 12) {
		char *a = rows[i - 3].text, *b = rows[i - 1].text;
		char end[MAX_TEXT], *to = rows[i].text;

		strcpy(end, behind(b, 40));
		sprintf(b, "%.*s%s", (int)(behind(a, 40) - a), a, end);
		sprintf(to, "%.*s%s", (int)(behind(a, 50) - a), a, behind(b, 50));
	}
}

/* Whatever the threads and batches; and nothing is stored. */
START_TEST(test_asked)
{
	const struct {
		unsigned threads;
		size_t batch;
		int (*skips)(void *ctx, uint64_t keeper);
	} shapes[] = {
		{ 1, 4096, NULL }, { 1, 1, skip_none }, { 2, 31, NULL }, { 4, 7, NULL },
		{ 1, 4096, skip_some }, { 1, 1, skip_some }, { 2, 31, skip_some },
	};
	simidx_info info = SIMIDX_INFO_INIT;
	char name[16];

	join_rows();
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		simidx_dedup_options options = options_of(shapes[i].threads, shapes[i].batch);

		options.calls.decided = hear_asked;
		options.calls.skips = shapes[i].skips;
		options.similarity = ASKED_SIMILARITY;
		snprintf(name, sizeof(name), "ask%zu", i);
		sxt_dedup_index(dir, name, SIMIDX_DEDUP_TEXTS, 0, &handle, &writer);
		run(&options);
		ck_assert_uint_eq(n_decided, N_ROWS);
		check_asked(shapes[i].skips);
		ck_assert_int_eq(simidx_get_info(handle, &info, &err), SIMIDX_OK);
		ck_assert_uint_eq(info.documents, n_kept);
		end();
	}
}
END_TEST

/* Of pairs all are told anyway. */
START_TEST(test_asked_of_pairs)
{
	simidx_dedup_options options = options_of(1, 31);
	simidx_dedup_row row = SIMIDX_DEDUP_ROW_INIT;

	options.flags = SIMIDX_DEDUP_PAIRS;
	sxt_dedup_index(dir, "ix", SIMIDX_DEDUP_TEXTS, 0, &handle, &writer);
	ck_assert_int_eq(simidx_dedup_open(handle, writer, &options, &dedup, &err), SIMIDX_OK);
	row.flags = SIMIDX_DEDUP_ASK;
	ck_assert_int_eq(simidx_dedup_add(dedup, &row, &err), SIMIDX_E_ARG);
	end();
}
END_TEST

static const sxt_test tests[] = {
	{ &test_nearest, 0, 1 },
	{ &test_first_of_equally_near_ones, 0, 1 },
	{ &test_not_asked_for, 0, 1 },
	{ &test_texts_elsewhere, 0, 1 },
	{ &test_asked, 0, 1 },
	{ &test_asked_of_pairs, 0, 1 },
};

SXT_SUITE(dedup_nearest, set_up, tear_down);
