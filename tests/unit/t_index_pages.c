/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Indexes whose pages are damaged: verification says so, and what is not trusted is not opened. An
 * index that others write to meanwhile is never called damaged.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <simidx_check.h>

#include "index/sx_index.h"
#include "support/sxt_fixture.h"
#include "support/sxt_model.h"

/* Where LMDB 0.9 keeps things in a page: its flags, and how many pages a long value has. */
#define AT_FLAGS 10
#define AT_PAGES 12
#define OVERFLOW 4

static size_t page;

static void set_up(void)
{
	sxt_set_up_path();
	page = (size_t)sysconf(_SC_PAGESIZE);
}

static void make_index(sxt_model *model, unsigned layout, size_t n)
{
	simidx_create_options o = SIMIDX_CREATE_OPTIONS_INIT;
	simidx *index;
	sxt_rng rng;

	sxt_remove(t_path);
	sxt_rng_init(&rng, 1);
	o.layout = layout;
	sxt_model_init(model, 64, 0);
	for (size_t i = 0; i < n; i++)
		sxt_model_add(model, sxt_rng_u64(&rng), &rng);
	index = sxt_create(t_path, &o);
	sxt_model_store(model, 0, n, index);
	sxt_merge(index);
	simidx_close(index);
}

static int open_untrusted(simidx **index)
{
	simidx_open_options o = SIMIDX_OPEN_OPTIONS_INIT;

	o.flags = SIMIDX_OPEN_UNTRUSTED;
	return simidx_open(t_path, &o, index, &sxt_err);
}

static char problem_of_index[300];

static void note_problem(void *ctx, const simidx_problem *problem)
{
	(void)ctx;
	snprintf(problem_of_index, sizeof(problem_of_index), "%s: %s", problem->table,
		 problem->text);
}

/* Whether this is the page of a value, number `n`. */
static int is_value(const unsigned char *p, uint64_t n)
{
	uint16_t flags;
	uint64_t number;

	memcpy(&number, p, sizeof(number));
	memcpy(&flags, p + AT_FLAGS, sizeof(flags));
	return number == n && flags == OVERFLOW;
}

/*
 * A block's page that says that it is three: the next two are others'. LMDB takes that for granted,
 * and dies when one of them is freed a second time.
 */
START_TEST(test_verify_finds_damaged_page)
{
	simidx_create_options create = SIMIDX_CREATE_OPTIONS_INIT;
	simidx_verify_report report = SIMIDX_VERIFY_REPORT_INIT;
	unsigned char *data, *block = NULL;
	sxt_model model;
	simidx *index;
	size_t n;

	make_index(&model, SIMIDX_LAYOUT_BLOCKS, 3000);
	ck_assert_sx(open_untrusted(&index), SIMIDX_OK);
	sxt_check_sound(index);
	simidx_close(index);
	ck_assert_sx(simidx_check_pages(t_path, 0, note_problem, NULL, &sxt_err), SIMIDX_OK);
	ck_assert_str_eq(problem_of_index, "");
	ck_assert_sx(simidx_check_pages(t_path, SIMIDX_OPEN_UNTRUSTED, NULL, NULL, &sxt_err),
		     SIMIDX_E_ARG);
	data = sxt_file_read(t_data, &n);
	for (size_t at = 2 * page; !block && at < n; at += page)
		if (is_value(data + at, at / page))
			block = data + at;
	ck_assert_ptr_nonnull(block);
	memcpy(block + AT_PAGES, &(uint32_t){ 3 }, 4);
	sxt_file_write(t_data, data, n);
	ck_assert_sx(open_untrusted(&index), SIMIDX_E_CORRUPT);
	ck_assert_ptr_null(index);
	ck_assert_ptr_nonnull(strstr(sxt_err.text, "is used, or free, a second time"));
	problem_of_index[0] = '\0';
	ck_assert_sx(simidx_check_pages(t_path, 0, note_problem, NULL, &sxt_err), SIMIDX_E_CORRUPT);
	ck_assert_ptr_nonnull(strstr(problem_of_index, "is used, or free, a second time"));
	problem_of_index[0] = '\0';
	/* Nor is it replaced: that begins with a commit to it. */
	create.flags = SIMIDX_CREATE_TRUNCATE;
	ck_assert_sx(simidx_create(t_path, &create, &index, &sxt_err), SIMIDX_E_CORRUPT);
	ck_assert_ptr_nonnull(strstr(sxt_err.text, "is used, or free, a second time"));
	index = sxt_open(t_path, 0);
	ck_assert_sx(simidx_verify(index, note_problem, NULL, &report, &sxt_err), SIMIDX_E_CORRUPT);
	ck_assert_ptr_nonnull(strstr(problem_of_index, "is used, or free, a second time"));
	ck_assert_uint_gt(report.problems, 0);
	ck_assert_uint_eq(report.mended, 0);
	simidx_close(index);
	free(data);
	sxt_model_free(&model);
}
END_TEST

