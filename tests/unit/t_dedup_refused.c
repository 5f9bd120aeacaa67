/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/* What libsimidx-dedup refuses. */

#include <stdlib.h>
#include <string.h>

#include <simidx_dedup.h>
#include <simidx_info.h>

#include "support/sxt.h"
#include "support/sxt_dedup.h"

static char *dir;

static void set_up(void)
{
	dir = sxt_dir_make();
}

static void tear_down(void)
{
	free(dir);
}

static int hear(void *ctx, const simidx_dedup_row *row, const simidx_dedup_near *near, size_t n)
{
	(void)ctx, (void)row, (void)near, (void)n;
	return 0;
}

static int read_nothing(void *ctx, unsigned thread, const simidx_dedup_place *place,
			const char **text, size_t *size)
{
	(void)ctx, (void)thread, (void)place, (void)text, (void)size;
	return SIMIDX_E_NOT_FOUND;
}

static int stop_it(void *ctx, const simidx_dedup_row *row, const simidx_dedup_near *near, size_t n)
{
	(void)ctx, (void)row, (void)near, (void)n;
	return 77;
}

START_TEST(test_bad_arguments)
{
	simidx_dedup_options good = SIMIDX_DEDUP_OPTIONS_INIT, bad;
	simidx *index_of_kept;
	simidx_writer *writer;
	simidx_error err;
	simidx_dedup_row row = SIMIDX_DEDUP_ROW_INIT;
	simidx_dedup *dedup;

	good.tmpdir = dir;
	good.calls.decided = hear;
	sxt_dedup_index(dir, "texts", SIMIDX_DEDUP_TEXTS, 0, &index_of_kept, &writer);
#define REFUSED(want, field, value)                                                           \
	do {                                                                                  \
		bad = good;                                                                   \
		bad.field = value;                                                            \
		ck_assert_int_eq(simidx_dedup_open(index_of_kept, writer, &bad, &dedup, &err), \
				 want);                                                       \
		ck_assert_ptr_null(dedup);                                                    \
		ck_assert_int_eq(err.code, want);                                             \
	} while (0)
	REFUSED(SIMIDX_E_ARG, size, 3);
	REFUSED(SIMIDX_E_ARG, kind, 3);
	REFUSED(SIMIDX_E_ARG, kind, -1);
	REFUSED(SIMIDX_E_ARG, flags, 1u << 20);
	REFUSED(SIMIDX_E_ARG, similarity, 0);
	REFUSED(SIMIDX_E_ARG, similarity, 1.1);
	REFUSED(SIMIDX_E_ARG, threads, 0);
	REFUSED(SIMIDX_E_ARG, threads, 257);
	REFUSED(SIMIDX_E_ARG, batch_rows, 0);
	REFUSED(SIMIDX_E_ARG, calls.decided, NULL);
	REFUSED(SIMIDX_E_ARG, remember, 3);
	REFUSED(SIMIDX_E_ARG, n_against, 1);
	REFUSED(SIMIDX_E_MISMATCH, remember, SIMIDX_DEDUP_SKETCH);
	good.against = &index_of_kept;
	good.n_against = 1;
	REFUSED(SIMIDX_E_ARG, flags, SIMIDX_DEDUP_PAIRS);
	good.n_against = 0;
	good.flags = SIMIDX_DEDUP_NO_VERIFY;
	REFUSED(SIMIDX_E_ARG, remember, SIMIDX_DEDUP_SKETCH);
	good.flags = 0;
	REFUSED(SIMIDX_E_MISMATCH, kind, SIMIDX_DEDUP_FEATURES);
	REFUSED(SIMIDX_E_MISMATCH, kind, SIMIDX_DEDUP_FINGERPRINTS);
	good.calls.read_text = NULL;
	ck_assert_int_eq(simidx_dedup_open(index_of_kept, writer, &good, &dedup, &err), SIMIDX_OK);
	row.text_size = 1;
	ck_assert_int_eq(simidx_dedup_add(dedup, &row, &err), SIMIDX_E_ARG);
	row.text = "x";
	row.flags = SIMIDX_DEDUP_PLACED;
	ck_assert_int_eq(simidx_dedup_add(dedup, &row, &err), SIMIDX_E_ARG);
	row.flags = 8;
	ck_assert_int_eq(simidx_dedup_add(dedup, &row, &err), SIMIDX_E_ARG);
	row.flags = 0;
	row.text_size = ((size_t)1 << 30) + 1;
	ck_assert_int_eq(simidx_dedup_add(dedup, &row, &err), SIMIDX_E_RANGE);
	row.size = 0;
	ck_assert_int_eq(simidx_dedup_add(dedup, &row, &err), SIMIDX_E_ARG);
	simidx_dedup_close(dedup);
	simidx_dedup_close(NULL);
	simidx_writer_close(writer);
	simidx_close(index_of_kept);
	sxt_dedup_index(dir, "bare", SIMIDX_DEDUP_FINGERPRINTS, 0, &index_of_kept, &writer);
	REFUSED(SIMIDX_E_MISMATCH, kind, SIMIDX_DEDUP_TEXTS);
	REFUSED(SIMIDX_E_MISMATCH, kind, SIMIDX_DEDUP_FEATURES);
	simidx_writer_close(writer);
	simidx_close(index_of_kept);
	sxt_dedup_index(dir, "features", SIMIDX_DEDUP_FEATURES, 0, &index_of_kept, &writer);
	REFUSED(SIMIDX_E_MISMATCH, kind, SIMIDX_DEDUP_FINGERPRINTS);
	simidx_writer_close(writer);
	simidx_close(index_of_kept);
}
END_TEST

