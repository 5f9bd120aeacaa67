/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The hot loops of a search: which fingerprints can be near a query, and where the entries of a
 * block's bitmap are. Pure functions; every kernel gives the same answers.
 */

#ifndef SX_KERNEL_TYPE_H
#define SX_KERNEL_TYPE_H

#include <stddef.h>
#include <stdint.h>

/**
 * Sorted keys, Elias-Fano coded: their low `width` bytes, `base` + what the bitmap says above.
 * Key i sets bit i + (high part - base). The bitmap is of little-endian 64-bit words, at least
 * one, and lies somewhere after the low bytes in the same memory.
 */
typedef struct sx_coded {
	const unsigned char *low, *bitmap;
	size_t n_words;
	unsigned width; /* 0..8; with 8 there is no high part */
	uint64_t base;
} sx_coded;

/** Hits of near_after() that eight entries can have, and words after them that may be written. */
#define SX_NEAR_AFTER_ROOM(reach) (8 * (size_t)((reach) + 2))

typedef struct sx_kernel {
	/** "scalar", "popcnt", "avx2", "avx512" or "neon". */
	const char *name;

	/**
	 * Entry i has its low `width` bytes (0..8), little-endian, at low + i * width. Write the
	 * numbers of the entries whose low bytes differ from those of `query` in at most k bits,
	 * ascending; returns how many.
	 *
	 * @param n         at most 65,536
	 * @param readable  bytes at `low` that may be read, at least n * width: none after them are
	 * @param hits      room for n
	 */
	size_t (*near_low)(const unsigned char *low, unsigned width, size_t n, size_t readable,
			   uint64_t query, unsigned k, uint16_t *hits);

	/** The same for whole fingerprints: the numbers i with fps[i] near query. n < 2^32. */
	size_t (*near_u64)(const uint64_t *fps, size_t n, uint64_t query, unsigned k,
			   uint32_t *hits);

	/**
	 * Compare entries with the `reach` that come after each, for arrays in which entries that
	 * agree in the bits `same` stand together. Looks at entries from number *from on, eight
	 * at once, and writes i << 8 | d, i < n, where entry i differs from entry i + d in at
	 * most k bits, d = 1..reach, and i << 8 where it agrees in `same` with entry i + reach +
	 * 1. Hits of one d come by i.
	 *
	 * @param v      n entries, and room for 16 + `reach` more, which are read: entry i + d may
	 *               be one of these
	 * @param from   set to where to go on, n at the end
	 * @param reach  1..64
	 * @param hits   room for SX_NEAR_AFTER_ROOM(reach) or more
	 * @return how many were written
	 */
	size_t (*near_after)(const uint64_t *v, size_t *from, size_t n, unsigned reach,
			     uint64_t same, unsigned k, uint64_t *hits, size_t room);

	/**
	 * ones[i] = the set bits before zero number zeros[i] of a bitmap of little-endian 64-bit
	 * words, i < n. The zeros are counted from 1; before the 0-th there is nothing, and
	 * before one that does not exist is everything. zeros[] does not descend.
	 */
	void (*ranks)(const unsigned char *bitmap, size_t n_words, const uint64_t *zeros,
		      unsigned n, uint64_t *ones);

	/**
	 * Of the keys number from + entry[h], h < n, entry ascending: write those that differ from
	 * query in at most k bits, ascending; returns how many. Keys that have no bit in a
	 * damaged bitmap are left out. `keys` has room for n.
	 */
	size_t (*complete)(const sx_coded *coded, size_t from, const uint16_t *entry, size_t n,
			   uint64_t query, unsigned k, uint64_t *keys);

	/**
	 * Write the n keys from number `from` on. Returns how many there are: fewer than n only
	 * when a damaged bitmap has fewer bits.
	 */
	size_t (*decode)(const sx_coded *coded, size_t from, size_t n, uint64_t *keys);

	/** What sx_pext() and sx_pdep() of sx_bits.h do. */
	uint64_t (*pext)(uint64_t x, uint64_t mask);
	uint64_t (*pdep)(uint64_t x, uint64_t mask);
} sx_kernel;

#endif /* SX_KERNEL_TYPE_H */
