/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * A sketch of a set of hashes: at most SD_SET_SKETCH_MAX bytes, from two of which the Jaccard
 * similarity of the two sets is estimated. It has the number of hashes, and up to
 * SD_SET_SKETCH_LISTED of them as a list; more of them as a parity sketch: an array of bits, of
 * which each hash flips one. Bits that differ between two such arrays tell how many hashes are in
 * one set alone, and with both numbers that is the similarity. (Mitzenmacher, Pagh, Pham:
 * "Efficient Estimation for High Similarities using Odd Sketches", WWW 2014.)
 *
 * In a large set nearly every bit would be flipped many times, so only a sample of it does. The
 * sample is made of the least hashes, so two sets of different sizes have one in common: the
 * smaller one of both. doc/format.md has the bytes.
 *
 * The standard error, of sets of 100 to 1,000,000 hashes of which the larger has at most 1.25 times
 * as many as the smaller: at most .014 at similarity .8, .010 at .9. The bytes are the same on
 * every machine. Functions of memory alone; any thread.
 */

#ifndef SD_SET_SKETCH_H
#define SD_SET_SKETCH_H

#include <stddef.h>
#include <stdint.h>

/** Most bytes of a sketch. */
#define SD_SET_SKETCH_MAX 197

/** Up to so many hashes are listed. */
#define SD_SET_SKETCH_LISTED 48

/** So many of the least hashes of a set are enough to make its sketch. */
#define SD_SET_SKETCH_SAMPLED 8192

/**
 * Make the sketch of a set.
 *
 * @param hash  the least `n` of them, each once, ascending; spread evenly over all 64-bit numbers,
 *              as XXH3 does: all, or at least SD_SET_SKETCH_SAMPLED
 * @param all   how many the set has; below 2^32
 * @param out   set to the sketch
 * @return its bytes
 *
 * Cost: linear in the hashes that are sampled, some nanoseconds each.
 */
size_t sd_set_sketch_make(const uint64_t *hash, size_t n, uint64_t all,
			  unsigned char out[SD_SET_SKETCH_MAX]);

/**
 * Estimate the similarity of two sets.
 *
 * @param a, b        sketches: any bytes, of these sizes
 * @param similarity  set to 0..1: 1 if the sets are equal, and where no bit tells them apart: for
 *                    sets of equal size that differ in two hashes a chance of 1 in 1,500, and above
 *                    3,072 hashes, where only a sample counts, a large one; 0 if one is empty. Sets
 *                    with lists are compared themselves, by 32 bits of each hash
 * @return 0; -1 if one of them is no sketch, and *similarity is 0
 *
 * Cost: 0.3 microseconds; of sets of more than 3,072 hashes 5.
 */
int sd_set_sketch_similarity(const void *a, size_t a_size, const void *b, size_t b_size,
			     double *similarity);

#endif /* SD_SET_SKETCH_H */