/* Rows of which a part is missing, or that do not fit the options. */
START_TEST(test_bad_rows)
{
	static const simidx_dedup_row good = SIMIDX_DEDUP_ROW_INIT;
	simidx_dedup_options options = SIMIDX_DEDUP_OPTIONS_INIT;
	simidx *index;
	simidx_writer *writer;
	simidx_dedup_row bad;
	simidx_dedup *dedup;
	simidx_error err;

	options.tmpdir = dir;
	options.calls.decided = hear;
	options.calls.read_text = read_nothing;
	options.flags = SIMIDX_DEDUP_PAIRS;
	sxt_dedup_index(dir, "texts", SIMIDX_DEDUP_TEXTS, 0, &index, &writer);
	ck_assert_int_eq(simidx_dedup_open(index, writer, &options, &dedup, &err), SIMIDX_OK);
#define BAD_ROW(want, field, value)                                                  \
	do {                                                                         \
		bad = good;                                                          \
		bad.field = value;                                                   \
		bad.flags |= bad.place.offset ? SIMIDX_DEDUP_PLACED : 0;             \
		ck_assert_int_eq(simidx_dedup_add(dedup, &bad, &err), want);         \
	} while (0)
	BAD_ROW(SIMIDX_E_ARG, n_features, 1);
	BAD_ROW(SIMIDX_E_ARG, label_size, 1);
	BAD_ROW(SIMIDX_E_ARG, extra_size, 1);
	BAD_ROW(SIMIDX_E_ARG, flags, SIMIDX_DEDUP_ASK);
	BAD_ROW(SIMIDX_E_RANGE, place.offset, UINT64_C(1) << 48);
	BAD_ROW(SIMIDX_OK, place.offset, (UINT64_C(1) << 48) - 1);
	ck_assert_int_eq(simidx_dedup_flush(dedup, 1, &err), SIMIDX_OK);
	simidx_dedup_close(dedup);
	simidx_writer_close(writer);
	simidx_close(index);
}
END_TEST

/* After a call that has failed there is nothing but closing. */
START_TEST(test_after_failure)
{
	simidx_dedup_options options = SIMIDX_DEDUP_OPTIONS_INIT;
	simidx_dedup_row row = SIMIDX_DEDUP_ROW_INIT;
	simidx *index;
	simidx_writer *writer;
	simidx_dedup *dedup;
	simidx_error err;

	options.tmpdir = dir;
	options.calls.decided = stop_it;
	sxt_dedup_index(dir, "texts", SIMIDX_DEDUP_TEXTS, 0, &index, &writer);
	ck_assert_int_eq(simidx_dedup_open(index, writer, &options, &dedup, &err), SIMIDX_OK);
	row.text = "some words";
	row.text_size = strlen(row.text);
	ck_assert_int_eq(simidx_dedup_add(dedup, &row, &err), SIMIDX_OK);
	ck_assert_int_eq(simidx_dedup_flush(dedup, 0, &err), 77);
	ck_assert_int_eq(simidx_dedup_flush(dedup, 1, &err), SIMIDX_E_STATE);
	ck_assert_int_eq(simidx_dedup_add(dedup, &row, &err), SIMIDX_E_STATE);
	simidx_dedup_close(dedup);
	ck_assert_uint_eq(simidx_writer_pending(writer), 0);
	simidx_writer_close(writer);
	simidx_close(index);
}
END_TEST

