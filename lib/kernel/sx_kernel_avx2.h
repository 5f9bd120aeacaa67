/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/* The levels with AVX2 and with BMI2. */

#ifndef SX_KERNEL_AVX2_H
#define SX_KERNEL_AVX2_H

#include "kernel/sx_kernel_type.h"

#if defined(__x86_64__)
/** The filters, for a CPU with POPCNT, BMI1 and AVX2. */
void sx_kernel_use_avx2(sx_kernel *kernel);
/** The functions of bitmaps, pext and pdep, for a CPU with POPCNT, BMI1 and fast BMI2. */
void sx_kernel_use_bmi2(sx_kernel *kernel);
#endif

#endif /* SX_KERNEL_AVX2_H */
