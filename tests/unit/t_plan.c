/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include <stdint.h>
#include <string.h>

#include <simidx_info.h>
#include <simidx_sketch.h>

#include "kernel/sx_bits.h"
#include "kernel/sx_kernel.h"
#include "plan/sx_plan.h"
#include "support/sxt.h"

#define N_WIDTHS 5

static const unsigned widths[N_WIDTHS] = { 16, 31, 32, 48, 64 };

static void make(sx_plan *plan, const char *name, unsigned bits)
{
	ck_assert_sx(sx_plan_make(plan, name, bits, &sxt_err), SIMIDX_OK);
}

static uint64_t low_bits(unsigned n)
{
	return n < 64 ? (UINT64_C(1) << n) - 1 : UINT64_MAX;
}

/* ------------------------------------------------------------------------------------------
 * The plans once more, from lists of bit numbers. A list begins with its most significant bit.
 */

typedef struct list {
	unsigned n;
	unsigned bit[64];
} list;

static list all_bits(unsigned bits)
{
	list l = { 0 };

	while (bits > 0)
		l.bit[l.n++] = --bits;
	return l;
}

static list join(list a, const list *b)
{
	unsigned i;

	for (i = 0; i < b->n; i++)
		a.bit[a.n++] = b->bit[i];
	return a;
}

/* Part `which` of m nearly equal ones. */
static list part(const list *l, unsigned m, unsigned which)
{
	unsigned i, begin = 0, size = 0;
	list out = { 0 };

	for (i = 0; i <= which; i++) {
		begin += size;
		size = l->n / m + (i < l->n % m ? 1 : 0);
	}
	for (i = 0; i < size; i++)
		out.bit[out.n++] = l->bit[begin + i];
	return out;
}

static list without(const list *l, const list *removed)
{
	list out = { 0 };
	unsigned i, j;

	for (i = 0; i < l->n; i++) {
		for (j = 0; j < removed->n && removed->bit[j] != l->bit[i]; j++)
			;
		if (j == removed->n)
			out.bit[out.n++] = l->bit[i];
	}
	return out;
}

/* The prefixes of a plan's tables; returns how many tables. */
static unsigned expected_prefixes(const char *name, unsigned bits, list *out)
{
	list all = all_bits(bits), block[6], rest, sub;
	unsigned m = 4, n = 0, a, b, c;

	if (!strcmp(name, "10x26"))
		m = 5;
	if (!strcmp(name, "20x31"))
		m = 6;
	if (!strcmp(name, "2x32"))
		m = 2;
	for (a = 0; a < m; a++)
		block[a] = part(&all, m, a);
	if (!strcmp(name, "3x22")) {
		m = 3;
		memset(block, 0, sizeof(block));
		for (a = 0; a < bits; a++) {
			b = a / (5 * bits / 16);
			b = b < 2 ? b : 2;
			block[b].bit[block[b].n++] = all.bit[a];
		}
	}
	for (a = 0; a < m; a++) {
		if (!strcmp(name, "16x28")) {
			rest = without(&all, &block[a]);
			for (b = 0; b < 4; b++) {
				sub = part(&rest, 4, b);
				out[n++] = join(block[a], &sub);
			}
		} else if (!strcmp(name, "10x26")) {
			for (b = a + 1; b < m; b++)
				out[n++] = join(block[a], &block[b]);
		} else if (!strcmp(name, "20x31")) {
			for (b = a + 1; b < m; b++) {
				for (c = b + 1; c < m; c++) {
					out[n] = join(block[a], &block[b]);
					out[n] = join(out[n], &block[c]);
					out[n].n = out[n].n < 32 ? out[n].n : 32;
					n++;
				}
			}
		} else {
			out[n++] = block[a];
		}
	}
	return n;
}

static uint64_t gather(uint64_t fp, const list *l)
{
	uint64_t value = 0;
	unsigned i;

	for (i = 0; i < l->n; i++)
		value = value << 1 | (fp >> l->bit[i] & 1);
	return value;
}

/* ------------------------------------------------------------------------------------------
 * Masks and widths
 */

