/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * From a mask of hits to their numbers. Where hits are rare, as they are for small radii, the
 * loop's branch is foreseen; where they are not, it is wrong once in 64 entries.
 */

#ifndef SX_NEAR_EMIT_H
#define SX_NEAR_EMIT_H

#include "kernel/sx_near_plain.h"

/** Write base + the number of each set bit, behind `found` hits; returns the new `found`. */
SX_INLINE size_t sx_emit_u16(uint64_t near, size_t base, uint16_t *hits, size_t found)
{
	for (; near; near &= near - 1)
		hits[found++] = (uint16_t)(base + (unsigned)__builtin_ctzll(near));
	return found;
}

SX_INLINE size_t sx_emit_u32(uint64_t near, size_t base, uint32_t *hits, size_t found)
{
	for (; near; near &= near - 1)
		hits[found++] = (uint32_t)(base + (unsigned)__builtin_ctzll(near));
	return found;
}

#endif /* SX_NEAR_EMIT_H */
