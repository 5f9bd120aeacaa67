/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Stable radix sort of records of 64-bit words.
 */

#ifndef SX_RADIX_H
#define SX_RADIX_H

#include <stddef.h>
#include <stdint.h>

/**
 * Sort n records by (word 0 >> shift), and then by word 1 if there are two keys. Linear; what is
 * in order already costs one look.
 *
 * @param record   the records; may become *scratch and the other way round
 * @param scratch  room for as many
 * @param words    of a record, 1..5
 * @param keys     1 or 2
 * @param shift    0..63
 * @return 0, or -1 when memory is short
 */
int sx_radix_sort(uint64_t **record, uint64_t **scratch, size_t n, unsigned words, unsigned keys,
		  unsigned shift);

#endif /* SX_RADIX_H */