static void check_table(const sx_perm *perm, unsigned bits, const list *prefix)
{
	list all = all_bits(bits), rest = without(&all, prefix), order = join(*prefix, &rest);
	uint64_t seen = 0, fp;
	unsigned i, sum = 0;
	sxt_rng rng;

	ck_assert_uint_eq(perm->bits, bits);
	ck_assert_uint_ge(perm->n_leads, 1);
	for (i = 0; i < perm->n_leads; i++) {
		ck_assert_uint_eq(seen & perm->lead[i], 0);
		ck_assert_uint_eq(perm->lead_bits[i], simidx_distance(perm->lead[i], 0));
		ck_assert_uint_ge(perm->lead_bits[i], 1);
		sum += perm->lead_bits[i];
		seen |= perm->lead[i];
	}
	ck_assert_uint_eq(perm->prefix_mask, seen);
	ck_assert_uint_eq(perm->rest_mask & seen, 0);
	ck_assert_uint_eq(perm->rest_mask | seen, low_bits(bits));
	ck_assert_uint_eq(perm->prefix_bits, sum);
	ck_assert_uint_eq(perm->prefix_bits, prefix->n);
	ck_assert_uint_le(perm->prefix_bits, SX_MAX_PREFIX_BITS);
	ck_assert_uint_eq(perm->prefix_bytes, perm->prefix_bits > 16 ? 4 : 2);
	for (i = 0; i < prefix->n; i++)
		ck_assert_uint_eq(perm->source[prefix->n - 1 - i], prefix->bit[i]);
	sxt_rng_init(&rng, bits);
	for (i = 0; i < 20; i++) {
		fp = sxt_rng_u64(&rng) & low_bits(bits);
		ck_assert_uint_eq(sx_permute(perm, fp), gather(fp, &order));
		ck_assert_uint_eq(sx_prefix_of(perm, sx_permute(perm, fp)),
				  gather(fp, prefix));
	}
}

START_TEST(test_tables_of_each_plan)
{
	list prefix[SX_MAX_TABLES];
	unsigned bits, n, t;
	sx_plan plan;

	for (bits = SIMIDX_MIN_BITS; bits <= SIMIDX_MAX_BITS; bits++) {
		make(&plan, sxt_plans[_i], bits);
		ck_assert_str_eq(plan.name, sxt_plans[_i]);
		ck_assert_uint_eq(plan.bits, bits);
		n = expected_prefixes(sxt_plans[_i], bits, prefix);
		ck_assert_uint_eq(plan.n_tables, n);
		for (t = 0; t < n; t++)
			check_table(&plan.table[t], bits, &prefix[t]);
	}
}
END_TEST

/* Widths of the prefixes, worked out by hand from the widths of the blocks. */
static const struct widths_of {
	const char *name;
	unsigned bits;
	unsigned n;
	unsigned width[20];
} prefix_widths[] = {
	{ "4x16", 64, 4, { 16, 16, 16, 16 } },
	{ "4x16", 32, 4, { 8, 8, 8, 8 } },
	{ "4x16", 31, 4, { 8, 8, 8, 7 } },
	{ "4x16", 16, 4, { 4, 4, 4, 4 } },
	/* 13,13,13,13,12 - 7,7,6,6,6 - 7,6,6,6,6 - 4,3,3,3,3 */
	{ "10x26", 64, 10, { 26, 26, 26, 25, 26, 26, 25, 26, 25, 25 } },
	{ "10x26", 32, 10, { 14, 13, 13, 13, 13, 13, 13, 12, 12, 12 } },
	{ "10x26", 31, 10, { 13, 13, 13, 13, 12, 12, 12, 12, 12, 12 } },
	{ "10x26", 16, 10, { 7, 7, 7, 7, 6, 6, 6, 6, 6, 6 } },
	/* 16 + 48 / 4 - 8 + 24 / 4 - 8 + 23 / 4, then 7 + 24 / 4 - 4 + 12 / 4 */
	{ "16x28", 64, 16, { 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28 } },
	{ "16x28", 32, 16, { 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14 } },
	{ "16x28", 31, 16, { 14, 14, 14, 13, 14, 14, 14, 13, 14, 14, 14, 13, 13, 13, 13, 13 } },
	{ "16x28", 16, 16, { 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7 } },
	/* 11,11,11,11,10,10 cut at 32 - 6,6,5,5,5,5 - 6,5,5,5,5,5 - 3,3,3,3,2,2 */
	{ "20x31", 64, 20, { 32, 32, 32, 32, 32, 32, 32, 32, 32, 31,
			     32, 32, 32, 32, 32, 31, 32, 32, 31, 31 } },
	{ "20x31", 32, 20, { 17, 17, 17, 17, 16, 16, 16, 16, 16, 16,
			     16, 16, 16, 16, 16, 16, 15, 15, 15, 15 } },
	{ "20x31", 31, 20, { 16, 16, 16, 16, 16, 16, 16, 16, 16, 16,
			     15, 15, 15, 15, 15, 15, 15, 15, 15, 15 } },
	{ "20x31", 16, 20, { 9, 9, 8, 8, 9, 8, 8, 8, 8, 7, 9, 8, 8, 8, 8, 7, 8, 8, 7, 7 } },
	{ "3x22", 64, 3, { 20, 20, 24 } },
	{ "3x22", 32, 3, { 10, 10, 12 } },
	{ "3x22", 31, 3, { 9, 9, 13 } },
	{ "3x22", 16, 3, { 5, 5, 6 } },
	{ "2x32", 64, 2, { 32, 32 } },
	{ "2x32", 32, 2, { 16, 16 } },
	{ "2x32", 31, 2, { 16, 15 } },
	{ "2x32", 16, 2, { 8, 8 } },
};