/* The text tells which of the other indexes it is. */
START_TEST(test_other_index)
{
	simidx_dedup_options options = SIMIDX_DEDUP_OPTIONS_INIT;
	simidx *index, *others[2];
	simidx_writer *writer, *other_writers[2];
	simidx_dedup *dedup;
	simidx_error err;

	sxt_dedup_index(dir, "own", SIMIDX_DEDUP_TEXTS, 0, &index, &writer);
	sxt_dedup_index(dir, "good", SIMIDX_DEDUP_TEXTS, 0, &others[0], &other_writers[0]);
	sxt_dedup_index(dir, "bare", SIMIDX_DEDUP_FINGERPRINTS, 0, &others[1], &other_writers[1]);
	options.tmpdir = dir;
	options.calls.decided = hear;
	options.against = others;
	options.n_against = 2;
	ck_assert_int_eq(simidx_dedup_open(index, writer, &options, &dedup, &err),
			 SIMIDX_E_MISMATCH);
	ck_assert_int_eq(strncmp(err.text, "index 1: ", 9), 0);
	options.n_against = 1;
	ck_assert_int_eq(simidx_dedup_open(index, writer, &options, &dedup, &err), SIMIDX_OK);
	simidx_dedup_close(dedup);
	for (int i = 0; i < 2; i++) {
		simidx_writer_close(other_writers[i]);
		simidx_close(others[i]);
	}
	simidx_writer_close(writer);
	simidx_close(index);
}
END_TEST

/* The text tells in what another index differs. */
START_TEST(test_other_shape)
{
	static const struct {
		unsigned bits, flags;
		const char *profile, *text;
	} others[] = {
		{ 64, SIMIDX_CREATE_NO_IDS, NULL, "it has no ids" },
		{ 32, SIMIDX_CREATE_FP2, NULL,
		  "it has 32 bits and has second fingerprints, not 64 and has" },
		{ 64, 0, NULL, "it has 64 bits and no second fingerprints, not 64 and has" },
		{ 64, SIMIDX_CREATE_FP2, NULL, "it is of another profile: 'none', not '" },
		{ 64, SIMIDX_CREATE_FP2, "mine", "it is of another profile: 'mine', not '" },
	};
	simidx_dedup_options options = SIMIDX_DEDUP_OPTIONS_INIT;
	simidx *index, *other;
	simidx_writer *writer;
	simidx_dedup *dedup;
	simidx_error err;

	sxt_dedup_index(dir, "own", SIMIDX_DEDUP_TEXTS, 0, &index, &writer);
	options.tmpdir = dir;
	options.calls.decided = hear;
	options.against = &other;
	options.n_against = 1;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		simidx_create_options create = SIMIDX_CREATE_OPTIONS_INIT;
		char name[] = { (char)('a' + i), '\0' }, *path = sxt_path(dir, name);

		create.bits = others[i].bits;
		create.flags = others[i].flags;
		create.profile = others[i].profile;
		ck_assert_int_eq(simidx_create(path, &create, &other, &err), SIMIDX_OK);
		ck_assert_int_eq(simidx_dedup_open(index, writer, &options, &dedup, &err),
				 SIMIDX_E_MISMATCH);
		ck_assert_msg(strstr(err.text, others[i].text) != NULL, "%s", err.text);
		simidx_close(other);
		free(path);
	}
	simidx_writer_close(writer);
	simidx_close(index);
}
END_TEST

/* Of the same profile, but made where texts are split in another way. */
START_TEST(test_other_check_texts)
{
	simidx_dedup_options options = SIMIDX_DEDUP_OPTIONS_INIT;
	simidx_create_options create = SIMIDX_CREATE_OPTIONS_INIT;
	simidx_info info = SIMIDX_INFO_INIT;
	char *path[2] = { sxt_path(dir, "split"), sxt_path(dir, "fewer") };
	simidx *index, *other;
	simidx_writer *writer;
	uint64_t fps[64] = { 0 };
	simidx_dedup *dedup;
	simidx_error err;

	sxt_dedup_index(dir, "own", SIMIDX_DEDUP_TEXTS, 0, &index, &writer);
	ck_assert_int_eq(simidx_get_info(index, &info, &err), SIMIDX_OK);
	memcpy(fps, info.check_fps, info.n_check_fps * sizeof(*fps));
	create.flags = SIMIDX_CREATE_FP2;
	create.profile = info.profile;
	create.check_fps = fps;
	options.tmpdir = dir;
	options.calls.decided = hear;
	options.against = &other;
	options.n_against = 1;
	for (unsigned fewer = 0; fewer < 2; fewer++) {
		fps[info.n_check_fps - 1] ^= 1; /* for the first alone */
		create.n_check_fps = info.n_check_fps - fewer;
		ck_assert_int_eq(simidx_create(path[fewer], &create, &other, &err), SIMIDX_OK);
		ck_assert_int_eq(simidx_dedup_open(index, writer, &options, &dedup, &err),
				 SIMIDX_E_MISMATCH);
		ck_assert_ptr_nonnull(strstr(err.text, "other fingerprints of the same texts"));
		simidx_close(other);
		free(path[fewer]);
	}
	simidx_writer_close(writer);
	simidx_close(index);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_bad_arguments, 0, 1 },
	{ &test_bad_rows, 0, 1 },
	{ &test_after_failure, 0, 1 },
	{ &test_other_index, 0, 1 },
	{ &test_other_shape, 0, 1 },
	{ &test_other_check_texts, 0, 1 },
};

SXT_SUITE(dedup_refused, set_up, tear_down);
