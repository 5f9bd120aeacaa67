/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "kernel/sx_kernel.h"

#include <string.h>

#include "kernel/sx_cpu.h"
#include "kernel/sx_near.h"

#define NEAR(isa) .near_low = sx_near_low_##isa, .near_u64 = sx_near_u64_##isa
#define BITMAP(isa)                                                                           \
	.ranks = sx_ranks_##isa, .complete = sx_complete_##isa, .decode = sx_decode_##isa

/* Set before main() and never again, so threads need no ordering to read it. */
static sx_kernel usable[5] = { { .name = "scalar", NEAR(scalar), BITMAP(scalar) } };
static unsigned n_usable = 1;

#if defined(__x86_64__)
static void choose(void)
{
	/* Asked for by constructors that run before the compiler's own; knows what the OS saves. */
	__builtin_cpu_init();
	if (!__builtin_cpu_supports("popcnt"))
		return;
	usable[n_usable++] = (sx_kernel){ .name = "popcnt", NEAR(popcnt), BITMAP(popcnt) };
	if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi"))
		return;
	if (sx_cpu_has_fast_pext())
		usable[n_usable++] = (sx_kernel){ .name = "avx2", NEAR(avx2), BITMAP(bmi2) };
	else
		usable[n_usable++] = (sx_kernel){ .name = "avx2", NEAR(avx2), BITMAP(popcnt) };
}
#else
static void choose(void)
{
}
#endif

__attribute__((constructor)) static void fill_list(void)
{
	choose();
}

const sx_kernel *sx_kernel_best(void)
{
	return &usable[n_usable - 1];
}

const sx_kernel *sx_kernel_list(unsigned i)
{
	return i < n_usable ? &usable[i] : NULL;
}

const sx_kernel *sx_kernel_find(const char *name)
{
	for (unsigned i = 0; i < n_usable; i++)
		if (!strcmp(usable[i].name, name))
			return &usable[i];
	return NULL;
}
