/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Tests of a suite on every kernel.
 */

#ifndef SXT_NEAR_H
#define SXT_NEAR_H

#include <check.h>

#include "kernel/sx_kernel.h"
#include "support/sxt.h"

/** No machine has more: scalar, popcnt, avx2, avx512. */
#define T_MOST_KERNELS 4

/**
 * For a loop test of n rounds that runs T_MOST_KERNELS * n times: force kernel _i / n in this
 * process. Returns the round, or -1 when there is no such kernel here: T_SKIP_KERNEL.
 */
static inline int t_kernel_round(int i, int n)
{
	const sx_kernel *kernel = sx_kernel_list((unsigned)(i / n));

	if (!kernel)
		return -1;
	ck_assert_int_eq(sx_kernel_force(kernel->name), 0);
	return i % n;
}

#define T_SKIP_KERNEL sxt_skip("this CPU has fewer kernels")

#endif /* SXT_NEAR_H */
