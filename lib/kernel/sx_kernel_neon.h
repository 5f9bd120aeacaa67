/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/* The level of 64-bit ARM. */

#ifndef SX_KERNEL_NEON_H
#define SX_KERNEL_NEON_H

#include "kernel/sx_kernel_type.h"

#if defined(__aarch64__)
/** All functions but pext and pdep. */
void sx_kernel_use_neon(sx_kernel *kernel);
#endif

#endif /* SX_KERNEL_NEON_H */
