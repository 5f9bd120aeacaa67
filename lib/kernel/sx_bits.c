/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "kernel/sx_bits.h"

#include "kernel/sx_cpu.h"

struct kernel {
	const char *name;
	uint64_t (*pext)(uint64_t x, uint64_t mask);
	uint64_t (*pdep)(uint64_t x, uint64_t mask);
};

static const struct kernel portable = { "portable", sx_pext_portable, sx_pdep_portable };
#if defined(__x86_64__)
static const struct kernel bmi2 = { "bmi2", sx_pext_bmi2, sx_pdep_bmi2 };
#endif

/* Set before main() and never again outside tests, so threads need no ordering to read it. */
static struct kernel chosen = { "portable", sx_pext_portable, sx_pdep_portable };

void sx_bits_choose(int fast)
{
	chosen = portable;
#if defined(__x86_64__)
	if (fast && sx_cpu_has_fast_pext())
		chosen = bmi2;
#else
	(void)fast;
#endif
}

__attribute__((constructor)) static void choose_best(void)
{
	sx_bits_choose(1);
}

uint64_t sx_pext(uint64_t x, uint64_t mask)
{
	return chosen.pext(x, mask);
}

uint64_t sx_pdep(uint64_t x, uint64_t mask)
{
	return chosen.pdep(x, mask);
}

const char *sx_bits_kernel(void)
{
	return chosen.name;
}
