/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The bits of a word: counting, extraction and deposit. PEXT and PDEP are run where the CPU has
 * fast ones (BMI2), plain code otherwise; sx_kernel.c makes the choice.
 */

#ifndef SX_BITS_H
#define SX_BITS_H

#include <stdint.h>

#include "util/sx_bytes.h"

/** Set bits of a word. */
typedef unsigned sx_count_fn(uint64_t x);

/** One instruction where the function around it may use it. */
SX_INLINE unsigned sx_count_builtin(uint64_t x)
{
	return (unsigned)__builtin_popcountll(x);
}

/** Without an instruction for it, where the compiler would call a function. */
SX_INLINE unsigned sx_count_plain(uint64_t x)
{
	x -= x >> 1 & UINT64_C(0x5555555555555555);
	x = (x & UINT64_C(0x3333333333333333)) + (x >> 2 & UINT64_C(0x3333333333333333));
	x = (x + (x >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	return (unsigned)(x * UINT64_C(0x0101010101010101) >> 56);
}

/* Set before main() and never again outside tests, so threads need no ordering to read it. */
extern struct sx_bits {
	uint64_t (*pext)(uint64_t x, uint64_t mask);
	uint64_t (*pdep)(uint64_t x, uint64_t mask);
} sx_bits;

/** The bits of x under mask, packed into the low end in their order. */
static inline uint64_t sx_pext(uint64_t x, uint64_t mask)
{
	return sx_bits.pext(x, mask);
}

/** The low bits of x, spread to the places of mask in their order. */
static inline uint64_t sx_pdep(uint64_t x, uint64_t mask)
{
	return sx_bits.pdep(x, mask);
}

/** For any CPU. */
uint64_t sx_pext_plain(uint64_t x, uint64_t mask);
uint64_t sx_pdep_plain(uint64_t x, uint64_t mask);

#endif /* SX_BITS_H */
