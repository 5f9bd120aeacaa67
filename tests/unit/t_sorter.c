/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include <stdlib.h>
#include <string.h>

#include "support/sxt.h"
#include "t_fast.h"
#include "util/sx_sorter.h"
#include "util/sx_spill.h"

Suite *suite_sorter(void);

#define MEMORY ((size_t)1 << 20)

static char *dir;

static void set_up(void)
{
	dir = sxt_dir_make();
}

static void tear_down(void)
{
	sxt_remove(dir);
	free(dir);
}

/* ---- an independent stable sort: merge sort of record numbers ---- */

struct reference {
	const uint64_t *record;
	unsigned words, keys, shift;
};

static int is_after(const struct reference *r, size_t a, size_t b)
{
	const uint64_t *x = r->record + a * r->words, *y = r->record + b * r->words;

	if (x[0] >> r->shift != y[0] >> r->shift)
		return x[0] >> r->shift > y[0] >> r->shift;
	return r->keys > 1 && x[1] > y[1];
}

static void merge_sort(const struct reference *r, size_t *order, size_t *scratch, size_t n)
{
	size_t half = n / 2, i = 0, j = half, at = 0;

	if (n < 2)
		return;
	merge_sort(r, order, scratch, half);
	merge_sort(r, order + half, scratch, n - half);
	while (at < n) {
		if (j == n || (i < half && !is_after(r, order[i], order[j])))
			scratch[at++] = order[i++];
		else
			scratch[at++] = order[j++];
	}
	memcpy(order, scratch, n * sizeof(*order));
}

/* Sort n records with few distinct keys, so that stability shows, and compare. */
static void check(unsigned words, unsigned keys, unsigned shift, size_t n, uint64_t range,
		  int ascending)
{
	struct reference r = { NULL, words, keys, shift };
	uint64_t *record = calloc(n * words + 1, sizeof(*record));
	size_t *order = calloc(n + 1, sizeof(*order)), *scratch = calloc(n + 1, sizeof(*scratch));
	const uint64_t *got;
	sx_sorter *sorter;
	sxt_rng rng;

	sxt_rng_init(&rng, words * 100 + keys * 10 + n);
	for (size_t i = 0; i < n; i++)
		for (unsigned w = 0; w < words; w++) {
			uint64_t x = w < 2 ? sxt_rng_below(&rng, range) << (w ? 0 : shift) : i;

			record[i * words + w] = w == 0 && ascending ? (uint64_t)i << shift : x;
		}
	r.record = record;
	for (size_t i = 0; i < n; i++)
		order[i] = i;
	merge_sort(&r, order, scratch, n);
	ck_assert_sx(sx_sorter_new(words, keys, shift, MEMORY, dir, &sorter, &sxt_err), SIMIDX_OK);
	for (size_t i = 0; i < n; i++)
		t_must(!sx_sorter_add(sorter, record + i * words, &sxt_err));
	ck_assert_uint_eq(sx_sorter_count(sorter), n);
	ck_assert_sx(sx_sorter_finish(sorter, MEMORY, &sxt_err), SIMIDX_OK);
	/* Half of the memory holds records, the other half is where they are sorted to. */
	ck_assert_int_eq(sx_sorter_spilled(sorter) > 0, n > MEMORY / 2 / (8 * words));
	for (size_t i = 0; i < n; i++) {
		t_must(!sx_sorter_next(sorter, &got, &sxt_err));
		t_must(!memcmp(got, record + order[i] * words, words * sizeof(*got)));
	}
	ck_assert_int_eq(sx_sorter_next(sorter, &got, NULL), SIMIDX_E_END);
	sx_sorter_free(sorter);
	free(record);
	free(order);
	free(scratch);
}

START_TEST(test_in_memory)
{
	static const size_t sizes[] = { 0, 1, 2, 3, 100, 5000 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (unsigned words = 1; words <= SX_SORTER_MAX_WORDS; words++) {
			check(words, 1, 0, sizes[i], 50, 0);
			if (words > 1)
				check(words, 2, 0, sizes[i], 50, 0);
		}
}
END_TEST

START_TEST(test_spilled)
{
	for (unsigned words = 1; words <= SX_SORTER_MAX_WORDS; words++) {
		check(words, 1, 0, 200000, 1000, 0);
		check(words, 1, 0, 200000, UINT64_MAX, 0);
		check(words, 1, 0, 200000, 1000, 1);
		if (words > 1)
			check(words, 2, 0, 200000, 300, 0);
	}
	/* Exactly full, and one more. */
	check(2, 1, 0, MEMORY / 32, 1000, 0);
	check(2, 1, 0, MEMORY / 32 + 1, 1000, 0);
}
END_TEST

START_TEST(test_shift)
{
	check(1, 1, 48, 300000, 1 << 16, 0);
	check(1, 1, 63, 1000, 2, 0);
	check(3, 2, 20, 100000, 1 << 10, 0);
}
END_TEST

START_TEST(test_no_directory)
{
	uint64_t record[1] = { 0 };
	char *missing = sxt_path(dir, "missing");
	sx_sorter *sorter;
	int rc = SIMIDX_OK;

	ck_assert_sx(sx_sorter_new(1, 1, 0, MEMORY, missing, &sorter, &sxt_err), SIMIDX_OK);
	for (size_t i = 0; !rc && i < MEMORY; i++)
		rc = sx_sorter_add(sorter, record, &sxt_err);
	ck_assert_int_eq(rc, SIMIDX_E_NOT_FOUND);
	ck_assert_ptr_nonnull(strstr(sxt_err.text, missing));
	sx_sorter_free(sorter);
	free(missing);
}
END_TEST

START_TEST(test_spill)
{
	unsigned char out[3000], in[3000];
	sx_spill *spill;
	uint64_t at = 0;
	sxt_rng rng;

	sxt_rng_init(&rng, 1);
	ck_assert_sx(sx_spill_new(dir, 1000, &spill, &sxt_err), SIMIDX_OK);
	for (unsigned i = 0; i < 500; i++) {
		size_t size = (size_t)sxt_rng_below(&rng, sizeof(out));

		memset(out, (int)(i & 0xff), size);
		ck_assert_uint_eq(sx_spill_size(spill), at);
		ck_assert_sx(sx_spill_write(spill, out, size, &sxt_err), SIMIDX_OK);
		/* What was written last, be it in the buffer or in the file. */
		ck_assert_sx(sx_spill_read(spill, at, in, size, &sxt_err), SIMIDX_OK);
		ck_assert(!memcmp(in, out, size));
		at += size;
	}
	ck_assert_sx(sx_spill_read(spill, at, in, 1, &sxt_err), SIMIDX_E_IO);
	sx_spill_free(spill);
}
END_TEST

Suite *suite_sorter(void)
{
	Suite *suite = suite_create("sorter");
	TCase *tc = tcase_create("sorter");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, test_in_memory);
	tcase_add_test(tc, test_spilled);
	tcase_add_test(tc, test_shift);
	tcase_add_test(tc, test_no_directory);
	tcase_add_test(tc, test_spill);
	suite_add_tcase(suite, tc);
	return suite;
}
