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

#include <stdint.h>

#define SHAPE_AT 4
#define BASE_AT 8
#define BLOCK_HEADER 16
#define COL_HEADER 9 /* base, 8 bytes; bytes an entry, 1 */

#define SHAPE_WIDTH_MASK 0xfu
#define SHAPE_N_SHIFT 4
#define SHAPE_N_MASK 0x3fffu
#define SHAPE_WORDS_SHIFT 18

static inline uint64_t high_part(uint64_t key, unsigned width)
{
	return width >= 8 ? 0 : key >> (8 * width);
}

#endif /* SX_BLOCK_LAYOUT_H */
