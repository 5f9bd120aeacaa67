/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What every kernel must do, against loops over single bits and bytes. Needs nothing but
 * lib/kernel and the C library, so that it can be built for another machine and run there by an
 * emulator. Every array ends where a page ends behind which nothing may be read or written.
 *
 * Each function returns 0, or -1 after it has said on stderr what is wrong.
 */

#ifndef KERNEL_CHECK_H
#define KERNEL_CHECK_H

#include "kernel/sx_kernel.h"

/** near_low() for one width of 0..8; `rounds` random lists of up to 2000 entries. */
int kernel_check_near_low(const sx_kernel *kernel, unsigned width, uint64_t seed,
			  unsigned rounds);

/** near_u64() */
int kernel_check_near_u64(const sx_kernel *kernel, uint64_t seed, unsigned rounds);

/** near_after() */
int kernel_check_near_after(const sx_kernel *kernel, uint64_t seed, unsigned rounds);

/** ranks() */
int kernel_check_ranks(const sx_kernel *kernel, uint64_t seed, unsigned rounds);

/** complete() and decode(), of sound and of damaged bitmaps. */
int kernel_check_coded(const sx_kernel *kernel, uint64_t seed, unsigned rounds);

#endif /* KERNEL_CHECK_H */
