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

#define POPCNT __attribute__((target("popcnt")))

SX_DEFINE_PLAIN_FILTERS(popcnt, POPCNT, sx_count_builtin)
SX_DEFINE_PLAIN_BITMAPS(popcnt, POPCNT, sx_count_builtin, sx_select_halving)

void sx_kernel_use_popcnt(sx_kernel *kernel)
{
	SX_USE_FILTERS(kernel, popcnt);
	SX_USE_BITMAPS(kernel, popcnt);
}

#endif
