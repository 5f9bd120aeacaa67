/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "kernel/sx_kernel_plain.h"

SX_DEFINE_PLAIN_FILTERS(scalar, , sx_count_plain)
SX_DEFINE_PLAIN_BITMAPS(scalar, , sx_count_plain, sx_select_halving)

void sx_kernel_use_scalar(sx_kernel *kernel)
{
	SX_USE_FILTERS(kernel, scalar);
	SX_USE_BITMAPS(kernel, scalar);
	kernel->pext = sx_pext_plain;
	kernel->pdep = sx_pdep_plain;
}

#if defined(__x86_64__)

#include <immintrin.h>

#define POPCNT __attribute__((target("popcnt")))
#define BMI2 __attribute__((target("popcnt,bmi,bmi2")))

SX_DEFINE_PLAIN_FILTERS(popcnt, POPCNT, sx_count_builtin)
SX_DEFINE_PLAIN_BITMAPS(popcnt, POPCNT, sx_count_builtin, sx_select_halving)

void sx_kernel_use_popcnt(sx_kernel *kernel)
{
	SX_USE_FILTERS(kernel, popcnt);
	SX_USE_BITMAPS(kernel, popcnt);
}

BMI2 SX_INLINE unsigned select_pdep(uint64_t word, unsigned i)
{
	return (unsigned)_tzcnt_u64(_pdep_u64(UINT64_C(1) << i, word));
}

SX_DEFINE_PLAIN_BITMAPS(bmi2, BMI2, sx_count_builtin, select_pdep)

BMI2 static uint64_t pext_bmi2(uint64_t x, uint64_t mask)
{
	return _pext_u64(x, mask);
}

BMI2 static uint64_t pdep_bmi2(uint64_t x, uint64_t mask)
{
	return _pdep_u64(x, mask);
}

void sx_kernel_use_bmi2(sx_kernel *kernel)
{
	SX_USE_BITMAPS(kernel, bmi2);
	kernel->pext = pext_bmi2;
	kernel->pdep = pdep_bmi2;
}

#endif