#define N_PREFIX_WIDTHS ((int)(sizeof(prefix_widths) / sizeof(prefix_widths[0])))

START_TEST(test_widths_of_prefixes)
{
	const struct widths_of *want = &prefix_widths[_i];
	sx_plan plan;
	unsigned t;

	make(&plan, want->name, want->bits);
	ck_assert_uint_eq(plan.n_tables, want->n);
	for (t = 0; t < want->n; t++)
		ck_assert_msg(plan.table[t].prefix_bits == want->width[t],
			      "%s of %u bits, table %u: %u bits", want->name, want->bits,
			      t + 1, plan.table[t].prefix_bits);
}
END_TEST

/* Masks that can be read off the plan: lexicographic order, and a sub-block in two pieces. */
START_TEST(test_masks_by_hand)
{
	sx_plan plan;

	make(&plan, "4x16", 64);
	ck_assert_uint_eq(plan.table[0].lead[0], UINT64_C(0xffff000000000000));
	ck_assert_uint_eq(plan.table[3].lead[0], UINT64_C(0x000000000000ffff));
	make(&plan, "16x28", 64);
	ck_assert_uint_eq(plan.table[0].lead[0], UINT64_C(0xffff000000000000));
	ck_assert_uint_eq(plan.table[0].lead[1], UINT64_C(0x0000fff000000000));
	ck_assert_uint_eq(plan.table[5].lead[0], UINT64_C(0x0000ffff00000000));
	ck_assert_uint_eq(plan.table[5].lead[1], UINT64_C(0x000f0000ff000000));
	/* The prefix of that one has the sub-block's bits from above the first block last. */
	ck_assert_uint_eq(sx_permute(&plan.table[5], UINT64_C(0x123456789abcdef0)),
			  UINT64_C(0x567849a123bcdef0));
	make(&plan, "20x31", 64);
	ck_assert_uint_eq(plan.table[0].lead[2], UINT64_C(0x000003ff) << 32);
}
END_TEST

