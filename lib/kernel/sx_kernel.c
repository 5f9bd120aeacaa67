/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "kernel/sx_kernel.h"

#include <string.h>

#include "kernel/sx_bits.h"
#include "kernel/sx_kernel_avx2.h"
#include "kernel/sx_kernel_avx512.h"
#include "kernel/sx_kernel_neon.h"
#include "kernel/sx_kernel_plain.h"

/* Set before main() and never again outside tests, so threads need no ordering to read it. */
static sx_kernel usable[4];
static unsigned n_usable;
static const sx_kernel *best;

/* Add a level to the one before it. */
static void add(const char *name, void (*use)(sx_kernel *kernel))
{
	sx_kernel *kernel = &usable[n_usable];

	if (n_usable)
		*kernel = usable[n_usable - 1];
	kernel->name = name;
	use(kernel);
	n_usable++;
}

#if defined(__x86_64__)
/* AMD CPUs before Zen 3 run PEXT and PDEP as microcode, several cycles for each bit of the mask. */
static int has_fast_bmi2(void)
{
	return __builtin_cpu_supports("bmi2") && !__builtin_cpu_is("amdfam15h") &&
	       !__builtin_cpu_is("amdfam17h");
}

static void add_levels(void)
{
	/* Needed before the compiler's own constructors. It asks what the system saves, too. */
	__builtin_cpu_init();
	if (!__builtin_cpu_supports("popcnt"))
		return;
	add("popcnt", sx_kernel_use_popcnt);
	if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi"))
		return;
	add("avx2", sx_kernel_use_avx2);
	if (!has_fast_bmi2())
		return;
	sx_kernel_use_bmi2(&usable[n_usable - 1]);
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	    __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi") &&
	    __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512vpopcntdq"))
		add("avx512", sx_kernel_use_avx512);
}
#elif defined(__aarch64__)
static void add_levels(void)
{
	add("neon", sx_kernel_use_neon);
}
#else
static void add_levels(void)
{
}
#endif

static void use(const sx_kernel *kernel)
{
	best = kernel;
	sx_bits.pext = kernel->pext;
	sx_bits.pdep = kernel->pdep;
}

__attribute__((constructor)) static void choose(void)
{
	add("scalar", sx_kernel_use_scalar);
	add_levels();
	use(&usable[n_usable - 1]);
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
	const sx_kernel *kernel;
	unsigned i = 0;

	while ((kernel = sx_kernel_list(i)) && strcmp(kernel->name, name))
		i++;
	return kernel;
}

int sx_kernel_force(const char *name)
{
	const sx_kernel *kernel = name ? sx_kernel_find(name) : NULL;

	use(kernel ? kernel : &usable[n_usable - 1]);
	return name && !kernel ? -1 : 0;
}
