/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Where things are in a block's value; shared by the two halves of the codec. doc/format.md.
 *
 *   0  checksum, 4 bytes: low half of XXH3-64 over the rest of the value
 *   4  shape, 4 bytes: low bytes a key (4 bits), entries (14), bitmap words (14)
 *   8  high part of the first key, 8 bytes
 *  16  low bytes, then the bitmap, then the columns
 */

#ifndef SX_BLOCK_LAYOUT_H
#define SX_BLOCK_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#define SX_BLOCK_SHAPE_AT 4
#define SX_BLOCK_BASE_AT 8
#define SX_BLOCK_HEADER 16
#define SX_BLOCK_COL_HEADER 9 /* base, 8 bytes; bytes an entry, 1 */

#define SX_BLOCK_WIDTH_MASK 0xfu
#define SX_BLOCK_N_SHIFT 4
#define SX_BLOCK_N_MASK 0x3fffu
#define SX_BLOCK_WORDS_SHIFT 18

/** The shape, unpacked: entries are [0, n), of `width` low bytes each. */
typedef struct sx_block_shape {
	unsigned width;
	size_t n, n_words;
} sx_block_shape;

static inline sx_block_shape sx_block_shape_of(uint32_t shape)
{
	return (sx_block_shape){ shape & SX_BLOCK_WIDTH_MASK,
				 shape >> SX_BLOCK_N_SHIFT & SX_BLOCK_N_MASK,
				 shape >> SX_BLOCK_WORDS_SHIFT };
}

/** The part of a key that is coded in the bitmap, when `width` low bytes are stored. */
static inline uint64_t sx_block_high(uint64_t key, unsigned width)
{
	return width >= 8 ? 0 : key >> (8 * width);
}

#endif /* SX_BLOCK_LAYOUT_H */
