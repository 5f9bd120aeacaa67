/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/* The level with AVX-512. */

#ifndef SX_KERNEL_AVX512_H
#define SX_KERNEL_AVX512_H

#include "kernel/sx_kernel_type.h"

#if defined(__x86_64__)
/** The filters and decode, for a CPU with all that SX_AVX512 in sx_kernel_avx512.c names. */
void sx_kernel_use_avx512(sx_kernel *kernel);
#endif

#endif /* SX_KERNEL_AVX512_H */
