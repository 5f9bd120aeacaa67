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

/*
 * Decide `n` rows from row `from` on, which are all kept, and then some copies of the last one,
 * which are not, nor compared in vain. Returns how many are counted as compared so.
 */
static uint64_t decide(simidx *index, simidx_writer *writer, simidx_dedup_options *options,
		       size_t from, size_t n, size_t copies)
{
	simidx_dedup_counts counts = { .size = sizeof(counts) };
	char text[TEXT_SIZE];
	simidx_dedup *dedup;
	size_t n_kept = 0;

	options->tmpdir = t_dir;
	options->calls.ctx = &n_kept;
	options->calls.decided = hear;
	sxt_must_ok(simidx_dedup_open(index, writer, options, &dedup, &sxt_err));
	for (size_t i = from; i < from + n + copies; i++) {
		simidx_dedup_row row = SIMIDX_DEDUP_ROW_INIT;

		make_text(i < from + n ? i : from + n - 1, text);
		row.text = text;
		row.text_size = strlen(text);
		sxt_must_ok(simidx_dedup_add(dedup, &row, &sxt_err));
	}
	sxt_must_ok(simidx_dedup_flush(dedup, 1, &sxt_err));
	simidx_dedup_count(dedup, &counts);
	simidx_dedup_close(dedup);
	ck_assert_uint_eq(n_kept, n);
	return counts.exhausted;
}

/* How many are counted as compared in vain, as there may be more. */
static uint64_t count_exhausted(size_t batch, unsigned threads, unsigned flags)
{
	simidx_dedup_options options = SIMIDX_DEDUP_OPTIONS_INIT;
	uint64_t exhausted;
	simidx_writer *writer;
	simidx *index;
	char name[32];

	snprintf(name, sizeof(name), "%zu-%u-%u", batch, threads, flags);
	sxt_dedup_index(t_dir, name, SIMIDX_DEDUP_TEXTS, 0, &index, &writer);
	options.threads = threads;
	options.batch_rows = batch;
	options.flags = flags;
	options.unsearched_bytes = 0; /* a copy is searched, too */
	exhausted = decide(index, writer, &options, 0, ROWS, 1);
	simidx_writer_close(writer);
	simidx_close(index);
	return exhausted;
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

/* Those of another index are as many as a row is compared with, or one more, which is counted. */
START_TEST(test_exhausted_by_another_index)
{
	simidx_dedup_options options = SIMIDX_DEDUP_OPTIONS_INIT;
	int is_more = _i & 1, is_all = _i >> 1;
	simidx_writer *writer;
	simidx *other, *index;

	options.flags = SIMIDX_DEDUP_LASTING;
	options.remember = SIMIDX_DEDUP_TEXT;
	sxt_dedup_index(t_dir, "other", SIMIDX_DEDUP_TEXTS, SIMIDX_CREATE_NOTES, &other, &writer);
	ck_assert_uint_eq(decide(other, writer, &options, 0,
				 SIMIDX_DEDUP_MOST_COMPARED + (size_t)is_more, 0), 0);
	simidx_writer_close(writer);
	sxt_dedup_index(t_dir, "own", SIMIDX_DEDUP_TEXTS, 0, &index, &writer);
	options = (simidx_dedup_options)SIMIDX_DEDUP_OPTIONS_INIT;
	options.against = &other;
	options.n_against = 1;
	options.threads = 2;
	options.batch_rows = 7;
	options.flags = is_all ? SIMIDX_DEDUP_COMPARE_ALL : 0;
	ck_assert_uint_eq(decide(index, writer, &options, ROWS, 20, 0),
			  is_more && !is_all ? 20 : 0);
	simidx_writer_close(writer);
	simidx_close(index);
	simidx_close(other);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_exhausted_by_another_index, 0, 4 },
	{ &test_exhausted, 0, 1 },
};

SXT_SUITE(dedup_crowd, sxt_set_up_path, sxt_tear_down);
