/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include <stdint.h>

#include "kernel/sx_bits.h"
#include "kernel/sx_kernel.h"
#include "support/sxt.h"

/* What extraction and deposit mean, bit by bit. */

static uint64_t naive_pext(uint64_t x, uint64_t mask)
{
	uint64_t out = 0;
	unsigned from, to = 0;

	for (from = 0; from < 64; from++) {
		if (mask >> from & 1)
			out |= (x >> from & 1) << to++;
	}
	return out;
}

static uint64_t naive_pdep(uint64_t x, uint64_t mask)
{
	uint64_t out = 0;
	unsigned from = 0, to;

	for (to = 0; to < 64; to++) {
		if (mask >> to & 1)
			out |= (x >> from++ & 1) << to;
	}
	return out;
}

/* Every form there is, the one that was chosen at run time included. */
static void check_all(uint64_t x, uint64_t mask)
{
	uint64_t pext = naive_pext(x, mask);
	uint64_t pdep = naive_pdep(x, mask);
	const sx_kernel *kernel;

	ck_assert_uint_eq(sx_pext(x, mask), pext);
	ck_assert_uint_eq(sx_pdep(x, mask), pdep);
	for (unsigned i = 0; (kernel = sx_kernel_list(i)); i++) {
		ck_assert_uint_eq(kernel->pext(x, mask), pext);
		ck_assert_uint_eq(kernel->pdep(x, mask), pdep);
	}
}

START_TEST(test_random_masks)
{
	sxt_rng rng;
	uint64_t mask;
	int i;

	sxt_rng_init(&rng, 1);
	for (i = 0; i < 30000; i++) {
		/* Dense, half full and sparse masks: long, middling and short runs. */
		mask = sxt_rng_u64(&rng);
		if (i % 3 == 1)
			mask |= sxt_rng_u64(&rng) | sxt_rng_u64(&rng);
		if (i % 3 == 2)
			mask &= sxt_rng_u64(&rng) & sxt_rng_u64(&rng);
		check_all(sxt_rng_u64(&rng), mask);
	}
}
END_TEST

START_TEST(test_one_run)
{
	sxt_rng rng;
	unsigned low, width;
	uint64_t mask;

	sxt_rng_init(&rng, 2);
	for (low = 0; low < 64; low++) {
		for (width = 1; width <= 64 - low; width++) {
			mask = (UINT64_MAX >> (64 - width)) << low;
			check_all(sxt_rng_u64(&rng), mask);
			check_all(sxt_rng_u64(&rng), ~mask);
			check_all(UINT64_MAX, mask);
		}
	}
}
END_TEST

START_TEST(test_edges)
{
	static const uint64_t masks[] = {
		0,
		1,
		UINT64_MAX,
		UINT64_C(1) << 63,
		UINT64_C(0x5555555555555555),
		UINT64_C(0xaaaaaaaaaaaaaaaa),
		UINT64_C(0x8000000000000001),
	};
	unsigned i, j;

	for (i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
		for (j = 0; j < sizeof(masks) / sizeof(masks[0]); j++)
			check_all(masks[i], masks[j]);
	}
	/* One case by hand, lest the loops above be wrong together. */
	ck_assert_uint_eq(sx_pext(UINT64_C(0x12345678), UINT64_C(0xff00fff0)), 0x12567);
	ck_assert_uint_eq(sx_pdep(UINT64_C(0x12567), UINT64_C(0xff00fff0)), 0x12005670);
}
END_TEST

/* The kernel in force decides. */
START_TEST(test_kernel_in_force_decides)
{
	const sx_kernel *kernel = sx_kernel_best();

	ck_assert(sx_bits.pext == kernel->pext);
	ck_assert(sx_bits.pdep == kernel->pdep);
	ck_assert_int_eq(sx_kernel_force("scalar"), 0);
	ck_assert(sx_bits.pext == sx_pext_plain);
	ck_assert(sx_bits.pdep == sx_pdep_plain);
	check_all(UINT64_C(0x0123456789abcdef), UINT64_C(0xff0f00f0f0f0000f));
	ck_assert_int_eq(sx_kernel_force(NULL), 0);
	ck_assert(sx_bits.pext == kernel->pext);
	ck_assert(sx_bits.pdep == kernel->pdep);
#if defined(__x86_64__)
	/* The instructions must never be chosen where they are missing. */
	ck_assert(kernel->pext == sx_pext_plain || __builtin_cpu_supports("bmi2"));
#else
	ck_assert(kernel->pext == sx_pext_plain);
#endif
}
END_TEST

static const sxt_test tests[] = {
	{ &test_random_masks, 0, 1 },
	{ &test_one_run, 0, 1 },
	{ &test_edges, 0, 1 },
	{ &test_kernel_in_force_decides, 0, 1 },
};

SXT_SUITE(bits, NULL, NULL);
