/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Bit extraction and deposit: PEXT and PDEP where the CPU has fast ones (BMI2), portable code
 * otherwise, chosen at run time.
 */

#ifndef SX_BITS_H
#define SX_BITS_H

#include <stdint.h>

/** The bits of x under mask, packed into the low end in their order. */
uint64_t sx_pext(uint64_t x, uint64_t mask);

/** The low bits of x, spread to the places of mask in their order. */
uint64_t sx_pdep(uint64_t x, uint64_t mask);

/** "bmi2" or "portable": what sx_pext() and sx_pdep() run. */
const char *sx_bits_kernel(void);

/**
 * Choose what they run: 1 = the best that the CPU has, 0 = portable code. Happens with 1 when
 * the library is loaded; tests call it to run everything on portable code. Not thread-safe.
 */
void sx_bits_choose(int fast);

/** The portable forms, always there: what the fast ones are tested against. */
uint64_t sx_pext_portable(uint64_t x, uint64_t mask);
uint64_t sx_pdep_portable(uint64_t x, uint64_t mask);

#if defined(__x86_64__)
/** One instruction each; only for a CPU with BMI2. */
uint64_t sx_pext_bmi2(uint64_t x, uint64_t mask);
uint64_t sx_pdep_bmi2(uint64_t x, uint64_t mask);
#endif

#endif /* SX_BITS_H */
