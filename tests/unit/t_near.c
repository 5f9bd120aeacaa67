/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/sx_kernel.h"
#include "support/sxt.h"
#include "t_fast.h"

Suite *suite_near(void);

static unsigned naive_popcount(uint64_t x)
{
	unsigned n = 0;

	for (; x; x >>= 1)
		n += x & 1;
	return n;
}

/* Distance in the low bytes, byte by byte. */
static unsigned distance(const unsigned char *low, unsigned width, uint64_t query)
{
	unsigned d = 0, i;

	for (i = 0; i < width; i++)
		d += naive_popcount(low[i] ^ (query >> (8 * i) & 0xff));
	return d;
}

static void check_near(const unsigned char *low, unsigned width, size_t n, uint64_t query,
		       unsigned k)
{
	/* Exactly the room that is promised, for the sanitizer to guard. */
	uint16_t *hits = malloc(n ? n * sizeof(*hits) : 1);
	size_t found = sx_kernel_best()->near_low(low, width, n, n * width, query, k, hits), seen = 0, i;

	for (i = 0; i < n; i++) {
		if (distance(low + i * width, width, query) > k)
			continue;
		t_must(seen < found);
		t_must_eq(hits[seen], i);
		seen++;
	}
	ck_assert_uint_eq(found, seen);
	free(hits);
}

START_TEST(test_widths)
{
	static const size_t counts[] = { 0, 1, 2, 7, 8, 9, 63, 64, 65, 700, 16383 };
	unsigned width = (unsigned)_i, k, c;
	uint64_t query;
	sxt_rng rng;

	sxt_rng_init(&rng, 200 + width);
	for (c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
		size_t n = counts[c], size = n * width, i;
		unsigned char *low = malloc(size + 8); /* 8 bytes more may be read */

		query = sxt_rng_u64(&rng);
		for (i = 0; i < n; i++) {
			unsigned d = (unsigned)sxt_rng_below(&rng, width ? 8 : 1), b;
			uint64_t x = width ? sxt_rng_flip(&rng, query, 8 * width, d) : 0;

			for (b = 0; b < width; b++)
				low[i * width + b] = (unsigned char)(x >> (8 * b));
		}
		for (i = 0; i < 8; i++)
			low[size + i] = (unsigned char)sxt_rng_u64(&rng);
		for (k = 0; k <= 8; k++)
			check_near(low, width, n, query, k);
		check_near(low, width, n, query, 64);
		check_near(low, width, n, ~query, 3);
		free(low);
	}
}
END_TEST

/* The last number that a hit can have. */
START_TEST(test_most)
{
	size_t n = 65536;
	unsigned char *low = calloc(n + 8, 1);
	uint16_t *hits = malloc(n * sizeof(*hits));

	memset(low, 0xff, n - 1);
	ck_assert_uint_eq(sx_kernel_best()->near_low(low, 1, n, n, 0, 7, hits), 1);
	ck_assert_uint_eq(hits[0], 65535);
	ck_assert_uint_eq(sx_kernel_best()->near_low(low, 1, n, n, 0, 8, hits), n);
	ck_assert_uint_eq(hits[65535], 65535);
	free(low);
	free(hits);
}
END_TEST

Suite *suite_near(void)
{
	Suite *suite = suite_create("near");
	TCase *tc = tcase_create("near");

	tcase_add_loop_test(tc, test_widths, 0, 9);
	tcase_add_test(tc, test_most);
	suite_add_tcase(suite, tc);
	return suite;
}
