/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/sxt.h"
#include "util/sx_alloc.h"
#include "util/sx_bytes.h"
#include "util/sx_err.h"
#include "util/sx_hash.h"
#include "util/sx_sort.h"
#include "util/sx_u64s.h"

#if defined(__SANITIZE_ADDRESS__)
#define WITH_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ASAN 1
#endif
#endif
#ifndef WITH_ASAN
#define WITH_ASAN 0
#endif

/* ------------------------------------------------------------------------------------------
 * Sorting
 */

static const size_t sizes[] = { 0, 1, 2, 3, 31, 32, 33, 34, 255, 256, 257, 5000, 100000 };

#define N_SIZES (sizeof(sizes) / sizeof(sizes[0]))
#define N_FILLS 8

static void fill(sxt_rng *rng, unsigned how, uint64_t *key, size_t n)
{
	uint64_t one = sxt_rng_u64(rng);
	size_t i;

	for (i = 0; i < n; i++) {
		switch (how) {
		case 0:
			key[i] = sxt_rng_u64(rng);
			break;
		case 1: /* all equal */
			key[i] = one;
			break;
		case 2: /* they differ in one byte in the middle only, so most are equal */
			key[i] = one & ~(UINT64_C(0xff) << 24);
			key[i] |= sxt_rng_below(rng, 256) << 24;
			break;
		case 3: /* in the highest byte only */
			key[i] = one >> 8 | sxt_rng_below(rng, 5) << 56;
			break;
		case 4: /* descending */
			key[i] = UINT64_MAX - i;
			break;
		case 5: /* sorted already */
			key[i] = i << 20;
			break;
		case 6: /* in an odd number of bytes: the result ends in the scratch */
			key[i] = sxt_rng_below(rng, UINT64_C(1) << 24);
			break;
		default: /* both ends of the range */
			key[i] = sxt_rng_below(rng, 2) ? UINT64_MAX - sxt_rng_below(rng, 3)
						       : sxt_rng_below(rng, 3);
		}
	}
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

START_TEST(test_sort_u64)
{
	size_t n = sizes[_i], i;
	uint64_t *key = malloc((n + 1) * sizeof(*key));
	uint64_t *want = malloc((n + 1) * sizeof(*want));
	unsigned how;
	sxt_rng rng;

	sxt_rng_init(&rng, (uint64_t)_i);
	for (how = 0; how < N_FILLS; how++) {
		fill(&rng, how, key, n);
		key[n] = 77; /* not ours */
		memcpy(want, key, (n + 1) * sizeof(*want));
		qsort(want, n, sizeof(*want), compare);
		ck_assert_int_eq(sx_sort_u64(key, n), 0);
		for (i = 0; i <= n; i++)
			sxt_must_eq(key[i], want[i]);
	}
	free(key);
	free(want);
}
END_TEST

static void shuffle(sxt_rng *rng, uint32_t *order, size_t n)
{
	size_t i, j;

	for (i = 0; i < n; i++)
		order[i] = (uint32_t)i;
	for (i = n; i > 1; i--) {
		uint32_t swap = order[i - 1];

		j = sxt_rng_below(rng, i);
		order[i - 1] = order[j];
		order[j] = swap;
	}
}

/* Sorted, a permutation, and equal keys in the order of `place`: their place before. */
static void check_order(const uint64_t *key, const uint32_t *order, size_t n,
			const uint32_t *place)
{
	unsigned char *seen = calloc(n + 1, 1);
	size_t i;

	for (i = 0; i < n; i++) {
		sxt_must_lt(order[i], n);
		sxt_must(!seen[order[i]]++);
		if (!i)
			continue;
		sxt_must_ge(key[order[i]], key[order[i - 1]]);
		if (key[order[i]] == key[order[i - 1]])
			sxt_must_gt(place[order[i]], place[order[i - 1]]);
	}
	free(seen);
}

START_TEST(test_sort_order)
{
	size_t n = sizes[_i], i;
	uint64_t *key = malloc((n + 1) * sizeof(*key));
	uint64_t *copy = malloc((n + 1) * sizeof(*copy));
	uint32_t *order = malloc((n + 1) * sizeof(*order));
	uint32_t *place = malloc((n + 1) * sizeof(*place));
	unsigned how;
	sxt_rng rng;

	sxt_rng_init(&rng, 100 + (uint64_t)_i);
	for (how = 0; how < N_FILLS; how++) {
		fill(&rng, how, key, n);
		memcpy(copy, key, n * sizeof(*copy));
		memset(order, 0xee, (n + 1) * sizeof(*order));
		ck_assert_int_eq(sx_sort_order(key, order, n, 0), 0);
		for (i = 0; i < n; i++)
			place[i] = (uint32_t)i;
		check_order(key, order, n, place);

		shuffle(&rng, order, n);
		for (i = 0; i < n; i++)
			place[order[i]] = (uint32_t)i;
		ck_assert_int_eq(sx_sort_order(key, order, n, 1), 0);
		check_order(key, order, n, place);
		ck_assert_uint_eq(order[n], 0xeeeeeeee);
		if (n)
			ck_assert_mem_eq(key, copy, n * sizeof(*copy));
	}
	free(key);
	free(copy);
	free(order);
	free(place);
}
END_TEST

/* By the leading bits alone; items that agree on these stay as they came. */
START_TEST(test_sort_items)
{
	size_t n = sizes[_i];
	sx_sort_item *item = malloc((2 * n + 1) * sizeof(*item)), *sorted;
	uint64_t *key = malloc((n + 1) * sizeof(*key));
	sxt_rng rng;

	sxt_rng_init(&rng, 200 + (uint64_t)_i);
	for (unsigned how = 0; how < N_FILLS; how++) {
		unsigned shift = (unsigned)sxt_rng_below(&rng, 64);

		fill(&rng, how, key, n);
		for (size_t i = 0; i < n; i++)
			item[i] = (sx_sort_item){ key[i], i };
		sorted = sx_sort_items(item, item + n, n, shift);
		sxt_must(sorted == item || sorted == item + n);
		for (size_t i = 0; i < n; i++) {
			sxt_must_lt(sorted[i].value, n);
			sxt_must_eq(sorted[i].key, key[sorted[i].value]);
			if (!i)
				continue;
			sxt_must_le(sorted[i - 1].key >> shift, sorted[i].key >> shift);
			if (sorted[i - 1].key >> shift == sorted[i].key >> shift)
				sxt_must_lt(sorted[i - 1].value, sorted[i].value);
		}
	}
	free(item);
	free(key);
}
END_TEST

static int compare_triples(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	for (unsigned w = 0; w < 3; w++)
		if (x[w] != y[w])
			return x[w] < y[w] ? -1 : 1;
	return 0;
}

/*
 * By two keys of any kind; the third word, in the order in which they came, tells that equal ones
 * stay.
 */
START_TEST(test_sort_by_two_keys)
{
	size_t n = sizes[_i];
	uint64_t *key = malloc((2 * n + 1) * sizeof(*key));
	uint64_t *record = malloc((6 * n + 1) * sizeof(*record)), *sorted;
	uint64_t *want = malloc((3 * n + 1) * sizeof(*want));
	sxt_rng rng;

	sxt_rng_init(&rng, 300 + (uint64_t)_i);
	for (unsigned how = 0; how < N_FILLS * N_FILLS; how++) {
		unsigned shift = how % 3 ? 0 : (unsigned)sxt_rng_below(&rng, 64);

		fill(&rng, how % N_FILLS, key, n);
		fill(&rng, how / N_FILLS, key + n, n);
		for (size_t i = 0; i < n; i++) {
			record[3 * i] = want[3 * i] = key[i] >> shift << shift;
			record[3 * i + 1] = want[3 * i + 1] = key[n + i];
			record[3 * i + 2] = want[3 * i + 2] = i;
		}
		qsort(want, n, 3 * sizeof(*want), compare_triples);
		sorted = sx_sort_records(record, record + 3 * n, n, 3, 2, shift);
		sxt_must(sorted == record || sorted == record + 3 * n);
		if (n)
			ck_assert_mem_eq(sorted, want, 3 * n * sizeof(*want));
	}
	free(key);
	free(record);
	free(want);
}
END_TEST

START_TEST(test_unique_of_sorted)
{
	uint64_t key[] = { 0, 0, 1, 2, 2, 2, 7, UINT64_MAX, UINT64_MAX };
	static const uint64_t want[] = { 0, 1, 2, 7, UINT64_MAX };
	uint64_t one = 5;

	ck_assert_uint_eq(sx_unique_u64(key, 9), 5);
	ck_assert_mem_eq(key, want, sizeof(want));
	ck_assert_uint_eq(sx_unique_u64(key, 5), 5);
	ck_assert_mem_eq(key, want, sizeof(want));
	ck_assert_uint_eq(sx_unique_u64(&one, 1), 1);
	ck_assert_uint_eq(sx_unique_u64(&one, 0), 0);
	ck_assert_uint_eq(one, 5);
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * Allocation
 */

START_TEST(test_alloc_of_impossible_sizes)
{
	/* Volatile: the compiler must not see that these sizes are impossible. */
	volatile size_t half = SIZE_MAX / 2 + 1;
	uint32_t *p = sx_calloc(100, sizeof(*p));
	unsigned i;
	void *none;

	ck_assert_ptr_nonnull(p);
	for (i = 0; i < 100; i++)
		ck_assert_uint_eq(p[i], 0);
	memset(p, 0x5a, 100 * sizeof(*p));
	/* 2^63 times 4 is 0 in a size_t: a plain multiplication would "succeed". */
	ck_assert_ptr_null(sx_realloc(p, half, 4));
	for (i = 0; i < 100; i++)
		ck_assert_uint_eq(p[i], 0x5a5a5a5a);
	p = sx_realloc(p, 1000, sizeof(*p));
	ck_assert_ptr_nonnull(p);
	ck_assert_uint_eq(p[99], 0x5a5a5a5a);
	p[999] = 1;
	free(p);
	if (!WITH_ASAN) /* which ends the program instead */
		ck_assert_ptr_null(sx_calloc(half, 4));
	none = sx_calloc(0, 8);
	ck_assert_ptr_nonnull(none);
	none = sx_realloc(none, 0, 8);
	ck_assert_ptr_nonnull(none);
	free(none);
}
END_TEST

START_TEST(test_reserve_grows)
{
	volatile size_t half = SIZE_MAX / 2 + 1;
	uint64_t *array = NULL, *before;
	size_t cap = 0, grown = 0, old, i;

	ck_assert_int_eq(sx_reserve(&array, &cap, 0, sizeof(*array)), 0);
	ck_assert_ptr_null(array);
	for (i = 0; i < 100000; i++) {
		old = cap;
		sxt_must(!sx_reserve(&array, &cap, i + 1, sizeof(*array)));
		sxt_must_gt(cap, i);
		grown += cap != old;
		array[i] = i * i;
	}
	/* By half: log(100000 / 16) / log(1.5) = 21.6 steps, not one an element. */
	ck_assert_uint_le(grown, 24);
	for (i = 0; i < 100000; i++)
		sxt_must_eq(array[i], i * i);
	before = array;
	old = cap;
	ck_assert_int_eq(sx_reserve(&array, &cap, half, sizeof(*array)), -1);
	ck_assert_ptr_eq(array, before);
	ck_assert_uint_eq(cap, old);
	ck_assert_uint_eq(array[99999], UINT64_C(99999) * 99999);
	free(array);
}
END_TEST

START_TEST(test_u64s_grow)
{
	sx_u64s a = { 0 };
	uint64_t i;

	for (i = 0; i < 1000; i++)
		ck_assert_int_eq(sx_u64s_push(&a, ~i), 0);
	ck_assert_uint_eq(a.n, 1000);
	for (i = 0; i < 1000; i++)
		ck_assert_uint_eq(a.at[i], ~i);
	sx_u64s_free(&a);
	ck_assert_ptr_null(a.at);
	ck_assert_uint_eq(a.n, 0);
	ck_assert_int_eq(sx_u64s_push(&a, 9), 0);
	ck_assert_uint_eq(a.at[0], 9);
	sx_u64s_free(&a);
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * Bytes and hashes
 */

START_TEST(test_numbers_of_bytes)
{
	/* One byte before, so that everything is unaligned. */
	unsigned char b[10] = { 0, 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0xee };
	unsigned char out[10];
	unsigned i;

	ck_assert_uint_eq(sx_load_be64(b + 1), UINT64_C(0x0123456789abcdef));
	ck_assert_uint_eq(sx_load_le64(b + 1), UINT64_C(0xefcdab8967452301));
	ck_assert_uint_eq(sx_load_le32(b + 5), 0xefcdab89);
	ck_assert_uint_eq(sx_load_le16(b + 7), 0xefcd);
	memset(out, 0xee, sizeof(out));
	out[0] = 0;
	sx_store_be64(out + 1, UINT64_C(0x0123456789abcdef));
	ck_assert_mem_eq(out, b, sizeof(b));
	sx_store_le64(out + 1, 0);
	sx_store_le64(out + 1, UINT64_C(0xefcdab8967452301));
	ck_assert_mem_eq(out, b, sizeof(b));
	sx_store_le32(out + 5, 0);
	sx_store_le32(out + 5, 0xefcdab89);
	ck_assert_mem_eq(out, b, sizeof(b));
	sx_store_le16(out + 7, 0);
	sx_store_le16(out + 7, 0xefcd);
	ck_assert_mem_eq(out, b, sizeof(b));
	ck_assert_uint_eq(sx_low_bits(0), 0);
	for (i = 1; i < 64; i++)
		ck_assert_uint_eq(sx_low_bits(i), 2 * sx_low_bits(i - 1) + 1);
	ck_assert_uint_eq(sx_low_bits(64), UINT64_MAX);
}
END_TEST

START_TEST(test_hash_is_xxh3)
{
	static const unsigned char bytes[] = {
		0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01, /* two numbers */
		0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x80,
	};
	uint64_t numbers[2] = { UINT64_C(0x0123456789abcdef), UINT64_C(0x8000000000000001) };

	/* XXH3-64 of nothing, from the sanity table of xxHash itself. */
	ck_assert_uint_eq(sx_hash("", 0), UINT64_C(0x2d06800538d394c2));
	ck_assert_uint_eq(sx_hash_seed(bytes, 16, 0), sx_hash(bytes, 16));
	ck_assert_uint_ne(sx_hash_seed(bytes, 16, 1), sx_hash(bytes, 16));
	ck_assert_uint_eq(sx_hash_u64(UINT64_C(0x0123456789abcdef)), sx_hash(bytes, 8));
	ck_assert_uint_eq(sx_hash_u64_pair(UINT64_C(0x0123456789abcdef),
					   UINT64_C(0x8000000000000001)),
			  sx_hash(bytes, 16));
	sx_hash_u64s_seed(numbers, numbers, 2, 77);
	ck_assert_uint_eq(numbers[0], sx_hash_seed(bytes, 8, 77));
	ck_assert_uint_eq(numbers[1], sx_hash_seed(bytes + 8, 8, 77));
	ck_assert_uint_ge(sx_hash_version(), 800); /* XXH3 is stable since 0.8.0 */
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * Errors
 */

START_TEST(test_first_error_wins)
{
	char text[1000];
	simidx_error err;

	memset(&err, 0xee, sizeof(err));
	sx_err_clear(&err);
	ck_assert_int_eq(err.code, SIMIDX_OK);
	ck_assert_int_eq(err.sys_errno, 0);
	ck_assert_str_eq(err.text, "");
	sx_err_clear(NULL);

	ck_assert_int_eq(sx_fail(&err, SIMIDX_E_RANGE, "id %d of %s", 7, "x"), SIMIDX_E_RANGE);
	ck_assert_int_eq(err.code, SIMIDX_E_RANGE);
	ck_assert_str_eq(err.text, "id 7 of x");
	/* The first one wins, but each caller gets the code that it asked for. */
	ck_assert_int_eq(sx_fail(&err, SIMIDX_E_IO, "later"), SIMIDX_E_IO);
	ck_assert_int_eq(sx_fail_errno(&err, ENOENT, "later"), SIMIDX_E_NOT_FOUND);
	ck_assert_int_eq(sx_fail_nomem(&err), SIMIDX_E_NOMEM);
	ck_assert_int_eq(err.code, SIMIDX_E_RANGE);
	ck_assert_int_eq(err.sys_errno, 0);
	ck_assert_str_eq(err.text, "id 7 of x");
	ck_assert_int_eq(sx_fail(NULL, SIMIDX_E_IO, "x"), SIMIDX_E_IO);
	ck_assert_int_eq(sx_fail_errno(NULL, EACCES, "x"), SIMIDX_E_PERMISSION);
	ck_assert_int_eq(sx_fail_nomem(NULL), SIMIDX_E_NOMEM);

	memset(text, 'y', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	sx_err_clear(&err);
	ck_assert_int_eq(sx_fail(&err, SIMIDX_E_ARG, "%s", text), SIMIDX_E_ARG);
	ck_assert_uint_eq(strlen(err.text), sizeof(err.text) - 1);
	sx_err_clear(&err);
	ck_assert_int_eq(sx_fail_errno(&err, EIO, "%s", text), SIMIDX_E_IO);
	ck_assert_uint_eq(strlen(err.text), sizeof(err.text) - 1);
}
END_TEST

START_TEST(test_errno_becomes_a_code)
{
	static const struct {
		int sys_errno, code;
	} list[] = {
		{ ENOMEM, SIMIDX_E_NOMEM },      { ENOENT, SIMIDX_E_NOT_FOUND },
		{ EACCES, SIMIDX_E_PERMISSION }, { EPERM, SIMIDX_E_PERMISSION },
		{ EROFS, SIMIDX_E_PERMISSION },  { ENOSPC, SIMIDX_E_NO_SPACE },
		{ EDQUOT, SIMIDX_E_NO_SPACE },   { EFBIG, SIMIDX_E_NO_SPACE },
		{ EEXIST, SIMIDX_E_EXISTS },     { ENOTEMPTY, SIMIDX_E_EXISTS },
		{ EIO, SIMIDX_E_IO },            { EINVAL, SIMIDX_E_IO },
	};
	simidx_error err;
	char want[200];
	unsigned i;

	for (i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		sx_err_clear(&err);
		ck_assert_int_eq(sx_code_of_errno(list[i].sys_errno), list[i].code);
		ck_assert_int_eq(sx_fail_errno(&err, list[i].sys_errno, "open %d", 5),
				 list[i].code);
		ck_assert_int_eq(err.code, list[i].code);
		ck_assert_int_eq(err.sys_errno, list[i].sys_errno);
		snprintf(want, sizeof(want), "open 5: %s", strerror(list[i].sys_errno));
		ck_assert_str_eq(err.text, want);
	}
	/* One that no system has. */
	sx_err_clear(&err);
	ck_assert_int_eq(sx_fail_errno(&err, 12345, "open"), SIMIDX_E_IO);
	ck_assert_int_eq(err.sys_errno, 12345);
	ck_assert_int_eq(strncmp(err.text, "open: ", 6), 0);
	ck_assert(err.text[6]);
}
END_TEST

START_TEST(test_every_code_has_a_name)
{
	int a, b;

	ck_assert_str_eq(simidx_error_name(SIMIDX_OK), "SIMIDX_OK");
	ck_assert_str_eq(simidx_error_name(SIMIDX_E_UNSUPPORTED), "SIMIDX_E_UNSUPPORTED");
	ck_assert_str_eq(simidx_error_name(SIMIDX_E_UNKNOWN - 1), "SIMIDX_E_?");
	ck_assert_str_eq(simidx_error_name(1), "SIMIDX_E_?");
	ck_assert_str_eq(simidx_strerror(1), "unknown error");
	for (a = 0; a >= SIMIDX_E_UNSUPPORTED; a--) {
		ck_assert_str_ne(simidx_error_name(a), "SIMIDX_E_?");
		for (b = 0; b > a; b--) {
			ck_assert_str_ne(simidx_error_name(a), simidx_error_name(b));
			ck_assert_str_ne(simidx_strerror(a), simidx_strerror(b));
		}
	}
}
END_TEST

static const sxt_test tests[] = {
	{ &test_sort_u64, 0, N_SIZES },
	{ &test_sort_order, 0, N_SIZES },
	{ &test_sort_items, 0, N_SIZES },
	{ &test_sort_by_two_keys, 0, N_SIZES },
	{ &test_unique_of_sorted, 0, 1 },
	{ &test_alloc_of_impossible_sizes, 0, 1 },
	{ &test_reserve_grows, 0, 1 },
	{ &test_u64s_grow, 0, 1 },
	{ &test_numbers_of_bytes, 0, 1 },
	{ &test_hash_is_xxh3, 0, 1 },
	{ &test_first_error_wins, 0, 1 },
	{ &test_errno_becomes_a_code, 0, 1 },
	{ &test_every_code_has_a_name, 0, 1 },
};

SXT_SUITE(util, NULL, NULL);
