/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Stable radix sorts of 64-bit keys, alone or in records. Bits in which all keys agree cost
 * nothing, and keys that are in order already cost one pass.
 */

#ifndef SX_SORT_H
#define SX_SORT_H

#include <stddef.h>
#include <stdint.h>

#include "util/sx_bytes.h"

/** Max. words of a record. */
#define SX_SORT_MAX_WORDS 6

/**
 * Call f(words, ...), an SX_INLINE function, for 1..6 words: strides are constants in each of
 * the six copies.
 */
#define SX_BY_WORDS(f, words, ...)                                                            \
	((words) == 1 ? f(1, __VA_ARGS__) : (words) == 2 ? f(2, __VA_ARGS__) :                \
	 (words) == 3 ? f(3, __VA_ARGS__) : (words) == 4 ? f(4, __VA_ARGS__) :                \
	 (words) == 5 ? f(5, __VA_ARGS__) : f(6, __VA_ARGS__))

_Static_assert(SX_SORT_MAX_WORDS == 6, "SX_BY_WORDS() has a case for each number of words");

/** A key and what belongs to it: a record of two words with one key. */
typedef struct sx_sort_item {
	uint64_t key, value;
} sx_sort_item;

/**
 * Sort n records by (word 0 >> shift), and then by word 1 if there are two keys.
 *
 * @param record   the records
 * @param scratch  room for as many
 * @param words    of a record, 1..SX_SORT_MAX_WORDS
 * @param keys     1 or 2
 * @param shift    0..63
 * @return where the sorted records are, record or scratch: the other one has no meaning then;
 *         NULL when memory is short: the records are as they were
 */
uint64_t *sx_sort_records(uint64_t *record, uint64_t *scratch, size_t n, unsigned words,
			  unsigned keys, unsigned shift);

/** Sort n items by (key >> shift); as sx_sort_records(). */
sx_sort_item *sx_sort_items(sx_sort_item *item, sx_sort_item *scratch, size_t n, unsigned shift);

/** Sort n keys. Returns 0, or -1 when memory is short (n keys of scratch are needed). */
int sx_sort_u64(uint64_t *key, size_t n);

/**
 * Fill order[0..n) so that key[order[i]] is ascending; where `order` already holds an
 * arrangement (keep_order != 0), equal keys stay in it. n < 2^32. Needs 32 bytes of scratch a
 * key. Returns 0, or -1 when memory is short.
 */
int sx_sort_order(const uint64_t *key, uint32_t *order, size_t n, int keep_order);

/** Drop repeats from n sorted keys. Returns how many are left. */
size_t sx_unique_u64(uint64_t *key, size_t n);

#endif /* SX_SORT_H */
