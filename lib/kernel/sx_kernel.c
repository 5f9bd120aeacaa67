/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "kernel/sx_kernel.h"

#include <string.h>

#include "kernel/sx_cpu.h"
#include "kernel/sx_near.h"

#define NEAR(isa)                                                                             \
	.near_low = sx_near_low_##isa, .near_u64 = sx_near_u64_##isa, .near_16 = sx_near_16_##isa
#define BITMAP(isa)                                                                           \
	.ranks = sx_ranks_##isa, .complete = sx_complete_##isa, .decode = sx_decode_##isa

/* Set before main() and never again outside tests, so threads need no ordering to read it. */
static sx_kernel usable[5] = { { "scalar", NEAR(scalar), BITMAP(scalar) } };
static unsigned n_usable = 1;
static const sx_kernel *best = usable;

#if defined(__x86_64__)
static int has_avx512(void)
{
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	       __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi") &&
	       __builtin_cpu_supports("avx512vbmi2") &&
	       __builtin_cpu_supports("avx512vpopcntdq") && sx_cpu_has_fast_pext();
}

static void choose(void)
{
	/* Needed before the compiler's own constructors. Knows what the OS saves, too. */
	__builtin_cpu_init();
	if (!__builtin_cpu_supports("popcnt"))
		return;
	usable[n_usable++] = (sx_kernel){ "popcnt", NEAR(popcnt), BITMAP(popcnt) };
	if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi"))
		return;
	usable[n_usable++] = sx_cpu_has_fast_pext()
				     ? (sx_kernel){ "avx2", NEAR(avx2), BITMAP(bmi2) }
				     : (sx_kernel){ "avx2", NEAR(avx2), BITMAP(popcnt) };
	if (has_avx512())
		usable[n_usable++] = (sx_kernel){ "avx512", NEAR(avx512),
						  .ranks = sx_ranks_bmi2,
						  .complete = sx_complete_bmi2,
						  .decode = sx_decode_avx512 };
}
#elif defined(__aarch64__)
static void choose(void)
{
	usable[n_usable++] = (sx_kernel){ "neon", NEAR(neon), BITMAP(neon) };
}
#else
static void choose(void)
{
}
#endif

__attribute__((constructor)) static void fill_list(void)
{
	choose();
	best = &usable[n_usable - 1];
}

const sx_kernel *sx_kernel_best(void)
{
	return best;
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

int sx_kernel_force(const char *name)
{
	const sx_kernel *kernel = name ? sx_kernel_find(name) : NULL;

	best = kernel ? kernel : &usable[n_usable - 1];
	return name && !kernel ? -1 : 0;
}