/* Cut short at any page: refused, with the flag and without. */
START_TEST(test_cut_short_index)
{
	unsigned char *data;
	sxt_model model;
	size_t n;

	make_index(&model, SIMIDX_LAYOUT_ROWS, 500);
	data = sxt_file_read(t_data, &n);
	for (size_t left = 2 * page; left <= n; left += page) {
		simidx *index = NULL, *again = NULL;
		int rc;

		sxt_file_write(t_data, data, left);
		rc = simidx_open(t_path, NULL, &index, &sxt_err);
		ck_assert_int_eq(rc, open_untrusted(&again));
		ck_assert(left == n ? rc == SIMIDX_OK : rc == SIMIDX_E_CORRUPT || rc == SIMIDX_OK);
		/* What can be opened lacks free pages alone. */
		if (!rc)
			sxt_check_content(&model, model.n, index);
		simidx_close(again);
		simidx_close(index);
	}
	sxt_file_write(t_data, data, n / 2);
	ck_assert_int_eq(open_untrusted(&(simidx *){ NULL }), SIMIDX_E_CORRUPT);
	free(data);
	sxt_model_free(&model);
}
END_TEST

/* ---- beside a writer ---- */

#define BUSY_MERGED 400
#define BUSY_BATCH 3

/* Commit and merge without a pause, until told to stop. */
static int write_on_and_on(sxt_proc *me, void *ctx)
{
	simidx *index = sxt_open(t_path, 0);
	simidx_writer *writer = sxt_writer(index, 0);
	sxt_rng rng;

	(void)ctx;
	sxt_rng_init(&rng, 2);
	index->tuning.merge_blocks = 4;
	index->tuning.merge_rows = 50;
	sxt_proc_tell(me);
	for (unsigned round = 0; getppid() != 1; round++) {
		for (unsigned i = 0; i < BUSY_BATCH; i++) {
			simidx_doc doc = SIMIDX_DOC_INIT;

			doc.fp = sxt_rng_u64(&rng);
			sxt_must_ok(simidx_writer_put(writer, &doc, NULL, &sxt_err));
		}
		sxt_must_ok(simidx_writer_commit(writer, &sxt_err));
		if (round % 5 == 0)
			sxt_must_ok(simidx_writer_merge(writer, &sxt_err));
	}
	return 0;
}

START_TEST(test_busy_writer)
{
	time_t end = time(NULL) + (sxt_is_long() ? 30 : 2);
	unsigned opened = 0;
	sxt_model model;
	sxt_proc child;

	make_index(&model, (unsigned)_i, BUSY_MERGED);
	sxt_proc_start(&child, write_on_and_on, NULL);
	ck_assert_int_eq(sxt_proc_wait(&child), 0);
	while (time(NULL) < end || opened < 5) {
		simidx *index;

		ck_assert_sx(open_untrusted(&index), SIMIDX_OK);
		for (unsigned i = 0; i < 20; i++)
			sxt_check_sound(index);
		simidx_close(index);
		opened++;
	}
	sxt_proc_kill(&child);
	sxt_model_free(&model);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_verify_finds_damaged_page, 0, 1 },
	{ &test_cut_short_index, 0, 1 },
	{ &test_busy_writer, SIMIDX_LAYOUT_BLOCKS, SIMIDX_LAYOUT_ROWS + 1 },
};

SXT_SUITE(index_pages, set_up, sxt_tear_down);
