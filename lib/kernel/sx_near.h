/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The parts of the kernels, for sx_kernel.c to choose among. What they do: sx_kernel.h. Each
 * runs only on a CPU with the instructions in its name.
 */

#ifndef SX_NEAR_H
#define SX_NEAR_H

#include "kernel/sx_kernel.h"

#define SX_NEAR_DECLARE(isa)                                                                  \
	size_t sx_near_low_##isa(const unsigned char *low, unsigned width, size_t n,          \
				 size_t readable, uint64_t query, unsigned k, uint16_t *hits); \
	size_t sx_near_u64_##isa(const uint64_t *fps, size_t n, uint64_t query, unsigned k,   \
				 uint32_t *hits);                                             \
	unsigned sx_near_16_##isa(const uint32_t *words, uint32_t query, unsigned k);

#define SX_COMPLETE_DECLARE(isa)                                                              \
	size_t sx_complete_##isa(const sx_coded *coded, size_t from, const uint16_t *entry,   \
				 size_t n, uint64_t query, unsigned k, uint64_t *keys);

#define SX_DECODE_DECLARE(isa)                                                                \
	size_t sx_decode_##isa(const sx_coded *coded, size_t from, size_t n, uint64_t *keys);

#define SX_BITMAP_DECLARE(isa)                                                                \
	void sx_ranks_##isa(const unsigned char *bitmap, size_t n_words, const uint64_t *zeros, \
			    unsigned n, uint64_t *ones);                                      \
	SX_COMPLETE_DECLARE(isa)                                                              \
	SX_DECODE_DECLARE(isa)

SX_NEAR_DECLARE(scalar)
SX_BITMAP_DECLARE(scalar)
#if defined(__x86_64__)
SX_NEAR_DECLARE(popcnt)
SX_BITMAP_DECLARE(popcnt)
SX_NEAR_DECLARE(avx2)
SX_NEAR_DECLARE(avx512)
SX_BITMAP_DECLARE(bmi2)
SX_DECODE_DECLARE(avx512)
#elif defined(__aarch64__)
SX_NEAR_DECLARE(neon)
SX_BITMAP_DECLARE(neon)
#endif

#endif /* SX_NEAR_H */
