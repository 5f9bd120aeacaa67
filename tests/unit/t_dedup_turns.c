/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/* A deduplication that several threads use in turns, all of which live on. */

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <simidx_dedup.h>

#include "support/sxt.h"
#include "support/sxt_dedup.h"

#define ROWS 400
#define CALLERS 3

static char *dir;
static simidx *kept;
static simidx_writer *writer;
static simidx_dedup *dedup;
static size_t n_rows, n_kept;
static pthread_barrier_t turn;

static void set_up(void)
{
	dir = sxt_dir_make();
	n_rows = n_kept = 0;
	ck_assert_int_eq(pthread_barrier_init(&turn, NULL, CALLERS), 0);
}

static void tear_down(void)
{
	pthread_barrier_destroy(&turn);
	free(dir);
}

static int hear(void *ctx, const simidx_dedup_row *row, const simidx_dedup_near *near, size_t n)
{
	(void)ctx;
	(void)row;
	(void)near;
	n_rows++;
	n_kept += n == 0;
	return 0;
}

/* Every second row is one that came before, in other letters. */
static int add(size_t i, simidx_error *err)
{
	simidx_dedup_row row = SIMIDX_DEDUP_ROW_INIT;
	char text[200];
	size_t k = i / 2;

	row.text = text;
	row.text_size = (size_t)sprintf(text, "%zu %zu %s %zu %s %zu", k, 7 * k,
					i % 2 ? "OF THE" : "of the", k * k, "old bridges", 3 * k);
	return simidx_dedup_add(dedup, &row, err);
}

static void *call_in_turns(void *number)
{
	size_t mine = *(const size_t *)number;
	simidx_error err;
	int rc = 0;

	for (size_t i = 0; i < ROWS; i++) {
		if (!rc && i % CALLERS == mine)
			rc = add(i, &err);
		pthread_barrier_wait(&turn);
	}
	if (!rc && mine == CALLERS - 1)
		rc = simidx_dedup_flush(dedup, 1, &err);
	sxt_must_sx(rc, SIMIDX_OK);
	return NULL;
}

/* `flags`: of simidx_dedup_options. */
static void take_turns(const char *name, unsigned flags)
{
	simidx_dedup_options options = SIMIDX_DEDUP_OPTIONS_INIT;
	size_t number[CALLERS];
	pthread_t thread[CALLERS];
	simidx_error err;

	n_rows = n_kept = 0;
	sxt_dedup_index(dir, name, SIMIDX_DEDUP_TEXTS, 0, &kept, &writer);
	options.threads = 2;
	options.batch_rows = 7;
	options.flags = flags;
	options.tmpdir = dir;
	options.calls.decided = hear;
	ck_assert_int_eq(simidx_dedup_open(kept, writer, &options, &dedup, &err), SIMIDX_OK);
	for (size_t i = 0; i < CALLERS; i++) {
		number[i] = i;
		ck_assert_int_eq(pthread_create(&thread[i], NULL, call_in_turns, &number[i]), 0);
	}
	for (size_t i = 0; i < CALLERS; i++)
		pthread_join(thread[i], NULL);
	ck_assert_uint_eq(n_rows, ROWS);
	ck_assert_uint_eq(n_kept, ROWS / 2);
	simidx_dedup_close(dedup);
	simidx_writer_close(writer);
	simidx_close(kept);
}

START_TEST(test_threads_take_turns)
{
	take_turns("private", 0);
	take_turns("lasting", SIMIDX_DEDUP_LASTING);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_threads_take_turns, 0, 1 },
};

SXT_SUITE(dedup_turns, set_up, tear_down);
