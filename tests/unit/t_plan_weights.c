/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include <stdint.h>
#include <string.h>

#include "plan/sx_plan.h"
#include "plan/sx_weights.h"
#include "support/sxt.h"
#include "support/sxt_weights.h"
#include "util/sx_bytes.h"

START_TEST(test_lightest_bits_first)
{
	uint8_t weights[64];
	sx_by_weight by_weight;
	sx_lightest lightest;
	sxt_rng rng;

	sxt_rng_init(&rng, 8);
	for (unsigned i = 0; i < 4000; i++) {
		unsigned bits = 16 + (unsigned)sxt_rng_below(&rng, 49), within;
		uint64_t among = i % 3 ? sxt_rng_u64(&rng) : UINT64_MAX;
		unsigned most = (unsigned)sxt_rng_below(&rng, i % 5 ? 300 : 20000);

		make_weights(&rng, i, weights);
		sx_weights_sort(&by_weight, weights, bits, most);
		sx_weights_lightest(&lightest, &by_weight, among, most);
		among &= sx_low_bits(bits);
		ck_assert_uint_eq(lightest.n, count_lightest(weights, among, most));
		within = (unsigned)sxt_rng_below(&rng, most + 1);
		ck_assert_uint_eq(sx_weights_within(&lightest, within),
				  count_lightest(weights, among, within));
	}
}
END_TEST

START_TEST(test_unit_weights)
{
	uint8_t weights[64];
	uint64_t ignore;

	memset(weights, 0, sizeof(weights));
	ck_assert_uint_eq(sx_weights_unit(weights, 32, &ignore), 1);
	ck_assert_uint_eq(ignore, UINT64_C(0xffffffff));
	weights[3] = weights[40] = 7;
	ck_assert_uint_eq(sx_weights_unit(weights, 48, &ignore), 7);
	ck_assert_uint_eq(ignore, sx_low_bits(48) & ~(UINT64_C(1) << 3 | UINT64_C(1) << 40));
	weights[47] = 8;
	ck_assert_uint_eq(sx_weights_unit(weights, 48, &ignore), 0);
	ck_assert_uint_eq(sx_weights_unit(weights, 47, &ignore), 7);
}
END_TEST

/* Against counting table after table for each bit. */
START_TEST(test_max_seen)
{
	sxt_rng rng;

	sxt_rng_init(&rng, 9);
	for (unsigned i = 0; i < 1000; i++) {
		unsigned n = 1 + (unsigned)sxt_rng_below(&rng, SX_MAX_TABLES), max = 1;
		uint64_t probed[SX_MAX_TABLES];
		uint8_t weights[64];

		make_weights(&rng, i, weights);
		for (unsigned t = 0; t < n; t++)
			probed[t] = sxt_rng_u64(&rng) & (i % 5 ? UINT64_MAX : sxt_rng_u64(&rng));
		for (unsigned b = 0; b < 64; b++) {
			unsigned seen = 0;

			for (unsigned t = 0; t < n; t++)
				seen += (unsigned)(probed[t] >> b & 1);
			if (weights[b] && seen > max)
				max = seen;
		}
		ck_assert_uint_eq(sx_weights_max_seen(probed, n, weights), max);
	}
}
END_TEST

static const sxt_test tests[] = {
	{ &test_unit_weights, 0, 1 },
	{ &test_lightest_bits_first, 0, 1 },
	{ &test_max_seen, 0, 1 },
};

SXT_SUITE(plan_weights, NULL, NULL);