/* Aligned to the left, whatever their lengths, by the public function; table after table. */
START_TEST(test_prefixes_by_hand)
{
	static const uint64_t fp[2] = { UINT64_C(0x123456789abcdef0), UINT64_MAX }, narrow = 0xabcd;
	uint32_t prefix[SX_MAX_TABLES];
	unsigned n;

	ck_assert_sx(simidx_plan_prefixes("4x16", 64, fp, 2, prefix, 8, &n, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(n, 4);
	ck_assert_uint_eq(prefix[0], 0x12340000);
	ck_assert_uint_eq(prefix[1], 0x56780000);
	ck_assert_uint_eq(prefix[2], 0x9abc0000);
	ck_assert_uint_eq(prefix[3], 0xdef00000);
	ck_assert_uint_eq(prefix[4], 0xffff0000);
	ck_assert_uint_eq(prefix[7], 0xffff0000);
	ck_assert_sx(simidx_plan_prefixes("10x26", 64, fp, 1, prefix, 10, NULL, &sxt_err),
		     SIMIDX_OK);
	/*
	 * Blocks of 13 bits and the last of 12: the first two, and the last two as a number of 25
	 * bits.
	 */
	ck_assert_uint_eq(prefix[0], 0x12345640);
	ck_assert_uint_eq(prefix[9], (uint32_t)(UINT64_C(0x123456789abcdef0) << 39 >> 32));
	ck_assert_sx(simidx_plan_prefixes("16x28", 64, fp, 1, prefix, 16, NULL, &sxt_err),
		     SIMIDX_OK);
	ck_assert_uint_eq(prefix[5], 0x567849a0);
	ck_assert_sx(simidx_plan_prefixes("2x32", 64, fp, 1, prefix, 2, NULL, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(prefix[0], 0x12345678);
	ck_assert_uint_eq(prefix[1], 0x9abcdef0);
	ck_assert_sx(simidx_plan_prefixes("4x16", 16, &narrow, 1, prefix, 4, NULL, &sxt_err),
		     SIMIDX_OK);
	ck_assert_uint_eq(prefix[0], 0xa0000000);
	ck_assert_uint_eq(prefix[3], 0xd0000000);
}
END_TEST

START_TEST(test_bad_prefixes_are_refused)
{
	const uint64_t fp[2] = { 1, 0x10000 };
	uint32_t prefix[8];
	unsigned n;

	ck_assert_sx(simidx_plan_prefixes("20x31", 64, NULL, 0, NULL, 0, &n, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(n, 20);
	ck_assert_sx(simidx_plan_prefixes(NULL, 64, fp, 1, prefix, 8, &n, &sxt_err), SIMIDX_E_ARG);
	ck_assert_uint_eq(n, 0);
	ck_assert_sx(simidx_plan_prefixes("auto", 64, fp, 1, prefix, 8, &n, &sxt_err),
		     SIMIDX_E_ARG);
	ck_assert_sx(simidx_plan_prefixes("4x17", 64, fp, 1, prefix, 8, &n, &sxt_err),
		     SIMIDX_E_ARG);
	ck_assert_sx(simidx_plan_prefixes("4x16", 65, fp, 1, prefix, 8, &n, &sxt_err),
		     SIMIDX_E_ARG);
	ck_assert_sx(simidx_plan_prefixes("4x16", 64, NULL, 1, prefix, 8, &n, &sxt_err),
		     SIMIDX_E_ARG);
	ck_assert_sx(simidx_plan_prefixes("4x16", 64, fp, 1, NULL, 8, &n, &sxt_err), SIMIDX_E_ARG);
	ck_assert_sx(simidx_plan_prefixes("4x16", 64, fp, 2, prefix, 7, &n, &sxt_err),
		     SIMIDX_E_ARG);
	ck_assert_sx(simidx_plan_prefixes("4x16", 16, fp, 2, prefix, 8, &n, &sxt_err),
		     SIMIDX_E_RANGE);
	ck_assert_sx(simidx_plan_prefixes("4x16", 17, fp, 2, prefix, 8, &n, &sxt_err), SIMIDX_OK);
}
END_TEST

START_TEST(test_plans_by_name)
{
	sx_plan plan, fixed;
	unsigned i;

	make(&plan, "auto", 48);
	make(&fixed, "4x16", 48);
	ck_assert_mem_eq(&plan, &fixed, sizeof(plan));
	ck_assert_str_eq(sx_plan_auto(0), "4x16");
	ck_assert_str_eq(sx_plan_auto(50000000), "4x16");
	ck_assert_str_eq(sx_plan_auto(50000001), "3x22");
	ck_assert_sx(sx_plan_make(&plan, "4x17", 64, &sxt_err), SIMIDX_E_ARG);
	ck_assert_ptr_nonnull(strstr(sxt_err.text, "4x17"));
	ck_assert_ptr_nonnull(strstr(sxt_err.text, "auto, "));
	for (i = 0; i < SXT_N_PLANS; i++)
		ck_assert_ptr_nonnull(strstr(sxt_err.text, sxt_plans[i]));
	ck_assert_sx(sx_plan_make(&plan, "", 64, &sxt_err), SIMIDX_E_ARG);
	ck_assert_sx(sx_plan_make(&plan, "4x1", 64, &sxt_err), SIMIDX_E_ARG);
	ck_assert_sx(sx_plan_make(&plan, "4x166", 64, &sxt_err), SIMIDX_E_ARG);
	ck_assert_sx(sx_plan_make(&plan, "4x16", 15, &sxt_err), SIMIDX_E_ARG);
	ck_assert_sx(sx_plan_make(&plan, "4x16", 65, &sxt_err), SIMIDX_E_ARG);
	ck_assert_int_eq(sx_plan_make(&plan, "4x16", 0, NULL), SIMIDX_E_ARG);
}
END_TEST

START_TEST(test_bad_leads_are_refused)
{
	static const uint64_t empty[] = { 0xff, 0 };
	static const uint64_t overlap[] = { 0xff, 0x180 };
	static const uint64_t outside[] = { 0xff, 0x10000 };
	static const uint64_t no_room[] = { UINT64_C(0xffffffff), UINT64_C(1) << 40 };
	static const uint64_t wide[] = { UINT64_C(0x00ffff00ffff00ff) };
	static const uint64_t good[] = { 0x0f, 0xf0, 0xf00, 0xf000 };
	sx_perm perm;

	ck_assert_int_eq(sx_perm_init(&perm, 16, good, 3), 0);
	ck_assert_int_eq(sx_perm_init(&perm, 16, good, 0), -1);
	ck_assert_int_eq(sx_perm_init(&perm, 16, good, 4), -1);
	ck_assert_int_eq(sx_perm_init(&perm, 65, good, 1), -1);
	ck_assert_int_eq(sx_perm_init(&perm, 64, empty, 2), -1);
	ck_assert_int_eq(sx_perm_init(&perm, 64, overlap, 2), -1);
	ck_assert_int_eq(sx_perm_init(&perm, 16, outside, 2), -1);
	ck_assert_int_eq(sx_perm_init(&perm, 64, no_room, 2), -1);
	/* 40 bits, of which the lowest 8 go. */
	ck_assert_int_eq(sx_perm_init(&perm, 64, wide, 1), 0);
	ck_assert_uint_eq(perm.lead[0], UINT64_C(0x00ffff00ffff0000));
	ck_assert_uint_eq(perm.prefix_bits, 32);
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * Permutations
 */

/* Exhaustive: 65,536 values, each exactly once, and back. */
START_TEST(test_bijection_16)
{
	static uint8_t seen[65536];
	uint64_t value;
	uint32_t fp;
	sx_plan plan;
	unsigned t;

	make(&plan, sxt_plans[_i], 16);
	for (t = 0; t < plan.n_tables; t++) {
		memset(seen, 0, sizeof(seen));
		for (fp = 0; fp < 65536; fp++) {
			value = sx_permute(&plan.table[t], fp);
			if (value > 65535 || seen[value])
				ck_abort_msg("table %u: %x is not alone or too large", t + 1,
					     fp);
			seen[value] = 1;
			if (sx_unpermute(&plan.table[t], value) != fp)
				ck_abort_msg("table %u: %x does not come back", t + 1, fp);
		}
	}
}
END_TEST

static int order_of(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static void check_pair(const sx_perm *perm, uint64_t a, uint64_t b)
{
	uint64_t value_a = sx_permute(perm, a), value_b = sx_permute(perm, b);
	int order = order_of(sx_prefix_of(perm, value_a), sx_prefix_of(perm, value_b));

	sxt_must_eq(value_a & ~low_bits(perm->bits), 0);
	sxt_must_eq(sx_unpermute(perm, value_a), a);
	sxt_must_eq(sx_permute(perm, sx_unpermute(perm, a)), a);
	sxt_must_eq(order_of(value_a, value_b), (order ? order : order_of(a, b)));
}

static void check_pairs(const sx_plan *plan, unsigned n, sxt_rng *rng)
{
	const sx_perm *perm;
	uint64_t a, b;
	unsigned t, i;

	for (t = 0; t < plan->n_tables; t++) {
		perm = &plan->table[t];
		for (i = 0; i < n; i++) {
			a = sxt_rng_u64(rng) & low_bits(plan->bits);
			b = sxt_rng_u64(rng) & low_bits(plan->bits);
			/* Half of the pairs share their prefix, so that the rest decides. */
			if (i % 2)
				b = (b & perm->rest_mask) | (a & perm->prefix_mask);
			check_pair(perm, a, b);
		}
	}
}

START_TEST(test_permutations_keep_order)
{
	unsigned bits;
	sx_plan plan;
	sxt_rng rng;

	sxt_rng_init(&rng, 1);
	for (bits = SIMIDX_MIN_BITS; bits <= SIMIDX_MAX_BITS; bits++) {
		make(&plan, sxt_plans[_i], bits);
		check_pairs(&plan, 40, &rng);
	}
}
END_TEST

START_TEST(test_permutations_without_instructions)
{
	unsigned i;
	sx_plan plan;
	sxt_rng rng;

	sxt_rng_init(&rng, 2);
	ck_assert_int_eq(sx_kernel_force("scalar"), 0);
	for (i = 0; i < N_WIDTHS; i++) {
		make(&plan, sxt_plans[_i], widths[i]);
		check_pairs(&plan, 40, &rng);
	}
	sx_kernel_force(NULL);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_tables_of_each_plan, 0, SXT_N_PLANS },
	{ &test_widths_of_prefixes, 0, N_PREFIX_WIDTHS },
	{ &test_masks_by_hand, 0, 1 },
	{ &test_prefixes_by_hand, 0, 1 },
	{ &test_bad_prefixes_are_refused, 0, 1 },
	{ &test_plans_by_name, 0, 1 },
	{ &test_bad_leads_are_refused, 0, 1 },
	{ &test_bijection_16, 0, SXT_N_PLANS },
	{ &test_permutations_keep_order, 0, SXT_N_PLANS },
	{ &test_permutations_without_instructions, 0, SXT_N_PLANS },
};

SXT_SUITE(plan, NULL, NULL);
