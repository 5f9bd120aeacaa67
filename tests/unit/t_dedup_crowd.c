/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/* Texts with more candidates than they are compared with, none of which is near enough. */

#include <stdio.h>
#include <string.h>

#include <simidx_dedup.h>

#include "support/sxt.h"
#include "support/sxt_dedup.h"
#include "support/sxt_fixture.h"

#define ROWS 100
#define WORDS 400
#define TEXT_SIZE (WORDS * 8)

static int hear(void *ctx, const simidx_dedup_row *row, const simidx_dedup_near *near, size_t n)
{
	(void)row;
	(void)near;
	*(size_t *)ctx += n == 0;
	return 0;
}

/* All have the same 400 words, but for ten of their own, in 50 of 396 runs of five words: so two
   texts have a similarity of .78. */
static void make_text(size_t row, char text[TEXT_SIZE])
{
	sxt_rng rng;
	char *at = text;

	sxt_rng_init(&rng, 3);
	for (size_t i = 0; i < WORDS; i++) {
		unsigned word = (unsigned)sxt_rng_below(&rng, 90000);

		at += i % 40 == 7 ? sprintf(at, "x%zu ", row) : sprintf(at, "w%u ", word);
	}
}

/* How many are counted as compared in vain, as there may be more. */
static uint64_t count_exhausted(size_t batch, unsigned threads, unsigned flags)
{
	simidx_dedup_options options = SIMIDX_DEDUP_OPTIONS_INIT;
	simidx_dedup_counts counts = { .size = sizeof(counts) };
	char name[32], text[TEXT_SIZE];
	simidx_writer *writer;
	simidx_dedup *dedup;
	simidx_error err;
	size_t n_kept = 0;
	simidx *index;

	snprintf(name, sizeof(name), "%zu-%u-%u", batch, threads, flags);
	sxt_dedup_index(t_dir, name, SIMIDX_DEDUP_TEXTS, 0, &index, &writer);
	options.threads = threads;
	options.batch_rows = batch;
	options.flags = flags;
	options.unsearched_bytes = 0; /* a copy is searched, too */
	options.tmpdir = t_dir;
	options.calls.ctx = &n_kept;
	options.calls.decided = hear;
	ck_assert_sx(simidx_dedup_open(index, writer, &options, &dedup, &err), SIMIDX_OK);
	/* The last one is a copy, which is not compared in vain. */
	for (size_t i = 0; i <= ROWS; i++) {
		simidx_dedup_row row = SIMIDX_DEDUP_ROW_INIT;

		make_text(i < ROWS ? i : ROWS - 1, text);
		row.text = text;
		row.text_size = strlen(text);
		ck_assert_sx(simidx_dedup_add(dedup, &row, &err), SIMIDX_OK);
	}
	ck_assert_sx(simidx_dedup_flush(dedup, 1, &err), SIMIDX_OK);
	ck_assert_uint_eq(n_kept, ROWS);
	simidx_dedup_count(dedup, &counts);
	simidx_dedup_close(dedup);
	simidx_writer_close(writer);
	simidx_close(index);
	return counts.exhausted;
}

/* From row 66 on; what a search ahead has left out counts as what one in turn leaves out. */
START_TEST(test_exhausted)
{
	static const struct {
		size_t batch;
		unsigned threads;
	} shapes[] = { { 1, 1 }, { 1000, 1 }, { 70, 1 }, { 30, 2 }, { 90, 4 } };

	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		ck_assert_uint_eq(count_exhausted(shapes[i].batch, shapes[i].threads, 0),
				  ROWS - SIMIDX_DEDUP_MOST_COMPARED - 1);
		ck_assert_uint_eq(count_exhausted(shapes[i].batch, shapes[i].threads,
						  SIMIDX_DEDUP_COMPARE_ALL), 0);
	}
}
END_TEST

static const sxt_test tests[] = {
	{ &test_exhausted, 0, 1 },
};

SXT_SUITE(dedup_crowd, sxt_set_up_path, sxt_tear_down);
