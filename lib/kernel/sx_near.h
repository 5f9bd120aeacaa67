/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The hot loop of a search: which entries of a block can be near a query, judged by the low
 * bytes that the block holds literally.
 */

#ifndef SX_NEAR_H
#define SX_NEAR_H

#include <stddef.h>
#include <stdint.h>

/**
 * Entry i has its low `width` bytes (0..8), little-endian, at low + i * width. Write the
 * numbers of the entries whose low bytes differ from `query` in at most k bits to hits, in
 * ascending order; returns how many. Reads up to 8 bytes past the last entry.
 *
 * @param n     at most 65,536
 * @param hits  room for n
 */
size_t sx_near_low(const unsigned char *low, unsigned width, size_t n, uint64_t query, unsigned k,
		   uint16_t *hits);

#endif /* SX_NEAR_H */
