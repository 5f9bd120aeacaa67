/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "kernel/sx_bits.h"

#if defined(__x86_64__)

#include <immintrin.h>

__attribute__((target("bmi2"))) uint64_t sx_pext_bmi2(uint64_t x, uint64_t mask)
{
	return _pext_u64(x, mask);
}

__attribute__((target("bmi2"))) uint64_t sx_pdep_bmi2(uint64_t x, uint64_t mask)
{
	return _pdep_u64(x, mask);
}

#endif
