/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/kernel_check.h"
#include "support/sxt.h"
#include "support/sxt_near.h"

static unsigned rounds(void)
{
	return sxt_is_long() ? 300 : 20;
}

START_TEST(test_near_low)
{
	const sx_kernel *kernel = sx_kernel_list((unsigned)_i / 9);

	if (!kernel)
		T_SKIP_KERNEL;
	ck_assert(!kernel_check_near_low(kernel, (unsigned)_i % 9, sxt_seed(), rounds()));
}
END_TEST

START_TEST(test_near_u64)
{
	const sx_kernel *kernel = sx_kernel_list((unsigned)_i);

	if (!kernel)
		T_SKIP_KERNEL;
	ck_assert(!kernel_check_near_u64(kernel, sxt_seed(), rounds()));
}
END_TEST

START_TEST(test_near_after)
{
	const sx_kernel *kernel = sx_kernel_list((unsigned)_i);

	if (!kernel)
		T_SKIP_KERNEL;
	ck_assert(!kernel_check_near_after(kernel, sxt_seed(), 10 * rounds()));
}
END_TEST

START_TEST(test_ranks_and_coded_keys)
{
	const sx_kernel *kernel = sx_kernel_list((unsigned)_i);

	if (!kernel)
		T_SKIP_KERNEL;
	ck_assert(!kernel_check_ranks(kernel, sxt_seed(), rounds()));
	ck_assert(!kernel_check_coded(kernel, sxt_seed(), 10 * rounds()));
}
END_TEST

START_TEST(test_best_kernel_is_chosen)
{
	const sx_kernel *kernel, *last = NULL;
	unsigned i;

	ck_assert_str_eq(sx_kernel_list(0)->name, "scalar");
	for (i = 0; (kernel = sx_kernel_list(i)); i++) {
		ck_assert_ptr_eq(sx_kernel_find(kernel->name), kernel);
		last = kernel;
	}
	ck_assert_uint_le(i, T_MOST_KERNELS);
	ck_assert_ptr_null(sx_kernel_list(i + 1));
	ck_assert_ptr_eq(sx_kernel_best(), last);
	ck_assert_ptr_null(sx_kernel_find("none"));
	ck_assert_ptr_null(sx_kernel_find(""));
	for (i = 0; (kernel = sx_kernel_list(i)); i++) {
		ck_assert_int_eq(sx_kernel_force(kernel->name), 0);
		ck_assert_ptr_eq(sx_kernel_best(), kernel);
	}
	ck_assert_int_eq(sx_kernel_force("none"), -1);
	ck_assert_ptr_eq(sx_kernel_best(), last);
	ck_assert_int_eq(sx_kernel_force("scalar"), 0);
	ck_assert_int_eq(sx_kernel_force(NULL), 0);
	ck_assert_ptr_eq(sx_kernel_best(), last);
}
END_TEST

/* Whether the kernel of Linux names a flag of this CPU, which it does only if it supports it. */
static int cpu_has(const char *cpuinfo, const char *flag)
{
	const char *flags = strstr(cpuinfo, "\nflags");
	size_t length = strlen(flag);

	if (!flags)
		return 0;
	for (const char *end = strchr(flags + 1, '\n'); (flags = strstr(flags, flag)); flags++)
		if (end && flags > end)
			return 0;
		else if (flags[-1] == ' ' && (flags[length] == ' ' || flags[length] == '\n'))
			return 1;
	return 0;
}

/* What is there is used, and what is not there is not. */
START_TEST(test_kernels_are_those_of_this_cpu)
{
	static const char *const avx512[] = {
		"avx512f",    "avx512bw",     "avx512vl",
		"avx512vbmi", "avx512_vbmi2", "avx512_vpopcntdq"
	};
	int popcnt, avx2, wide = 1;
	char *cpuinfo;
	FILE *file = fopen("/proc/cpuinfo", "r");
	size_t n, i;

	if (!file)
		sxt_skip("no /proc/cpuinfo");
	cpuinfo = malloc(100001);
	n = fread(cpuinfo, 1, 100000, file);
	cpuinfo[n] = 0;
	fclose(file);
	popcnt = cpu_has(cpuinfo, "popcnt");
	avx2 = popcnt && cpu_has(cpuinfo, "avx2") && cpu_has(cpuinfo, "bmi1");
	for (i = 0; i < sizeof(avx512) / sizeof(avx512[0]); i++)
		wide = wide && cpu_has(cpuinfo, avx512[i]);
#if defined(__x86_64__)
	if (strstr(cpuinfo, "\nflags")) {
		ck_assert_int_eq(sx_kernel_find("popcnt") != NULL, popcnt);
		ck_assert_int_eq(sx_kernel_find("avx2") != NULL, avx2);
		ck_assert_int_eq(sx_kernel_find("avx512") != NULL, avx2 && wide);
	}
#endif
	free(cpuinfo);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_near_low, 0, 9 * T_MOST_KERNELS },
	{ &test_near_u64, 0, T_MOST_KERNELS },
	{ &test_near_after, 0, T_MOST_KERNELS },
	{ &test_ranks_and_coded_keys, 0, T_MOST_KERNELS },
	{ &test_best_kernel_is_chosen, 0, 1 },
	{ &test_kernels_are_those_of_this_cpu, 0, 1 },
};

SXT_SUITE(near, NULL, NULL);
