/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Long texts in little memory: they are compared in parts, and the similarity stays what it is, to
 * the last digit. Where an earlier text itself does not fit, its sketch decides.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simidx_dedup.h>

#include "dedup/sd_shingles.h"
#include "support/sxt.h"
#include "support/sxt_dedup.h"

#define WORDS 70000u
#define WORD 7 /* bytes, with the space */
#define SIZE ((size_t)WORDS * WORD)
#define N_TEXTS 5

static char *dir, *text[N_TEXTS];
static double similarity[N_TEXTS];
static unsigned near_flags[N_TEXTS];
static uint64_t keeper[N_TEXTS];
static size_t n_decided;
static unsigned n_runs, n_texts = N_TEXTS;
static double least = .6; /* similarity of near texts */
static int is_at_once; /* each text is */
static uint64_t first_limit; /* of memory for the first text; 0 = as for the others */

/* The first text, and others of which a word in so many is another one; the last one is equal. */
static const unsigned rate[N_TEXTS] = { 1, 60, 40, 25, 1000000 };

static void set_up(void)
{
	sxt_rng rng;

	dir = sxt_dir_make();
	sxt_rng_init(&rng, 36);
	for (unsigned k = 0; k < N_TEXTS; k++) {
		text[k] = malloc(SIZE + 1);
		for (unsigned i = 0; i < WORDS; i++)
			if (!k || !sxt_rng_below(&rng, rate[k]))
				snprintf(text[k] + (size_t)i * WORD, WORD + 1, "%06x ",
					 (unsigned)sxt_rng_below(&rng, 1 << 24));
			else
				memcpy(text[k] + (size_t)i * WORD, text[0] + (size_t)i * WORD,
				       WORD);
	}
}

static void tear_down(void)
{
	for (unsigned k = 0; k < N_TEXTS; k++)
		free(text[k]);
	free(dir);
}

static int hear(void *ctx, const simidx_dedup_row *row, const simidx_dedup_near *near, size_t n)
{
	(void)ctx;
	/* Of a long text that is decided at once the caller's own bytes come back. */
	sxt_must((row->text == text[n_decided]) == is_at_once);
	similarity[n_decided] = n ? near->similarity : 0;
	near_flags[n_decided] = n ? near->flags : 0;
	keeper[n_decided] = n ? near->keeper : 0;
	n_decided++;
	return 0;
}

static int read_text(void *ctx, unsigned thread, const simidx_dedup_place *place,
		     const char **found, size_t *size)
{
	(void)ctx, (void)thread;
	*found = text[place->offset];
	*size = place->length;
	return SIMIDX_OK;
}

static uint64_t run(uint64_t limit, uint64_t batch_bytes, unsigned threads, int is_placed)
{
	simidx_dedup_options options = SIMIDX_DEDUP_OPTIONS_INIT;
	simidx_dedup_counts counts = { .size = sizeof(counts) };
	simidx_dedup *dedup;
	simidx_writer *writer;
	simidx *index;
	char name[16];

	snprintf(name, sizeof(name), "ix%u", n_runs++);
	sxt_dedup_index(dir, name, SIMIDX_DEDUP_TEXTS, 0, &index, &writer);
	options.similarity = least;
	options.threads = threads;
	options.batch_bytes = batch_bytes;
	options.tmpdir = dir;
	options.calls = (simidx_dedup_calls){ NULL, hear, NULL, read_text, NULL, NULL };
	sxt_must_ok(simidx_dedup_open(index, writer, &options, &dedup, &sxt_err));
	n_decided = 0;
	is_at_once = batch_bytes < SIZE;
	for (unsigned k = 0; k < n_texts; k++) {
		simidx_dedup_row row = SIMIDX_DEDUP_ROW_INIT;

		row.text = text[k];
		row.text_size = SIZE;
		row.place = (simidx_dedup_place){ k, 0, (uint32_t)SIZE };
		row.flags = is_placed ? SIMIDX_DEDUP_PLACED : 0;
		simidx_dedup_limit(dedup, !k && first_limit ? first_limit : limit);
		sxt_must_ok(simidx_dedup_add(dedup, &row, &sxt_err));
		ck_assert(!is_at_once || n_decided == k + 1);
	}
	sxt_must_ok(simidx_dedup_flush(dedup, 1, &sxt_err));
	ck_assert_uint_eq(n_decided, n_texts);
	simidx_dedup_count(dedup, &counts);
	simidx_dedup_close(dedup);
	simidx_writer_close(writer);
	simidx_close(index);
	return counts.too_long;
}

START_TEST(test_parts)
{
	/* Sets of 70,000 hashes: in parts of two sizes, as a whole, without a limit. */
	static const uint64_t limits[] = { 1600000, 2000000, 40000000, 0 };
	double want[N_TEXTS];
	struct sd_shingler *shingler;
	struct sd_shingles first = { 0 }, other = { 0 };

	sxt_must_ok(sd_shingler_open(&shingler, &sxt_err));
	sxt_must_ok(sd_shingles_make(shingler, text[0], SIZE, &first, &sxt_err));
	for (unsigned k = 1; k < N_TEXTS; k++) {
		sxt_must_ok(sd_shingles_make(shingler, text[k], SIZE, &other, &sxt_err));
		want[k] = sd_shingles_jaccard(&first, &other);
		ck_assert(want[k] > .65 && want[k] <= 1);
	}
	for (unsigned i = 0; i < 4; i++)
		for (int is_placed = 0; is_placed < 2; is_placed++) {
			ck_assert_uint_eq(run(limits[i], SIZE / 2, 1 + i % 2, is_placed), 0);
			for (unsigned k = 1; k < N_TEXTS; k++)
				sxt_must(similarity[k] == want[k] && keeper[k] == 0 &&
					 near_flags[k] == (want[k] < 1 ? 0 : SIMIDX_DEDUP_EQUAL));
		}
	/* In one batch. */
	ck_assert_uint_eq(run(3200000, 8 * SIZE, 2, 1), 0);
	for (unsigned k = 1; k < N_TEXTS; k++)
		sxt_must(similarity[k] == want[k]);
	sd_shingles_free(&first);
	sd_shingles_free(&other);
	sd_shingler_close(shingler);
}
END_TEST

/* No room for an earlier text. */
START_TEST(test_sketches)
{
	double want[N_TEXTS];

	ck_assert_uint_eq(run(0, SIZE / 2, 1, 1), 0);
	memcpy(want, similarity, sizeof(want));
	ck_assert_uint_eq(run(500000, SIZE / 2, 1, 1), N_TEXTS - 1);
	for (unsigned k = 1; k < N_TEXTS; k++) {
		sxt_must(near_flags[k] == SIMIDX_DEDUP_ESTIMATE);
		sxt_must(similarity[k] > want[k] - .06 && similarity[k] < want[k] + .06);
	}
}
END_TEST

/* There was more memory when the first text came than there is for the others. */
START_TEST(test_sketches_of_texts_that_fitted)
{
	first_limit = 6000000;
	ck_assert_uint_eq(run(500000, SIZE / 2, 1, 1), N_TEXTS - 1);
	first_limit = 0;
	for (unsigned k = 1; k < N_TEXTS; k++)
		sxt_must(near_flags[k] == SIMIDX_DEDUP_ESTIMATE);
}
END_TEST

/* A hash leads to the earlier text, which is not near, and a search finds it again. */
START_TEST(test_a_comparison_is_counted_once)
{
	least = .9;
	n_texts = 2;
	ck_assert_uint_eq(run(500000, SIZE / 2, 1, 1), 1);
	sxt_must(!similarity[1]);
	least = .6;
	n_texts = N_TEXTS;
}
END_TEST

static const sxt_test tests[] = {
	{ &test_parts, 0, 1 },
	{ &test_sketches, 0, 1 },
	{ &test_sketches_of_texts_that_fitted, 0, 1 },
	{ &test_a_comparison_is_counted_once, 0, 1 },
};

SXT_SUITE(dedup_long, set_up, tear_down);
